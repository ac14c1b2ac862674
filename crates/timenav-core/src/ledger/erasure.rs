//! Erasure of events and reads. One entry names everything that holds their content.

use std::borrow::Cow;

use super::canonical::{Malformed, Scanner, Writer};
use super::runs::PositionRuns;
use super::{Hash, READS_MAX, RemainingReads};

#[cfg(test)]
mod tests;

pub const ERASE_EVENTS_ACTION: &str = "erase_events";

pub const ERASE_READS_ACTION: &str = "erase_reads";

/// Returns whether erasing events may remove the payloads of entries with this action. These hold a version of an
/// event, or quote one. All other payloads are kept, or removed by retention.
#[must_use]
pub fn is_erasable(action: &str) -> bool {
    matches!(action, "record_event" | "correct_event" | "manipulate_event")
}

/// Most stored outcomes of repeated requests that one erasure names.
pub const ERASED_OUTCOMES_MAX: usize = 4_096;

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ErasedBy {
        Ids = "ids",
        /// By a query, evaluated at the ledger size of a previous dry run.
        Query = "query",
        /// By their age, at a ledger size.
        Age = "age",
    }
}

/// One batch of erased events. It has positions and hashes only, so that erased content is not repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsErased<'a> {
    pub requested_by: Cow<'a, str>,
    pub by: ErasedBy,
    /// The ledger size at which they were selected.
    pub evaluated_at: u64,
    pub events_count: u64,
    /// Whether the content is erased for forks of the timeline too, with the consent of their admins.
    pub include_forks: bool,
    /// Positions of interventions that quote a version.
    pub interventions: PositionRuns,
    /// Names of the stored outcomes of repeated requests that hold a version, ascending and without duplicates.
    pub outcomes: Vec<Hash>,
    /// Positions of all versions of the events; not empty.
    pub versions: PositionRuns,
}

impl<'a> EventsErased<'a> {
    /// Returns the payload of the entry: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"asked_by\":").text(&self.requested_by).raw(",\"by\":").text(self.by.as_str());
        writer.raw(",\"evaluated_at\":").integer(self.evaluated_at);
        writer.raw(",\"events_count\":").integer(self.events_count);
        writer.raw(",\"include_forks\":").boolean(self.include_forks).raw(",\"interventions\":");
        self.interventions.write(&mut writer).raw(",\"outcomes\":");
        writer.array(&self.outcomes, |writer, outcome| _ = writer.hash(outcome)).raw(",\"versions\":");
        self.versions.write(&mut writer).raw("}");
        writer.into_bytes()
    }

    /// Parses the output of [`EventsErased::encode`], and nothing else.
    ///
    /// # Errors
    /// The encoding differs, or there are no versions or too many outcomes.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("{\"asked_by\":\"")?;
        let requested_by = scanner.text()?;
        scanner.expect(",\"by\":\"")?;
        let is_here = |by: &ErasedBy| scanner.skip(by.as_str());
        let by = ErasedBy::ALL.into_iter().find(is_here).ok_or(scanner.malformed("`ids`, `query` or `age`"))?;
        scanner.expect("\",\"evaluated_at\":")?;
        let evaluated_at = scanner.integer()?;
        scanner.expect(",\"events_count\":")?;
        let events_count = scanner.integer()?;
        scanner.expect(",\"include_forks\":")?;
        let include_forks = scanner.boolean()?;
        scanner.expect(",\"interventions\":")?;
        let interventions = PositionRuns::scan(&mut scanner)?;
        scanner.expect(",\"outcomes\":[")?;
        let wrong = scanner.malformed("names of outcomes in ascending order, within the limit");
        let outcomes = scanner.array(|scanner| {
            scanner.expect("\"")?;
            scanner.hash()
        })?;
        scanner.expect(",\"versions\":")?;
        let no_version = scanner.malformed("the position of a version");
        let versions = PositionRuns::scan(&mut scanner)?;
        scanner.expect("}")?;
        scanner.end()?;
        if outcomes.len() > ERASED_OUTCOMES_MAX || !outcomes.is_sorted_by(|one, next| one < next) {
            return Err(wrong);
        }
        if versions.is_empty() {
            return Err(no_version);
        }
        Ok(Self { requested_by, by, evaluated_at, events_count, include_forks, interventions, outcomes, versions })
    }

    /// Returns whether everything that it names comes before `position`, its own position.
    #[must_use]
    pub fn is_possible_at(&self, position: u64) -> bool {
        let named = [self.versions.last(), self.interventions.last(), self.evaluated_at.checked_sub(1)];
        named.into_iter().flatten().all(|last| last < position)
    }
}

/// Reads that were erased from one entry of reads. The others are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadsErased<'a> {
    pub requested_by: Cow<'a, str>,
    pub position: u64,
    /// Indexes of the erased reads within that entry, from 0; not empty.
    pub reads: PositionRuns,
}

impl<'a> ReadsErased<'a> {
    /// Returns the payload of the entry: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"asked_by\":").text(&self.requested_by);
        writer.raw(",\"position\":").integer(self.position).raw(",\"reads\":");
        self.reads.write(&mut writer).raw("}");
        writer.into_bytes()
    }

    /// Parses the output of [`ReadsErased::encode`], and nothing else.
    ///
    /// # Errors
    /// The encoding differs, there are no reads, or an index is too large.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("{\"asked_by\":\"")?;
        let requested_by = scanner.text()?;
        scanner.expect(",\"position\":")?;
        let position = scanner.integer()?;
        scanner.expect(",\"reads\":")?;
        let wrong = scanner.malformed("numbers of reads");
        let reads = PositionRuns::scan(&mut scanner)?;
        scanner.expect("}")?;
        scanner.end()?;
        if reads.last().is_none_or(|last| last >= READS_MAX as u64) {
            return Err(wrong);
        }
        Ok(Self { requested_by, position, reads })
    }

    /// Returns whether the erasures cover every missing read of an entry. If not, that is `payload-mismatch`.
    #[must_use]
    pub fn explain(all: &[Self], position: u64, remaining: &RemainingReads<'_>) -> bool {
        let is_named = |number| all.iter().any(|erased| erased.position == position && erased.reads.contains(number));
        (0..).zip(remaining.iter()).all(|(number, read)| read.is_some() || is_named(number))
    }
}
