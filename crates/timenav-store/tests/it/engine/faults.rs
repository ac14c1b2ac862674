//! Clocks that are intentionally shown wrong.

use timenav_core::fault::Slew;
use timenav_core::ids::FollowerId;
use timenav_core::limits::FAULTS_PER_TIMELINE_MAX;
use timenav_engine::{Answer, FaultOutcome};

use crate::engine::*;

fn drift(drift_ppm: i32) -> Option<Fault> {
    let fault = Fault { drift_ppm, ..Fault::default() };
    (!fault.is_none()).then_some(fault)
}

async fn follow(home: &Home<'_>, timeline: &str, name: &str, shows_faults: bool) -> ClockStream {
    let name = FollowerName::new(name).unwrap();
    let follow = FollowAs { name, steps: false, place: FollowerPlace::default(), shows_faults };
    home.engine.follow_clock(&home.admin, Some(timeline_id(timeline)), None, follow).await.unwrap().1
}

fn id(stream: &ClockStream) -> FollowerId {
    stream.follower.as_ref().expect("it follows").follower_id().clone()
}

async fn set(
    home: &Home<'_>,
    follower_id: FollowerId,
    fault: Option<Fault>,
    key: Option<Idempotency>,
) -> Result<Answer<FaultOutcome>, Refusal> {
    let request = FaultRequest { timeline: None, follower_id, fault };
    home.engine.set_fault(&home.admin, request, key).await
}

/// Returns the fault of a clock for `admin`'s followers with this name.
fn wrong(home: &Home<'_>, timeline: &str, name: &str) -> Option<Fault> {
    let whose = (home.admin.user_id.clone(), FollowerName::new(name).unwrap());
    home.engine.fault_of(&timeline_id(timeline), &whose)
}

async fn fork(home: &Home<'_>, name: &str, of: &str, at: Option<&AsOf>) {
    home.engine.fork_timeline(&home.admin, timeline_id(name), &timeline_id(of), at, None).await.unwrap();
}

/// A fault applies to all followers of one user with one name, is stored, and is inherited by forks as of their
/// beginning.
async fn fault_is_persisted_and_inherited_by_forks(house: House) {
    let home = house.open().await;
    let mut web = follow(&home, "main", "web", true).await;
    let db = follow(&home, "main", "db", true).await;
    let begun = set(&home, id(&web), drift(200), None).await.unwrap().ledger.position;
    assert_eq!((wrong(&home, "main", "web"), wrong(&home, "main", "db")), (drift(200), None));
    let change = web.changes.next().await.unwrap();
    assert!(change.is_of_fault, "the clock is as it was");
    assert_eq!(web.follower.as_ref().unwrap().fault(), drift(200));
    fork(&home, "early", "main", None).await;
    let offset = Span::from_micros(-1_500_000);
    let slewed = Some(Fault { offset, slew: Some(Slew::To(500)), jitter_micros: 5_000, seed: 7, ..Fault::default() });
    let both = set(&home, id(&db), slewed, None).await.unwrap().ledger.position;
    set(&home, id(&web), None, None).await.unwrap();
    assert_eq!((wrong(&home, "main", "web"), wrong(&home, "main", "db")), (None, slewed));
    // As of an earlier position: before the first fault, between the others, and before the last one was removed.
    fork(&home, "before", "main", Some(&AsOf::Position(begun - 1))).await;
    fork(&home, "then", "main", Some(&AsOf::Position(begun))).await;
    fork(&home, "both", "main", Some(&AsOf::Position(both))).await;
    fork(&home, "now", "main", None).await;
    fork(&home, "of-early", "early", None).await;
    drop((web, db));
    let home = home.reopen().await;
    for (timeline, web, db) in [
        ("main", None, slewed),
        ("early", drift(200), None),
        ("of-early", drift(200), None),
        ("before", None, None),
        ("then", drift(200), None),
        ("both", drift(200), slewed),
        ("now", None, slewed),
    ] {
        assert_eq!((wrong(&home, timeline, "web"), wrong(&home, timeline, "db")), (web, db), "{timeline}");
    }
    // A fault set on a fork affects only that fork. A fork of it as of its beginning has the fault that it began with.
    let far = follow(&home, "early", "web", true).await;
    let request = FaultRequest { timeline: Some(timeline_id("early")), follower_id: id(&far), fault: drift(-50) };
    home.engine.set_fault(&home.admin, request, None).await.unwrap();
    fork(&home, "first", "early", Some(&AsOf::Position(0))).await;
    assert_eq!((wrong(&home, "early", "web"), wrong(&home, "first", "web")), (drift(-50), drift(200)));
    assert_eq!(wrong(&home, "main", "web"), None);
    drop(far);
    // A clock change does not remove a fault.
    home.change_clock(None, ClockCommand::Pause).await;
    assert_eq!(wrong(&home, "main", "db"), slewed);
    home.close().await;
}

on_each_store![fault_is_persisted_and_inherited_by_forks];

#[tokio::test(flavor = "multi_thread")]
async fn fault_is_rejected_for_followers_without_fault_support() {
    let home = Home::new().await;
    let plain = follow(&home, "main", "page", false).await;
    let refused = set(&home, id(&plain), drift(1), None).await.unwrap_err();
    assert!(refused.to_string().contains("timenav exec"), "{refused}");
    for number in 0..FAULTS_PER_TIMELINE_MAX {
        let one = follow(&home, "main", &format!("web-{number}"), true).await;
        set(&home, id(&one), drift(1), None).await.unwrap();
    }
    let one_more = follow(&home, "main", "web", true).await;
    let refused = set(&home, id(&one_more), drift(1), None).await.unwrap_err();
    assert!(matches!(&refused, Refusal::LimitReached { max: FAULTS_PER_TIMELINE_MAX, .. }), "{refused}");
    // Followers that show faults can get other faults, and none.
    let first = follow(&home, "main", "web-0", true).await;
    set(&home, id(&first), drift(2), None).await.unwrap();
    set(&home, id(&first), None, None).await.unwrap();
    set(&home, id(&one_more), drift(1), None).await.unwrap();
    drop((plain, one_more, first));
    home.close().await;
}
