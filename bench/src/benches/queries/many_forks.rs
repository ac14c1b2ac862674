//! The cost of reading and writing a timeline and its fork if there are very many forks, against a single fork.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use timenav_core::event::EventDraft;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::time::Instant;

use super::forks::{FEW, read_on};
use super::median_of_many;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::ports::{self, Opened};

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let count = if setting.quick { 1_000 } else { 10_000 };
    let (few, many) = (cached_forks(setting, 1)?, cached_forks(setting, count)?);
    let mut findings = Vec::new();
    for (what, of_fork) in [("parent", false), ("fork", true)] {
        for (deed, work) in [("read", read_one as Work), ("write", write_one)] {
            let measured = |folder: &Path| setting.cores.measured(|| work(&Opened::new(folder)?, of_fork));
            let rounds = Rounds::measure(setting, || measured(&few), || measured(&many))?;
            findings.push(Finding::new(
                format!("{what}-{deed}-among-{count}-forks"),
                Unit::Micros,
                rounds,
                Goal::AtMost(1.2),
                "the same where there is one fork",
            ));
        }
    }
    Ok(findings)
}

/// Measures something on a timeline or on a fork of it, in microseconds.
type Work = fn(&Opened, bool) -> anyhow::Result<f64>;

fn read_one(opened: &Opened, of_fork: bool) -> anyhow::Result<f64> {
    read_on(opened, &first_fork(opened, of_fork)?)
}

/// Returns the median time of recording one event, in microseconds.
fn write_one(opened: &Opened, of_fork: bool) -> anyhow::Result<f64> {
    let Opened { runtime, engine, caller, .. } = opened;
    let timeline = first_fork(opened, of_fork)?;
    median_of_many(|| {
        let event_id = EventId::new(&engine.new_id("event")).context("an id")?;
        let draft = EventDraft { event_id: Some(event_id), ..EventDraft::at(Instant::EPOCH, "written among forks") };
        runtime.block_on(engine.record_events(caller, Some(timeline.clone()), vec![draft], None))?;
        Ok(())
    })
}

fn first_fork(opened: &Opened, of_fork: bool) -> anyhow::Result<TimelineId> {
    if of_fork { Ok(TimelineId::new("fork-0")?) } else { Ok(opened.caller.timeline_id.clone()) }
}

/// Returns the folder of a short history with `count` forks of one event each, which later runs reuse.
fn cached_forks(setting: &Setting, count: usize) -> anyhow::Result<PathBuf> {
    setting.cached_folder(&format!("forks-{count}-v1"), |folder| {
        ports::make_history(folder, FEW)?;
        let opened = Opened::new(folder)?;
        let Opened { runtime, engine, caller, .. } = &opened;
        runtime.block_on(async {
            for number in 0..count {
                crate::measure::interrupt::check()?;
                let name = TimelineId::new(&format!("fork-{number}"))?;
                engine.fork_timeline(caller, name.clone(), &caller.timeline_id, None, None).await?;
                let draft = EventDraft::at(Instant::EPOCH, "its own");
                engine.record_events(caller, Some(name), vec![draft], None).await?;
            }
            Ok(())
        })
    })
}
