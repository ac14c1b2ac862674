//! Moving a clock forward, settled.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::error::Error;
use crate::host::monotonic_micros;
use crate::instant::Instant;
use crate::receipt::Receipt;
use crate::request::{Request, seconds_text};
use crate::retry::Retries;
use crate::schemas::ClockBody;
use crate::states::AdvanceState;

/// How long one answer waits for the end of an advance.
const ANSWER_WAIT: Duration = Duration::from_secs(30);
/// An advance goes on without us: its receipt can still be had once the service is back.
const ATTEMPTS: u32 = 64;

/// How far a clock is moved forward, and how long somebody waits for it.
#[derive(Clone, Debug)]
pub struct Advance {
    operation: &'static str,
    body: Map<String, Value>,
    generation: Option<u64>,
    timeout: Option<Duration>,
}

impl Advance {
    fn new(operation: &'static str, name: &str, value: String) -> Self {
        let body = Map::from_iter([(name.to_owned(), Value::String(value))]);
        Self { operation, body, generation: None, timeout: None }
    }

    /// Moves the clock by a duration, such as `P1M` or `12h`.
    #[must_use]
    pub fn by(duration: impl Into<String>) -> Self {
        Self::new("fast-forward", "duration", duration.into())
    }

    /// Moves the clock to a moment.
    #[must_use]
    pub fn to(moment: Instant) -> Self {
        Self::new("travel", "destination_time", moment.to_string())
    }

    /// Moves the clock to the next moment of a timer, or to `until` if nothing is due before. Refused with `nothing_due` if
    /// no timer is armed and there is no `until`. A clock that has come to `until` stays.
    #[must_use]
    pub fn to_next(until: Option<Instant>) -> Self {
        let body = until.map(|until| ("until".to_owned(), Value::String(until.to_string()))).into_iter().collect();
        Self { operation: "advance-to-next", body, generation: None, timeout: None }
    }

    /// Moves the clock only if it still has this generation.
    #[must_use]
    pub const fn if_generation(mut self, generation: u64) -> Self {
        self.generation = Some(generation);
        self
    }

    /// Waits no longer than that, in host time. The advance goes on without you.
    #[must_use]
    pub const fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl From<&str> for Advance {
    fn from(duration: &str) -> Self {
        Self::by(duration)
    }
}

impl From<Instant> for Advance {
    fn from(moment: Instant) -> Self {
        Self::to(moment)
    }
}

impl Client {
    /// Moves the clock forward, and returns what came of it once everything that fell due on the way is done.
    ///
    /// If the connection is lost meanwhile, it is asked for the same advance again.
    ///
    /// # Errors
    /// The service does not answer or says no; the advance was stopped or is stuck; nobody waits any longer.
    pub async fn advance(&self, advance: impl Into<Advance>) -> Result<Receipt, Error> {
        let Advance { operation, mut body, generation, timeout } = advance.into();
        let Retries { attempts, wait_max } = self.retries();
        let wait_max = wait_max.max(Retries::default().wait_max);
        let patient = self.with_retries(Retries { attempts: attempts.max(ATTEMPTS), wait_max });
        let deadline = timeout
            .map(|timeout| monotonic_micros().saturating_add(i64::try_from(timeout.as_micros()).unwrap_or(i64::MAX)));
        body.insert("wait".to_owned(), json!(self.answer_wait(deadline)));
        body.extend(self.timeline_id().map(|timeline| ("timeline_id".to_owned(), json!(timeline))));
        let request = Request::post(&["v1", operation]).json(&body)?;
        let request = match generation {
            Some(generation) => request.if_generation(generation)?,
            None => request,
        };
        let changed: ClockBody = patient.json(request).await?;
        let Some(mut settled) = changed.settled.clone() else { return Ok(receipt_of_nothing(changed)) };
        loop {
            let receipt = Receipt::from(settled);
            match receipt.state {
                AdvanceState::Settled => return Ok(receipt),
                AdvanceState::Stopped | AdvanceState::Stuck | AdvanceState::Other => {
                    return Err(Error::NotSettled(Box::new(receipt)));
                }
                AdvanceState::Running => {}
            }
            let advance_id = receipt.advance_id.as_deref().unwrap_or_default();
            if deadline.is_some_and(|deadline| monotonic_micros() >= deadline) {
                let (reached, to) = (receipt.reached, receipt.to);
                return Err(Error::TimedOut(format!(
                    "the advance {advance_id} has come to {reached}, and goes on to {to}; ask for its receipt, or pause \
                     the clock"
                )));
            }
            settled = patient.receipt(advance_id).wait(self.answer_wait(deadline)).await?.settled;
        }
    }

    /// Returns how long the next answer waits, as the API reads it.
    fn answer_wait(&self, deadline: Option<i64>) -> String {
        // The answer comes before it counts as lost.
        let most = ANSWER_WAIT.min(self.timeout() / 2);
        let left = deadline.map_or(most, |deadline| {
            let left = deadline.saturating_sub(monotonic_micros()).max(0);
            most.min(Duration::from_micros(left.unsigned_abs()))
        });
        seconds_text(left)
    }
}

/// Returns the receipt of a clock change that passed no timer.
fn receipt_of_nothing(changed: ClockBody) -> Receipt {
    Receipt {
        timeline_id: changed.timeline_id,
        state: AdvanceState::Settled,
        reached: changed.current_time,
        to: changed.current_time,
        fired: 0,
        acknowledged: 0,
        failed: 0,
        unheard: 0,
        firings: Vec::new(),
        advance_id: None,
        held_by: None,
    }
}
