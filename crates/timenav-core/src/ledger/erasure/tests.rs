use proptest::prelude::*;

use super::super::{Read, ReadParameters, ReadsDraft, Salt, sha256};
use super::*;

fn runs(positions: impl IntoIterator<Item = u64>) -> PositionRuns {
    let mut runs = PositionRuns::default();
    positions.into_iter().for_each(|position| runs.push(position).unwrap());
    runs
}

fn erased() -> EventsErased<'static> {
    let mut outcomes = vec![sha256(&[b"one"]), sha256(&[b"two"])];
    outcomes.sort();
    EventsErased {
        requested_by: "ada".into(),
        by: ErasedBy::Query,
        evaluated_at: 12,
        events_count: 2,
        include_forks: false,
        interventions: runs([7]),
        outcomes,
        versions: runs([3, 4, 9]),
    }
}

#[test]
fn payload_has_one_accepted_spelling() {
    let payload = String::from_utf8(erased().encode()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&payload).unwrap();
    assert_eq!(payload.as_bytes(), serde_json_canonicalizer::to_vec(&value).unwrap());
    assert_eq!(EventsErased::decode(payload.as_bytes()), Ok(erased()));
    let [first, second] = [0, 1].map(|number| erased().outcomes[number].to_hex());
    for changed in [
        payload.replace("\"query\"", "\"name\""),
        payload.replace("[[3,4],[9,9]]", "[]"),
        payload.replace("[[3,4],[9,9]]", "[[9,9],[3,4]]"),
        payload.replace("false", "null"),
        payload.replace(&first, &second),
        payload.replace(&format!("\"{first}\",\"{second}\""), &format!("\"{second}\",\"{first}\"")),
        payload.replace(",\"evaluated_at\":12", ""),
        format!("{payload} "),
    ] {
        assert_ne!(changed, payload);
        assert!(EventsErased::decode(changed.as_bytes()).is_err(), "{changed}");
    }
    let mut many = erased();
    many.outcomes = (0..=ERASED_OUTCOMES_MAX).map(|number| sha256(&[&number.to_be_bytes()])).collect();
    many.outcomes.sort();
    assert!(EventsErased::decode(&many.encode()).is_err());
    many.outcomes.pop();
    assert!(EventsErased::decode(&many.encode()).is_ok());
}

#[test]
fn erasure_of_unreached_positions_is_impossible() {
    assert!(erased().is_possible_at(12));
    assert!(!erased().is_possible_at(11), "chosen at a size that was not reached");
    assert!(!EventsErased { versions: runs([12]), ..erased() }.is_possible_at(12));
    assert!(!EventsErased { interventions: runs([12]), ..erased() }.is_possible_at(12));
}

#[test]
fn erased_reads_must_be_named_by_an_erasure() {
    let salt = Salt::from_bytes([5; 16]);
    let at = crate::time::Instant::EPOCH;
    let read = Read {
        action: "clock".into(),
        clock_time: crate::time::Instant::EPOCH,
        host_time: at,
        key: "key_1".into(),
        parameters: ReadParameters::of(""),
        user: "ada".into(),
    };
    let mut draft = ReadsDraft::new(salt);
    for _ in 0..4 {
        draft.push(&read).unwrap();
    }
    let (payload, _) = draft.finish();
    let whole = RemainingReads::parse(salt.as_bytes(), &payload).unwrap();
    let opened = whole.without(|number, _| number == 1 || number == 3);
    let opened = RemainingReads::parse(&[], &opened).unwrap();
    let erased = |position, numbers: &[u64]| ReadsErased {
        requested_by: "ada".into(),
        position,
        reads: runs(numbers.iter().copied()),
    };
    assert!(ReadsErased::explain(&[], 7, &whole));
    assert!(!ReadsErased::explain(&[], 7, &opened));
    assert!(ReadsErased::explain(&[erased(7, &[1, 3])], 7, &opened));
    assert!(ReadsErased::explain(&[erased(7, &[3]), erased(7, &[0, 1])], 7, &opened));
    assert!(!ReadsErased::explain(&[erased(7, &[1]), erased(8, &[3])], 7, &opened));

    let payload = String::from_utf8(erased(7, &[1, 3]).encode()).unwrap();
    assert_eq!(payload, r#"{"asked_by":"ada","position":7,"reads":[[1,1],[3,3]]}"#);
    assert_eq!(ReadsErased::decode(payload.as_bytes()), Ok(erased(7, &[1, 3])));
    for other in ["[]", "[[1,1],[512,512]]", "[[3,3],[1,1]]"] {
        assert!(ReadsErased::decode(payload.replace("[[1,1],[3,3]]", other).as_bytes()).is_err(), "{other}");
    }
}

proptest! {
    #[test]
    fn erasure_payloads_are_read_back(
        requested_by in any::<String>(),
        by in prop::sample::select(&ErasedBy::ALL[..]),
        include_forks in any::<bool>(),
        versions in prop::collection::btree_set(0..99_u64, 1..20),
        interventions in prop::collection::btree_set(0..99_u64, 0..20),
    ) {
        let erased = EventsErased {
            requested_by: requested_by.into(),
            by,
            include_forks,
            versions: runs(versions),
            interventions: runs(interventions),
            ..erased()
        };
        let payload = erased.encode();
        prop_assert_eq!(EventsErased::decode(&payload), Ok(erased));
    }

    #[test]
    fn decoding_arbitrary_bytes_does_not_panic(bytes in any::<Vec<u8>>()) {
        prop_assert!(EventsErased::decode(&bytes).is_err());
    }
}
