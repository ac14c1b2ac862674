//! `GET /v1/clock`, authenticated, on 32 connections, against a bare handler with the same response (goal 1).

use crate::floors::bare_server;
use crate::load::Plan;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::service::{Service, send};

const CONNECTIONS: usize = 32;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let logs = [("clock-durable", "durable", 0.5), ("clock-buffered", "buffered", 0.75)];
    logs.iter().map(|(name, read_log, goal)| against_bare(setting, (name, *goal), read_log)).collect()
}

fn against_bare(setting: &Setting, (name, goal): (&str, f64), read_log: &str) -> anyhow::Result<Finding> {
    let data = setting.empty_folder("clock")?;
    let service = Service::start(setting, &data, &["--read-log", read_log])?;
    let answer = setting.folder.join("clock.answer");
    std::fs::write(&answer, service.answer("GET", "/v1/clock")?)?;
    let (bare, address) = bare_server::start(setting, &answer)?;
    let rounds = Rounds::measure(
        setting,
        || Ok(send(setting, address, &data, Plan::Clock, CONNECTIONS)?.rate()),
        || Ok(service.load(Plan::Clock, CONNECTIONS)?.rate()),
    )?;
    bare.stop()?;
    service.stop()?;
    Ok(Finding {
        name: name.to_owned(),
        unit: Unit::RequestsPerSecond,
        rounds,
        ratio_goal: Goal::AtLeast(goal),
        own_goal: None,
        floor: "a bare axum handler that answers the same bytes, on the same core",
    })
}
