//! `GET /v1/clock`, authenticated, on 32 connections, against a bare handler with the same response (goal 1).

use crate::floors::bare_server;
use crate::load::Plan;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::service::{Service, send};

const CONNECTIONS: usize = 32;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let (by_default, logged) = ([], ["--log-clock-reads"]);
    Ok(vec![
        against_bare(setting, ("clock", 0.6), &by_default)?,
        against_bare(setting, ("clock-logged", 0.3), &logged)?,
    ])
}

fn against_bare(setting: &Setting, (name, goal): (&str, f64), arguments: &[&str]) -> anyhow::Result<Finding> {
    let data = setting.empty_folder("clock")?;
    let service = Service::start(setting, &data, arguments)?;
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
    Ok(Finding::new(
        name,
        Unit::RequestsPerSecond,
        rounds,
        Goal::AtLeast(goal),
        "a bare axum handler that answers the same bytes, on the same core",
    ))
}
