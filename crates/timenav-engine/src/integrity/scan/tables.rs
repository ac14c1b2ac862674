use std::collections::BTreeMap;

use timenav_core::scan::{FindingKind, Findings};

pub(super) fn compare_rows<K: Ord + std::fmt::Display, V: PartialEq + std::fmt::Debug>(
    findings: &mut Findings,
    table: &str,
    expected: &BTreeMap<K, V>,
    stored: &BTreeMap<K, V>,
) -> u64 {
    for (key, row) in expected {
        match stored.get(key) {
            Some(found) if found == row => {}
            Some(found) => {
                let evidence = format!("table {table}, {key}: {found:?}, but the entries lead to {row:?}");
                findings.add(FindingKind::StateMismatch, None, evidence);
            }
            None => findings.add(FindingKind::StateMismatch, None, format!("table {table}, {key}: the row is missing")),
        }
    }
    for key in stored.keys().filter(|key| !expected.contains_key(key)) {
        findings.add(FindingKind::StateMismatch, None, format!("table {table}, {key}: no entry created this row"));
    }
    stored.len() as u64
}
