//! Permissions revoked at one service while the other one depends on them.

use crate::replicas::*;

/// Returns a user who may read a timeline, authenticated at the second service.
async fn reader(left: &Home<'_>, right: &Home<'_>, name: &str, timeline: &str) -> Caller {
    left.engine.create_user(&left.admin, user_id(name), false, None).await.unwrap();
    read_list(left, timeline, &[name]).await;
    let secret = key_of(left, name).await;
    right.engine.identify(&secret).await.unwrap().unwrap()
}

/// A stream checks its permission for each message. A revocation elsewhere is received together with later entries.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stream_sends_nothing_written_after_a_revocation_on_another_replica() {
    for (round, read_log) in [ReadLog::Durable, ReadLog::Buffered, ReadLog::Durable].into_iter().enumerate() {
        let mut house = House::on_postgres();
        house.options.read_log = read_log;
        let other = two(&house).await;
        let (left, right) = (house.open().await, other.open().await);
        let ada = reader(&left, &right, "ada", "main").await;
        let mut stream = right.engine.watch_ledger(&ada, watch(&[Topic::Events], None)).await.unwrap();
        assert_eq!(stream.next().await.unwrap().update, LedgerUpdate::Mark, "where it begins");
        let record = async |name: &str| {
            let drafts = vec![draft(name)];
            left.record_events(None, drafts).await.ledger.position
        };
        let before = record("before").await;
        right.engine.catch_up_all().await.unwrap();
        while stream.next().await.unwrap().position < before {}
        match round {
            0 => drop(left.engine.revoke_api_key(&left.admin, key_id(&ada)).await.unwrap()),
            1 => read_list(&left, "main", &[]).await,
            _ => {
                // Entries already in the stream were read while it was permitted.
                record("meanwhile").await;
                drop(left.engine.revoke_api_key(&left.admin, key_id(&ada)).await.unwrap());
            }
        }
        for number in 0..5 {
            record(&format!("after{number}")).await;
        }
        right.engine.catch_up_all().await.unwrap();
        assert_eq!(stream.next().await.map(|message| message.position), None, "{round}");
        drop(stream);
        end([left, right]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fork_racing_with_a_revocation_precedes_it_or_fails() {
    let (left, right) = pair().await;
    left.create_timeline(timeline_id("parent")).await;
    let ada = reader(&left, &right, "ada", "parent").await;
    let fork = |name: String| {
        let (engine, ada, parent, name) =
            (right.engine.clone(), ada.clone(), timeline_id("parent"), timeline_id(&name));
        tokio::spawn(async move { engine.fork_timeline(&ada, name, &parent, None, None).await.map(|_| ()) })
    };
    fork("child".to_owned()).await.unwrap().unwrap();
    for round in 0..8 {
        read_list(&left, "parent", &["ada"]).await;
        let (late, later) = (format!("late{round}"), format!("later{round}"));
        // Concurrently: either the fork is first, or it is rejected.
        let racing = fork(late.clone());
        read_list(&left, "parent", &[]).await;
        let made = names(&left, &left.admin).await;
        let raced = racing.await.unwrap();
        assert_eq!(raced.is_ok(), names(&left, &left.admin).await.contains(&late), "{raced:?}");
        assert!(raced.is_ok() || outcome_text(&raced) == "Hidden", "{raced:?}");
        // The response may arrive after that of the revocation, but nothing is created after it.
        assert_eq!(raced.is_ok(), made.contains(&late), "{raced:?}");
        assert_eq!(outcome_text(&fork(later).await.unwrap()), "Hidden");
    }
    end([left, right]).await;
}
