use std::collections::BTreeMap;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, LeafRecord, TimelineEnded};
use timenav_core::time::{Instant, Wall};

use super::Replay;
use crate::ledger::head::{EndedTimeline, TimelineKey};
use crate::ledger::payload::TimelineCreated;
use crate::requests::json::read;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) size: u64,
    pub(super) root: Hash,
    pub(super) at: Instant<Wall>,
    pub(super) fork: Option<ForkedFrom>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ForkedFrom {
    /// The other timeline; `None` if no stored timeline has that number.
    pub(super) of: Option<TimelineId>,
    pub(super) size: u64,
}

impl Ended {
    /// Converts a row, which refers to another timeline by number, while entries use names.
    pub(super) fn of(stored: &EndedTimeline, names: &BTreeMap<TimelineKey, &TimelineId>) -> Self {
        let fork = stored.fork.map(|fork| ForkedFrom { of: names.get(&fork.of).copied().cloned(), size: fork.size });
        Self { size: stored.size, root: stored.root, at: stored.ended_at, fork }
    }
}

impl Replay {
    /// On `system`, adds a new timeline to the list.
    pub(super) fn list_timeline(&mut self, record: &LeafRecord<'_>, payload: &[u8]) -> Option<()> {
        if self.timeline_id != TimelineId::SYSTEM {
            return Some(());
        }
        let timeline = TimelineId::new(&record.subject).ok()?;
        let fork = read::<TimelineCreated>(payload).and_then(|made| made.fork);
        let forked = fork.map(|fork| ForkedFrom { of: TimelineId::new(&fork.fork_of).ok(), size: fork.size });
        self.forked.extend(forked.map(|forked| (timeline.clone(), forked)));
        self.timelines.insert(timeline);
        Some(())
    }

    pub(super) fn end_timeline(&mut self, recorded_at: Instant<Wall>, payload: &[u8]) -> Option<()> {
        let TimelineEnded { timeline_id, size, root, .. } = TimelineEnded::decode(payload).ok()?;
        self.timelines.remove(&timeline_id);
        let fork = self.forked.remove(&timeline_id);
        self.ended.insert(timeline_id, Ended { size, root, at: recorded_at, fork });
        Some(())
    }
}
