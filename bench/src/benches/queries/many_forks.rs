//! The cost of reading and writing a timeline and its fork if there are very many forks, against a single fork.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use timenav_core::event::EventDraft;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::time::Instant;
use timenav_engine::{Caller, Engine};
use tokio::runtime::Runtime;

use crate::benches::queries::forks::{COUNTED, FEW, WARM, measure, read_on, runtime};
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::{Rounds, Spread};
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::ports;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let count = if setting.quick { 1_000 } else { 10_000 };
    let (few, many) = (cached_forks(setting, 1)?, cached_forks(setting, count)?);
    let mut findings = Vec::new();
    for (what, of_fork) in [("parent", false), ("fork", true)] {
        for (deed, work) in [("read", read_one as Work), ("write", write_one)] {
            let measured = |folder: &Path| {
                setting
                    .cores
                    .measured(|| measure(folder, |runtime, engine, caller| work(runtime, engine, caller, of_fork)))
            };
            let rounds = Rounds::measure(setting, || measured(&few), || measured(&many))?;
            findings.push(Finding {
                name: format!("{what}-{deed}-among-{count}-forks"),
                unit: Unit::Micros,
                rounds,
                ratio_goal: Goal::AtMost(1.2),
                own_goal: None,
                floor: "the same where there is one fork",
            });
        }
    }
    Ok(findings)
}

/// Measures something on a timeline or on a fork of it, in microseconds.
type Work = fn(&Runtime, &Engine, &Caller, bool) -> anyhow::Result<f64>;

fn read_one(runtime: &Runtime, engine: &Engine, caller: &Caller, of_fork: bool) -> anyhow::Result<f64> {
    read_on(runtime, engine, caller, &first_fork(caller, of_fork)?)
}

/// Returns the median time of recording one event, in microseconds.
fn write_one(runtime: &Runtime, engine: &Engine, caller: &Caller, of_fork: bool) -> anyhow::Result<f64> {
    let timeline = first_fork(caller, of_fork)?;
    let mut micros = Vec::with_capacity(COUNTED);
    for number in 0..WARM + COUNTED {
        let event_id = EventId::new(&engine.new_id("event")).context("an id")?;
        let draft = EventDraft { event_id: Some(event_id), ..EventDraft::at(Instant::EPOCH, "written among forks") };
        let watch = Stopwatch::start();
        runtime.block_on(engine.record_events(caller, Some(timeline.clone()), vec![draft], None))?;
        if number >= WARM {
            micros.push(watch.micros());
        }
    }
    Ok(Spread::of(&micros).median)
}

fn first_fork(caller: &Caller, of_fork: bool) -> anyhow::Result<TimelineId> {
    if of_fork { Ok(TimelineId::new("fork-0")?) } else { Ok(caller.timeline_id.clone()) }
}

/// Returns the folder of a short history with `count` forks of one event each, which later runs reuse.
fn cached_forks(setting: &Setting, count: usize) -> anyhow::Result<PathBuf> {
    setting.cached_folder(&format!("forks-{count}-v1"), |folder| {
        let runtime = runtime()?;
        runtime.block_on(async {
            ports::make_history(folder, FEW).await?;
            let (engine, caller, store) = ports::open(folder).await?;
            for number in 0..count {
                crate::measure::interrupt::check()?;
                let name = TimelineId::new(&format!("fork-{number}"))?;
                engine.fork_timeline(&caller, name.clone(), &caller.timeline_id, None, None).await?;
                let draft = EventDraft::at(Instant::EPOCH, "its own");
                engine.record_events(&caller, Some(name), vec![draft], None).await?;
            }
            engine.close().await;
            drop((engine, store));
            Ok(())
        })
    })
}
