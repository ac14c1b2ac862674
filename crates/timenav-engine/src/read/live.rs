//! Signals the growth of ledgers to listeners. Only listened-to ledgers are tracked, because new entries are read from
//! the store.

use std::collections::HashMap;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use parking_lot::Mutex;
use timenav_core::ids::TimelineId;
use tokio::sync::watch;

#[derive(Default)]
pub(crate) struct Live {
    sizes: Rooms,
    permissions: watch::Sender<()>,
}

type Rooms = Arc<Mutex<HashMap<TimelineId, watch::Sender<u64>>>>;

/// Removes a channel when its last listener goes. Must be dropped after the receiver.
struct Leaving {
    rooms: Rooms,
    timeline: TimelineId,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let mut rooms = self.rooms.lock();
        if rooms.get(&self.timeline).is_some_and(|room| room.receiver_count() == 0) {
            rooms.remove(&self.timeline);
            // Release memory after many listeners have left.
            if rooms.len() <= rooms.capacity() / 8 {
                rooms.shrink_to_fit();
            }
        }
    }
}

/// The size of a ledger, with a signal for each change.
pub struct Growth {
    // Dropped in this order.
    size: watch::Receiver<u64>,
    _leaving: Leaving,
}

impl Growth {
    /// Waits until the ledger has grown since the size was last read. `false` if the service shuts down.
    #[boxed]
    pub async fn changed(&mut self) -> bool {
        self.size.changed().await.is_ok()
    }

    /// Returns the size, and marks it as read.
    pub(crate) fn size(&mut self) -> u64 {
        *self.size.borrow_and_update()
    }
}

/// A signal for changes of keys, sessions and permissions. It may fire without one.
pub struct AccessChanges {
    identity: Growth,
    permissions: watch::Receiver<()>,
}

impl AccessChanges {
    /// Waits for the next signal. `false` if the service shuts down.
    #[boxed]
    pub async fn changed(&mut self) -> bool {
        tokio::select! {
            goes_on = self.identity.changed() => goes_on,
            goes_on = self.permissions.changed() => goes_on.is_ok(),
        }
    }
}

impl Live {
    /// Never blocks.
    pub(crate) fn permit(&self) {
        self.permissions.send_replace(());
    }

    /// Returns a signal for changes of permissions, combined with one for keys and sessions.
    pub(crate) fn listen_to_access(&self, identity: Growth) -> AccessChanges {
        AccessChanges { identity, permissions: self.permissions.subscribe() }
    }

    /// Never blocks.
    pub(crate) fn grow(&self, sizes: &[(TimelineId, u64)]) {
        let rooms = self.sizes.lock();
        for (timeline, size) in sizes {
            if let Some(room) = rooms.get(timeline) {
                room.send_if_modified(|known| grown(known, *size));
            }
        }
    }

    pub(crate) fn wake(&self, timeline: &TimelineId) {
        if let Some(room) = self.sizes.lock().get(timeline) {
            room.send_modify(|_| ());
        }
    }

    /// `size` is called while no change can be published, so that none is missed.
    pub(crate) fn listen_to_growth(&self, timeline: &TimelineId, size: impl FnOnce() -> u64) -> Growth {
        let mut rooms = self.sizes.lock();
        let room = rooms.entry(timeline.clone()).or_insert_with(|| watch::Sender::new(0));
        room.send_if_modified(|known| grown(known, size()));
        let leaving = Leaving { rooms: Arc::clone(&self.sizes), timeline: timeline.clone() };
        Growth { size: room.subscribe(), _leaving: leaving }
    }
}

/// Groups are published in order, but a new listener may have read a size that is not published yet.
fn grown(known: &mut u64, size: u64) -> bool {
    let is_larger = size > *known;
    *known = size.max(*known);
    is_larger
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn growth_state_is_dropped_with_the_last_listener() {
        let live = Live::default();
        let timeline = TimelineId::new("main").unwrap();
        live.grow(&[(timeline.clone(), 1)]);
        assert!(live.sizes.lock().is_empty());
        let (mut one, two) = (live.listen_to_growth(&timeline, || 1), live.listen_to_growth(&timeline, || 1));
        live.grow(&[(timeline.clone(), 2)]);
        assert_eq!(one.size(), 2);
        drop(two);
        live.grow(&[(timeline.clone(), 3)]);
        assert!(one.changed().await, "the other one still listens");
        assert_eq!(one.size(), 3);
        drop(one);
        assert!(live.sizes.lock().is_empty());
        assert!(live.sizes.lock().capacity() == 0, "nor of the room for them");
    }
}
