//! The timelines that readers see: by name, by key, and by who is in their lists, so that a page of them costs what it
//! shows, however many there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use timenav_core::access::Permissions;
use timenav_core::ids::{TimelineId, UserId};

use crate::head::{TimelineKey, TimelineState};

/// Every timeline in its newest state that is durable and signed.
#[derive(Default)]
pub(crate) struct Published {
    by_id: BTreeMap<TimelineId, Arc<TimelineState>>,
    names: HashMap<TimelineKey, TimelineId>,
    /// The timelines in whose lists a user is.
    of_users: HashMap<UserId, BTreeSet<TimelineId>>,
}

impl Published {
    /// Puts a newer state in the place of the one before.
    pub(crate) fn insert(&mut self, state: Arc<TimelineState>) {
        let (id, permissions) = (state.head.id.clone(), Arc::clone(&state.head.permissions));
        let key = state.head.key;
        let before = self.by_id.insert(id.clone(), state);
        if before.is_none() {
            self.names.insert(key, id.clone());
        }
        let before = before.map(|before| Arc::clone(&before.head.permissions));
        if before.as_ref().is_some_and(|before| Arc::ptr_eq(before, &permissions)) {
            return;
        }
        for user in before.iter().flat_map(|before| users(before)).filter(|user| permissions.role(user).is_none()) {
            if let Some(own) = self.of_users.get_mut(user) {
                own.remove(&id);
                if own.is_empty() {
                    self.of_users.remove(user);
                }
            }
        }
        for user in users(&permissions) {
            self.of_users.entry(user.clone()).or_default().insert(id.clone());
        }
    }

    /// Returns the newest state of a timeline.
    pub(crate) fn get(&self, id: &TimelineId) -> Option<&Arc<TimelineState>> {
        self.by_id.get(id)
    }

    /// Returns the name of a timeline.
    pub(crate) fn name(&self, key: TimelineKey) -> Option<&TimelineId> {
        self.names.get(&key)
    }

    /// Returns how many timelines there are.
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns all timelines, by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<TimelineState>> {
        self.by_id.values()
    }

    /// Returns at most `items_max` timelines after one, by name: of those in whose lists a user is, or of all if no user
    /// is given.
    pub(crate) fn page(
        &self,
        user: Option<&UserId>,
        after: Option<&TimelineId>,
        items_max: usize,
    ) -> Vec<Arc<TimelineState>> {
        let range = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let Some(user) = user else {
            return self
                .by_id
                .range::<TimelineId, _>(range)
                .take(items_max)
                .map(|(_, state)| Arc::clone(state))
                .collect();
        };
        let own = self.of_users.get(user).into_iter().flat_map(|own| own.range::<TimelineId, _>(range));
        own.take(items_max).filter_map(|id| self.by_id.get(id)).cloned().collect()
    }
}

fn users(permissions: &Permissions) -> impl Iterator<Item = &UserId> {
    permissions.read.iter().chain(&permissions.write).chain(&permissions.admin)
}
