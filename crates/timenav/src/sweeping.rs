//! Sweeps in the background: what timelines keep no longer is let go while nothing else is to be done.

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use timenav_engine::Engine;
use tokio::time::timeout;

/// How often it is looked for what may be let go.
const EVERY: Duration = Duration::from_mins(10);
/// How long nothing may be written before it counts as nothing to be done.
const QUIET: Duration = Duration::from_millis(200);
/// How often quiet is waited for before a sweep comes all the same: it is small, and a service that is never quiet lets
/// go too.
const WAITS_MAX: u32 = 150;

/// Lets go what is due, a piece at a time. It may be dropped at any moment.
pub(crate) async fn sweep_when_quiet(engine: &Engine) -> Infallible {
    loop {
        loop {
            wait_for_quiet(engine).await;
            match engine.sweep_in_turn().await {
                Ok(true) => {}
                Ok(false) => break,
                Err(refusal) => {
                    tracing::warn!(%refusal, "nothing could be pruned; it will be tried again");
                    break;
                }
            }
        }
        pause(EVERY).await;
    }
}

/// Waits until nothing is written for a moment, or for so long that it will not come.
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
