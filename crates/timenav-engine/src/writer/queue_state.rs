use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

use timenav_core::time::Span;

/// The longest commit after which the next one may block a thread of the runtime.
const QUICK_COMMIT_MAX: Span = Span::from_micros(1_000);

/// What the writer's callers know of its queue.
#[derive(Default)]
pub(crate) struct QueueState {
    /// The number of submissions that are in the queue, or taken from it and not committed yet. Below zero for a moment
    /// if one is committed before it is counted.
    queued: AtomicIsize,
    /// Whether the last group was a single submission, committed quickly: so is the next one, probably.
    is_next_alone: AtomicBool,
}

impl QueueState {
    pub(crate) fn note_queued(&self) {
        self.queued.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn note_taken(&self, count: usize) {
        self.queued.fetch_sub(count.cast_signed(), Ordering::AcqRel);
    }

    pub(crate) fn note_commit(&self, requests: usize, took: Span) {
        self.is_next_alone.store(requests == 1 && took <= QUICK_COMMIT_MAX, Ordering::Relaxed);
    }

    /// A failing store may take long, which no thread of the runtime should wait for.
    pub(crate) fn note_failure(&self) {
        self.is_next_alone.store(false, Ordering::Relaxed);
    }

    /// Returns whether nothing is queued, and the next commit is probably quick.
    pub(crate) fn is_next_alone(&self) -> bool {
        self.is_next_alone.load(Ordering::Relaxed) && self.queued.load(Ordering::Acquire) == 0
    }
}
