use timenav_core::time::{Instant, Wall};

use crate::ledger::changes::OutcomeRecord;
use crate::ports::rows::IdempotencyRecord;
use crate::requests::idempotency::Idempotency;
use crate::requests::json::json;
use crate::requests::refusal::Refusal;
use crate::writer::submission::{QueuedCommand, Recorded};

/// Returns the stored form of a response. If its content was erased in the same group, only that fact is stored.
pub(super) fn stored_outcome(
    (idempotency, command): (Idempotency, &dyn QueuedCommand),
    (recorded, is_withheld): (&Recorded, bool),
    is_erased: bool,
    now: Instant<Wall>,
) -> Result<IdempotencyRecord, Refusal> {
    let Recorded { timeline_id, ledger, .. } = recorded;
    let record = if is_erased {
        OutcomeRecord::forgotten(timeline_id, *ledger)
    } else {
        command.keep().and_then(|stored| OutcomeRecord::of(timeline_id, *ledger, stored))
    };
    let record = record.map(|record| record.withheld(is_withheld));
    let record = record.ok_or_else(|| Refusal::Damaged("an outcome cannot be stored".to_owned()))?;
    let event = command.event().filter(|_| !is_erased);
    Ok(IdempotencyRecord {
        key: idempotency.key,
        fingerprint: idempotency.fingerprint,
        expires_at: now.checked_add(Idempotency::RETENTION).unwrap_or(Instant::MAX),
        outcome: json(&record),
        event: event.map(|event_id| (timeline_id.clone(), event_id)),
    })
}

pub(super) fn forgotten(record: &IdempotencyRecord) -> IdempotencyRecord {
    let stored: Option<OutcomeRecord> = serde_json::from_str(&record.outcome).ok();
    let outcome = stored.as_ref().and_then(|stored| {
        let (timeline_id, ledger, _) = stored.parts()?;
        Some(OutcomeRecord::forgotten(&timeline_id, ledger)?.withheld(stored.is_withheld()))
    });
    // An unreadable outcome is not kept.
    IdempotencyRecord {
        outcome: outcome.map_or_else(|| "{}".to_owned(), |outcome| json(&outcome)),
        event: None,
        ..record.clone()
    }
}
