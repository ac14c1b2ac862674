//! `POST /v1/travel`, durable and with proof, from one client, against one SQLite commit of the same rows (goal 2).

use crate::floors::raw_sqlite::{RawStore, Sample, Write};
use crate::load::Plan;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::service::{Service, database_in};

const SAMPLED: usize = 1_000;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let first = Service::start(setting, &setting.empty_folder("travel")?, &[])?;
    first.load(Plan::Travel, 1)?;
    let data = first.stop()?;
    let sample = Sample::take(&database_in(&data)?, Write::Entry, SAMPLED)?;
    let service = Service::start(setting, &data, &[])?;
    let floor = || {
        let folder = setting.empty_folder("travel-raw")?;
        let write = || RawStore::create(&folder, &sample)?.write_for(setting.measure_time, 1);
        anyhow::Ok(setting.cores.measured(write)?.p50_micros)
    };
    let rounds = Rounds::measure(setting, floor, || Ok(service.load(Plan::Travel, 1)?.p50_micros))?;
    service.stop()?;
    Ok(vec![Finding::new(
        "travel-p50",
        Unit::Micros,
        rounds,
        Goal::AtMost(2.5),
        "one SQLite commit (WAL, FULL) of the same rows",
    )])
}
