//! The cost of a fork of a timeline with a long history, against one with a short history (goal 15), and the cost of
//! reading a fork, against reading its parent.

use std::path::Path;

use anyhow::Context as _;
use timenav_core::ids::TimelineId;
use timenav_engine::MonitorEvents;

use super::{ITEMS, first_page, median_of_many};
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::ports::{self, Opened};

pub(super) const FEW: u64 = 1_000;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = if setting.quick { 200_000 } else { 1_000_000 };
    let long = ports::stored_history(setting, events_count)?;
    // A folder is opened again for each measurement, so that both sides begin with the same caches.
    let measure = |folder: &Path, work: fn(&Opened) -> anyhow::Result<f64>| {
        setting.cores.measured(|| work(&Opened::new(folder)?))
    };
    let short = || {
        let folder = setting.empty_folder("forks-short")?;
        ports::make_history(&folder, FEW)?;
        measure(&folder, forks)
    };
    let forking = Finding::new(
        format!("fork-{events_count}"),
        Unit::Micros,
        Rounds::measure(setting, short, || measure(&long, forks))?,
        Goal::AtMost(1.2),
        "a fork of a timeline with 1 000 events",
    );
    let reading = Finding::new(
        format!("fork-read-{events_count}"),
        Unit::Micros,
        Rounds::measure(setting, || measure(&long, read_parent), || measure(&long, read_fork))?,
        Goal::AtMost(1.5),
        "the same 100 events of the timeline that was forked",
    );
    Ok(vec![forking, reading])
}

/// Returns the median time of a fork, in microseconds.
fn forks(opened: &Opened) -> anyhow::Result<f64> {
    median_of_many(|| fork(opened).map(|_| ()))
}

fn read_parent(opened: &Opened) -> anyhow::Result<f64> {
    fork(opened)?;
    read_on(opened, &opened.caller.timeline_id)
}

fn read_fork(opened: &Opened) -> anyhow::Result<f64> {
    read_on(opened, &fork(opened)?)
}

fn fork(Opened { runtime, engine, caller, .. }: &Opened) -> anyhow::Result<TimelineId> {
    let name = TimelineId::new(&engine.new_id("fork")).context("an id")?;
    runtime.block_on(engine.fork_timeline(caller, name.clone(), &caller.timeline_id, None, None))?;
    Ok(name)
}

/// Returns the median time of reading 100 events, in microseconds.
pub(super) fn read_on(opened: &Opened, timeline: &TimelineId) -> anyhow::Result<f64> {
    let Opened { runtime, engine, caller, .. } = opened;
    median_of_many(|| {
        let request = MonitorEvents { timeline: Some(timeline.clone()), ..first_page() };
        let page = runtime.block_on(engine.monitor_events(caller, request))?;
        anyhow::ensure!(page.events.len() == ITEMS, "a full page is found");
        Ok(())
    })
}
