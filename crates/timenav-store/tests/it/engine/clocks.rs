//! Travel, pause, resume, fast-forward, rewind, rate, anchors, and returns to them.

use proptest::prelude::*;
use timenav_core::time::parse_timestamp;
use timenav_engine::{ClockView, RETAINED_CHANGES_MAX};

use super::timelines::model::Model;
use crate::engine::*;

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
    home.change_clock(None, command).await
}

async fn read(home: &Home<'_>) -> ClockView {
    home.read_clock(None).await
}

#[tokio::test]
async fn rejected_clock_command_changes_nothing_and_leaves_no_entry() {
    let home = Home::new().await;
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
    home.stop().await;
    house.clock.advance(-1_800_000_000);
    let home = house.open().await;
    let after = read(&home).await;
    assert!(after.current_time >= before.current_time, "{} after {}", after.current_time, before.current_time);
    let seen = home.engine.timeline(&home.admin, &timeline_id("main")).await.unwrap().clock.unwrap().current_time;
    assert!(seen >= after.current_time, "{seen}");
    home.close().await;
}

#[tokio::test]
async fn late_clock_listener_catches_up_within_the_retention_limit() {
    let home = Home::new().await;
    let watch = async || home.engine.watch_clock(&home.admin, None, None).await.unwrap().1.changes;
    for (behind, is_reported) in [(RETAINED_CHANGES_MAX, true), (RETAINED_CHANGES_MAX + 1, false)] {
        let mut changes = watch().await;
        let before = home.read_clock(None).await.clock.generation;
        for number in 0..behind {
            change(&home, rate(if number % 2 == 0 { 2.0 } else { 3.0 })).await;
        }
        for generation in before + 1..=before + behind as u64 * u64::from(is_reported) {
            assert_eq!(changes.next().await.unwrap().clock.generation, generation);
        }
        if !is_reported {
            assert!(changes.next().await.is_none(), "what is lost is not passed over");
        }
        change(&home, rate(1.0)).await;
    }
    home.close().await;
}

#[tokio::test]
async fn fork_counts_its_own_clock_changes_from_zero() {
    let home = Home::new().await;
    for command in [ClockCommand::Pause, ClockCommand::Resume, rate(2.0)] {
        change(&home, command).await;
    }
    assert_eq!(read(&home).await.clock.generation, 3);
    home.fork("fork", "main").await;
    let forked = home.read_clock(on("fork")).await;
    assert_eq!((forked.clock.generation, forked.clock.rate()), (0, Rate::from_factor(2.0).unwrap()));
    home.close().await;
}
