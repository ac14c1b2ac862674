use data_encoding::BASE64;

use super::*;
use crate::ledger::merkle::leaf_hash;
use crate::ledger::tests::{ed25519_public, ed25519_sign, ed25519_verify};
use crate::ledger::{Checkpoint, VerifierKey};

// Key and cosignature made with Python's `cryptography` from that seed.
const SEED: [u8; 32] = [7; 32];
const KEY: &str = "witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
const TIME: u64 = 1_679_315_147;
const LINE: &str = "— witness.example/w1 \
    qkoJ0QAAAABkGFDLidJzIo+es0hpJ/NUV6bfCYPinYL0jBmN2/YnRe9P9QEW/FSK7aInBu9K12GjjfSKqr2SHH+a1PE8K+mfJuwVAQ==";

const LOG_SEED: [u8; 32] = [9; 32];

fn key() -> WitnessKey {
    WitnessKey::parse(KEY).unwrap()
}

fn note() -> Note {
    let log = VerifierKey::new("log.example/system", ed25519_public(&LOG_SEED)).unwrap();
    let (origin, root) = (log.name().to_owned(), leaf_hash(b"root"));
    let checkpoint = Checkpoint { origin, size: 20, root, extensions: Vec::new() };
    checkpoint.sign(&log, ed25519_sign(&LOG_SEED)).unwrap()
}

fn cosigned(time: u64) -> NoteSignature {
    key().cosign(note().text(), time, ed25519_sign(&SEED)).unwrap()
}

#[test]
fn witness_keys_are_read_and_written() {
    assert_eq!(key().to_string(), KEY);
    assert_eq!(WitnessKey::new("witness.example/w1", ed25519_public(&SEED)).unwrap(), key());
    let log = VerifierKey::new("log.example", ed25519_public(&SEED)).unwrap().to_string();
    assert_eq!(WitnessKey::parse(&log), Err(NoteError::SignatureType(1)), "a key of a log is no key of a witness");
    let ml_dsa = format!("w+00000000+{}", BASE64.encode(&[vec![COSIGNATURE_ML_DSA_44], vec![0; 1_312]].concat()));
    assert_eq!(WitnessKey::parse(&ml_dsa), Err(NoteError::SignatureType(COSIGNATURE_ML_DSA_44)));
    for wrong in [KEY.replace("aa4a", "aa4b"), KEY.replace("/w1", "/w2"), KEY.replace('+', "-"), String::new()] {
        assert!(WitnessKey::parse(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn cosignature_matches_another_implementation() {
    assert_eq!(cosigned(TIME).to_string(), LINE);
    let note = note().with_signature(cosigned(TIME)).unwrap();
    let (time, line) = key().cosigned_at(&note, ed25519_verify).unwrap();
    assert_eq!((time, line.to_string().as_str()), (TIME, LINE));
    // A verifier that knows only the log's key ignores the cosignature.
    let log = VerifierKey::new("log.example/system", ed25519_public(&LOG_SEED)).unwrap();
    assert_eq!(note.verify(&[log], ed25519_verify), Ok(()));
}

#[test]
fn cosignature_lines_of_the_standard_are_parsed() {
    // Examples of C2SP tlog-witness and tlog-cosignature, whose keys are not published.
    let answer = "— witness.example/w1 CMp+6LWBU0anHGH5aNDTJkH/gj79sG+T6+iP2ThYN5krrDJbR1HDnucjL39QsZTSvVjyQLrdk3DXDqI5G2HgLatVs0pWh6Up69HVOw==\n\
        — witness.example/w1 I7rEps0pvK2UqkS2gSpVUDhrhVtQV9lgF6pRrWAvjJHjyWpW7VcE3SiOlVlbQNt64vWhO+DlkL0+UfzuOBMh9ChdMkP1vi/lCAsmlw==\n";
    let lines = cosignatures_in(answer.as_bytes()).unwrap();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line.name() == "witness.example/w1" && line.signature().len() == 72));
    assert_eq!(lines.iter().map(ToString::to_string).collect::<String>(), answer.replace('\n', ""));
    let note = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
        — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
        — witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";
    let note = Note::parse(note.as_bytes()).unwrap();
    assert_eq!(note.signatures()[1].signature()[..8], TIME.to_be_bytes());
}

#[test]
fn ml_dsa_44_cosignatures_are_skipped() {
    let line = NoteSignature::new("witness.example/w1".into(), NoteKeyId::from_bytes([6; 4]), vec![6; 8 + 2_420]);
    let answer = format!("{line}\n{}\n", cosigned(TIME));
    let lines = cosignatures_in(answer.as_bytes()).unwrap();
    let note = lines.into_iter().fold(note(), |note, line| note.with_signature(line).unwrap());
    assert_eq!(key().cosigned_at(&note, ed25519_verify).map(|(time, _)| time), Ok(TIME));
    let alone = self::note().with_signature(line).unwrap();
    assert!(matches!(key().cosigned_at(&alone, ed25519_verify), Err(CosignatureError::Missing(_))));
}

#[test]
fn cosignature_over_other_bytes_is_rejected() {
    let wrong = Err(CosignatureError::Wrong("witness.example/w1".to_owned()));
    let check = |line: &NoteSignature| key().check(note().text(), line, ed25519_verify);
    let good = cosigned(TIME);
    assert_eq!(check(&good), Ok(TIME));
    for at in 0..good.signature().len() {
        let mut bytes = good.signature().to_vec();
        bytes[at] ^= 1;
        assert!(check(&NoteSignature::new(key().name().into(), key().id(), bytes)).is_err(), "byte {at}");
    }
    for length in [0, 7, 8, 71, 73] {
        let mut bytes = good.signature().to_vec();
        bytes.resize(length, 0);
        assert!(check(&NoteSignature::new(key().name().into(), key().id(), bytes)).is_err(), "{length} bytes");
    }
    // Other signatures by the same key: over another text, or without the domain-separation line.
    let other = key().cosign("log.example/system\n21\n", TIME, ed25519_sign(&SEED)).unwrap();
    assert_eq!(check(&other), wrong);
    let plain = [TIME.to_be_bytes().as_slice(), &ed25519_sign(&SEED)(note().text().as_bytes())].concat();
    assert_eq!(check(&NoteSignature::new(key().name().into(), key().id(), plain)), wrong);
    let named_otherwise = NoteSignature::new("other".into(), key().id(), good.signature().to_vec());
    assert_eq!(check(&named_otherwise), wrong);
}

#[test]
fn cosignature_times_are_within_the_format_limits() {
    for (time, is_one) in [(0, false), (1, true), (TIME_MAX, true), (TIME_MAX + 1, false), (u64::MAX, false)] {
        assert_eq!(key().cosign(note().text(), time, ed25519_sign(&SEED)).is_ok(), is_one, "{time}");
        let signature = ed25519_sign(&SEED)(message(note().text(), time).as_bytes());
        let signature = [time.to_be_bytes().as_slice(), &signature].concat();
        let line = NoteSignature::new(key().name().into(), key().id(), signature);
        assert_eq!(key().check(note().text(), &line, ed25519_verify).is_ok(), is_one, "{time}");
    }
}

#[test]
fn latest_cosignature_counts_and_all_must_be_valid() {
    let of_lines = |lines: &[&NoteSignature]| {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        Note::parse(format!("{}{}\n", note(), lines.join("\n")).as_bytes()).unwrap()
    };
    let (one, other) = (cosigned(TIME), cosigned(TIME + 1));
    let both = of_lines(&[&other, &one]);
    assert_eq!(key().cosigned_at(&both, ed25519_verify).map(|(time, _)| time), Ok(TIME + 1));
    let wrong = NoteSignature::new(key().name().into(), key().id(), vec![1; 72]);
    let wrong = of_lines(&[&other, &wrong]);
    assert!(matches!(key().cosigned_at(&wrong, ed25519_verify), Err(CosignatureError::Wrong(_))));
    let replaced = both.with_signature(other.clone()).unwrap();
    assert_eq!(replaced, of_lines(&[&other]));
}

#[test]
fn responses_contain_only_signature_lines() {
    let line = cosigned(TIME);
    for wrong in [
        String::new(),
        "\n".to_owned(),
        line.to_string(),
        format!("{line}\n\n{line}\n"),
        format!("log.example/system\n\n{line}\n"),
        format!("{line}\nmore\n"),
        format!("{line}\n").repeat(65),
    ] {
        assert!(matches!(cosignatures_in(wrong.as_bytes()), Err(CosignatureError::Lines(_))), "{wrong}");
    }
    assert_eq!(cosignatures_in(format!("{line}\n").as_bytes()), Ok(vec![line]));
}
