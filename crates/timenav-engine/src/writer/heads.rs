use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

use timenav_core::directory::Directory;
use timenav_core::ids::{TimelineId, UserId};

use crate::access::directory_rows::DirectoryRows;
use crate::ledger::head::{EndedTimeline, TimelineKey, TimelineState};

/// The state that decisions start from. It changes only by commits.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    timelines: HashMap<TimelineId, Arc<TimelineState>>,
    pub(crate) directory: Arc<Directory>,
    /// The rows of the directory, including those of credentials that are no longer valid.
    pub(crate) rows: Arc<DirectoryRows>,
    pub(crate) last_key: i64,
    /// The negative store keys, which belong to adopted timelines, ended or not.
    arrived: BTreeSet<TimelineKey>,
    made_by: HashMap<UserId, usize>,
    pub(crate) counted: usize,
}

impl Heads {
    pub(crate) fn new(
        timelines: HashMap<TimelineId, Arc<TimelineState>>,
        directory: Arc<Directory>,
        rows: Arc<DirectoryRows>,
        ended: &[EndedTimeline],
    ) -> Self {
        let mut heads = Self::default();
        // Ended timelines first, so that one that was put back into the database is detected.
        heads.end(ended);
        heads.take_over(timelines.into_values(), directory, rows);
        heads
    }

    pub(crate) fn take_over(
        &mut self,
        states: impl IntoIterator<Item = Arc<TimelineState>>,
        directory: Arc<Directory>,
        rows: Arc<DirectoryRows>,
    ) {
        self.directory = directory;
        self.rows = rows;
        for state in states {
            self.last_key = self.last_key.max(state.head.key.0);
            self.arrived.extend(Some(state.head.key).filter(|key| is_of_arrival(*key)));
            let (created_by, counted) = (state.head.created_by.clone(), state.counted());
            if self.timelines.insert(state.head.id.clone(), state).is_none() {
                *self.made_by.entry(created_by).or_default() += counted;
                self.counted += counted;
            }
        }
    }

    /// Ended timelines no longer count for their creators. Numbers are never reused: entries stay under them.
    pub(crate) fn end(&mut self, ended: &[EndedTimeline]) {
        for EndedTimeline { key, id, .. } in ended {
            self.last_key = self.last_key.max(key.0);
            self.arrived.extend(Some(*key).filter(|key| is_of_arrival(*key)));
            let Some(state) = self.timelines.remove(id) else { continue };
            let (created_by, counted) = (&state.head.created_by, state.counted());
            self.counted -= counted;
            if let Some(count) = self.made_by.get_mut(created_by) {
                *count -= counted;
                if *count == 0 {
                    self.made_by.remove(created_by);
                }
            }
        }
    }

    pub(crate) fn get(&self, timeline: &TimelineId) -> Option<&Arc<TimelineState>> {
        self.timelines.get(timeline)
    }

    /// Returns all timelines in arbitrary order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<TimelineState>> {
        self.timelines.values()
    }

    pub(crate) fn len(&self) -> usize {
        self.timelines.len()
    }

    /// Returns a range of store keys in which all timelines are known. An adoption reserves the highest free negative
    /// key, and its timeline appears under it later, when lower ones may exist already. The range therefore ends at the
    /// first unknown key.
    pub(crate) fn known_keys(&self) -> RangeInclusive<TimelineKey> {
        let without_gap = self.arrived.iter().rev().zip(1_i64..).take_while(|(key, number)| key.0 == -number).count();
        let lowest = i64::try_from(without_gap).unwrap_or(0);
        TimelineKey(-lowest)..=TimelineKey(self.last_key)
    }

    /// Returns whether a timeline with that store key is or was known.
    pub(crate) fn knows(&self, key: TimelineKey) -> bool {
        (0..=self.last_key).contains(&key.0) || self.arrived.contains(&key)
    }

    pub(crate) fn made_by(&self, user_id: &UserId) -> usize {
        self.made_by.get(user_id).copied().unwrap_or(0)
    }
}

const fn is_of_arrival(key: TimelineKey) -> bool {
    key.0 < 0
}
