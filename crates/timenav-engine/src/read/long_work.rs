//! Long-running work, on low-priority threads, with limited concurrency and fair turns between users.
//!
//! Any work that takes more than a millisecond of processor time and that clients can request belongs here: a page of
//! an export, a query that reads thousands of rows, a search in a view. Waiting for the ledger does not: entries are
//! written before a turn is taken, so that a waiting task never holds a turn. Searches by name are an exception: their
//! turns bound the number of entries, and are not threads.

use std::pin::Pin;

use timenav_core::ids::UserId;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use crate::ports::store_error::StoreError;
use crate::read::turns::{Turn, Turns};
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

/// Maximum number of concurrent pieces of work, other than views. A piece takes some milliseconds.
pub const LONG_WORK_RUNNING_MAX: usize = 2;
/// Maximum number of views being built or searched at the same time, which takes seconds for a large timeline.
pub const VIEWS_RUNNING_MAX: usize = 2;

/// Such searches are short and frequent: without a limit, a client could keep the writer busy with entries.
pub const NAME_SEARCHES_RUNNING_MAX: usize = 4;

/// A count holds all its groups in memory, even while it waits for its turn to read.
pub const COUNTS_RUNNING_MAX: usize = 4;

/// Runs work that takes long on a thread that serves no requests.
pub(crate) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| StoreError::Unavailable(error.to_string()))
}

/// Rows between two yields: about a tenth of a millisecond.
const ROWS_BETWEEN_YIELDS: usize = 32;

/// Iterates over rows and yields the processor between them.
///
/// Low-priority threads keep a processor until the end of their time slice, up to four milliseconds, even if a thread
/// that serves a request is ready: Linux does not preempt them earlier. Work that yields voluntarily keeps its share of
/// the processors, which is smaller for threads of the lowest priority.
pub(crate) fn yielding<T>(rows: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    rows.into_iter().enumerate().map(|(number, row)| {
        yield_after(number);
        row
    })
}

/// Like [`yielding`], for loops that count rows themselves. Call it with the number of each row.
pub(crate) fn yield_after(number: usize) {
    if number % ROWS_BETWEEN_YIELDS == ROWS_BETWEEN_YIELDS - 1 {
        std::thread::yield_now();
    }
}

pub(crate) struct LongWork {
    threads: Handle,
    pieces: Turns<UserId>,
    views: Turns<UserId>,
    name_searches: Turns<UserId>,
    counts: Turns<UserId>,
}

// Futures are boxed before they are awaited. Otherwise the awaiting future would be as large as the work.
impl LongWork {
    pub(crate) fn new(threads: Handle) -> Self {
        Self {
            threads,
            pieces: Turns::new(LONG_WORK_RUNNING_MAX),
            views: Turns::new(VIEWS_RUNNING_MAX),
            name_searches: Turns::new(NAME_SEARCHES_RUNNING_MAX),
            counts: Turns::new(COUNTS_RUNNING_MAX),
        }
    }

    /// Runs a piece of work of some milliseconds when it is the caller's turn. Dropping the future cancels it. The work
    /// must not take a turn itself, because none might be left.
    pub(crate) fn in_turn<T: Send + 'static>(
        &self,
        caller: &Caller,
        work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    ) -> impl Future<Output = Result<T, Refusal>> + Send {
        self.run(Some((&self.pieces, caller.user_id.clone())), Box::pin(work))
    }

    /// Like [`LongWork::in_turn`], for work that builds or searches a view of a timeline, which may take seconds.
    pub(crate) fn in_turn_of_views<T: Send + 'static>(
        &self,
        caller: &Caller,
        work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    ) -> impl Future<Output = Result<T, Refusal>> + Send {
        self.run(Some((&self.views, caller.user_id.clone())), Box::pin(work))
    }

    /// Waits for the caller's turn to search for a name. Hold it until the response is ready.
    pub(crate) async fn turn_to_search(&self, caller: &Caller) -> Turn<UserId> {
        self.name_searches.take(caller.user_id.clone()).await
    }

    /// Hold the turn as long as the groups exist. While holding it, only turns to read may be awaited.
    pub(crate) async fn turn_to_count(&self, caller: &Caller) -> Turn<UserId> {
        self.counts.take(caller.user_id.clone()).await
    }

    /// Runs work that has limits of its own on the threads for long-running work.
    pub(crate) fn without_turn<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    ) -> impl Future<Output = Result<T, Refusal>> + Send {
        self.run(None, Box::pin(work))
    }

    async fn run<T: Send + 'static>(
        &self,
        in_turn: Option<(&Turns<UserId>, UserId)>,
        work: Pin<Box<dyn Future<Output = Result<T, Refusal>> + Send>>,
    ) -> Result<T, Refusal> {
        let in_turn = in_turn.map(|(turns, of)| (turns.clone(), of));
        let working = self.threads.spawn(async move {
            // Await the turn in the spawned task, not in the caller's future: a compressed body of a client that does
            // not read is not polled, and would keep a turn given to it. The turn is released when the work is done,
            // not when the caller stops waiting.
            let _turn = match in_turn {
                Some((turns, of)) => Some(turns.take(of).await),
                None => None,
            };
            work.await
        });
        let done = AbortOnDropHandle::new(working).await;
        done.map_err(|error| Refusal::Damaged(format!("a background task failed: {error}")))?
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use timenav_core::ids::{KeyId, TimelineId};
    use tokio::sync::Semaphore;

    use super::*;
    use crate::requests::caller::Credential;

    fn caller() -> Caller {
        Caller {
            user_id: UserId::new("ada").unwrap(),
            credential: Credential::Key(KeyId::new("key_1").unwrap()),
            timeline_id: TimelineId::main(),
            scopes: None,
        }
    }

    /// A response body is polled once and then never again, because its client does not read.
    #[tokio::test]
    async fn unpolled_future_releases_its_slot() {
        let long_work = LongWork::new(Handle::current());
        let (gate, caller) = (std::sync::Arc::new(Semaphore::new(0)), caller());
        let piece = || {
            let gate = std::sync::Arc::clone(&gate);
            Box::pin(long_work.in_turn(&caller, async move {
                gate.acquire().await.unwrap().forget();
                Ok(())
            }))
        };
        let mut pieces: Vec<_> = (0..3 * LONG_WORK_RUNNING_MAX).map(|_| piece()).collect();
        for piece in &mut pieces {
            assert!(matches!(piece.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
            tokio::task::yield_now().await;
        }
        gate.add_permits(pieces.len() + 1);
        // None of them is polled again, and the last one still completes.
        let mut last = pin!(piece());
        for _ in 0..1_000 {
            if let Poll::Ready(done) = futures_poll(last.as_mut()) {
                return done.unwrap();
            }
            tokio::task::yield_now().await;
        }
        panic!("turns were lost");
    }

    fn futures_poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }
}
