//! `GET /v1/clock` beside four clients that seal data with passphrases, against itself alone
//! (goal 10): stretching a passphrase takes a core for 11 ms, and may not keep others waiting.

use std::time::Duration;

use anyhow::anyhow;

use crate::load::Plan;
use crate::report::{Finding, Goal, Unit};
use crate::rounds::Rounds;
use crate::service::Service;
use crate::setting::Setting;
use crate::wall_clock::pause;

/// Clients that read the clock: one that waits for each answer, and as many as keep a core busy.
const READERS: [usize; 2] = [1, 32];
/// Clients that seal.
const SEALERS: usize = 4;
/// For how long sealing goes on before the clock is read.
const AHEAD: Duration = Duration::from_millis(300);
/// For how long sealing goes on after the clock was read, at most.
const BEHIND: Duration = Duration::from_millis(700);

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let service = Service::start(setting, &setting.empty_folder("passphrases")?, &["--read-log", "buffered"])?;
    let mut findings = Vec::new();
    for readers in READERS {
        let alone = || Ok(service.load(Plan::Clock, readers)?.p99_micros);
        let rounds = Rounds::measure(setting, alone, || beside(setting, &service, readers))?;
        findings.push(Finding {
            name: format!("clock-beside-passphrases-{readers}"),
            unit: Unit::Micros,
            rounds,
            ratio_goal: Goal::AtMost(2.0),
            own_goal: None,
            floor: "the same service when nobody seals; both are the 99th of 100",
        });
    }
    service.stop()?;
    Ok(findings)
}

/// Returns how long 99 of 100 reads take at most while others seal.
fn beside(setting: &Setting, service: &Service<'_>, readers: usize) -> anyhow::Result<f64> {
    let time = AHEAD + setting.measure_time + BEHIND;
    std::thread::scope(|scope| {
        let sealing = scope.spawn(service.loading_for(Plan::Passphrase, SEALERS, time));
        pause(AHEAD);
        let reading = service.load(Plan::Clock, readers);
        sealing.join().map_err(|_| anyhow!("the load generator panicked"))??;
        Ok(reading?.p99_micros)
    })
}
