//! What an operator accepts where a database was taken back: what it is, before anything is written, and the entries that
//! say so.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;

use crate::deciding::logged::LogRollbackAccepted;
use crate::divergence::Divergence;
use crate::doors::Doors;
use crate::engine::Engine;
use crate::opening::OpenError;
use crate::opening::accepted::Accepted;
use crate::opening::loaded::load;
use crate::options::Options;
use crate::outside::{KeptOutside, Outside, OutsideError};
use crate::refusal::Refusal;
use crate::store::Store;
use crate::store_error::StoreError;

/// Reads the checkpoints outside, and leaves them as they are.
struct Unwritten(Arc<dyn Outside>);

impl Outside for Unwritten {
    fn keep(&self, _: &[KeptOutside]) -> Result<(), OutsideError> {
        Ok(())
    }

    fn replace(&self, _: &[KeptOutside]) -> Result<(), OutsideError> {
        Ok(())
    }

    fn keep_divergence(&self, _: &Divergence, _: &str) -> Result<(), OutsideError> {
        Ok(())
    }

    fn last(&self) -> Result<Vec<KeptOutside>, OutsideError> {
        self.0.last()
    }
}

impl Engine {
    /// Returns what an operator would accept by opening the store so, a sentence each; nothing where every ledger
    /// continues what was signed, or an entry explains why not. Writes nothing.
    ///
    /// # Errors
    /// The store cannot be read, or is not as it was signed in a way that nobody may accept.
    #[boxed]
    pub async fn losses(store: &dyn Store, doors: &Doors, options: &Options) -> Result<Vec<String>, OpenError> {
        let doors = Doors { outside: Arc::new(Unwritten(Arc::clone(&doors.outside))), ..doors.clone() };
        let accept_rollback = Some(options.accept_rollback.clone().unwrap_or_default());
        let options = Options { accept_rollback, ..options.clone() };
        let loaded = load(store, &doors, &options).await?;
        Ok(loaded.findings.0.into_iter().map(|finding| finding.text).collect())
    }

    /// Leaves entries on `system`, and on every timeline concerned, that say what was accepted.
    ///
    /// # Errors
    /// They cannot be written.
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
