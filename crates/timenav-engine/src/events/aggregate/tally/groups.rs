use std::cmp::Reverse;
use std::collections::HashMap;

use timenav_core::limits::AGGREGATE_GROUPS_MAX;
use timenav_core::time::{Instant, Virtual};

use super::keys::Key;

/// The number of the second key of a group that has one key.
const NO_KEY: usize = usize::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) count: usize,
    pub(super) first: Instant<Virtual>,
    pub(super) last: Instant<Virtual>,
}

/// A limited number of groups with one or two keys. Keys are numbered, so that each is in memory once.
#[derive(Debug, Default)]
pub(super) struct Groups {
    numbers: HashMap<Key, usize>,
    counted: HashMap<(usize, usize), Group>,
    /// Whether there were more groups.
    pub(super) is_cut: bool,
}

impl Groups {
    pub(super) fn add(&mut self, first: &Key, second: Option<&Key>, more: Group) {
        let number = |key| self.numbers.get(key).copied();
        let known = number(first).zip(second.map_or(Some(NO_KEY), number));
        if let Some(group) = known.and_then(|keys| self.counted.get_mut(&keys)) {
            (group.count, group.last) = (group.count + more.count, more.last);
        } else if self.counted.len() < AGGREGATE_GROUPS_MAX {
            let keys = (self.numbered(first), second.map_or(NO_KEY, |key| self.numbered(key)));
            self.counted.insert(keys, more);
        } else {
            self.is_cut = true;
        }
    }

    fn numbered(&mut self, key: &Key) -> usize {
        let next = self.numbers.len();
        if let Some(number) = self.numbers.get(key) {
            return *number;
        }
        self.numbers.insert(key.clone(), next);
        next
    }

    #[cfg(test)]
    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.numbers.keys()
    }

    /// Returns all groups in order of time, if a key is a time. Otherwise, and at the same time, the largest ones are
    /// first, and groups of the same size are in key order.
    pub(super) fn in_order(self) -> Vec<(Key, Option<Key>, Group)> {
        let mut numbered: Vec<(Key, usize)> = self.numbers.into_iter().collect();
        numbered.sort_unstable_by_key(|(_, number)| *number);
        let key = |number: usize| numbered.get(number).map(|(key, _)| key.clone());
        let named = |((first, second), group)| Some((key(first)?, key(second), group));
        let mut groups: Vec<_> = self.counted.into_iter().filter_map(named).collect();
        groups.sort_unstable_by(|(first, second, _), (other, other_second, _)| {
            (first, second).cmp(&(other, other_second))
        });
        groups.sort_by_key(|(first, second, group)| (time_of(first, second.as_ref()), Reverse(group.count)));
        groups
    }
}

const fn time_of(first: &Key, second: Option<&Key>) -> Option<i64> {
    match (first, second) {
        (Key::Time(begin), _) | (_, Some(Key::Time(begin))) => Some(*begin),
        (Key::Cell(..) | Key::Text(_), _) => None,
    }
}
