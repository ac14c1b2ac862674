use serde_json::json;

use super::*;

/// How long a clock at rate 60 shows the same value, in nanoseconds of host time, and the precision of that value.
const GRAIN: i128 = 17 + 1_000;

fn answer(state: &str, rate: f64, displayed: &str) -> Value {
    json!({
        "state": state, "rate": rate, "generation": 3, "current_time": displayed,
        "origin_host": "2026-01-01T00:00:00Z", "origin_virtual": "2000-01-01T00:00:00Z",
    })
}

fn report(state: &str, rate: f64, displayed: &str) -> ClockReport {
    ClockReport::read(&answer(state, rate, displayed)).unwrap()
}

/// Returns a message of a service on the given kernel, with this boot clock at the origin.
fn report_on(boot_id: &str, origin_boot: &str) -> ClockReport {
    let mut answer = answer("running", 60.0, "2000-01-01T00:01:00Z");
    (answer["boot_id"], answer["origin_boot"]) = (boot_id.into(), origin_boot.into());
    ClockReport::read(&answer).unwrap()
}

fn kernel(boot_id: &str, shift: i128) -> Kernel {
    Kernel { boot_id: boot_id.to_owned(), shift }
}

const fn boot(millis: i128) -> i128 {
    millis * 1_000_000
}

fn host(report: &ClockReport) -> i128 {
    i128::from(report.host.micros()) * 1_000
}

#[test]
fn response_bounds_host_time_by_the_round_trip() {
    let clock = report("running", 60.0, "2000-01-01T00:01:00Z");
    let host = host(&clock);
    assert_eq!(clock.host.micros() % 60_000_000, 1_000_000, "one second of host time has passed");
    let learned = |before: Option<&Known>, requested_at, received_at| {
        clock.learned(before, (Some(boot(requested_at)), boot(received_at)), None)
    };
    let known = learned(None, 100, 103);
    assert_eq!(known.offset, host - boot(103), "never ahead of the service");
    assert_eq!(known.uncertainty, Some(width(boot(3) + GRAIN)));
    // Nothing contradicts the known offset, so offset and bound stay.
    let later = learned(Some(&known), 90, 110);
    assert_eq!((later.offset, later.uncertainty), (known.offset, known.uncertainty));
    // A faster response shows that it was too low; a service whose host time was set back, that it was too high.
    let quicker = learned(Some(&known), 99, 101);
    assert_eq!(quicker.offset, host - boot(101));
    assert_eq!(quicker.uncertainty, Some(width(boot(1) + GRAIN)), "the first answer bounds it");
    let back = learned(Some(&known), 5_000, 5_001);
    assert_eq!((back.offset, back.uncertainty), (host + GRAIN - boot(5_000), Some(width(boot(1) + GRAIN))));
}

#[test]
fn change_message_gives_only_a_lower_bound() {
    let clock = report("running", 60.0, "2000-01-01T00:01:00Z");
    let known = clock.learned(None, (Some(boot(100)), boot(103)), None);
    let report = clock.learned(Some(&known), (None, boot(102)), None);
    assert_eq!((report.offset, report.uncertainty), (known.offset + boot(1), Some(width(boot(2) + GRAIN))));
    let late = clock.learned(Some(&report), (None, boot(150)), None);
    assert_eq!((late.offset, late.uncertainty), (report.offset, report.uncertainty));
    // The two clocks have drifted apart, so earlier bounds no longer apply.
    let ahead = clock.learned(Some(&known), (None, boot(90)), None);
    assert_eq!((ahead.offset, ahead.uncertainty), (host(&clock) - boot(90), None));
    assert!(ahead.is_to_be_measured() && !late.is_to_be_measured());
}

#[test]
fn paused_clock_gives_no_upper_bound() {
    let paused = report("paused", 1.0, "2000-01-01T00:00:00Z");
    let known = Known { offset: i128::MAX, ..paused.learned(None, (Some(boot(1)), boot(2)), None) };
    assert_eq!(known.uncertainty, None);
    assert!(!known.is_to_be_measured(), "while it stands it does not matter");
    let learned = paused.learned(Some(&known), (Some(boot(1)), boot(2)), None);
    assert_eq!((learned.offset, learned.uncertainty), (i128::MAX, None));
    let resumed = report("running", 60.0, "2000-01-01T00:01:00Z");
    let known = paused.learned(None, (Some(boot(1)), boot(2)), None);
    let known = resumed.learned(Some(&known), (None, boot(100)), None);
    assert_eq!((known.offset, known.uncertainty), (host(&resumed) - boot(100), None));
    assert!(known.is_to_be_measured());
}

#[test]
fn boot_clock_on_the_same_kernel_is_exact() {
    // Its host time is ahead of its boot clock by this much, and its responses come from between 100 and 103.
    let here = report_on("one", "-0.898000001");
    let exact = i128::from(here.clock.origin().0.micros()) * 1_000 + 898_000_001;
    let moments = (Some(boot(100)), boot(103));
    for before in [None, Some(Known { offset: 0, uncertainty: None, host_clock: None, clock: here.clock.clone() })] {
        let known = here.learned(before.as_ref(), moments, Some(&kernel("one", 0)));
        assert_eq!((known.offset, known.uncertainty), (exact, Some(0)));
    }
    // A process in a time namespace reads a different boot clock.
    let shifted = here.learned(None, (Some(boot(600)), boot(603)), Some(&kernel("one", boot(500))));
    assert_eq!((shifted.offset, shifted.uncertainty), (exact - boot(500), Some(0)));
    // Changes and paused clocks report it too.
    let known = here.learned(Some(&shifted), (None, boot(900)), Some(&kernel("one", 0)));
    assert_eq!((known.offset, known.uncertainty), (exact, Some(0)));
    let mut paused = answer("paused", 1.0, "2000-01-01T00:00:00Z");
    (paused["boot_id"], paused["origin_boot"]) = ("one".into(), "-0.898000001".into());
    let known = ClockReport::read(&paused).unwrap().learned(None, (Some(boot(1)), boot(2)), Some(&kernel("one", 0)));
    assert_eq!((known.offset, known.uncertainty), (exact, Some(0)));
}

#[test]
fn boot_clock_of_another_kernel_is_ignored() {
    let report = report_on("one", "-0.898000001");
    let (low, moments) = (host(&report) - boot(103), (Some(boot(100)), boot(103)));
    for kernel in [None, Some(kernel("two", 0))] {
        let known = report.learned(None, moments, kernel.as_ref());
        assert_eq!((known.offset, known.uncertainty), (low, Some(width(boot(3) + GRAIN))));
    }
    // Two copies of a machine have one boot id.
    let known = report.learned(None, (Some(boot(7_000)), boot(7_001)), Some(&kernel("one", 0)));
    assert_eq!(known.offset, host(&report) - boot(7_001));
    assert_ne!(known.uncertainty, Some(0));
    // Bounds on the host time of one service do not apply to another, or to the same one after a restart.
    let known = report.learned(None, moments, None);
    let slow = (Some(boot(50)), boot(150));
    let same = report.learned(Some(&known), slow, None);
    assert_eq!((same.offset, same.uncertainty), (known.offset, known.uncertainty));
    let other = report_on("one", "-0.898000002").learned(Some(&known), slow, None);
    assert_eq!((other.offset, other.uncertainty), (known.offset, Some(width(boot(53) + GRAIN))));
}

#[test]
fn slow_clock_readings_have_a_coarse_grain() {
    let clock = report("running", 0.000_001, "2000-01-01T00:00:00.000002Z");
    assert_eq!(clock.host.micros() % 60_000_000, 2_000_000);
    assert_eq!(clock.grain, NANOS + 1_000);
    assert!(ClockReport::read(&json!({})).is_none());
    assert!(ClockReport::read(&json!({ "state": "lost" })).is_none());
}

#[test]
fn seconds_require_nine_decimal_places() {
    for (text, expected) in [
        ("0.000000000", Some(0)),
        ("-0.000000001", Some(-1)),
        ("12.000000034", Some(12_000_000_034)),
        ("-12.500000000", Some(-12_500_000_000)),
        ("12", None),
        ("12.5", None),
        ("+12.000000000", None),
        ("--1.000000000", None),
        (".000000000", None),
        ("99999999999999999999.000000000", None),
    ] {
        assert_eq!(seconds(text), expected, "{text}");
    }
}
