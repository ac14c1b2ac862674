//! Refusals of strangers, told in the ledger: each alone, or many as a sum.

use async_recursion::async_recursion as boxed;
use timenav_core::ids::TimelineId;

use crate::caller::AuthFailure;
use crate::deciding::logged::{LogRefusal, LogRefusals};
use crate::engine::Engine;
use crate::refusal::Refusal;

impl Engine {
    /// Counts that somebody who is nobody known was refused, and returns whether nothing was counted before it: then
    /// the sum is to be told in a while.
    #[must_use]
    pub fn count_refusal(&self, network: String, operation: &str, code: &'static str) -> bool {
        self.counted_refusals().count(self.now(), network, operation, code)
    }

    /// Tells in one entry of `system` what was counted since the last one, if anything was.
    ///
    /// # Errors
    /// The ledger cannot be written. It is counted on then.
    #[boxed]
    pub async fn tell_counted_refusals(&self) -> Result<(), Refusal> {
        let _telling = self.counted_refusals().telling.lock().await;
        let Some(sum) = self.counted_refusals().take() else { return Ok(()) };
        let system = TimelineId::system();
        let told = self.submit_unknown(system, LogRefusals { payload: sum.payload() }).await;
        if let Err(refusal) = told {
            tracing::error!(%refusal, refusals = sum.count, "refusals were counted, but cannot be written to the ledger");
            self.counted_refusals().put_back(sum);
            return Err(refusal);
        }
        Ok(())
    }

    /// Logs that nobody could be identified, where the attempt was aimed.
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
        let (operation, detail) = (operation.to_owned(), failure.to_string());
        let refused = LogRefusal { operation, code: failure.code(), detail };
        self.submit_unknown(aimed, refused).await.map(|_| ())
    }
}
