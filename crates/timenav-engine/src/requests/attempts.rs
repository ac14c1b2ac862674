//! Limits how often wrong keys may be tried on a record.
//!
//! Some attempts are free. Every further one makes all callers wait before the next, with exponential backoff. A right
//! key resets nothing, so that an attacker cannot profit from a legitimate user. This is only in memory: a restart
//! resets it, but not the ledger.
//!
//! Comparing a key takes a while, so an attempt is reserved first. No more attempts run concurrently than could all
//! fail without a delay; the others wait for their outcome.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use timenav_core::ids::DataId;
use timenav_core::limits::{
    DECRYPT_FAILURES_KEPT_SECONDS_MAX, DECRYPT_FREE_ATTEMPTS_MAX, DECRYPT_RECORDS_WATCHED_MAX,
    DECRYPT_WAIT_SECONDS_MAX, DECRYPT_WAIT_SECONDS_MIN,
};
use tokio::sync::Notify;

use crate::ports::wall_clock::Host;

const SECOND: i64 = 1_000_000;

#[derive(Clone, Default)]
pub(crate) struct Attempts {
    records: Arc<Mutex<HashMap<DataId, Tries>>>,
}

#[derive(Default)]
struct Tries {
    failures: Failures,
    /// Number of comparisons in progress.
    under_way: u32,
    ended: Arc<Notify>,
}

#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    last: Host,
}

/// Counts as a failure unless its outcome is reported, so that aborting requests gains no further attempts.
pub(crate) struct Reservation {
    attempts: Attempts,
    data_id: DataId,
    at: Host,
    counts: bool,
}

impl Default for Failures {
    fn default() -> Self {
        Self { count: 0, last: Host::EPOCH }
    }
}

impl Failures {
    /// Returns how long to wait after the last failure, in seconds.
    fn wait_seconds(self) -> u64 {
        match self.count.checked_sub(DECRYPT_FREE_ATTEMPTS_MAX) {
            None => 0,
            Some(over) => DECRYPT_WAIT_SECONDS_MIN
                .saturating_mul(1_u64.checked_shl(over).unwrap_or(u64::MAX))
                .min(DECRYPT_WAIT_SECONDS_MAX),
        }
    }

    /// Returns the remaining seconds to wait; `None` if an attempt is allowed now.
    fn left_seconds(self, now: Host) -> Option<u64> {
        let end = self.last.micros().saturating_add(micros(self.wait_seconds()));
        let left = u64::try_from(end.saturating_sub(now.micros())).ok().filter(|left| *left > 0)?;
        Some(left.div_ceil(SECOND.unsigned_abs())).filter(|_| self.wait_seconds() > 0)
    }

    fn is_forgotten(self, now: Host) -> bool {
        now.micros().saturating_sub(self.last.micros()) >= micros(DECRYPT_FAILURES_KEPT_SECONDS_MAX)
    }

    /// Returns how many comparisons may run concurrently: as many as can fail without a delay.
    fn at_once_max(self) -> u32 {
        DECRYPT_FREE_ATTEMPTS_MAX.saturating_sub(self.count).max(1)
    }
}

enum Admission {
    Reserved(Reservation),
    /// Too many comparisons are running; wait for one to finish.
    Later(Arc<Notify>),
}

impl Attempts {
    /// Waits for running attempts if needed. Returns the number of seconds to wait if none is allowed.
    pub(crate) async fn reserve(&self, data_id: &DataId, now: impl Fn() -> Host) -> Result<Reservation, u64> {
        loop {
            let ended = match self.ask(data_id, now())? {
                Admission::Reserved(reservation) => return Ok(reservation),
                Admission::Later(ended) => ended,
            };
            let mut waiting = std::pin::pin!(ended.notified());
            // Notifications are received from here on; a comparison that finished before is noticed by asking again.
            waiting.as_mut().enable();
            match self.ask(data_id, now())? {
                Admission::Reserved(reservation) => return Ok(reservation),
                Admission::Later(_) => waiting.await,
            }
        }
    }

    fn ask(&self, data_id: &DataId, now: Host) -> Result<Admission, u64> {
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
            return Ok(Admission::Later(Arc::clone(&tries.ended)));
        }
        tries.under_way += 1;
        Ok(Admission::Reserved(Reservation { attempts: self.clone(), data_id: data_id.clone(), at: now, counts: true }))
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
    pub(crate) fn wrong(mut self, now: Host) {
        self.at = now;
    }

    /// Reports that the key is right, or that there was no comparison.
    pub(crate) fn give_back(mut self) {
        self.counts = false;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.attempts.end(&self.data_id, self.at, self.counts);
    }
}

/// Removes expired records, or else the record whose last failure is oldest. Records with running attempts are kept.
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

    async fn wrong(attempts: &Attempts, record: &str, now: i64) -> Result<(), u64> {
        attempts.reserve(&id(record), || at(now)).await.map(|tried| tried.wrong(at(now)))
    }

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
    async fn decrypt_waits_begin_after_free_attempts_and_double_to_limit() {
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
        // A day without a failure resets the count.
        now += i64::try_from(DECRYPT_FAILURES_KEPT_SECONDS_MAX).unwrap();
        assert_eq!(wrong(&attempts, "data_a", now).await, Ok(()));
        assert_eq!(wait(&attempts, "data_a", now).await, 0);
    }

    #[tokio::test]
    async fn concurrent_attempts_are_limited_to_the_allowed_failures() {
        let attempts = Attempts::default();
        let record = id("data_a");
        let mut under_way = Vec::new();
        for _ in 0..DECRYPT_FREE_ATTEMPTS_MAX {
            under_way.push(attempts.reserve(&record, || at(100_000)).await.ok().unwrap());
        }
        let other = attempts.clone();
        let next = tokio::spawn(async move { other.reserve(&id("data_a"), || at(100_000)).await.is_ok() });
        // A right key makes room for the waiting attempt.
        under_way.pop().unwrap().give_back();
        assert!(next.await.unwrap());
        // Dropping a reservation counts as a failure, so the limit is reached.
        drop(under_way);
        assert_eq!(wait(&attempts, "data_a", 100_000).await, DECRYPT_WAIT_SECONDS_MIN);
        // After the delay there is one attempt at a time.
        let alone = attempts.reserve(&record, || at(100_060)).await.ok().unwrap();
        let other = attempts.clone();
        let next = tokio::spawn(async move { other.reserve(&id("data_a"), || at(100_060)).await.err() });
        alone.wrong(at(100_060));
        assert_eq!(next.await.unwrap(), Some(2 * DECRYPT_WAIT_SECONDS_MIN));
    }

    #[tokio::test]
    async fn watched_decrypt_records_are_limited() {
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
