use proptest::prelude::*;

use super::*;

fn reads(seconds: Option<u32>) -> Retention {
    Retention { reads_seconds: seconds, refusals_seconds: None }
}

fn policies(list: &[(u64, Option<u32>)]) -> RetentionPolicies {
    let mut policies = RetentionPolicies::default();
    for (position, seconds) in list {
        policies.set(*position, reads(*seconds));
    }
    policies
}

#[test]
fn retention_applies_only_to_reads_and_refusals() {
    for (action, class) in [
        ("read", Some(PruneClass::Reads)),
        ("reads", Some(PruneClass::Reads)),
        ("unauthorized_access_attempt", Some(PruneClass::Refusals)),
        ("unauthorized_access_attempts", Some(PruneClass::Refusals)),
        ("set_access_control", None),
        ("decrypt_data", None),
        ("detect_tampering", None),
        ("set_retention", None),
        ("sweep", None),
        ("Read", None),
        ("", None),
    ] {
        assert_eq!(PruneClass::of(action), class, "{action}");
    }
}

#[test]
fn shorter_policy_applies_only_to_later_records() {
    let long_then_short = policies(&[(10, Some(100)), (20, Some(5))]);
    let decided = |policies: &RetentionPolicies, position, size| {
        let found = policies.deciding(PruneClass::Reads, position, size);
        found.map(|(policy, period)| (policy, period.micros() / 1_000_000))
    };
    for (position, expected) in
        [(0, None), (10, None), (11, Some((10, 100))), (20, Some((10, 100))), (21, Some((20, 5)))]
    {
        assert_eq!(decided(&long_then_short, position, 99), expected, "{position}");
    }
    // A longer policy also covers earlier records, and still does after it is shortened again.
    let back_and_forth = policies(&[(10, Some(5)), (20, Some(100)), (30, Some(5))]);
    assert_eq!(decided(&back_and_forth, 11, 20), Some((10, 5)));
    assert_eq!(decided(&back_and_forth, 11, 21), Some((20, 100)));
    assert_eq!(decided(&back_and_forth, 11, 99), Some((20, 100)));
    assert_eq!(decided(&back_and_forth, 31, 99), Some((30, 5)));
    assert_eq!(decided(&policies(&[(10, Some(5)), (20, None), (30, Some(5))]), 11, 99), None);
    assert_eq!(back_and_forth.at(20), Some(&reads(Some(100))));
    assert_eq!(back_and_forth.at(21), None);
    assert_eq!(back_and_forth.deciding(PruneClass::Refusals, 31, 99), None);
}

#[test]
fn retention_floor_is_checked_per_class() {
    let policy = Retention { reads_seconds: Some(59), refusals_seconds: Some(60) };
    assert_eq!(policy.check_floor(59), Ok(()));
    assert_eq!(policy.check_floor(60), Err(BelowFloor { class: PruneClass::Reads, floor_seconds: 60 }));
    let policy = Retention { reads_seconds: None, refusals_seconds: Some(60) };
    assert_eq!(policy.check_floor(61), Err(BelowFloor { class: PruneClass::Refusals, floor_seconds: 61 }));
    assert_eq!(Retention::default().check_floor(u32::MAX), Ok(()));
}

#[test]
fn payload_has_one_accepted_spelling() {
    let policy = Retention { reads_seconds: Some(86_400), refusals_seconds: None };
    let payload = br#"{"reads_seconds":86400,"refusals_seconds":null}"#;
    assert_eq!(policy.encode(), payload);
    for other in [
        r#"{"reads_seconds":86400}"#,
        r#"{"reads_seconds":86400,"refusals_seconds":null} "#,
        r#"{"reads_seconds":4294967296,"refusals_seconds":null}"#,
        r#"{"reads_seconds":"PT1S","refusals_seconds":null}"#,
    ] {
        assert!(Retention::decode(other.as_bytes()).is_err(), "{other}");
    }
}

#[test]
fn clock_leaps_are_detected_between_sweeps() {
    let at = |seconds: i64| Instant::from_micros(seconds * 1_000_000).unwrap();
    let usual = Span::from_secs(3_600).unwrap();
    let step = |last, now| clock_step(last, now, usual);
    assert_eq!(step(None, at(0)), ClockStep::First);
    assert_eq!(step(Some(at(0)), at(0)), ClockStep::Usual);
    assert_eq!(step(Some(at(0)), at(3_600)), ClockStep::Usual);
    assert_eq!(step(Some(at(0)), at(3_601)), ClockStep::Leap);
    assert_eq!(step(Some(at(1)), at(0)), ClockStep::Back);
    assert_eq!(step(Some(Instant::MIN), Instant::MAX), ClockStep::Leap);
}

proptest! {
    #[test]
    fn retention_policies_are_read_back(
        reads_seconds in any::<Option<u32>>(),
        refusals_seconds in any::<Option<u32>>(),
    ) {
        let policy = Retention { reads_seconds, refusals_seconds };
        prop_assert_eq!(Retention::decode(&policy.encode()), Ok(policy));
    }

    #[test]
    fn later_policy_never_shortens_retention(
        list in prop::collection::vec(prop::option::of(0..9_u32), 1..8),
        position in 0..9_u64,
    ) {
        let numbered: Vec<(u64, Option<u32>)> = (0..).zip(list).collect();
        let all = policies(&numbered);
        let retention_at = |size| all.deciding(PruneClass::Reads, position, size).map_or(i64::MAX, |(_, span)| span.micros());
        for size in position.max(1)..9 {
            prop_assert!(retention_at(size) <= retention_at(size + 1));
        }
    }
}

#[test]
fn first_of_equally_long_policies_decides() {
    let equal = policies(&[(10, Some(5)), (20, Some(100)), (30, Some(5)), (40, Some(100))]);
    let decided = |position| equal.deciding(PruneClass::Reads, position, 99).map(|(policy, _)| policy);
    assert_eq!([decided(11), decided(21), decided(31), decided(41)], [Some(20), Some(20), Some(40), Some(40)]);
}
