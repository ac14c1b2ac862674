//! What a service does that shares its database with others: it follows what they write.

use std::time::Duration;

use timenav_engine::{Engine, Seldom};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long it is not looked for what others have written where no hint comes. Whoever asks for something sees it at once;
/// this is for those who listen.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How often the host's clock is compared with the database's, and what is there with what was seen.
const COMPARE_EVERY: Duration = Duration::from_secs(10);

/// Compares the host's clock with that of the database, where that is another machine's, and looks whether what is there
/// went back while nobody asked for anything.
pub(crate) async fn compare(engine: Engine, closing: CancellationToken) {
    let failures = Seldom::default();
    while timeout(COMPARE_EVERY, closing.cancelled()).await.is_err() {
        let compared = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            compared = engine.compare_clocks() => compared,
        };
        if let Err(refusal) = compared
            && let Some(untold) = failures.tell(engine.now())
        {
            tracing::warn!(%refusal, untold, "the database's clock cannot be read; it will be tried again");
        }
        tokio::select! {
            biased;
            () = closing.cancelled() => return,
            // What it finds it has logged, and while the store does not answer there are others to say so.
            _ = async { tokio::join!(engine.look_back(), engine.look_at_snapshots()) } => {}
        }
    }
}

/// Follows what other services write to the same database, so that those who listen here are told.
pub(crate) async fn follow(engine: Engine, closing: CancellationToken) {
    if !engine.has_others() {
        return;
    }
    let failures = Seldom::default();
    while !closing.is_cancelled() {
        // A hint may get lost.
        let _ = timeout(LOOK_EVERY, engine.hint()).await;
        let heard = tokio::select! {
            // A service that ends refuses, and that is no failure.
            biased;
            () = closing.cancelled() => return,
            heard = async {
                engine.hear_of_all().await?;
                engine.hear_of_awaited_followers().await
            } => heard,
        };
        if let Err(refusal) = heard
            && let Some(untold) = failures.tell(engine.now())
        {
            tracing::error!(%refusal, untold, "what other services write cannot be followed; it will be tried again");
        }
    }
}
