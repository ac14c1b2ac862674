//! `wait_for`: waits until something happens on a timeline. Moves a paused clock there if allowed.
//!
//! Events come from the stream, starting at a ledger position, so that none is missed between two calls. A paused clock
//! is moved only to the next armed timer: nothing happens while the agent thinks.

mod moving;
mod conditions;

use std::collections::HashSet;
use std::future::{Future, pending};
use std::pin::Pin;
use std::time::Duration;

use serde_json::{Map, Value, json};
use timenav_core::time::{Instant, Virtual, parse_timestamp};
use tokio::time::timeout;

use self::conditions::WaitConditions;
pub(super) use self::conditions::{object, tool};
use super::calling::{ANSWER_BYTES_MAX, read};
use super::refusals::unfit;
use super::session::Session;
use crate::client::{ApiRequest, Caller, Reply, ServerEvent, Watch};
use crate::exit::Failure;
use crate::wiring::ports::counted;

/// How long one claim or one poll of an advance waits.
const QUESTION_WAIT: &str = "20s";
const AT_ONCE: &str = "0s";
const QUESTION_LONGER: Duration = Duration::from_secs(20);
/// Lease of claimed firings, in host time. The maximum that the service allows, because models are slow.
const ACK_TIMEOUT: &str = "600s";
const FIRINGS_MAX: u64 = 10;
/// Minimum and maximum interval between polls.
const LOOK_AGAIN: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(5));
const REOPENED_MAX: u32 = 5;

pub(super) type Question = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>;

struct Waiting<'a> {
    session: &'a Session,
    conditions: WaitConditions,
    until: Option<Instant<Virtual>>,
    /// The deadline, by the boot clock.
    deadline: Duration,
    watch: Watch,
    after: Option<String>,
    /// Reconnects since the last message.
    reopened: u32,
    clock: Value,
    /// When the clock was read, by the boot clock.
    read_at: Duration,
    /// The newest clock generation received from the stream.
    streamed: Option<u64>,
    timer: Option<Timer>,
    claiming: Option<Question>,
    moving: Option<Question>,
}

struct Timer {
    next: Option<Instant<Virtual>>,
    /// Firings that existed before.
    before: HashSet<String>,
    /// The time of the next poll, and the interval after that.
    again: (Duration, Duration),
}

enum Sign {
    Message(Option<ServerEvent>),
    Claimed(Result<Value, Failure>),
    Moved(Result<Value, Failure>),
}

pub(super) async fn wait_for(session: &Session, arguments: Map<String, Value>) -> Result<Value, Failure> {
    let (conditions, until, patience) = WaitConditions::read(session, arguments)?;
    let mut waiting = Waiting::begin(session, conditions, until, patience).await?;
    if let Some(found) = waiting.pending_firings().await? {
        return Ok(found);
    }
    waiting.run().await
}

impl<'a> Waiting<'a> {
    async fn begin(
        session: &'a Session,
        conditions: WaitConditions,
        until: Option<Instant<Virtual>>,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let deadline = counted().saturating_add(patience);
        let after = if let Some(after) = &conditions.after {
            Some(after.clone())
        } else {
            let clock = get(&session.caller, &["v1", "clock"], conditions.query()).await?;
            newest(&session.caller, &clock).await?
        };
        let watch = session.caller.watch(&["v1", "stream"], &conditions.stream_query(), after.as_deref()).await?;
        // After the stream has started, so that no change is missed in between.
        let clock = get(&session.caller, &["v1", "clock"], conditions.query()).await?;
        let read_at = counted();
        let timer = match &conditions.timer_id {
            Some(timer_id) => {
                let document = get(&session.caller, &["v1", "timers", timer_id], conditions.query()).await?;
                Some(Timer::armed(timer_id, &document)?)
            }
            None => None,
        };
        Ok(Self {
            session,
            conditions,
            until,
            deadline,
            watch,
            after,
            reopened: 0,
            clock,
            read_at,
            streamed: None,
            timer,
            claiming: None,
            moving: None,
        })
    }

    async fn run(&mut self) -> Result<Value, Failure> {
        loop {
            if let Some(found) = self.by_clock().await? {
                return Ok(found);
            }
            if self.conditions.advance
                && self.moving.is_none()
                && let Some(found) = self.set_out().await?
            {
                return Ok(found);
            }
            if self.conditions.queue.is_some() && self.claiming.is_none() {
                self.claiming = self.claim(QUESTION_WAIT);
            }
            let Some(patience) = self.patience() else {
                return Ok(self.found("timeout", "Nothing that you wait for has happened.", json!({})));
            };
            let Ok(sign) = timeout(patience, sign(&mut self.watch, &mut self.claiming, &mut self.moving)).await else {
                continue;
            };
            let found = match sign {
                Sign::Message(Some(message)) => self.take(&message),
                Sign::Message(None) => self.reopen().await?,
                Sign::Claimed(answer) => {
                    self.claiming = None;
                    self.claimed(&answer?).await?
                }
                Sign::Moved(answer) => {
                    self.moving = None;
                    self.moved(answer).await?
                }
            };
            if let Some(found) = found {
                return Ok(found);
            }
        }
    }

    /// Processes a stream message. Returns the event if it matches.
    fn take(&mut self, message: &ServerEvent) -> Option<Value> {
        self.reopened = 0;
        if !message.id.is_empty() {
            self.after = Some(message.id.clone());
        }
        let data: Value = serde_json::from_str(&message.data).ok()?;
        match message.name.as_str() {
            "clock" => {
                let generation = data["clock"]["generation"].as_u64();
                self.streamed = self.streamed.max(generation);
                // The clock that was read may be newer.
                if generation >= self.clock["generation"].as_u64() {
                    self.clock = data["clock"].clone();
                    self.clock["timeline_id"] = data["timeline_id"].clone();
                    self.read_at = counted();
                }
                None
            }
            "events" if data["change"] == "recorded" && self.conditions.is_event(&data) => {
                let event = data["event"].clone();
                Some(self.found("event", "An event was recorded.", json!({ "event": event })))
            }
            "reset" => Some(self.found(
                "reset",
                "Some messages since `after` were skipped; read the events that you need.",
                json!({}),
            )),
            _ => None,
        }
    }

    async fn reopen(&mut self) -> Result<Option<Value>, Failure> {
        self.reopened += 1;
        if self.reopened > REOPENED_MAX {
            return Err(unfit("unavailable", "the service keeps ending the stream of the timeline"));
        }
        let after = self.after.as_deref();
        self.watch = self.session.caller.watch(&["v1", "stream"], &self.conditions.stream_query(), after).await?;
        Ok(None)
    }

    /// Returns a result determined by the clock alone: a moment or a timer.
    async fn by_clock(&mut self) -> Result<Option<Value>, Failure> {
        let due = [self.until, self.timer.as_ref().and_then(|timer| timer.next)];
        let is_due = |moment: &Instant<Virtual>| self.clock_time().is_some_and(|displayed| displayed >= *moment);
        if !due.iter().flatten().any(is_due) {
            return Ok(None);
        }
        if let Some(timer) = &mut self.timer
            && counted() >= timer.again.0
        {
            let timer_id = self.conditions.timer_id.clone().unwrap_or_default();
            let document = get(&self.session.caller, &["v1", "timers", &timer_id], self.conditions.query()).await?;
            if let Some(firing) = timer.fired(&document) {
                self.refresh().await?;
                return Ok(Some(self.found("timer", "The timer has fired.", json!({ "firing": firing }))));
            }
        }
        let Some(until) = self.until else { return Ok(None) };
        if self.clock_time().is_some_and(|displayed| displayed >= until) {
            self.refresh().await?;
            if self.clock_time().is_some_and(|displayed| displayed >= until) && self.clock["advance"].is_null() {
                return Ok(Some(self.found("moment", "The clock has reached the moment.", json!({}))));
            }
        }
        Ok(None)
    }

    /// Returns how long to wait for the next signal; `None` after the deadline.
    fn patience(&self) -> Option<Duration> {
        let now = counted();
        let left = self.deadline.checked_sub(now).filter(|left| !left.is_zero())?;
        let mut patience = left;
        let timer = self.timer.as_ref();
        for moment in [self.until, timer.and_then(|timer| timer.next)].into_iter().flatten() {
            if let Some(host) = self.host_until(moment) {
                patience = patience.min(host);
            }
        }
        if let Some(timer) = timer.filter(|timer| !timer.again.0.is_zero()) {
            patience = patience.min(timer.again.0.saturating_sub(now));
        }
        Some(patience.max(LOOK_AGAIN.0).min(left))
    }

    fn clock_time(&self) -> Option<Instant<Virtual>> {
        let current_time = moment(&self.clock["current_time"])?;
        if !self.is_running() {
            return Some(current_time);
        }
        let rate = self.clock["rate"].as_f64().unwrap_or(1.0);
        let passed = counted().saturating_sub(self.read_at).as_secs_f64() * rate * 1e6;
        #[expect(clippy::cast_possible_truncation, reason = "it ends at the end of the calendar")]
        let displayed = current_time.micros().saturating_add(passed as i64);
        Some(Instant::from_micros(displayed).unwrap_or(Instant::MAX))
    }

    fn host_until(&self, moment: Instant<Virtual>) -> Option<Duration> {
        let (displayed, rate) = (self.clock_time()?, self.clock["rate"].as_f64()?);
        if !self.is_running() || displayed >= moment {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "it is checked again after that time")]
        let micros = moment.micros().saturating_sub(displayed.micros()) as f64;
        Duration::try_from_secs_f64(micros / 1e6 / rate).ok()
    }

    fn is_running(&self) -> bool {
        self.clock["state"] == "running"
    }

    async fn refresh(&mut self) -> Result<(), Failure> {
        self.clock = get(&self.session.caller, &["v1", "clock"], self.conditions.query()).await?;
        self.read_at = counted();
        Ok(())
    }

    /// Returns the result: why the wait ended, what the clock shows, and where to continue.
    fn found(&self, reason: &str, sentence: &str, more: Value) -> Value {
        let mut answer = json!({ "status": sentence, "reason": reason, "clock": self.clock });
        if let Some(after) = &self.after {
            answer["after"] = after.as_str().into();
        }
        if let Value::Object(more) = more {
            for (name, value) in more {
                answer[name] = value;
            }
        }
        answer
    }
}

impl Timer {
    fn armed(timer_id: &str, timer: &Value) -> Result<Self, Failure> {
        let before = timer["firings"].as_array().into_iter().flatten();
        let before = before.filter_map(|firing| firing["firing_id"].as_str().map(str::to_owned)).collect();
        let Some(next) = moment(&timer["timer"]["next"]) else {
            let state = timer["timer"]["state"].as_str().unwrap_or("not armed");
            return Err(unfit(
                "timer_not_armed",
                &format!("the timer `{timer_id}` is {state}; it will not fire again"),
            ));
        };
        Ok(Self { next: Some(next), before, again: (Duration::ZERO, LOOK_AGAIN.0) })
    }

    /// Returns the first new firing, or schedules the next poll.
    fn fired(&mut self, timer: &Value) -> Option<Value> {
        let newest_first = timer["firings"].as_array()?.iter().rev();
        let mut new = newest_first
            .filter(|firing| firing["firing_id"].as_str().is_some_and(|firing_id| !self.before.contains(firing_id)));
        if let Some(firing) = new.next() {
            return Some(firing.clone());
        }
        self.next = moment(&timer["timer"]["next"]).or(self.next);
        let (_, pause) = self.again;
        self.again = (counted().saturating_add(pause), LOOK_AGAIN.1.min(pause * 2));
        None
    }
}

async fn sign(watch: &mut Watch, claiming: &mut Option<Question>, moving: &mut Option<Question>) -> Sign {
    tokio::select! {
        biased;
        // A firing holds the clock, so it is handled before the clock moves on.
        claimed = answered(claiming) => Sign::Claimed(claimed),
        moved = answered(moving) => Sign::Moved(moved),
        message = watch.next() => Sign::Message(message),
    }
}

async fn answered(question: &mut Option<Question>) -> Result<Value, Failure> {
    match question {
        Some(question) => question.await,
        None => pending().await,
    }
}

/// Returns the id of the newest possible stream message: that of the newest entry.
async fn newest(caller: &Caller, clock: &Value) -> Result<Option<String>, Failure> {
    let timeline = clock["timeline_id"].as_str().unwrap_or_default();
    let document = get(caller, &["timeline", timeline], Vec::new()).await?;
    Ok(document["head"]["size"].as_u64().and_then(|size| size.checked_sub(1)).map(|position| position.to_string()))
}

async fn get(caller: &Caller, path: &[&str], query: Vec<(String, String)>) -> Result<Value, Failure> {
    ask(caller.clone(), ApiRequest::get(path, query)).await
}

pub(super) async fn ask(caller: Caller, api_request: ApiRequest) -> Result<Value, Failure> {
    match caller.send(&api_request, ANSWER_BYTES_MAX).await? {
        Reply::Text(text) => read(&text),
        Reply::TooLong => {
            let detail = format!("the response is longer than {ANSWER_BYTES_MAX} bytes");
            Err(unfit("answer_too_long", &detail))
        }
    }
}

fn moment(value: &Value) -> Option<Instant<Virtual>> {
    parse_timestamp(value.as_str()?).ok()
}
