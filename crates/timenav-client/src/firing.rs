//! What a handler is given: a firing, and the clock that stands at its moment.

use serde::Deserialize;
use serde_json::Value;

use crate::client::Client;
use crate::error::ClockUnavailable;
use crate::instant::Instant;

/// A firing as it is handed out.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ClaimedFiringBody {
    pub(crate) firing_id: String,
    /// Absent from services that have none.
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

/// The clock of a handler. It stands at the moment of the firing, however late the firing was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiringClock {
    due: Instant,
}

impl FiringClock {
    /// Returns the moment of the firing.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.due
    }

    /// Returns at once if the moment has come.
    ///
    /// # Errors
    /// It has not: nobody waits for themselves.
    pub fn until(&self, target: Instant) -> Result<Instant, ClockUnavailable> {
        if target > self.due { Err(ClockUnavailable::BeyondFiring { due: self.due, target }) } else { Ok(self.due) }
    }
}

/// A moment of a timer that fell due, in the hands of a handler.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Firing {
    /// The same however often it is handed out: keep it if doing something twice would harm.
    pub id: String,
    /// The timer that fired.
    pub timer_id: String,
    /// The timeline.
    pub timeline_id: String,
    /// The moment at which it fell due.
    pub due: Instant,
    /// What the timer was set with.
    pub payload: Value,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// The round of the timer: it grows when the clock goes back and the timer fires again.
    pub round: u32,
    /// The generation of the clock.
    pub generation: u64,
    /// How many instants the advance has come to; `None` outside an advance.
    pub step: Option<u64>,
    /// Firings with the same key are worked on one after the other.
    pub order_key: Option<String>,
    /// Which claim this is: whoever claims the firing after you has another one. `None` where the service has none.
    pub lease_id: Option<String>,
    /// Stands at `due`.
    pub clock: FiringClock,
    /// A client for the handler: it tells the service which firing a request comes from.
    pub client: Client,
}

impl Firing {
    pub(crate) fn of(body: ClaimedFiringBody, client: &Client) -> Self {
        Self {
            client: client.inside(body.firing_id.as_str()),
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
