use proptest::prelude::*;

use super::*;
use crate::ledger::tests::{ed25519_public, ed25519_sign, ed25519_verify};

// The example of C2SP signed-note 1.0.0.
const KEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const NOTE: &str = "This is an example message.\n\n\
    — example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";

// The example of Go's `sumdb/note`.
const GO_SIGNER: &str = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
const GO_KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const GO_TEXT: &str = "If you think cryptography is the answer to your problem,\n\
    then you don't know what your problem is.\n";
const GO_SIGNATURE: &str =
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

fn key() -> VerifierKey {
    VerifierKey::parse(KEY).unwrap()
}

fn verify(note: &str, known: &[VerifierKey]) -> Result<(), NoteError> {
    Note::parse(note.as_bytes())?.verify(known, ed25519_verify)
}

fn signature_line(name: &str, id: [u8; 4], signature: &[u8]) -> String {
    format!("— {name} {}\n", BASE64.encode(&[&id, signature].concat()))
}

#[test]
fn note_example_of_the_standard_verifies() {
    assert_eq!(key().to_string(), KEY);
    assert_eq!(key().id().to_string(), "530d903a");
    let note = Note::parse(NOTE.as_bytes()).unwrap();
    assert_eq!(note.text(), "This is an example message.\n");
    assert_eq!(note.to_string(), NOTE);
    assert_eq!(note.verify(&[key()], ed25519_verify), Ok(()));
}

#[test]
fn signature_of_the_go_example_is_identical() {
    let signer = SignerKey::parse(GO_SIGNER).unwrap();
    assert_eq!(signer.to_secret_text(), GO_SIGNER);
    let key = signer.verifier_key(ed25519_public(signer.seed())).unwrap();
    assert_eq!(key.to_string(), GO_KEY);
    assert!(SignerKey::new(*signer.seed(), &key) == signer);
    let note = Note::sign(GO_TEXT.to_owned(), &key, ed25519_sign(signer.seed())).unwrap();
    assert_eq!(note.to_string(), format!("{GO_TEXT}\n{GO_SIGNATURE}"));
    assert_eq!(verify(&note.to_string(), &[key]), Ok(()));
}

#[test]
fn two_keys_with_one_name_sign_one_note() {
    let seeds = [[1; 32], [2; 32]];
    let [old, new] = seeds.map(|seed| VerifierKey::new("log.example/main", ed25519_public(&seed)).unwrap());
    let one = Note::sign("log.example/main\n".to_owned(), &old, ed25519_sign(&seeds[0])).unwrap();
    let both = one.clone().countersign(&new, ed25519_sign(&seeds[1])).unwrap();
    assert_eq!(Note::parse(both.to_string().as_bytes()).unwrap(), both);
    assert!(both.to_string().starts_with(&one.to_string()), "the first signature stays as it was");
    let known = [new.clone(), old.clone()];
    assert_eq!(both.signers(&known, ed25519_verify), Ok(vec![&old, &new]));
    assert_eq!(both.signers(&known[..1], ed25519_verify), Ok(vec![&new]));
    assert_eq!(one.signers(&known, ed25519_verify), Ok(vec![&old]));
    // A wrong second signature invalidates the note although the first is right.
    let wrong = one.clone().countersign(&new, ed25519_sign(&seeds[0])).unwrap();
    assert!(matches!(wrong.signers(&known, ed25519_verify), Err(NoteError::BadSignature { .. })));
    let mut full = one;
    for _ in 1..NOTE_SIGNATURES_MAX {
        full = full.countersign(&new, ed25519_sign(&seeds[1])).unwrap();
    }
    assert_eq!(full.clone().countersign(&new, ed25519_sign(&seeds[1])), Err(NoteError::TooManySignatures));
    Note::parse(full.to_string().as_bytes()).unwrap();
}

#[test]
fn signer_debug_output_hides_the_seed() {
    let signer = SignerKey::parse(GO_SIGNER).unwrap();
    assert_eq!(format!("{signer:?}"), "SignerKey { name: \"PeterNeumann\", .. }");
    let other = signer.verifier_key([0; 32]);
    assert!(matches!(other, Err(NoteError::KeyIdMismatch { .. })));
}

#[test]
fn signatures_of_unknown_keys_are_skipped_and_wrong_ones_rejected() {
    let go_key = VerifierKey::parse(GO_KEY).unwrap();
    let bad = NoteError::BadSignature { name: key().name.clone(), id: key().id };
    let (id, wrong) = (*key().id().as_bytes(), [7; 64]);
    for (added, known, expected) in [
        (String::new(), vec![go_key.clone()], Err(NoteError::NoKnownKey)),
        (String::new(), vec![], Err(NoteError::NoKnownKey)),
        (String::new(), vec![go_key.clone(), key()], Ok(())),
        (GO_SIGNATURE.to_owned(), vec![key()], Ok(())),
        (signature_line("example.com/foo", [1; 4], &wrong), vec![key()], Ok(())),
        (signature_line("example.com/bar", id, &wrong), vec![key()], Ok(())),
        (signature_line("witness", [1; 4], &[7; 5_000]), vec![key()], Ok(())),
        (signature_line("example.com/foo", id, &wrong), vec![key()], Err(bad.clone())),
        (signature_line("example.com/foo", id, &wrong[1..]), vec![key()], Err(bad.clone())),
        (signature_line("example.com/foo", id, &[7; 65]), vec![key()], Err(bad.clone())),
    ] {
        assert_eq!(verify(&format!("{NOTE}{added}"), &known), expected, "{added}");
    }
    let changed = NOTE.replace("example message", "exemple message");
    assert_eq!(verify(&changed, &[key()]), Err(bad));
}

#[test]
fn last_empty_line_ends_the_note_text() {
    let text = "a\n\n— not signature\n\n";
    let note = Note::sign(text.to_owned(), &key(), |_| [7; 64]).unwrap();
    let read = Note::parse(note.to_string().as_bytes()).unwrap();
    assert_eq!(read.text(), text);
    assert_eq!(read, note);
}

#[test]
fn malformed_note_is_rejected() {
    let (text, line) = NOTE.split_once("\n\n").unwrap();
    let line_with = |old: &str, new: &str| format!("{text}\n\n{}", line.replace(old, new));
    for (note, expected) in [
        (String::new(), NoteError::NoSignatures),
        ("\n".to_owned(), NoteError::NoSignatures),
        ("\n\n".to_owned(), NoteError::NoSignatures),
        (text.to_owned(), NoteError::NoSignatures),
        (format!("{text}\n{line}"), NoteError::NoSignatures),
        (format!("{text}\n\n"), NoteError::NoSignatures),
        (NOTE.trim_end().to_owned(), NoteError::NoSignatures),
        (format!("{NOTE}\n"), NoteError::NoSignatures),
        (NOTE.replace("an", "a\tn"), NoteError::ControlCharacter),
        (NOTE.replace('\n', "\r\n"), NoteError::ControlCharacter),
        (NOTE.replace("an", "a\0n"), NoteError::ControlCharacter),
        (format!("{text}\n\n— a AAAAAAA=AAAA\n"), NoteError::SignatureLine),
        (line_with("—", "-"), NoteError::SignatureLine),
        (line_with("— ", "—"), NoteError::SignatureLine),
        (line_with("— ", "—  "), NoteError::KeyName),
        (line_with("foo ", "foo+bar "), NoteError::KeyName),
        (line_with("foo ", "foo\u{a0}bar "), NoteError::KeyName),
        (line_with("foo ", "foo  "), NoteError::SignatureLine),
        (line_with("foo ", "foo"), NoteError::SignatureLine),
        (line_with("=\n", "\n"), NoteError::SignatureLine),
        (line_with("=\n", "= \n"), NoteError::SignatureLine),
        (line_with("\n", "\ntext\n"), NoteError::SignatureLine),
        (format!("a\n\n{}", signature_line("a", [1; 4], &[])), NoteError::SignatureLine),
        (format!("a\n\n— a {}\n", BASE64.encode(&[1; 3])), NoteError::SignatureLine),
    ] {
        assert_eq!(Note::parse(note.as_bytes()), Err(expected), "{note:?}");
    }
    assert_eq!(Note::parse(b"\xff\n\n"), Err(NoteError::NotUtf8));
}

#[test]
fn unreadable_text_is_not_signed() {
    let sign = |text: &str| Note::sign(text.to_owned(), &key(), |_| [7; 64]).map(|_| ());
    assert_eq!(sign("a"), Err(NoteError::UnfinishedText));
    assert_eq!(sign(""), Err(NoteError::UnfinishedText));
    assert_eq!(sign("a\tb\n"), Err(NoteError::ControlCharacter));
    assert_eq!(sign("\n"), Ok(()));
}

#[test]
fn note_signatures_and_bytes_are_limited() {
    let lines = |count| signature_line("a", [1; 4], &[1]).repeat(count);
    let read = |count| Note::parse(format!("a\n\n{}", lines(count)).as_bytes());
    assert_eq!(read(NOTE_SIGNATURES_MAX).unwrap().signatures().len(), NOTE_SIGNATURES_MAX);
    assert_eq!(read(NOTE_SIGNATURES_MAX + 1), Err(NoteError::TooManySignatures));
    let long = "a".repeat(NOTE_BYTES_MAX + 1);
    assert_eq!(Note::parse(long.as_bytes()), Err(NoteError::TooLong));
}

#[test]
fn truncated_keys_are_rejected() {
    for end in 0..=KEY.len() {
        for start in (0..end).filter(|start| (*start, end) != (0, KEY.len())) {
            assert!(VerifierKey::parse(&KEY[start..end]).is_err());
        }
    }
    for end in 0..GO_SIGNER.len() {
        assert!(SignerKey::parse(&GO_SIGNER[..end]).is_err());
    }
}

#[test]
fn malformed_note_key_is_rejected() {
    let form = NoteError::KeyText("<name>+<id>+<base64>");
    for (old, new, expected) in [
        ("530d903a", "530D903A", form.clone()),
        ("530d903a", "530d903", form.clone()),
        ("AekyeR", "AekyeR\n", form.clone()),
        ("AekyeR", "AekyeR=", form),
        ("AekyeRrm", "", NoteError::SignatureType(0xe7)),
        ("Aeky", "BOky", NoteError::SignatureType(4)),
        ("rnKv", "", NoteError::KeyText("base64 of a type and 32 bytes")),
        ("example.com/foo", "", NoteError::KeyName),
        ("example.com", "example com", NoteError::KeyName),
    ] {
        assert_eq!(VerifierKey::parse(&KEY.replace(old, new)), Err(expected), "{new}");
    }
    for changed in [KEY.replace("530d", "530e"), KEY.replace("foo", "bar")] {
        let found = VerifierKey::parse(&changed);
        assert!(matches!(found, Err(NoteError::KeyIdMismatch { .. })), "{found:?}");
    }
    for name in ["", "a b", "a+b", "a\nb", "a\u{2003}b", "a\u{1}b"] {
        assert_eq!(VerifierKey::new(name, [0; 32]), Err(NoteError::KeyName));
    }
}

proptest! {
    #[test]
    fn parsed_note_is_written_identically(
        bytes in any::<Vec<u8>>(),
        near in "[a\n]{0,4}\n\n(— [a+ ]{1,3} [AQ=]{4,8}\n){0,3}",
    ) {
        for bytes in [bytes, near.into_bytes()] {
            if let Ok(note) = Note::parse(&bytes) {
                prop_assert_eq!(note.to_string().into_bytes(), bytes);
            }
        }
    }

    #[test]
    fn parsing_arbitrary_key_text_does_not_panic(
        text in any::<String>(),
        near in "[a+]{0,3}\\+[0-9a-f]{8}\\+[A-Za-z]{0,48}",
    ) {
        prop_assert!(VerifierKey::parse(&text).is_err());
        prop_assert!(VerifierKey::parse(&near).is_err());
        let _ = SignerKey::parse(&format!("PRIVATE+KEY+{near}"));
    }

    #[test]
    fn changed_byte_invalidates_the_note(at in 0..NOTE.len(), flip in 1..=255_u8) {
        let mut bytes = NOTE.as_bytes().to_vec();
        bytes[at] ^= flip;
        let found = Note::parse(&bytes).and_then(|note| note.verify(&[key()], ed25519_verify));
        prop_assert!(found.is_err());
    }
}
