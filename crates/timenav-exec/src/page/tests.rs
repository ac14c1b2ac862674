use proptest::prelude::*;
use serde_json::Value;
use timenav_core::clock::{Clock, ClockState, Rate};
use timenav_core::time::{Instant, Virtual, Wall, parse_timestamp};

use super::*;

fn host(text: &str) -> Instant<Wall> {
    Instant::from_micros(parse_timestamp::<Virtual>(text).unwrap().micros()).unwrap()
}

fn clock_of(told: &Value) -> Clock {
    let (origin_host, at) = (host(told["origin_host"].as_str().unwrap()), told["origin_virtual"].as_str().unwrap());
    let (at, rate) = (parse_timestamp(at).unwrap(), Rate::from_factor(told["rate"].as_f64().unwrap()).unwrap());
    let state = match told["state"].as_str().unwrap() {
        "paused" => ClockState::Paused { since: origin_host, at, rate },
        _ => ClockState::Running { origin_host, origin_virtual: at, rate },
    };
    Clock { state, location: None, generation: 0 }
}

/// A page shows the time that a service computes, whatever the host's boot clock shows.
#[test]
fn page_matches_the_vectors_of_all_clients() {
    let text = include_str!("../../../../clients/vectors/clock.json");
    let told: Value = serde_json::from_str(text).unwrap();
    let recorded: Value = serde_json::from_str(include_str!("../../../../clients/vectors/recorded.json")).unwrap();
    let mut looked_at = 0;
    let mut check = |clock: &Value, reading: &Value| {
        let (clock, host) = (clock_of(clock), host(reading["host"].as_str().unwrap()));
        let expected: Instant<Virtual> = parse_timestamp(reading["shows"].as_str().unwrap()).unwrap();
        let (ClockState::Running { origin_host: origin, .. } | ClockState::Paused { since: origin, .. }) = clock.state;
        if host < origin {
            // A page begins with its last change.
            return;
        }
        for offset in [0, 1_790_000_000_123_456_789, -5] {
            let slot = Slot::of_clock(&clock, offset, Some(0));
            let boot = Moment::from_nanos(i128::from(host.micros()) * 1_000 - offset);
            let shown = slot.at(boot);
            assert_eq!(shown.nanos_in_all().div_euclid(1_000), i128::from(expected.micros()), "{clock:?} {reading}");
        }
        looked_at += 1;
    };
    for case in told["cases"].as_array().unwrap() {
        case["readings"].as_array().unwrap().iter().for_each(|reading| check(&case["clock"], reading));
    }
    recorded["readings"].as_array().unwrap().iter().for_each(|reading| check(&reading["clock"], reading));
    assert!(looked_at > 100, "{looked_at}");
}

proptest! {
    #[test]
    fn page_shows_the_time_of_core(
        at in -377_705_116_800_000_000_i64..253_402_300_799_999_999,
        since in 0..4_000_000_000_000_000_i64,
        rate in 1..1_000_000_000_000_u64,
        passes in 0..400_000_000_000_000_i64,
    ) {
        let (origin_host, rate) = (Instant::from_micros(since).unwrap(), Rate::from_micros(rate).unwrap());
        let state = ClockState::Running { origin_host, origin_virtual: Instant::from_micros(at).unwrap(), rate };
        let clock = Clock { state, location: None, generation: 3 };
        let slot = Slot::of_clock(&clock, 77, Some(0));
        let boot = Moment::from_nanos(i128::from(since + passes) * 1_000 - 77);
        let expected = clock.now(Instant::from_micros(since + passes).unwrap());
        prop_assert_eq!(slot.at(boot).nanos_in_all().div_euclid(1_000), i128::from(expected.micros()));
        // The boot time of an instant is the first at which the instant is shown.
        let shown = slot.at(boot);
        if let Some(when) = slot.boot_when(shown) {
            prop_assert!(when <= boot.nanos_in_all());
            prop_assert!(slot.at(Moment::from_nanos(when)) >= shown);
        }
    }
}

#[test]
fn unreachable_moment_has_no_wake_time() {
    let slot = Slot {
        origin_virtual: Moment { seconds: 100, nanos: 0 },
        origin_boot: Moment { seconds: 5, nanos: 0 },
        rate: 2_000_000,
        is_paused: false,
        generation: 1,
        uncertainty: Some(0),
    };
    let when = |slot: Slot, seconds| slot.boot_when(Moment { seconds, nanos: 0 });
    assert_eq!(when(slot, 104), Some(7_000_000_000));
    assert_eq!(when(slot, 90), Some(5_000_000_000), "it has come");
    assert_eq!(when(slot, END_SECONDS + 1), None);
    assert_eq!(when(Slot { is_paused: true, ..slot }, 104), None);
    assert_eq!(when(Slot { is_paused: true, ..slot }, 100), Some(5_000_000_000));
}

#[test]
fn long_texts_are_cut_between_characters() {
    assert_eq!(text_words("ab", 2), [u64::from_le_bytes(*b"ab\0\0\0\0\0\0"), 0]);
    assert_eq!(text_words("1234567é", 1), [u64::from_le_bytes(*b"1234567\0")]);
    assert_eq!(text_words("123456é", 1), [u64::from_le_bytes(*b"123456\0\0")]);
}
