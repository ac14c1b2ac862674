//! Time from the start of the process until `/readyz` succeeds, with a long history and with many timelines, against an
//! empty service (goal 11).

use std::path::{Path, PathBuf};

use crate::history::{Format, History};
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::service::Service;

/// Starts per measurement. The quickest counts, because the rest is noise.
const STARTS: usize = 3;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = setting.history_events();
    let full = cached_data(setting, events_count)?;
    let empty = setting.empty_folder("start-none")?;
    // The first start creates keys and timelines, unlike later ones.
    Service::start(setting, &empty, &[])?.stop()?;
    let timelines_count = if setting.quick { 1_000 } else { 100_000 };
    let many = cached_timelines(setting, timelines_count)?;
    let starts =
        |data: &Path| Rounds::measure(setting, || quickest_start(setting, &empty), || quickest_start(setting, data));
    Ok(vec![
        Finding::new(
            format!("start-{events_count}-events"),
            Unit::Millis,
            starts(&full)?,
            Goal::AtMost(1.5),
            "the start of the same service without events",
        )
        .with_own_goal(Goal::AtMost(300.0)),
        // The head of each timeline is read, so the time grows with their number.
        Finding::new(
            format!("start-{timelines_count}-timelines"),
            Unit::Millis,
            starts(&many)?,
            Goal::AtMost(100.0),
            "the start of the same service with two timelines",
        )
        .with_own_goal(Goal::AtMost(1_000.0)),
    ])
}

/// Returns a data folder with this many timelines, created by this run or an earlier one.
fn cached_timelines(setting: &Setting, timelines_count: u64) -> anyhow::Result<PathBuf> {
    let make = |folder: &Path| {
        // More than the default limit per user.
        let most = timelines_count.to_string();
        let service = Service::start(setting, folder, &["--timelines-per-user", &most])?;
        for number in 0..timelines_count {
            // The first write creates a timeline.
            service.answer("POST", &format!("/v1/pause-time?timeline_id=timeline-{number:06}"))?;
        }
        service.stop()?;
        Ok(())
    };
    setting.cached_folder(&format!("start-{timelines_count}-timelines-v1"), make)
}

/// Returns a data folder with this many events, created by this run or an earlier one.
pub(crate) fn cached_data(setting: &Setting, events_count: u64) -> anyhow::Result<PathBuf> {
    let make = |folder: &Path| {
        let file = setting.folder.join("start.ndjson");
        History::default().write(&file, Format::Ndjson, events_count)?;
        let service = Service::start(setting, folder, &[])?;
        service.import(&file, Format::Ndjson)?;
        service.stop()?;
        Ok(std::fs::remove_file(file)?)
    };
    setting.cached_folder(&format!("start-{events_count}-v1"), make)
}

/// Returns the shortest of several start times, in milliseconds.
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
