//! Refusals of strangers that have no entry of their own: they are counted, and told together once a minute.

use std::sync::Arc;
use std::time::Duration;

use timenav_engine::{Code, Engine};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::network::Network;

/// How long refusals are counted before one entry tells of them.
pub(crate) const COUNTED_SECONDS_MAX: u64 = 60;

/// Counts refusals and sees to it that they are told.
pub(crate) struct Refusals {
    engine: Engine,
    closing: CancellationToken,
}

impl Refusals {
    pub(crate) const fn new(engine: Engine, closing: CancellationToken) -> Self {
        Self { engine, closing }
    }

    /// Counts a refusal. The first one begins a minute.
    pub(crate) fn count(self: &Arc<Self>, network: Option<Network>, operation: &str, code: Code) {
        let from = network.map_or_else(|| "unknown".to_owned(), |network| network.to_string());
        if self.engine.count_refusal(from, operation, code.as_str()) {
            let this = Arc::clone(self);
            tokio::spawn(async move { this.tell().await });
        }
    }

    /// Tells of what was counted after a minute. Where the service stops before that, the engine tells of it at its end.
    async fn tell(&self) {
        if timeout(Duration::from_secs(COUNTED_SECONDS_MAX), self.closing.cancelled()).await.is_ok() {
            return;
        }
        // What could not be told is logged by the engine and counted on.
        let _ = self.engine.tell_counted_refusals().await;
    }
}
