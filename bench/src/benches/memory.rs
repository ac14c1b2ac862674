//! Memory of the service with a long history while it responds to event queries, against one without events, and the
//! peak during an import (goal 12).

use std::path::Path;

use crate::benches::start;
use crate::history::{Format, History};
use crate::load::Plan;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::service::Service;

const CONNECTIONS: usize = 32;
const LARGE_EVENTS: u64 = 10_000_000;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = if setting.large { LARGE_EVENTS } else { setting.history_events() };
    let full = start::cached_data(setting, events_count)?;
    let empty = setting.empty_folder("memory-none")?;
    let rounds = Rounds::measure(setting, || under_load(setting, &empty), || under_load(setting, &full))?;
    let finding = Finding::new(
        format!("memory-{events_count}-events"),
        Unit::Megabytes,
        rounds,
        Goal::MoreAtMost(150.0),
        "the same service without events, under the same load",
    );
    Ok(vec![finding, of_import(setting)?])
}

fn of_import(setting: &Setting) -> anyhow::Result<Finding> {
    let events_count = setting.history_events();
    let file = setting.folder.join("memory-import");
    History::default().write(&file, Format::Ndjson, events_count)?;
    let mut rounds = Rounds::default();
    for _ in 0..setting.rounds_count {
        let service = Service::start(setting, &setting.empty_folder("import")?, &[])?;
        service.wait_until_ready()?;
        let before = service.resident_megabytes()?;
        service.import(&file, Format::Ndjson)?;
        rounds.floor.push(before);
        rounds.subject.push(service.memory().peak_megabytes()?);
        service.stop()?;
    }
    std::fs::remove_file(&file)?;
    Ok(Finding::new(
        format!("memory-import-{events_count}-peak"),
        Unit::Megabytes,
        rounds,
        Goal::MoreAtMost(200.0),
        "the same service before it",
    ))
}

fn under_load(setting: &Setting, data: &Path) -> anyhow::Result<f64> {
    let service = Service::start(setting, data, &[])?;
    service.wait_until_ready()?;
    service.load(Plan::Monitor, CONNECTIONS)?;
    let resident = service.resident_megabytes()?;
    service.stop()?;
    Ok(resident)
}
