//! Disk space of an event and of a read, against the size of their data (goals 1b and 22).

use std::path::Path;

use timenav_engine::ReadLog;
use tokio::task::JoinSet;

use crate::load::count;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::HostClock;
use crate::ports;

const CLIENTS: u64 = 32;
const READS: u64 = 8_192;
const EVENTS: u64 = 100_000;

/// Per event: leaf, payload and salt in the ledger, and the payload again in its own table.
const SELECT_EVENTS: &str = "SELECT count(*), sum(length(leaf) + 2 * length(payload)) FROM entries
    JOIN events ON entry = (timeline << 40) + position";
/// Per entry: the required data, including the hash of the leaf.
const SELECT_ENTRIES: &str = "SELECT (SELECT sum(length(leaf) + 32 + length(salt) + length(payload)) FROM entries)
    + (SELECT coalesce(sum(length(salt) + length(payload)), 0) FROM contents)";

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let history = ports::stored_history(setting, EVENTS)?;
    let connection = ports::open_database(&history)?;
    let (events, bytes): (i64, i64) = connection.query_row(SELECT_EVENTS, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let events = u64::try_from(events)?;
    let of_event = Finding::new(
        "room-of-an-event",
        Unit::Bytes,
        Rounds { subject: vec![each(bytes_of(&history)?, events)?], floor: vec![each(bytes, events)?] },
        Goal::AtMost(1.3),
        "twice its payload, and its leaf",
    );
    let mut findings = vec![of_event];
    for (name, clients, most) in [("room-of-a-read", 1, 300.0), ("room-of-a-read-among-32", CLIENTS, 80.0)] {
        let (subject, floor) = reads(setting, clients)?;
        findings.push(
            Finding::new(
                name,
                Unit::Bytes,
                Rounds { subject: vec![subject], floor: vec![floor] },
                Goal::AtMost(1.3),
                "its part of leaf, hash, salt and payload",
            )
            .with_own_goal(Goal::AtMost(most)),
        );
    }
    Ok(findings)
}

/// Reads with this many clients. Returns the growth of the database per read, and the size of its data.
fn reads(setting: &Setting, clients: u64) -> anyhow::Result<(f64, f64)> {
    let folder = setting.empty_folder("room")?;
    let runtime = ports::runtime()?;
    let read = |reads: u64| {
        runtime.block_on(async {
            let (engine, caller, store) =
                ports::open_at(&folder, std::sync::Arc::new(HostClock::new()), ReadLog::Durable).await?;
            let mut tasks = JoinSet::new();
            for _ in 0..clients {
                let (engine, caller) = (engine.clone(), caller.clone());
                tasks.spawn(async move {
                    for _ in 0..reads / clients {
                        ports::logged_read(&engine, &caller).await?;
                    }
                    anyhow::Ok(())
                });
            }
            while let Some(ended) = tasks.join_next().await {
                ended??;
            }
            engine.close().await;
            drop((engine, store));
            anyhow::Ok((
                bytes_of(&folder)?,
                ports::open_database(&folder)?.query_row(SELECT_ENTRIES, [], |row| row.get::<_, i64>(0))?,
            ))
        })
    };
    let ((before, made_before), (after, made_after)) = (read(clients)?, read(READS)?);
    Ok((each(after - before, READS)?, each(made_after - made_before, READS)?))
}

/// Returns the size of a closed database, which has no log.
fn bytes_of(folder: &Path) -> anyhow::Result<i64> {
    Ok(i64::try_from(ports::database_of(folder).metadata()?.len())?)
}

fn each(bytes: i64, of: u64) -> anyhow::Result<f64> {
    Ok(count(usize::try_from(bytes)?) / count(usize::try_from(of)?))
}
