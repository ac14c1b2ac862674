//! Everything kept in memory: small, and true as of the last commit.

use std::collections::HashMap;
use std::sync::Arc;

use timenav_core::ids::{TimelineId, UserId};

use crate::directory::Directory;
use crate::head::TimelineState;

/// Everything kept in memory at one moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) timelines: HashMap<TimelineId, Arc<TimelineState>>,
    pub(crate) directory: Arc<Directory>,
    /// The highest store key given to a timeline. Only the committer uses it.
    pub(crate) last_key: i64,
    /// How many timelines each user has made. Only the committer uses it.
    made_by: HashMap<UserId, usize>,
}

impl World {
    pub(crate) fn new(timelines: HashMap<TimelineId, Arc<TimelineState>>, directory: Arc<Directory>) -> Self {
        let mut world = Self { directory, ..Self::default() };
        for state in timelines.into_values() {
            world.last_key = world.last_key.max(state.head.key.0);
            world.add(state);
        }
        world
    }

    /// Brings a new timeline in.
    pub(crate) fn add(&mut self, state: Arc<TimelineState>) {
        match self.made_by.get_mut(&state.head.created_by) {
            Some(count) => *count += 1,
            None => _ = self.made_by.insert(state.head.created_by.clone(), 1),
        }
        self.timelines.insert(state.head.id.clone(), state);
    }

    /// Takes back a timeline that was brought in.
    pub(crate) fn take_out(&mut self, timeline: &TimelineId) {
        let Some(state) = self.timelines.remove(timeline) else { return };
        if let Some(count) = self.made_by.get_mut(&state.head.created_by) {
            *count -= 1;
        }
    }

    /// Returns how many timelines a user has made.
    pub(crate) fn made_by(&self, user_id: &UserId) -> usize {
        self.made_by.get(user_id).copied().unwrap_or(0)
    }
}
