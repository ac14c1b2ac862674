use proptest::prelude::*;

use super::super::merkle::leaf_hash;
use super::super::tests::{ed25519_public, ed25519_sign, ed25519_verify};
use super::super::{CheckpointError, TrustedKeys, origin};
use super::*;
use crate::ledger::checkpoint::note::{Note, SignerKey};

const SEED: [u8; 32] = [9; 32];

fn key(name: &str) -> VerifierKey {
    VerifierKey::new(name, ed25519_public(&SEED)).unwrap()
}

fn statement(origin: &str) -> HeadStatement {
    HeadStatement {
        origin: origin.to_owned(),
        size: 20,
        root: leaf_hash(b"root"),
        state_hash: leaf_hash(b"state"),
        index_root: None,
    }
}

#[test]
fn head_statement_has_six_lines() {
    let [root, state] = [leaf_hash(b"root").to_base64(), leaf_hash(b"state").to_base64()];
    let text = statement("log.example/main").to_text();
    assert_eq!(text, format!("timenav-head/v1\nlog.example/main\n20\n{root}\n{state}\n-\n"));
    assert_eq!(HeadStatement::parse(&text), Ok(statement("log.example/main")));
    for (changed, expected) in [
        (String::new(), HeadError::Lines),
        (text.replace("/v1", "/v2"), HeadError::Lines),
        (text.replace("-\n", ""), HeadError::Lines),
        (text.trim_end().to_owned(), HeadError::Lines),
        (format!("{text}\n"), HeadError::Lines),
        (format!("{text}more\n"), HeadError::Lines),
        (text.replace("log.example/main", ""), HeadError::Origin),
        (text.replace("\n20\n", "\n020\n"), HeadError::Size),
        (text.replace(&root, "AAAA"), HeadError::Hash),
        (text.replace(&state, "-"), HeadError::Hash),
        (text.replace("-\n", "--\n"), HeadError::Hash),
        (text.replace('\n', "\r\n"), HeadError::Lines),
    ] {
        assert_eq!(HeadStatement::parse(&changed), Err(expected), "{changed:?}");
    }
}

#[test]
fn head_is_signed_only_with_its_ledger_key() {
    let (main, other) = (statement("log.example/main"), key("log.example/other"));
    let signature = main.sign(&key("log.example/main"), ed25519_sign(&SEED)).unwrap();
    assert_eq!(main.verify(&signature, &key("log.example/main"), ed25519_verify), Ok(()));
    let mismatch = || HeadError::OriginMismatch { expected: other.name().to_owned(), found: main.origin.clone() };
    assert_eq!(main.sign(&other, |_| panic!("nothing is signed")), Err(mismatch()));
    assert_eq!(main.verify(&signature, &other, ed25519_verify), Err(mismatch()));
    for changed in [
        HeadStatement { size: 21, ..main.clone() },
        HeadStatement { root: main.state_hash, ..main.clone() },
        HeadStatement { state_hash: main.root, ..main.clone() },
        HeadStatement { index_root: Some(main.root), ..main.clone() },
    ] {
        let found = changed.verify(&signature, &key("log.example/main"), ed25519_verify);
        assert_eq!(found, Err(HeadError::BadSignature));
    }
}

#[test]
fn signed_head_text_is_read_back() {
    let main = statement("log.example/main");
    let signature = main.sign(&key("log.example/main"), ed25519_sign(&SEED)).unwrap();
    let text = main.to_signed_text(&signature);
    assert_eq!(HeadStatement::parse_signed(&text), Ok((main.clone(), signature)));
    assert!(Note::parse(text.as_bytes()).is_err());
    for changed in [
        main.to_text(),
        text.trim_end().to_owned(),
        text.replace("\n\n", "\n"),
        text.replace("=\n", "\n"),
        format!("{text}\n"),
        main.to_signed_text(&signature).replace("==\n", "==\n\n"),
    ] {
        assert!(HeadStatement::parse_signed(&changed).is_err(), "{changed:?}");
    }
}

/// Ledger names, including some that look like a line of the other text.
fn any_origin() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("timenav-head/v1".to_owned()),
        Just("20".to_owned()),
        Just(leaf_hash(b"root").to_base64()),
        ("[a-z0-9.-]{1,12}", "[a-z0-9-]{1,12}").prop_map(|(service, timeline)| origin(&service, &timeline)),
    ]
}

proptest! {
    /// The two texts never coincide, so a signature over one is never valid for the other, however it is wrapped. Only
    /// a numeric ledger name could be ambiguous, and names contain a slash.
    #[test]
    fn head_statement_is_never_a_valid_checkpoint(origin in any_origin(), size in any::<u64>()) {
        let head = HeadStatement { size, ..statement(&origin) };
        let text = head.to_text();
        let checkpoint = Checkpoint::parse(&text);
        prop_assert!(origin == "20" || checkpoint == Err(CheckpointError::Size), "{checkpoint:?}");
        prop_assert_eq!(Note::parse(text.as_bytes()).err(), Some(super::super::NoteError::NoSignatures));
        prop_assert_eq!(HeadStatement::parse(&head.checkpoint().to_text()), Err(HeadError::Lines));
        prop_assert!(SignerKey::parse(&text).is_err() && VerifierKey::parse(&text).is_err());

        // Wrapped in a note with its true signature, it is a valid note but not a checkpoint.
        for name in ["timenav-head/v1", &origin] {
            let key = key(name);
            let note = Note::sign(text.clone(), &key, ed25519_sign(&SEED)).unwrap().to_string();
            let keys = TrustedKeys::from(key.clone());
            prop_assert!(Checkpoint::open(note.as_bytes(), &key, ed25519_verify).is_err() || origin == "20");
            prop_assert!(Checkpoint::open_newest(note.as_bytes(), &keys, ed25519_verify).is_err() || origin == "20");
            prop_assert!(Checkpoint::open_stored(note.as_bytes(), &keys, ed25519_verify).is_err() || origin == "20");
        }
    }

    #[test]
    fn head_texts_are_read_back(
        origin in any_origin(),
        size in any::<u64>(),
        hashes in any::<[[u8; 32]; 3]>(),
        indexed in any::<bool>(),
    ) {
        let [root, state_hash, index_root] = hashes.map(Hash::from_bytes);
        let head = HeadStatement { origin, size, root, state_hash, index_root: indexed.then_some(index_root) };
        prop_assert_eq!(HeadStatement::parse(&head.to_text()), Ok(head));
    }

    #[test]
    fn parsing_arbitrary_text_does_not_panic(text in any::<String>()) {
        prop_assert!(HeadStatement::parse(&text).is_err());
    }
}
