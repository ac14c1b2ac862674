//! Durable writes with proofs by many clients, against raw SQLite group commits of the same rows, with one row per
//! client and commit (goal 3).

use crate::floors::raw_sqlite::{RawStore, Sample, Write};
use crate::load::Plan;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::service::{Service, database_in};

const SAMPLED: usize = 5_000;
const TRAVELS_MIN: f64 = 40_000.0;

struct Case {
    name: &'static str,
    plan: Plan,
    write: Write,
    clients: usize,
    own_goal: Option<Goal>,
}

const CASES: [Case; 6] = [
    Case { name: "travel-1", plan: Plan::Travel, write: Write::Entry, clients: 1, own_goal: None },
    Case { name: "travel-16", plan: Plan::Travel, write: Write::Entry, clients: 16, own_goal: None },
    Case {
        name: "travel-64",
        plan: Plan::Travel,
        write: Write::Entry,
        clients: 64,
        own_goal: Some(Goal::AtLeast(TRAVELS_MIN)),
    },
    Case { name: "events-1", plan: Plan::Event, write: Write::Event, clients: 1, own_goal: None },
    Case { name: "events-16", plan: Plan::Event, write: Write::Event, clients: 16, own_goal: None },
    Case { name: "events-64", plan: Plan::Event, write: Write::Event, clients: 64, own_goal: None },
];

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    CASES.iter().map(|case| run_case(setting, case)).collect()
}

fn run_case(setting: &Setting, case: &Case) -> anyhow::Result<Finding> {
    // Each measurement starts with an empty database, so that both sides write into trees of the same depth.
    let serve = || {
        let service = Service::start(setting, &setting.empty_folder("writes")?, &[])?;
        let outcome = service.load(case.plan, case.clients)?;
        anyhow::Ok((outcome.rate(), service.stop()?))
    };
    let (_, data) = serve()?;
    let sample = Sample::take(&database_in(&data)?, case.write, SAMPLED)?;
    let floor = || {
        let folder = setting.empty_folder("writes-raw")?;
        let write = || RawStore::create(&folder, &sample)?.write_for(setting.measure_time, case.clients);
        anyhow::Ok(setting.cores.measured(write)?.rate)
    };
    let rounds = Rounds::measure(setting, floor, || Ok(serve()?.0))?;
    Ok(Finding {
        name: format!("writes-{}", case.name),
        unit: Unit::RowsPerSecond,
        rounds,
        ratio_goal: Goal::AtLeast(if case.clients == 64 { 0.7 } else { 0.5 }),
        own_goal: case.own_goal,
        floor: "raw SQLite commits (WAL, FULL) of the same rows, one write a client in each",
    })
}
