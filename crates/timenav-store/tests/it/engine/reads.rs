//! Every read is an entry too, written before or soon after its response.

use crate::engine::*;

/// Reads in every possible way. Returns the expected entries.
async fn read_in_every_way(home: &Home<'_>) -> Vec<String> {
    let (engine, admin, main) = (&home.engine, &home.admin, timeline_id("main"));
    engine.read_clock(admin, None).await.unwrap();
    engine.watch_clock(admin, None, None).await.unwrap();
    engine.watch_ledger(admin, watch(&Topic::ALL, None)).await.unwrap();
    let diff = TimelinesDiff { a: main.clone(), b: main.clone(), of: DiffOf::Events, items_max: 5, cursor: None };
    engine.timelines_diff(admin, diff).await.unwrap();
    engine.anchors(admin, None, 5, None).await.unwrap();
    let request = MonitorEvents {
        location_text: "New \"Orleans\"".to_owned(),
        location: LocationQuery::Named("New \"Orleans\"".to_owned()),
        items_max: 5,
        ..every_event(None)
    };
    engine.monitor_events(admin, request).await.unwrap();
    engine.timeline(admin, &main).await.unwrap();
    engine.checkpoint(admin, &main, true).await.unwrap();
    engine.inclusion_proof(admin, &main, 0).await.unwrap();
    engine.consistency_proof(admin, &main, 1).await.unwrap();
    engine.entries(admin, EntriesRequest { timeline: main.clone(), from: 0, items_max: 5 }).await.unwrap();
    engine.timelines(admin, 5, None).await.unwrap();
    engine.users(admin, 100, None).await.unwrap();
    engine.api_keys(admin, None, 100, None).await.unwrap();
    let streams = ["clock", "clock_stream", "stream", "timelines_diff"];
    let main =
        [&streams[..], &["anchors", "monitor_events", "timeline", "checkpoint", "proof", "proof", "entries"]].concat();
    let system = ["timelines", "users", "api_keys"];
    let main = main.into_iter().map(|subject| format!("main admin read {subject}"));
    main.chain(system.map(|subject| format!("system admin read {subject}"))).collect()
}

fn reads(lines: &[crate::audit::Line]) -> Vec<String> {
    lines.iter().filter(|line| line.action == "read").map(crate::audit::Line::short).collect()
}

#[tokio::test]
async fn durable_read_is_logged_before_the_response() {
    let home = Home::new().await;
    let expected = read_in_every_way(&home).await;
    let lines = home.lines().await;
    assert_eq!(reads(&lines), expected);
    let request = lines.iter().find(|line| line.subject == "monitor_events").unwrap();
    assert_eq!(request.payload, serde_json::json!({"location": "New \"Orleans\"", "time_range": "../.."}));
    home.close().await;
}

#[tokio::test]
async fn buffered_reads_are_logged_when_the_engine_closes() {
    let options = Options { read_log: ReadLog::Buffered, ..House::new().options };
    let home = House::with(options).into_home().await;
    let ada = home.user("ada", false).await;
    let expected = read_in_every_way(&home).await;
    // Rejections and changes are not buffered.
    assert_eq!(outcome_text(&home.engine.read_clock(&ada, None).await), "Hidden");
    assert!(home.lines().await.iter().any(|line| line.short() == "main ada unauthorized_access_attempt clock"));
    home.change_clock(None, ClockCommand::Pause).await;
    assert!(home.lines().await.iter().any(|line| line.action == "pause_time"));
    for _ in 0..500 {
        home.read_clock(on("system")).await;
    }
    let found = reads(&home.close().await);
    assert_eq!(found.len(), expected.len() + 500);
    assert!(expected.iter().all(|line| found.contains(line)));
}

#[tokio::test]
async fn clock_reads_are_logged_only_on_request() {
    let home = House::with(Options { logs_clock_reads: false, ..House::new().options }).into_home().await;
    let ada = home.user("ada", false).await;
    let mut expected = read_in_every_way(&home).await;
    expected.retain(|line| !line.ends_with(" clock"));
    let lines = home.lines().await;
    assert_eq!(reads(&lines), expected);
    // Rejected reads are always logged.
    assert_eq!(outcome_text(&home.engine.read_clock(&ada, None).await), "Hidden");
    assert!(home.lines().await.iter().any(|line| line.short() == "main ada unauthorized_access_attempt clock"));
    home.close().await;
}

#[tokio::test]
async fn ledger_reads_show_the_buffered_reads_before_them() {
    let home = House::with(Options { read_log: ReadLog::Buffered, ..House::new().options }).into_home().await;
    let (engine, admin, main) = (&home.engine, &home.admin, timeline_id("main"));
    for round in 1..=20 {
        engine.anchors(admin, None, 5, None).await.unwrap();
        engine.entries(admin, EntriesRequest { timeline: main.clone(), from: 0, items_max: 5 }).await.unwrap();
        let anchors = home.lines().await.iter().filter(|line| line.short() == "main admin read anchors").count();
        assert_eq!(anchors, round);
    }
    home.close().await;
}
