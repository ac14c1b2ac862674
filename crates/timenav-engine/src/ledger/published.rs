//! The timelines visible to readers, indexed by name, by users with permissions, and by expiry, so that the cost of a
//! page does not depend on the number of timelines.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;

use timenav_core::access::Permissions;
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::time::{Instant, Wall};

use crate::access::directory_rows::DirectoryRows;
use crate::ledger::head::{EndedTimeline, TimelineKey, TimelineState};

/// Every timeline in its newest durable and signed state.
#[derive(Default)]
pub(crate) struct Published {
    by_id: BTreeMap<TimelineId, Arc<TimelineState>>,
    of_users: HashMap<UserId, BTreeSet<TimelineId>>,
    /// Timelines with an expiry, the next one first.
    expiring: BTreeSet<(Instant<Wall>, TimelineId)>,
    /// The number of forks of each timeline.
    forks: HashMap<TimelineKey, usize>,
    /// The rows that include ended timelines.
    rows: Arc<DirectoryRows>,
    /// Ended timelines whose contents are not pruned yet.
    to_prune: BTreeMap<TimelineKey, EndedTimeline>,
    pending: Pending,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) firings: u64,
    pub(crate) timelines: u64,
}

impl Pending {
    fn of(state: &TimelineState) -> Self {
        let firings = state.head.timers.pending;
        Self { firings, timelines: u64::from(firings > 0) }
    }

    const fn replace(&mut self, before: Self, now: Self) {
        self.firings = self.firings.saturating_sub(before.firings) + now.firings;
        self.timelines = self.timelines.saturating_sub(before.timelines) + now.timelines;
    }
}

impl Published {
    /// Updates the state of a timeline. Returns whether its permissions have changed.
    pub(crate) fn insert(&mut self, state: Arc<TimelineState>) -> bool {
        let (id, permissions) = (state.head.id.clone(), Arc::clone(&state.head.permissions));
        let (expires_at, ancestors) = (state.head.expires_at, Arc::clone(&state.ancestors));
        let now = Pending::of(&state);
        let before = self.by_id.insert(id.clone(), state);
        self.pending.replace(before.as_deref().map_or_else(Pending::default, Pending::of), now);
        if before.is_none() {
            self.expiring.extend(expires_at.map(|at| (at, id.clone())));
            ancestors.iter().for_each(|layer| *self.forks.entry(layer.timeline).or_default() += 1);
        }
        let before = before.map(|before| Arc::clone(&before.head.permissions));
        // States loaded from another service have their own copies of mostly identical permissions.
        if before.as_ref() == Some(&permissions) {
            return false;
        }
        let left = before.iter().flat_map(|before| users(before)).filter(|user| !permissions.names(user));
        left.for_each(|user| self.take_off(user, &id));
        for user in users(&permissions) {
            self.of_users.entry(user.clone()).or_default().insert(id.clone());
        }
        true
    }

    /// Its contents remain to be pruned.
    pub(crate) fn end(&mut self, ended: EndedTimeline) {
        if let Some(state) = self.by_id.remove(&ended.id) {
            self.pending.replace(Pending::of(&state), Pending::default());
            let head = &state.head;
            users(&head.permissions).for_each(|user| self.take_off(user, &head.id));
            if let Some(at) = head.expires_at {
                self.expiring.remove(&(at, head.id.clone()));
            }
            for layer in &*state.ancestors {
                if let Some(count) = self.forks.get_mut(&layer.timeline) {
                    *count -= 1;
                    if *count == 0 {
                        self.forks.remove(&layer.timeline);
                    }
                }
            }
        }
        if !ended.is_pruned {
            self.to_prune.insert(ended.key, ended);
        }
    }

    fn take_off(&mut self, user: &UserId, timeline: &TimelineId) {
        if let Some(own) = self.of_users.get_mut(user) {
            own.remove(timeline);
            if own.is_empty() {
                self.of_users.remove(user);
            }
        }
    }

    pub(crate) const fn pending(&self) -> Pending {
        self.pending
    }

    pub(crate) fn set_rows(&mut self, rows: Arc<DirectoryRows>) {
        self.rows = rows;
    }

    pub(crate) fn has_ended(&self, id: &TimelineId) -> bool {
        !self.by_id.contains_key(id) && self.rows.has_ended(id)
    }

    /// Returns up to `items_max` expired timelines, the earliest first.
    pub(crate) fn expired(&self, host: Instant<Wall>, items_max: usize) -> Vec<Arc<TimelineState>> {
        let due = self.expiring.iter().take_while(|(at, _)| *at <= host).take(items_max);
        due.filter_map(|(_, id)| self.by_id.get(id)).cloned().collect()
    }

    pub(crate) fn forks_count(&self, key: TimelineKey) -> usize {
        self.forks.get(&key).copied().unwrap_or(0)
    }

    /// Only returns timelines without forks. Adopted layers are pruned after the contents of their fork.
    pub(crate) fn due(&self, host: Instant<Wall>) -> Option<EndedTimeline> {
        let forked: HashSet<TimelineKey> =
            self.to_prune.values().filter_map(|ended| ended.fork.map(|fork| fork.of)).collect();
        let is_last = |ended: &EndedTimeline| ended.id.adopting_fork().is_none() || !forked.contains(&ended.key);
        let is_due =
            |ended: &&EndedTimeline| ended.due_at <= host && !self.forks.contains_key(&ended.key) && is_last(ended);
        self.to_prune.values().find(is_due).cloned()
    }

    /// Removes the expiry of a timeline that was not created with one.
    pub(crate) fn expires_not(&mut self, id: &TimelineId) {
        let at = self.by_id.get(id).and_then(|state| state.head.expires_at);
        if let Some(at) = at {
            self.expiring.remove(&(at, id.clone()));
        }
    }

    pub(crate) fn forget(&mut self, key: TimelineKey) {
        self.to_prune.remove(&key);
    }

    pub(crate) fn get(&self, id: &TimelineId) -> Option<&Arc<TimelineState>> {
        self.by_id.get(id)
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<TimelineState>> {
        self.by_id.values()
    }

    /// Returns up to `items_max` timelines after one, by name: those on which a user has a role at a host instant, or
    /// all if no user is given.
    pub(crate) fn page(
        &self,
        user: Option<(&UserId, Instant<Wall>)>,
        after: Option<&TimelineId>,
        items_max: usize,
    ) -> Vec<Arc<TimelineState>> {
        let range = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let Some((user, host)) = user else {
            return self
                .by_id
                .range::<TimelineId, _>(range)
                .take(items_max)
                .map(|(_, state)| Arc::clone(state))
                .collect();
        };
        let own = self.of_users.get(user).into_iter().flat_map(|own| own.range::<TimelineId, _>(range));
        // Expired permissions are still in the lists.
        let seen = own.filter_map(|id| self.by_id.get(id));
        let seen = seen.filter(|state| state.head.permissions.role(user, host).is_some());
        seen.take(items_max).cloned().collect()
    }
}

fn users(permissions: &Permissions) -> impl Iterator<Item = &UserId> {
    permissions.read.iter().chain(&permissions.write).chain(&permissions.admin)
}
