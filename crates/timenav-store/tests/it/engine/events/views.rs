//! Results of views, and the position they are based on.

use timenav_core::paradox::Kind;

use crate::engine::*;

async fn jumps(home: &Home<'_>, timeline: &str) -> ParadoxPage {
    let request = MonitorParadox { kinds: Some(vec![Kind::ClockDiscontinuity]), ..every_paradox(on(timeline)) };
    home.engine.monitor_paradox(&home.admin, request).await.unwrap()
}

#[tokio::test]
async fn creating_a_timeline_causes_no_clock_jump_elsewhere() {
    let home = Home::new().await;
    let far = ClockCommand::Travel { to: moment(-1_000_000_000_000), location: None };
    home.change_clock(None, far).await;
    home.fork("fork", "main").await;
    // The next read is an entry of `system` with the host's time.
    home.engine.users(&home.admin, 5, None).await.unwrap();
    assert_eq!(jumps(&home, "system").await.paradoxes, []);
    assert_eq!(jumps(&home, "main").await.total, 1, "it was sent there");
    // Nor if the view is cached and continued.
    home.fork("other", "main").await;
    home.engine.users(&home.admin, 5, None).await.unwrap();
    assert_eq!(jumps(&home, "system").await.paradoxes, []);
    home.close().await;
}

#[tokio::test]
async fn repeated_pause_or_resume_is_not_a_clock_jump() {
    let home = Home::new().await;
    for command in [ClockCommand::Pause, ClockCommand::Pause, ClockCommand::Resume, ClockCommand::Resume] {
        home.change_clock(None, command).await;
        home.house.pass(5_000_000);
        let event = EventDraft::at(moment(0), "told in between".to_owned());
        home.record_events(None, vec![event]).await;
        home.house.pass(5_000_000);
    }
    // After each pause the clock continues from where it was, and neither clock jumps.
    let found = jumps(&home, "main").await;
    assert_eq!((found.total, found.paradoxes), (0, Vec::new()));
    home.close().await;
}
