//! Moving a clock forward, settled.

use std::time::Duration;

use crate::call::Call;
use crate::client::Client;
use crate::clock::Clock;
use crate::error::Error;
use crate::host::monotonic_micros;
use crate::instant::Instant;
use crate::receipt::{AdvanceState, Receipt};
use crate::request::seconds_text;
use crate::retry::Retries;

/// How long one answer waits for the end of an advance.
const ANSWER_WAIT: Duration = Duration::from_secs(30);
/// An advance goes on without us: its receipt can still be had once the service is back.
const ATTEMPTS: u32 = 64;

/// How far a clock is moved forward, and how long somebody waits for it.
#[derive(Clone, Debug)]
pub struct Advance {
    operation: &'static str,
    parameter: Option<(&'static str, String)>,
    generation: Option<u64>,
    timeout: Option<Duration>,
    allows_failures: bool,
}

impl Advance {
    const fn new(operation: &'static str, parameter: Option<(&'static str, String)>) -> Self {
        Self { operation, parameter, generation: None, timeout: None, allows_failures: false }
    }

    /// Moves the clock by a duration, such as `P1M` or `12h`.
    #[must_use]
    pub fn by(duration: impl Into<String>) -> Self {
        Self::new("fast-forward", Some(("duration", duration.into())))
    }

    /// Moves the clock to a moment.
    #[must_use]
    pub fn to(moment: Instant) -> Self {
        Self::new("travel", Some(("destination_time", moment.to_string())))
    }

    /// Moves the clock to the next moment of a timer, or to `until` if nothing is due before. Refused with `nothing_due` if
    /// no timer is armed and there is no `until`. A clock that has come to `until` stays.
    #[must_use]
    pub fn to_next(until: Option<Instant>) -> Self {
        Self::new("advance-to-next", until.map(|until| ("until", until.to_string())))
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

    /// Returns the receipt even if firings failed, instead of [`Error::FiringsFailed`].
    #[must_use]
    pub const fn allow_failed_firings(mut self) -> Self {
        self.allows_failures = true;
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
    /// The service does not answer or says no; the advance was stopped or is stuck; a firing failed
    /// after all its attempts, and that is not allowed; nobody waits any longer.
    pub async fn advance(&self, advance: impl Into<Advance>) -> Result<Receipt, Error> {
        let Advance { operation, parameter, generation, timeout, allows_failures } = advance.into();
        let Retries { attempts, wait_max } = self.retries();
        let wait_max = wait_max.max(Retries::default().wait_max);
        let patient = self.with_retries(Retries { attempts: attempts.max(ATTEMPTS), wait_max });
        let deadline = timeout
            .map(|timeout| monotonic_micros().saturating_add(i64::try_from(timeout.as_micros()).unwrap_or(i64::MAX)));
        let mut call: Call<'_, Clock> = patient.post(&["v1", operation]).on_default_timeline();
        call = call.set("wait", self.answer_wait(deadline));
        if let Some((name, value)) = parameter {
            call = call.set(name, value);
        }
        if let Some(generation) = generation {
            call = call.if_match(generation);
        }
        let mut changed = call.await?;
        let Some(mut receipt) = changed.settled.take() else { return Ok(receipt_of_nothing(changed)) };
        loop {
            match receipt.state {
                AdvanceState::Settled if receipt.failed > 0 && !allows_failures => {
                    return Err(Error::FiringsFailed(Box::new(receipt)));
                }
                AdvanceState::Settled => return Ok(receipt),
                AdvanceState::Stopped | AdvanceState::Stuck | AdvanceState::Other(_) => {
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
            receipt = patient.receipt(advance_id).wait(self.answer_wait(deadline)).await?.settled;
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
fn receipt_of_nothing(changed: Clock) -> Receipt {
    Receipt {
        timeline_id: changed.timeline_id,
        state: AdvanceState::Settled,
        step: 0,
        from: changed.current_time,
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
