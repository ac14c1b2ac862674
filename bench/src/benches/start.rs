//! From the start of the process until `/readyz` says yes, with a long history, against none
//! (goal 11).

use std::path::{Path, PathBuf};

use crate::history::History;
use crate::report::{Finding, Goal, Unit};
use crate::rounds::Rounds;
use crate::service::Service;
use crate::setting::Setting;
use crate::wall_clock::Stopwatch;

/// Starts in one measurement, of which the quickest counts: the rest is the machine's noise.
const STARTS: usize = 3;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = setting.history_events();
    let full = kept_data(setting, events_count)?;
    let empty = setting.empty_folder("start-none")?;
    // The very first start makes keys and timelines, which no later one does.
    Service::start(setting, &empty, &[])?.stop()?;
    let rounds = Rounds::measure(setting, || quickest_start(setting, &empty), || quickest_start(setting, &full))?;
    Ok(vec![Finding {
        name: format!("start-{events_count}-events"),
        unit: Unit::Millis,
        rounds,
        ratio_goal: Goal::AtMost(1.5),
        own_goal: Some(Goal::AtMost(300.0)),
        floor: "the start of the same service without events",
    }])
}

/// Returns a folder of the service with so many events, made by this run or an earlier one.
pub(crate) fn kept_data(setting: &Setting, events_count: u64) -> anyhow::Result<PathBuf> {
    let make = |folder: &Path| {
        let file = setting.folder.join("start.ndjson");
        History::default().write(&file, events_count)?;
        let service = Service::start(setting, folder, &[])?;
        service.import(&file)?;
        service.stop()?;
        Ok(std::fs::remove_file(file)?)
    };
    setting.kept_folder(&format!("start-{events_count}-v1"), make)
}

/// Returns how long the quickest of a few starts takes, in milliseconds.
fn quickest_start(setting: &Setting, data: &Path) -> anyhow::Result<f64> {
    let mut quickest = f64::INFINITY;
    for _ in 0..STARTS {
        let watch = Stopwatch::start();
        let service = Service::start(setting, data, &[])?;
        service.wait_until_ready()?;
        quickest = quickest.min(watch.micros() / 1e3);
        service.stop()?;
    }
    Ok(quickest)
}
