//! The delay of a firing while the clock runs: from its due time until a waiting worker has it.

use std::time::{Duration, SystemTime};

use anyhow::Context;
use serde_json::json;
use timenav_core::time::{Instant, Virtual, parse_timestamp};

use super::listener::{Talker, moment_at};
use super::text;
use crate::floors::raw_sqlite::timers::{FiredSample, RawFirings};
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::{Rounds, Spread, percentile_99};
use crate::measure::setting::Setting;
use crate::measure::wall_clock::{host_now, pause};
use crate::service::{Service, database_in};

/// How far in the future a timer is set, in microseconds: longer than the request to set it takes.
const AHEAD_MICROS: i64 = 20_000;

/// Delays of firings, in microseconds.
struct Late {
    p50: f64,
    p99: f64,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<[Finding; 2]> {
    let timers = if setting.quick { 200 } else { 1_000 };
    let (_, data) = fire(setting, timers)?;
    let sample = FiredSample::take(&database_in(&data)?, 1)?;
    let mut worst = Rounds::default();
    let mut worst_of_floor = Vec::new();
    let floor = || {
        let folder = setting.empty_folder("timers-raw")?;
        let late = setting.cores.measured(|| sleep_and_write(&mut RawFirings::create(&folder, &sample)?, timers))?;
        worst_of_floor.push(late.p99);
        Ok(late.p50)
    };
    let subject = || {
        let (late, _) = fire(setting, timers)?;
        worst.subject.push(late.p99);
        Ok(late.p50)
    };
    let middle = Rounds::measure(setting, floor, subject)?;
    worst.floor = worst_of_floor;
    let finding = |what: &str, rounds, own_goal| {
        Finding::new(
            format!("timers-late-{what}"),
            Unit::Micros,
            rounds,
            Goal::AtMost(5.0),
            "a sleep until the moment, and one SQLite commit of the same rows",
        )
        .with_own_goal(Goal::AtMost(own_goal))
    };
    Ok([finding("p50", middle, 5_000.0), finding("p99", worst, 20_000.0)])
}

/// Sets timers one after the other on a running clock, and waits for each.
fn fire(setting: &Setting, timers: u64) -> anyhow::Result<(Late, std::path::PathBuf)> {
    let service = Service::start(setting, &setting.empty_folder("timers")?, &[])?;
    let late = Talker::of(setting, &service)?.run(async |talker| {
        let (mut setting, mut listening) = (talker.line().await?, talker.line().await?);
        let mut micros = Vec::new();
        for _ in 0..timers {
            crate::measure::interrupt::check()?;
            let clock = setting.get("/v1/clock").await?;
            let origin = |name: &str| anyhow::Ok(parsed(text(&clock, name)?)?.micros());
            // The clock runs at the rate of the host's.
            let ahead_of_host = origin("/origin_virtual")? - origin("/origin_host")?;
            let due = host_micros()? + AHEAD_MICROS + ahead_of_host;
            let timer = json!({ "at": moment_at(due), "payload": { "invoice": 1 } });
            let wait = json!({ "wait": "20s" });
            let claiming = listening.post("/v1/queues/default/claim", &wait);
            let (set, claimed) = tokio::join!(setting.post("/v1/timers", &timer), claiming);
            micros.push(micros_since(due - ahead_of_host)?);
            set?;
            let claimed = claimed?;
            let (firing, lease) = (text(&claimed, "/firings/0/firing_id")?, text(&claimed, "/firings/0/lease_id")?);
            let acknowledge = json!({ "firing_ids": [firing], "lease_ids": [lease] });
            listening.post("/v1/firings/ack", &acknowledge).await?;
        }
        Ok(Late::of(&micros))
    })?;
    Ok((late, service.stop()?))
}

/// Repeatedly sleeps until a given time and commits the rows of a firing.
fn sleep_and_write(raw: &mut RawFirings<'_>, timers: u64) -> anyhow::Result<Late> {
    let mut micros = Vec::new();
    for _ in 0..timers {
        let due = host_micros()? + AHEAD_MICROS;
        pause(Duration::from_micros(AHEAD_MICROS.unsigned_abs()));
        raw.fire()?;
        micros.push(micros_since(due)?);
        raw.settle()?;
    }
    Ok(Late::of(&micros))
}

impl Late {
    fn of(micros: &[f64]) -> Self {
        Self { p50: Spread::of(micros).median, p99: percentile_99(micros) }
    }
}

fn parsed(text: &str) -> anyhow::Result<Instant<Virtual>> {
    parse_timestamp(text).ok().with_context(|| format!("{text} is no moment"))
}

fn host_micros() -> anyhow::Result<i64> {
    Ok(i64::try_from(host_now().duration_since(SystemTime::UNIX_EPOCH)?.as_micros())?)
}

#[expect(clippy::cast_precision_loss, reason = "a lateness is far below 2^52 microseconds")]
fn micros_since(due: i64) -> anyhow::Result<f64> {
    Ok((host_micros()? - due) as f64)
}
