//! Durable writes by many clients through one, two or three services on one PostgreSQL, with a million entries in it,
//! against its own pgbench and against one service.
//!
//! pgbench inserts the same rows into empty tables of the same server and takes each position from the head of its
//! timeline. All services and the server share one core, so more services are not faster here. The figures show the
//! cost of agreeing on one order.

use crate::cluster::Cluster;
use crate::floors::inserts::{Inserts, Positions};
use crate::load::Route;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;

const CLIENTS: usize = 64;
/// The timelines that all clients write to.
const HOT: u64 = 16;
const SERVICES_MAX: usize = 3;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let cluster = Cluster::start(setting, "replicas")?;
    fill(setting, &cluster)?;
    let inserts = Inserts::sample(setting, &cluster, HOT, Positions::OfHeads)?;
    let mut findings = Vec::new();
    for services in 1..=SERVICES_MAX {
        findings.push(Finding::new(
            format!("replicas-{services}"),
            Unit::RowsPerSecond,
            Rounds::measure(setting, || inserts.rate(CLIENTS), || rate(&cluster, services, Route::Any))?,
            Goal::AtLeast(0.6),
            "pgbench, 64 clients, each UPDATE of a head and INSERT of the same rows a commit, same server",
        ));
    }
    for (services, route, what, goal) in [
        (2, Route::Any, "of-one", 0.8),
        (3, Route::Any, "of-one", 0.7),
        (2, Route::ByTimeline, "by-timeline", 1.0),
        (3, Route::ByTimeline, "by-timeline", 1.0),
    ] {
        let one = || rate(&cluster, 1, Route::Any);
        findings.push(Finding::new(
            format!("replicas-{services}-{what}"),
            Unit::RowsPerSecond,
            Rounds::measure(setting, one, || rate(&cluster, services, route))?,
            Goal::AtLeast(goal),
            "one service",
        ));
    }
    Ok(findings)
}

/// Creates the hot timelines, one of them with a long history.
fn fill(setting: &Setting, cluster: &Cluster<'_>) -> anyhow::Result<()> {
    let service = cluster.serve(cluster.address(), &["--replicas"])?;
    service.load_across(&[], (HOT, Route::Any), CLIENTS)?;
    service.import_history("spread-0", 0..setting.history_events())?;
    // The sample consists of rows that the service has written.
    service.load_across(&[], (HOT, Route::Any), CLIENTS)?;
    service.stop().map(|_| ())
}

/// Returns events per second of `services` services together.
fn rate(cluster: &Cluster<'_>, services: usize, route: Route) -> anyhow::Result<f64> {
    let first = cluster.serve_again(&["--replicas"])?;
    let others = (1..services).map(|number| cluster.serve_replica(&first, &format!("replica-{number}")));
    let others = others.collect::<anyhow::Result<Vec<_>>>()?;
    // A first run prepares the statements.
    first.load_across(&others, (HOT, route), CLIENTS)?;
    let outcome = first.load_across(&others, (HOT, route), CLIENTS)?;
    for service in others.into_iter().chain([first]) {
        service.stop()?;
    }
    Ok(outcome.rate())
}
