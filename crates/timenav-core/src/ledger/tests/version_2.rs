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

#[test]
fn reads_have_the_published_bytes() {
    let vectors = &published()["reads"];
    let master = Salt::from_bytes(bytes(&vectors["salt"]));
    let root = hash(&vectors["payload_hash"]);
    let kept = KeptReads::parse(master.as_bytes(), text(&vectors["payload"]).as_bytes()).unwrap();
    let mut draft = ReadsDraft::new(master);
    for (number, vector) in items(&vectors["reads"]).iter().enumerate() {
        let proof = kept.prove(number).unwrap();
        assert_eq!(std::str::from_utf8(&proof.read).unwrap(), text(&vector["read"]));
        assert_eq!(proof.salt, Salt::from_bytes(bytes(&vector["salt"])));
        assert_eq!(sha256(&[proof.salt.as_bytes(), &proof.read]), hash(&vector["digest"]));
        assert_eq!(proof.hashes, hashes(&vector["proof"]));
        draft.push(&proof.verify(&root).unwrap()).unwrap();
    }
    assert_eq!(draft.finish(), (text(&vectors["payload"]).as_bytes().to_vec(), root));
    let opened = kept.without(|number, _| number == 1);
    assert_eq!(std::str::from_utf8(&opened).unwrap(), text(&vectors["without_read_1"]));
    assert_eq!(KeptReads::parse(&[], &opened).unwrap().root(), root);
}

#[test]
fn entries_of_reads_are_rebuilt_from_the_published_bytes() {
    let vectors = &published()["reads"];
    for entry in [&vectors["entry"], &vectors["entry_of_directory_300"]] {
        let compact = HEXLOWER.decode(text(&entry["compact"]).as_bytes()).unwrap();
        let leaf = rebuilt_leaf(&compact, text(&entry["timeline_id"]), number(&entry["seq"])).unwrap();
        assert_eq!(std::str::from_utf8(&leaf).unwrap(), text(&entry["entry"]));
        assert_eq!(leaf_hash(&leaf), hash(&entry["leaf_hash"]));
        let reads = ReadsEntry::of(&LeafRecord::decode(&leaf).unwrap()).unwrap();
        assert_eq!(reads.to_bytes(), compact);
        assert_eq!(reads.payload_hash, hash(&vectors["payload_hash"]));
    }
}

#[test]
fn the_tree_over_both_has_the_published_roots() {
    let vectors = published();
    let reads = hash(&vectors["reads"]["entry"]["leaf_hash"]);
    let leaves = items(&vectors["leaves"]).iter().map(|leaf| hash(&leaf["leaf_hash"]));
    let leaves: Vec<Hash> = leaves.chain([reads]).collect();
    for (size, root) in hashes(&vectors["roots"]).iter().enumerate() {
        assert_eq!(tree_root(&leaves[..size]), *root);
    }
}
