use super::*;

#[test]
fn certificates_and_bundles_are_told_apart() {
    for (begin, expected) in [
        ("{\"status\": \"The key read once", true),
        ("\n{\n  \"certificate\"", true),
        ("{\"bundle\":{", false),
        ("{ \"bundle\" : {", false),
        ("", false),
        ("PK", false),
    ] {
        assert_eq!(is_one(begin.as_bytes()), expected, "{begin}");
    }
}

#[test]
fn a_read_says_within_which_horizon_it_was_answered() {
    let proof = |parameters: &str| {
        let read = timenav_core::ledger::Read {
            action: "clock".into(),
            clock_time: timenav_core::time::Instant::EPOCH,
            host_time: timenav_core::time::Instant::EPOCH,
            key: "key_1".into(),
            parameters: ReadParameters::of(parameters),
            user: "ada".into(),
        };
        let salt = timenav_core::ledger::Salt::from_bytes([0; 16]);
        ReadProof { index: 0, count: 1, salt, read: read.encode(), hashes: Vec::new() }
    };
    let horizon = Horizon { until_clock: true, known_at: Some(7) };
    assert!(is_within(&proof("{\"horizon\":\"clock\",\"known_at\":7}"), horizon));
    for parameters in ["{}", "{\"horizon\":\"clock\"}", "{\"horizon\":\"clock\",\"known_at\":8}", "clock"] {
        assert!(!is_within(&proof(parameters), horizon), "{parameters}");
    }
    let long = format!("{{\"attribute\":{{\"k\":\"{}\"}}}}", "v".repeat(300));
    assert!(is_within(&proof(&long), horizon));
    assert!(is_within(&proof("{\"horizon\":\"clock\"}"), Horizon { until_clock: true, known_at: None }));
}
