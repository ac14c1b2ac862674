use proptest::prelude::*;

use super::super::sha256;
use super::*;

fn ended() -> TimelineEnded<'static> {
    TimelineEnded {
        checkpoint: "timenav.example/apollo-11\n9\n…\n".into(),
        ended_by: "ada".into(),
        root: sha256(&[b"root"]),
        size: 9,
        timeline_id: TimelineId::new("apollo-11").unwrap(),
    }
}

#[test]
fn checkpoint_matches_or_contradicts_the_end() {
    let fits =
        |size, root| Checkpoint { origin: "timenav.example/apollo-11".to_owned(), size, root, extensions: vec![] };
    assert_eq!(ended().fits(&fits(9, ended().root)), Some(true));
    assert_eq!(ended().fits(&fits(9, sha256(&[]))), Some(false));
    assert_eq!(ended().fits(&fits(10, ended().root)), Some(false));
    assert_eq!(ended().fits(&fits(8, ended().root)), None);
}

#[test]
fn noncanonical_payloads_are_rejected() {
    let payload = String::from_utf8(ended().encode()).unwrap();
    for (old, new) in [
        ("\"apollo-11\"", "\"apollo/11\""),
        ("\"size\":9", "\"size\":09"),
        ("\"ended_by\":\"ada\",", ""),
        ("}", ",\"x\":1}"),
    ] {
        assert!(payload.contains(old), "{payload} has no {old}");
        assert!(TimelineEnded::decode(payload.replace(old, new).as_bytes()).is_err(), "{new}");
    }
}

proptest! {
    #[test]
    fn payloads_are_canonical_and_read_back(texts in prop::array::uniform2(any::<String>()), size in 0..=super::super::SEQ_MAX) {
        let [checkpoint, by] = &texts;
        let ended = TimelineEnded { checkpoint: checkpoint.into(), ended_by: by.into(), size, ..ended() };
        let payload = ended.encode();
        let value: serde_json::Value = serde_json::from_slice(&payload).unwrap();
        prop_assert_eq!(&payload, &serde_json_canonicalizer::to_vec(&value).unwrap());
        prop_assert_eq!(TimelineEnded::decode(&payload), Ok(ended));
        let handed = HandedOver { requested_by: by.into(), root: sha256(&[b"root"]), size };
        let payload = handed.encode();
        let value: serde_json::Value = serde_json::from_slice(&payload).unwrap();
        prop_assert_eq!(&payload, &serde_json_canonicalizer::to_vec(&value).unwrap());
        prop_assert_eq!(HandedOver::decode(&payload), Ok(handed));
    }
}
