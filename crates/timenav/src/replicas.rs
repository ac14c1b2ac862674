//! What a service does that shares its database with others: it follows what they write.

use std::time::Duration;

use timenav_core::time::{Instant, Wall};
use timenav_engine::{Engine, Hint, Seldom};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long it is not looked for what others have written where no hint comes. Whoever asks for something sees it at once;
/// this is for those who listen.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long the next look at all timelines waits for each that there is, whatever hints come: it reads the size of each, and
/// with very many of them a busy service would do nothing else. A hint that names timelines does not wait.
const APART_EACH: Duration = Duration::from_micros(4);
/// The same where no hint comes, which then is only to be sure.
const APART_EACH_UNTOLD: Duration = Duration::from_micros(50);
/// Longest time between two looks.
const APART_MAX: Duration = Duration::from_secs(10);

/// How often the host's clock is compared with the database's, and what is there with what was seen.
const COMPARE_EVERY: Duration = Duration::from_secs(10);

/// How much longer than a comparison of rows took the next one waits at least, so that large directories are not read all the
/// time where they change all the time.
const ROWS_SHARE: u32 = 20;
/// Shortest time between two of them.
const ROWS_APART_MIN: Duration = Duration::from_secs(1);

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

/// Compares the rows of the directory each time that it was taken over by what entries tell: no other look at them finds what
/// another hand has written there.
pub(crate) async fn compare_rows(engine: Engine, closing: CancellationToken) {
    let failures = Seldom::default();
    while !closing.is_cancelled() {
        let began = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            () = engine.directory_moved() => engine.now(),
        };
        let compared = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            compared = engine.compare_directory() => compared,
        };
        if let Err(refusal) = compared
            && let Some(untold) = failures.tell(engine.now())
        {
            tracing::warn!(%refusal, untold, "the rows of the directory cannot be compared; it will be tried again");
        }
        let took = engine.now().micros().saturating_sub(began.micros());
        if timeout(rows_apart(took), closing.cancelled()).await.is_ok() {
            return;
        }
    }
}

/// Follows what other services write to the same database, so that those who listen here are told.
pub(crate) async fn follow(engine: Engine, closing: CancellationToken) {
    if !engine.has_others() {
        return;
    }
    let (failures, mut looked_at) = (Seldom::default(), None);
    while !closing.is_cancelled() {
        let timelines = engine.stats().timelines;
        let every = apart(timelines, APART_EACH_UNTOLD).max(LOOK_EVERY);
        let passed = || looked_at.map_or(Duration::MAX, |at| since(at, engine.now()));
        let rest = every.saturating_sub(passed());
        // A hint may get lost, so all are looked at once in a while, however many hints come.
        let hint = if rest.is_zero() { Some(Hint::All) } else { next_hint(rest, engine.hint(), &closing).await };
        let Some(hint) = hint else { return };
        if hint == Hint::All {
            // What comes meanwhile is one hint, which is kept.
            let early = apart(timelines, APART_EACH).saturating_sub(passed());
            if timeout(early, closing.cancelled()).await.is_ok() {
                return;
            }
            looked_at = Some(engine.now());
        }
        let heard = tokio::select! {
            // A service that ends refuses, and that is no failure.
            biased;
            () = closing.cancelled() => return,
            heard = async {
                engine.hear_of_hinted(hint).await?;
                engine.hear_of_awaited_followers().await
            } => heard,
        };
        if let Err(refusal) = heard
            && let Some(untold) = failures.tell(engine.now())
        {
            tracing::warn!(%refusal, untold, "what other services write cannot be followed; it will be tried again");
        }
    }
}

/// Waits so long for a hint; without one, all are to be looked at. Returns `None` once the service ends.
async fn next_hint(rest: Duration, hint: impl Future<Output = Hint>, closing: &CancellationToken) -> Option<Hint> {
    tokio::select! {
        biased;
        () = closing.cancelled() => None,
        hint = timeout(rest, hint) => Some(hint.unwrap_or(Hint::All)),
    }
}

/// Returns how long ago something was.
fn since(at: Instant<Wall>, now: Instant<Wall>) -> Duration {
    Duration::from_micros(u64::try_from(now.micros().saturating_sub(at.micros())).unwrap_or(0))
}

/// Returns how long the next look waits where there are so many timelines.
fn apart(timelines: u64, each: Duration) -> Duration {
    each.saturating_mul(u32::try_from(timelines).unwrap_or(u32::MAX)).min(APART_MAX)
}

/// Returns how long the next comparison of rows waits after one that took so many microseconds.
fn rows_apart(took_micros: i64) -> Duration {
    let took = Duration::from_micros(u64::try_from(took_micros).unwrap_or(0));
    took.saturating_mul(ROWS_SHARE).max(ROWS_APART_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_the_further_apart_the_more_timelines_there_are() {
        assert_eq!(apart(10, APART_EACH), Duration::from_micros(40));
        assert_eq!(apart(100_000, APART_EACH), Duration::from_millis(400));
        assert!(apart(5_000, APART_EACH_UNTOLD) <= LOOK_EVERY, "as often as ever with a few thousand");
        assert_eq!(apart(100_000, APART_EACH_UNTOLD), Duration::from_secs(5));
        assert_eq!(apart(u64::MAX, APART_EACH), APART_MAX);
    }

    /// With very many timelines a hint is waited for so long that whoever stops the service would notice.
    #[tokio::test]
    async fn a_service_that_ends_waits_for_no_hint() {
        let closing = CancellationToken::new();
        let waits = next_hint(APART_MAX.saturating_mul(1_000), std::future::pending(), &closing);
        let (hint, ()) = tokio::join!(waits, async { closing.cancel() });
        assert_eq!(hint, None);
        let closing = CancellationToken::new();
        assert_eq!(next_hint(APART_MAX, std::future::ready(Hint::All), &closing).await, Some(Hint::All));
        assert_eq!(next_hint(Duration::ZERO, std::future::pending(), &closing).await, Some(Hint::All));
    }

    #[test]
    fn comparisons_of_rows_take_a_small_part_of_the_time() {
        assert_eq!(rows_apart(3_000), ROWS_APART_MIN);
        assert_eq!(rows_apart(500_000), Duration::from_secs(10));
        assert_eq!(rows_apart(-1), ROWS_APART_MIN, "host time may go back");
    }
}
