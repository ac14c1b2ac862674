//! Advances: forward moves of a clock that wait for handlers.

use std::time::Duration;

use self::receipt::{AdvanceState, Receipt};
use crate::client::Client;
use crate::error::Error;
use crate::instant::Instant;
use crate::operations::clock::Clock;
use crate::transport::call::Call;
use crate::transport::host::monotonic_micros;
use crate::transport::request::seconds_text;
use crate::transport::retry::RetryPolicy;

pub(crate) mod firing;
pub(crate) mod listener;
pub(crate) mod receipt;

/// The maximum wait of one request for the end of an advance.
const RESPONSE_WAIT: Duration = Duration::from_secs(30);
/// The number of attempts. An advance continues during an outage, and its receipt can be requested afterward.
const ATTEMPTS: u32 = 64;

/// The target of an advance, and how long to wait for it.
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

    /// Moves the clock to an instant.
    #[must_use]
    pub fn to(moment: Instant) -> Self {
        Self::new("travel", Some(("destination_time", moment.to_string())))
    }

    /// Moves the clock to the next due timer, or to `until` if no timer is due before it. A clock that has reached
    /// `until` does not move. Without `until`, the service rejects the advance with `no_armed_timers` if no timer is
    /// armed.
    #[must_use]
    pub fn to_next(until: Option<Instant>) -> Self {
        Self::new("advance-to-next", until.map(|until| ("until", until.to_string())))
    }

    /// Moves the clock only if it has this generation.
    #[must_use]
    pub const fn if_generation(mut self, generation: u64) -> Self {
        self.generation = Some(generation);
        self
    }

    /// Limits the wait, in host time. The advance itself continues after the timeout.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
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
    /// Moves the clock forward, and returns the receipt once all timers on the way have fired and their handlers are
    /// done.
    ///
    /// If the connection is lost, the client reconnects and resumes waiting for the same advance.
    ///
    /// # Errors
    /// The service does not respond or rejects the request; the advance was stopped or is stuck; a firing failed after
    /// all its attempts, unless that is allowed; or the wait exceeded its limit.
    pub async fn advance(&self, advance: impl Into<Advance>) -> Result<Receipt, Error> {
        let Advance { operation, parameter, generation, timeout, allows_failures } = advance.into();
        let RetryPolicy { attempts, wait_max } = self.retries();
        let wait_max = wait_max.max(RetryPolicy::default().wait_max);
        let patient = self.with_retries(RetryPolicy { attempts: attempts.max(ATTEMPTS), wait_max });
        let deadline = timeout
            .map(|timeout| monotonic_micros().saturating_add(i64::try_from(timeout.as_micros()).unwrap_or(i64::MAX)));
        let mut call: Call<'_, Clock> = patient.post(&["v1", operation]).on_default_timeline();
        call = call.set("wait", self.response_wait(deadline));
        if let Some((name, value)) = parameter {
            call = call.set(name, value);
        }
        if let Some(generation) = generation {
            call = call.if_match(generation);
        }
        let mut changed = call.await?;
        let Some(mut receipt) = changed.receipt.take() else { return Ok(receipt_without_timers(changed)) };
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
                    "the advance {advance_id} has only reached {reached} and continues to {to}; request its receipt, \
                     or pause the clock"
                )));
            }
            receipt = patient.receipt(advance_id).wait(self.response_wait(deadline)).await?.receipt;
        }
    }

    fn response_wait(&self, deadline: Option<i64>) -> String {
        // Less than the response timeout, so that the service responds before it.
        let most = RESPONSE_WAIT.min(self.timeout() / 2);
        let left = deadline.map_or(most, |deadline| {
            let left = deadline.saturating_sub(monotonic_micros()).max(0);
            most.min(Duration::from_micros(left.unsigned_abs()))
        });
        seconds_text(left)
    }
}

/// Returns the receipt of a clock change that passed no timer.
fn receipt_without_timers(changed: Clock) -> Receipt {
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
        unacknowledged: 0,
        firings: Vec::new(),
        advance_id: None,
        held_by: None,
    }
}
