//! The timekeeper: sleeps until the next timer is due and notifies the engine.

use std::future::pending;
use std::time::Duration;

use timenav_engine::{Engine, RateLimitedLog};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Maximum sleep: timers set by other services may be noticed without a notification.
const SLEEP_MAX: Duration = Duration::from_mins(1);

/// Interval of presence messages to other services on the database.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// Runs independently of all other work, so that a busy service is not taken for dead.
pub(crate) async fn report_presence(engine: Engine, closing: CancellationToken) {
    if !engine.has_others() {
        return;
    }
    let failures = RateLimitedLog::default();
    loop {
        let reported = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            reported = engine.report_presence() => reported,
        };
        if let Err(refusal) = reported
            && let Some(suppressed) = failures.record(engine.now())
        {
            tracing::warn!(%refusal, suppressed, "the service cannot announce itself to the other services; will retry");
        }
        if timeout(REPORT_EVERY, closing.cancelled()).await.is_ok() {
            return;
        }
    }
}

/// Fires due timers and continues advances until the service stops. Cancel-safe: the rest is done after the next start.
pub(crate) async fn keep_time(engine: Engine, closing: CancellationToken) {
    while !closing.is_cancelled() {
        let next = engine.keep_time().await;
        let now = engine.now();
        let sleep = next.map_or(SLEEP_MAX, |next| {
            let micros = u64::try_from(next.since(now).micros()).unwrap_or(0);
            Duration::from_micros(micros).min(SLEEP_MAX)
        });
        tokio::select! {
            _ = timeout(sleep, pending::<()>()) => {}
            () = engine.time_changed() => {}
            () = closing.cancelled() => {}
        }
    }
}
