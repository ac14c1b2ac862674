//! Erasing events and reads: everything that holds their content, named in one entry.

use std::borrow::Cow;

use super::canonical::{Malformed, Scanner, Writer};
use super::runs::PositionRuns;
use super::{Hash, KeptReads, READS_MAX};

#[cfg(test)]
mod tests;

/// The action of an entry that tells that events were erased.
pub const ERASE_EVENTS_ACTION: &str = "erase_events";

/// The action of an entry that tells that single reads were erased.
pub const ERASE_READS_ACTION: &str = "erase_reads";

/// Returns whether an erasure of events may take away what entries of an action say: they tell of a version of an
/// event, or quote one. Whatever else an entry says stays, or goes by retention.
#[must_use]
pub fn is_erasable(action: &str) -> bool {
    matches!(action, "record_event" | "correct_event" | "manipulate_event")
}

/// Most outcomes of repeated requests that one erasure names.
pub const ERASED_OUTCOMES_MAX: usize = 4_096;

/// How the events were chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErasedBy {
    /// By their ids.
    Ids,
    /// By what a query found at a size of the ledger that a dry run had named.
    Query,
    /// By their age, at a size of the ledger.
    Age,
}

impl ErasedBy {
    const ALL: [Self; 3] = [Self::Ids, Self::Query, Self::Age];

    /// Returns the word for it in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ids => "ids",
            Self::Query => "query",
            Self::Age => "age",
        }
    }
}

/// One batch of erased events. It names nothing by words: what is erased is not told again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsErased<'a> {
    /// Who asked.
    pub asked_by: Cow<'a, str>,
    /// How the events were chosen.
    pub by: ErasedBy,
    /// The size of the ledger that they were chosen at.
    pub evaluated_at: u64,
    /// How many events there are in this batch.
    pub events_count: u64,
    /// Whether forks of the timeline lose the content too, as admins of each have said.
    pub include_forks: bool,
    /// Positions of interventions that quote a version.
    pub interventions: PositionRuns,
    /// Names of the outcomes kept for repeated requests that hold a version: rising, none twice.
    pub outcomes: Vec<Hash>,
    /// Positions of all versions of the events; one at least.
    pub versions: PositionRuns,
}

impl<'a> EventsErased<'a> {
    /// Returns the payload of its entry: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"asked_by\":").text(&self.asked_by).raw(",\"by\":").text(self.by.as_str());
        writer.raw(",\"evaluated_at\":").integer(self.evaluated_at);
        writer.raw(",\"events_count\":").integer(self.events_count);
        writer.raw(",\"include_forks\":").boolean(self.include_forks).raw(",\"interventions\":");
        self.interventions.write(&mut writer).raw(",\"outcomes\":");
        writer.array(&self.outcomes, |writer, outcome| _ = writer.hash(outcome)).raw(",\"versions\":");
        self.versions.write(&mut writer).raw("}");
        writer.into_bytes()
    }

    /// Reads what [`EventsErased::encode`] writes, and nothing else.
    ///
    /// # Errors
    /// The bytes are written otherwise, name no version, or too many outcomes.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("{\"asked_by\":\"")?;
        let asked_by = scanner.text()?;
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
        let wrong = scanner.malformed("names of outcomes in rising order, not too many");
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
        Ok(Self { asked_by, by, evaluated_at, events_count, include_forks, interventions, outcomes, versions })
    }

    /// Returns whether everything that it names comes before it, at `position`: it cannot let go what is not
    /// there yet.
    #[must_use]
    pub fn is_possible_at(&self, position: u64) -> bool {
        let named = [self.versions.last(), self.interventions.last(), self.evaluated_at.checked_sub(1)];
        named.into_iter().flatten().all(|last| last < position)
    }
}

/// Reads that were erased from one entry of reads, whose others stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadsErased<'a> {
    /// Who asked.
    pub asked_by: Cow<'a, str>,
    /// Position of the entry of reads.
    pub position: u64,
    /// Numbers of the erased reads within that entry, counted from 0; one at least.
    pub reads: PositionRuns,
}

impl<'a> ReadsErased<'a> {
    /// Returns the payload of its entry: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"asked_by\":").text(&self.asked_by);
        writer.raw(",\"position\":").integer(self.position).raw(",\"reads\":");
        self.reads.write(&mut writer).raw("}");
        writer.into_bytes()
    }

    /// Reads what [`ReadsErased::encode`] writes, and nothing else.
    ///
    /// # Errors
    /// The bytes are written otherwise, or name no read, or one that no entry has.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("{\"asked_by\":\"")?;
        let asked_by = scanner.text()?;
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
        Ok(Self { asked_by, position, reads })
    }

    /// Returns whether this erasure, or another of `all`, names every read that is missing from the entry at
    /// a position. If not, that is `payload-mismatch`.
    #[must_use]
    pub fn explain(all: &[Self], position: u64, kept: &KeptReads<'_>) -> bool {
        let is_named = |number| all.iter().any(|erased| erased.position == position && erased.reads.contains(number));
        (0..).zip(kept.iter()).all(|(number, read)| read.is_some() || is_named(number))
    }
}
