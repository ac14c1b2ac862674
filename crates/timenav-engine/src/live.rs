//! Changes as they happen, for those who listen.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use timenav_core::clock::Clock;
use timenav_core::ids::TimelineId;
use tokio::sync::broadcast;

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
