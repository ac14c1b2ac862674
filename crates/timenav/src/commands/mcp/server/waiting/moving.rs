use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{ACK_TIMEOUT, AT_ONCE, FIRINGS_MAX, QUESTION_LONGER, QUESTION_WAIT, Question, Waiting, ask, get, moment};
use crate::client::{ApiRequest, Caller};
use crate::commands::mcp::server::operation::TIMELINE;
use crate::commands::mcp::server::refusals::unfit;
use crate::exit::Failure;

/// How long to wait for the stream to deliver what was recorded before the clock was paused.
const CATCH_UP: Duration = Duration::from_secs(5);

impl Waiting<'_> {
    /// Moves the clock to the next due timer, or returns why there is none.
    pub(super) async fn set_out(&mut self) -> Result<Option<Value>, Failure> {
        self.refresh().await?;
        if let Some(advance_id) = self.clock["advance"]["advance_id"].as_str().map(str::to_owned) {
            if let Some(firing) = self.session.held_firing() {
                return Err(unfit(
                    "reentrant_clock_change",
                    &format!(
                        "the clock waits for the firing {firing}, which is leased to you: call `acknowledge_firings` \
                         first"
                    ),
                ));
            }
            self.moving = Some(until_settled(&self.session.caller, &advance_id, self.conditions.query()));
            return Ok(None);
        }
        if self.is_running() {
            return Err(unfit(
                "clock_running",
                "the clock is running, so it moves while you think; call `pause_time` first, or wait without `advance`",
            ));
        }
        let mut query = self.conditions.query();
        query.push(("limit".to_owned(), "1".to_owned()));
        let timers = get(&self.session.caller, &["v1", "timers"], query).await?;
        let next = &timers["timers"][0]["next"];
        let due = [next.as_str(), self.conditions.until.as_deref()].into_iter().flatten();
        let due = due.filter_map(|text| Some((moment(&text.into())?, text)));
        let Some((_, to)) = due.min_by_key(|(moment, _)| *moment) else {
            let sentence = "No timer is armed and `until` is missing, so the clock has no target.";
            return Ok(Some(self.found("no_armed_timers", sentence, json!({}))));
        };
        let mut body = self.conditions.body();
        body.insert("destination_time".to_owned(), to.into());
        body.insert("wait".to_owned(), AT_ONCE.into());
        // ToolKind not override another client that moves the clock concurrently.
        let generation = format!("\"{}\"", self.clock["generation"]);
        let api_request =
            ApiRequest::post(&["v1", "travel"], &Value::Object(body)).once().with("if-match", &generation)?;
        self.moving = Some(Box::pin(ask(self.session.caller.clone(), api_request)));
        Ok(None)
    }

    /// Handles the response to a clock change or to a poll of its advance.
    pub(super) async fn moved(&mut self, answer: Result<Value, Failure>) -> Result<Option<Value>, Failure> {
        let answer = match answer {
            Err(Failure::Problem(problem)) if problem.is_outdated() => return Ok(None),
            answer => answer?,
        };
        let settled = &answer["receipt"];
        match settled["state"].as_str() {
            Some("running") => {
                let advance_id = settled["advance_id"].as_str().unwrap_or_default();
                self.moving = Some(until_settled(&self.session.caller, advance_id, self.conditions.query()));
                return Ok(None);
            }
            Some(state @ ("stopped" | "stuck")) => {
                self.refresh().await?;
                let sentence = format!("The advance is {state}: `settled` says why.");
                return Ok(Some(self.found("stopped", &sentence, json!({ "settled": settled }))));
            }
            _ => {}
        }
        self.refresh().await?;
        if let Some(found) = self.caught_up().await {
            return Ok(Some(found));
        }
        self.pending_firings().await
    }

    /// Reads the stream until it has delivered the current clock. Returns a matching event.
    async fn caught_up(&mut self) -> Option<Value> {
        let generation = self.clock["generation"].as_u64();
        self.conditions.event.as_ref()?;
        while self.streamed < generation {
            let Ok(Some(message)) = timeout(CATCH_UP, self.watch.next()).await else { break };
            if let Some(found) = self.take(&message) {
                return Some(found);
            }
        }
        None
    }

    /// Takes firings that are already in the queue. From now on the queue has a listener, so the clock waits for it.
    pub(super) async fn pending_firings(&mut self) -> Result<Option<Value>, Failure> {
        self.claiming = None;
        match self.claim(AT_ONCE) {
            Some(claim) => {
                let answer = claim.await?;
                self.claimed(&answer).await
            }
            None => Ok(None),
        }
    }

    pub(super) fn claim(&self, wait: &str) -> Option<Question> {
        let queue = self.conditions.queue.as_deref()?;
        let mut body = self.conditions.body();
        body.insert("max".to_owned(), FIRINGS_MAX.into());
        body.insert("wait".to_owned(), wait.into());
        body.insert("ack_timeout".to_owned(), ACK_TIMEOUT.into());
        let api_request =
            ApiRequest::post(&["v1", "queues", queue, "claim"], &Value::Object(body)).longer(QUESTION_LONGER);
        Some(Box::pin(ask(self.session.caller.clone(), api_request)))
    }

    pub(super) async fn claimed(&mut self, answer: &Value) -> Result<Option<Value>, Failure> {
        let firings = answer["firings"].as_array().filter(|firings| !firings.is_empty());
        let Some(firings) = firings else { return Ok(None) };
        self.session.claimed(&answer["firings"]);
        self.refresh().await?;
        // The clock is at their due time if it was moved there, but not if they were already waiting.
        let sentence = match firings.len() {
            1 => "A timer has fired; do its work, then call `acknowledge_firings`.",
            _ => "Timers have fired; do their work, then call `acknowledge_firings`.",
        };
        Ok(Some(self.found("firing", sentence, json!({ "firings": firings }))))
    }
}

fn until_settled(caller: &Caller, advance_id: &str, mut query: Vec<(String, String)>) -> Question {
    query.push(("wait".to_owned(), QUESTION_WAIT.to_owned()));
    let api_request = ApiRequest::get(&["v1", "advances", advance_id], query).longer(QUESTION_LONGER);
    Box::pin(ask(caller.clone(), api_request))
}

pub(super) fn body_for(timeline: Option<&str>) -> serde_json::Map<String, Value> {
    timeline.map(|timeline| (TIMELINE.to_owned(), timeline.into())).into_iter().collect()
}
