//! The timekeeper: sleeps until a timer of some timeline falls due, and tells the engine that host time has come.

use std::future::pending;
use std::time::Duration;

use timenav_engine::{Engine, Seldom};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Longest sleep: what another service has written may be seen without a word.
const SLEEP_MAX: Duration = Duration::from_mins(1);

/// How often other services on the database are told that this one is there.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// Tells other services on the database that this one is there, until it ends. Nothing else that the service does holds it
/// up, so that none takes over what it looks after.
pub(crate) async fn tell_presence(engine: Engine, closing: CancellationToken) {
    if !engine.has_others() {
        return;
    }
    let failures = Seldom::default();
    loop {
        let told = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            told = engine.tell_presence() => told,
        };
        if let Err(refusal) = told
            && let Some(untold) = failures.tell(engine.now())
        {
            tracing::warn!(%refusal, untold, "the other services cannot be told that this one is there; it will be tried again");
        }
        if timeout(TELL_EVERY, closing.cancelled()).await.is_ok() {
            return;
        }
    }
}

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
