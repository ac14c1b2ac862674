//! Limits of the whole service: number of timelines, and number of queued submissions.

use timenav_engine::QUEUE_SUBMISSIONS_MAX;

use crate::engine::*;

/// More turns of the runtime than an unhindered read needs.
const TURNS: usize = 1_000;

#[tokio::test]
async fn timelines_over_the_limit_are_rejected() {
    let home = House::with(Options { timelines_max: 4, ..House::new().options }).into_home().await;
    // `system` and `main` are timelines too.
    let (engine, admin) = (&home.engine, &home.admin);
    engine.create_timeline(admin, timeline_id("third"), None).await.unwrap();
    engine.change_clock(admin, on("fourth"), ClockCommand::Pause, None).await.unwrap();
    let expected = r#"LimitReached { what: "timelines", max: 4 }"#;
    assert_eq!(outcome_text(&engine.create_timeline(admin, timeline_id("fifth"), None).await), expected);
    assert_eq!(outcome_text(&engine.change_clock(admin, on("fifth"), ClockCommand::Pause, None).await), expected);
    assert_eq!(engine.stats().timelines, 4);
    home.close().await;
}

#[tokio::test]
async fn timelines_over_the_user_limit_are_rejected() {
    let mut home = House::with(Options { timelines_per_user_max: 3, ..House::new().options }).into_home().await;
    let (ada, bob) = (home.user("ada", false).await, home.user("bob", false).await);
    let expected = r#"LimitReached { what: "timelines that you created", max: 3 }"#;
    let make = async |home: &Home<'_>, who: &Caller, name: &str| {
        outcome_text(&home.engine.create_timeline(who, timeline_id(name), None).await)
    };
    // Timelines that were created, created by a first write, or forked all count.
    assert_eq!(make(&home, &ada, "one").await, "ok");
    home.engine.change_clock(&ada, on("two"), ClockCommand::Pause, None).await.unwrap();
    let fork = |home: &Home<'_>, name: &str| {
        let (engine, ada, name) = (home.engine.clone(), ada.clone(), timeline_id(name));
        async move { outcome_text(&engine.fork_timeline(&ada, name, &timeline_id("one"), None, None).await) }
    };
    assert_eq!(fork(&home, "three").await, "ok");
    for restarts in [false, true] {
        if restarts {
            home = home.reopen().await;
        }
        assert_eq!(make(&home, &ada, "four").await, expected);
        assert_eq!(
            outcome_text(&home.engine.change_clock(&ada, on("four"), ClockCommand::Pause, None).await),
            expected
        );
        assert_eq!(fork(&home, "four").await, expected);
        // A rejected timeline does not exist and does not count.
        assert_eq!(home.engine.stats().timelines, 5 + u64::from(restarts));
        assert_eq!(make(&home, &bob, if restarts { "bobs-too" } else { "bobs" }).await, "ok");
    }
    // Administering them does not count as creating them.
    let lists = admins(["ada", "bob"]);
    home.engine.set_access_control(&ada, timeline_id("one"), lists, None).await.unwrap();
    assert_eq!(make(&home, &bob, "the-last-of-bob").await, "ok");
    assert_eq!(make(&home, &bob, "one-more").await, expected);
    home.close().await;
}

/// Requests of one group are decided before any of them is committed.
#[tokio::test]
async fn timelines_created_in_one_group_stay_within_the_limits() {
    for options in [
        // `system` and `main` are timelines too.
        Options { timelines_max: 4, ..House::new().options },
        Options { timelines_per_user_max: 2, ..House::new().options },
    ] {
        let (store, home) = House::with(options).into_faulty_home().await;
        let ada = home.user("ada", false).await;
        store.close_gate();
        let first = home.spawn(move |engine, admin| async move { engine.read_clock(&admin, None).await.map(|_| ()) });
        store.arrival().await;
        let mut tasks = Vec::new();
        for number in 0..4 {
            let (engine, ada, name) = (home.engine.clone(), ada.clone(), timeline_id(&format!("line-{number}")));
            tasks.push(tokio::spawn(async move { outcome_text(&engine.create_timeline(&ada, name, None).await) }));
        }
        // On a single thread, each task has run up to its wait when this one continues.
        tokio::task::yield_now().await;
        let groups = home.engine.stats().groups;
        store.open_gate();
        first.await.unwrap().unwrap();
        let mut outcomes = Vec::new();
        for task in tasks {
            outcomes.push(task.await.unwrap());
        }
        assert_eq!(home.engine.stats().groups, groups + 2, "they were one group");
        assert_eq!(outcomes.iter().filter(|outcome| *outcome == "ok").count(), 2, "{outcomes:?}");
        home.close().await;
    }
}

#[tokio::test]
async fn failed_timeline_creation_does_not_consume_quota() {
    let (store, home) =
        House::with(Options { timelines_per_user_max: 1, ..House::new().options }).into_faulty_home().await;
    let ada = home.user("ada", false).await;
    store.set_commits_failing(true);
    home.engine.create_timeline(&ada, timeline_id("one"), None).await.unwrap_err();
    store.set_commits_failing(false);
    home.engine.create_timeline(&ada, timeline_id("one"), None).await.unwrap();
    home.close().await;
}

#[tokio::test]
async fn users_and_sealed_records_over_the_limit_are_rejected() {
    let options = Options { users_max: 3, data_records_per_timeline_max: 2, ..House::new().options };
    let home = House::with(options).into_home().await;
    let make = async |home: &Home<'_>, name: &str| {
        outcome_text(&home.engine.create_user(&home.admin, user_id(name), false, None).await)
    };
    assert_eq!([make(&home, "ada").await, make(&home, "bob").await], ["ok", "ok"]);
    assert_eq!(make(&home, "eve").await, r#"LimitReached { what: "users", max: 3 }"#);
    home.engine.delete_user(&home.admin, user_id("bob")).await.unwrap();
    assert_eq!(make(&home, "eve").await, "ok");
    let seal = async |home: &Home<'_>| {
        let (data, key) =
            (Plaintext::new("{}".to_owned().into()), EncryptionKey::new("key".to_owned().into()).unwrap());
        home.engine.encrypt_data(&home.admin, timeline_id("main"), data, key, None).await
    };
    let first = seal(&home).await.unwrap();
    seal(&home).await.unwrap();
    let home = home.reopen().await;
    let expected = r#"LimitReached { what: "sealed records on this timeline, erased ones among them", max: 2 }"#;
    assert_eq!(outcome_text(&seal(&home).await), expected);
    home.engine.erase_data(&home.admin, ErasureRequest::Data(None, first.change.data_id), None).await.unwrap();
    assert_eq!(outcome_text(&seal(&home).await), expected);
    home.close().await;
}

#[tokio::test]
async fn submission_waits_if_the_queue_is_full() {
    // Buffered reads get their response as soon as there is room for their entries.
    let (store, home) =
        House::with(Options { read_log: ReadLog::Buffered, ..House::new().options }).into_faulty_home().await;
    store.close_gate();
    let first = home
        .spawn(move |engine, admin| async move { engine.change_clock(&admin, None, ClockCommand::Pause, None).await });
    // The committer has taken it and waits for the store. From here on the queue is not drained.
    store.arrival().await;
    for _ in 0..QUEUE_SUBMISSIONS_MAX {
        home.read_clock(None).await;
    }
    let one_more = home.spawn(move |engine, admin| async move { engine.read_clock(&admin, None).await });
    yield_turns(TURNS).await;
    assert!(!one_more.is_finished(), "there was room for one more");
    store.open_gate();
    one_more.await.unwrap().unwrap();
    first.await.unwrap().unwrap();
    home.close().await;
}
