//! Background work of a service that shares its database: it follows what others write.

use std::time::Duration;

use timenav_core::time::{Instant, Wall};
use timenav_engine::{Engine, Hint, RateLimitedLog};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Poll interval for streams, for writes of other services without notifications. Requests see new entries at once.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Minimum time between two polls of all timelines, per timeline. A poll reads the size of each, so with very many
/// timelines a busy service would do nothing else. A notification that names timelines is processed at once.
const APART_EACH: Duration = Duration::from_micros(4);
/// The same without a notification, when polling is only a precaution.
const APART_EACH_UNREPORTED: Duration = Duration::from_micros(50);
const APART_MAX: Duration = Duration::from_secs(10);

/// Interval for comparing the host's clock with the database's, and the ledgers with what was seen before.
const COMPARE_EVERY: Duration = Duration::from_secs(10);

/// Minimum wait after a row comparison, as a multiple of its duration: large directories may change all the time.
const ROWS_SHARE: u32 = 20;
const ROWS_APART_MIN: Duration = Duration::from_secs(1);

/// Compares the host's clock with that of a remote database, and detects rollbacks while there are no requests.
pub(crate) async fn compare(engine: Engine, closing: CancellationToken) {
    let failures = RateLimitedLog::default();
    while timeout(COMPARE_EVERY, closing.cancelled()).await.is_err() {
        let compared = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            compared = engine.compare_clocks() => compared,
        };
        if let Err(refusal) = compared
            && let Some(suppressed) = failures.record(engine.now())
        {
            tracing::warn!(%refusal, suppressed, "the database's clock cannot be read; will retry");
        }
        tokio::select! {
            biased;
            () = closing.cancelled() => return,
            // Findings are logged where they are found. An unavailable store is reported elsewhere.
            _ = async { tokio::join!(engine.look_back(), engine.look_at_snapshots()) } => {}
        }
    }
}

/// Runs whenever the directory was updated from entries: no other check detects foreign writes to these rows.
pub(crate) async fn compare_rows(engine: Engine, closing: CancellationToken) {
    let failures = RateLimitedLog::default();
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
            && let Some(suppressed) = failures.record(engine.now())
        {
            tracing::warn!(%refusal, suppressed, "the rows of the directory cannot be compared; will retry");
        }
        let took = engine.now().micros().saturating_sub(began.micros());
        if timeout(rows_apart(took), closing.cancelled()).await.is_ok() {
            return;
        }
    }
}

/// Follows the writes of other services to the same database on behalf of streams.
pub(crate) async fn follow(engine: Engine, closing: CancellationToken) {
    if !engine.has_others() {
        return;
    }
    let (failures, mut checked_at) = (RateLimitedLog::default(), None);
    while !closing.is_cancelled() {
        let timelines = engine.stats().timelines;
        let every = apart(timelines, APART_EACH_UNREPORTED).max(LOOK_EVERY);
        let passed = || checked_at.map_or(Duration::MAX, |at| since(at, engine.now()));
        let rest = every.saturating_sub(passed());
        // Notifications may be lost, so all timelines are polled from time to time, regardless of notifications.
        let hint = if rest.is_zero() { Some(Hint::All) } else { next_hint(rest, engine.hint(), &closing).await };
        let Some(hint) = hint else { return };
        if hint == Hint::All {
            // Notifications received meanwhile are merged into one.
            let early = apart(timelines, APART_EACH).saturating_sub(passed());
            if timeout(early, closing.cancelled()).await.is_ok() {
                return;
            }
            checked_at = Some(engine.now());
        }
        let received = tokio::select! {
            // Rejections during shutdown are not failures.
            biased;
            () = closing.cancelled() => return,
            received = async {
                engine.catch_up_hinted(hint).await?;
                engine.learn_awaited_followers().await
            } => received,
        };
        if let Err(refusal) = received
            && let Some(suppressed) = failures.record(engine.now())
        {
            tracing::warn!(%refusal, suppressed, "entries of other services cannot be read; will retry");
        }
    }
}

/// Waits up to `rest` for a notification, and without one polls all timelines. Returns `None` on shutdown.
async fn next_hint(rest: Duration, hint: impl Future<Output = Hint>, closing: &CancellationToken) -> Option<Hint> {
    tokio::select! {
        biased;
        () = closing.cancelled() => None,
        hint = timeout(rest, hint) => Some(hint.unwrap_or(Hint::All)),
    }
}

fn since(at: Instant<Wall>, now: Instant<Wall>) -> Duration {
    Duration::from_micros(u64::try_from(now.micros().saturating_sub(at.micros())).unwrap_or(0))
}

fn apart(timelines: u64, each: Duration) -> Duration {
    each.saturating_mul(u32::try_from(timelines).unwrap_or(u32::MAX)).min(APART_MAX)
}

fn rows_apart(duration_us: i64) -> Duration {
    let took = Duration::from_micros(u64::try_from(duration_us).unwrap_or(0));
    took.saturating_mul(ROWS_SHARE).max(ROWS_APART_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polling_interval_grows_with_timeline_count() {
        assert_eq!(apart(10, APART_EACH), Duration::from_micros(40));
        assert_eq!(apart(100_000, APART_EACH), Duration::from_millis(400));
        assert!(apart(5_000, APART_EACH_UNREPORTED) <= LOOK_EVERY, "as often as ever with a few thousand");
        assert_eq!(apart(100_000, APART_EACH_UNREPORTED), Duration::from_secs(5));
        assert_eq!(apart(u64::MAX, APART_EACH), APART_MAX);
    }

    /// With very many timelines the wait is long enough to delay a shutdown noticeably.
    #[tokio::test]
    async fn shutdown_does_not_wait_for_a_hint() {
        let closing = CancellationToken::new();
        let waits = next_hint(APART_MAX.saturating_mul(1_000), std::future::pending(), &closing);
        let (hint, ()) = tokio::join!(waits, async { closing.cancel() });
        assert_eq!(hint, None);
        let closing = CancellationToken::new();
        assert_eq!(next_hint(APART_MAX, std::future::ready(Hint::All), &closing).await, Some(Hint::All));
        assert_eq!(next_hint(Duration::ZERO, std::future::pending(), &closing).await, Some(Hint::All));
    }

    #[test]
    fn row_comparison_interval_grows_with_its_duration() {
        assert_eq!(rows_apart(3_000), ROWS_APART_MIN);
        assert_eq!(rows_apart(500_000), Duration::from_secs(10));
        assert_eq!(rows_apart(-1), ROWS_APART_MIN, "host time may go back");
    }
}
