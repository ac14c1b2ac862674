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

/// Returns by how much a clock is wrong, in microseconds.
fn error(clock: &FaultyClock, truth: &Clock, at: i64) -> i64 {
    clock.shown().now(host(at)).since(truth.now(host(at))).micros()
}

const SECOND: i64 = 1_000_000;

#[test]
fn an_offset_and_a_drift_make_the_error_that_they_say() {
    let fault = Fault { offset: Span::from_micros(-2 * SECOND), drift_ppm: 200, ..Fault::default() };
    let truth = running(0, 0, 1.0, 0);
    let clock = FaultyClock::new(fault, truth.clone(), host(10 * SECOND));
    assert_eq!(error(&clock, &truth, 10 * SECOND), -2 * SECOND);
    // 200 µs for each second.
    assert_eq!(error(&clock, &truth, 1_010 * SECOND), -2 * SECOND + 200_000);
    assert_eq!(clock.next_turn(), None, "one line, however long");
    // An hour of virtual time passes in each second, and has its share.
    let truth = running(0, 0, 3_600.0, 0);
    let clock = FaultyClock::new(fault, truth.clone(), host(0));
    assert_eq!(error(&clock, &truth, 10 * SECOND), -2 * SECOND + 36_000 * 200);
}

#[test]
fn an_error_stays_through_jumps_and_pauses_and_grows_while_time_passes() {
    let fault = Fault { offset: Span::from_micros(SECOND), drift_ppm: -100, ..Fault::default() };
    let first = running(0, 0, 1.0, 0);
    let mut clock = FaultyClock::new(fault, first, host(0));
    // A travel after 100 seconds: 10 ms were lost.
    let travelled = running(100 * SECOND, -9_000 * SECOND, 1.0, 1);
    clock.change(&travelled, host(100 * SECOND + 300));
    assert_eq!(error(&clock, &travelled, 100 * SECOND), 990_000);
    let stands = paused(200 * SECOND, -8_900 * SECOND, 2);
    clock.change(&stands, host(200 * SECOND));
    assert_eq!(error(&clock, &stands, 500 * SECOND), 980_000);
    assert_eq!(clock.shown().generation, 2);
    let resumed = running(500 * SECOND, -8_900 * SECOND, 1.0, 3);
    clock.change(&resumed, host(500 * SECOND));
    assert_eq!(error(&clock, &resumed, 600 * SECOND), 970_000);
    // The same again changes nothing.
    clock.change(&resumed, host(601 * SECOND));
    assert_eq!(error(&clock, &resumed, 600 * SECOND), 970_000);
}

#[test]
fn a_jitter_strays_within_its_bounds_and_never_steps() {
    let fault = Fault { jitter_micros: 5_000, seed: 7, ..Fault::default() };
    let truth = running(0, 0, 1.0, 0);
    let mut clock = FaultyClock::new(fault, truth.clone(), host(0));
    let (mut last, mut errors) = (i64::MIN, Vec::new());
    for step in 0..3_000 {
        let at = step * SECOND / 10;
        clock.turn(host(at));
        let shown = clock.shown().now(host(at)).micros();
        assert!(shown > last, "it goes back at {at}");
        last = shown;
        if at % SECOND == 0 {
            errors.push(error(&clock, &truth, at));
        }
    }
    assert_eq!(errors[0], 0);
    assert!(errors.iter().all(|error| error.abs() <= 5_000), "{errors:?}");
    let (ahead, behind) =
        (errors.iter().filter(|error| **error > 2_500), errors.iter().filter(|error| **error < -2_500));
    assert!(ahead.count() > 30 && behind.count() > 30, "it strays to both sides: {errors:?}");
    // Late looks make no difference, and neither does a clock elsewhere.
    let mut late = FaultyClock::new(fault, truth.clone(), host(0));
    assert!(late.turn(host(299 * SECOND)));
    assert!(!late.turn(host(299 * SECOND)));
    assert_eq!(error(&late, &truth, 299 * SECOND), errors[299]);
    let elsewhere = running(0, 86_400 * SECOND, 1.0, 0);
    let mut forked = FaultyClock::new(fault, elsewhere.clone(), host(0));
    forked.turn(host(299 * SECOND));
    assert_eq!(error(&forked, &elsewhere, 299 * SECOND), errors[299]);
    // Another seed strays otherwise.
    let mut other = FaultyClock::new(Fault { seed: 8, ..fault }, truth.clone(), host(0));
    other.turn(host(299 * SECOND));
    assert_ne!(error(&other, &truth, 299 * SECOND), errors[299]);
}

#[test]
fn a_jitter_goes_on_after_a_pause_where_it_was() {
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
    // What was cut off within the second of the pause is less than a microsecond each time.
    assert!(apart.abs() <= 2, "{apart}");
}

#[test]
fn the_most_that_can_be_wrong_still_goes_on() {
    let fault =
        Fault { drift_ppm: -FAULT_DRIFT_PPM_MAX, jitter_micros: FAULT_JITTER_MICROS_MAX, seed: 3, offset: Span::ZERO };
    for factor in [0.000_001, 1.0, 1_000_000.0] {
        let truth = running(0, 0, factor, 0);
        let mut clock = FaultyClock::new(fault, truth, host(0));
        let mut last = clock.shown().now(host(0));
        for second in 1..100 {
            clock.turn(host(second * SECOND));
            let shown = clock.shown().now(host(second * SECOND));
            assert!(shown >= last, "{factor} {second}");
            last = shown;
        }
    }
    // At the ends of the calendar it stands.
    let end = Instant::<Virtual>::MAX.micros();
    let ahead = Fault { offset: Span::from_micros(SECOND), ..Fault::default() };
    assert_eq!(FaultyClock::new(ahead, paused(0, end, 0), host(0)).shown().now(host(0)), Instant::MAX);
    assert!(Fault::default().is_none() && !ahead.is_none());
}
