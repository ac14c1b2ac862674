//! Changes as they happen, for those who listen. Nothing is kept where nobody does.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use timenav_core::clock::Clock;
use timenav_core::ids::TimelineId;
use tokio::sync::{broadcast, watch};

use crate::wall_clock::Host;

/// Changes that a listener may be behind, or have missed, and is told all the same.
pub const KEPT_CHANGES_MAX: usize = 256;
/// Entries about a clock that are looked through for what a listener missed. Some of them changed nothing, such as the
/// pausing of a paused clock.
pub(crate) const CLOCK_ENTRIES_READ_MAX: usize = 4 * KEPT_CHANGES_MAX;

/// A change that listeners are told.
#[derive(Clone, Debug)]
pub(crate) struct ClockChange {
    pub(crate) timeline_id: TimelineId,
    pub(crate) clock: Clock,
    /// When, by the host.
    pub(crate) host: Host,
}

/// The listeners of every timeline that has any.
#[derive(Default)]
pub(crate) struct Live {
    clocks: Rooms<broadcast::Sender<Clock>>,
    /// Sizes of the ledgers that somebody listens to.
    sizes: Rooms<watch::Sender<u64>>,
}

/// Something to listen to for each timeline that somebody listens to.
type Rooms<S> = Arc<Mutex<HashMap<TimelineId, S>>>;

/// What counts its listeners.
trait Room {
    fn is_empty(&self) -> bool;
}

impl Room for broadcast::Sender<Clock> {
    fn is_empty(&self) -> bool {
        self.receiver_count() == 0
    }
}

impl Room for watch::Sender<u64> {
    fn is_empty(&self) -> bool {
        self.receiver_count() == 0
    }
}

/// Takes a room away when the last listener goes. To be dropped after the listener's ear.
struct Leaving<S: Room> {
    rooms: Rooms<S>,
    timeline: TimelineId,
}

impl<S: Room> Drop for Leaving<S> {
    fn drop(&mut self) {
        let mut rooms = self.rooms.lock();
        if rooms.get(&self.timeline).is_some_and(Room::is_empty) {
            rooms.remove(&self.timeline);
            // What many listeners took is given back after them.
            if rooms.len() <= rooms.capacity() / 8 {
                rooms.shrink_to_fit();
            }
        }
    }
}

/// A timeline's clock, change by change.
pub struct ClockStream {
    /// What the listener is to be told first: the changes it missed, or the clock as it is.
    pub missed: Vec<Clock>,
    /// Whether changes were lost, so that `missed` is no continuation of what the listener knows.
    pub reset: bool,
    /// The newest generation that the listener knows after `missed`.
    pub told: u64,
    /// Every later change, in order. It may begin with one that was told already.
    pub changes: ClockChanges,
}

/// Changes of a clock from some moment on.
pub struct ClockChanges {
    // Dropped in this order.
    changes: broadcast::Receiver<Clock>,
    _leaving: Leaving<broadcast::Sender<Clock>>,
}

impl ClockChanges {
    /// Waits for the next change. `None` once the listener is so far behind that changes are lost: who comes back is
    /// told them from the ledger.
    pub async fn next(&mut self) -> Option<Clock> {
        self.changes.recv().await.ok()
    }
}

/// The size of a ledger, now and after each change.
pub struct Growth {
    // Dropped in this order.
    size: watch::Receiver<u64>,
    _leaving: Leaving<watch::Sender<u64>>,
}

impl Growth {
    /// Waits until the ledger has grown since it was last looked at. `false` where the service ends.
    pub async fn changed(&mut self) -> bool {
        self.size.changed().await.is_ok()
    }

    /// Returns the size, and counts it as looked at.
    pub(crate) fn size(&mut self) -> u64 {
        *self.size.borrow_and_update()
    }
}

impl Live {
    /// Tells listeners what happened. Never waits for them.
    pub(crate) fn publish(&self, changes: &[ClockChange]) {
        let rooms = self.clocks.lock();
        for change in changes {
            tracing::debug!(timeline_id = %change.timeline_id, generation = change.clock.generation, host = %change.host, "clock changed");
            if let Some(room) = rooms.get(&change.timeline_id) {
                // An error means that the last listener is about to go.
                let _ = room.send(change.clock.clone());
            }
        }
    }

    /// Tells those who listen to a ledger its size. Never waits for them.
    pub(crate) fn grow(&self, sizes: &[(TimelineId, u64)]) {
        let rooms = self.sizes.lock();
        for (timeline, size) in sizes {
            if let Some(room) = rooms.get(timeline) {
                room.send_if_modified(|known| grown(known, *size));
            }
        }
    }

    /// Returns a ledger's size, now and after each change. `size` is asked while no change can come
    /// between, so that none is missed.
    pub(crate) fn listen_to_growth(&self, timeline: &TimelineId, size: impl FnOnce() -> u64) -> Growth {
        let mut rooms = self.sizes.lock();
        let room = rooms.entry(timeline.clone()).or_insert_with(|| watch::Sender::new(0));
        room.send_if_modified(|known| grown(known, size()));
        let leaving = Leaving { rooms: Arc::clone(&self.sizes), timeline: timeline.clone() };
        Growth { size: room.subscribe(), _leaving: leaving }
    }

    /// Returns the clock's changes from now on.
    pub(crate) fn listen(&self, timeline: &TimelineId) -> ClockChanges {
        let mut rooms = self.clocks.lock();
        let room = rooms.entry(timeline.clone()).or_insert_with(|| broadcast::Sender::new(KEPT_CHANGES_MAX));
        let leaving = Leaving { rooms: Arc::clone(&self.clocks), timeline: timeline.clone() };
        ClockChanges { changes: room.subscribe(), _leaving: leaving }
    }
}

/// Takes a larger size, and tells whether it was one: groups are told of in their order, but who begins
/// to listen may have read a size that is yet to be told.
fn grown(known: &mut u64, size: u64) -> bool {
    let is_larger = size > *known;
    *known = size.max(*known);
    is_larger
}

#[cfg(test)]
mod tests {
    use timenav_core::time::Instant;

    use super::*;

    #[tokio::test]
    async fn nothing_is_kept_of_timelines_that_nobody_listens_to() {
        let live = Live::default();
        let timeline = TimelineId::new("main").unwrap();
        let change = |generation| ClockChange {
            timeline_id: timeline.clone(),
            clock: Clock { generation, ..Clock::new(Instant::EPOCH) },
            host: Instant::EPOCH,
        };
        live.publish(&[change(1)]);
        live.grow(&[(timeline.clone(), 1)]);
        assert!(live.clocks.lock().is_empty() && live.sizes.lock().is_empty());
        let (mut one, two) = (live.listen(&timeline), live.listen(&timeline));
        let mut growth = live.listen_to_growth(&timeline, || 1);
        live.publish(&[change(2)]);
        live.grow(&[(timeline.clone(), 2)]);
        assert_eq!(one.next().await.map(|clock| clock.generation), Some(2));
        assert_eq!(growth.size(), 2);
        drop(two);
        live.publish(&[change(3)]);
        assert_eq!(one.next().await.map(|clock| clock.generation), Some(3), "the other one still listens");
        drop((one, growth));
        assert!(live.clocks.lock().is_empty() && live.sizes.lock().is_empty());
        assert!(live.clocks.lock().capacity() == 0, "nor of the room for them");
    }
}
