//! Durable writes with proofs by many clients on many timelines on PostgreSQL, against its own pgbench, which inserts
//! the same rows into the same tables of the same server. Also the number of round trips per group of writes (goal 20).

use anyhow::bail;

use crate::cluster::Cluster;
use crate::floors::inserts::{Inserts, Positions};
use crate::load::{Plan, SPREAD_TIMELINES};
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::measure::turns::Turns;

const CLIENTS: usize = 64;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let cluster = Cluster::start(setting, "on-postgresql")?;
    let serve = || {
        let service = cluster.serve(cluster.address(), &[])?;
        let outcome = service.load(Plan::SpreadEvents, CLIENTS)?;
        service.stop()?;
        anyhow::Ok(outcome.rate())
    };
    serve()?;
    let inserts = Inserts::sample(setting, &cluster, SPREAD_TIMELINES, Positions::OfASequence)?;
    let floor = || inserts.rate(CLIENTS);
    let mut findings = vec![Finding::new(
        "postgresql-writes-64",
        Unit::RowsPerSecond,
        Rounds::measure(setting, floor, serve)?,
        Goal::AtLeast(0.6),
        "pgbench, 64 clients, each INSERT of the same rows a commit, in the same server",
    )];
    for (name, arguments) in [("alone", &[][..]), ("replicas", &["--replicas"])] {
        let trips = || trips(&cluster, arguments);
        findings.push(Finding::new(
            format!("postgresql-trips-{name}"),
            Unit::RoundTrips,
            Rounds::measure(setting, || Ok(1.0), trips)?,
            Goal::AtMost(3.0),
            "one round trip a group of writes",
        ));
    }
    Ok(findings)
}

fn trips(cluster: &Cluster<'_>, arguments: &[&str]) -> anyhow::Result<f64> {
    let turns = Turns::to(cluster.address())?;
    let service = cluster.serve(turns.address(), arguments)?;
    // A first run creates the timelines and prepares the statements.
    service.load(Plan::SpreadEvents, CLIENTS)?;
    turns.of_each();
    service.load(Plan::SpreadEvents, CLIENTS)?;
    let trips = turns.of_each();
    service.stop()?;
    if trips.is_nan() {
        bail!("nothing was written");
    }
    Ok(trips)
}
