//! The cost of a write to a ledger with a long history, against one with a short history (goal 21): in time, and in
//! pages read and written, which do not depend on other load on the machine.
//!
//! The write is an event with a generated id, which affects the most tables, each time in another place.

use std::path::Path;

use timenav_engine::{Caller, Engine};
use tokio::task::JoinSet;

use crate::history::History;
use crate::load::count;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::{Rounds, Spread};
use crate::measure::setting::Setting;
use crate::measure::traffic::Traffic;
use crate::measure::wall_clock::Stopwatch;
use crate::ports::{self, Opened};

const FEW: u64 = 10_000;
/// Concurrent writers, to measure the remaining cost when they share disk flushes.
const WRITERS: u64 = 64;
const WARM_WRITES: u64 = 512;

const PAGE_BYTES: f64 = 8_192.0;

#[derive(Clone, Copy)]
struct Costs {
    micros: f64,
    files: Traffic,
}

#[derive(Default)]
struct Side {
    pages_read: Vec<f64>,
    pages_written: Vec<f64>,
}

#[derive(Clone, Copy)]
enum Cost {
    /// One writer; the median latency in microseconds.
    Alone,
    /// Many writers; total time divided by the number of writes, in microseconds.
    Together,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let mut sizes = vec![if setting.quick { 200_000 } else { 1_000_000 }];
    if setting.large {
        sizes.push(10_000_000);
    }
    let mut findings = Vec::new();
    for events_count in sizes {
        let long = ports::stored_history(setting, events_count)?;
        for (name, cost, most) in [("alone", Cost::Alone, 1.1), ("together", Cost::Together, 1.3)] {
            let (mut of_short, mut of_long) = (Side::default(), Side::default());
            let short = || {
                let folder = setting.empty_folder("growth-short")?;
                ports::make_history(&folder, FEW)?;
                Ok(of_short.take(setting.cores.measured(|| measure(setting, &folder, FEW, cost))?))
            };
            let long = || Ok(of_long.take(setting.cores.measured(|| measure(setting, &long, events_count, cost))?));
            let rounds = Rounds::measure(setting, short, long)?;
            let read = Rounds { floor: of_short.pages_read, subject: of_long.pages_read };
            let written = Rounds { floor: of_short.pages_written, subject: of_long.pages_written };
            for (what, unit, rounds) in
                [("", Unit::Micros, rounds), ("-read", Unit::Pages, read), ("-written", Unit::Pages, written)]
            {
                findings.push(Finding::new(
                    format!("write-growth-{name}-{events_count}{what}"),
                    unit,
                    rounds,
                    Goal::AtMost(most),
                    "the same write with a history of 10 000 events",
                ));
            }
        }
    }
    Ok(findings)
}

impl Side {
    /// Adds the page counts of a round. Returns its time.
    fn take(&mut self, costs: Costs) -> f64 {
        self.pages_read.push(costs.files.bytes_read / PAGE_BYTES);
        self.pages_written.push(costs.files.bytes_written / PAGE_BYTES);
        costs.micros
    }
}

/// Reopens a folder, so that both sides begin with the same caches, and writes.
fn measure(setting: &Setting, folder: &Path, events_count: u64, cost: Cost) -> anyhow::Result<Costs> {
    let opened = Opened::new(folder)?;
    let writes = if setting.quick { 1_024 } else { 4_096 };
    match cost {
        Cost::Alone => alone(&opened, events_count, writes),
        Cost::Together => together(&opened, events_count, WRITERS * writes / 8),
    }
}

fn alone(opened: &Opened, first: u64, writes: u64) -> anyhow::Result<Costs> {
    let mut micros = Vec::new();
    let mut before = Traffic::default();
    for number in 0..WARM_WRITES + writes {
        if number == WARM_WRITES {
            before = Traffic::now()?;
        }
        let watch = Stopwatch::start();
        opened.runtime.block_on(write(&opened.engine, &opened.caller, first + number))?;
        if number >= WARM_WRITES {
            micros.push(watch.micros());
        }
    }
    let files = Traffic::now()?.since(before).of_each(writes)?;
    Ok(Costs { micros: Spread::of(&micros).median, files })
}

fn together(opened: &Opened, first: u64, writes: u64) -> anyhow::Result<Costs> {
    let begin = |first: u64, writes: u64| async move {
        let mut tasks = JoinSet::new();
        for writer in 0..WRITERS {
            let (engine, caller) = (opened.engine.clone(), opened.caller.clone());
            tasks.spawn(async move {
                for number in (0..writes).filter(|number| number % WRITERS == writer) {
                    write(&engine, &caller, first + number).await?;
                }
                anyhow::Ok(())
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended??;
        }
        anyhow::Ok(())
    };
    opened.runtime.block_on(begin(first, WARM_WRITES))?;
    let (before, watch) = (Traffic::now()?, Stopwatch::start());
    opened.runtime.block_on(begin(first + WARM_WRITES, writes))?;
    let micros = watch.micros() / count(usize::try_from(writes)?);
    Ok(Costs { micros, files: Traffic::now()?.since(before).of_each(writes)? })
}

async fn write(engine: &Engine, caller: &Caller, number: u64) -> anyhow::Result<()> {
    engine.record_events(caller, None, vec![History { named: false }.draft(number)], None).await?;
    Ok(())
}
