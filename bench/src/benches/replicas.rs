//! Durable writes by many clients through one, two or four services on one PostgreSQL, on one, 16 or 256 timelines,
//! against its own pgbench, which inserts the same rows into the same tables of the same server and takes each position
//! from the head of its timeline.
//!
//! All services and the server share one core, so more services are not faster here. The figures show the cost of
//! agreeing on one order.

use crate::cluster::Cluster;
use crate::inserts::{Inserts, Positions};
use crate::report::{Finding, Goal, Unit};
use crate::rounds::Rounds;
use crate::setting::Setting;

const CLIENTS: usize = 64;
const TIMELINES: [u64; 3] = [1, 16, 256];
const SERVICES: [usize; 3] = [1, 2, 4];

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let cluster = Cluster::start(setting, "replicas")?;
    let mut findings = Vec::new();
    for timelines in TIMELINES {
        // The sample consists of rows that the service has written.
        rate(&cluster, timelines, 1)?;
        let inserts = Inserts::sample(setting, &cluster, timelines, Positions::OfHeads)?;
        for services in SERVICES {
            findings.push(Finding {
                name: format!("replicas-{services}-timelines-{timelines}"),
                unit: Unit::RowsPerSecond,
                rounds: Rounds::measure(setting, || inserts.rate(CLIENTS), || rate(&cluster, timelines, services))?,
                ratio_goal: Goal::AtLeast(0.6),
                own_goal: None,
                floor: "pgbench, 64 clients, each UPDATE of a head and INSERT of the same rows a commit, same server",
            });
        }
    }
    Ok(findings)
}

/// Returns events per second of `services` services together.
fn rate(cluster: &Cluster<'_>, timelines: u64, services: usize) -> anyhow::Result<f64> {
    let first = cluster.serve(cluster.address(), &["--replicas"])?;
    let others = (1..services).map(|number| cluster.serve_beside(&first, &format!("replica-{number}")));
    let others = others.collect::<anyhow::Result<Vec<_>>>()?;
    // A first run creates the timelines and prepares the statements.
    first.load_beside(&others, timelines, CLIENTS)?;
    let outcome = first.load_beside(&others, timelines, CLIENTS)?;
    for service in others.into_iter().chain([first]) {
        service.stop()?;
    }
    Ok(outcome.rate())
}
