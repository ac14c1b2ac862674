//! Importing NDJSON, and CSV with a mapping, over HTTP, including ledger and proofs, against raw batched SQLite inserts
//! of the same rows with the same indexes (goal 7).

use crate::floors::raw_sqlite::{RawStore, Sample, Write};
use crate::history::{Format, History};
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::service::{Service, database_in};

const RATE_MIN: f64 = 60_000.0;
const BATCH_ROWS: usize = 2_048;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (name, format) in [("import-ndjson", Format::Ndjson), ("import-csv", Format::Csv)] {
        findings.push(run_with(setting, name, format)?);
    }
    Ok(findings)
}

fn run_with(setting: &Setting, name: &str, format: Format) -> anyhow::Result<Finding> {
    let events_count: u32 = if setting.quick { 30_000 } else { 150_000 };
    let file = setting.folder.join(name);
    History::default().write(&file, format, u64::from(events_count))?;
    let import = || {
        let service = Service::start(setting, &setting.empty_folder("import")?, &[])?;
        let outcome = service.import(&file, format)?;
        outcome.check_imported(u64::from(events_count))?;
        anyhow::Ok((f64::from(events_count) / outcome.seconds, service.stop()?))
    };
    let (_, data) = import()?;
    let sample = Sample::take(&database_in(&data)?, Write::Event, usize::try_from(events_count)?)?;
    let floor = || {
        let folder = setting.empty_folder("import-raw")?;
        let write = || RawStore::create(&folder, &sample)?.write_all(BATCH_ROWS);
        anyhow::Ok(setting.cores.measured(write)?.rate)
    };
    let rounds = Rounds::measure(setting, floor, || Ok(import()?.0))?;
    Ok(Finding::new(
        name,
        Unit::RowsPerSecond,
        rounds,
        Goal::AtLeast(0.8),
        "raw SQLite inserts (WAL, FULL) of the same rows and indexes, 2048 a commit",
    )
    .with_own_goal(Goal::AtLeast(RATE_MIN)))
}
