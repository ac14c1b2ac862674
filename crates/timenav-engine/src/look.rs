//! How a read goes: who asks is let on, the read becomes an entry, and one moment is answered from.
//!
//! The entry comes first, and its position fixes the answer: the state of that size. Whatever rows the answer takes, and
//! however long, what others write meanwhile is not in it; and nothing is read again because they did.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Span, Wall};

use crate::actor::Actor;
use crate::caller::{AuthFailure, Caller};
use crate::deciding::alone;
use crate::deciding::logged::{LogRead, LogRefusal};
use crate::engine::Engine;
use crate::head::{Layer, TimelineState};
use crate::json::json;
use crate::options::ReadLog;
use crate::payload::{Reading, demanded};
use crate::refusal::Refusal;

/// A read whose caller is let on, and that is no entry yet. What is wrong with a question is refused here, so that no
/// entry says that it was answered.
pub(crate) struct Admitted<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    reading: Reading,
    demand: Demand,
    /// The timeline as it was when the caller was let on.
    state: Arc<TimelineState>,
    moment: Moment,
    /// The ledger's size that the first page of the query saw.
    first_page: Option<u64>,
}

/// A moment that is asked for, as far as it is known before the read is an entry.
enum Moment {
    /// That of the entry.
    Now,
    /// A host time. How much was recorded until then depends on how much there is.
    Host(Instant<Wall>),
    /// A size of one of the timeline's layers, counted from the oldest.
    Size(usize, u64),
}

/// What a read is answered from: one timeline at one moment.
#[derive(Clone)]
pub(crate) struct Look {
    /// The timeline right after the entry, or somewhat later: for its name and for what only the newest is kept of, such
    /// as permissions and the checkpoint.
    pub(crate) state: Arc<TimelineState>,
    /// What is read. Whatever the store is asked for is of these.
    pub(crate) layers: Arc<[Layer]>,
    /// Host time of the answer.
    pub(crate) host: Instant<Wall>,
    /// Whether the moment is that of the entry, and not one that was asked for.
    pub(crate) is_of_now: bool,
}

impl Engine {
    /// Lets a caller look at a timeline: at the named one, else the caller's own.
    ///
    /// # Errors
    /// The caller may not, which is logged, or the ledger cannot be written.
    pub(crate) async fn look(
        &self,
        caller: &Caller,
        named: impl Into<Option<TimelineId>>,
        demand: Demand,
        reading: Reading,
    ) -> Result<Look, Refusal> {
        self.let_on(caller, named, demand, reading).await?.look().await
    }

    /// Lets a caller on to read something of a timeline, or logs the attempt and refuses.
    pub(crate) async fn admit_reading(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        demand: Demand,
        reading: &Reading,
    ) -> Result<Arc<TimelineState>, Refusal> {
        self.admit(caller, timeline, demand, reading.operation()).await
    }

    /// Logs that somebody asked for something with what is no longer good, and returns the refusal.
    #[boxed]
    pub async fn refuse_ended(&self, caller: &Caller, timeline: &TimelineId, operation: &str) -> Refusal {
        let failure = if caller.session_id().is_some() { AuthFailure::Session } else { AuthFailure::Invalid };
        let (operation, detail) = (operation.to_owned(), failure.to_string());
        let refusal = LogRefusal { operation, code: failure.code(), detail };
        // The group finds the same, and logs it.
        let logged = self.submit(caller, timeline.clone(), refusal, None).await;
        logged.err().unwrap_or_else(|| failure.into())
    }

    /// As [`Engine::look`], up to the entry: for questions with a moment or a cursor, which may be wrong.
    pub(crate) async fn let_on<'a>(
        &'a self,
        caller: &'a Caller,
        named: impl Into<Option<TimelineId>>,
        demand: Demand,
        reading: Reading,
    ) -> Result<Admitted<'a>, Refusal> {
        let timeline = caller.timeline(named.into());
        let state = self.admit_reading(caller, &timeline, demand, &reading).await?;
        Ok(Admitted { engine: self, caller, reading, demand, state, moment: Moment::Now, first_page: None })
    }

    /// Logs a read, if the caller may do what it demands. Returns the position of its entry once that is durable, and
    /// `None` where the operator chose not to wait for it.
    pub(crate) async fn log_read(
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
        let read_log = self.options().read_log;
        let is_answered = read_log == ReadLog::Buffered;
        let read = LogRead { operation, parameters: json(reading), demands, is_answered };
        match read_log {
            ReadLog::Durable => {
                let answer = self.submit(caller, timeline.clone(), read, None).await?;
                // What was handed over has ended, and is read as it is.
                Ok(Some(answer.ledger.position).filter(|_| answer.timeline_id == *timeline))
            }
            ReadLog::Buffered => {
                // Nobody waits for the entry, which would be refused.
                if self.has_others() {
                    self.hear_of(timeline).await?;
                    if self.check_live(caller).is_err() {
                        return Err(self.refuse_ended(caller, timeline, operation).await);
                    }
                }
                self.send(Actor::Caller(caller.clone()), timeline.clone(), read, None, None).await?;
                Ok(None)
            }
        }
    }

    /// Returns the layers that a timeline is read with at a moment; now, if none is named.
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
                // Another service may have written the entry, and told somebody.
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

    /// Returns the layers of a moment, where the timeline's own ledger has so many entries.
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

    /// Returns the layer that was the last one at a host time, and its size then: before it was forked, a
    /// timeline is the one that it was forked from.
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

impl Admitted<'_> {
    /// Returns the layers as they are before the entry: for what is refused by them.
    pub(crate) fn layers_before(&self) -> Arc<[Layer]> {
        self.state.layers(self.first_page.unwrap_or_else(|| self.state.head.frontier.size()))
    }

    /// Looks at a moment of the past, if one is named.
    ///
    /// # Errors
    /// There is no such moment.
    pub(crate) async fn at(mut self, as_of: Option<&AsOf>) -> Result<Self, Refusal> {
        self.moment = self.engine.moment(&self.state, as_of).await?;
        Ok(self)
    }

    /// Looks at the size of the ledger that the first page of the query saw, if this is a later one.
    pub(crate) fn with_first_page(mut self, size: Option<u64>) -> Self {
        self.first_page = size;
        self
    }

    /// Logs the read, and lets the caller look.
    ///
    /// # Errors
    /// The ledger cannot be written, or the store does not answer.
    pub(crate) async fn look(self) -> Result<Look, Refusal> {
        let Self { engine, caller, reading, demand, state, moment, first_page } = self;
        let timeline = &state.head.id;
        let position = engine.log_read(caller, timeline, alone(demand), &reading).await?;
        // Readers see an entry before it is answered, so this state holds it.
        let state = engine.state(timeline).unwrap_or_else(|| Arc::clone(&state));
        let size = position.unwrap_or_else(|| state.head.frontier.size());
        let mut layers = engine.layers_of(&state, size, &moment).await?;
        if let (Some(size), Some(last)) = (first_page, Arc::make_mut(&mut layers).last_mut()) {
            last.as_of = size;
        }
        let is_of_now = matches!(moment, Moment::Now) && first_page.is_none();
        let host = engine.host(&state);
        Ok(Look { state, layers, host, is_of_now })
    }
}

impl Look {
    /// Returns the name of the timeline.
    pub(crate) fn timeline(&self) -> TimelineId {
        self.state.head.id.clone()
    }

    /// Returns how many entries the last layer has.
    pub(crate) fn size(&self) -> u64 {
        self.layers.last().map_or(0, |layer| layer.as_of)
    }

    /// Returns the last position of the timeline's own ledger that counts; `None` where no entry of it does.
    pub(crate) fn position(&self) -> Option<u64> {
        self.layers.last().filter(|layer| layer.timeline == self.state.head.key)?.as_of.checked_sub(1)
    }

    /// Returns the names of the layers' timelines.
    pub(crate) fn names(&self) -> Vec<TimelineId> {
        self.state.names_of(&self.layers)
    }
}
