//! Ends of timelines: an ended timeline cannot be read, its name is never available again, and its contents are pruned.

use timenav_core::limits::EXPIRED_ENDED_AT_ONCE_MAX;

use crate::engine::*;

async fn record(home: &Home<'_>, timeline: &str, event: &str) {
    let draft = named_event(event, 1, "a secret of the event");
    home.record_events(on(timeline), vec![draft]).await;
}

async fn end(home: &Home<'_>, name: &str) {
    home.end_timeline(timeline_id(name)).await;
}

/// Advances by this many days, with maintenance twice a day.
async fn pass_days(home: &Home<'_>, days: i64) {
    for _ in 0..2 * days {
        home.house.clock.advance(DAY / 2);
        home.engine.tend().await.unwrap();
    }
}

async fn read(home: &Home<'_>, name: &str) -> String {
    outcome_text(&home.engine.read_clock(&home.admin, on(name)).await)
}

fn all_events(timeline: &str) -> MonitorEvents {
    MonitorEvents { items_max: 100, ..every_event(on(timeline)) }
}

fn ended(name: &str) -> String {
    format!("Ended {{ timeline_id: \"{name}\" }}")
}

/// Returns the number of payloads of a timeline, and of the rows of its events.
fn contents(house: &House, key: TimelineKey) -> (i64, i64) {
    let connection = rusqlite::Connection::open(house.path()).unwrap();
    let select = "SELECT (SELECT count(*) FROM entries WHERE entry >> 40 = ?1 AND length(payload) + length(salt) > 0)
        + (SELECT count(*) FROM contents WHERE entry >> 40 = ?1),
        (SELECT count(*) FROM events WHERE timeline = ?1) + (SELECT count(*) FROM anchors WHERE timeline = ?1)";
    connection.query_row(select, [key.0], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

#[tokio::test]
async fn ended_timeline_reveals_nothing() {
    let home = Home::new().await;
    let ada = home.user("ada", false).await;
    record(&home, "job", "e").await;
    let job = timeline_id("job");
    assert_eq!(home.end_timeline(job.clone()).await.forks_count, 0);
    let home = home.reopen().await;
    let (engine, admin) = (&home.engine, &home.admin);
    let pause = ClockCommand::Pause;
    for response in [
        outcome_text(&engine.read_clock(admin, on("job")).await),
        // A user without any permission learns only what creating a timeline with that name would show.
        outcome_text(&engine.read_clock(&ada, on("job")).await),
        outcome_text(&engine.monitor_events(admin, all_events("job")).await),
        outcome_text(&engine.checkpoint(admin, &job, true).await),
        outcome_text(&engine.timeline(admin, &job).await),
        outcome_text(&engine.change_clock(admin, on("job"), pause, None).await),
        outcome_text(&engine.end_timeline(admin, job.clone(), None).await),
    ] {
        assert_eq!(response, ended("job"));
    }
    let (listed, _) = engine.timelines(admin, 100, None).await.unwrap();
    assert!(listed.iter().all(|view| view.state.head.id != job));
    home.close().await;
}

#[tokio::test]
async fn only_admins_can_end_timelines_except_main_and_system() {
    let home = Home::new().await;
    let ada = home.user("ada", false).await;
    home.create_timeline(timeline_id("theirs")).await;
    for name in ["main", "system"] {
        let refused = home.engine.end_timeline(&home.admin, timeline_id(name), None).await;
        assert!(matches!(&refused, Err(Refusal::Invalid { field, .. }) if field == "timeline_id"), "{refused:?}");
    }
    for name in ["theirs", "nowhere"] {
        assert_eq!(outcome_text(&home.engine.end_timeline(&ada, timeline_id(name), None).await), "Hidden");
    }
    let missing = home.engine.end_timeline(&home.admin, timeline_id("nowhere"), None).await;
    assert!(matches!(missing, Err(Refusal::NotFound { .. })), "{missing:?}");
    assert_eq!(read(&home, "theirs").await, "ok");
    home.close().await;
}

#[tokio::test]
async fn name_of_an_ended_timeline_cannot_be_reused() {
    let mut home = Home::new().await;
    record(&home, "job", "e").await;
    end(&home, "job").await;
    for round in 0..3 {
        let made = home.engine.create_timeline(&home.admin, timeline_id("job"), None).await;
        assert_eq!(outcome_text(&made), "NameEnded { timeline_id: \"job\" }", "{round}");
        let main = timeline_id("main");
        let forked = home.engine.fork_timeline(&home.admin, timeline_id("job"), &main, None, None).await;
        assert_eq!(outcome_text(&forked), "NameEnded { timeline_id: \"job\" }", "{round}");
        // Nor by a first write.
        let draft = vec![EventDraft::at(moment(1), "again")];
        assert_eq!(
            outcome_text(&home.engine.record_events(&home.admin, on("job"), draft, None).await),
            ended("job"),
            "{round}"
        );
        if round == 1 {
            pass_days(&home, 8).await;
        }
        home = home.reopen().await;
    }
    home.close().await;
}

#[tokio::test]
async fn repeated_requests_to_an_ended_timeline_report_the_end() {
    let home = Home::new().await;
    let key = |number: u8| Some(Idempotency { key: [number; 32], fingerprint: [number; 32] });
    let draft = || named_event("e", 1, "a secret of the event");
    let ask = async |home: &Home<'_>| {
        let (engine, admin) = (&home.engine, &home.admin);
        [
            outcome_text(&engine.create_timeline(admin, timeline_id("job"), key(1)).await),
            outcome_text(&engine.record_events(admin, on("job"), vec![draft()], key(2)).await),
            outcome_text(&engine.correct_event(admin, on("job"), draft(), None, key(3)).await),
            outcome_text(&engine.change_clock(admin, on("job"), ClockCommand::Pause, key(4)).await),
        ]
    };
    assert_eq!(ask(&home).await, ["ok", "ok", "ok", "ok"]);
    assert_eq!(ask(&home).await, ["ok", "ok", "ok", "ok"]);
    end(&home, "job").await;
    let home = home.reopen().await;
    assert_eq!(ask(&home).await, [ended("job"), ended("job"), ended("job"), ended("job")]);
    let lines = home.close().await;
    let refused = lines.iter().filter(|line| line.timeline == "system" && line.payload["code"] == "timeline_ended");
    assert_eq!(refused.count(), 4);
}

#[tokio::test]
async fn contents_of_ended_timeline_are_pruned_after_the_grace_period() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "job", "e").await;
    let key = home.key(&timeline_id("job")).await;
    end(&home, "job").await;
    pass_days(&home, 6).await;
    let before = contents(&house, key);
    assert!(before.0 > 1 && before.1 == 1, "{before:?}");
    pass_days(&home, 2).await;
    assert_eq!(contents(&house, key), (0, 0));
    assert!(home.store.open().await.unwrap().ended[0].is_pruned);
    // The audit reads every leaf again.
    home.close().await;
}

#[tokio::test]
async fn interrupted_pruning_is_completed_later() {
    let house = House::with(Options { ended_grace_days: 0, ..House::new().options });
    let home = house.open().await;
    for number in 0..20 {
        record(&home, "job", &format!("e{number}")).await;
    }
    let key = home.key(&timeline_id("job")).await;
    end(&home, "job").await;
    home.engine.close().await;
    // Nothing was pruned before the process ended. Then it ends after each piece of the work.
    for round in 1..=3 {
        let (store, home) = house.open_faulty().await;
        store.fail_after(1);
        assert_eq!(home.engine.tend().await.is_ok(), round == 3, "{round}");
        home.engine.close().await;
    }
    let home = house.open().await;
    assert_eq!(contents(&house, key), (0, 0));
    home.close().await;
}

async fn next(stream: &mut LedgerStream) -> bool {
    stream.next().await.is_some()
}

#[tokio::test]
async fn open_streams_end_with_their_timeline() {
    let home = Home::new().await;
    record(&home, "job", "e").await;
    let request = WatchLedger { timeline: on("job"), ..watch(&[Topic::Events, Topic::Clock], None) };
    let mut ledger = home.engine.watch_ledger(&home.admin, request).await.unwrap();
    let (_, mut clock) = home.engine.watch_clock(&home.admin, on("job"), None).await.unwrap();
    assert!(next(&mut ledger).await);
    let engine: Engine = home.engine.clone();
    let ending = engine.end_timeline(&home.admin, timeline_id("job"), None);
    let streams = async {
        while next(&mut ledger).await {}
        clock.changes.next().await.is_none()
    };
    let (ended, is_over) = tokio::join!(ending, streams);
    assert!(ended.is_ok() && is_over);
    home.close().await;
}

#[tokio::test]
async fn inherited_contents_are_kept_until_the_last_fork_ends() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "parent", "e").await;
    let key = home.key(&timeline_id("parent")).await;
    for (name, of) in [("child", "parent"), ("grandchild", "child")] {
        home.fork(name, of).await;
    }
    let over = home.end_timeline(timeline_id("parent")).await;
    assert_eq!(over.forks_count, 2);
    end(&home, "child").await;
    pass_days(&home, 10).await;
    let home = home.reopen().await;
    let inherited = all_events("grandchild");
    let seen = home.engine.monitor_events(&home.admin, inherited).await.unwrap();
    assert_eq!(seen.events.len(), 1);
    let view = home.engine.timeline(&home.admin, &timeline_id("grandchild")).await.unwrap();
    assert_eq!(view.forked_from, on("child"));
    assert!(contents(&house, key).0 > 0);
    // An ended timeline cannot be exported, and nothing new can continue from it.
    assert_eq!(
        outcome_text(&home.engine.export_bundle(&home.admin, &timeline_id("grandchild")).await.map(|_| ())),
        ended("parent")
    );
    let at = timenav_core::as_of::AsOf::Host(view.state.head.created_at.checked_add(Span::from_micros(-1)).unwrap());
    let forked =
        home.engine.fork_timeline(&home.admin, timeline_id("f"), &timeline_id("grandchild"), Some(&at), None).await;
    assert!(matches!(&forked, Err(Refusal::Invalid { field, .. }) if field == "at"), "{forked:?}");
    end(&home, "grandchild").await;
    pass_days(&home, 10).await;
    assert_eq!(contents(&house, key), (0, 0));
    home.close().await;
}

fn expiring(name: &str, seconds: i64) -> NewTimeline {
    NewTimeline { expires_in: Some(Span::from_micros(seconds * SECOND)), ..timeline_id(name).into() }
}

#[tokio::test]
async fn expired_timeline_is_ended_automatically() {
    let home = Home::new().await;
    let made = home.create_timeline(expiring("job", 60)).await;
    let main = timeline_id("main");
    home.engine.fork_timeline(&home.admin, expiring("fork", 120), &main, None, None).await.unwrap();
    assert!(made.change.expires_at.is_some());
    let home = home.reopen().await;
    home.house.clock.advance(59 * SECOND);
    home.engine.tend().await.unwrap();
    assert_eq!(read(&home, "job").await, "ok");
    home.house.clock.advance(SECOND);
    // Before any maintenance.
    assert_eq!(read(&home, "job").await, ended("job"));
    let draft = vec![EventDraft::at(moment(1), "too late")];
    assert_eq!(outcome_text(&home.engine.record_events(&home.admin, on("job"), draft, None).await), ended("job"));
    let made = home.engine.create_timeline(&home.admin, timeline_id("job"), None).await;
    assert_eq!(outcome_text(&made), "NameEnded { timeline_id: \"job\" }");
    home.engine.tend().await.unwrap();
    assert_eq!(read(&home, "fork").await, "ok");
    home.house.clock.advance(60 * SECOND);
    home.engine.tend().await.unwrap();
    let lines = home.close().await;
    let ends: Vec<String> =
        lines.iter().filter(|line| line.action == "end_timeline").map(crate::audit::Line::short).collect();
    assert_eq!(ends, ["system system end_timeline job", "system system end_timeline fork"]);
}

#[tokio::test]
async fn forged_expiry_row_does_not_end_a_timeline() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "job", "e").await;
    home.close().await;
    let connection = rusqlite::Connection::open(house.path()).unwrap();
    connection.execute("UPDATE timelines SET expires_at = 1 WHERE timeline_id = 'job'", []).unwrap();
    drop(connection);
    let home = house.open().await;
    home.engine.tend().await.unwrap();
    assert!(home.store.open().await.unwrap().ended.is_empty());
    home.engine.close().await;
}

#[tokio::test]
async fn expired_timelines_are_ended_in_bounded_batches() {
    let home = Home::new().await;
    for number in 0..EXPIRED_ENDED_AT_ONCE_MAX + 2 {
        home.create_timeline(expiring(&format!("job-{number}"), 60)).await;
    }
    home.house.clock.advance(120 * SECOND);
    for ended in [EXPIRED_ENDED_AT_ONCE_MAX, EXPIRED_ENDED_AT_ONCE_MAX + 2] {
        home.engine.tend().await.unwrap();
        assert_eq!(home.store.open().await.unwrap().ended.len(), ended);
    }
    home.engine.close().await;
}

#[tokio::test]
async fn ended_timelines_do_not_count_against_quotas() {
    let mut home = House::with(Options { timelines_per_user_max: 3, ..House::new().options }).into_home().await;
    let ada = home.user("ada", false).await;
    for number in 0..50 {
        let name = timeline_id(&format!("job-{number}"));
        home.engine.create_timeline(&ada, name.clone(), None).await.unwrap();
        home.engine.end_timeline(&ada, name, None).await.unwrap();
    }
    assert_eq!(home.engine.stats().timelines, 2);
    home = home.reopen().await;
    assert_eq!(home.engine.stats().timelines, 2);
    let opened = home.store.open().await.unwrap();
    assert_eq!((opened.heads.len(), opened.ended.len()), (2, 50));
    // The number of an ended timeline, which identifies its entries, is not reused.
    home.engine.create_timeline(&ada, timeline_id("one-more"), None).await.unwrap();
    assert!(home.key(&timeline_id("one-more")).await > opened.ended.iter().map(|ended| ended.key).max().unwrap());
    home.close().await;
}

#[tokio::test]
async fn writes_in_the_same_group_precede_the_timeline_end() {
    let home = Home::new().await;
    home.create_timeline(timeline_id("job")).await;
    let engine = &home.engine;
    let draft = |number: i64| vec![EventDraft::at(moment(number), "before the end")];
    let (one, two, over, late) = tokio::join!(
        engine.record_events(&home.admin, on("job"), draft(1), None),
        engine.record_events(&home.admin, on("job"), draft(2), None),
        engine.end_timeline(&home.admin, timeline_id("job"), None),
        engine.record_events(&home.admin, on("job"), draft(3), None),
    );
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(over.unwrap().size, 3);
    assert_eq!(outcome_text(&late), ended("job"));
    home.reopen().await.close().await;
}
