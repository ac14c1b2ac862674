use proptest::prelude::*;

use super::*;
use crate::clock::{self, ClockCommand, Rate};
use crate::time::Zone;

fn host(seconds: i64) -> Instant<Wall> {
    Instant::from_micros(1_700_000_000_000_000 + seconds * 1_000_000).unwrap()
}

fn command(timestamp: Option<Instant<Virtual>>) -> AnchorCommand {
    AnchorCommand { anchor_id: AnchorId::new("anchor_1").unwrap(), timestamp, description: "why".into(), fixed: true }
}

#[test]
fn anchor_marks_clock_time_unless_another_is_given() {
    let clock = Clock::new(host(0));
    let own = decide(0, &command(None), &clock, (7, host(90))).unwrap();
    assert_eq!((own.timestamp, own.position, own.set_at), (clock.now(host(90)), 7, host(90)));
    assert_eq!(own.restored(), clock.moment(host(90)));
    let decided = decide(0, &command(Some(Instant::EPOCH)), &clock, (7, host(90))).unwrap();
    assert_eq!((decided.timestamp, decided.moment), (Instant::EPOCH, clock.moment(host(90))));
}

#[test]
fn anchors_beyond_the_timeline_limit_are_rejected() {
    let clock = Clock::new(host(0));
    let max = ANCHORS_PER_TIMELINE_MAX as u64;
    assert!(decide(max - 1, &command(None), &clock, (0, host(0))).is_ok());
    assert_eq!(decide(max, &command(None), &clock, (0, host(0))), Err(AnchorRefusal::TooMany));
}

#[test]
fn anchor_descriptions_over_the_limit_are_rejected() {
    let clock = Clock::new(host(0));
    let of = |bytes| AnchorCommand { description: "x".repeat(bytes), ..command(None) };
    assert!(decide(0, &of(DESCRIPTION_BYTES_MAX), &clock, (0, host(0))).is_ok());
    let refused = decide(0, &of(DESCRIPTION_BYTES_MAX + 1), &clock, (0, host(0)));
    assert_eq!(refused, Err(AnchorRefusal::Description));
}

proptest! {
    /// At an anchor, a clock shows and runs as it did when the anchor was made.
    #[test]
    fn clock_restored_to_anchor_matches_the_anchor(
        at in -1_000_000_i64..1_000_000, rate in 1_u64..5_000_000, waits in 0_i64..10_000, is_paused: bool,
        marks in prop::option::of(-1_000_000_i64..1_000_000),
    ) {
        let zone = Zone::utc();
        let mut clock = Clock::new(host(0));
        let to = Instant::from_micros(at * 1_000_000).unwrap();
        let rate = Rate::from_micros(rate).unwrap();
        let mut commands = vec![ClockCommand::Travel { to, location: Some("Paris".into()) }, ClockCommand::SetRate(rate)];
        commands.extend(is_paused.then_some(ClockCommand::Pause));
        for command in &commands {
            if let Some(moved) = clock::decide(&clock, command, &zone, host(0)).unwrap() {
                clock = clock::apply(&clock, &moved);
            }
        }
        let marks = marks.map(|seconds| Instant::from_micros(seconds * 1_000_000).unwrap());
        let set = decide(3, &command(marks), &clock, (9, host(waits))).unwrap();
        prop_assert_eq!(set.timestamp, marks.unwrap_or_else(|| clock.now(host(waits))));

        let away = ClockCommand::Travel { to: Instant::EPOCH, location: Some("Rome".into()) };
        let moved = clock::decide(&clock, &away, &zone, host(waits + 5)).unwrap().unwrap();
        let moved_away = clock::apply(&clock, &moved);
        let back = clock::decide(&moved_away, &ClockCommand::Restore(set.restored()), &zone, host(waits + 9)).unwrap().unwrap();
        let there = clock::apply(&moved_away, &back);
        prop_assert_eq!(there.now(host(waits + 9)), set.timestamp);
        prop_assert_eq!((there.is_running(), there.rate(), there.location), (!is_paused, rate, Some("Paris".to_owned())));
    }
}
