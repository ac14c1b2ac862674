use proptest::prelude::*;

use super::super::merkle::leaf_hash;
use super::super::tests::{ed25519_public, ed25519_sign, ed25519_verify};
use super::*;

const SEED: [u8; 32] = [9; 32];

fn key(name: &str) -> VerifierKey {
    VerifierKey::new(name, ed25519_public(&SEED)).unwrap()
}

fn checkpoint() -> Checkpoint {
    let origin = origin("log.example", "main");
    Checkpoint { origin, size: 20, root: leaf_hash(b"root"), extensions: Vec::new() }
}

#[test]
fn checkpoint_text_has_three_lines() {
    let text = checkpoint().to_text();
    assert_eq!(text, format!("log.example/main\n20\n{}\n", leaf_hash(b"root").to_base64()));
    assert_eq!(Checkpoint::parse(&text), Ok(checkpoint()));
}

#[test]
fn checkpoint_extension_lines_are_kept() {
    let extensions = vec!["one".to_owned(), " two ".to_owned()];
    let checkpoint = Checkpoint { extensions, ..checkpoint() };
    let text = checkpoint.to_text();
    assert!(text.ends_with("=\none\n two \n"));
    assert_eq!(Checkpoint::parse(&text), Ok(checkpoint));
}

#[test]
fn malformed_checkpoint_is_rejected() {
    let text = checkpoint().to_text();
    let root = checkpoint().root.to_base64();
    for (changed, expected) in [
        (String::new(), CheckpointError::Lines),
        ("\n".to_owned(), CheckpointError::Lines),
        ("a\n20\n".to_owned(), CheckpointError::Lines),
        (text.trim_end().to_owned(), CheckpointError::Lines),
        (format!("{text}\n"), CheckpointError::Lines),
        (format!("{text}\nextension\n"), CheckpointError::Lines),
        (format!("\n{text}"), CheckpointError::Lines),
        (text.replace("\n20\n", "\n020\n"), CheckpointError::Size),
        (text.replace("\n20\n", "\n+20\n"), CheckpointError::Size),
        (text.replace("\n20\n", "\n20 \n"), CheckpointError::Size),
        (text.replace("\n20\n", "\n0x14\n"), CheckpointError::Size),
        (text.replace("\n20\n", "\n18446744073709551616\n"), CheckpointError::Size),
        (text.replace('=', ""), CheckpointError::Root),
        (text.replace(&root, "AAAA"), CheckpointError::Root),
        (text.replace(&root, &format!("{root} ")), CheckpointError::Root),
        (text.replace('\n', "\r\n"), CheckpointError::Size),
    ] {
        assert_eq!(Checkpoint::parse(&changed), Err(expected), "{changed:?}");
    }
}

#[test]
fn checkpoint_key_must_be_named_after_the_ledger() {
    let (main, other) = (key("log.example/main"), key("log.example/other"));
    let signed = checkpoint().sign(&main, ed25519_sign(&SEED)).unwrap().to_string();
    assert_eq!(Checkpoint::open(signed.as_bytes(), &main, ed25519_verify), Ok(checkpoint()));
    let found = Checkpoint::open(signed.as_bytes(), &other, ed25519_verify);
    assert_eq!(found, Err(CheckpointError::Note(NoteError::NoKnownKey)));

    let mismatch = CheckpointError::OriginMismatch {
        expected: "log.example/other".to_owned(),
        found: "log.example/main".to_owned(),
    };
    assert_eq!(checkpoint().sign(&other, ed25519_sign(&SEED)), Err(mismatch.clone()));
    let moved = Note::sign(checkpoint().to_text(), &other, ed25519_sign(&SEED)).unwrap();
    let found = Checkpoint::open(moved.to_string().as_bytes(), &other, ed25519_verify);
    assert_eq!(found, Err(mismatch));
}

#[test]
fn altered_checkpoint_is_rejected() {
    let key = key("log.example/main");
    let signed = checkpoint().sign(&key, ed25519_sign(&SEED)).unwrap().to_string();
    let changed = signed.replace("\n20\n", "\n21\n");
    let found = Checkpoint::open(changed.as_bytes(), &key, ed25519_verify);
    assert!(matches!(found, Err(CheckpointError::Note(NoteError::BadSignature { .. }))));
    let note = Note::sign("hello\n".to_owned(), &key, ed25519_sign(&SEED)).unwrap();
    let found = Checkpoint::open(note.to_string().as_bytes(), &key, ed25519_verify);
    assert_eq!(found, Err(CheckpointError::Lines));
}

proptest! {
    #[test]
    fn parsed_checkpoint_is_written_identically(
        text in any::<String>(),
        near in "[a\n]{1,3}\n[0-9]{1,3}\n[A-Za-z]{42}A=\n(.{0,3}\n){0,2}",
    ) {
        for text in [text, near] {
            if let Ok(checkpoint) = Checkpoint::parse(&text) {
                prop_assert_eq!(checkpoint.to_text(), text);
            }
        }
    }
}
