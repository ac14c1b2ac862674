//! Timers: the speed of an advance with one listener (goals 19a and 19b), the cost of armed timers that are not due,
//! and the delay of a firing while the clock runs.

mod armed;
mod latency;
mod listener;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::floors::raw_sqlite::timers::{FiredSample, RawFirings};
use crate::load::count;
use crate::measure::interrupt;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::service::{Service, database_in};
use listener::{Settled, Talker, moment};

const SAMPLED: usize = 2_000;
/// Maximum memory growth during an advance, from soon after its beginning, in millions of bytes.
const GROWTH_MEGABYTES: f64 = 30.0;

/// Reduction of the number of instants on PostgreSQL.
const ON_POSTGRESQL_LESS: u64 = 10;

struct Case {
    name: &'static str,
    unit: Unit,
    instants: u64,
    per_instant: u64,
    own_goal: Goal,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let smaller = if setting.quick { 20 } else { 1 };
    let cases = [
        Case {
            name: "instants",
            unit: Unit::InstantsPerSecond,
            instants: 100_000 / smaller,
            per_instant: 1,
            own_goal: Goal::AtLeast(1_500.0),
        },
        Case {
            name: "firings",
            unit: Unit::FiringsPerSecond,
            instants: if setting.quick { 100 } else { 1_000 },
            per_instant: 100,
            own_goal: Goal::AtLeast(20_000.0),
        },
    ];
    let mut found = Vec::new();
    for case in &cases {
        found.extend(case.run(setting)?);
    }
    let cluster = Cluster::start(setting, "timers-on-postgresql")?;
    for case in &cases {
        found.push(case.run_on(&cluster, setting)?);
    }
    drop(cluster);
    found.extend(armed::run(setting)?);
    found.extend(latency::run(setting)?);
    Ok(found)
}

impl Case {
    fn run(&self, setting: &Setting) -> anyhow::Result<[Finding; 2]> {
        // An unmeasured run provides the rows for the floor.
        let (_, data) = self.settle(setting, (SAMPLED as u64).min(self.instants))?;
        let sample = FiredSample::take(&database_in(&data)?, usize::try_from(self.per_instant)?)?;
        let floor = || {
            let folder = setting.empty_folder("timers-raw")?;
            let write = || RawFirings::create(&folder, &sample)?.write_all();
            Ok(self.of_unit(setting.cores.measured(write)?))
        };
        let mut memory = Rounds::default();
        let settle = || {
            let (settled, _) = self.settle(setting, self.instants)?;
            memory.floor.push(settled.megabytes.0);
            memory.subject.push(settled.megabytes.1);
            Ok(self.of_unit(settled.instants_per_second))
        };
        let rounds = Rounds::measure(setting, floor, settle)?;
        let speed = Finding::new(
            format!("timers-{}", self.name),
            self.unit,
            rounds,
            Goal::AtLeast(0.25),
            "raw SQLite commits (WAL, FULL) of the same rows, one for each instant",
        )
        .with_own_goal(self.own_goal);
        let flat = Finding::new(
            format!("timers-{}-memory", self.name),
            Unit::Megabytes,
            memory,
            Goal::MoreAtMost(GROWTH_MEGABYTES),
            "the same service after a tenth of the advance",
        );
        Ok([speed, flat])
    }

    fn run_on(&self, cluster: &Cluster<'_>, setting: &Setting) -> anyhow::Result<Finding> {
        let instants = self.instants / ON_POSTGRESQL_LESS;
        let on_sqlite = || Ok(self.of_unit(self.settle(setting, instants)?.0.instants_per_second));
        let on_postgresql = || {
            let service = cluster.serve(cluster.address(), &[])?;
            Ok(self.of_unit(self.settle_on(service, setting, instants)?.0.instants_per_second))
        };
        Ok(Finding::new(
            format!("timers-{}-on-postgresql", self.name),
            self.unit,
            Rounds::measure(setting, on_sqlite, on_postgresql)?,
            Goal::AtLeast(0.5),
            "the same service on SQLite",
        )
        .with_own_goal(self.own_goal))
    }

    /// Converts instants per second to the unit of this case.
    fn of_unit(&self, instants: f64) -> f64 {
        match self.unit {
            Unit::FiringsPerSecond => instants * count(usize::try_from(self.per_instant).unwrap_or(usize::MAX)),
            _ => instants,
        }
    }

    /// Sets the timers for these instants, advances the clock past all of them, and acknowledges the firings.
    fn settle(&self, setting: &Setting, instants: u64) -> anyhow::Result<(Settled, std::path::PathBuf)> {
        let service = Service::start(setting, &setting.empty_folder("timers")?, &[])?;
        self.settle_on(service, setting, instants)
    }

    fn settle_on(
        &self,
        service: Service<'_>,
        setting: &Setting,
        instants: u64,
    ) -> anyhow::Result<(Settled, std::path::PathBuf)> {
        interrupt::check()?;
        let (memory, per_instant) = (service.memory(), self.per_instant);
        let settled = Talker::of(setting, &service)?.run(async |talker| {
            talker.stand_at(0).await?;
            let timers = (0..instants * per_instant).map(move |number| timer(number, number / per_instant));
            talker.set_timers(timers).await?;
            talker.settle((instants, instants * per_instant), || memory.megabytes()).await
        })?;
        Ok((settled, service.stop()?))
    }
}

fn timer(number: u64, instant: u64) -> Value {
    json!({ "at": moment(instant + 1), "payload": { "invoice": number } })
}

fn text<'a>(answer: &'a Value, pointer: &str) -> anyhow::Result<&'a str> {
    answer.pointer(pointer).and_then(Value::as_str).with_context(|| format!("no text at {pointer} in {answer}"))
}

/// Fails if an advance did not complete.
fn check_receipt(answer: &Value, fired: u64) -> anyhow::Result<()> {
    let state = text(answer, "/receipt/state")?;
    let receipt_field = |name: &str| answer.pointer(&format!("/receipt/{name}")).and_then(Value::as_u64);
    ensure!(
        state == "settled" && receipt_field("fired") == Some(fired) && receipt_field("acknowledged") == Some(fired),
        "the advance did not settle: {answer}"
    );
    Ok(())
}
