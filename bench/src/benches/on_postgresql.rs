//! Durable writes of many clients on many timelines, with their proofs, where PostgreSQL keeps them: against its own
//! pgbench, which inserts the same rows into the same tables of the same server; and how often a group of writes waits
//! for it (goal 20).

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::cluster::{Cluster, SERVED};
use crate::load::{Plan, SPREAD_TIMELINES};
use crate::report::{Finding, Goal, Unit};
use crate::rounds::Rounds;
use crate::setting::Setting;
use crate::turns::Turns;

const CLIENTS: usize = 64;
/// Rows that the floor repeats, each by a script of its own. pgbench takes 128 at most.
const SAMPLED: usize = 100;
/// What the floor is copied from, and what it writes into.
const EMPTIED: &str = "emptied";
const RAW: &str = "raw";

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let cluster = Cluster::start(setting, "on-postgresql")?;
    let serve = || {
        let service = cluster.serve(cluster.address(), &[])?;
        let outcome = service.load(Plan::SpreadEvents, CLIENTS)?;
        service.stop()?;
        anyhow::Ok(outcome.rate())
    };
    serve()?;
    let scripts = sample(setting, &cluster)?;
    let floor = || {
        cluster.renew(RAW, EMPTIED)?;
        cluster.pgbench(RAW, &scripts, CLIENTS)
    };
    let mut findings = vec![Finding {
        name: "postgresql-writes-64".to_owned(),
        unit: Unit::RowsPerSecond,
        rounds: Rounds::measure(setting, floor, serve)?,
        ratio_goal: Goal::AtLeast(0.6),
        own_goal: None,
        floor: "pgbench, 64 clients, each INSERT of the same rows a commit, in the same server",
    }];
    for (name, arguments) in [("alone", &[][..]), ("replicas", &["--replicas"])] {
        let trips = || trips(&cluster, arguments);
        findings.push(Finding {
            name: format!("postgresql-trips-{name}"),
            unit: Unit::RoundTrips,
            rounds: Rounds::measure(setting, || Ok(1.0), trips)?,
            ratio_goal: Goal::AtMost(3.0),
            own_goal: None,
            floor: "one round trip a group of writes",
        });
    }
    Ok(findings)
}

/// Returns how many round trips a group of writes takes.
fn trips(cluster: &Cluster<'_>, arguments: &[&str]) -> anyhow::Result<f64> {
    let turns = Turns::to(cluster.address())?;
    let service = cluster.serve(turns.address(), arguments)?;
    // The timelines are made, and the statements prepared.
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

/// Makes the database that the floor begins with: the service's tables, empty. Returns scripts that insert rows of the
/// service, an entry and its event each, under the next position of one of as many timelines.
fn sample(setting: &Setting, cluster: &Cluster<'_>) -> anyhow::Result<Vec<PathBuf>> {
    cluster.renew(EMPTIED, SERVED)?;
    let insert = "WITH n AS (SELECT nextval(''raw_position'') AS at), e AS (INSERT INTO entries (timeline, position,
        leaf, salt, payload, payload_bytes, events_count, clock_entry) SELECT at %% TIMELINES, at, %L::bytea, %L::bytea,
        %L::bytea, %L::bigint, %L::bigint, %L::bigint FROM n) INSERT INTO events (timeline, position, event_id, time,
        until, lat, lon, cell, place, name_key, content) SELECT at %% TIMELINES, at, lpad(at::text, %s, ''0''),
        %L::bigint, %L::bigint, %L::float8, %L::float8, %L::bigint, %L::bytea, %L::bytea, %L::bytea FROM n;";
    let insert = insert.replace("TIMELINES", &SPREAD_TIMELINES.to_string()).replace('\n', " ");
    let select = format!(
        "SELECT format('{insert}', e.leaf, e.salt, e.payload, e.payload_bytes, e.events_count, e.clock_entry,
        length(v.event_id), v.time, v.until, v.lat, v.lon, v.cell, v.place, v.name_key, v.content)
        FROM entries e JOIN events v USING (timeline, position) ORDER BY position DESC, timeline LIMIT {SAMPLED}"
    );
    let rows = cluster.query(EMPTIED, &[&select])?;
    cluster.query(EMPTIED, &["TRUNCATE entries, events, tiles", "CREATE SEQUENCE raw_position"])?;
    let folder = setting.empty_folder("on-postgresql-scripts")?;
    let scripts: Vec<PathBuf> = rows
        .lines()
        .enumerate()
        .map(|(number, row)| {
            let script = folder.join(format!("{number}.sql"));
            fs::write(&script, format!("{row}\n"))
                .with_context(|| format!("{} cannot be written", script.display()))?;
            Ok(script)
        })
        .collect::<anyhow::Result<_>>()?;
    if scripts.len() != SAMPLED {
        bail!("the service wrote {} events to compare with, not {SAMPLED}", scripts.len());
    }
    Ok(scripts)
}
