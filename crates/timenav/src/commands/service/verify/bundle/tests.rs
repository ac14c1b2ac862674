//! The published test vectors, and modified copies of them.

use data_encoding::HEXLOWER;
use proptest::prelude::*;
use serde_json::{Value, json};
use timenav_core::ledger::{Hash, sha256};

use super::*;

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test-data/bundle-format-v1.json");
    serde_json::from_slice(&std::fs::read(path).expect("the vectors are part of the repository")).unwrap()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap()
}

fn lines(vector: &Value) -> Vec<String> {
    list(vector, "lines").iter().map(|line| line.as_str().unwrap().to_owned() + "\n").collect()
}

fn key(value: &Value) -> VerifierKey {
    VerifierKey::parse(value.as_str().unwrap()).unwrap()
}

fn checked(file: &[u8], key: VerifierKey, vector: &Value) -> Result<CheckedBundle, String> {
    let proofs = list(vector, "rotation_proofs");
    let proofs = proofs.iter().map(|proof| TlogProof::parse(proof.as_str().unwrap().as_bytes()).unwrap()).collect();
    read(file, BundleCheck::new(key, proofs, &verify_signature)).unwrap()
}

/// Returns the lines as a file with a matching end, as an attacker would write it.
fn with_end(lines: &[String]) -> String {
    let of_kind = |kind: &str| lines.iter().filter(|line| line.starts_with(kind)).count();
    let (entries, data) = (of_kind("{\"entry\":"), of_kind("{\"data\":"));
    let text: String = lines.iter().filter(|line| !line.starts_with("{\"end\":")).map(String::as_str).collect();
    let end = json!({ "end": { "data": data, "entries": entries, "sha256": sha256(&[text.as_bytes()]).to_hex() } });
    format!("{text}{end}\n")
}

/// Everything that a bundle vouches for: all but the hash of the file.
fn meaning(bundle: CheckedBundle) -> String {
    bundle_text(&CheckedBundle { sha256: Hash::from_bytes([0; 32]), ..bundle.clone() })
        + &bundle_json(&CheckedBundle { sha256: Hash::from_bytes([0; 32]), ..bundle }).to_string()
}

/// Returns whether a change is detected or leaves the contents unchanged.
fn is_found(vector: &Value, changed: &str, key: &VerifierKey) -> bool {
    let before = checked(lines(vector).concat().as_bytes(), key.clone(), vector).unwrap();
    match checked(changed.as_bytes(), key.clone(), vector) {
        Err(_) => true,
        Ok(after) => {
            assert_eq!(meaning(after), meaning(before), "{changed}");
            false
        }
    }
}

#[test]
fn published_bundles_verify_with_expected_contents() {
    let vectors = vectors();
    for vector in list(&vectors, "bundles") {
        let file = lines(vector).concat();
        let followed = list(vector, "rotations_followed");
        for (given, followed) in list(vector, "verifier_keys").iter().zip(followed) {
            let bundle =
                checked(file.as_bytes(), key(given), vector).unwrap_or_else(|wrong| panic!("{wrong}: {vector}"));
            let CheckedBundle { payloads, data, missing_contents, rotations_followed, sha256, .. } = bundle;
            let found = json!([payloads, data, missing_contents, rotations_followed, sha256.to_hex()]);
            let expected = [&vector["payloads"], &vector["data"], &vector["gone"], followed, &vector["sha256"]];
            assert_eq!(found, json!(expected), "{}", vector["about"]);
        }
        assert_eq!(with_end(&lines(vector)), file, "{}", vector["about"]);
    }
    assert_eq!(list(&vectors, "bundles").len(), 8);
}

#[test]
fn invalid_published_bundles_are_rejected() {
    let vectors = vectors();
    for vector in list(&vectors, "refused") {
        let found = checked(lines(vector).concat().as_bytes(), key(&vector["verifier_key"]), vector);
        assert!(found.is_err(), "{}", vector["about"]);
    }
    assert!(list(&vectors, "refused").len() > 40);
}

#[test]
fn dropped_duplicated_or_moved_lines_are_detected() {
    for vector in list(&vectors(), "bundles") {
        let given = key(&vector["verifier_keys"][0]);
        let all = lines(vector);
        let mut found = 0;
        for at in 0..all.len() - 1 {
            let (mut dropped, mut doubled, mut moved) = (all.clone(), all.clone(), all.clone());
            dropped.remove(at);
            doubled.insert(at, all[at].clone());
            moved.swap(at, at + 1);
            let changes = if at + 2 == all.len() { vec![dropped, doubled] } else { vec![dropped, doubled, moved] };
            found += changes.iter().filter(|lines| is_found(vector, &with_end(lines), &given)).count();
            assert!(
                !all[at].starts_with("{\"entry\":")
                    || changes.iter().all(|one| is_found(vector, &with_end(one), &given))
            );
        }
        // The end itself, and data after it.
        assert!(is_found(vector, &all[..all.len() - 1].concat(), &given));
        assert!(is_found(vector, &(all.concat() + all.last().unwrap()), &given));
        assert!(found > 2 * (all.len() - 3), "{}: {found} of {}", vector["about"], all.len());
    }
}

#[test]
fn bundle_truncated_at_any_byte_is_rejected() {
    let vectors = vectors();
    let vector = &vectors["bundles"][2];
    let file = lines(vector).concat();
    let given = key(&vector["verifier_keys"][0]);
    for cut in 0..file.len() {
        let found = checked(&file.as_bytes()[..cut], given.clone(), vector);
        assert!(found.is_err(), "{cut}");
    }
}

#[test]
fn overlong_line_is_rejected() {
    let vectors = vectors();
    let vector = &vectors["bundles"][0];
    let given = key(&vector["verifier_keys"][0]);
    let found = checked(&vec![b'x'; BUNDLE_LINE_BYTES_MAX], given.clone(), vector).unwrap_err();
    assert!(found.contains("cut off"), "{found}");
    let found = checked(&vec![b'x'; 2 * BUNDLE_LINE_BYTES_MAX], given, vector).unwrap_err();
    assert!(found.contains("more than 16777216 bytes"), "{found}");
}

#[test]
fn error_message_length_is_limited() {
    let vectors = vectors();
    let vector = &vectors["bundles"][0];
    let given = key(&vector["verifier_keys"][0]);
    let first = lines(vector).remove(0);
    let long = "é".repeat(100_000);
    for part in ["\"format\"", "timenav.example", "timenav-bundle/v1", "\"bundle\""] {
        let hostile = first.replace(part, &part.replace(['m', 'u'], &long));
        let found = checked(hostile.as_bytes(), given.clone(), vector).unwrap_err();
        assert!(found.chars().count() < 700, "{found}");
    }
}

/// A test vector bundle, a position in it and a different byte.
fn change() -> impl Strategy<Value = (usize, prop::sample::Index, u8)> {
    (0..8_usize, any::<prop::sample::Index>(), 1..=u8::MAX)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_byte_is_detected((number, at, flip) in change()) {
        let vectors = vectors();
        let vector = &vectors["bundles"][number];
        let mut file = lines(vector).concat().into_bytes();
        let at = at.index(file.len());
        file[at] ^= flip;
        for given in list(vector, "verifier_keys") {
            prop_assert!(checked(&file, key(given), vector).is_err(), "byte {at} of {}", vector["about"]);
        }
    }

    /// Also if the end is rewritten to match.
    #[test]
    fn changed_byte_with_rewritten_end_is_detected_except_in_hints((number, at, flip) in change()) {
        let vectors = vectors();
        let vector = &vectors["bundles"][number];
        let given = key(&vector["verifier_keys"][0]);
        let mut file = lines(vector).concat().into_bytes();
        let at = at.index(file.len());
        file[at] ^= flip;
        let Ok(text) = String::from_utf8(file) else { return Ok(()) };
        let changed: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        if !is_found(vector, &with_end(&changed), &given) {
            // Only hints and the rewritten end may differ.
            let original = lines(vector);
            let differs = original.iter().zip(&changed).find(|(before, after)| before != after);
            let line = differs.map_or("{\"end\":", |(before, _)| before.as_str());
            prop_assert!(line.starts_with("{\"bundle\":") || line.starts_with("{\"end\":"), "byte {at}: {line}");
        }
    }
}

#[test]
fn vector_keys_match_their_seeds() {
    use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
    for pair in list(&vectors(), "keys") {
        let bytes = |name: &str| HEXLOWER.decode(pair[name].as_str().unwrap().as_bytes()).unwrap();
        let made = Ed25519KeyPair::from_seed_unchecked(&bytes("seed")).unwrap();
        assert_eq!(made.public_key().as_ref(), bytes("public_key"));
    }
}
