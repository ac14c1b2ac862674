//! Attacks on the rotation of signing keys.

use crate::tampering::*;

const SEEDS: [[u8; 32]; 4] = [[7; 32], [8; 32], [9; 32], [66; 32]];

/// Returns a house after this many key rotations.
async fn rotated(times: usize) -> House {
    let mut house = lived_in().await;
    for seed in &SEEDS[1..=times] {
        house.next_signer = Some(Arc::new(SeedSigner::new(*seed)));
        let home = house.open().await;
        home.engine.rotate_signing_key().await.unwrap();
        home.engine.close().await;
        house.signer = house.next_signer.take().unwrap();
    }
    house
}

fn key(seed: [u8; 32]) -> String {
    VerifierKey::new("timenav.test/main", SeedSigner::new(seed).public_key()).unwrap().to_string()
}

/// Rewrites the payload of the entry `before` positions before the last one, and signs everything after it with the key
/// of that seed.
async fn rewrite_last(house: &House, before: u64, seed: [u8; 32], change: impl Fn(&str) -> String) -> u64 {
    let size = look(house, "main", Depth::Quick, Outside::Stored).await.size;
    let position = size - 1 - before;
    let connection = connect(house);
    rewrite(&connection, MAIN, position, |record, payload| {
        assert_eq!(record.action, "rotate_signing_key");
        let text = std::str::from_utf8(payload).unwrap();
        let changed = change(text);
        assert_ne!(changed, text);
        *payload = changed.into_bytes();
        record.subject = change(&record.subject).into();
    });
    let frontier = rebuild(&connection, MAIN);
    let signer = SeedSigner::new(seed);
    sign(house, MAIN, &frontier, &signer);
    restate(house, &signer).await;
    position
}

#[tokio::test]
async fn rotation_entry_naming_a_key_without_signatures_is_reported() {
    let house = rotated(1).await;
    let name_another =
        |text: &str| text.replace(&key(SEEDS[1]), &key(SEEDS[3])).replace(&key(SEEDS[0]), &key(SEEDS[2]));
    let position = rewrite_last(&house, 0, SEEDS[1], name_another).await;
    for depth in ["full", "tail:1"] {
        let scan = look(&house, "main", depth.parse().unwrap(), Outside::Nothing).await;
        assert_eq!(finding_kinds(&scan), [(FindingKind::UnknownKey, Some(position))], "{:?}", scan.findings);
    }
    // The external checkpoint reveals it in any case.
    let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
    check_found(&scan, FindingKind::ExternalCheckpointInconsistent, None);
}

#[tokio::test]
async fn key_without_a_rotation_entry_is_reported() {
    let house = rotated(2).await;
    // According to the entries, the first key was replaced by the second, and the third by a fourth.
    let position = rewrite_last(&house, 0, SEEDS[2], |text| text.replace(&key(SEEDS[1]), &key(SEEDS[3]))).await;
    let scan = look(&house, "main", Depth::Full, Outside::Nothing).await;
    assert_eq!(finding_kinds(&scan), [(FindingKind::UnknownKey, Some(position))], "{:?}", scan.findings);
}

#[tokio::test]
async fn unreadable_rotation_entry_is_reported_as_unchecked() {
    let house = rotated(1).await;
    rewrite_last(&house, 0, SEEDS[1], |text| text.replace("timenav.test/main+", "timenav.test/main-")).await;
    let scan = look(&house, "main", Depth::Full, Outside::Nothing).await;
    assert!(scan.not_checked.iter().any(|reason| reason.contains("cannot be read")), "{:?}", scan.not_checked);
}

#[tokio::test]
async fn rotation_without_the_signing_key_is_reported_and_rejected() {
    let mut house = rotated(1).await;
    let (_, _, payload) =
        row(&connect(&house), MAIN, look(&house, "main", Depth::Quick, Outside::Stored).await.size - 1);
    assert!(String::from_utf8(payload).unwrap().contains(&key(SEEDS[1])));
    rewrite_last(&house, 0, SEEDS[3], |text| text.replace(&key(SEEDS[1]), &key(SEEDS[3]))).await;
    let scan = look(&house, "main", Depth::Quick, Outside::Nothing).await;
    check_found(&scan, FindingKind::UnknownKey, None);
    for seed in [SEEDS[1], SEEDS[3]] {
        house.signer = Arc::new(SeedSigner::new(seed));
        let refused = house.open_error().await;
        assert!(matches!(refused, OpenError::Head { .. } | OpenError::Checkpoint { .. }), "{refused:?}");
    }
}

#[tokio::test]
async fn rotation_entry_with_contradicting_payload_is_reported_as_unchecked() {
    let house = rotated(1).await;
    let position = look(&house, "main", Depth::Quick, Outside::Stored).await.size - 1;
    let change = |record: &mut LeafRecord<'static>, _: &mut Vec<u8>| record.subject = key(SEEDS[3]).into();
    let scan = forge(&house, MAIN, |connection| rewrite(connection, MAIN, position, change)).await;
    assert!(scan.not_checked.iter().any(|reason| reason.contains("cannot be read")), "{:?}", scan.not_checked);
}
