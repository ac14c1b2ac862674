//! The delay until a clock change is seen, and the cost of reading a client's clock.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::SystemTime;

use anyhow::{Context, bail};
use serde_json::json;

use super::Subject;
use crate::http::Connection;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::{Rounds, Spread, percentile_99};
use crate::measure::setting::Setting;
use crate::measure::wall_clock::{Stopwatch, host_now, monotonic, pause};
use crate::service::block_on;

const FOLLOWERS: usize = 20;
const CHANGES: u32 = 100;
/// Readings timed together, and the number of such batches.
const READINGS: u32 = 10_000;
const BATCHES: usize = 20;
/// Polling interval after starting a program, and number of attempts.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(50);
const LOOKS_MAX: u32 = 1_200;

/// A child process that is killed on drop.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // Closing its input also ends the program.
        drop(self.0.stdin.take());
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reading a client's clock, against reading the host's (goal 17).
pub(super) fn client_clock(setting: &Setting, subject: &Subject<'_>) -> anyhow::Result<Finding> {
    let runtime = crate::ports::runtime()?;
    let client =
        timenav_client::Client::builder().base_url(subject.service.url()).api_key(subject.service.key()?).build()?;
    let clock = runtime.block_on(client.virtual_clock())?;
    let best = |read: &(dyn Fn() + Sync)| {
        setting.cores.measured(|| {
            let batches = (0..BATCHES).map(|_| {
                let watch = Stopwatch::start();
                (0..READINGS).for_each(|_| read());
                watch.micros() * 1e3 / f64::from(READINGS)
            });
            Spread::of(&batches.collect::<Vec<_>>()).min
        })
    };
    let host = || {
        std::hint::black_box::<SystemTime>(host_now());
    };
    let rounds = Rounds::measure(
        setting,
        || Ok(best(&host)),
        || {
            clock.now()?;
            Ok(best(&|| {
                let _ = std::hint::black_box(clock.now());
            }))
        },
    )?;
    Ok(Finding::new(
        "programs-client-clock",
        Unit::Nanos,
        rounds,
        Goal::AtMost(1.3),
        "`clock_gettime` of realtime by `SystemTime::now`",
    ))
}

/// The time until another process shows the new time, against the time until the response (goal 18).
pub(super) fn one_program(setting: &Setting, subject: &Subject<'_>) -> anyhow::Result<Finding> {
    let mut watching = subject.cli(&["exec", "--"])?;
    watching.arg(subject.probe()).arg("watch").stdout(Stdio::piped());
    let mut watching = Killed(watching.spawn()?);
    let mut lines = BufReader::new(watching.0.stdout.take().context("it has no output")?).lines();
    let mut line = || lines.next().context("the program has ended")?.map_err(anyhow::Error::new);
    line()?;
    let mut rounds = Rounds::default();
    for round in 0..setting.rounds_count {
        let (mut answered, mut seen) = (Vec::new(), Vec::new());
        for change in 0..CHANGES {
            // Each is some hours after the previous one, and all are different.
            let seconds = i64::try_from(round)? * 86_400_000 + i64::from(change) * 86_400 + 2_000_000_000;
            let from = monotonic();
            travel(subject, seconds, None)?;
            answered.push(millis(monotonic() - from));
            loop {
                let text = line()?;
                let mut words = text.split(' ').map(str::parse::<i64>);
                let (Some(Ok(displayed)), Some(Ok(at))) = (words.next(), words.next()) else {
                    bail!("it said {text:?}")
                };
                if (seconds..seconds + 3_600).contains(&displayed) {
                    seen.push(millis(at - from));
                    break;
                }
            }
        }
        rounds.floor.push(percentile_99(&answered));
        rounds.subject.push(percentile_99(&seen));
    }
    Ok(Finding::new(
        "programs-travel-p99",
        Unit::Millis,
        rounds,
        Goal::MoreAtMost(5.0),
        "the answer to the same travel",
    ))
}

/// The time until many followers have confirmed, against the same change without waiting (goal 18).
pub(super) fn followers(setting: &Setting, subject: &Subject<'_>) -> anyhow::Result<Finding> {
    let mut running = Vec::new();
    for number in 0..FOLLOWERS {
        let name = format!("follower-{number}");
        let mut command = subject.cli(&["exec", "--follow", &name, "--", "cat"])?;
        running.push(Killed(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?));
    }
    let is_there = || {
        let listed = String::from_utf8(subject.service.answer("GET", "/v1/followers")?)?;
        anyhow::Ok(listed.matches("\"current\"").count() == FOLLOWERS)
    };
    for look in 0.. {
        if is_there()? {
            break;
        }
        if look == LOOKS_MAX {
            bail!("not all followers have come");
        }
        pause(LOOK_EVERY);
    }
    let p99 = |names: Option<&str>| {
        let mut took = Vec::new();
        for change in 0..CHANGES {
            let from = monotonic();
            travel(subject, 2_000_000_000 + i64::from(change) * 86_400, names)?;
            took.push(millis(monotonic() - from));
        }
        anyhow::Ok(percentile_99(&took))
    };
    let rounds = Rounds::measure(setting, || p99(None), || p99(Some("all")))?;
    Ok(Finding::new(
        "programs-followers-p99",
        Unit::Millis,
        rounds,
        Goal::MoreAtMost(20.0),
        "the same travel without waiting for followers",
    ))
}

/// Changes the clock to a time in seconds, and waits for the response.
fn travel(subject: &Subject<'_>, seconds: i64, followers: Option<&str>) -> anyhow::Result<()> {
    let moment = timenav_core::time::Instant::<timenav_core::time::Virtual>::from_micros(seconds * 1_000_000);
    let mut body = json!({ "destination_time": moment.context("no such moment")?.to_string() });
    if let Some(followers) = followers {
        body["followers"] = followers.into();
        body["wait"] = "1m".into();
    }
    let reply = block_on(async {
        let mut connection = Connection::open(subject.service.address()).await?;
        connection.json(&subject.service.key()?, "POST", "/v1/travel", Some(&body)).await
    })?;
    if followers.is_some() && !reply.to_string().contains("\"confirmed\"") {
        bail!("POST /v1/travel: {reply}");
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "figures of a measurement are not that exact")]
fn millis(nanos: i64) -> f64 {
    nanos as f64 / 1e6
}
