//! How often wrong keys may be tried on one record.
//!
//! Some are free. Every further one makes everybody wait before the next, twice as long each time.
//! A right key clears nothing, so that nobody guesses in the shadow of somebody who knows. Kept in
//! memory: a restart forgets, the ledger does not.
//!
//! To compare a key takes a while, so a try is reserved before it: no more are under way than could all be wrong, and
//! the others wait for their outcome.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use timenav_core::ids::DataId;
use timenav_core::limits::{
    DECRYPT_FAILURES_FREE_MAX, DECRYPT_FAILURES_KEPT_SECONDS_MAX, DECRYPT_RECORDS_WATCHED_MAX,
    DECRYPT_WAIT_SECONDS_MAX, DECRYPT_WAIT_SECONDS_MIN,
};
use tokio::sync::Notify;

use crate::wall_clock::Host;

const SECOND: i64 = 1_000_000;

/// The keys that are tried now, and the wrong ones that were tried lately.
#[derive(Clone, Default)]
pub(crate) struct Attempts {
    records: Arc<Mutex<HashMap<DataId, Tries>>>,
}

/// What is known of one record.
#[derive(Default)]
struct Tries {
    failures: Failures,
    /// Keys that are being compared.
    under_way: u32,
    /// Tells those who wait that one has been.
    ended: Arc<Notify>,
}

#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    last: Host,
}

/// A try that counts as wrong unless it is told how it ended: nobody tries more by going away in time.
pub(crate) struct Reservation {
    attempts: Attempts,
    data_id: DataId,
    /// When it was made, by the host.
    at: Host,
    counts: bool,
}

impl Default for Failures {
    fn default() -> Self {
        Self { count: 0, last: Host::EPOCH }
    }
}

impl Failures {
    /// Returns how long nobody may try after the last wrong key, in seconds.
    fn wait_seconds(self) -> u64 {
        match self.count.checked_sub(DECRYPT_FAILURES_FREE_MAX) {
            None => 0,
            Some(over) => DECRYPT_WAIT_SECONDS_MIN
                .saturating_mul(1_u64.checked_shl(over).unwrap_or(u64::MAX))
                .min(DECRYPT_WAIT_SECONDS_MAX),
        }
    }

    /// Returns after how many seconds a key may be tried, and `None` where one may be now.
    fn left_seconds(self, now: Host) -> Option<u64> {
        let end = self.last.micros().saturating_add(micros(self.wait_seconds()));
        let left = u64::try_from(end.saturating_sub(now.micros())).ok().filter(|left| *left > 0)?;
        Some(left.div_ceil(SECOND.unsigned_abs())).filter(|_| self.wait_seconds() > 0)
    }

    fn is_forgotten(self, now: Host) -> bool {
        now.micros().saturating_sub(self.last.micros()) >= micros(DECRYPT_FAILURES_KEPT_SECONDS_MAX)
    }

    /// Returns how many keys may be compared at the same moment: as many as nobody has to wait after.
    fn at_once_max(self) -> u32 {
        DECRYPT_FAILURES_FREE_MAX.saturating_sub(self.count).max(1)
    }
}

/// What comes of asking for a try.
enum Asked {
    Reserved(Reservation),
    /// So many are under way that another one has to wait for them.
    Later(Arc<Notify>),
}

impl Attempts {
    /// Lets a key be tried on a record, as soon as those under way leave a try, or returns after how many seconds one
    /// may be.
    pub(crate) async fn reserve(&self, data_id: &DataId, now: impl Fn() -> Host) -> Result<Reservation, u64> {
        loop {
            let ended = match self.ask(data_id, now())? {
                Asked::Reserved(reservation) => return Ok(reservation),
                Asked::Later(ended) => ended,
            };
            let mut waiting = std::pin::pin!(ended.notified());
            // From here on no end is missed; what ended before is seen by asking again.
            waiting.as_mut().enable();
            match self.ask(data_id, now())? {
                Asked::Reserved(reservation) => return Ok(reservation),
                Asked::Later(_) => waiting.await,
            }
        }
    }

    fn ask(&self, data_id: &DataId, now: Host) -> Result<Asked, u64> {
        let mut records = self.records.lock();
        if !records.contains_key(data_id) && records.len() >= DECRYPT_RECORDS_WATCHED_MAX {
            make_room(&mut records, now);
        }
        let tries = records.entry(data_id.clone()).or_default();
        if tries.failures.is_forgotten(now) {
            tries.failures.count = 0;
        }
        if let Some(seconds) = tries.failures.left_seconds(now) {
            return Err(seconds);
        }
        if tries.under_way >= tries.failures.at_once_max() {
            return Ok(Asked::Later(Arc::clone(&tries.ended)));
        }
        tries.under_way += 1;
        Ok(Asked::Reserved(Reservation { attempts: self.clone(), data_id: data_id.clone(), at: now, counts: true }))
    }

    fn end(&self, data_id: &DataId, at: Host, is_wrong: bool) {
        let mut records = self.records.lock();
        let Some(tries) = records.get_mut(data_id) else { return };
        tries.under_way = tries.under_way.saturating_sub(1);
        if is_wrong {
            let last = tries.failures.last.max(at);
            tries.failures = Failures { count: tries.failures.count.saturating_add(1), last };
        }
        tries.ended.notify_waiters();
        if tries.under_way == 0 && tries.failures.count == 0 {
            records.remove(data_id);
        }
    }
}

impl Reservation {
    /// Says that the key was compared and is wrong.
    pub(crate) fn wrong(mut self, now: Host) {
        self.at = now;
    }

    /// Says that the key is right, or that none was compared.
    pub(crate) fn give_back(mut self) {
        self.counts = false;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.attempts.end(&self.data_id, self.at, self.counts);
    }
}

/// Forgets what is old enough, or else the record whose last wrong key is longest ago. What is under way is not forgotten.
fn make_room(records: &mut HashMap<DataId, Tries>, now: Host) {
    records.retain(|_, tries| tries.under_way > 0 || !tries.failures.is_forgotten(now));
    if records.len() >= DECRYPT_RECORDS_WATCHED_MAX {
        let idle = records.iter().filter(|(_, tries)| tries.under_way == 0);
        let oldest = idle.min_by_key(|(_, tries)| tries.failures.last).map(|(data_id, _)| data_id.clone());
        oldest.map(|data_id| records.remove(&data_id));
    }
}

fn micros(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX / SECOND).saturating_mul(SECOND)
}

#[cfg(test)]
mod tests {
    use timenav_core::time::Instant;

    use super::*;

    fn id(text: &str) -> DataId {
        DataId::new(text).unwrap()
    }

    fn at(seconds: i64) -> Host {
        Instant::from_micros(seconds * SECOND).unwrap()
    }

    /// Tries a wrong key, or returns how long nobody may.
    async fn wrong(attempts: &Attempts, record: &str, now: i64) -> Result<(), u64> {
        attempts.reserve(&id(record), || at(now)).await.map(|tried| tried.wrong(at(now)))
    }

    /// Returns how long nobody may try a key, in seconds.
    async fn wait(attempts: &Attempts, record: &str, now: i64) -> u64 {
        match attempts.reserve(&id(record), || at(now)).await {
            Ok(tried) => {
                tried.give_back();
                0
            }
            Err(seconds) => seconds,
        }
    }

    #[tokio::test]
    async fn waits_begin_after_the_free_ones_and_double_to_their_limit() {
        let attempts = Attempts::default();
        let mut now = 100_000;
        let mut waits = Vec::new();
        for _ in 0..14 {
            assert_eq!(wrong(&attempts, "data_a", now).await, Ok(()));
            let seconds = wait(&attempts, "data_a", now).await;
            waits.push(seconds);
            assert_eq!(wait(&attempts, "data_b", now).await, 0);
            now += i64::try_from(seconds).unwrap();
            assert_eq!(wait(&attempts, "data_a", now).await, 0);
            if seconds > 0 {
                assert_eq!(wait(&attempts, "data_a", now - 1).await, 1);
            }
        }
        assert_eq!(waits, [0, 0, 0, 0, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600, 3_600]);
        // After a day without a wrong key it begins anew.
        now += i64::try_from(DECRYPT_FAILURES_KEPT_SECONDS_MAX).unwrap();
        assert_eq!(wrong(&attempts, "data_a", now).await, Ok(()));
        assert_eq!(wait(&attempts, "data_a", now).await, 0);
    }

    #[tokio::test]
    async fn no_more_are_under_way_than_could_all_be_wrong() {
        let attempts = Attempts::default();
        let record = id("data_a");
        let mut under_way = Vec::new();
        for _ in 0..DECRYPT_FAILURES_FREE_MAX {
            under_way.push(attempts.reserve(&record, || at(100_000)).await.ok().unwrap());
        }
        let other = attempts.clone();
        let next = tokio::spawn(async move { other.reserve(&id("data_a"), || at(100_000)).await.is_ok() });
        // A right key leaves its try to the one that waits.
        under_way.pop().unwrap().give_back();
        assert!(next.await.unwrap());
        // That one went away without an outcome, which counts; so do the others, and nobody may any more.
        drop(under_way);
        assert_eq!(wait(&attempts, "data_a", 100_000).await, DECRYPT_WAIT_SECONDS_MIN);
        // After the wait there is one try at a time.
        let alone = attempts.reserve(&record, || at(100_060)).await.ok().unwrap();
        let other = attempts.clone();
        let next = tokio::spawn(async move { other.reserve(&id("data_a"), || at(100_060)).await.err() });
        alone.wrong(at(100_060));
        assert_eq!(next.await.unwrap(), Some(2 * DECRYPT_WAIT_SECONDS_MIN));
    }

    #[tokio::test]
    async fn so_many_records_are_watched_and_no_more() {
        let attempts = Attempts::default();
        let held = attempts.reserve(&id("data_held"), || at(100_000)).await.ok().unwrap();
        for number in 0..DECRYPT_RECORDS_WATCHED_MAX + 3 {
            let now = 100_001 + i64::try_from(number).unwrap();
            assert_eq!(wrong(&attempts, &format!("data_{number}"), now).await, Ok(()));
        }
        {
            let records = attempts.records.lock();
            assert_eq!(records.len(), DECRYPT_RECORDS_WATCHED_MAX);
            assert!(!records.contains_key(&id("data_3")) && records.contains_key(&id("data_4")));
            assert!(records.contains_key(&id("data_held")), "what is under way is not forgotten");
        }
        held.give_back();
        assert!(!attempts.records.lock().contains_key(&id("data_held")), "nothing is left of a right key");
    }
}
