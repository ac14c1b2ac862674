//! The cost of a fork of a timeline with a long history, against one with a short history (goal 15), and the cost of
//! reading a fork, against reading its parent.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use timenav_core::ids::TimelineId;
use timenav_core::place::LocationQuery;
use timenav_core::time::TimeRange;
use timenav_engine::{Caller, Engine, MonitorEvents};
use tokio::runtime::Runtime;

use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::{Rounds, Spread};
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::ports;

pub(in crate::benches) const FEW: u64 = 1_000;
pub(in crate::benches) const WARM: usize = 32;
pub(in crate::benches) const COUNTED: usize = 512;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = if setting.quick { 200_000 } else { 1_000_000 };
    let long = ports::stored_history(setting, events_count)?;
    let short = || {
        let folder = setting.empty_folder("forks-short")?;
        runtime()?.block_on(ports::make_history(&folder, FEW))?;
        setting.cores.measured(|| measure(&folder, forks))
    };
    let rounds = Rounds::measure(setting, short, || setting.cores.measured(|| measure(&long, forks)))?;
    let forking = Finding {
        name: format!("fork-{events_count}"),
        unit: Unit::Micros,
        rounds,
        ratio_goal: Goal::AtMost(1.2),
        own_goal: None,
        floor: "a fork of a timeline with 1 000 events",
    };
    let parent =
        || setting.cores.measured(|| measure(&long, |runtime, engine, caller| reads(runtime, engine, caller, false)));
    let rounds = Rounds::measure(setting, parent, || {
        setting.cores.measured(|| measure(&long, |runtime, engine, caller| reads(runtime, engine, caller, true)))
    })?;
    let reading = Finding {
        name: format!("fork-read-{events_count}"),
        unit: Unit::Micros,
        rounds,
        ratio_goal: Goal::AtMost(1.5),
        own_goal: None,
        floor: "the same 100 events of the timeline that was forked",
    };
    Ok(vec![forking, reading])
}

/// Reopens a folder, so that both sides begin with the same caches.
pub(in crate::benches) fn measure(
    folder: &Path,
    work: impl FnOnce(&Runtime, &Engine, &Caller) -> anyhow::Result<f64>,
) -> anyhow::Result<f64> {
    let runtime = runtime()?;
    let (engine, caller, store) = runtime.block_on(ports::open(folder))?;
    let micros = work(&runtime, &engine, &caller);
    runtime.block_on(engine.close());
    drop((engine, store));
    micros
}

/// Returns the median time of a fork, in microseconds.
fn forks(runtime: &Runtime, engine: &Engine, caller: &Caller) -> anyhow::Result<f64> {
    let mut micros = Vec::with_capacity(COUNTED);
    for number in 0..WARM + COUNTED {
        let name = TimelineId::new(&engine.new_id("fork")).context("an id")?;
        let watch = Stopwatch::start();
        runtime.block_on(engine.fork_timeline(caller, name, &caller.timeline_id, None, None))?;
        if number >= WARM {
            micros.push(watch.micros());
        }
    }
    Ok(Spread::of(&micros).median)
}

/// Returns the median time of reading 100 events, in microseconds.
fn reads(runtime: &Runtime, engine: &Engine, caller: &Caller, of_fork: bool) -> anyhow::Result<f64> {
    let name = TimelineId::new(&engine.new_id("fork")).context("an id")?;
    runtime.block_on(engine.fork_timeline(caller, name.clone(), &caller.timeline_id, None, None))?;
    let timeline = if of_fork { name } else { caller.timeline_id.clone() };
    read_on(runtime, engine, caller, &timeline)
}

pub(in crate::benches) fn read_on(
    runtime: &Runtime,
    engine: &Engine,
    caller: &Caller,
    timeline: &TimelineId,
) -> anyhow::Result<f64> {
    let mut micros = Vec::with_capacity(COUNTED);
    for number in 0..WARM + COUNTED {
        let request = MonitorEvents {
            timeline: Some(timeline.clone()),
            location_text: "*".to_owned(),
            location: LocationQuery::Anywhere,
            range: TimeRange::everything(),
            as_of: None,
            filter: Arc::default(),
            newest_first: false,
            overlapping: false,
            items_max: 100,
            cursor: None,
        };
        let watch = Stopwatch::start();
        let page = runtime.block_on(engine.monitor_events(caller, request))?;
        anyhow::ensure!(page.events.len() == 100, "a full page is found");
        if number >= WARM {
            micros.push(watch.micros());
        }
    }
    Ok(Spread::of(&micros).median)
}

pub(in crate::benches) fn runtime() -> anyhow::Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?)
}
