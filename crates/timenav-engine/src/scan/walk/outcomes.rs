//! Answers that were kept for repeated requests, and that an erasure says are forgotten.

use timenav_core::scan::FindingKind;

use super::Way;
use crate::changes::{OutcomeRecord, is_forgotten};
use crate::idempotency::Idempotency;
use crate::rows::IdempotencyRecord;
use crate::scan::replay::ForgottenOutcomes;
use crate::store_error::StoreError;

impl Way<'_, '_> {
    /// What entries say is forgotten is not kept any more. Once it was forgotten for long enough, a request may be sent anew
    /// under the same key: then its answer was kept after that.
    pub(super) async fn compare_outcomes(&mut self, forgotten: &[ForgottenOutcomes]) -> Result<(), StoreError> {
        for ForgottenOutcomes { position, recorded_at, names } in forgotten {
            let names: Vec<[u8; 32]> = names.iter().map(|name| *name.as_bytes()).collect();
            let kept = match self.request.source.outcome_rows(names).await {
                Ok(kept) => kept,
                Err(error) => return self.damage(error, "outcomes"),
            };
            let is_from_before = |record: &&IdempotencyRecord| {
                let kept_at = record.expires_at.checked_sub(Idempotency::KEPT);
                let told = serde_json::from_str::<OutcomeRecord>(&record.outcome).ok();
                let parts = told.as_ref().and_then(OutcomeRecord::parts);
                parts.is_none_or(|(timeline, ledger, change)| {
                    let is_earlier = timeline == self.request.timeline && ledger.position < *position;
                    !is_forgotten(change) && (is_earlier || kept_at.is_none_or(|kept_at| kept_at <= *recorded_at))
                })
            };
            let count = kept.iter().filter(is_from_before).count();
            if count > 0 {
                let evidence = format!("table outcomes: {count} answers are kept that the entry says are forgotten");
                self.findings.add(FindingKind::StateMismatch, Some(*position), evidence);
            }
        }
        Ok(())
    }
}
