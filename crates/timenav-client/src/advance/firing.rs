//! The firing that a handler receives, with a clock fixed at its due time.

use serde::Deserialize;
use serde_json::Value;

use crate::client::Client;
use crate::error::ClockUnavailable;
use crate::instant::Instant;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ClaimedFiringBody {
    pub(crate) firing_id: String,
    /// Absent in responses of older services.
    #[serde(default)]
    pub(crate) lease_id: Option<String>,
    timer_id: String,
    timeline_id: String,
    due: Instant,
    payload: Value,
    attempt: u32,
    round: u32,
    generation: u64,
    #[serde(default)]
    step: Option<u64>,
    #[serde(default)]
    order_key: Option<String>,
}

/// The clock of a handler. It always shows the due time of the firing, even if the firing is delivered later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiringClock {
    due: Instant,
}

impl FiringClock {
    /// Returns the due time of the firing.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.due
    }

    /// Returns immediately if the due time is at or after the instant.
    ///
    /// # Errors
    /// The instant is later. The clock cannot reach it before this handler finishes.
    pub fn until(&self, target: Instant) -> Result<Instant, ClockUnavailable> {
        if target > self.due { Err(ClockUnavailable::WaitPastFiring { due: self.due, target }) } else { Ok(self.due) }
    }
}

/// A due timer, delivered to a handler.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Firing {
    /// The id, which is the same for all attempts. Use it to make the handler idempotent.
    pub id: String,
    /// The timer that fired.
    pub timer_id: String,
    /// The timeline.
    pub timeline_id: String,
    /// The due time.
    pub due: Instant,
    /// The payload of the timer.
    pub payload: Value,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The round of the timer, which is incremented when the clock goes back and the timer fires again.
    pub round: u32,
    /// The generation of the clock.
    pub generation: u64,
    /// The number of instants that the advance has reached; `None` outside an advance.
    pub step: Option<u64>,
    /// Firings with the same key are delivered one at a time.
    pub order_key: Option<String>,
    /// The id of the lease, which is new for each claim. `None` in responses of older services.
    pub lease_id: Option<String>,
    /// A clock that always shows `due`.
    pub clock: FiringClock,
    /// A client for the handler. Its requests carry the id of the firing.
    pub client: Client,
}

impl Firing {
    pub(crate) fn of(body: ClaimedFiringBody, client: &Client) -> Self {
        Self {
            client: client.for_firing(body.firing_id.as_str()),
            clock: FiringClock { due: body.due },
            id: body.firing_id,
            timer_id: body.timer_id,
            timeline_id: body.timeline_id,
            due: body.due,
            payload: body.payload,
            attempt: body.attempt,
            round: body.round,
            generation: body.generation,
            step: body.step,
            order_key: body.order_key,
            lease_id: body.lease_id,
        }
    }
}
