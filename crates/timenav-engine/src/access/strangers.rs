//! Logging of rejected callers without valid credentials, individually or as a sum.

use async_recursion::async_recursion as boxed;
use timenav_core::ids::TimelineId;

use crate::engine::Engine;
use crate::requests::caller::AuthFailure;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::logged::{LogRefusal, LogRefusals};

impl Engine {
    /// Returns whether the rejection is the first since the last sum, so that recording the sum must be scheduled.
    #[must_use]
    pub fn count_refusal(&self, network: String, operation: &str, code: &'static str) -> bool {
        self.shared().counted_refusals.count(self.now(), network, operation, code)
    }

    /// Records the rejections since the last sum in one entry of `system`, if there are any.
    ///
    /// # Errors
    /// The ledger cannot be written. The counts are kept in that case.
    #[boxed]
    pub async fn log_counted_refusals(&self) -> Result<(), Refusal> {
        let _telling = self.shared().counted_refusals.logging.lock().await;
        let Some(sum) = self.shared().counted_refusals.take() else { return Ok(()) };
        let system = TimelineId::system();
        let logged = self.submit_unknown(system, LogRefusals { payload: sum.payload() }).await;
        if let Err(refusal) = logged {
            tracing::error!(%refusal, refusals = sum.count, "counted rejections could not be written to the ledger");
            self.shared().counted_refusals.put_back(sum);
            return Err(refusal);
        }
        Ok(())
    }

    /// Logs an attempt by an unidentified caller on its timeline.
    ///
    /// # Errors
    /// The ledger cannot be written.
    #[boxed]
    pub async fn log_unidentified(
        &self,
        aimed: Option<TimelineId>,
        operation: &str,
        failure: AuthFailure,
    ) -> Result<(), Refusal> {
        let aimed = aimed.unwrap_or_else(TimelineId::system);
        self.submit_unknown(aimed, LogRefusal::new(operation, failure.code(), &failure)).await.map(|_| ())
    }
}
