//! The path of a read: authorize the caller, log the read, and answer from one state.
//!
//! The entry comes first, and its position determines the state that is read: the ledger of that size. Concurrent
//! writes are therefore not visible to the read, no matter how many rows it reads or how long that takes, and cause no
//! retries.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Span, Wall};

use crate::engine::Engine;
use crate::ledger::head::{Layer, TimelineState};
use crate::ledger::payload::{Reading, demanded};
use crate::requests::actor::Actor;
use crate::requests::caller::{AuthFailure, Caller};
use crate::requests::json::json;
use crate::requests::options::{ReadLog, ReadOf};
use crate::requests::refusal::Refusal;
use crate::writer::deciding::alone;
use crate::writer::deciding::logged::{LogRead, LogRefusal};

/// A read without an entry yet: invalid queries are rejected here, so that no entry claims a response.
pub(crate) struct AuthorizedRead<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    reading: Reading,
    demand: Demand,
    /// The timeline at the time of the authorization.
    state: Arc<TimelineState>,
    moment: Moment,
    first_page: Option<u64>,
}

/// The requested state, as far as it is known before the read has an entry.
enum Moment {
    Now,
    /// A host time. The number of entries recorded until then depends on the current size.
    Host(Instant<Wall>),
    /// A size of one of the timeline's layers, counted from the oldest.
    Size(usize, u64),
}

#[derive(Clone)]
pub(crate) struct ReadView {
    /// The timeline right after the entry or somewhat later, for its name and for data without history, such as
    /// permissions and the checkpoint.
    pub(crate) state: Arc<TimelineState>,
    /// The layers to read. All queries to the store must use them.
    pub(crate) layers: Arc<[Layer]>,
    pub(crate) host: Instant<Wall>,
    /// Whether this is the state as of the entry and not an earlier one.
    pub(crate) is_of_now: bool,
}

impl Engine {
    /// Authorizes and logs a read of the given timeline, or of the caller's own.
    ///
    /// # Errors
    /// The caller is not authorized, which is logged, or the ledger cannot be written.
    pub(crate) async fn look(
        &self,
        caller: &Caller,
        named: impl Into<Option<TimelineId>>,
        demand: Demand,
        reading: Reading,
    ) -> Result<ReadView, Refusal> {
        self.authorize_read(caller, named, demand, reading).await?.look().await
    }

    /// Authorizes a read of a timeline. A rejected attempt is logged.
    pub(crate) async fn admit_reading(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        demand: Demand,
        reading: &Reading,
    ) -> Result<Arc<TimelineState>, Refusal> {
        let operation = reading.operation();
        match self.read_log_of(reading.object()) {
            // Its entry is decided before the response.
            Some(ReadLog::Durable) => self.admit(caller, timeline, demand, operation).await,
            Some(ReadLog::Buffered) | None => {
                if self.has_others() {
                    self.catch_up_with(timeline).await?;
                }
                self.admit_as_known(caller, timeline, demand, operation).await
            }
        }
    }

    /// Logs a request with credentials that are no longer valid, and returns the refusal.
    #[boxed]
    pub async fn refuse_ended(&self, caller: &Caller, timeline: &TimelineId, operation: &str) -> Refusal {
        let failure = if caller.session_id().is_some() { AuthFailure::Session } else { AuthFailure::Invalid };
        let log = LogRefusal::new(operation, failure.code(), &failure);
        // The decision comes to the same result, and logs it.
        let logged = self.submit(caller, timeline.clone(), log, None).await;
        logged.err().unwrap_or_else(|| failure.into())
    }

    /// Like [`Engine::look`], without the entry: for queries with an instant or a cursor, which may be invalid.
    pub(crate) async fn authorize_read<'a>(
        &'a self,
        caller: &'a Caller,
        named: impl Into<Option<TimelineId>>,
        demand: Demand,
        reading: Reading,
    ) -> Result<AuthorizedRead<'a>, Refusal> {
        let timeline = caller.timeline(named.into());
        let state = self.admit_reading(caller, &timeline, demand, &reading).await?;
        Ok(AuthorizedRead { engine: self, caller, reading, demand, state, moment: Moment::Now, first_page: None })
    }

    /// Logs a read, if the caller is authorized. Returns the position of its entry once that is durable, and `None` if
    /// the operator chose not to wait for it.
    pub(crate) async fn log_read(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        demands: &'static [Demand],
        reading: &Reading,
    ) -> Result<Option<u64>, Refusal> {
        let operation = reading.operation();
        if self.has_others() && self.read_log_of(reading.object()) == Some(ReadLog::Buffered) {
            // Nothing waits for the entry, so a rejection would go unnoticed. Check now.
            self.catch_up_with(timeline).await?;
            if self.check_live(caller).is_err() {
                return Err(self.refuse_ended(caller, timeline, operation).await);
            }
        }
        self.log_admitted(caller, timeline, demands, reading).await
    }

    /// Like [`Engine::log_read`], for a caller who was admitted by [`Engine::admit_reading`] just before.
    async fn log_admitted(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        demands: &'static [Demand],
        reading: &Reading,
    ) -> Result<Option<u64>, Refusal> {
        let operation = reading.operation();
        debug_assert!(
            demanded(operation).is_some_and(|known| known.contains(&demands)),
            "a scan does not know that {operation} demands {demands:?}"
        );
        let read = |is_answered| LogRead { operation, parameters: json(reading), demands, is_answered };
        match self.read_log_of(reading.object()) {
            None => self.shared().failure().map_or(Ok(None), Err),
            Some(ReadLog::Durable) => {
                let read = read(false);
                let answer = self.submit(caller, timeline.clone(), read, None).await?;
                // A timeline that was handed over is closed, and is read as it is.
                Ok(Some(answer.ledger.position).filter(|_| answer.timeline_id == *timeline))
            }
            Some(ReadLog::Buffered) => {
                self.send(Actor::Caller(caller.clone()), timeline.clone(), read(true), None, None).await?;
                Ok(None)
            }
        }
    }

    /// Returns how successful reads of an object are logged; `None` if they are not.
    #[must_use]
    pub fn read_log_of(&self, object: ReadOf) -> Option<ReadLog> {
        self.options().read_log_of(object)
    }

    /// Returns the layers of a timeline at an instant; by default now.
    pub(crate) async fn layers_at(&self, state: &TimelineState, as_of: Option<&AsOf>) -> Result<Arc<[Layer]>, Refusal> {
        let moment = self.moment(state, as_of).await?;
        self.layers_of(state, state.head.frontier.size(), &moment).await
    }

    async fn moment(&self, state: &TimelineState, as_of: Option<&AsOf>) -> Result<Moment, Refusal> {
        let size = state.head.frontier.size();
        match as_of {
            None => Ok(Moment::Now),
            Some(AsOf::Position(position)) if *position < size => Ok(Moment::Size(state.ancestors.len(), position + 1)),
            Some(AsOf::Position(position)) => {
                // Another service may have written the entry and shown it to the caller.
                let size = self.newest_tree(state).await?.size;
                if *position < size {
                    return Ok(Moment::Size(state.ancestors.len(), position + 1));
                }
                let detail = format!("the last position of the ledger is {}", size.saturating_sub(1));
                Err(Refusal::invalid("as_of", detail))
            }
            Some(AsOf::Host(host)) => Ok(Moment::Host(*host)),
            Some(AsOf::Anchor(anchor_id)) => {
                let (layer, anchor) = self.find_anchor(state, anchor_id).await?;
                Ok(Moment::Size(layer, anchor.position + 1))
            }
        }
    }

    async fn layers_of(&self, state: &TimelineState, size: u64, moment: &Moment) -> Result<Arc<[Layer]>, Refusal> {
        let (layer, as_of) = match moment {
            Moment::Now => return Ok(state.layers(size)),
            Moment::Host(host) => self.layer_at(&state.layers(size), *host).await?,
            Moment::Size(layer, as_of) => (*layer, *as_of),
        };
        let mut layers = state.layers(size)[..=layer].to_vec();
        layers[layer].as_of = as_of;
        Ok(layers.into())
    }

    /// The newest layer at a host time. Before the fork, that is a layer of the timeline it was forked from.
    async fn layer_at(&self, layers: &[Layer], host: Instant<Wall>) -> Result<(usize, u64), Refusal> {
        let after = host.checked_add(Span::from_micros(1)).unwrap_or(Instant::MAX);
        for (number, layer) in layers.iter().enumerate().rev() {
            let size = self.store().first_recorded_at(layer.timeline, after, layer.as_of).await?;
            if size > 0 {
                return Ok((number, size));
            }
        }
        Ok((0, 0))
    }
}

impl AuthorizedRead<'_> {
    /// Returns the layers as of before the entry, for early checks.
    pub(crate) fn layers_before(&self) -> Arc<[Layer]> {
        self.state.layers(self.first_page.unwrap_or_else(|| self.state.head.frontier.size()))
    }

    pub(crate) async fn at(mut self, as_of: Option<&AsOf>) -> Result<Self, Refusal> {
        self.moment = self.engine.moment(&self.state, as_of).await?;
        Ok(self)
    }

    /// Selects the ledger size that the first page of the query saw, if this is a later page.
    pub(crate) fn with_first_page(mut self, size: Option<u64>) -> Self {
        self.first_page = size;
        self
    }

    pub(crate) async fn look(self) -> Result<ReadView, Refusal> {
        let Self { engine, caller, reading, demand, state, moment, first_page } = self;
        let timeline = &state.head.id;
        let position = engine.log_admitted(caller, timeline, alone(demand), &reading).await?;
        // Readers see an entry before its response is sent, so this state includes it.
        let state = engine.state(timeline).unwrap_or_else(|| Arc::clone(&state));
        let size = position.unwrap_or_else(|| state.head.frontier.size());
        let mut layers = engine.layers_of(&state, size, &moment).await?;
        if let (Some(size), Some(last)) = (first_page, Arc::make_mut(&mut layers).last_mut()) {
            last.as_of = size;
        }
        let is_of_now = matches!(moment, Moment::Now) && first_page.is_none();
        let host = engine.host(&state);
        Ok(ReadView { state, layers, host, is_of_now })
    }
}

impl ReadView {
    pub(crate) fn timeline(&self) -> TimelineId {
        self.state.head.id.clone()
    }

    pub(crate) fn size(&self) -> u64 {
        self.layers.last().map_or(0, |layer| layer.as_of)
    }

    /// Returns the last visible position of the timeline's own ledger; `None` if there is no such entry.
    pub(crate) fn position(&self) -> Option<u64> {
        self.layers.last().filter(|layer| layer.timeline == self.state.head.key)?.as_of.checked_sub(1)
    }

    pub(crate) fn names(&self) -> Vec<TimelineId> {
        self.state.names_of(&self.layers)
    }
}
