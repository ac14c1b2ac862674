//! Work that takes long: on threads that give way to those that answer and write, a few pieces at a time, and
//! everybody's in turn.
//!
//! Whatever takes more than a millisecond of a processor and may be asked for by anybody is done here: a page of an
//! export, a query that reads thousands of rows, a look at a view. Waiting for the ledger is no work: an entry is
//! written before a turn is asked for, so that nobody holds one while waiting. Searches by name are the exception: their
//! turns are for few entries at a time, and are no threads.

use std::pin::Pin;

use timenav_core::ids::UserId;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::turns::{Turn, Turns};

/// Pieces of long work that are done at the same moment, other than whole views: a piece takes some milliseconds.
pub const LONG_WORK_RUNNING_MAX: usize = 2;
/// Views of timelines that are made or looked at in the same moment: seconds, where a timeline is large.
pub const VIEWS_RUNNING_MAX: usize = 2;

/// Searches for an event by its name that are on their way at the same moment, from their entry to their answer. They are
/// short and many, and whoever asks for them as fast as they are answered would keep the writer busy with their entries.
pub const NAME_SEARCHES_RUNNING_MAX: usize = 4;

/// Counts of events in groups that are under way at the same moment, from their first event to their answer: a count
/// holds all its groups, also while others have their turns to read.
pub const COUNTS_RUNNING_MAX: usize = 4;

/// Rows between two moments in which long work lets others have the processor: a tenth of a millisecond's worth.
const ROWS_BETWEEN_YIELDS: usize = 32;

/// Goes through rows and lets others have the processor between them, if they wait for it.
///
/// Threads that step back still keep a processor to the end of their slice, up to four milliseconds, while one that
/// answers has been woken and waits for it: Linux does not take it from them before. Long work that gives it up by
/// itself keeps its share of the processors, which is less for threads of the lowest rank.
pub(crate) fn giving_way<T>(rows: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    rows.into_iter().enumerate().map(|(number, row)| {
        give_way_after(number);
        row
    })
}

/// As [`giving_way`], for a loop that counts its rows itself: to be called with the number of each.
pub(crate) fn give_way_after(number: usize) {
    if number % ROWS_BETWEEN_YIELDS == ROWS_BETWEEN_YIELDS - 1 {
        std::thread::yield_now();
    }
}

/// Where long work is done, and whose turn it is.
pub(crate) struct LongWork {
    threads: Handle,
    pieces: Turns<UserId>,
    views: Turns<UserId>,
    name_searches: Turns<UserId>,
    counts: Turns<UserId>,
}

// Work is boxed before anything waits for it: whoever waits would be as large as it otherwise.
impl LongWork {
    /// Returns work on some threads, of which nobody has asked anything yet.
    pub(crate) fn new(threads: Handle) -> Self {
        Self {
            threads,
            pieces: Turns::new(LONG_WORK_RUNNING_MAX),
            views: Turns::new(VIEWS_RUNNING_MAX),
            name_searches: Turns::new(NAME_SEARCHES_RUNNING_MAX),
            counts: Turns::new(COUNTS_RUNNING_MAX),
        }
    }

    /// Does a piece of work that takes some milliseconds, when it is the caller's turn. Dropping the future gives it
    /// up. The work must ask for no turn itself, of which there might be none left.
    ///
    /// # Errors
    /// Those of the work.
    pub(crate) fn in_turn<T: Send + 'static>(
        &self,
        caller: &Caller,
        work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    ) -> impl Future<Output = Result<T, Refusal>> + Send {
        self.run(Some((&self.pieces, caller.user_id.clone())), Box::pin(work))
    }

    /// As [`LongWork::in_turn`], for work that makes or looks at a view of a timeline, which may take seconds.
    ///
    /// # Errors
    /// Those of the work.
    pub(crate) fn in_turn_of_views<T: Send + 'static>(
        &self,
        caller: &Caller,
        work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    ) -> impl Future<Output = Result<T, Refusal>> + Send {
        self.run(Some((&self.views, caller.user_id.clone())), Box::pin(work))
    }

    /// Waits until it is the caller's turn to search for a name. To be held until the search is answered.
    pub(crate) async fn turn_to_search(&self, caller: &Caller) -> Turn<UserId> {
        self.name_searches.take(caller.user_id.clone()).await
    }

    /// Waits until it is the caller's turn to count events in groups. To be held as long as there are groups. Those who
    /// hold one wait for turns to read, and for no other.
    pub(crate) async fn turn_to_count(&self, caller: &Caller) -> Turn<UserId> {
        self.counts.take(caller.user_id.clone()).await
    }

    /// Does work that has limits of its own on the threads for long work.
    ///
    /// # Errors
    /// Those of the work.
    pub(crate) fn aside<T: Send + 'static>(
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
            // Waited for here, and not by whoever asks: a body that is compressed for a client that does not read is not
            // asked for more, and a turn that was handed to it would be nobody's. Given back when the work is over, and
            // not when nobody waits for it any more.
            let _turn = match in_turn {
                Some((turns, of)) => Some(turns.take(of).await),
                None => None,
            };
            work.await
        });
        let done = AbortOnDropHandle::new(working).await;
        done.map_err(|error| Refusal::Damaged(format!("long work ended badly: {error}")))?
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use timenav_core::ids::{KeyId, TimelineId};
    use tokio::sync::Semaphore;

    use super::*;
    use crate::caller::Credential;

    fn caller() -> Caller {
        Caller {
            user_id: UserId::new("ada").unwrap(),
            credential: Credential::Key(KeyId::new("key_1").unwrap()),
            timeline_id: TimelineId::main(),
            scopes: None,
        }
    }

    /// The body of an answer is asked for more, and then not again, because its client does not read.
    #[tokio::test]
    async fn whoever_is_not_polled_any_more_holds_no_turn() {
        let long_work = LongWork::new(Handle::current());
        let (gate, caller) = (std::sync::Arc::new(Semaphore::new(0)), caller());
        let piece = || {
            let gate = std::sync::Arc::clone(&gate);
            Box::pin(long_work.in_turn(&caller, async move {
                gate.acquire().await.unwrap().forget();
                Ok(())
            }))
        };
        let mut asked: Vec<_> = (0..3 * LONG_WORK_RUNNING_MAX).map(|_| piece()).collect();
        for piece in &mut asked {
            assert!(matches!(piece.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
            tokio::task::yield_now().await;
        }
        gate.add_permits(asked.len() + 1);
        // None of them is polled again, and the last one is done all the same.
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
