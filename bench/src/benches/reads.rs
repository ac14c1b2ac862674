//! Reads whose ledger entry is durable before the response, against reads whose entry is durable later (goal 9).

use crate::history::{Format, History};
use crate::load::Plan;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::service::Service;

const CONNECTIONS: usize = 32;
const EVENTS_COUNT: u64 = 10_000;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let file = setting.folder.join("reads.ndjson");
    History::default().write(&file, Format::Ndjson, EVENTS_COUNT)?;
    let start = |name: &str, read_log: &str| {
        let data = setting.empty_folder(name)?;
        let service = Service::start(setting, &data, &["--read-log", read_log])?;
        service.import(&file, Format::Ndjson)?;
        anyhow::Ok(service)
    };
    let durable = start("reads-durable", "durable")?;
    let buffered = start("reads-buffered", "buffered")?;
    let mut findings = Vec::new();
    for (name, plan) in [("reads-clock", Plan::Clock), ("reads-monitor-events", Plan::Monitor)] {
        let rounds = Rounds::measure(
            setting,
            || Ok(buffered.load(plan, CONNECTIONS)?.rate()),
            || Ok(durable.load(plan, CONNECTIONS)?.rate()),
        )?;
        findings.push(Finding::new(
            name,
            Unit::RequestsPerSecond,
            rounds,
            Goal::AtLeast(0.95),
            "the same service with `--read-log buffered`",
        ));
    }
    durable.stop()?;
    buffered.stop()?;
    Ok(findings)
}
