//! Results of views, and the position they are based on.

use timenav_core::clock::ClockCommand;
use timenav_core::event::EventDraft;
use timenav_core::paradox::Kind;
use timenav_core::time::TimeRange;
use timenav_engine::{MonitorParadox, ParadoxPage};

use crate::house::{Home, House, on};
use crate::sample::{moment, timeline_id};

/// Returns the jumps of a timeline's clock.
async fn jumps(home: &Home<'_>, timeline: &str) -> ParadoxPage {
    let request = MonitorParadox {
        timeline: on(timeline),
        range: TimeRange::everything(),
        kinds: Some(vec![Kind::ClockDiscontinuity]),
        observations: true,
        settings: None,
        as_of: None,
        items_max: 10,
        cursor: None,
    };
    home.engine.monitor_paradox(&home.admin, request).await.unwrap()
}

#[tokio::test]
async fn creating_a_timeline_causes_no_clock_jump_elsewhere() {
    let house = House::new();
    let home = house.open().await;
    let far = ClockCommand::Travel { to: moment(-1_000_000_000_000), location: None };
    home.engine.change_clock(&home.admin, None, far, None).await.unwrap();
    home.engine.fork_timeline(&home.admin, timeline_id("fork"), &timeline_id("main"), None, None).await.unwrap();
    // The next read is an entry of `system` with the host's time.
    home.engine.users(&home.admin, 5, None).await.unwrap();
    assert_eq!(jumps(&home, "system").await.paradoxes, []);
    assert_eq!(jumps(&home, "main").await.total, 1, "it was sent there");
    // Nor if the view is cached and continued.
    home.engine.fork_timeline(&home.admin, timeline_id("other"), &timeline_id("main"), None, None).await.unwrap();
    home.engine.users(&home.admin, 5, None).await.unwrap();
    assert_eq!(jumps(&home, "system").await.paradoxes, []);
    home.close().await;
}

#[tokio::test]
async fn repeated_pause_or_resume_is_not_a_clock_jump() {
    let house = House::new();
    let home = house.open().await;
    for command in [ClockCommand::Pause, ClockCommand::Pause, ClockCommand::Resume, ClockCommand::Resume] {
        home.engine.change_clock(&home.admin, None, command, None).await.unwrap();
        house.pass(5_000_000);
        let event = EventDraft::at(moment(0), "told in between".to_owned());
        home.engine.record_events(&home.admin, None, vec![event], None).await.unwrap();
        house.pass(5_000_000);
    }
    // After each pause the clock continues from where it was, and neither clock jumps.
    let found = jumps(&home, "main").await;
    assert_eq!((found.total, found.paradoxes), (0, Vec::new()));
    home.close().await;
}
