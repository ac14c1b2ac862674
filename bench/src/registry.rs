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
use crate::measure::setting::Setting;

struct Bench {
    name: &'static str,
    about: &'static str,
    run: fn(&Setting) -> anyhow::Result<Vec<Finding>>,
}

const BENCHES: [Bench; 29] = [
    Bench { name: "clock", about: "GET /v1/clock against a bare handler with the same answer", run: clock::run },
    Bench { name: "reads", about: "reads whose entry is durable first, against a buffered log", run: reads::run },
    Bench { name: "travel", about: "POST /v1/travel, one client, against one SQLite commit", run: travel::run },
    Bench { name: "writes", about: "durable writes of many clients, against raw group commits", run: writes::run },
    Bench {
        name: "peers",
        about: "durable single appends, against PostgreSQL, etcd and UmaDB by their own protocols",
        run: peers::run,
    },
    Bench {
        name: "on-postgresql",
        about: "durable writes on PostgreSQL against pgbench, and round trips a group",
        run: on_postgresql::run,
    },
    Bench {
        name: "replicas",
        about: "durable writes through several services on one PostgreSQL, against pgbench",
        run: replicas::run,
    },
    Bench { name: "monitor", about: "events by place and time, against the bare SQL statement", run: monitor::run },
    Bench {
        name: "places",
        about: "events by text, radius and country, against SQL and sorted arrays",
        run: places::run,
    },
    Bench {
        name: "text-search",
        about: "the first page of a search by text, against an FTS5 query",
        run: text_search::run,
    },
    Bench {
        name: "counts",
        about: "all events counted in groups, against a pass of the bare statement",
        run: counts::run,
    },
    Bench { name: "import", about: "importing NDJSON and CSV, against raw batched inserts", run: import::run },
    Bench {
        name: "scan",
        about: "a full scan for tampering, against a Merkle tree over the same bytes",
        run: scan::run,
    },
    Bench { name: "forks", about: "a fork of a long history, against one of a short history", run: forks::run },
    Bench { name: "many-forks", about: "reading and writing among very many forks, against one", run: many_forks::run },
    Bench { name: "growth", about: "a write with a long history, against one with a short history", run: growth::run },
    Bench {
        name: "growth-on-postgresql",
        about: "a write with a long history on PostgreSQL, against one with a short history",
        run: growth_on_postgresql::run,
    },
    Bench { name: "sealing", about: "sealing and opening 1 KiB, against the bare ciphers", run: sealing::run },
    Bench {
        name: "passphrases",
        about: "GET /v1/clock beside passphrases, against itself alone",
        run: passphrases::run,
    },
    Bench { name: "start", about: "start with a long history, against start with none", run: start::run },
    Bench { name: "memory", about: "resident memory with a long history, and while one is imported", run: memory::run },
    Bench {
        name: "paradox-scan",
        about: "paradoxes of a whole timeline, against Tarjan over plain arrays",
        run: paradox::scan,
    },
    Bench { name: "paradox-write", about: "paradoxes record by record, against a map by id", run: paradox::write },
    Bench {
        name: "paradox-online",
        about: "a write while paradoxes are watched, against one without",
        run: online::run,
    },
    Bench { name: "room", about: "bytes on the disk, against those that an event or read is made of", run: room::run },
    Bench { name: "year", about: "the folder of a team after a year, against what is never let go", run: year::run },
    Bench { name: "timers", about: "timers that fire, against raw commits of the same rows", run: timers::run },
    Bench {
        name: "programs",
        about: "readings, starts and a build under timenav exec, against native ones",
        run: programs::run,
    },
    Bench {
        name: "console",
        about: "the console in a browser with up to ten million events, against an empty page",
        run: console::run,
    },
];

pub(crate) fn list() {
    for bench in &BENCHES {
        println!("{:<15}{}", bench.name, bench.about);
    }
}

/// Runs the named benchmarks, or all, and prints each finding as it is found.
pub(crate) fn run(setting: &Setting, names: &[String], json: Option<&Path>, is_saved: bool) -> anyhow::Result<()> {
    if let Some(unknown) = names.iter().find(|name| BENCHES.iter().all(|bench| bench.name != **name)) {
        let known: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
        bail!("there is no benchmark `{unknown}`; there are {}", known.join(", "));
    }
    interrupt::listen()?;
    let circumstances = is_saved.then(|| Circumstances::now(setting)).transpose()?;
    println!("{}", Finding::heads());
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for bench in BENCHES.iter().filter(|bench| names.is_empty() || names.iter().any(|name| name == bench.name)) {
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
