use proptest::prelude::*;
use serde_json::json;

use super::*;

const EXAMPLE: Leaf<'static> = Leaf {
    timeline_id: "main",
    seq: 7,
    recorded_at: "2026-11-20T08:00:00Z",
    clock_time: "1969-07-20T20:17:40Z",
    actor: "ada",
    action: "travel",
    subject: "clock",
    payload_hash: Hash::from_bytes([0xab; 32]),
};

fn canonical(leaf: &Leaf<'_>) -> Vec<u8> {
    let value = json!({
        "v": LEAF_VERSION,
        "timeline_id": leaf.timeline_id,
        "seq": leaf.seq,
        "recorded_at": leaf.recorded_at,
        "clock_time": leaf.clock_time,
        "actor": leaf.actor,
        "action": leaf.action,
        "subject": leaf.subject,
        "payload_hash": leaf.payload_hash.to_hex(),
    });
    serde_json_canonicalizer::to_vec(&value).unwrap()
}

fn example_with(old: &str, new: &str) -> Vec<u8> {
    let entry = String::from_utf8(EXAMPLE.encode()).unwrap();
    assert!(entry.contains(old), "{entry} has no {old}");
    entry.replace(old, new).into_bytes()
}

/// Texts rich in characters that need escaping.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[\\x00-\\x22\\\\/\\x7f-\\xa0\u{2028}\u{1f728}]{0,24}"]
}

#[test]
fn characters_are_escaped_as_in_rfc_8785() {
    let everything: String = ('\0'..='\u{17f}').chain(['\u{2028}', '\u{ffff}', '🜨']).collect();
    let leaf = Leaf { subject: &everything, ..EXAMPLE };
    let bytes = leaf.encode();
    assert_eq!(bytes, canonical(&leaf));
    assert_eq!(LeafRecord::decode(&bytes).unwrap().into_owned().as_leaf(), leaf);
}

#[test]
fn largest_seq_is_exact() {
    let leaf = Leaf { seq: SEQ_MAX, ..EXAMPLE };
    let bytes = leaf.encode();
    assert_eq!(bytes, canonical(&leaf));
    assert_eq!(LeafRecord::decode(&bytes).unwrap().seq, SEQ_MAX);
    let beyond = example_with(":7,", ":9007199254740992,");
    let expected = "an integer from 0 to 2^53 - 1";
    assert!(matches!(
        LeafRecord::decode(&beyond),
        Err(LeafError::Malformed { expected: found, .. }) if found == expected
    ));
}

#[test]
fn encoding_allocates_once() {
    let leaf = Leaf { seq: SEQ_MAX, ..EXAMPLE };
    let authority = Authority { key: "key_1".into(), directory: SEQ_MAX };
    for bytes in [leaf.encode(), leaf.encode_v2(&authority)] {
        assert_eq!(bytes.len(), bytes.capacity());
    }
}

#[test]
fn unknown_leaf_version_is_named() {
    for v in [0, 3, 10, u64::MAX] {
        let entry = example_with("\"v\":1}", &format!("\"v\":{v}}}"));
        assert_eq!(LeafRecord::decode(&entry), Err(LeafError::UnknownFormat { v }));
    }
    let later = br#"{"unheard":"of","v":3}"#;
    assert_eq!(LeafRecord::decode(later), Err(LeafError::UnknownFormat { v: 3 }));
}

#[test]
fn leaf_of_one_version_is_not_valid_as_the_other() {
    let first = EXAMPLE.encode();
    let second = EXAMPLE.encode_v2(&Authority { key: "key_1".into(), directory: 12 });
    for (bytes, old, new) in [(first, "\"v\":1}", "\"v\":2}"), (second, "\"v\":2}", "\"v\":1}")] {
        let entry = String::from_utf8(bytes).unwrap().replace(old, new);
        assert!(matches!(LeafRecord::decode(entry.as_bytes()), Err(LeafError::Malformed { .. })), "{entry}");
    }
}

#[test]
fn version_2_members_are_sorted_as_in_rfc_8785() {
    let written = EXAMPLE.encode_v2(&Authority { key: "key_\"1\"".into(), directory: SEQ_MAX });
    let mut value: serde_json::Value = serde_json::from_slice(&EXAMPLE.encode()).unwrap();
    value["v"] = json!(LEAF_VERSION_2);
    value["key"] = json!("key_\"1\"");
    value["directory"] = json!(SEQ_MAX);
    assert_eq!(written, serde_json_canonicalizer::to_vec(&value).unwrap());
    for (old, new) in [
        ("\"directory\":9007199254740991,", ""),
        ("\"directory\":9", "\"directory\":09"),
        (":9007199254740991,", ":9007199254740992,"),
        ("\"directory\"", "\"key\":\"\",\"directory\""),
        (",\"key\":\"key_\\\"1\\\"\"", ""),
    ] {
        let entry = std::str::from_utf8(&written).unwrap();
        assert!(entry.contains(old), "{entry} has no {old}");
        let found = entry.replace(old, new);
        assert!(matches!(LeafRecord::decode(found.as_bytes()), Err(LeafError::Malformed { .. })), "{found}");
    }
}

#[test]
fn noncanonical_entries_are_rejected() {
    for (old, new) in [
        ("{\"action", "{ \"action"),
        ("\"travel\"", "\"trave\\u006c\""),
        ("\"travel\"", "\"tr\\/avel\""),
        ("\"travel\"", "\"\\u000A\""),
        ("\"travel\"", "\"\\u000a\""),
        ("\"travel\"", "\"\\u001F\""),
        ("\"travel\"", "\"\\u0022\""),
        ("\"travel\"", "\"\\ud83d\\udf28\""),
        ("\"travel\"", "\"\\x\""),
        ("\"travel\"", "\"\\"),
        ("\"travel\"", "\"\n\""),
        ("\"action\":\"travel\",", ""),
        ("\"action\":", "\"action\":\"again\",\"action\":"),
        (":7,", ":07,"),
        (":7,", ":7.0,"),
        (":7,", ":-7,"),
        (":7,", ":,"),
        ("abab", "ABAB"),
        ("\"ab", "\""),
        ("\"v\":1}", "\"v\":1,\"w\":1}"),
        ("\"v\":1}", "\"v\":01}"),
        ("\"v\":1}", "\"v\":1}\n"),
        ("\"v\":1}", "\"v\":1}}"),
        ("\"v\":1}", "\"v\":1"),
    ] {
        let entry = example_with(old, new);
        let found = LeafRecord::decode(&entry);
        assert!(matches!(found, Err(LeafError::Malformed { .. })), "{new}: {found:?}");
    }
}

#[test]
fn offset_of_damage_is_named() {
    let expected = LeafError::Malformed { offset: 18, expected: ",\"actor\":\"" };
    assert_eq!(LeafRecord::decode(&example_with("\"actor\"", "\"acter\"")), Err(expected));
    let mut bytes = EXAMPLE.encode();
    bytes[12] = 0xff;
    let expected = LeafError::Malformed { offset: 12, expected: "UTF-8" };
    assert_eq!(LeafRecord::decode(&bytes), Err(expected));
}

#[test]
fn flipped_bit_changes_the_entry_or_is_rejected() {
    let bytes = Leaf { subject: "a\"b\n\u{1}é", ..EXAMPLE }.encode();
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(record) = LeafRecord::decode(&flipped) {
            assert_eq!(record.as_leaf().encode(), flipped);
        }
    }
}

proptest! {
    #[test]
    fn entries_are_canonical_json_and_read_back(
        texts in prop::array::uniform7(any_text()),
        numbers in prop::array::uniform2(0..=SEQ_MAX),
        hash in any::<[u8; 32]>(),
    ) {
        let [timeline_id, recorded_at, clock_time, actor, action, subject, key] = &texts;
        let [seq, directory] = numbers;
        let payload_hash = Hash::from_bytes(hash);
        let leaf = Leaf {
            timeline_id, seq, recorded_at, clock_time, actor, action, subject, payload_hash,
        };
        let bytes = leaf.encode();
        prop_assert_eq!(&bytes, &canonical(&leaf));
        let record = LeafRecord::decode(&bytes).unwrap();
        prop_assert_eq!(&record.as_leaf(), &leaf);
        prop_assert_eq!((record.version(), record.encode()), (LEAF_VERSION, bytes.clone()));

        let bytes = leaf.encode_v2(&Authority { key: key.into(), directory });
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        prop_assert_eq!(&bytes, &serde_json_canonicalizer::to_vec(&value).unwrap());
        let record = LeafRecord::decode(&bytes).unwrap().into_owned();
        prop_assert_eq!(&record.as_leaf(), &leaf);
        prop_assert_eq!((record.version(), record.encode()), (LEAF_VERSION_2, bytes.clone()));
        let authority = record.authority.unwrap();
        prop_assert_eq!((authority.key.as_ref(), authority.directory), (key.as_str(), directory));
    }

    #[test]
    fn decoded_entry_is_encoded_identically(
        texts in prop::array::uniform2(any_text()),
        at in any::<prop::sample::Index>(),
        splice in prop_oneof![any::<Vec<u8>>(), any_text().prop_map(String::into_bytes)],
        removed in 0..4usize,
        is_second in any::<bool>(),
    ) {
        let [action, subject] = &texts;
        let leaf = Leaf { action, subject, ..EXAMPLE };
        let authority = Authority { key: "key_1".into(), directory: 12 };
        let mut bytes = if is_second { leaf.encode_v2(&authority) } else { leaf.encode() };
        let at = at.index(bytes.len());
        let end = bytes.len().min(at + removed);
        bytes.splice(at..end, splice);
        if let Ok(record) = LeafRecord::decode(&bytes) {
            prop_assert_eq!(record.encode(), bytes);
        }
    }

    #[test]
    fn decoding_arbitrary_bytes_does_not_panic(bytes in any::<Vec<u8>>()) {
        prop_assert!(LeafRecord::decode(&bytes).is_err());
    }
}
