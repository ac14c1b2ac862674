use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::anchor::{Anchor, AnchorCommand};
use timenav_core::ids::{AnchorId, TimelineId, type_id};
use timenav_core::time::{Instant, Virtual};

use crate::clock::clocks::ClockStep;
use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::changes::{AnchorMarked, ClockAfter};
use crate::ledger::head::TimelineState;
use crate::ledger::payload::Reading;
use crate::read::cursor;
use crate::requests::caller::Caller;
use crate::requests::expected::Expected;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::anchors::SetAnchor;
use crate::writer::deciding::clocks::ReturnToAnchor;
use crate::writer::deciding::repeated::RepeatedRequest;
use crate::writer::submission::Answer;

#[derive(Clone, Debug)]
pub struct AnchorRequest {
    /// Defaults to the clock's current reading.
    pub timestamp: Option<Instant<Virtual>>,
    pub description: String,
    /// Whether changes to earlier events are paradoxes.
    pub fixed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnScope {
    /// The clock: instant, place, rate, and whether it runs.
    Clock,
    /// The clock, and events and timers as of when the anchor was set.
    All,
}

#[derive(Clone, Debug)]
pub struct AnchorReturn {
    pub scope: ReturnScope,
    pub expected: Option<Expected>,
    /// Whether the request comes from the handler of a firing.
    pub is_inside: bool,
}

impl From<ReturnScope> for AnchorReturn {
    fn from(scope: ReturnScope) -> Self {
        Self { scope, expected: None, is_inside: false }
    }
}

impl ReturnScope {
    const fn again(self) -> RepeatedRequest<ClockAfter> {
        let demands = match self {
            Self::Clock => ReturnToAnchor::CLOCK_DEMANDS,
            Self::All => ReturnToAnchor::ALL_DEMANDS,
        };
        RepeatedRequest::of(Action::ReturnToAnchor, demands)
    }
}

/// How often the changes are recomputed if others change events in the meantime.
const ATTEMPTS_MAX: usize = 8;

/// One page of anchors: first those of its ancestors, for each timeline in the order of their creation.
#[derive(Clone, Debug)]
pub struct AnchorPage {
    pub timeline_id: TimelineId,
    /// The anchors, each with the timeline whose ledger its position refers to.
    pub anchors: Vec<(TimelineId, Anchor)>,
    pub next_cursor: Option<String>,
}

impl Engine {
    /// Sets an anchor on a timeline.
    ///
    /// # Errors
    /// The caller is not authorized, a limit is reached, or the ledger cannot be written.
    #[boxed]
    pub async fn set_anchor(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        request: AnchorRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<AnchorMarked>, Refusal> {
        let timeline = caller.timeline(timeline);
        let anchor_id =
            AnchorId::new(&type_id("anchor", self.uuid())).map_err(|error| Refusal::id("anchor_id", error))?;
        let AnchorRequest { timestamp, description, fixed } = request;
        let anchor = SetAnchor(AnchorCommand { anchor_id, timestamp, description, fixed });
        self.submit(caller, timeline, anchor, idempotency).await
    }

    /// Returns the clock to an anchor. With [`ReturnScope::All`], also restores events, with one entry for each that
    /// has changed, and timers, in another round. No entry or version is lost.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such anchor, too much has changed since, or the ledger cannot be
    /// written.
    pub async fn return_to_anchor(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        anchor_id: &AnchorId,
        how: impl Into<AnchorReturn>,
        idempotency: Option<Idempotency>,
    ) -> Result<ClockStep, Refusal> {
        self.return_as(caller, timeline, anchor_id, how.into(), idempotency).await
    }

    #[boxed]
    async fn return_as(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        anchor_id: &AnchorId,
        how: AnchorReturn,
        idempotency: Option<Idempotency>,
    ) -> Result<ClockStep, Refusal> {
        let timeline = caller.timeline(timeline);
        let AnchorReturn { scope, expected, is_inside } = how;
        for attempt in 1..=ATTEMPTS_MAX {
            let state = self.admit(caller, &timeline, Demand::Steer, Action::ReturnToAnchor.word()).await?;
            let returning = match self.returning(&state, anchor_id, scope).await {
                // The state can look damaged while others change the rows being read.
                Err(Refusal::Damaged(_)) if attempt < ATTEMPTS_MAX => {
                    tokio::task::yield_now().await;
                    continue;
                }
                Ok(returning) => ReturnToAnchor { expected: expected.clone(), is_inside, ..returning },
                Err(refusal) => {
                    let answer = self.answered_before(caller, &timeline, scope.again(), idempotency).await?;
                    return answer.map(|answer| self.clock_step(answer)).ok_or(refusal);
                }
            };
            let superseded = returning.timers.as_ref().map(|timers| self.superseding(&timeline, &timers.restoring));
            match self.submit(caller, timeline.clone(), returning, idempotency).await {
                Err(Refusal::ChangedMeanwhile) => {}
                Err(Refusal::TimersBehind) => self.fire_due_timers(&timeline).await?,
                Err(refusal) => return Err(refusal),
                Ok(answer) => {
                    if let Some(superseded) = superseded.filter(|_| !answer.replayed) {
                        superseded.end_all();
                    }
                    return Ok(self.clock_step(answer));
                }
            }
        }
        Err(Refusal::ChangedMeanwhile)
    }

    pub(crate) async fn returning(
        &self,
        state: &TimelineState,
        anchor_id: &AnchorId,
        scope: ReturnScope,
    ) -> Result<ReturnToAnchor, Refusal> {
        let (layer, anchor) = self.find_anchor(state, anchor_id).await?;
        let (history, timers) = match scope {
            ReturnScope::Clock => (None, None),
            ReturnScope::All => {
                let mut then = state.layers(anchor.position + 1)[..=layer].to_vec();
                then[layer].as_of = anchor.position + 1;
                let timers = self.timers_returning(state, layer, &anchor).await?;
                (Some(self.history_at(state, &then).await?), Some(timers))
            }
        };
        Ok(ReturnToAnchor { anchor, history, timers, expected: None, is_inside: false })
    }

    /// Returns an anchor that a timeline can return to, and the timeline that it was set on.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such anchor, its row is not what its signed entry says, or the ledger
    /// cannot be written.
    #[boxed]
    pub async fn anchor(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        anchor_id: &AnchorId,
    ) -> Result<(TimelineId, Anchor), Refusal> {
        let reading = Reading::Anchor { anchor_id: anchor_id.to_string() };
        let view = self.look(caller, timeline, Demand::Look, reading).await?;
        let (layer, anchor) = self.find_anchor(&view.state, anchor_id).await?;
        let owner = view.state.lineage.get(layer).unwrap_or(&view.state.head.id);
        Ok((owner.clone(), anchor))
    }

    /// Returns a page of the anchors that a timeline can return to: its own, and those of its ancestors before the
    /// fork.
    ///
    /// # Errors
    /// The caller is not authorized, the cursor belongs to another query, or the ledger cannot be written.
    #[boxed]
    pub async fn anchors(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        items_max: usize,
        cursor: Option<&str>,
    ) -> Result<AnchorPage, Refusal> {
        let timeline = caller.timeline(timeline);
        let query = format!("anchors {timeline}");
        let admitted = self.authorize_read(caller, timeline, Demand::Look, Reading::Anchors {}).await?;
        let from = cursor.map(|text| self.open_cursor(caller, &query, text)).transpose()?;
        let look = admitted.with_first_page(from.map(|cursor| cursor.as_of)).look().await?;
        let layers = &look.layers;
        let (first, mut after) = from.map_or((0, None), |cursor| {
            let (layer, position) = cursor.place();
            (layer, Some(position))
        });
        let mut found: Vec<(usize, Anchor)> = Vec::new();
        for (number, layer) in layers.iter().enumerate().skip(first) {
            // One more than the page holds means that there is a next page.
            let mut from = after.take();
            while found.len() <= items_max {
                let missing_count = items_max + 1 - found.len();
                let mut anchors = self.store().anchor_rows(layer.timeline, from, missing_count).await?;
                let is_all = anchors.len() < missing_count;
                anchors.retain(|anchor| anchor.position < layer.as_of);
                from = anchors.last().map(|anchor| anchor.position);
                found.extend(anchors.into_iter().map(|anchor| (number, anchor)));
                if is_all || from.is_none() {
                    break;
                }
            }
        }
        let more = found.len() > items_max;
        found.truncate(items_max);
        let last = found.last().filter(|_| more);
        let next_cursor = last.map(|(layer, anchor)| {
            let place = cursor::place(*layer, anchor.position);
            self.cursor(caller, &query, look.size(), 0, place)
        });
        let names = look.names();
        let anchors = found.into_iter().filter_map(|(layer, anchor)| Some((names.get(layer)?.clone(), anchor)));
        Ok(AnchorPage { timeline_id: look.timeline(), anchors: anchors.collect(), next_cursor })
    }
}
