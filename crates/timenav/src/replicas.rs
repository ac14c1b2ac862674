//! What a service does that shares its database with others: it follows what they write.

use std::time::Duration;

use timenav_engine::{Engine, Seldom};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long it is not looked for what others have written where no hint comes. Whoever asks for something sees it at once;
/// this is for those who listen.
const LOOK_EVERY: Duration = Duration::from_millis(250);

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
            heard = engine.hear_of_all() => heard,
            () = closing.cancelled() => return,
        };
        if let Err(refusal) = heard
            && let Some(untold) = failures.tell(engine.now())
        {
            tracing::error!(%refusal, untold, "what other services write cannot be followed; it will be tried again");
        }
    }
}
