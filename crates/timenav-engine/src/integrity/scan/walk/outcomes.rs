//! Checks of stored outcomes: erased ones must be gone, and all must match the entry they name.

use std::fmt::Write as _;

use serde::Deserialize;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::ledger::LeafRecord;
use timenav_core::scan::FindingKind;
use timenav_core::time::{Instant, Wall, parse_timestamp};

use super::ScanWalk;
use crate::integrity::scan::replay::ForgottenOutcomes;
use crate::ledger::changes::{Change as _, EventCorrected, EventIntervened, OutcomeRecord, is_forgotten};
use crate::ports::archive::StoredOutcome;
use crate::ports::rows::IdempotencyRecord;
use crate::ports::store_error::StoreError;
use crate::requests::idempotency::Idempotency;

/// Outcomes read at a time; each contains an event or two.
const OUTCOMES_MAX: usize = 100;

struct Answer {
    timeline: TimelineId,
    position: u64,
    /// Whether the request wrote no entry, so that the position is that of the last entry at the time.
    is_withheld: bool,
    /// Why its row is invalid by itself.
    fault: Option<&'static str>,
}

/// Host times of the named entry and its neighbors.
struct Recorded {
    at: Option<Instant<Wall>>,
    before: Option<Instant<Wall>>,
    next: Option<Instant<Wall>>,
}

impl Answer {
    fn of(stored: &StoredOutcome) -> Option<Self> {
        let outcome: OutcomeRecord = serde_json::from_str(&stored.record.outcome).ok()?;
        let (timeline, ledger, change) = outcome.parts()?;
        let event = event_in_change(change).ok()?.map(|event_id| (timeline.clone(), event_id));
        let fault = if event != stored.record.event {
            Some("it contains an event, but an erasure of that event would miss it")
        } else if stored.goes_with.as_deref() != Some(timeline.as_str()) {
            Some("the end of its timeline would not delete it")
        } else {
            None
        };
        Some(Self { timeline, position: ledger.position, is_withheld: outcome.is_withheld(), fault })
    }

    fn entries(&self) -> [(TimelineId, u64); 3] {
        let positions = [self.position, self.position.saturating_sub(1), self.position.saturating_add(1)];
        positions.map(|position| (self.timeline.clone(), position))
    }

    fn compare(&self, expires_at: Instant<Wall>, recorded: &Recorded) -> Option<String> {
        if let Some(fault) = self.fault {
            return Some(fault.to_owned());
        }
        let Some(at) = recorded.at else { return Some("it names a missing entry".to_owned()) };
        let is_after = |later: Instant<Wall>, earlier: Instant<Wall>| {
            earlier.checked_add(Idempotency::RETENTION_DIFFERENCE_MAX).is_some_and(|last| later > last)
        };
        let stored_at = expires_at.checked_sub(Idempotency::RETENTION);
        // Without an entry of its own, it must have been stored before the next entry.
        let last = if self.is_withheld { recorded.next } else { Some(at) };
        let is_late = stored_at.zip(last).is_some_and(|(stored_at, last)| is_after(stored_at, last));
        // If the host's clock was behind the previous entry, the time of the entry is only an upper bound.
        let is_of_host = self.position == 0 || recorded.before.is_some_and(|before| before < at);
        let is_early = is_of_host && stored_at.is_none_or(|stored_at| is_after(at, stored_at));
        (is_late || is_early).then(|| format!("it is kept until {expires_at}, but the entry was recorded at {at}"))
    }
}

/// Returns the event whose content is in a stored change; `None` if there is none.
fn event_in_change(stored: &str) -> Result<Option<EventId>, ()> {
    #[derive(Deserialize)]
    struct StoredChange {
        kind: String,
        event_id: Option<String>,
    }
    let change: StoredChange = serde_json::from_str(stored).map_err(|_| ())?;
    if ![EventCorrected::KIND, EventIntervened::KIND].contains(&&*change.kind) {
        return Ok(None);
    }
    EventId::new(&change.event_id.ok_or(())?).map(Some).map_err(|_| ())
}

fn recorded_at(leaf: Option<&[u8]>) -> Option<Instant<Wall>> {
    parse_timestamp(&LeafRecord::decode(leaf?).ok()?.recorded_at).ok()
}

fn key_hex(key: &[u8; 32]) -> String {
    key.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl ScanWalk<'_, '_> {
    /// Checks that every outcome names an entry, which determines how long it is stored. The content of the response is
    /// not compared. Returns the number of outcomes.
    pub(super) async fn compare_answers(&mut self) -> Result<u64, StoreError> {
        let source = self.request.source;
        let (mut after, mut count) = (None, 0);
        loop {
            let page = match source.outcome_page(after, OUTCOMES_MAX).await {
                Ok(page) => page,
                Err(error) => return self.damage(error, "outcomes").map(|()| count),
            };
            let Some(last) = page.last() else { return Ok(count) };
            after = Some(last.record.key);
            count += page.len() as u64;
            let answers: Vec<Option<Answer>> = page.iter().map(Answer::of).collect();
            let entries = answers.iter().flatten().flat_map(Answer::entries).collect();
            let leaves = source.leaves_named(entries).await?;
            let mut named = leaves.as_chunks::<3>().0.iter();
            for (stored, answer) in page.iter().zip(answers) {
                let fault = match answer {
                    None => Some("it cannot be read".to_owned()),
                    Some(answer) => {
                        let leaves = named.next().map_or([None; 3], |leaves| leaves.each_ref().map(Option::as_deref));
                        let [at, before, next] = leaves.map(recorded_at);
                        answer.compare(stored.record.expires_at, &Recorded { at, before, next })
                    }
                };
                if let Some(fault) = fault {
                    let evidence = format!("table outcomes, {}: {fault}", key_hex(&stored.record.key));
                    self.findings.add(FindingKind::StateMismatch, None, evidence);
                }
            }
        }
    }

    /// Checks that erased outcomes are not stored any more. After it was erased for long enough, a request may be sent
    /// again under the same key; its outcome was then stored later.
    pub(super) async fn compare_outcomes(&mut self, forgotten: &[ForgottenOutcomes]) -> Result<(), StoreError> {
        for ForgottenOutcomes { position, recorded_at, names } in forgotten {
            let names: Vec<[u8; 32]> = names.iter().map(|name| *name.as_bytes()).collect();
            let stored = match self.request.source.outcome_rows(names).await {
                Ok(stored) => stored,
                Err(error) => return self.damage(error, "outcomes"),
            };
            let is_from_before = |record: &&IdempotencyRecord| {
                let stored_at = record.expires_at.checked_sub(Idempotency::RETENTION);
                let outcome = serde_json::from_str::<OutcomeRecord>(&record.outcome).ok();
                let parts = outcome.as_ref().and_then(OutcomeRecord::parts);
                parts.is_none_or(|(timeline, ledger, change)| {
                    let is_earlier = timeline == self.request.timeline && ledger.position < *position;
                    !is_forgotten(change) && (is_earlier || stored_at.is_none_or(|stored_at| stored_at <= *recorded_at))
                })
            };
            let count = stored.iter().filter(is_from_before).count();
            if count > 0 {
                let evidence = format!("table outcomes: {count} responses still exist that the entry lists as erased");
                self.findings.add(FindingKind::StateMismatch, Some(*position), evidence);
            }
        }
        Ok(())
    }
}
