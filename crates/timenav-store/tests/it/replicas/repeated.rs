//! Repeating a revocation whose first response is still pending: when the repetition returns, all requests admitted
//! with the revoked permission have ended too.

use std::time::Duration;

use timenav_core::ids::KeyId;
use tokio::task::yield_now;

use crate::replicas::*;

/// A repetition that does not wait returns within this time. The server keeps a lock for longer.
const ANSWERED_WITHIN: Duration = Duration::from_millis(700);

/// Revokes something of `ada`, and returns the result.
type Take = fn(Engine, Caller, KeyId) -> JoinHandle<String>;

fn idempotency() -> Idempotency {
    Idempotency { key: digest("repeated"), fingerprint: digest("repeated") }
}

fn became<T>(taken: Result<T, Refusal>, is_replayed: impl Fn(&T) -> bool) -> String {
    match taken {
        Ok(taken) if is_replayed(&taken) => "replayed".to_owned(),
        Ok(_) => "done".to_owned(),
        Err(Refusal::NotFound { what, .. }) => format!("no {what}"),
        Err(refusal) => panic!("{refusal:?}"),
    }
}

/// Each way to revoke something, and the result of the repetition.
const WAYS: [(&str, Take, &str); 3] = [
    (
        "revoke-api-key",
        |engine, admin, key_id| {
            tokio::spawn(async move { became(engine.revoke_api_key(&admin, key_id).await, |answer| answer.replayed) })
        },
        "no API key",
    ),
    (
        "delete-user",
        |engine, admin, _| {
            let user = user_id("ada");
            tokio::spawn(async move { became(engine.delete_user(&admin, user).await, |answer| answer.replayed) })
        },
        "no user",
    ),
    (
        "restrict-time-travel",
        |engine, admin, _| {
            tokio::spawn(async move {
                let (user, level) = (user_id("ada"), RestrictionLevel::NoAccess);
                let taken = engine.restrict_time_travel(&admin, user, level, Some(idempotency())).await;
                became(taken, |answer| answer.replayed)
            })
        },
        "replayed",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn repeated_revocation_waits_for_all_replicas() {
    for (name, take, second_time) in WAYS {
        let house = House::on_postgres();
        let other = two(&house).await;
        let (left, right) = (house.open().await, other.open().await);
        left.engine.create_user(&left.admin, user_id("ada"), true, None).await.unwrap();
        let secret = key_of(&left, "ada").await;
        let ada = key_id(&left.engine.identify(&secret).await.unwrap().unwrap());
        // A commit that may have read the directory before.
        let slow: Arc<dyn Store> = house.store();
        slow.lock(&[left.key(&timeline_id("main")).await]).await.unwrap().unwrap();
        let before = left.size("system").await;
        let first = take(left.engine.clone(), left.admin.clone(), ada.clone());
        while left.size("system").await == before {
            yield_now().await;
        }
        let mut again = take(right.engine.clone(), right.admin.clone(), ada);
        let early = timeout(ANSWERED_WITHIN, &mut again).await;
        assert!(early.is_err(), "{name}: answered with {early:?} while the step goes on");
        assert!(!first.is_finished(), "{name}");
        slow.release().await;
        assert_eq!((first.await.unwrap().as_str(), again.await.unwrap().as_str()), ("done", second_time), "{name}");
        drop(slow);
        end([left, right]).await;
    }
}
