//! Counts rejections of unidentified callers, which are too many for an entry each. One entry records the sum.
//!
//! The program that runs the engine decides when to record it. The service also does so before it shuts down and before
//! the access log is read. Nothing here blocks.

use std::collections::HashMap;

use crate::ledger::payload::{AttemptsCounted, NetworkCount, OperationCount};
use crate::ports::wall_clock::Host;
use crate::requests::json::json;
use parking_lot::Mutex;

/// Networks that are counted individually.
pub const COUNTED_NETWORKS_MAX: usize = 1_000;
/// Networks, and operations with their codes, in one entry: those with the most rejections.
pub const COUNTED_NAMED_MAX: usize = 16;
/// Operations with their codes that are counted individually. There are fewer, so this bounds invalid input only.
const COUNTED_OPERATIONS_MAX: usize = 1_000;

#[derive(Default)]
pub(crate) struct CountedRefusals {
    sum: Mutex<Option<Sum>>,
    /// Locked while a sum is being recorded, so that a shutdown waits for it.
    pub(crate) logging: tokio::sync::Mutex<()>,
}

pub(crate) struct Sum {
    since: Host,
    pub(crate) count: u64,
    networks: HashMap<String, u64>,
    operations: HashMap<(String, &'static str), u64>,
}

impl CountedRefusals {
    /// Counts a rejection, and returns whether it is the first.
    pub(crate) fn count(&self, now: Host, network: String, operation: &str, code: &'static str) -> bool {
        let mut counted = self.sum.lock();
        let is_first = counted.is_none();
        let new = || Sum { since: now, count: 0, networks: HashMap::new(), operations: HashMap::new() };
        let sum = counted.get_or_insert_with(new);
        sum.count += 1;
        if sum.networks.len() < COUNTED_NETWORKS_MAX || sum.networks.contains_key(&network) {
            *sum.networks.entry(network).or_default() += 1;
        }
        let key = (operation.to_owned(), code);
        if sum.operations.len() < COUNTED_OPERATIONS_MAX || sum.operations.contains_key(&key) {
            *sum.operations.entry(key).or_default() += 1;
        }
        is_first
    }

    pub(crate) fn take(&self) -> Option<Sum> {
        self.sum.lock().take()
    }

    /// Restores a sum that could not be recorded.
    pub(crate) fn put_back(&self, sum: Sum) {
        let mut counted = self.sum.lock();
        let Some(newer) = counted.replace(sum) else { return };
        let Some(sum) = counted.as_mut() else { return };
        sum.count += newer.count;
        for (network, count) in newer.networks {
            if sum.networks.len() < COUNTED_NETWORKS_MAX || sum.networks.contains_key(&network) {
                *sum.networks.entry(network).or_default() += count;
            }
        }
        for (operation, count) in newer.operations {
            if sum.operations.len() < COUNTED_OPERATIONS_MAX || sum.operations.contains_key(&operation) {
                *sum.operations.entry(operation).or_default() += count;
            }
        }
    }
}

impl Sum {
    pub(crate) fn payload(&self) -> String {
        let networks = most(self.networks.iter().map(|(network, count)| (network.as_str(), *count)));
        let operations =
            most(self.operations.iter().map(|((operation, code), count)| ((operation.as_str(), *code), *count)));
        let named = |counts: u64| self.count.saturating_sub(counts);
        json(&AttemptsCounted {
            count: self.count,
            since: self.since.to_string(),
            networks_unnamed: named(networks.iter().map(|(_, count)| count).sum()),
            networks: networks
                .into_iter()
                .map(|(network, count)| NetworkCount { network: network.to_owned(), count })
                .collect(),
            operations_unnamed: named(operations.iter().map(|(_, count)| count).sum()),
            operations: operations
                .into_iter()
                .map(|((operation, code), count)| OperationCount {
                    operation: operation.to_owned(),
                    code: code.to_owned(),
                    count,
                })
                .collect(),
        })
    }
}

/// Returns the items with the highest counts in descending order, deterministically.
fn most<T: Ord>(counts: impl Iterator<Item = (T, u64)>) -> Vec<(T, u64)> {
    let mut counts: Vec<(T, u64)> = counts.collect();
    counts.sort_unstable_by(|(one, a), (other, b)| b.cmp(a).then_with(|| one.cmp(other)));
    counts.truncate(COUNTED_NAMED_MAX);
    counts
}

#[cfg(test)]
mod tests {
    use timenav_core::time::Instant;

    use super::*;

    fn at(micros: i64) -> Host {
        Instant::from_micros(micros).unwrap()
    }

    #[test]
    fn counted_networks_are_limited_and_named_in_part() {
        let counted = CountedRefusals::default();
        for number in 0..COUNTED_NETWORKS_MAX + 5 {
            let is_first = counted.count(at(7), format!("net-{number:04}"), "/v1/clock", "missing_credentials");
            assert_eq!(is_first, number == 0);
        }
        assert!(!counted.count(at(8), "net-0500".to_owned(), "/v1/events", "invalid_credentials"));
        let sum = counted.take().unwrap();
        assert_eq!(sum.networks.len(), COUNTED_NETWORKS_MAX);
        let document: serde_json::Value = serde_json::from_str(&sum.payload()).unwrap();
        let all = (COUNTED_NETWORKS_MAX + 6) as u64;
        assert_eq!(document["count"], all);
        assert_eq!(document["networks"].as_array().unwrap().len(), COUNTED_NAMED_MAX);
        assert_eq!(document["networks"][0], serde_json::json!({ "network": "net-0500", "count": 2 }));
        assert_eq!(document["networks_unnamed"], all - COUNTED_NAMED_MAX as u64 - 1);
        assert_eq!(document["operations"].as_array().unwrap().len(), 2);
        assert_eq!(document["operations_unnamed"], 0);
        assert!(counted.take().is_none());
    }

    #[test]
    fn unreported_rejections_are_added_to_the_next_count() {
        let counted = CountedRefusals::default();
        counted.count(at(1), "one".to_owned(), "/v1/clock", "missing_credentials");
        let sum = counted.take().unwrap();
        assert!(counted.count(at(2), "one".to_owned(), "/v1/clock", "missing_credentials"));
        counted.put_back(sum);
        let sum = counted.take().unwrap();
        assert_eq!((sum.count, sum.since, sum.networks["one"]), (2, at(1), 2));
    }
}
