//! Ids of requests: UUIDs of version 7 (RFC 9562 §5.7) from a keyed hash of a counter, without a system call for each.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use timenav_core::ids::type_id;
use timenav_core::time::{Instant, Wall};

#[derive(Default)]
pub(crate) struct RequestIds {
    key: RandomState,
    count: AtomicU64,
}

impl RequestIds {
    pub(crate) fn next(&self, now: Instant<Wall>) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let millis = u64::try_from(now.micros().div_euclid(1_000)).unwrap_or(0);
        let (millis, count, random) = (millis.to_be_bytes(), count.to_be_bytes(), self.key.hash_one(count));
        let mut uuid = [0; 16];
        uuid[..6].copy_from_slice(&millis[2..]);
        uuid[6..8].copy_from_slice(&count[6..]);
        uuid[8..].copy_from_slice(&random.to_be_bytes());
        uuid[6] = uuid[6] & 0x0f | 0x70;
        uuid[8] = uuid[8] & 0x3f | 0x80;
        type_id("req", uuid)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn request_ids_differ() {
        let ids = RequestIds::default();
        let now = Instant::from_micros(1_700_000_000_000_000).unwrap();
        let made: BTreeSet<String> = (0..10_000).map(|_| ids.next(now)).collect();
        assert_eq!(made.len(), 10_000);
        assert!(made.iter().all(|id| id.starts_with("req_01h") && id.len() == 30), "{:?}", made.first());
    }
}
