use std::borrow::Cow;

use serde::Serialize;
use timenav_core::event::EventDraft;
use timenav_core::ids::TimelineId;
use timenav_core::text::counted;
use timenav_engine::{ImportBatch, ImportId, LedgerPosition};
use timenav_import::{Item, RecordNote};

use super::REFUSALS_LISTED_MAX;
use crate::response::answer::{LedgerBody, created_first};
use crate::response::problem::Failure;
use crate::schema::ToSchema;

/// The result of an import.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// `true` if this request created the timeline. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline_created: Option<bool>,
    /// `true` if nothing was recorded and the counts are predictions. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    /// The id for `undo-import`. Absent if no event is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    import_id: Option<String>,
    /// The number of new events.
    imported: u64,
    /// The number of events that were already recorded with the same content.
    unchanged: u64,
    /// The number of records that repeat an earlier record of the file and are merged with it. Omitted if zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeated: Option<u64>,
    /// The number of rejected records.
    rejected: u64,
    /// The first rejected records, with the reason.
    rejections: Vec<RejectionBody>,
    /// All reasons, by code and field, the most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    reasons: Vec<ReasonBody>,
    /// The first records that were not fully imported, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<WarningBody>,
    /// The number of records that were not fully imported. Omitted if zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning_count: Option<u64>,
    /// The place of the last new event in the ledger.
    ledger: LedgerBody,
}

/// A rejected record.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RejectionBody {
    /// Its line, or for `GeoJSON` the number of the feature, counted from 1.
    line: u64,
    /// A stable code for the error.
    code: String,
    /// The affected field, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// An explanation of the error.
    detail: String,
}

/// A reason for rejected records.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReasonBody {
    /// A stable code for the error.
    code: String,
    /// The affected field, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// The number of records rejected for this reason.
    count: u64,
    /// The line of the first of these records.
    line: u64,
    /// An explanation of the reason.
    detail: String,
}

/// A record that was not fully imported.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WarningBody {
    /// Its line.
    line: u64,
    /// A stable code for the omission: `line_left_out`. The guide to importing lists all codes.
    code: &'static str,
    /// The omitted and the imported part.
    detail: Cow<'static, str>,
}

pub(super) struct Tally {
    pub(super) is_dry: bool,
    imported: u64,
    /// Start and end of the new events in the ledger.
    span: Option<(u64, u64)>,
    unchanged: u64,
    repeated: u64,
    rejected: u64,
    rejections: Vec<RejectionBody>,
    reasons: Vec<ReasonBody>,
    warning_count: u64,
    warnings: Vec<WarningBody>,
    /// The ledger position after the first batch, which creates a missing timeline.
    first: LedgerPosition,
    ledger: LedgerPosition,
}

impl Tally {
    pub(super) fn new(first: LedgerPosition) -> Self {
        let (refusals, notes) = (Vec::new(), Vec::new());
        Self {
            is_dry: false,
            imported: 0,
            span: None,
            unchanged: 0,
            repeated: 0,
            rejected: 0,
            rejections: refusals,
            reasons: Vec::new(),
            warning_count: 0,
            warnings: notes,
            first,
            ledger: first,
        }
    }

    /// Removes the rejected records of a batch and returns the others with their line numbers.
    pub(super) fn split(&mut self, batch: Vec<Item>) -> (Vec<EventDraft>, Vec<u64>) {
        let mut drafts = Vec::with_capacity(batch.len());
        let mut lines = Vec::with_capacity(batch.len());
        for item in batch {
            match item.event {
                Ok(draft) => {
                    self.note(item.line, item.notes);
                    drafts.push(draft);
                    lines.push(item.line);
                }
                Err(error) => {
                    let (code, field) = (error.code.to_owned(), error.field);
                    self.refuse(RejectionBody { line: item.line, code, field, detail: error.detail });
                }
            }
        }
        (drafts, lines)
    }

    pub(super) fn add(&mut self, batch: ImportBatch, lines: &[u64]) {
        if batch.taken > 0 && !self.is_dry {
            // The entries of a batch are consecutive, and the returned ledger position is that of the last one.
            let end = batch.ledger.position + 1;
            let first = self.span.map_or(end - batch.taken, |(first, _)| first);
            self.span = Some((first, end));
        }
        self.imported += batch.taken;
        // Events after the start position were recorded by this import.
        let repeated = batch.unchanged_at.iter().filter(|at| **at > self.first.position).count() as u64;
        self.repeated += repeated;
        self.unchanged += batch.unchanged.saturating_sub(repeated);
        self.ledger = batch.ledger;
        for refused in batch.refused {
            let detail = if self.is_dry {
                let id = refused.event_id;
                format!("the event `{id}` is already recorded, or appears earlier in the file, with different content")
            } else {
                format!("the event `{}` is already recorded with different content", refused.event_id)
            };
            let line = lines.get(refused.index).copied().unwrap_or_default();
            let (code, field) = ("already_exists".to_owned(), Some("event_id".to_owned()));
            self.refuse(RejectionBody { line, code, field, detail });
        }
    }

    fn note(&mut self, line: u64, notes: Vec<RecordNote>) {
        for RecordNote { code, detail } in notes {
            self.warning_count += 1;
            if self.warnings.len() < REFUSALS_LISTED_MAX {
                self.warnings.push(WarningBody { line, code, detail });
            }
        }
    }

    fn refuse(&mut self, refusal: RejectionBody) {
        self.rejected += 1;
        let is_same = |reason: &ReasonBody| reason.code == refusal.code && reason.field == refusal.field;
        match self.reasons.iter().position(is_same) {
            Some(at) => self.reasons[at].count += 1,
            None if self.reasons.len() < REFUSALS_LISTED_MAX => {
                let RejectionBody { line, code, field, detail } = refusal.clone();
                self.reasons.push(ReasonBody { code, field, count: 1, line, detail });
            }
            None => {}
        }
        if self.rejections.len() < REFUSALS_LISTED_MAX {
            self.rejections.push(refusal);
        }
    }

    /// Returns the id with which the import can be undone.
    fn import_id(&self) -> Option<String> {
        let (first, end) = self.span?;
        Some(ImportId::new(first, end, self.imported)?.to_string())
    }

    /// Returns the failure with a summary of the records that were imported before it.
    pub(super) fn broken_off(&self, because: Failure) -> Failure {
        if (self.imported, self.unchanged, self.repeated, self.rejected) == (0, 0, 0, 0)
            && !matches!(because, Failure::MalformedFile { .. })
        {
            return because;
        }
        let taken = counted(self.imported, "event");
        let were = match (self.is_dry, self.imported) {
            (true, _) => "would have been",
            (false, 1) => "was",
            (false, _) => "were",
        };
        let refused = counted(self.rejected, "record");
        let id = self.import_id().map_or_else(String::new, |id| format!(" (import_id `{id}`)"));
        let known = self.unchanged + self.repeated;
        let before = format!("{taken} {were} imported, {known} unchanged and {refused} rejected{id}");
        Failure::BrokenOff { because: Box::new(because), before }
    }

    pub(super) fn into_body(mut self, timeline_id: &TimelineId) -> ImportedBody {
        self.rejections.sort_by_key(|refusal| refusal.line);
        self.reasons.sort_by_key(|reason| std::cmp::Reverse(reason.count));
        let (known, refused, import_id) = (self.unchanged, self.rejected, self.import_id());
        let repeated = match self.repeated {
            0 => String::new(),
            count => format!("{count} the same as an earlier record in the file, "),
        };
        let status = if self.is_dry {
            let taken = counted(self.imported, "event");
            format!(
                "Dry run: nothing was recorded. {taken} would be new, {known} already recorded, {repeated}{refused} \
                 rejected."
            )
        } else {
            let taken = counted(self.imported, "event") + if self.imported == 1 { " is" } else { " are" };
            format!("{taken} new, {known} already recorded, {repeated}{refused} rejected.")
        };
        let (status, timeline_created) = created_first(self.first, timeline_id.as_str(), status);
        ImportedBody {
            status,
            timeline_id: timeline_id.to_string(),
            timeline_created,
            dry_run: self.is_dry.then_some(true),
            import_id,
            imported: self.imported,
            unchanged: self.unchanged,
            repeated: (self.repeated > 0).then_some(self.repeated),
            rejected: self.rejected,
            rejections: self.rejections,
            reasons: self.reasons,
            warnings: self.warnings,
            warning_count: (self.warning_count > 0).then_some(self.warning_count),
            ledger: self.ledger.into(),
        }
    }
}
