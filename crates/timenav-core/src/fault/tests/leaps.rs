use proptest::prelude::*;

use super::*;

/// The last second of a day.
const LAST: i64 = 86_399 * SECOND;

fn leap(kind: LeapKind, smear: i64) -> Fault {
    let (second, smear) = (virtual_at(LAST), Span::from_micros(smear));
    Fault { leap: Some(Leap { kind, second, smear }), ..Fault::default() }
}

/// Computed from the time shown without the leap second.
fn expected(kind: LeapKind, smear: i64, plain: i64) -> i64 {
    let (boundary, step) = match kind {
        LeapKind::Insert => (LAST + SECOND, -SECOND),
        LeapKind::Delete => (LAST, SECOND),
    };
    if smear == 0 {
        return if plain < boundary { plain } else { plain + step };
    }
    let passed = (plain - (boundary - smear / 2)).clamp(0, smear);
    plain + i64::try_from((i128::from(step) * i128::from(passed)).div_euclid(i128::from(smear))).unwrap()
}

#[test]
fn leap_second_repeats_or_skips_the_last_second() {
    let day = 86_400 * SECOND;
    for (kind, seen) in [
        (LeapKind::Insert, [day - 2 * SECOND, day - SECOND, day - SECOND, day, day + SECOND]),
        (LeapKind::Delete, [day - 2 * SECOND, day, day + SECOND, day + 2 * SECOND, day + 3 * SECOND]),
    ] {
        let truth = running(0, day - 2 * SECOND, 1.0, 0);
        let mut clock = FaultyClock::new(leap(kind, 0), truth, host(0));
        for (second, expected) in (0..).zip(seen) {
            clock.turn(host(second * SECOND));
            assert_eq!(clock.displayed().now(host(second * SECOND)).micros(), expected, "{kind:?} {second}");
            let half = second * SECOND + SECOND / 2;
            assert_eq!(clock.displayed().now(host(half)).micros(), expected + SECOND / 2, "{kind:?} {second}");
        }
        assert_eq!(clock.next_turn(), None);
    }
}

#[test]
fn next_turn_is_known_before_a_leap_second() {
    let truth = running(0, LAST - 7 * SECOND, 2.0, 0);
    let clock = FaultyClock::new(leap(LeapKind::Insert, 0), truth.clone(), host(0));
    assert_eq!(clock.next_turn(), Some(host(4 * SECOND)), "eight seconds, at twice the speed");
    let clock = FaultyClock::new(leap(LeapKind::Delete, 0), truth, host(0));
    assert_eq!(clock.next_turn(), Some(host(3_500_000)));
    let paused_clock = FaultyClock::new(leap(LeapKind::Delete, 0), paused(0, LAST - 1, 0), host(0));
    assert_eq!(paused_clock.next_turn(), None);
}

#[test]
fn jump_over_a_leap_second_and_back_applies_it() {
    let mut clock = FaultyClock::new(leap(LeapKind::Insert, 0), running(0, 0, 1.0, 0), host(0));
    let later = paused(SECOND, 2 * LAST, 1);
    clock.change(&later, host(SECOND));
    assert_eq!(error(&clock, &later, SECOND), -SECOND);
    let earlier = paused(2 * SECOND, 0, 2);
    clock.change(&earlier, host(2 * SECOND));
    assert_eq!(error(&clock, &earlier, 2 * SECOND), 0);
}

proptest! {
    /// Late turns, rates, pauses and jumps make no difference.
    #[test]
    fn faulty_reading_depends_only_on_the_true_time(
        is_insert: bool,
        smear in prop_oneof![Just(0), Just(FAULT_SMEAR_MIN.micros()), Just(86_400 * SECOND), Just(7_200 * SECOND)],
        steps in proptest::collection::vec(
            (1_i64..20_000_000, -200_000 * SECOND..400_000 * SECOND, 0_usize..5), 1..20),
    ) {
        let kind = if is_insert { LeapKind::Insert } else { LeapKind::Delete };
        let mut truth = running(0, LAST - 10 * SECOND, 1.0, 0);
        let mut clock = FaultyClock::new(leap(kind, smear), truth.clone(), host(0));
        let mut at = 0;
        for (generation, (passes, shows, how)) in (1..).zip(steps) {
            for _ in 0..3 {
                at += passes;
                clock.turn(host(at));
                let plain = truth.now(host(at)).micros();
                let displayed = clock.displayed().now(host(at)).micros();
                // Within a piece of a smear the clock is linear; at high rates this deviates far from the formula.
                let most = if smear == 0 { 20 } else { 1_000_000 };
                prop_assert!((displayed - expected(kind, smear, plain)).abs() <= most, "{} {}", displayed, plain);
            }
            let factor = [0.0, 0.5, 1.0, 60.0, 3_600.0][how];
            truth = if how == 0 { paused(at, shows, generation) } else { running(at, shows, factor, generation) };
            clock.change(&truth, host(at));
        }
    }

    #[test]
    fn smeared_leap_second_is_exact_and_monotonic(
        is_insert: bool,
        smear in FAULT_SMEAR_MIN.micros()..100_000_000,
        begins in -60_000_000_i64..60_000_000,
    ) {
        let kind = if is_insert { LeapKind::Insert } else { LeapKind::Delete };
        let truth = running(0, LAST + begins, 1.0, 0);
        let mut clock = FaultyClock::new(leap(kind, smear), truth.clone(), host(0));
        let mut last = i64::MIN;
        for tenth in 0..2_000 {
            let at = tenth * SECOND / 10;
            clock.turn(host(at));
            let displayed = clock.displayed().now(host(at)).micros();
            prop_assert!(displayed > last, "{} {}", last, displayed);
            last = displayed;
            if at % SECOND == 0 {
                let expected = expected(kind, smear, truth.now(host(at)).micros());
                prop_assert!((displayed - expected).abs() <= 1, "{} {}", displayed, expected);
            }
        }
    }
}
