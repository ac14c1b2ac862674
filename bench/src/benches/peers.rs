//! Durable single appends, against other servers with their own protocols (goal 4): PostgreSQL, etcd and UmaDB.
//!
//! They append without a proof. The service returns a tree root that the client can verify.

use crate::floors::peers::{Etcd, Peer, Postgresql, Umadb};
use crate::load::Plan;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::service::Service;

const CASES: [(&str, Plan, usize); 4] = [
    ("travel-1", Plan::Travel, 1),
    ("travel-64", Plan::Travel, 64),
    ("events-1", Plan::Event, 1),
    ("events-64", Plan::Event, 64),
];

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let postgresql = Postgresql::start(setting)?;
    compare(setting, "postgresql", "PostgreSQL: one prepared INSERT a commit, by pgbench", &postgresql, &mut findings)?;
    drop(postgresql);
    let etcd = Etcd::start(setting)?;
    compare(setting, "etcd", "etcd: one Put a call, by gRPC", &etcd, &mut findings)?;
    drop(etcd);
    let umadb = Umadb::start(setting)?;
    compare(setting, "umadb", "UmaDB: one Append of one event a call, by gRPC", &umadb, &mut findings)?;
    Ok(findings)
}

fn compare(
    setting: &Setting,
    name: &str,
    floor: &'static str,
    peer: &dyn Peer,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    for (case, plan, clients) in CASES {
        let service = Service::start(setting, &setting.empty_folder("peers")?, &[])?;
        let rounds = Rounds::measure(setting, || peer.rate(clients), || Ok(service.load(plan, clients)?.rate()))?;
        service.stop()?;
        findings.push(Finding::new(
            format!("{name}-{case}"),
            Unit::RequestsPerSecond,
            rounds,
            Goal::AtLeast(1.0),
            floor,
        ));
    }
    Ok(())
}
