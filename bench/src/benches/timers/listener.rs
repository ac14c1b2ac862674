//! A client that sets timers, advances the clock, and acknowledges firings.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use timenav_core::time::{Instant, Virtual};
use tokio::task::LocalSet;

use super::{check_receipt, text};
use crate::http::Connection;
use crate::load::count;
use crate::measure::cores::on_core;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::service::Service;

/// 2030-01-01T00:00:00Z, in microseconds.
const FIRST_MICROS: i64 = 1_893_456_000_000_000;
const SETTERS: usize = 64;
const CLAIM: &str = "/v1/queues/default/claim";
/// Timeout of an advance: 100,000 instants at a tenth of the goal's rate.
const ADVANCE_TIME_MAX: Duration = Duration::from_mins(12);

pub(super) struct Settled {
    pub(super) instants_per_second: f64,
    /// Resident memory of the service after a tenth of the advance, and at its end.
    pub(super) megabytes: (f64, f64),
}

/// Returns the time this many seconds after the first one.
pub(super) fn moment(seconds: u64) -> String {
    moment_at(FIRST_MICROS.saturating_add_unsigned(seconds.saturating_mul(1_000_000)))
}

pub(super) fn moment_at(micros: i64) -> String {
    Instant::<Virtual>::from_micros(micros).unwrap_or(Instant::MAX).to_string()
}

pub(super) struct Talker {
    core: Option<usize>,
    address: SocketAddr,
    key: String,
}

impl Talker {
    pub(super) fn of(setting: &Setting, service: &Service<'_>) -> anyhow::Result<Self> {
        Ok(Self { core: setting.cores.load, address: service.address(), key: service.key()? })
    }

    pub(super) fn run<T: Send>(&self, work: impl AsyncFnOnce(&Self) -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
        on_core(self.core, || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(LocalSet::new().run_until(work(self)))
        })
    }

    pub(super) async fn line(&self) -> anyhow::Result<Line> {
        Ok(Line { connection: Connection::open(self.address).await?, key: self.key.clone() })
    }

    /// Pauses the clock this many seconds after the first time.
    pub(super) async fn stand_at(&self, seconds: u64) -> anyhow::Result<()> {
        let mut line = self.line().await?;
        line.post("/v1/pause-time", &json!({})).await?;
        line.post("/v1/travel", &json!({ "destination_time": moment(seconds) })).await?;
        Ok(())
    }

    pub(super) async fn set_timers(&self, timers: impl Iterator<Item = Value> + 'static) -> anyhow::Result<()> {
        let timers = Rc::new(std::cell::RefCell::new(timers));
        let mut setters = Vec::new();
        for _ in 0..SETTERS {
            let (mut line, timers) = (self.line().await?, Rc::clone(&timers));
            setters.push(tokio::task::spawn_local(async move {
                loop {
                    let Some(timer) = timers.borrow_mut().next() else { return anyhow::Ok(()) };
                    crate::measure::interrupt::check()?;
                    line.post("/v1/timers", &timer).await?;
                }
            }));
        }
        for setter in setters {
            setter.await??;
        }
        Ok(())
    }

    /// Advances the clock while one listener acknowledges the firings. Measures until the advance has ended.
    pub(super) async fn settle(
        &self,
        (instants, firings): (u64, u64),
        megabytes: impl Fn() -> anyhow::Result<f64>,
    ) -> anyhow::Result<Settled> {
        let done = Rc::new(Cell::new(0));
        // The listener has to be connected first.
        let mut listener = Listener { claiming: self.line().await?, sending: self.line().await? };
        listener.claiming.post(CLAIM, &json!({})).await?;
        let listener = tokio::task::spawn_local(listener.listen(firings, Rc::clone(&done)));
        let mut line = self.line().await?;
        let watch = Stopwatch::start();
        let travel = json!({ "destination_time": moment(instants + 1), "wait": "0s" });
        let begun = line.post("/v1/travel", &travel).await?;
        let path = format!("/v1/advances/{}?wait=1s", text(&begun, "/receipt/advance_id")?);
        let mut early = None;
        let ended = loop {
            let answer = line.get(&path).await?;
            if early.is_none() && done.get() >= firings / 10 {
                early = Some(megabytes()?);
            }
            if text(&answer, "/receipt/state")? != "running" {
                break answer;
            }
            ensure!(watch.elapsed() < ADVANCE_TIME_MAX, "the advance takes too long: {answer}");
            ensure!(!listener.is_finished() || done.get() == firings, "the listener has ended");
        };
        let seconds = watch.elapsed().as_secs_f64();
        check_receipt(&ended, firings)?;
        listener.await??;
        let late = megabytes()?;
        let instants_per_second = count(usize::try_from(instants)?) / seconds;
        Ok(Settled { instants_per_second, megabytes: (early.unwrap_or(late), late) })
    }
}

pub(super) struct Line {
    connection: Connection,
    key: String,
}

impl Line {
    pub(super) async fn post(&mut self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.connection.json(&self.key, "POST", path, Some(body)).await
    }

    pub(super) async fn get(&mut self, path: &str) -> anyhow::Result<Value> {
        self.connection.json(&self.key, "GET", path, None).await
    }
}

/// Works like the client libraries' listeners: the next claim is sent while the acknowledgment is in flight.
struct Listener {
    claiming: Line,
    sending: Line,
}

impl Listener {
    async fn listen(mut self, firings: u64, done: Rc<Cell<u64>>) -> anyhow::Result<()> {
        let mut claimed = self.claiming.post(CLAIM, &next()).await?;
        while done.get() < firings {
            crate::measure::interrupt::check()?;
            let taken = claimed["firings"].as_array().context("a claim tells no firings")?;
            let Some(first) = taken.first() else {
                claimed = self.claiming.post(CLAIM, &next()).await?;
                continue;
            };
            let firing_ids: Vec<&Value> = taken.iter().map(|firing| &firing["firing_id"]).collect();
            let acknowledge = json!({ "firing_ids": firing_ids, "lease_ids": [first["lease_id"]] });
            let so_far = done.get() + taken.len() as u64;
            let sending = self.sending.post("/v1/firings/ack", &acknowledge);
            if so_far >= firings {
                sending.await?;
            } else {
                let next = next();
                let (reply, next) = tokio::join!(sending, self.claiming.post(CLAIM, &next));
                reply?;
                claimed = next?;
            }
            done.set(so_far);
        }
        Ok(())
    }
}

/// Returns the body of a claim for all pending firings, which waits if there are none.
fn next() -> Value {
    json!({ "max": 1_000, "wait": "20s" })
}
