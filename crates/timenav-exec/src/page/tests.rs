use proptest::prelude::*;
use serde_json::Value;
use timenav_core::clock::{Clock, ClockState, Rate};
use timenav_core::time::{Instant, Virtual, Wall, parse_timestamp};

use super::*;

fn host(text: &str) -> Instant<Wall> {
    Instant::from_micros(parse_timestamp::<Virtual>(text).unwrap().micros()).unwrap()
}

fn clock_of(vector: &Value) -> Clock {
    let (origin_host, at) = (host(vector["origin_host"].as_str().unwrap()), vector["origin_virtual"].as_str().unwrap());
    let (at, rate) = (parse_timestamp(at).unwrap(), Rate::from_factor(vector["rate"].as_f64().unwrap()).unwrap());
    let state = match vector["state"].as_str().unwrap() {
        "paused" => ClockState::Paused { since: origin_host, at, rate },
        _ => ClockState::Running { origin_host, origin_virtual: at, rate },
    };
    Clock { state, location: None, generation: 0 }
}

/// A page shows the time that a service computes, whatever the host's boot clock shows.
#[test]
fn page_matches_the_vectors_of_all_clients() {
    let text = include_str!("../../../../clients/vectors/clock.json");
    let vector: Value = serde_json::from_str(text).unwrap();
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
            let displayed = slot.at(boot);
            assert_eq!(
                displayed.nanos_in_all().div_euclid(1_000),
                i128::from(expected.micros()),
                "{clock:?} {reading}"
            );
        }
        looked_at += 1;
    };
    for case in vector["cases"].as_array().unwrap() {
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
        let displayed = slot.at(boot);
        if let Some(when) = slot.boot_when(displayed) {
            prop_assert!(when <= boot.nanos_in_all());
            prop_assert!(slot.at(Moment::from_nanos(when)) >= displayed);
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

/// Jumps forward move it, jumps back and slower rates do not set it back, and a pause holds it.
#[test]
fn monotonic_clock_moves_with_jumps_forward_only() {
    let second = i128::from(NANOS);
    let boot = |seconds: i64| Moment { seconds, nanos: 0 };
    let slot = |displayed: i64, rate: u64, is_paused: bool, since: i64| Slot {
        origin_virtual: Moment { seconds: displayed, nanos: 0 },
        origin_boot: boot(since),
        rate,
        is_paused,
        generation: 1,
        uncertainty: Some(0),
    };
    let first = slot(5_000, MILLION, false, 100);
    let begun = Monotonic::begin(&first, boot(100));
    assert_eq!(begun.at(&first, boot(100)), 100 * second, "it begins like the host's");
    assert_eq!(begun.at(&first, boot(160)), 160 * second);
    let hour_later = slot(8_660, MILLION, false, 160);
    let forward = begun.continued(&first, &hour_later, boot(160));
    assert_eq!(forward.at(&hour_later, boot(160)), 3_760 * second);
    let back = slot(0, 60 * MILLION, false, 170);
    let rewound = forward.continued(&hour_later, &back, boot(170));
    assert_eq!(rewound.at(&back, boot(170)), 3_770 * second);
    assert_eq!(rewound.at(&back, boot(171)), 3_830 * second, "at the new rate");
    let paused = slot(60, 60 * MILLION, true, 171);
    let held = rewound.continued(&back, &paused, boot(172));
    assert_eq!(held.at(&paused, boot(172)), 3_890 * second, "the time that programs have seen stays");
    assert_eq!(held.at(&paused, boot(999)), 3_890 * second);
}

#[test]
fn lengths_of_virtual_time_take_host_time_by_the_rate() {
    let slot = |rate: u64, is_paused: bool| Slot {
        origin_virtual: Moment::default(),
        origin_boot: Moment::default(),
        rate,
        is_paused,
        generation: 1,
        uncertainty: None,
    };
    for (rate, is_paused, length, expected) in [
        (MILLION, false, 5, Some(5)),
        (3_600 * MILLION, false, 3_600_000_000_000, Some(1_000_000_000)),
        (3_000_000, false, 10, Some(4)),
        (MILLION / 2, false, 10, Some(20)),
        (MILLION, true, 5, None),
        (MILLION, true, -5, Some(0)),
        (0, false, 5, Some(5_000_000)),
    ] {
        assert_eq!(slot(rate, is_paused).host_length(length), expected, "{rate} {is_paused} {length}");
    }
}
