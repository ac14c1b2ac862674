use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// A resource with a global limit and a limit per key.
pub(crate) struct Shares<K> {
    all: Arc<Semaphore>,
    /// One semaphore per key that holds permits or waits for some.
    of_each: Mutex<HashMap<K, Arc<Semaphore>>>,
    each_max: usize,
}

/// Permits, released when dropped.
pub(crate) struct Share<K: Hash + Eq> {
    _own: Own<K>,
    _of_all: OwnedSemaphorePermit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spent {
    Own,
    All,
}

impl<K: Hash + Eq + Clone> Shares<K> {
    /// Creates a resource with `all_max` permits, of which each key may hold `each_max`.
    pub(crate) fn new(all_max: usize, each_max: usize) -> Arc<Self> {
        let all = Arc::new(Semaphore::new(all_max.min(Semaphore::MAX_PERMITS)));
        Arc::new(Self { all, of_each: Mutex::default(), each_max })
    }

    pub(crate) fn take(self: &Arc<Self>, key: &K, count: u32) -> Result<Share<K>, Spent> {
        let mut own = Own::of(self, key);
        own.permit = Some(own.semaphore().try_acquire_many_owned(count).map_err(|_| Spent::Own)?);
        let of_all = Arc::clone(&self.all).try_acquire_many_owned(count).map_err(|_| Spent::All)?;
        Ok(Share { _own: own, _of_all: of_all })
    }

    /// Takes `count` permits. Waits up to `wait` for the key's limit, and up to `wait` for the global one.
    pub(crate) async fn take_within(self: &Arc<Self>, key: &K, count: u32, wait: Duration) -> Result<Share<K>, Spent> {
        let mut own = Own::of(self, key);
        let permit = timeout(wait, own.semaphore().acquire_many_owned(count)).await;
        own.permit = Some(permit.ok().and_then(Result::ok).ok_or(Spent::Own)?);
        let of_all = timeout(wait, Arc::clone(&self.all).acquire_many_owned(count)).await;
        let of_all = of_all.ok().and_then(Result::ok).ok_or(Spent::All)?;
        Ok(Share { _own: own, _of_all: of_all })
    }
}

struct Own<K: Hash + Eq> {
    shares: Arc<Shares<K>>,
    key: K,
    semaphore: Option<Arc<Semaphore>>,
    permit: Option<OwnedSemaphorePermit>,
}

impl<K: Hash + Eq + Clone> Own<K> {
    fn of(shares: &Arc<Shares<K>>, key: &K) -> Self {
        let mut of_each = shares.of_each.lock();
        let new = || Arc::new(Semaphore::new(shares.each_max));
        let semaphore = Some(Arc::clone(of_each.entry(key.clone()).or_insert_with(new)));
        drop(of_each);
        Self { shares: Arc::clone(shares), key: key.clone(), semaphore, permit: None }
    }

    fn semaphore(&self) -> Arc<Semaphore> {
        self.semaphore.clone().unwrap_or_else(|| Arc::new(Semaphore::new(0)))
    }
}

impl<K: Hash + Eq> Drop for Own<K> {
    fn drop(&mut self) {
        let mut of_each = self.shares.of_each.lock();
        self.permit.take();
        self.semaphore.take();
        // Removes keys that hold no permits and wait for none.
        if of_each.get(&self.key).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            of_each.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_limited_per_user_and_in_total() {
        let shares = Shares::new(5, 3);
        let ada = shares.take(&"ada", 3).ok().unwrap();
        assert_eq!(shares.take(&"ada", 1).err(), Some(Spent::Own));
        let _bob = shares.take(&"bob", 2).ok().unwrap();
        assert_eq!(shares.take(&"bob", 1).err(), Some(Spent::All));
        assert_eq!(shares.take(&"eve", 4).err(), Some(Spent::Own));
        drop(ada);
        assert!(shares.take(&"eve", 3).is_ok());
    }

    #[test]
    fn user_without_shares_is_forgotten() {
        let shares = Shares::new(5, 3);
        let first = shares.take(&"ada", 1).ok().unwrap();
        let second = shares.take(&"ada", 2).ok().unwrap();
        assert_eq!(shares.take(&"bob", 4).err(), Some(Spent::Own));
        drop(first);
        assert_eq!(shares.of_each.lock().len(), 1);
        drop(second);
        assert!(shares.of_each.lock().is_empty());
    }

    #[tokio::test]
    async fn waiting_user_receives_released_shares() {
        let shares = Shares::new(5, 3);
        let held = shares.take(&"ada", 3).ok().unwrap();
        let spent = shares.take_within(&"ada", 1, Duration::ZERO).await;
        assert_eq!(spent.err(), Some(Spent::Own));
        let waiting = shares.take_within(&"ada", 1, Duration::from_mins(1));
        let (got, ()) = tokio::join!(waiting, async { drop(held) });
        assert!(got.is_ok());
    }
}
