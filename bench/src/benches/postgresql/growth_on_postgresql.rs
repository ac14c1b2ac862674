//! The cost of a write on PostgreSQL to a ledger with a long history, against one with a short history: in rows per
//! second, and in bytes of the write-ahead log, which do not depend on other load on the machine.
//!
//! Each round begins right after a checkpoint of the server, so that the log contains a full image of each page changed
//! for the first time. With a long history, there are more of those.

use std::ops::Range;

use crate::cluster::Cluster;
use crate::load::Plan;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;

const FEW: u64 = 10_000;
const CLIENTS: usize = 64;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let mut sizes = vec![if setting.quick { 200_000 } else { 1_000_000 }];
    if setting.large {
        sizes.push(10_000_000);
    }
    let cluster = Cluster::start(setting, "growth-on-postgresql")?;
    fill(&cluster, "short", 0..FEW)?;
    let (mut findings, mut events_count) = (Vec::new(), 0);
    for size in sizes {
        fill(&cluster, "long", events_count..size)?;
        events_count = size;
        let (mut of_short, mut of_long) = (Vec::new(), Vec::new());
        let short = || measure(&cluster, "short", &mut of_short);
        let long = || measure(&cluster, "long", &mut of_long);
        let rates = Rounds::measure(setting, short, long)?;
        let bytes = Rounds { floor: of_short, subject: of_long };
        for (what, unit, rounds, ratio_goal) in [
            ("", Unit::RowsPerSecond, rates, Goal::AtLeast(1.0 / 1.3)),
            ("-log", Unit::Bytes, bytes, Goal::AtMost(1.3)),
        ] {
            findings.push(Finding::new(
                format!("postgresql-write-growth-{size}{what}"),
                unit,
                rounds,
                ratio_goal,
                "the same writes with a history of 10 000 events",
            ));
        }
    }
    Ok(findings)
}

/// Imports events into a database, which is created for the first of them.
fn fill(cluster: &Cluster<'_>, name: &str, numbers: Range<u64>) -> anyhow::Result<()> {
    let service = if numbers.start == 0 { cluster.serve_new(name)? } else { cluster.serve_cached(name)? };
    service.import_history("main", numbers)?;
    service.stop()?;
    Ok(())
}

/// Writes for some time. Returns rows per second, and records the log bytes per row.
fn measure(cluster: &Cluster<'_>, name: &str, log: &mut Vec<f64>) -> anyhow::Result<f64> {
    let service = cluster.serve_cached(name)?;
    service.load(Plan::Event, CLIENTS)?;
    cluster.query(name, &["CHECKPOINT"])?;
    let (bytes, entries) = (logged(cluster, name)?, service.entries()?);
    let outcome = service.load(Plan::Event, CLIENTS)?;
    log.push((logged(cluster, name)? - bytes) / (service.entries()? - entries));
    service.stop()?;
    Ok(outcome.rate())
}

fn logged(cluster: &Cluster<'_>, name: &str) -> anyhow::Result<f64> {
    Ok(cluster.query(name, &["SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"])?.trim().parse()?)
}
