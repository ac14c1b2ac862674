//! Changes of firings that are not in a ledger, for observers: claims, extensions, and failed attempts. Changes are
//! only buffered for existing observers, up to a limit.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use timenav_core::ids::{FiringId, TimelineId};
use timenav_core::time::{Instant, Wall};
use tokio::sync::Notify;

/// If more firings arrive, the buffer is dropped, and the observer is notified.
pub const PENDING_FIRINGS_MAX: usize = 2_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    Leased {
        holder: Arc<str>,
        number: u32,
        /// End of the lease, in host time.
        until: Instant<Wall>,
    },
    /// The lease was extended until this host time.
    Extended(Instant<Wall>),
    /// The attempt failed. It is not retried before this host time.
    Ended(Instant<Wall>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The ledger size at that time: this is sent after the messages of those entries.
    pub(crate) size: u64,
    pub(crate) firings: Vec<(FiringId, Attempt)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FiringNotice {
    /// The buffer was exceeded and dropped.
    TooMuch,
    Note(Arc<Note>),
}

#[derive(Debug, Default)]
pub(crate) struct Observers(Mutex<HashMap<TimelineId, Vec<Arc<PendingNotes>>>>);

#[derive(Debug, Default)]
struct PendingNotes {
    notes: Mutex<Notes>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Notes {
    waiting: VecDeque<Arc<Note>>,
    firings: usize,
    is_too_much: bool,
}

impl Notes {
    fn add(&mut self, note: &Arc<Note>) {
        self.firings += note.firings.len();
        if self.firings > PENDING_FIRINGS_MAX {
            *self = Self { is_too_much: true, ..Self::default() };
        } else {
            self.waiting.push_back(Arc::clone(note));
        }
    }

    fn next(&mut self, size: u64) -> Option<FiringNotice> {
        if std::mem::take(&mut self.is_too_much) {
            return Some(FiringNotice::TooMuch);
        }
        let note = self.waiting.pop_front_if(|note| note.size <= size)?;
        self.firings -= note.firings.len();
        Some(FiringNotice::Note(note))
    }
}

/// An observer of a timeline's firings.
pub(crate) struct FiringSubscription {
    observers: Arc<Observers>,
    timeline: TimelineId,
    pending: Arc<PendingNotes>,
}

impl Observers {
    pub(crate) fn listen(self: &Arc<Self>, timeline: &TimelineId) -> FiringSubscription {
        let pending = Arc::<PendingNotes>::default();
        self.0.lock().entry(timeline.clone()).or_default().push(Arc::clone(&pending));
        FiringSubscription { observers: Arc::clone(self), timeline: timeline.clone(), pending }
    }

    /// The note is only built if there are observers. Never blocks.
    pub(crate) fn notify(&self, timeline: &TimelineId, note: impl FnOnce() -> Note) {
        let rooms = self.0.lock();
        let Some(listeners) = rooms.get(timeline) else { return };
        let note = Arc::new(note());
        if note.firings.is_empty() {
            return;
        }
        for listener in listeners {
            listener.notes.lock().add(&note);
            listener.arrived.notify_one();
        }
    }
}

impl FiringSubscription {
    /// Returns the next item, if it belongs before a ledger size.
    pub(crate) fn next(&self, size: u64) -> Option<FiringNotice> {
        self.pending.notes.lock().next(size)
    }

    /// Waits until there was a notification since the last wait.
    pub(crate) async fn notified(&self) {
        self.pending.arrived.notified().await;
    }
}

impl Drop for FiringSubscription {
    fn drop(&mut self) {
        let mut rooms = self.observers.0.lock();
        if let Some(listeners) = rooms.get_mut(&self.timeline) {
            listeners.retain(|listener| !Arc::ptr_eq(listener, &self.pending));
            if listeners.is_empty() {
                rooms.remove(&self.timeline);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(size: u64, firings: usize) -> Note {
        let one = |number| (FiringId::new(&format!("firing_{number}")).unwrap(), Attempt::Ended(Instant::MAX));
        Note { size, firings: (0..firings).map(one).collect() }
    }

    fn sizes(subscription: &FiringSubscription, size: u64) -> Vec<Option<u64>> {
        let notices = std::iter::from_fn(|| subscription.next(size));
        let text = |notices| match notices {
            FiringNotice::TooMuch => None,
            FiringNotice::Note(note) => Some(note.size),
        };
        notices.map(text).collect()
    }

    #[tokio::test]
    async fn firings_are_reported_once_the_ledger_reaches_them() {
        let (observers, timeline) = (Arc::<Observers>::default(), TimelineId::new("main").unwrap());
        observers.notify(&timeline, || panic!("nobody listens"));
        let subscription = observers.listen(&timeline);
        observers.notify(&timeline, || note(3, 1));
        observers.notify(&timeline, || note(3, 0));
        observers.notify(&TimelineId::new("other").unwrap(), || panic!("nobody listens there"));
        observers.notify(&timeline, || note(5, 2));
        subscription.notified().await;
        assert_eq!(sizes(&subscription, 2), []);
        assert_eq!(sizes(&subscription, 4), [Some(3)]);
        assert_eq!(sizes(&subscription, 5), [Some(5)]);
        drop(subscription);
        assert!(observers.0.lock().is_empty());
    }

    #[test]
    fn slow_observer_is_notified_of_missed_firings() {
        let (observers, timeline) = (Arc::<Observers>::default(), TimelineId::new("main").unwrap());
        let (slow, other) = (observers.listen(&timeline), observers.listen(&timeline));
        observers.notify(&timeline, || note(1, PENDING_FIRINGS_MAX));
        assert_eq!(sizes(&other, 1), [Some(1)], "as many as are kept");
        observers.notify(&timeline, || note(2, 1));
        assert_eq!(sizes(&slow, 2), [None], "and one more");
        assert_eq!(sizes(&other, 2), [Some(2)]);
        observers.notify(&timeline, || note(2, 1));
        assert_eq!(sizes(&slow, 2), [Some(2)], "what came after that is told");
    }
}
