//! Changes as they happen, for those who listen.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use timenav_core::clock::Clock;
use timenav_core::ids::TimelineId;
use tokio::sync::{broadcast, watch};

use crate::command::Host;

/// Changes kept per timeline for listeners that come back.
pub const KEPT_CHANGES_MAX: usize = 256;

/// A change that listeners are told.
#[derive(Clone, Debug)]
pub(crate) struct ClockChange {
    pub(crate) timeline_id: TimelineId,
    pub(crate) clock: Clock,
    /// When, by the host.
    pub(crate) host: Host,
}

/// The listeners of every timeline.
#[derive(Default)]
pub(crate) struct Live {
    clocks: Mutex<HashMap<TimelineId, Channel>>,
    /// Sizes of the ledgers that somebody listens to.
    sizes: Mutex<HashMap<TimelineId, watch::Sender<u64>>>,
}

struct Channel {
    sender: broadcast::Sender<Clock>,
    kept: VecDeque<Clock>,
}

impl Channel {
    fn new() -> Self {
        Self { sender: broadcast::Sender::new(KEPT_CHANGES_MAX), kept: VecDeque::new() }
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
    pub changes: broadcast::Receiver<Clock>,
}

impl Live {
    /// Tells listeners what happened. Never waits for them.
    pub(crate) fn publish(&self, changes: &[ClockChange]) {
        let mut channels = self.clocks.lock();
        for change in changes {
            tracing::debug!(timeline_id = %change.timeline_id, generation = change.clock.generation, host = %change.host, "clock changed");
            let channel = channels.entry(change.timeline_id.clone()).or_insert_with(Channel::new);
            if channel.kept.len() == KEPT_CHANGES_MAX {
                channel.kept.pop_front();
            }
            channel.kept.push_back(change.clock.clone());
            // An error means that nobody listens.
            let _ = channel.sender.send(change.clock.clone());
        }
    }

    /// Tells those who listen to a ledger its size. Never waits for them.
    pub(crate) fn grow(&self, sizes: &[(TimelineId, u64)]) {
        let mut senders = self.sizes.lock();
        for (timeline, size) in sizes {
            let Some(sender) = senders.get(timeline) else { continue };
            if sender.receiver_count() == 0 {
                senders.remove(timeline);
            } else {
                sender.send_if_modified(|known| grown(known, *size));
            }
        }
    }

    /// Returns a ledger's size, now and after each change. `size` is asked while no change can come
    /// between, so that none is missed.
    pub(crate) fn listen_to_growth(&self, timeline: &TimelineId, size: impl FnOnce() -> u64) -> watch::Receiver<u64> {
        let mut senders = self.sizes.lock();
        let sender = senders.entry(timeline.clone()).or_insert_with(|| watch::Sender::new(0));
        sender.send_if_modified(|known| grown(known, size()));
        sender.subscribe()
    }

    /// Returns the clock's changes after generation `seen`, or from the clock as it is now on.
    pub(crate) fn listen(&self, timeline: &TimelineId, now: Clock, seen: Option<u64>) -> ClockStream {
        let mut channels = self.clocks.lock();
        let channel = channels.entry(timeline.clone()).or_insert_with(Channel::new);
        let changes = channel.sender.subscribe();
        // A change may have come between the reading of `now` and this moment.
        let newest = channel.kept.back().filter(|kept| kept.generation > now.generation).cloned().unwrap_or(now);
        let told = newest.generation;
        let (missed, reset) = match seen {
            Some(seen) if seen == newest.generation => (Vec::new(), false),
            Some(seen)
                if seen < newest.generation
                    && channel.kept.front().is_some_and(|first| first.generation <= seen + 1) =>
            {
                (channel.kept.iter().filter(|clock| clock.generation > seen).cloned().collect(), false)
            }
            Some(_) => (vec![newest], true),
            None => (vec![newest], false),
        };
        ClockStream { missed, reset, told, changes }
    }
}

/// Takes a larger size, and tells whether it was one: groups are told of in their order, but who begins
/// to listen may have read a size that is yet to be told.
fn grown(known: &mut u64, size: u64) -> bool {
    let is_larger = size > *known;
    *known = size.max(*known);
    is_larger
}
