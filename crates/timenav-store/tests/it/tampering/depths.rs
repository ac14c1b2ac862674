//! What each depth reads, and what it reports as not checked.

use super::{MAIN, Outside, check_found, connect, finding_kinds, found, lived_in, look, rewrite};
use crate::tampering::*;

fn depth(text: &str) -> Depth {
    text.parse().unwrap()
}

#[tokio::test]
async fn scan_reports_count_the_checked_items_per_depth() {
    let house = lived_in().await;
    let full = look(&house, "main", Depth::Full, Outside::Stored).await;
    assert_eq!(full.checked_count("entries"), full.size);
    assert_eq!(full.checked_count("payloads") + 1, full.size, "one is erased");
    assert!(full.checked_count("tiles") > 2 && full.checked_count("events") == 699);
    assert!(full.details.contains(&format!("{} entries", full.size)), "{}", full.details);
    let quick = look(&house, "main", Depth::Quick, Outside::Stored).await;
    assert_eq!((quick.checked_count("entries"), quick.checked_count("checkpoints")), (0, 2));
    let tail = look(&house, "main", depth("tail:10"), Outside::Stored).await;
    assert_eq!(tail.checked_count("entries"), 10);
    let longer = look(&house, "main", depth("tail:1000000"), Outside::Stored).await;
    assert_eq!(longer.checked_count("entries"), longer.size);
    let sample = look(&house, "main", depth("sample:100"), Outside::Stored).await;
    assert!((50..=100).contains(&sample.checked_count("entries")));
    assert!(sample.not_checked.iter().any(|sentence| sentence.contains("probability")), "{:?}", sample.not_checked);
    assert!(
        sample.not_checked.iter().any(|sentence| sentence.contains("only a full scan")),
        "{:?}",
        sample.not_checked
    );
    for scan in [full, quick, tail, longer, sample] {
        assert_eq!(finding_kinds(&scan), []);
        assert!(!scan.not_checked.is_empty() && scan.checkpoint.is_some());
    }
}

#[tokio::test]
async fn tail_scan_finds_only_tampering_within_the_tail() {
    let house = lived_in().await;
    rewrite(&connect(&house), MAIN, 300, |record, _| record.actor = "mallory".into());
    let size = found(&house, "main", FindingKind::LeafMismatch, Some(300)).await.size;
    let inside = look(&house, "main", depth(&format!("tail:{}", size - 290)), Outside::Stored).await;
    check_found(&inside, FindingKind::RootMismatch, None);
    let outside = look(&house, "main", depth("tail:100"), Outside::Stored).await;
    assert_eq!(finding_kinds(&outside), [], "the tiles are as they were signed");
    assert!(outside.not_checked.iter().any(|sentence| sentence.contains("only the tree over them was read")));
}

#[tokio::test]
async fn sample_scan_finds_altered_entries() {
    let house = lived_in().await;
    let connection = connect(&house);
    for position in 100..200 {
        rewrite(&connection, MAIN, position, |record, _| record.actor = "mallory".into());
    }
    drop(connection);
    let scan = look(&house, "main", depth("sample:300"), Outside::Stored).await;
    check_found(&scan, FindingKind::LeafMismatch, None);
    assert!(scan.findings.iter().all(|finding| (100..200).contains(&finding.position.unwrap())));
}
