//! A copy-on-write sorted map. Changing an entry of a map that has clones copies one shelf, not the whole map.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

/// Most entries of a shelf, and so the most that a change copies.
pub(super) const SHELF_ENTRIES_MAX: usize = 512;
/// A shelf with fewer entries is merged with its neighbor if both fit on half a shelf.
const SHELF_ENTRIES_MIN: usize = SHELF_ENTRIES_MAX / 8;

/// A sorted map. A clone shares all entries until either map changes.
#[derive(Clone)]
pub struct PersistentMap<K, V> {
    /// In key order. No shelf is empty.
    shelves: Vec<Arc<BTreeMap<K, V>>>,
    len: usize,
}

impl<K, V> Default for PersistentMap<K, V> {
    fn default() -> Self {
        Self { shelves: Vec::new(), len: 0 }
    }
}

impl<K: Ord + Clone, V: Clone> PersistentMap<K, V> {
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.shelves.get(self.shelf_of(key)?)?.get(key)
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.shelves.iter().flat_map(|shelf| shelf.iter())
    }

    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the entries after a key, in key order; all entries for `None`.
    pub fn after<'a>(&'a self, key: Option<&K>) -> impl Iterator<Item = (&'a K, &'a V)> {
        let first = key.and_then(|key| self.shelf_of(key)).unwrap_or(0);
        let start = key.map_or(Bound::Unbounded, Bound::Excluded);
        let mut shelves = self.shelves[first..].iter();
        let begun = shelves.next().map(|shelf| shelf.range::<K, _>((start, Bound::Unbounded)));
        begun.into_iter().flatten().chain(shelves.flat_map(|shelf| shelf.iter()))
    }

    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        if self.shelves.is_empty() {
            self.shelves.push(Arc::default());
        }
        let at = self.shelf_of(&key).unwrap_or(0);
        let entries = Arc::make_mut(&mut self.shelves[at]);
        let before = entries.insert(key, value);
        self.len += usize::from(before.is_none());
        if entries.len() > SHELF_ENTRIES_MAX
            && let Some(middle) = entries.keys().nth(entries.len() / 2).cloned()
        {
            let upper = entries.split_off(&middle);
            self.shelves.insert(at + 1, Arc::new(upper));
        }
        before
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.shelf_of(key)?;
        if !self.shelves[at].contains_key(key) {
            return None;
        }
        let entries = Arc::make_mut(&mut self.shelves[at]);
        let removed = entries.remove(key);
        self.len -= usize::from(removed.is_some());
        if entries.len() < SHELF_ENTRIES_MIN {
            self.put_together(at);
        }
        removed
    }

    /// Merges a shelf with the next one, or the previous one, if both together are small.
    fn put_together(&mut self, at: usize) {
        if self.shelves[at].is_empty() {
            self.shelves.remove(at);
            return;
        }
        let lower = if at + 1 < self.shelves.len() { at } else { at.saturating_sub(1) };
        let Some([first, second]) = self.shelves.get_mut(lower..lower + 2) else { return };
        if first.len() + second.len() <= SHELF_ENTRIES_MAX / 2 {
            let mut rest = (**second).clone();
            Arc::make_mut(first).append(&mut rest);
            self.shelves.remove(lower + 1);
        }
    }

    /// Returns the shelf that would contain a key: the last one that starts at or before it.
    fn shelf_of<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let begins_by = |shelf: &Arc<BTreeMap<K, V>>| shelf.keys().next().is_none_or(|first| first.borrow() <= key);
        let count = self.shelves.partition_point(begins_by);
        (!self.shelves.is_empty()).then(|| count.saturating_sub(1))
    }

    /// Returns the number of entries on shelves that `other` does not share.
    #[cfg(test)]
    pub(super) fn unshared(&self, other: &Self) -> usize {
        let is_shared = |shelf: &&Arc<BTreeMap<K, V>>| other.shelves.iter().any(|one| Arc::ptr_eq(one, shelf));
        self.shelves.iter().filter(|shelf| !is_shared(shelf)).map(|shelf| shelf.len()).sum()
    }
}

impl<K: Ord + Clone + fmt::Debug, V: Clone + fmt::Debug> fmt::Debug for PersistentMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for PersistentMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut shelves = Self::default();
        for (key, value) in entries {
            shelves.insert(key, value);
        }
        shelves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All numbers below `count`, once each, in mixed order.
    fn shuffled(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(move |number| number * 7_919 % count)
    }

    #[test]
    fn shelves_behave_like_a_sorted_map() {
        let (mut shelves, mut plain) = (PersistentMap::default(), BTreeMap::new());
        for number in shuffled(10_007) {
            assert_eq!(shelves.insert(number, number + 1), plain.insert(number, number + 1));
        }
        assert_eq!(shelves.insert(5, 0), plain.insert(5, 0));
        for number in shuffled(10_007).filter(|number| number % 50 != 0) {
            assert_eq!((shelves.remove(&number), shelves.remove(&number)), (plain.remove(&number), None));
        }
        assert!(shelves.iter().eq(plain.iter()) && shelves.len() == plain.len() && shelves.len() > 200);
        for number in 0..10_010 {
            assert_eq!(shelves.get(&number), plain.get(&number));
            let after = (Bound::Excluded(number), Bound::Unbounded);
            assert!(shelves.after(Some(&number)).take(3).eq(plain.range(after).take(3)));
        }
        assert!(shelves.after(None).eq(plain.iter()));
        assert!(shelves.shelves.len() < 10, "{} shelves of few entries", shelves.shelves.len());
        for number in plain.keys() {
            shelves.remove(number);
        }
        assert!(shelves.is_empty() && shelves.shelves.is_empty() && shelves.after(Some(&3)).next().is_none());
    }

    #[test]
    fn change_of_shelves_copies_one_shelf() {
        let mut shelves: PersistentMap<u64, u64> = shuffled(100_003).map(|number| (number, 0)).collect();
        let before = shelves.clone();
        assert_eq!(shelves.unshared(&before), 0);
        shelves.insert(50_000, 1);
        assert!((1..=SHELF_ENTRIES_MAX).contains(&shelves.unshared(&before)));
        assert_eq!((before.get(&50_000), shelves.get(&50_000)), (Some(&0), Some(&1)));
        shelves.remove(&7);
        assert!(shelves.unshared(&before) <= 2 * SHELF_ENTRIES_MAX);
    }
}
