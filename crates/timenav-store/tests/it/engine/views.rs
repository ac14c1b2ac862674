//! What views find, and at which moment.

use timenav_core::clock::ClockCommand;
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
async fn the_making_of_a_timeline_moves_no_clock_but_its_own() {
    let house = House::new();
    let home = house.open().await;
    let far = ClockCommand::Travel { to: moment(-1_000_000_000_000), location: None };
    home.engine.change_clock(&home.admin, None, far, None).await.unwrap();
    home.engine.fork_timeline(&home.admin, timeline_id("fork"), &timeline_id("main"), None, None).await.unwrap();
    // What is read next is an entry of `system` that shows the host's time.
    home.engine.users(&home.admin, 5, None).await.unwrap();
    assert_eq!(jumps(&home, "system").await.paradoxes, []);
    assert_eq!(jumps(&home, "main").await.total, 1, "it was sent there");
    // Nor where the view is kept and goes on.
    home.engine.fork_timeline(&home.admin, timeline_id("other"), &timeline_id("main"), None, None).await.unwrap();
    home.engine.users(&home.admin, 5, None).await.unwrap();
    assert_eq!(jumps(&home, "system").await.paradoxes, []);
    home.close().await;
}
