use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, Hash};
use timenav_core::scan::{Depth, Finding, Findings, open_signed};
use timenav_core::text::counted;

use super::request::ScanRequest;
use crate::ledger::head::Head;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub what: &'static str,
    pub count: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    pub timeline_id: TimelineId,
    pub depth: Depth,
    pub details: String,
    /// The differences, by position.
    pub findings: Vec<Finding>,
    /// Differences that are only counted, because there are too many of one kind.
    pub findings_omitted: u64,
    pub checked: Vec<Checked>,
    pub not_checked: Vec<String>,
    /// The checkpoint of the scanned tree, if it is stored.
    pub checkpoint: Option<String>,
    /// The scanned tree, if it is the one signed with the newest entries.
    pub signed: Option<Checkpoint>,
    pub size: u64,
    pub root: Option<Hash>,
}

impl Scan {
    #[must_use]
    pub fn tampering_detected(&self) -> bool {
        !self.findings.is_empty()
    }

    #[must_use]
    pub fn checked_count(&self, what: &str) -> u64 {
        self.checked.iter().filter(|checked| checked.what == what).map(|checked| checked.count).sum()
    }
}

pub(super) fn without_snapshot(request: &ScanRequest<'_>, findings: Findings) -> Scan {
    let not_checked = "Nothing else was checked, because there is nothing to compare it with.".to_owned();
    of(request, Outcome::new(findings, &[]), 0, (Vec::new(), vec![not_checked]))
}

/// Returns a report without a tree.
pub(super) fn of(
    request: &ScanRequest<'_>,
    outcome: Outcome,
    size: u64,
    (checked, not_checked): (Vec<Checked>, Vec<String>),
) -> Scan {
    Scan {
        timeline_id: request.timeline.clone(),
        depth: request.depth,
        details: details(request, &outcome, size),
        findings: outcome.findings,
        findings_omitted: outcome.omitted,
        checked,
        not_checked,
        checkpoint: None,
        signed: None,
        size,
        root: None,
    }
}

/// Returns the checkpoint of a tree, if it is among those given to the scan, or still stored in the database.
pub(super) fn reference_note(request: &ScanRequest<'_>, head: &Head, tree: &Checkpoint) -> Option<String> {
    let stored = request.references.iter().map(|stored| &*stored.note);
    let is_of_tree = |note: &&str| {
        let opened = open_signed(note, &request.keys, request.verify);
        opened.is_ok_and(|opened| (opened.size, opened.root) == (tree.size, tree.root))
    };
    stored.chain(std::iter::once(&*head.carried_note)).find(is_of_tree).map(str::to_owned)
}

fn details(request: &ScanRequest<'_>, outcome: &Outcome, size: u64) -> String {
    let ScanRequest { timeline, depth, .. } = request;
    let count = outcome.findings.len() as u64 + outcome.omitted;
    let Some(first) = outcome.findings.first() else {
        return format!(
            "No tampering found: the {size} entries of `{timeline}` match what was signed (depth `{depth}`)."
        );
    };
    let findings = counted(count, "finding");
    let at = first.position.map_or_else(String::new, |position| format!(" at {position}"));
    let which = if count == 1 { "it is" } else { "the first is" };
    let good = first.last_good_checkpoint.map_or_else(
        || "no earlier checkpoint is known to be good".to_owned(),
        |size| format!("the entries before {size} match what was signed"),
    );
    format!(
        "`{timeline}` does not match what was signed: {findings}; {which} {}{at}: {}; {good}. A scan cannot \
         distinguish tampering from accidental damage. StoreResponse the files as evidence.",
        first.kind, first.evidence
    )
}

pub(super) fn not_checked(request: &ScanRequest<'_>, size: u64, sampled: u64) -> Vec<String> {
    let mut sentences = Vec::new();
    let tables = "The tables derived from the entries (clock, permissions, anchors, events, users, keys) were not \
                  replayed and compared.";
    let authority = "Whether the users named in the entries were allowed to do what they did was not checked.";
    match request.depth {
        Depth::Full => {}
        Depth::Quick => {
            sentences.push("No entries or payloads were read, except those needed to build the tree.".to_owned());
            sentences.extend([tables, authority].map(str::to_owned));
        }
        Depth::Tail(count) => {
            let before = size.saturating_sub(count.get());
            sentences.push(format!("Of the {before} earlier entries, only the tree over them was read."));
            sentences.push("Only the table rows that the last entries concern were compared.".to_owned());
            sentences.push(authority.to_owned());
        }
        Depth::Sample(_) => {
            sentences.push(sample_sentence(size, sampled));
            sentences.push(
                "Missing payloads of events were not matched with erasures: only a full scan reads all erasures."
                    .to_owned(),
            );
            sentences.extend([tables, authority].map(str::to_owned));
        }
    }
    if request.references.iter().all(|stored| stored.from == "in the service's memory") {
        sentences.push(
            "There was no checkpoint from outside the database to compare with, so a rollback to an older copy, or a \
             history that was signed again, would not be noticed."
                .to_owned(),
        );
    }
    sentences.push(
        match request.depth {
            Depth::Full if request.timeline.is_system() => {
                "Outcomes stored for repeated requests are not derived from the ledger: they were compared only with \
                 the entries that they name, and with the erasures that list them."
            }
            Depth::Full | Depth::Tail(_) => {
                "Outcomes stored for repeated requests are not derived from the ledger: they were compared only with \
                 the erasures that list them."
            }
            Depth::Quick | Depth::Sample(_) => {
                "Outcomes stored for repeated requests are not derived from the ledger and were not compared."
            }
        }
        .to_owned(),
    );
    sentences.push(
        "No scan can tell whether what was recorded is true, or whether someone else was shown a different history: \
         keep the checkpoint and compare."
            .to_owned(),
    );
    sentences
}

#[expect(clippy::cast_precision_loss, reason = "odds are rounded to a tenth of a percent")]
fn sample_sentence(size: u64, sampled: u64) -> String {
    let share = if size == 0 { 0.0 } else { sampled as f64 / size as f64 };
    // Entries are sampled without replacement, so this is a lower bound.
    let of_hundredth = if sampled == size { 1.0 } else { 1.0 - 0.99_f64.powf(sampled as f64) };
    format!(
        "{sampled} of {size} entries were picked at random. If one entry had been altered, this sample would find it \
         with a probability of {:.1} %; if one in a hundred had, of at least {:.1} %.",
        100.0 * share,
        100.0 * of_hundredth
    )
}

pub(crate) struct Outcome {
    pub(crate) findings: Vec<Finding>,
    pub(crate) omitted: u64,
}

impl Outcome {
    pub(super) fn new(findings: Findings, good_checkpoints: &[u64]) -> Self {
        let omitted = findings.omitted();
        Self { findings: findings.into_sorted(good_checkpoints), omitted }
    }
}
