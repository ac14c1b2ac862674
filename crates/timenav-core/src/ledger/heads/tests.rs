use proptest::prelude::*;

use super::super::{Authority, Leaf, inclusion_hashes, sha256};
use super::*;

const SERVICE: &str = "timenav.example";

fn head(name: &str, size: u64) -> CommittedHead {
    CommittedHead { root: sha256(&[name.as_bytes()]), size, timeline_id: TimelineId::new(name).unwrap() }
}

fn heads() -> CommittedHeads {
    CommittedHeads::new(vec![head("main", 3), head("apollo-11", 5), head("apollo-13", 9)], Some(7)).unwrap()
}

#[test]
fn heads_payload_is_canonical_and_subject_matches_another_implementation() {
    let root = |name: &str| sha256(&[name.as_bytes()]).to_hex();
    let payload = format!(
        "{{\"heads\":[{{\"root\":\"{}\",\"size\":5,\"timeline_id\":\"apollo-11\"}},\
         {{\"root\":\"{}\",\"size\":9,\"timeline_id\":\"apollo-13\"}},\
         {{\"root\":\"{}\",\"size\":3,\"timeline_id\":\"main\"}}],\"previous\":7}}",
        root("apollo-11"),
        root("apollo-13"),
        root("main")
    );
    assert_eq!(String::from_utf8(heads().encode()).unwrap(), payload);
    assert_eq!(CommittedHeads::decode(payload.as_bytes()), Ok(heads()));
    // Computed in Python from the specification.
    let expected = "3:ccc975bc1af44945d069c0b7b57931b48baf5f2bde70502740aabb2f89a2d6de";
    assert_eq!(heads().subject(SERVICE), expected);
    assert_ne!(heads().subject("other.example"), expected);
}

#[test]
fn noncanonical_payloads_are_rejected() {
    let payload = String::from_utf8(heads().encode()).unwrap();
    for (old, new) in [
        ("\"size\":5", "\"size\":05"),
        ("\"apollo-13\"", "\"apollo-11\""),
        ("\"apollo-11\"", "\"zulu\""),
        ("\"apollo-11\"", "\"a/b\""),
        (",\"previous\":7", ",\"previous\":null"),
        (",\"previous\":7", ",\"x\":7"),
        ("]", ",]"),
    ] {
        assert!(payload.contains(old), "{payload} has no {old}");
        assert!(CommittedHeads::decode(payload.replacen(old, new, 1).as_bytes()).is_err(), "{new}");
    }
    assert!(CommittedHeads::decode(b"{\"heads\":[]}").is_err());
}

#[test]
fn heads_are_limited_and_unique_per_timeline() {
    let many = |count: usize| (0..count).map(|number| head(&format!("t{number}"), 1)).collect::<Vec<_>>();
    assert_eq!(CommittedHeads::new(Vec::new(), None), None);
    assert_eq!(CommittedHeads::new(vec![head("main", 1), head("main", 2)], None), None);
    assert_eq!(CommittedHeads::new(many(HEADS_MAX + 1), None), None);
    let most = CommittedHeads::new(many(HEADS_MAX), None).unwrap();
    assert_eq!(CommittedHeads::decode(&most.encode()), Ok(most.clone()));
    let one_more = String::from_utf8(most.encode()).unwrap();
    let last = format!(",{{\"root\":\"{}\",\"size\":1,\"timeline_id\":\"zulu\"}}]", sha256(&[]).to_hex());
    assert!(CommittedHeads::decode(one_more.replace(']', &last).as_bytes()).is_err());
}

/// A `heads` entry in a ledger of seven, with the proof of one head.
fn proven(index: usize) -> (HeadProof, Checkpoint, Checkpoint) {
    let heads = heads();
    let payload_hash = sha256(&[&heads.encode()]);
    let subject = heads.subject(SERVICE);
    let entry = Leaf {
        timeline_id: "system",
        seq: 4,
        recorded_at: "2026-11-20T08:00:02.000001Z",
        clock_time: "2026-11-20T08:00:02.000001Z",
        actor: "system",
        action: HEADS_ACTION,
        subject: &subject,
        payload_hash,
    };
    let leaf = entry.encode_v2(&Authority { key: "".into(), directory: 1 });
    let mut system: Vec<Hash> = (0..7_u8).map(|number| leaf_hash(&[number])).collect();
    system[4] = leaf_hash(&leaf);
    let of = &heads.as_slice()[index];
    let checkpoint = Checkpoint {
        origin: origin(SERVICE, of.timeline_id.as_str()),
        size: of.size,
        root: of.root,
        extensions: Vec::new(),
    };
    let proof = HeadProof {
        index: index as u64,
        count: 3,
        hashes: inclusion_hashes(&heads.leaves(SERVICE), index as u64).unwrap(),
        position: 4,
        leaf,
        system_hashes: inclusion_hashes(&system, 4).unwrap(),
    };
    let origin = origin(SERVICE, "system");
    (proof, checkpoint, Checkpoint { origin, size: 7, root: tree_root(&system), extensions: Vec::new() })
}

#[test]
fn head_proof_verifies_only_the_committed_tree() {
    for index in 0..3 {
        let (proof, head, system) = proven(index);
        assert_eq!(proof.verify(&head, &system), Ok(()), "{index}");
        for wrong in [
            Checkpoint { size: head.size + 1, ..head.clone() },
            Checkpoint { root: sha256(&[]), ..head.clone() },
            Checkpoint { origin: origin(SERVICE, "other"), ..head.clone() },
            Checkpoint { extensions: vec!["x".to_owned()], ..head.clone() },
        ] {
            assert!(matches!(proof.verify(&wrong, &system), Err(HeadProofError::Head(_))), "{wrong:?}");
        }
        let smaller = Checkpoint { size: 4, ..system.clone() };
        assert!(matches!(proof.verify(&head, &smaller), Err(HeadProofError::System(_))));
        for (wrong, expected) in [
            (HeadProof { count: 4, ..proof.clone() }, HeadProofError::Entry),
            (
                HeadProof { index: 3, ..proof.clone() },
                HeadProofError::Head(ProofError::IndexOutOfRange { index: 3, size: 3 }),
            ),
        ] {
            assert_eq!(wrong.verify(&head, &system), Err(expected));
        }
        let elsewhere = HeadProof { position: 5, ..proof.clone() };
        assert!(matches!(elsewhere.verify(&head, &system), Err(HeadProofError::System(_))));
    }
}

#[test]
fn head_proof_requires_an_entry_of_the_service_on_system() {
    for (old, new) in [
        ("\"action\":\"heads\"", "\"action\":\"heods\""),
        ("\"actor\":\"system\"", "\"actor\":\"mallory\""),
        ("\"timeline_id\":\"system\"", "\"timeline_id\":\"main\""),
        ("\"seq\":4", "\"seq\":3"),
        ("\"subject\":\"3:", "\"subject\":\"03:"),
    ] {
        let (mut proof, head, mut system) = proven(1);
        let leaf = String::from_utf8(proof.leaf).unwrap();
        assert!(leaf.contains(old), "{leaf}");
        proof.leaf = leaf.replace(old, new).into_bytes();
        let mut hashes: Vec<Hash> = (0..7_u8).map(|number| leaf_hash(&[number])).collect();
        hashes[4] = leaf_hash(&proof.leaf);
        (proof.system_hashes, system.root) = (inclusion_hashes(&hashes, 4).unwrap(), tree_root(&hashes));
        assert_eq!(proof.verify(&head, &system), Err(HeadProofError::Entry), "{new}");
    }
}

proptest! {
    #[test]
    fn payloads_are_canonical_and_read_back(sizes in prop::collection::btree_map("[a-z]{1,8}", 0..=super::super::SEQ_MAX, 1..20), previous: Option<u32>) {
        let heads: Vec<_> = sizes.iter().map(|(name, size)| head(name, *size)).collect();
        let heads = CommittedHeads::new(heads, previous.map(u64::from)).unwrap();
        let payload = heads.encode();
        let value: serde_json::Value = serde_json::from_slice(&payload).unwrap();
        prop_assert_eq!(&payload, &serde_json_canonicalizer::to_vec(&value).unwrap());
        prop_assert_eq!(CommittedHeads::decode(&payload), Ok(heads));
    }
}
