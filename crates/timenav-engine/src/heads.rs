//! The heads of all timelines and the directory, as of the last commit. One owner: the committer.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

use timenav_core::directory::Directory;
use timenav_core::ids::{TimelineId, UserId};

use crate::directory_rows::DirectoryRows;
use crate::head::{EndedTimeline, TimelineKey, TimelineState};

/// What every decision begins with. It changes only by what was committed.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    timelines: HashMap<TimelineId, Arc<TimelineState>>,
    directory: Arc<Directory>,
    /// The rows of the directory, those too that let nobody in.
    rows: Arc<DirectoryRows>,
    /// The highest store key given to a timeline.
    last_key: i64,
    /// The store keys below zero: those of timelines that came from other services, standing or not.
    arrived: BTreeSet<TimelineKey>,
    /// How many timelines each user has made.
    made_by: HashMap<UserId, usize>,
    /// How many there are, layers that came with forks among them.
    counted: usize,
}

impl Heads {
    pub(crate) fn new(
        timelines: HashMap<TimelineId, Arc<TimelineState>>,
        directory: Arc<Directory>,
        rows: Arc<DirectoryRows>,
        ended: &[EndedTimeline],
    ) -> Self {
        let mut heads = Self::default();
        // Before those that stand: one that was put back is found by being there.
        heads.end(ended);
        heads.take_over(timelines.into_values(), directory, rows);
        heads
    }

    /// Takes over what was committed: new timelines, and newer states of those that are known.
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

    /// Takes timelines out that have ended: who made them may make others. Numbers are never used again: entries stay under
    /// them.
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

    /// Returns the newest state of a timeline.
    pub(crate) fn get(&self, timeline: &TimelineId) -> Option<&Arc<TimelineState>> {
        self.timelines.get(timeline)
    }

    /// Returns all timelines, in no order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<TimelineState>> {
        self.timelines.values()
    }

    /// Returns how many timelines there are.
    pub(crate) fn len(&self) -> usize {
        self.timelines.len()
    }

    /// Returns how many of them count for the limit: the layers that a fork came with do as well.
    pub(crate) const fn counted(&self) -> usize {
        self.counted
    }

    /// Returns users, and what shows who they are.
    pub(crate) const fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    /// Returns the rows of the directory.
    pub(crate) const fn rows(&self) -> &Arc<DirectoryRows> {
        &self.rows
    }

    /// Returns the highest store key given to a timeline.
    pub(crate) const fn last_key(&self) -> i64 {
        self.last_key
    }

    /// Returns a range of store keys in which all timelines are known. Whoever adopts one marks the highest key below zero
    /// that is free, and the timeline stands under it later, when others may have lower ones: so the range ends at the first
    /// that is not known here.
    pub(crate) fn known_keys(&self) -> RangeInclusive<TimelineKey> {
        let without_gap = self.arrived.iter().rev().zip(1_i64..).take_while(|(key, number)| key.0 == -number).count();
        let lowest = i64::try_from(without_gap).unwrap_or(0);
        TimelineKey(-lowest)..=TimelineKey(self.last_key)
    }

    /// Returns whether a timeline of that store key is known, or was.
    pub(crate) fn knows(&self, key: TimelineKey) -> bool {
        (0..=self.last_key).contains(&key.0) || self.arrived.contains(&key)
    }

    /// Returns how many timelines a user has made.
    pub(crate) fn made_by(&self, user_id: &UserId) -> usize {
        self.made_by.get(user_id).copied().unwrap_or(0)
    }
}

/// Returns whether a store key is one of those that timelines of other services arrive under.
const fn is_of_arrival(key: TimelineKey) -> bool {
    key.0 < 0
}
