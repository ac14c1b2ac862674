use super::*;

/// Checks that a stored response is read and written again unchanged.
fn check<C: Change>(fields: &str) {
    let comma = if fields.is_empty() { "" } else { "," };
    let stored = format!(r#"{{"kind":"{}"{comma}{fields}}}"#, C::KIND);
    let change = C::read(&stored).unwrap_or_else(|| panic!("cannot be read: {stored}"));
    assert_eq!(change.keep(), stored);
    assert!(C::read(&stored.replace(C::KIND, "other")).is_none(), "{stored}");
}

/// Services of other versions store and read the same responses.
#[test]
fn stored_responses_keep_their_format() {
    let clock = r#""clock":{"running":true,"rate_micros":1000000,"origin_host":"2000-01-01T00:00:00Z","origin_virtual":"1999-01-01T00:00:00Z","location":null,"generation":3},"current_time":5,"changed":true"#;
    check::<ClockAfter>(clock);
    check::<ClockAfter>(&format!(r#"{clock},"advance_id":"advance_1""#));
    check::<AnchorMarked>(r#""anchor_id":"anchor_1","timestamp":-5"#);
    check::<EventsRecorded>(r#""event_ids":["a","b"],"taken":1,"differing":[0]"#);
    check::<EventCorrected>(r#""event_id":"a","content":"{\"event_id\":\"a\"}","changed":false"#);
    let event = r#""event_id":"a""#;
    check::<EventIntervened>(&format!(
        r#""intervention_id":"i",{event},"effect":{{"kind":"delay","duration":"PT2H"}},"before":"{{}}","after":null"#
    ));
    check::<DataStored>(r#""data_id":"data_1""#);
    check::<ContentErased>(r#""position":7"#);
    check::<TimelineMade>("");
    check::<TimelineMade>(r#""expires_at":5"#);
    let root = "5f".repeat(32);
    check::<TimelineOver>(&format!(r#""size":9,"root":"{root}","checkpoint":"note","due_at":5"#));
    check::<PermissionsAfter>(r#""tag":"t""#);
    check::<PermissionsAfter>(r#""tag":"t","expired":["ada"]"#);
    check::<UserChanged>(r#""user_id":"ada""#);
    check::<KeyChanged>(r#""key_id":"key_1""#);
    check::<EventsErasureResult>(r#""events_count":1,"payloads_count":2,"forks_count":3,"outcomes_count":4,"left":5"#);
    check::<ReadsErasureResult>(r#""position":1,"erased":2,"left":3"#);
    check::<ImportUndone>(r#""undone":1,"kept":2"#);
    check::<FaultOutcome>(r#""user_id":"ada","follower":"web""#);
    check::<FaultOutcome>(r#""user_id":"ada","follower":"web","fault":{"drift_ppm":-20}"#);
    check::<RetentionSet>(r#""reads_seconds":86400,"refusals_seconds":null"#);
    check::<Swept>(
        r#""position":1,"class":"reads","count":2,"cutoff":3,"finished":4,"retention":{"reads_seconds":null,"refusals_seconds":86400}"#,
    );
    check::<Logged>("");
    check::<TimerAfter>(
        r#""position":1,"timer_id":"daily","next":null,"round":2,"cancelled":false,"schedule":"{}","deliver":"{}","queue":"default","order_key":null,"payload":"null","set_by":"ada","set_at":3,"changed":true"#,
    );
    check::<FiringsAfter>(r#""firings":[["firing_1","acknowledged"]]"#);
    check::<FiringsAfter>(r#""firings":[],"untold":true"#);
    check::<AdvancesHeld>(r#""lease_id":"lease_1","owner":"ada","reason":"work","until":5"#);
    check::<TimersMoved>(r#""fired":1,"ended":true"#);
}
