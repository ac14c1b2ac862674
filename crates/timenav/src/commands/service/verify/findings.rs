//! Adds local findings to the scan result of a service.

use timenav_core::ledger::Checkpoint;
use timenav_core::scan::{Finding, FindingKind, Unsigned};
use timenav_engine::{Checked, Scan};

/// Counts a verified checkpoint. A fault becomes a finding.
pub(super) fn check_signed(scan: &mut Scan, opened: Result<Checkpoint, Unsigned>, which: &str) -> Option<Checkpoint> {
    match opened {
        Ok(checkpoint) => {
            match scan.checked.iter_mut().find(|checked| checked.what == "signatures") {
                Some(checked) => checked.count += 1,
                None => scan.checked.push(Checked { what: "signatures", count: 1 }),
            }
            Some(checkpoint)
        }
        Err(unsigned) => {
            add(scan, unsigned.kind, unsigned.size, format!("the checkpoint {which}: {}", unsigned.evidence));
            None
        }
    }
}

/// Adds a finding. The first one is part of the summary sentence.
pub(super) fn add(scan: &mut Scan, kind: FindingKind, position: Option<u64>, evidence: String) {
    if scan.findings.is_empty() {
        scan.details = format!("`{}` does not match what was signed: {kind}: {evidence}.", scan.timeline_id);
    }
    scan.findings.push(Finding { kind, position, last_good_checkpoint: None, evidence });
}
