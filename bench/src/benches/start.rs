//! From the start of the process until `/readyz` says yes, with a long history, and with many timelines, against none
//! (goal 11).

use std::path::{Path, PathBuf};

use crate::history::{Format, History};
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
    let timelines_count = if setting.quick { 1_000 } else { 100_000 };
    let many = kept_timelines(setting, timelines_count)?;
    let starts =
        |data: &Path| Rounds::measure(setting, || quickest_start(setting, &empty), || quickest_start(setting, data));
    Ok(vec![
        Finding {
            name: format!("start-{events_count}-events"),
            unit: Unit::Millis,
            rounds: starts(&full)?,
            ratio_goal: Goal::AtMost(1.5),
            own_goal: Some(Goal::AtMost(300.0)),
            floor: "the start of the same service without events",
        },
        Finding {
            name: format!("start-{timelines_count}-timelines"),
            unit: Unit::Millis,
            rounds: starts(&many)?,
            // The newest state of each is read, so it grows with them.
            ratio_goal: Goal::AtMost(100.0),
            own_goal: Some(Goal::AtMost(1_000.0)),
            floor: "the start of the same service with two timelines",
        },
    ])
}

/// Returns a folder of the service with so many timelines, made by this run or an earlier one.
fn kept_timelines(setting: &Setting, timelines_count: u64) -> anyhow::Result<PathBuf> {
    let make = |folder: &Path| {
        // More than one user may make by default.
        let most = timelines_count.to_string();
        let service = Service::start(setting, folder, &["--timelines-per-user", &most])?;
        for number in 0..timelines_count {
            // A first write makes a timeline.
            service.answer("POST", &format!("/v1/pause-time?timeline_id=timeline-{number:06}"))?;
        }
        service.stop()?;
        Ok(())
    };
    setting.kept_folder(&format!("start-{timelines_count}-timelines-v1"), make)
}

/// Returns a folder of the service with so many events, made by this run or an earlier one.
pub(crate) fn kept_data(setting: &Setting, events_count: u64) -> anyhow::Result<PathBuf> {
    let make = |folder: &Path| {
        let file = setting.folder.join("start.ndjson");
        History::default().write(&file, Format::Ndjson, events_count)?;
        let service = Service::start(setting, folder, &[])?;
        service.import(&file, Format::Ndjson)?;
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
