//! The database fails over to a standby under running services.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use super::super::postgres::Cluster;
use super::{Replica, check_written, errors_expected, send, two_at, wait, write, write_at_both};
use crate::support::http::Request;
use crate::support::service::{Service, ends, timenav};
use crate::support::waiting::until_so;

/// The statements fail unless the condition holds.
const IS_SYNCHRONOUS: &str = "SELECT 1 / count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
const HAS_ALL: &str = "SELECT 1 / count(*) FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()";

/// Starts a server with a standby, and two services that know both. Not supported for a Citus cluster.
fn start() -> Option<(Cluster, Service, Replica)> {
    if Cluster::is_spread() {
        return None;
    }
    let mut cluster = Cluster::start();
    cluster.order("standby");
    let (mut first, second) = two_at(&cluster.url_of_both());
    first.errors_expected =
        errors_expected(&["timers could not be processed", "nothing is written until a restart", "presence"]);
    Some((cluster, first, second))
}

#[test]
fn failover_to_synchronous_standby_loses_no_acknowledged_write() {
    take_over_from_one_that("stop");
}

/// Its host still accepts connections and acknowledges packets.
#[test]
fn frozen_primary_is_replaced_by_promoted_standby() {
    take_over_from_one_that("freeze");
}

/// Promotes a standby under two writing services. `order` is what happens to the primary.
fn take_over_from_one_that(order: &str) {
    let Some((mut cluster, first, second)) = start() else { return };
    assert!(cluster.ask("ALTER SYSTEM SET synchronous_standby_names = '*'"));
    assert!(cluster.ask("SELECT pg_reload_conf()"));
    until_so("the standby to be synchronous", || cluster.ask(IS_SYNCHRONOUS));
    let (here, there) = (first.address(), second.process.address);
    let all = write_at_both((here, there), &first.admin, 0, || {
        (0..25).for_each(|_| wait());
        cluster.order(order);
        (0..10).for_each(|_| wait());
        cluster.order("promote");
        // Without a restart, both services continue.
        for (name, address) in [("here", here), ("there", there)] {
            let request = Request::get("/readyz").anonymous();
            until_so(name, || send(address, &request).is_ok_and(|answer| answer.status == 200));
        }
        (0..25).for_each(|_| wait());
    });
    check_written(&first, &second, &all);
    drop(second);
    first.audit();
}

#[test]
fn replicas_reject_requests_if_promoted_standby_lost_entries() {
    let Some((mut cluster, mut first, mut second)) = start() else { return };
    first.post("/v1/events", &json!({ "event_id": "kept", "time": "2001-01-01T00:00:00Z", "description": "x" }));
    until_so("the standby to have everything", || cluster.ask(HAS_ALL));
    cluster.order("stop-standby");
    let is_over = AtomicBool::new(false);
    let (here, there, admin) = (first.address(), second.process.address, first.admin.clone());
    let lost = thread::scope(|scope| {
        let (admin, is_over) = (&admin, &is_over);
        let writers =
            [("here", here), ("there", there)].map(|(name, at)| scope.spawn(move || write(at, admin, name, is_over)));
        (0..25).for_each(|_| wait());
        cluster.order("stop");
        cluster.order("start-standby");
        cluster.order("promote");
        // Writers retry: neither service continues from an incomplete database.
        for (name, address) in [("here", here), ("there", there)] {
            until_so(name, || {
                let answer = send(address, &Request::post("/v1/pause-time").key(admin)).unwrap();
                assert_eq!(answer.status, 503, "{answer}");
                answer.json()["code"] == "ledger_rollback_detected"
            });
            send(address, &Request::get("/readyz").anonymous()).unwrap().refused(503, "ledger_rollback_detected");
        }
        is_over.store(true, Ordering::SeqCst);
        writers.map(|writer| writer.join().unwrap())
    });
    assert!(lost.iter().all(|ids| !ids.is_empty()), "nobody had written: {lost:?}");
    first.kill();
    second.process.terminate();
    second.process.wait();
    let stored = second.folder.path().join("data");
    for folder in [first.data(), stored.clone()] {
        assert!(folder.join("diverged.log").exists(), "both sides are kept");
    }
    // An operator accepts the loss for both, and both continue.
    let url = cluster.url_of_both();
    let mut accept = timenav();
    accept.args(["accept-rollback", "--by", "ada", "--reason", "a standby that lagged", "--store", &url]);
    accept.arg("--data").arg(first.data()).arg("--trusted-checkpoint").arg(stored.join("checkpoints.log"));
    ends(&mut accept, 0);
    first.remembered.clear();
    first.start_again();
    second.process = Replica::start(second.folder.path(), &["--store", &url, "--replicas"]);
    assert_eq!(second.send(Request::get("/v1/events/kept")).status, 200);
    for id in lost.iter().flatten() {
        assert_eq!(second.send(Request::get(&format!("/v1/events/{id}"))).status, 404, "{id}");
    }
    second.post("/v1/pause-time", &json!({}));
    drop(second);
    first.audit();
}
