//! Aggregates rejected unauthenticated requests that have no entry of their own into one entry a minute.

use std::sync::Arc;
use std::time::Duration;

use timenav_engine::{Code, Engine};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::request::network::Network;

pub(crate) const COUNTED_SECONDS_MAX: u64 = 60;

pub(crate) struct Refusals {
    engine: Engine,
    closing: CancellationToken,
}

impl Refusals {
    pub(crate) const fn new(engine: Engine, closing: CancellationToken) -> Self {
        Self { engine, closing }
    }

    /// Counts a rejected request. The first one starts the minute.
    pub(crate) fn count(self: &Arc<Self>, network: Option<Network>, operation: &str, code: Code) {
        let from = network.map_or_else(|| "unknown".to_owned(), |network| network.to_string());
        if self.engine.count_refusal(from, operation, code.as_str()) {
            let this = Arc::clone(self);
            tokio::spawn(async move { this.log().await });
        }
    }

    /// Records the counts after a minute. If the service stops earlier, the engine records them on shutdown.
    async fn log(&self) {
        if timeout(Duration::from_secs(COUNTED_SECONDS_MAX), self.closing.cancelled()).await.is_ok() {
            return;
        }
        // The engine logs a failure and keeps the counts.
        let _ = self.engine.log_counted_refusals().await;
    }
}
