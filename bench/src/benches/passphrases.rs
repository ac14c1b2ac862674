//! `GET /v1/clock` while four clients seal data with passphrases, against the same without them (goal 10): stretching a
//! passphrase takes a core for 11 ms and must not delay others.

use std::time::Duration;

use anyhow::anyhow;

use crate::load::Plan;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::pause;
use crate::service::Service;

/// Clients that read the clock: one sequential client, and enough to keep a core busy.
const READERS: [usize; 2] = [1, 32];
const SEALERS: usize = 4;
/// How long sealing runs before the clock is read.
const AHEAD: Duration = Duration::from_millis(300);
/// How long sealing continues after the clock was read, at most.
const BEHIND: Duration = Duration::from_millis(700);

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let service = Service::start(setting, &setting.empty_folder("passphrases")?, &["--read-log", "buffered"])?;
    let mut findings = Vec::new();
    for readers in READERS {
        let alone = || Ok(service.load(Plan::Clock, readers)?.p99_micros);
        let rounds = Rounds::measure(setting, alone, || under_load(setting, &service, readers))?;
        findings.push(Finding::new(
            format!("clock-beside-passphrases-{readers}"),
            Unit::Micros,
            rounds,
            Goal::AtMost(2.0),
            "the same service without sealing; both are 99th percentiles",
        ));
    }
    service.stop()?;
    Ok(findings)
}

/// Returns the 99th percentile of read latency while others seal.
fn under_load(setting: &Setting, service: &Service<'_>, readers: usize) -> anyhow::Result<f64> {
    let time = AHEAD + setting.measure_time + BEHIND;
    std::thread::scope(|scope| {
        let sealing = scope.spawn(service.loading_for(Plan::Passphrase, SEALERS, time));
        pause(AHEAD);
        let reading = service.load(Plan::Clock, readers);
        sealing.join().map_err(|_| anyhow!("the load generator panicked"))??;
        Ok(reading?.p99_micros)
    })
}
