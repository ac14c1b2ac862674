//! An operator's acceptance of a database rollback: the dry run, and the entries that record it.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;

use crate::engine::Engine;
use crate::integrity::divergence::Divergence;
use crate::integrity::opening::OpenError;
use crate::integrity::opening::accepted::Accepted;
use crate::integrity::opening::loaded::load;
use crate::ports::all::Ports;
use crate::ports::outside::{ExternalCheckpoint, Outside, OutsideError};
use crate::ports::store::Store;
use crate::ports::store_error::StoreError;
use crate::requests::options::Options;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::logged::LogRollbackAccepted;

/// Reads the checkpoints outside the database without writing them.
struct Unwritten(Arc<dyn Outside>);

impl Outside for Unwritten {
    fn keep(&self, _: &[ExternalCheckpoint]) -> Result<(), OutsideError> {
        Ok(())
    }

    fn replace(&self, _: &[ExternalCheckpoint]) -> Result<(), OutsideError> {
        Ok(())
    }

    fn keep_divergence(&self, _: &Divergence, _: &str) -> Result<(), OutsideError> {
        Ok(())
    }

    fn last(&self) -> Result<Vec<ExternalCheckpoint>, OutsideError> {
        self.0.last()
    }
}

impl Engine {
    /// Dry run: returns sentences describing what an operator would accept by starting with this store. Empty if every
    /// ledger continues what was signed, or if entries explain all differences.
    ///
    /// # Errors
    /// The store cannot be read, or differs from what was signed in a way that cannot be accepted.
    #[boxed]
    pub async fn losses(store: &dyn Store, ports: &Ports, options: &Options) -> Result<Vec<String>, OpenError> {
        let ports = Ports { outside: Arc::new(Unwritten(Arc::clone(&ports.outside))), ..ports.clone() };
        let accept_rollback = Some(options.accept_rollback.clone().unwrap_or_default());
        let options = Options { accept_rollback, ..options.clone() };
        let loaded = load(store, &ports, &options).await?;
        Ok(loaded.findings.0.into_iter().map(|finding| finding.text).collect())
    }

    /// Records on `system`, and on every affected timeline, what was accepted.
    pub(crate) async fn log_accepted(&self, accepted: Accepted) -> Result<(), OpenError> {
        let acceptance = self.options().accept_rollback.clone().unwrap_or_default();
        for finding in &accepted.0 {
            tracing::warn!(
                "starting although the database does not match what was signed, as the operator asked: {}",
                finding.text
            );
        }
        let logged: Result<(), Refusal> = async {
            for (timeline, payload) in accepted.payloads(&acceptance) {
                self.submit_service(timeline, LogRollbackAccepted { payload }).await?;
            }
            Ok(())
        }
        .await;
        logged.map_err(|refusal| OpenError::Store(StoreError::Unavailable(refusal.to_string())))
    }
}
