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

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (name, plan, write) in [("travel", Plan::Travel, Write::Entry), ("events", Plan::Event, Write::Event)] {
        for clients in [1, 16, 64] {
            findings.push(measure(setting, format!("writes-{name}-{clients}"), plan, write, clients)?);
        }
    }
    Ok(findings)
}

fn measure(setting: &Setting, name: String, plan: Plan, write: Write, clients: usize) -> anyhow::Result<Finding> {
    // Each measurement starts with an empty database, so that both sides write into trees of the same depth.
    let serve = || {
        let service = Service::start(setting, &setting.empty_folder("writes")?, &[])?;
        let outcome = service.load(plan, clients)?;
        anyhow::Ok((outcome.rate(), service.stop()?))
    };
    let (_, data) = serve()?;
    let sample = Sample::take(&database_in(&data)?, write, SAMPLED)?;
    let floor = || {
        let folder = setting.empty_folder("writes-raw")?;
        let write = || RawStore::create(&folder, &sample)?.write_for(setting.measure_time, clients);
        anyhow::Ok(setting.cores.measured(write)?.rate)
    };
    let rounds = Rounds::measure(setting, floor, || Ok(serve()?.0))?;
    let finding = Finding::new(
        name,
        Unit::RowsPerSecond,
        rounds,
        Goal::AtLeast(if clients == 64 { 0.7 } else { 0.5 }),
        "raw SQLite commits (WAL, FULL) of the same rows, one write a client in each",
    );
    let has_own_goal = plan == Plan::Travel && clients == 64;
    Ok(if has_own_goal { finding.with_own_goal(Goal::AtLeast(TRAVELS_MIN)) } else { finding })
}
