//! What a write costs on PostgreSQL where its ledger has a long history, against one with a short history: in rows a second,
//! and in bytes of the server's log, which no other work on the machine changes.
//!
//! Each round begins right after a checkpoint of the server, so that its log has a whole page for each one that is touched
//! for the first time: with a long history, there are more of those.

use std::ops::Range;

use anyhow::bail;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::history::{Format, History};
use crate::load::Plan;
use crate::report::{Finding, Goal, Unit};
use crate::rounds::Rounds;
use crate::setting::Setting;

/// Events of the short history.
const FEW: u64 = 10_000;
/// Events that are imported at a time.
const IMPORTED: u64 = 200_000;
/// Connections that write at once, each an event to the same timeline.
const CLIENTS: usize = 64;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let mut sizes = vec![if setting.quick { 200_000 } else { 1_000_000 }];
    if setting.large {
        sizes.push(10_000_000);
    }
    let cluster = Cluster::start(setting, "growth-on-postgresql")?;
    fill(setting, &cluster, "short", 0..FEW)?;
    let (mut findings, mut events_count) = (Vec::new(), 0);
    for size in sizes {
        // The longest history goes on from the one before it.
        fill(setting, &cluster, "long", events_count..size)?;
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
            findings.push(Finding {
                name: format!("postgresql-write-growth-{size}{what}"),
                unit,
                rounds,
                ratio_goal,
                own_goal: None,
                floor: "the same writes with a history of 10 000 events",
            });
        }
    }
    Ok(findings)
}

/// Imports events into a database of this name, which is made with the first of them.
fn fill(setting: &Setting, cluster: &Cluster<'_>, name: &str, numbers: Range<u64>) -> anyhow::Result<()> {
    let service = if numbers.start == 0 { cluster.serve_new(name)? } else { cluster.serve_kept(name)? };
    let file = setting.folder.join("growth-on-postgresql.ndjson");
    let mut first = numbers.start;
    while first < numbers.end {
        let end = numbers.end.min(first + IMPORTED);
        History::default().write_range(&file, Format::Ndjson, first..end)?;
        let outcome = service.import(&file, Format::Ndjson)?;
        let answer: Value = serde_json::from_str(&outcome.answer)?;
        if answer["taken"] != end - first {
            bail!("not every event was taken: {}", outcome.answer);
        }
        first = end;
    }
    service.stop()?;
    Ok(())
}

/// Writes for a while. Returns the rows a second, and remembers how many bytes of the log each of them took.
fn measure(cluster: &Cluster<'_>, name: &str, log: &mut Vec<f64>) -> anyhow::Result<f64> {
    let service = cluster.serve_kept(name)?;
    service.load(Plan::Event, CLIENTS)?;
    cluster.query(name, &["CHECKPOINT"])?;
    let (bytes, entries) = (logged(cluster, name)?, service.entries()?);
    let outcome = service.load(Plan::Event, CLIENTS)?;
    log.push((logged(cluster, name)? - bytes) / (service.entries()? - entries));
    service.stop()?;
    Ok(outcome.rate())
}

/// Returns how many bytes the server has written to its log.
fn logged(cluster: &Cluster<'_>, name: &str) -> anyhow::Result<f64> {
    Ok(cluster.query(name, &["SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"])?.trim().parse()?)
}
