//! Commits on the thread of the caller, if nobody else waits.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use timenav_core::time::Span;

use super::Committer;
use crate::writer::queue_state::QueueState;
use crate::writer::sealing::seal_together;
use crate::writer::submission::QueueItem;

/// The most events that a caller commits itself.
const EVENTS_MAX: usize = 16;
/// The fewest threads of a runtime that may block one of them.
const WORKERS_MIN: usize = 2;

impl Committer {
    /// Commits a submission on the calling thread, which belongs to the runtime, and responds to it. Returns it if it
    /// must be queued: others wait, commits take long, or another service may have to be asked.
    pub(crate) fn commit_alone(committer: &Mutex<Self>, queue: &QueueState, item: QueueItem) -> Option<QueueItem> {
        if !queue.is_next_alone() || !item.is_awaited() || item.events_count() > EVENTS_MAX {
            return Some(item);
        }
        let Some(mut committer) = committer.try_lock() else { return Some(item) };
        // Nothing may overtake what was queued before.
        if !queue.is_next_alone() || !committer.may_block_a_task() {
            return Some(item);
        }
        let running = InTask::begin(&mut committer);
        let mut group: Vec<_> = QueueItem::each_of(vec![item]).collect();
        while !group.is_empty() {
            let Some(grouped) = running.0.commit_timed(std::mem::take(&mut group)) else { break };
            group = grouped.later;
            seal_together(vec![grouped.sealed], &running.0.shared);
        }
        None
    }

    fn may_block_a_task(&self) -> bool {
        let is_only_writer = !self.store.is_shared() && !self.store.has_others();
        // Without a lag, each response would wait for a second file.
        is_only_writer
            && self.shared.options.checkpoint_lag > Span::ZERO
            && self.shared.sealing.load(Ordering::Acquire) == 0
            && self.runtime.metrics().num_workers() >= WORKERS_MIN
    }

    /// Waits for a future. Those of a store that is not shared are ready at once, unless something is wrong.
    pub(super) fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        {
            let _entered = self.runtime.enter();
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return value;
            }
        }
        if self.is_in_task {
            tokio::task::block_in_place(|| self.runtime.block_on(future))
        } else {
            self.runtime.block_on(future)
        }
    }
}

/// Marks that a task commits. If it panics, memory may differ from the store, so all writing stops.
struct InTask<'a>(&'a mut Committer);

impl<'a> InTask<'a> {
    fn begin(committer: &'a mut Committer) -> Self {
        committer.is_in_task = true;
        Self(committer)
    }
}

impl Drop for InTask<'_> {
    fn drop(&mut self) {
        self.0.is_in_task = false;
        if std::thread::panicking() {
            self.0.shared.fail("a commit panicked");
        }
    }
}
