//! Three services on one database, one of which is the timekeeper of `main`.

use std::net::SocketAddr;

use rustix::process::Signal;

use super::super::postgres::Cluster;
use super::{Replica, errors_expected, send, two};
use crate::support::http::Request;
use crate::support::service::Service;
use crate::support::waiting::until_so;

/// Three services, the first of which has created the database.
pub(super) struct Three {
    pub(super) first: Service,
    others: [Replica; 2],
}

impl Three {
    pub(super) fn start(cluster: &Cluster) -> Self {
        let (mut first, second) = two(cluster);
        first.errors_expected =
            errors_expected(&["timers could not be processed", "the outcome of firings could not be recorded"]);
        let third = Replica::join(&first, &cluster.url);
        Self { first, others: [second, third] }
    }

    pub(super) fn addresses(&self) -> [SocketAddr; 3] {
        [self.first.address(), self.others[0].process.address, self.others[1].process.address]
    }

    pub(super) fn pids(&self) -> [u32; 3] {
        [self.first.pid(), self.others[0].process.pid(), self.others[1].process.pid()]
    }

    pub(super) fn signal(&mut self, number: usize, signal: Signal) {
        let process = if number == 0 { self.first.process() } else { &mut self.others[number - 1].process };
        process.signal(signal);
    }

    /// Replaces a killed process.
    pub(super) fn start_again(&mut self, number: usize, url: &str) {
        if number == 0 {
            self.first.kill();
            self.first.start_again();
        } else {
            let other = &mut self.others[number - 1];
            other.process = Replica::start(other.folder.path(), &["--store", url, "--replicas"]);
        }
    }

    /// Sends a signal to the timekeeper of `main`. Returns its number.
    pub(super) fn strike(&mut self, signal: Signal) -> usize {
        let addresses = self.addresses();
        until_so("somebody who keeps the time", || !keepers(&addresses).is_empty());
        let [keeper] = keepers(&addresses)[..] else { panic!("several keep the time") };
        self.signal(keeper, signal);
        keeper
    }

    /// Scans both ledgers at a service other than the first, and ends the test.
    pub(super) fn audit(self) {
        let Self { first, others } = self;
        others[0].scans_are_clean();
        for other in others {
            let log = std::fs::read_to_string(other.folder.path().join("log")).unwrap();
            assert!(!log.contains("panicked"), "{log}");
        }
        first.audit();
    }
}

/// Returns which services report to be the timekeeper.
pub(super) fn keepers(addresses: &[SocketAddr]) -> Vec<usize> {
    let keeps = |at: &usize| metric(addresses[*at], "timenav_scheduler_timelines") > 0;
    (0..addresses.len()).filter(keeps).collect()
}

/// Returns a metric.
pub(super) fn metric(address: SocketAddr, name: &str) -> u64 {
    let text = send(address, &Request::get("/metrics").anonymous()).unwrap().text();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("{name} is not in {text}")).parse().unwrap()
}
