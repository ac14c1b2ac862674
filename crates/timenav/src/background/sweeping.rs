//! Background sweeps: prune expired contents while the service is idle.

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use timenav_engine::Engine;
use tokio::time::timeout;

const EVERY: Duration = Duration::from_mins(10);
/// How long nothing may be written for the service to count as idle.
const QUIET: Duration = Duration::from_millis(200);
/// Waits for idle time before a sweep runs anyway: sweeps are small, and a service may never be idle.
const WAITS_MAX: u32 = 150;

/// Prunes what is due, in small batches. Cancel-safe.
pub(crate) async fn sweep_when_quiet(engine: &Engine) -> Infallible {
    loop {
        loop {
            wait_for_quiet(engine).await;
            match engine.sweep_in_turn().await {
                Ok(true) => {}
                Ok(false) => break,
                Err(refusal) => {
                    tracing::warn!(%refusal, "nothing could be pruned; will retry");
                    break;
                }
            }
        }
        pause(EVERY).await;
    }
}

async fn wait_for_quiet(engine: &Engine) {
    for _ in 0..WAITS_MAX {
        let before = engine.stats().entries;
        pause(QUIET).await;
        if engine.stats().entries == before {
            return;
        }
    }
}

async fn pause(length: Duration) {
    let _ = timeout(length, pending::<()>()).await;
}
