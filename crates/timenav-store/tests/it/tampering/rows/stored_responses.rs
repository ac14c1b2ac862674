//! Stored responses for repeated requests, and checkpoints in the database, changed by hand, in both backends.

use crate::cluster;
use crate::tampering::*;

/// Changes rows of a closed house by hand.
fn change(house: &House, statement: &str) {
    match &house.database {
        None => assert!(connect(house).execute(statement, []).unwrap() > 0, "{statement}"),
        Some(url) => cluster::execute(url, statement),
    }
}

/// Returns a house with a response that has the content of an event, and one to a request that created a timeline.
async fn with_requests(house: House) -> House {
    let home = house.open().await;
    record(&home, "main", 0, 3).await;
    home.house.clock.advance(1_000_000);
    let draft = named_event("e1", 5, "what happened in fact");
    let request = Some(Idempotency { key: [7; 32], fingerprint: [8; 32] });
    home.engine.correct_event(&home.admin, on("main"), draft, None, request).await.unwrap();
    let request = Some(Idempotency { key: [9; 32], fingerprint: [8; 32] });
    home.engine.create_timeline(&home.admin, timeline_id("other"), request).await.unwrap();
    home.close().await;
    house
}

fn houses() -> [House; 2] {
    [House::new(), House::on_postgres()]
}

/// Two days, twenty hours and an hour, in microseconds.
const DAYS: &str = "172800000000";
const HOURS: &str = "72000000000";
const HOUR: &str = "3600000000";

#[tokio::test(flavor = "multi_thread")]
async fn changed_responses_are_reported() {
    for house in houses() {
        let house = Box::pin(with_requests(house)).await;
        Box::pin(check_changed_expiry(&house)).await;
        Box::pin(check_changed_event_reference(&house)).await;
        if house.database.is_some() {
            Box::pin(check_changed_timeline_reference(&house)).await;
        }
        Box::pin(check_missing_entry(&house)).await;
    }
}

async fn check_changed_expiry(house: &House) {
    for (by, back) in [(DAYS, format!("-{DAYS}")), (HOUR, format!("-{HOUR}")), (&*format!("-{HOURS}"), HOURS.into())] {
        for of in ["event_id IS NULL", "event_id IS NOT NULL"] {
            let moved = |by: &str| format!("UPDATE outcomes SET expires_at = expires_at + {by} WHERE {of}");
            change(house, &moved(by));
            let scan = found(house, "system", FindingKind::StateMismatch, None).await;
            assert_eq!(finding_kinds(&scan), [(FindingKind::StateMismatch, None)], "{by} {of}");
            assert!(scan.findings[0].evidence.contains("it is kept until"), "{:#?}", scan.findings);
            change(house, &moved(&back));
        }
    }
    clean(house).await;
}

/// An erasure uses these columns to find the responses to delete.
async fn check_changed_event_reference(house: &House) {
    for (changed, back) in [
        ("event_id = 'e2' WHERE event_id = 'e1'", "event_id = 'e1' WHERE event_id = 'e2'"),
        ("timeline_id = 'other' WHERE event_id = 'e1'", "timeline_id = 'main' WHERE event_id = 'e1'"),
        ("event_id = NULL WHERE event_id = 'e1'", "event_id = 'e1' WHERE timeline_id = 'main'"),
        (
            "timeline_id = 'main', event_id = 'e1' WHERE event_id IS NULL",
            "timeline_id = NULL, event_id = NULL WHERE key = (SELECT key FROM outcomes ORDER BY key DESC LIMIT 1)",
        ),
    ] {
        change(house, &format!("UPDATE outcomes SET {changed}"));
        let scan = found(house, "system", FindingKind::StateMismatch, None).await;
        assert!(scan.findings[0].evidence.contains("an erasure"), "{:#?}", scan.findings);
        change(house, &format!("UPDATE outcomes SET {back}"));
    }
    clean(house).await;
}

/// The response names an entry that does not exist. It is not restored.
async fn check_missing_entry(house: &House) {
    let text = |text: &str| match &house.database {
        None => format!("'{text}'"),
        Some(_) => format!("convert_to('{text}', 'UTF8')"),
    };
    let position = r#"{"timeline_id":"main","position":4000,"size":4001,"root":"#;
    let root = "0".repeat(64);
    for (outcome, says) in [
        ("{}".to_owned(), "cannot be read"),
        (format!(r#"{position}"{root}","change":{{"kind":"forgotten"}}}}"#), "names a missing entry"),
    ] {
        change(house, &format!("UPDATE outcomes SET outcome = {}, event_id = NULL", text(&outcome)));
        let scan = found(house, "system", FindingKind::StateMismatch, None).await;
        assert!(scan.findings.iter().any(|one| one.evidence.contains(says)), "{says}: {:#?}", scan.findings);
    }
}

/// This column is used to delete responses together with their timeline.
async fn check_changed_timeline_reference(house: &House) {
    for timeline in ["NULL", "'other'", "'main'"] {
        change(house, &format!("UPDATE outcomes SET told_of = {timeline} WHERE event_id = 'e1'"));
        if timeline == "'main'" {
            return clean(house).await;
        }
        let scan = found(house, "system", FindingKind::StateMismatch, None).await;
        assert!(scan.findings[0].evidence.contains("would not delete it"), "{:#?}", scan.findings);
    }
}

/// A checkpoint in the database must be of the current tree, as earlier versions left it, or be absent.
#[tokio::test(flavor = "multi_thread")]
async fn outdated_checkpoint_row_is_reported() {
    for house in houses() {
        let home = house.open().await;
        record(&home, "main", 0, 3).await;
        home.close().await;
        let old = house.outside.notes()[&timeline_id("main")].clone();
        let home = house.open().await;
        record(&home, "main", 3, 3).await;
        home.close().await;
        let newest = house.outside.notes()[&timeline_id("main")].clone();
        let of_other = house.outside.notes()[&TimelineId::system()].clone();
        let put = |note: &str| {
            let note = match &house.database {
                None => format!("'{note}'"),
                Some(_) => format!("convert_to('{note}', 'UTF8')"),
            };
            change(&house, &format!("UPDATE timelines SET carried_note = {note} WHERE timeline_id = 'main'"));
        };
        for note in ["planted", &old, &of_other, &newest.replace('A', "B")] {
            put(note);
            for depth in ["full", "quick", "tail:2", "sample:2"] {
                let scan = look(&house, "main", depth.parse().unwrap(), Outside::Stored).await;
                assert_eq!(finding_kinds(&scan), [(FindingKind::StateMismatch, None)], "{depth} {note}");
                assert!(scan.findings[0].evidence.contains("checkpoint in the row"), "{:#?}", scan.findings);
            }
        }
        for note in ["", &newest] {
            put(note);
            clean(&house).await;
        }
        house.open().await.close().await;
    }
}

/// A request may have no effect. Then no entry records it, and the last entry may be old.
#[tokio::test(flavor = "multi_thread")]
async fn response_of_a_no_op_can_name_an_old_entry() {
    for house in houses() {
        let house = Box::pin(with_requests(house)).await;
        let home = house.open().await;
        let draft = || named_event("e1", 5, "what happened in fact");
        home.house.clock.advance(3_600_000_000);
        let again = |key| Some(Idempotency { key: [key; 32], fingerprint: [8; 32] });
        let first = home.engine.correct_event(&home.admin, on("main"), draft(), None, again(1)).await.unwrap();
        let second = home.engine.correct_event(&home.admin, on("main"), draft(), None, again(1)).await.unwrap();
        assert_eq!((first.ledger.position, second.replayed), (second.ledger.position, true));
        home.close().await;
        clean(&house).await;
        // It was given before the next entry.
        let home = house.open().await;
        home.house.clock.advance(3_600_000_000);
        record(&home, "main", 10, 1).await;
        home.close().await;
        clean(&house).await;
        change(
            &house,
            &format!(
                "UPDATE outcomes SET expires_at = expires_at + {DAYS} WHERE expires_at = (SELECT max(expires_at) FROM outcomes)"
            ),
        );
        let scan = found(&house, "system", FindingKind::StateMismatch, None).await;
        assert!(scan.findings[0].evidence.contains("it is kept until"), "{:#?}", scan.findings);
    }
}
