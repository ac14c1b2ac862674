//! The timekeeper: sleeps until a timer of some timeline falls due, and tells the engine that host time has come.

use std::future::pending;
use std::time::Duration;

use timenav_engine::Engine;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Longest sleep: what another service has written may be seen without a word.
const SLEEP_MAX: Duration = Duration::from_mins(1);

/// Lets timers fall due, and takes advances on, until the service ends. It may be dropped at any moment: what is due then
/// falls due after the next start.
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
