use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use timenav_core::ledger::VerifierKey;
use timenav_core::scan::Depth;
use timenav_engine::{ExternalCheckpoint, Head, Outside as _, Scan, newest_checkpoints};
use timenav_store::{CheckpointFile, SqliteArchive};

use crate::commands::service::verify::files::{Archive, Files, Outside};
use crate::exit::Failure;
use crate::key_files::ServiceKey;
use crate::output;

/// Standard sentences of scan results that say nothing about this copy.
const OF_EVERY_SCAN: [&str; 2] = ["Outcomes stored", "No scan can tell"];

pub(in crate::commands) struct CheckedCopy {
    heads: Vec<Head>,
    checked: Vec<(&'static str, u64)>,
    not_checked: Vec<String>,
}

impl CheckedCopy {
    /// Checks a closed database: its pages are intact, each head matches its signature, each external checkpoint
    /// matches its ledger, and the entries are valid as far as `depth` says. Details of an error go to stderr.
    pub(in crate::commands) async fn check(
        database: &Path,
        outside: &Outside,
        key: &VerifierKey,
        depth: Depth,
    ) -> Result<Self, Failure> {
        let archive = SqliteArchive::open(database).context("the copy of the database")?;
        let faults = archive.faults().context("the copy of the database")?;
        let public_keys = [*key.public_key()];
        let files = Files {
            archive: Archive::Sqlite(&archive),
            outside,
            service_name: key.name(),
            public_keys: &public_keys,
            depth,
        };
        let scans = files.scan(None, |_| None).await.context("the copy of the database")?;
        for fault in &faults {
            output::note(&format!("the structure of the database: {fault}"));
        }
        match note_findings(&scans) + faults.len() as u64 {
            0 => {}
            count => return Err(Failure::Tampered(count)),
        }
        let heads = archive.heads().context("the copy of the database")?;
        let timelines = ("timelines", scans.len() as u64);
        let checked = std::iter::once(timelines).chain(checked(&scans)).collect();
        Ok(Self { heads, checked, not_checked: not_checked(&scans) })
    }

    /// Writes the newest checkpoints into a new external checkpoint file: those kept outside the original database, or
    /// else new ones signed by its key for the heads in the copy.
    pub(in crate::commands) fn keep(&self, file: &Path, outside: &Outside, key: &ServiceKey) -> anyhow::Result<()> {
        let stored = |head: &Head| outside.get(&head.id).map(|note| Arc::from(&**note));
        keep(&newest_checkpoints(&self.heads, stored, &*key.signer, &key.service_name)?, file)
    }

    /// Returns the number of timelines and of entries.
    pub(in crate::commands) fn counts(&self) -> (u64, u64) {
        (self.heads.len() as u64, self.heads.iter().map(|head| head.frontier.size()).sum())
    }

    pub(in crate::commands) fn is_copy_of(&self, heads: &[Head]) -> bool {
        let tree = |head: &Head| (head.id.clone(), head.frontier.size(), head.frontier.root());
        self.heads.iter().map(tree).eq(heads.iter().map(tree))
    }

    pub(in crate::commands) fn checked_text(&self) -> String {
        format!("the structure of the database, {}", counts_text(&self.checked))
    }

    pub(in crate::commands) fn not_checked_text(&self) -> String {
        self.not_checked.join(" ")
    }

    pub(in crate::commands) fn json(&self) -> Value {
        let count = |(what, count): &(&str, u64)| json!({ "what": what, "count": count });
        json!({
            "checked": self.checked.iter().map(count).collect::<Vec<_>>(),
            "not_checked": self.not_checked,
        })
    }
}

pub(in crate::commands) fn keep(checkpoints: &[ExternalCheckpoint], file: &Path) -> anyhow::Result<()> {
    let named = || format!("{} cannot be written", file.display());
    let outside = CheckpointFile::open(file).with_context(named)?;
    outside.replace(checkpoints).map_err(|error| anyhow!("{}: {error}", named()))
}

/// Prints the details of scans with findings, and returns the number of findings.
pub(in crate::commands) fn note_findings(scans: &[Scan]) -> u64 {
    for scan in scans.iter().filter(|scan| !scan.findings.is_empty()) {
        output::note(&scan.details);
    }
    scans.iter().map(|scan| scan.findings.len() as u64 + scan.findings_omitted).sum()
}

/// Returns how much of each kind was checked, in all scans together.
pub(in crate::commands) fn checked(scans: &[Scan]) -> Vec<(&'static str, u64)> {
    let mut sums: Vec<(&str, u64)> = Vec::new();
    for checked in scans.iter().flat_map(|scan| &scan.checked).filter(|checked| checked.count > 0) {
        match sums.iter_mut().find(|(what, _)| *what == checked.what) {
            Some((_, sum)) => *sum += checked.count,
            None => sums.push((checked.what, checked.count)),
        }
    }
    sums
}

pub(in crate::commands) fn counts_text(counts: &[(&str, u64)]) -> String {
    let counts: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
    counts.join(", ")
}

fn not_checked(scans: &[Scan]) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for sentence in scans.iter().flat_map(|scan| &scan.not_checked) {
        let is_news = !OF_EVERY_SCAN.iter().any(|start| sentence.starts_with(start));
        if is_news && !sentences.contains(sentence) {
            sentences.push(sentence.clone());
        }
    }
    sentences
}
