//! What the service keeps in memory with a long history while it is asked for events, against what
//! it keeps with none (goal 12).

use std::path::Path;

use crate::benches::start;
use crate::load::Plan;
use crate::report::{Finding, Goal, Unit};
use crate::rounds::Rounds;
use crate::service::Service;
use crate::setting::Setting;

/// Clients at once.
const CONNECTIONS: usize = 32;
/// Events of the history that the goal speaks of.
const LARGE_EVENTS: u64 = 10_000_000;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events_count = if setting.large { LARGE_EVENTS } else { setting.history_events() };
    let full = start::kept_data(setting, events_count)?;
    let empty = setting.empty_folder("memory-none")?;
    let rounds = Rounds::measure(setting, || under_load(setting, &empty), || under_load(setting, &full))?;
    Ok(vec![Finding {
        name: format!("memory-{events_count}-events"),
        unit: Unit::Megabytes,
        rounds,
        ratio_goal: Goal::MoreAtMost(150.0),
        own_goal: None,
        floor: "the same service without events, under the same load",
    }])
}

/// Returns what lies in memory after a while of questions for events.
fn under_load(setting: &Setting, data: &Path) -> anyhow::Result<f64> {
    let service = Service::start(setting, data, &[])?;
    service.wait_until_ready()?;
    service.load(Plan::Monitor, CONNECTIONS)?;
    let resident = service.resident_megabytes()?;
    service.stop()?;
    Ok(resident)
}
