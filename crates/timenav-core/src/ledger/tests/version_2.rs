//! The published vectors of version 2.

use super::*;

fn published() -> Value {
    read_json("test-data/ledger-format-v2.json").expect("the vectors are part of the repository")
}

#[test]
fn entries_have_the_published_bytes() {
    let vectors = published();
    for leaf in items(&vectors["leaves"]) {
        let salt = Salt::from_bytes(bytes(&leaf["salt"]));
        let payload_hash = payload_hash(&salt, text(&leaf["payload"]).as_bytes());
        assert_eq!(payload_hash, hash(&leaf["payload_hash"]));
        let entry = Leaf {
            timeline_id: text(&leaf["timeline_id"]),
            seq: number(&leaf["seq"]),
            recorded_at: text(&leaf["recorded_at"]),
            clock_time: text(&leaf["clock_time"]),
            actor: text(&leaf["actor"]),
            action: text(&leaf["action"]),
            subject: text(&leaf["subject"]),
            payload_hash,
        };
        let authority = Authority { key: text(&leaf["key"]).into(), directory: number(&leaf["directory"]) };
        let encoded = entry.encode_v2(&authority);
        assert_eq!(std::str::from_utf8(&encoded).unwrap(), text(&leaf["entry"]));
        assert_eq!(encoded.len() as u64, number(&leaf["entry_bytes"]));
        assert_eq!(leaf_hash(&encoded), hash(&leaf["leaf_hash"]));
        let record = LeafRecord::decode(&encoded).unwrap();
        assert_eq!((record.as_leaf(), record.authority.as_ref()), (entry, Some(&authority)));
    }
}
