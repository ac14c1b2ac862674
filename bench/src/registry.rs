use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::benches::postgresql::{growth_on_postgresql, on_postgresql, replicas};
use crate::benches::queries::{counts, forks, many_forks, monitor, places, text_search, year};
use crate::benches::{
    clock, console, growth, import, memory, online, paradox, passphrases, peers, programs, reads, room, scan, sealing,
    start, timers, travel, writes,
};
use crate::measure::interrupt;
use crate::measure::report::Finding;
use crate::measure::results::Circumstances;
use crate::measure::selection::{Part, selected};
use crate::measure::setting::Setting;

pub(crate) const BENCHES: [Part<Finding>; 29] = [
    Part::new("clock", "GET /v1/clock against a bare handler with the same answer", clock::run),
    Part::new("reads", "reads whose entry is durable first, against a buffered log", reads::run),
    Part::new("travel", "POST /v1/travel, one client, against one SQLite commit", travel::run),
    Part::new("writes", "durable writes of many clients, against raw group commits", writes::run),
    Part::new("peers", "durable single appends, against PostgreSQL, etcd and UmaDB by their own protocols", peers::run),
    Part::new(
        "on-postgresql",
        "durable writes on PostgreSQL against pgbench, and round trips a group",
        on_postgresql::run,
    ),
    Part::new("replicas", "durable writes through several services on one PostgreSQL, against pgbench", replicas::run),
    Part::new("monitor", "events by place and time, against the bare SQL statement", monitor::run),
    Part::new("places", "events by text, radius and country, against SQL and sorted arrays", places::run),
    Part::new("text-search", "the first page of a search by text, against an FTS5 query", text_search::run),
    Part::new("counts", "all events counted in groups, against a pass of the bare statement", counts::run),
    Part::new("import", "importing NDJSON and CSV, against raw batched inserts", import::run),
    Part::new("scan", "a full scan for tampering, against a Merkle tree over the same bytes", scan::run),
    Part::new("forks", "a fork of a long history, against one of a short history", forks::run),
    Part::new("many-forks", "reading and writing among very many forks, against one", many_forks::run),
    Part::new("growth", "a write with a long history, against one with a short history", growth::run),
    Part::new(
        "growth-on-postgresql",
        "a write with a long history on PostgreSQL, against one with a short history",
        growth_on_postgresql::run,
    ),
    Part::new("sealing", "sealing and opening 1 KiB, against the bare ciphers", sealing::run),
    Part::new("passphrases", "GET /v1/clock while passphrases are checked, against itself alone", passphrases::run),
    Part::new("start", "start with a long history, against start with none", start::run),
    Part::new("memory", "resident memory with a long history, and while one is imported", memory::run),
    Part::new("paradox-scan", "paradoxes of a whole timeline, against Tarjan over plain arrays", paradox::scan),
    Part::new("paradox-write", "paradoxes record by record, against a map by id", paradox::write),
    Part::new("paradox-online", "a write while paradoxes are watched, against one without", online::run),
    Part::new("room", "bytes on the disk, against those that an event or read is made of", room::run),
    Part::new("year", "a team's data folder after a year, against the data that is kept forever", year::run),
    Part::new("timers", "timers that fire, against raw commits of the same rows", timers::run),
    Part::new("programs", "readings, starts and a build under timenav exec, against native ones", programs::run),
    Part::new("console", "the console in a browser with up to ten million events, against an empty page", console::run),
];

/// Runs the named benchmarks, or all, and prints each finding as it is found.
pub(crate) fn run(setting: &Setting, names: &[String], json: Option<&Path>, is_saved: bool) -> anyhow::Result<()> {
    let benches = selected(&BENCHES, names)?;
    interrupt::listen()?;
    let circumstances = is_saved.then(|| Circumstances::now(setting)).transpose()?;
    println!("{}", Finding::heads());
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for bench in benches {
        match (bench.run)(setting) {
            Ok(findings) => {
                for finding in &findings {
                    println!("{finding}");
                }
                found.extend(findings);
            }
            Err(error) => {
                interrupt::check()?;
                println!("{:<28}failed: {error:#}", bench.name);
                failed.push(bench.name);
            }
        }
    }
    if let Some(path) = json {
        let findings: Vec<Value> = found.iter().map(Finding::to_json).collect();
        let whole = json!({ "quick": setting.quick, "rounds": setting.rounds_count, "findings": findings });
        let text = serde_json::to_string_pretty(&whole)? + "\n";
        std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    if let Some(circumstances) = circumstances {
        println!("kept in {}", circumstances.save(&found, &failed)?.display());
    }
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}
