//! How often wrong keys may be tried on one record.
//!
//! Some are free. Every further one makes everybody wait before the next, twice as long each time.
//! A right key clears nothing, so that nobody guesses in the shadow of somebody who knows. Kept in
//! memory: a restart forgets, the ledger does not.

use std::collections::HashMap;

use parking_lot::Mutex;
use timenav_core::ids::DataId;
use timenav_core::limits::{
    DECRYPT_FAILURES_FREE_MAX, DECRYPT_FAILURES_KEPT_SECONDS_MAX, DECRYPT_RECORDS_WATCHED_MAX,
    DECRYPT_WAIT_SECONDS_MAX, DECRYPT_WAIT_SECONDS_MIN,
};

use crate::command::Host;

const SECOND: i64 = 1_000_000;

/// The wrong keys that were tried lately.
#[derive(Default)]
pub(crate) struct Attempts {
    records: Mutex<HashMap<DataId, Failures>>,
}

#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    last: Host,
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

    fn is_forgotten(self, now: Host) -> bool {
        now.micros() - self.last.micros() >= micros(DECRYPT_FAILURES_KEPT_SECONDS_MAX)
    }
}

impl Attempts {
    /// Lets a key be tried on a record, or returns after how many seconds one may be.
    pub(crate) fn admit(&self, data_id: &DataId, now: Host) -> Result<(), u64> {
        let records = self.records.lock();
        let Some(failures) = records.get(data_id) else { return Ok(()) };
        let end = failures.last.micros() + micros(failures.wait_seconds());
        let left = end - now.micros();
        if left <= 0 { Ok(()) } else { Err(u64::try_from(left).unwrap_or(0).div_ceil(SECOND.unsigned_abs())) }
    }

    /// Counts a wrong key.
    pub(crate) fn count(&self, data_id: &DataId, now: Host) {
        let mut records = self.records.lock();
        if !records.contains_key(data_id) && records.len() >= DECRYPT_RECORDS_WATCHED_MAX {
            make_room(&mut records, now);
        }
        let failures = records.entry(data_id.clone()).or_insert(Failures { count: 0, last: now });
        let count = if failures.is_forgotten(now) { 0 } else { failures.count };
        *failures = Failures { count: count.saturating_add(1), last: now };
    }
}

/// Forgets what is old enough, or else the record whose last wrong key is longest ago.
fn make_room(records: &mut HashMap<DataId, Failures>, now: Host) {
    records.retain(|_, failures| !failures.is_forgotten(now));
    if records.len() >= DECRYPT_RECORDS_WATCHED_MAX {
        let oldest = records.iter().min_by_key(|(_, failures)| failures.last).map(|(data_id, _)| data_id.clone());
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

    #[test]
    fn waits_begin_after_the_free_ones_and_double_to_their_limit() {
        let attempts = Attempts::default();
        let record = id("data_a");
        let mut now = 1_000;
        let mut waits = Vec::new();
        for _ in 0..14 {
            attempts.count(&record, at(now));
            let wait = attempts.admit(&record, at(now)).err().unwrap_or(0);
            waits.push(wait);
            assert_eq!(attempts.admit(&id("data_b"), at(now)), Ok(()));
            now += i64::try_from(wait).unwrap();
            assert_eq!(attempts.admit(&record, at(now)), Ok(()));
            if wait > 0 {
                assert_eq!(attempts.admit(&record, at(now - 1)), Err(1));
            }
        }
        assert_eq!(waits, [0, 0, 0, 0, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600, 3_600]);
        // After a day without a wrong key it begins anew.
        now += i64::try_from(DECRYPT_FAILURES_KEPT_SECONDS_MAX).unwrap();
        attempts.count(&record, at(now));
        assert_eq!(attempts.admit(&record, at(now)), Ok(()));
    }

    #[test]
    fn so_many_records_are_watched_and_no_more() {
        let attempts = Attempts::default();
        for number in 0..DECRYPT_RECORDS_WATCHED_MAX + 3 {
            attempts.count(&id(&format!("data_{number}")), at(i64::try_from(number).unwrap()));
        }
        let records = attempts.records.lock();
        assert_eq!(records.len(), DECRYPT_RECORDS_WATCHED_MAX);
        assert!(!records.contains_key(&id("data_2")) && records.contains_key(&id("data_3")));
    }
}
