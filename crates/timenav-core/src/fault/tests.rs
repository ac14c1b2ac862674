mod leaps;

use super::*;

const START: i64 = 1_800_000_000_000_000;

fn host(micros: i64) -> Instant<Wall> {
    Instant::from_micros(START + micros).unwrap()
}

fn virtual_at(micros: i64) -> Instant<Virtual> {
    Instant::from_micros(micros).unwrap()
}

fn running(at: i64, shows: i64, rate: f64, generation: u64) -> Clock {
    let rate = Rate::from_factor(rate).unwrap();
    let state = ClockState::Running { origin_host: host(at), origin_virtual: virtual_at(shows), rate };
    Clock { state, location: None, generation }
}

fn paused(at: i64, shows: i64, generation: u64) -> Clock {
    let state = ClockState::Paused { since: host(at), at: virtual_at(shows), rate: Rate::NORMAL };
    Clock { state, location: None, generation }
}

/// Clock error in microseconds.
fn error(clock: &FaultyClock, truth: &Clock, at: i64) -> i64 {
    clock.displayed().now(host(at)).since(truth.now(host(at))).micros()
}

const SECOND: i64 = 1_000_000;

#[test]
fn offset_and_drift_produce_the_configured_error() {
    let fault = Fault { offset: Span::from_micros(-2 * SECOND), drift_ppm: 200, ..Fault::default() };
    let truth = running(0, 0, 1.0, 0);
    let clock = FaultyClock::new(fault, truth.clone(), host(10 * SECOND));
    assert_eq!(error(&clock, &truth, 10 * SECOND), -2 * SECOND);
    // 200 µs per second.
    assert_eq!(error(&clock, &truth, 1_010 * SECOND), -2 * SECOND + 200_000);
    assert_eq!(clock.next_turn(), None, "one line, however long");
    // Drift applies to virtual time: here one hour per second.
    let truth = running(0, 0, 3_600.0, 0);
    let clock = FaultyClock::new(fault, truth.clone(), host(0));
    assert_eq!(error(&clock, &truth, 10 * SECOND), -2 * SECOND + 36_000 * 200);
}

#[test]
fn clock_error_survives_jumps_and_pauses() {
    let fault = Fault { offset: Span::from_micros(SECOND), drift_ppm: -100, ..Fault::default() };
    let first = running(0, 0, 1.0, 0);
    let mut clock = FaultyClock::new(fault, first, host(0));
    // A travel after 100 seconds, when 10 ms were lost.
    let travelled = running(100 * SECOND, -9_000 * SECOND, 1.0, 1);
    clock.change(&travelled, host(100 * SECOND + 300));
    assert_eq!(error(&clock, &travelled, 100 * SECOND), 990_000);
    let paused_clock = paused(200 * SECOND, -8_900 * SECOND, 2);
    clock.change(&paused_clock, host(200 * SECOND));
    assert_eq!(error(&clock, &paused_clock, 500 * SECOND), 980_000);
    assert_eq!(clock.displayed().generation, 2);
    let resumed = running(500 * SECOND, -8_900 * SECOND, 1.0, 3);
    clock.change(&resumed, host(500 * SECOND));
    assert_eq!(error(&clock, &resumed, 600 * SECOND), 970_000);
    clock.change(&resumed, host(601 * SECOND));
    assert_eq!(error(&clock, &resumed, 600 * SECOND), 970_000);
}

#[test]
fn jitter_stays_within_bounds_and_is_monotonic() {
    let fault = Fault { jitter_micros: 5_000, seed: 7, ..Fault::default() };
    let truth = running(0, 0, 1.0, 0);
    let mut clock = FaultyClock::new(fault, truth.clone(), host(0));
    let (mut last, mut errors) = (i64::MIN, Vec::new());
    for step in 0..3_000 {
        let at = step * SECOND / 10;
        clock.turn(host(at));
        let displayed = clock.displayed().now(host(at)).micros();
        assert!(displayed > last, "it goes back at {at}");
        last = displayed;
        if at % SECOND == 0 {
            errors.push(error(&clock, &truth, at));
        }
    }
    assert_eq!(errors[0], 0);
    assert!(errors.iter().all(|error| error.abs() <= 5_000), "{errors:?}");
    let (ahead, behind) =
        (errors.iter().filter(|error| **error > 2_500), errors.iter().filter(|error| **error < -2_500));
    assert!(ahead.count() > 30 && behind.count() > 30, "it strays to both sides: {errors:?}");
    // Late turns and other clocks make no difference.
    let mut late = FaultyClock::new(fault, truth.clone(), host(0));
    assert!(late.turn(host(299 * SECOND)));
    assert!(!late.turn(host(299 * SECOND)));
    assert_eq!(error(&late, &truth, 299 * SECOND), errors[299]);
    let elsewhere = running(0, 86_400 * SECOND, 1.0, 0);
    let mut forked = FaultyClock::new(fault, elsewhere.clone(), host(0));
    forked.turn(host(299 * SECOND));
    assert_eq!(error(&forked, &elsewhere, 299 * SECOND), errors[299]);
    let mut other = FaultyClock::new(Fault { seed: 8, ..fault }, truth.clone(), host(0));
    other.turn(host(299 * SECOND));
    assert_ne!(error(&other, &truth, 299 * SECOND), errors[299]);
}

#[test]
fn jitter_continues_after_a_pause() {
    let fault = Fault { jitter_micros: 1_000, seed: 1, ..Fault::default() };
    let truth = running(0, 0, 1.0, 0);
    let mut straight = FaultyClock::new(fault, truth.clone(), host(0));
    straight.turn(host(10 * SECOND));
    let mut clock = FaultyClock::new(fault, truth, host(0));
    clock.change(&paused(2_500_000, 2_500_000, 1), host(2_500_000));
    assert_eq!(clock.next_turn(), None);
    let resumed = running(100 * SECOND, 2_500_000, 1.0, 2);
    clock.change(&resumed, host(100 * SECOND));
    assert_eq!(clock.next_turn(), Some(host(100 * SECOND + 500_000)));
    clock.turn(host(107_500_000));
    let apart = error(&clock, &resumed, 107_500_000) - error(&straight, &running(0, 0, 1.0, 0), 10 * SECOND);
    // Rounding within the second of a pause loses less than a microsecond each time.
    assert!(apart.abs() <= 2, "{apart}");
}

#[test]
fn clock_with_largest_faults_never_runs_backward() {
    let fault = Fault {
        drift_ppm: -FAULT_DRIFT_PPM_MAX,
        jitter_micros: FAULT_JITTER_MICROS_MAX,
        seed: 3,
        offset: Span::from_micros(-1_000 * SECOND),
        slew: Some(Slew::To(FAULT_SLEW_PPM_MAX)),
        leap: None,
    };
    for factor in [0.000_001, 1.0, 1_000_000.0] {
        let truth = running(0, 0, factor, 0);
        let mut clock = FaultyClock::new(fault, truth, host(0));
        let mut last = clock.displayed().now(host(0));
        for second in 1..100 {
            clock.turn(host(second * SECOND));
            let displayed = clock.displayed().now(host(second * SECOND));
            assert!(displayed >= last, "{factor} {second}");
            last = displayed;
        }
    }
    // The clock stops at the ends of the calendar.
    let end = Instant::<Virtual>::MAX.micros();
    let ahead = Fault { offset: Span::from_micros(SECOND), ..Fault::default() };
    assert_eq!(FaultyClock::new(ahead, paused(0, end, 0), host(0)).displayed().now(host(0)), Instant::MAX);
    assert!(Fault::default().is_none() && !ahead.is_none());
}

/// Pins the error of each second: a different slew would not reproduce earlier runs.
#[test]
fn slewed_offset_matches_pinned_errors() {
    let offset = Span::from_micros(1_200);
    for (slew, offset, factor, expected) in [
        (Slew::To(500), offset, 1.0, [0, 500, 1_000, 1_200, 1_200]),
        (Slew::From(500), offset, 1.0, [1_200, 700, 200, 0, 0]),
        (Slew::To(500), Span::from_micros(-1_200), 1.0, [0, -500, -1_000, -1_200, -1_200]),
        (Slew::From(100_000), Span::from_micros(-150_000), 1.0, [-150_000, -50_000, 0, 0, 0]),
        (Slew::To(100), offset, 5.0, [0, 500, 1_000, 1_200, 1_200]),
        (Slew::To(1_000), offset, 0.5, [0, 500, 1_000, 1_200, 1_200]),
    ] {
        let truth = running(0, 0, factor, 0);
        let mut clock =
            FaultyClock::new(Fault { offset, slew: Some(slew), ..Fault::default() }, truth.clone(), host(0));
        for (second, expected) in (0..).zip(expected) {
            clock.turn(host(second * SECOND));
            assert_eq!(error(&clock, &truth, second * SECOND), expected, "{slew:?} {factor} {second}");
        }
        assert_eq!(clock.next_turn(), None, "it is done");
    }
}

#[test]
fn slew_pauses_and_resumes_with_the_clock() {
    let fault = Fault { offset: Span::from_micros(2_000), slew: Some(Slew::To(500)), ..Fault::default() };
    let mut clock = FaultyClock::new(fault, running(0, 0, 1.0, 0), host(0));
    let paused_clock = paused(1_500_000, 1_500_000, 1);
    clock.change(&paused_clock, host(1_500_000));
    assert_eq!((error(&clock, &paused_clock, 90 * SECOND), clock.next_turn()), (750, None));
    let resumed = running(100 * SECOND, -86_400 * SECOND, 1.0, 2);
    clock.change(&resumed, host(100 * SECOND));
    assert_eq!(error(&clock, &resumed, 100 * SECOND), 750, "a jump leaves it as it is");
    clock.turn(host(101 * SECOND));
    assert_eq!(error(&clock, &resumed, 101 * SECOND), 1_250);
    clock.turn(host(200 * SECOND));
    assert_eq!(error(&clock, &resumed, 200 * SECOND), 2_000);
}

proptest::proptest! {
    /// A slew reaches exactly its end, never faster than its rate, wherever the clock is moved meanwhile.
    #[test]
    fn slew_is_bounded_and_reaches_its_end(
        offset in -5_000_000_i64..5_000_000,
        ppm in 1_u32..=FAULT_SLEW_PPM_MAX,
        is_away: bool,
        steps in proptest::collection::vec((1_i64..5_000_000, -1_000_000_i64..1_000_000, proptest::bool::ANY), 1..30),
    ) {
        let slew = if is_away { Slew::From(ppm) } else { Slew::To(ppm) };
        let fault = Fault { offset: Span::from_micros(offset), slew: Some(slew), ..Fault::default() };
        let (first, last) = if is_away { (offset, 0) } else { (0, offset) };
        let mut truth = running(0, 0, 1.0, 0);
        let mut clock = FaultyClock::new(fault, truth.clone(), host(0));
        let (mut at, mut before) = (0, first);
        for (generation, (passes, jump, paused_clock)) in (1..).zip(steps) {
            at += passes;
            clock.turn(host(at));
            let now = error(&clock, &truth, at);
            let most = i128::from(passes) * i128::from(ppm) / 1_000_000 + 2;
            proptest::prop_assert!(i128::from((now - before).abs()) <= most, "{} {}", before, now);
            proptest::prop_assert!((first.min(last)..=first.max(last)).contains(&now), "{}", now);
            before = now;
            let shows = truth.now(host(at)).micros() + jump;
            truth = if paused_clock { paused(at, shows, generation) } else { running(at, shows, 1.0, generation) };
            clock.change(&truth, host(at));
            let error_here = error(&clock, &truth, at);
            proptest::prop_assert_eq!(error_here, before);
        }
        let truth = running(at, 0, 1_000.0, u64::MAX);
        clock.change(&truth, host(at));
        let end = at + 6_000_000 * SECOND / i64::from(ppm).max(1) + 2 * SECOND;
        clock.turn(host(end));
        proptest::prop_assert_eq!(error(&clock, &truth, end), last);
        proptest::prop_assert_eq!(clock.next_turn(), None);
    }
}
