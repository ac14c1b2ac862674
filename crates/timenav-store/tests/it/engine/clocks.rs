//! Travel, pause, resume, fast-forward, rewind, rate, anchors, and returns to them.

use proptest::prelude::*;
use proptest::sample::select;
use timenav_core::clock::{ClockCommand, ClockRefusal, Rate};
use timenav_core::time::{Duration, Instant, Span, Virtual, parse_duration, parse_timestamp};
use timenav_engine::{AnchorRequest, ClockStep, ClockView, KEPT_CHANGES_MAX, Refusal, ReturnScope, WallClock as _};

use super::model::Model;
use crate::cases::check_cases;
use crate::house::{Home, House, on, told};
use crate::sample::{moment, timeline_id};

fn by(text: &str) -> Duration {
    parse_duration(text).unwrap()
}

fn travel(to: &str, location: Option<&str>) -> ClockCommand {
    ClockCommand::Travel { to: parse_timestamp(to).unwrap(), location: location.map(str::to_owned) }
}

fn rate(factor: f64) -> ClockCommand {
    ClockCommand::SetRate(Rate::from_factor(factor).unwrap())
}

async fn change(home: &Home<'_>, command: ClockCommand) -> ClockStep {
    home.engine.change_clock(&home.admin, None, command, None).await.unwrap()
}

async fn read(home: &Home<'_>) -> ClockView {
    home.engine.read_clock(&home.admin, None).await.unwrap()
}

#[tokio::test]
async fn clock_command_response_matches_a_read_at_its_generation() {
    let house = House::new();
    house.clock.stop();
    let home = house.open().await;
    let expected = [
        (travel("1969-07-20T20:17:40Z", Some("Europe/Paris")), true, "1969-07-20T20:17:40Z", 1),
        (ClockCommand::FastForward(by("P1M")), true, "1969-08-20T20:17:41Z", 2),
        (ClockCommand::Rewind(by("1.5h")), true, "1969-08-20T18:47:42Z", 3),
        (rate(60.0), true, "1969-08-20T18:47:43Z", 4),
        (rate(60.0), false, "1969-08-20T18:48:43Z", 4),
        (ClockCommand::Pause, true, "1969-08-20T18:49:43Z", 5),
        (ClockCommand::Pause, false, "1969-08-20T18:49:43Z", 5),
        (ClockCommand::FastForward(by("1d")), true, "1969-08-21T18:49:43Z", 6),
        (travel("-002150-01-01T00:00:00Z", None), true, "-002150-01-01T00:00:00Z", 7),
        (ClockCommand::Resume, true, "-002150-01-01T00:00:00Z", 8),
        (ClockCommand::Resume, false, "-002150-01-01T00:01:00Z", 8),
    ];
    for (command, changed, current_time, generation) in expected {
        let step = change(&home, command.clone()).await;
        assert_eq!(step.changed, changed, "{command:?}");
        assert_eq!(step.view.current_time.to_string(), current_time, "{command:?}");
        assert_eq!(step.view.clock.generation, generation, "{command:?}");
        let view = read(&home).await;
        assert_eq!(view.clock, step.view.clock, "{command:?}");
        assert_eq!(view.current_time, step.view.current_time, "{command:?}");
        assert_eq!(view.local_time, step.view.local_time, "{command:?}");
        assert!(step.view.local_time.is_some(), "the place stays until another one is named");
        house.clock.advance(1_000_000);
    }
    let home = home.reopen().await;
    assert_eq!(read(&home).await.clock.generation, 8);
    let lines = home.close().await;
    let paused: Vec<_> =
        lines.iter().filter(|line| line.action == "pause_time").map(|line| &line.payload["changed"]).collect();
    assert_eq!(paused, [true, false], "to pause a paused clock is an entry too");
}

#[tokio::test]
async fn rejected_clock_command_changes_nothing_and_leaves_no_entry() {
    let house = House::new();
    let home = house.open().await;
    change(&home, travel("9999-12-31T00:00:00Z", Some("UTC"))).await;
    change(&home, ClockCommand::Pause).await;
    let (before, size) = (read(&home).await, home.size("main").await);
    let too_long = "x".repeat(513);
    for (command, refusal) in [
        (ClockCommand::FastForward(by("1d")), ClockRefusal::OutOfRange),
        (ClockCommand::FastForward(by("P1M")), ClockRefusal::OutOfRange),
        (ClockCommand::Rewind(by("P19999Y")), ClockRefusal::OutOfRange),
        (travel("2000-01-01T00:00:00Z", Some("")), ClockRefusal::Location),
        (travel("2000-01-01T00:00:00Z", Some(&too_long)), ClockRefusal::Location),
    ] {
        let result = home.engine.change_clock(&home.admin, None, command.clone(), None).await;
        assert!(matches!(result, Err(Refusal::Clock(found)) if found == refusal), "{command:?}");
    }
    assert_eq!(home.size("main").await, size);
    assert_eq!(read(&home).await.clock, before.clock);
    home.close().await;
}

/// Actions between two readings of the clocks.
#[derive(Clone, Debug)]
enum Act {
    Change(usize, usize, ClockCommand),
    Read(usize, usize),
    Wait(i64),
    /// Restarts the service, on a host whose clock may have been set back.
    Restart(i64),
}

const TIMELINES: [&str; 3] = ["main", "blue", "green"];

fn commands() -> impl Strategy<Value = ClockCommand> {
    let instants = prop_oneof![
        (0..4_000_000_000_000_000_i64).prop_map(moment),
        Just(Instant::<Virtual>::MIN),
        Just(Instant::<Virtual>::MAX)
    ];
    let places = prop::option::of(select(vec!["America/New_York", "Asia/Kathmandu", "under the sea", ""]));
    let lengths = prop_oneof![
        (1..1_000_000_000_000_i64).prop_map(|micros| Duration::new(0, Span::from_micros(micros)).unwrap()),
        (1..240_000_u32).prop_map(|months| Duration::new(months, Span::ZERO).unwrap()),
    ];
    let rates = select(vec![1, 500_000, 1_000_000, 3_333_333, 1_000_000_000_000]);
    prop_oneof![
        (instants, places)
            .prop_map(|(to, location)| ClockCommand::Travel { to, location: location.map(str::to_owned) }),
        Just(ClockCommand::Pause),
        Just(ClockCommand::Resume),
        lengths.clone().prop_map(ClockCommand::FastForward),
        lengths.prop_map(ClockCommand::Rewind),
        rates.prop_map(|micros| ClockCommand::SetRate(Rate::from_micros(micros).unwrap())),
    ]
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        12 => (0..3_usize, 0..3_usize, commands()).prop_map(|(who, timeline, command)| Act::Change(who, timeline, command)),
        4 => (0..3_usize, 0..3_usize).prop_map(|(who, timeline)| Act::Read(who, timeline)),
        4 => (0..100_000_000_000_i64).prop_map(Act::Wait),
        1 => (-10_000_000_000..10_000_000_000_i64).prop_map(Act::Restart),
    ];
    prop::collection::vec(act, 1..60)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_clock_operations_match_the_core_model() {
    check_cases(12, &acts(), async |acts| Box::pin(check_acts(acts)).await);
}

async fn check_acts(acts: Vec<Act>) {
    let house = House::new();
    house.clock.stop();
    let mut home = house.open().await;
    // Operators, so that all of them may write everywhere.
    let callers = [home.admin.clone(), home.user("ada", true).await, home.user("bob", true).await];
    let mut model = Model::default();
    for head in home.store.open().await.unwrap().heads {
        model.insert(head.id.as_str(), head.clock, head.recorded_at);
    }
    for act in acts {
        match act {
            Act::Wait(micros) => house.clock.advance(micros),
            Act::Restart(micros) => {
                house.clock.advance(micros);
                home = home.reopen().await;
            }
            Act::Read(who, timeline) => {
                let timeline = TIMELINES[timeline];
                let expected = model.read(timeline, house.clock.now());
                let view = home.engine.read_clock(&callers[who], on(timeline)).await;
                assert_eq!(view.as_ref().ok().map(|view| view.current_time), expected);
                if let Ok(view) = view {
                    assert_eq!(view.clock, *model.clock(timeline));
                }
            }
            Act::Change(who, timeline, command) => {
                let timeline = TIMELINES[timeline];
                let expected = model.change(timeline, &command, house.clock.now());
                let step = home.engine.change_clock(&callers[who], on(timeline), command.clone(), None).await;
                match (step, expected) {
                    (Ok(step), Ok(expected)) => {
                        assert_eq!((step.view.clock, step.view.current_time, step.changed), expected, "{command:?}");
                    }
                    (Err(Refusal::Clock(found)), Err(expected)) => assert_eq!(found, expected, "{command:?}"),
                    (step, expected) => panic!("{command:?}: {step:?}, expected {expected:?}"),
                }
                let exists = home.size(timeline).await > 0;
                assert_eq!(exists, model.contains(timeline), "{timeline}");
            }
        }
    }
    home.close().await;
}

#[tokio::test]
async fn virtual_time_does_not_decrease_after_a_host_clock_setback() {
    let house = House::new();
    house.clock.stop();
    let home = house.open().await;
    change(&home, rate(1_000.0)).await;
    house.clock.advance(3_600_000_000);
    let before = read(&home).await;
    home.engine.close().await;
    drop(home);
    house.clock.advance(-1_800_000_000);
    let home = house.open().await;
    let after = read(&home).await;
    assert!(after.current_time >= before.current_time, "{} after {}", after.current_time, before.current_time);
    let seen = home.engine.timeline(&home.admin, &timeline_id("main")).await.unwrap().clock.unwrap().current_time;
    assert!(seen >= after.current_time, "{seen}");
    home.close().await;
}

#[tokio::test]
async fn return_to_anchor_restores_the_clock_state() {
    let house = House::new();
    house.clock.stop();
    let home = house.open().await;
    change(&home, travel("2001-01-01T00:00:00Z", Some("Asia/Tokyo"))).await;
    change(&home, rate(2.0)).await;
    change(&home, ClockCommand::Pause).await;
    let request = |timestamp| AnchorRequest { timestamp, description: "before the storm".to_owned(), fixed: true };
    let (here, at, ledger, replayed) = home.engine.set_anchor(&home.admin, None, request(None), None).await.unwrap();
    assert_eq!((at.to_string().as_str(), replayed), ("2001-01-01T00:00:00Z", false));
    assert_eq!(ledger.position + 1, ledger.size);
    let there = home.engine.set_anchor(&home.admin, None, request(Some(moment(-5))), None).await.unwrap().0;
    change(&home, ClockCommand::Resume).await;
    change(&home, rate(1.0)).await;
    change(&home, travel("2020-01-01T00:00:00Z", Some("Europe/Paris"))).await;
    house.clock.advance(1_000_000);
    let back = async |anchor, home: &Home<'_>| {
        home.engine.return_to_anchor(&home.admin, None, anchor, ReturnScope::Clock, None).await
    };
    let step = back(&here, &home).await.unwrap();
    assert_eq!(step.view.current_time, at);
    assert_eq!(step.view.clock.location.as_deref(), Some("Asia/Tokyo"));
    assert_eq!((step.view.clock.rate().factor(), step.view.clock.is_running()), (2.0, false));
    assert_eq!(back(&there, &home).await.unwrap().view.current_time, moment(-5));
    let none = timenav_core::ids::AnchorId::new("anchor_none").unwrap();
    assert_eq!(told(&back(&none, &home).await), r#"NotFound { what: "anchor", id: "anchor_none" }"#);
    let home = home.reopen().await;
    assert_eq!(back(&here, &home).await.unwrap().view.current_time, at);
    let long = AnchorRequest { description: "x".repeat(16 * 1024 + 1), ..request(None) };
    let refused = home.engine.set_anchor(&home.admin, None, long, None).await;
    assert!(matches!(refused, Err(Refusal::Invalid { field, .. }) if field == "description"));
    home.close().await;
}

#[tokio::test]
async fn clock_stream_sends_every_change_and_missed_ones() {
    let house = House::new();
    let home = house.open().await;
    let watch = async |seen| home.engine.watch_clock(&home.admin, None, seen).await.unwrap().1;
    let generations =
        |clocks: &[timenav_core::clock::Clock]| clocks.iter().map(|clock| clock.generation).collect::<Vec<_>>();
    let mut first = watch(None).await;
    assert_eq!((generations(&first.missed), first.reset), (vec![0], false));
    for factor in 2..7 {
        change(&home, rate(f64::from(factor))).await;
    }
    for generation in 1..6 {
        assert_eq!(first.changes.next().await.unwrap().clock.generation, generation);
    }
    for (seen, missed, reset) in [
        (None, vec![5], false),
        (Some(5), vec![], false),
        (Some(2), vec![3, 4, 5], false),
        (Some(0), vec![1, 2, 3, 4, 5], false),
        // From a time that never existed, or was undone.
        (Some(6), vec![5], true),
        (Some(u64::MAX), vec![5], true),
    ] {
        let stream = watch(seen).await;
        assert_eq!((generations(&stream.missed), stream.reset), (missed, reset), "{seen:?}");
    }
    // A change without effect does not count as one.
    change(&home, rate(6.0)).await;
    change(&home, rate(1.0)).await;
    assert_eq!(first.changes.next().await.unwrap().clock.generation, 6);
    let home = home.reopen().await;
    let stream = home.engine.watch_clock(&home.admin, None, Some(3)).await.unwrap().1;
    assert_eq!((generations(&stream.missed), stream.reset), (vec![4, 5, 6], false), "the ledger tells");
    let stream = home.engine.watch_clock(&home.admin, None, Some(6)).await.unwrap().1;
    assert_eq!((generations(&stream.missed), stream.reset), (vec![], false));
    home.close().await;
}

#[tokio::test]
async fn late_clock_listener_catches_up_within_the_retention_limit() {
    let house = House::new();
    let home = house.open().await;
    let watch = async || home.engine.watch_clock(&home.admin, None, None).await.unwrap().1.changes;
    for (behind, is_told) in [(KEPT_CHANGES_MAX, true), (KEPT_CHANGES_MAX + 1, false)] {
        let mut changes = watch().await;
        let before = home.engine.read_clock(&home.admin, None).await.unwrap().clock.generation;
        for number in 0..behind {
            change(&home, rate(if number % 2 == 0 { 2.0 } else { 3.0 })).await;
        }
        for generation in before + 1..=before + behind as u64 * u64::from(is_told) {
            assert_eq!(changes.next().await.unwrap().clock.generation, generation);
        }
        if !is_told {
            assert!(changes.next().await.is_none(), "what is lost is not passed over");
        }
        change(&home, rate(1.0)).await;
    }
    home.close().await;
}
