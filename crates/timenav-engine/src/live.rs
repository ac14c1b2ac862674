//! The sizes of ledgers as they grow, for those who listen. Nothing is kept where nobody does: what is new is in the
//! ledger.

use std::collections::HashMap;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use parking_lot::Mutex;
use timenav_core::ids::TimelineId;
use tokio::sync::watch;

/// The listeners of every timeline that has any.
#[derive(Default)]
pub(crate) struct Live {
    /// Sizes of the ledgers that somebody listens to.
    sizes: Rooms,
    /// Changes whenever the permissions of some timeline have changed.
    permissions: watch::Sender<()>,
}

/// Something to listen to for each timeline that somebody listens to.
type Rooms = Arc<Mutex<HashMap<TimelineId, watch::Sender<u64>>>>;

/// Takes a room away when the last listener goes. To be dropped after the listener's ear.
struct Leaving {
    rooms: Rooms,
    timeline: TimelineId,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let mut rooms = self.rooms.lock();
        if rooms.get(&self.timeline).is_some_and(|room| room.receiver_count() == 0) {
            rooms.remove(&self.timeline);
            // What many listeners took is given back after them.
            if rooms.len() <= rooms.capacity() / 8 {
                rooms.shrink_to_fit();
            }
        }
    }
}

/// The size of a ledger, now and after each change.
pub struct Growth {
    // Dropped in this order.
    size: watch::Receiver<u64>,
    _leaving: Leaving,
}

impl Growth {
    /// Waits until the ledger has grown since it was last looked at. `false` where the service ends.
    #[boxed]
    pub async fn changed(&mut self) -> bool {
        self.size.changed().await.is_ok()
    }

    /// Returns the size, and counts it as looked at.
    pub(crate) fn size(&mut self) -> u64 {
        *self.size.borrow_and_update()
    }
}

/// What changes whenever keys, sessions or permissions may have.
pub struct AccessChanges {
    identity: Growth,
    permissions: watch::Receiver<()>,
}

impl AccessChanges {
    /// Waits until there may have been a change. `false` where the service ends.
    #[boxed]
    pub async fn changed(&mut self) -> bool {
        tokio::select! {
            goes_on = self.identity.changed() => goes_on,
            goes_on = self.permissions.changed() => goes_on.is_ok(),
        }
    }
}

impl Live {
    /// Wakes those who wait for the end of a permission. Never waits for them.
    pub(crate) fn permit(&self) {
        self.permissions.send_replace(());
    }

    /// Returns what changes whenever permissions have, beside what tells of keys and sessions.
    pub(crate) fn listen_to_access(&self, identity: Growth) -> AccessChanges {
        AccessChanges { identity, permissions: self.permissions.subscribe() }
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

    /// Wakes those who listen to a ledger that does not grow any more, so that they see that it has ended.
    pub(crate) fn wake(&self, timeline: &TimelineId) {
        if let Some(room) = self.sizes.lock().get(timeline) {
            room.send_modify(|_| ());
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
    use super::*;

    #[tokio::test]
    async fn nothing_is_kept_of_timelines_that_nobody_listens_to() {
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
