//! Marked moments, and the way back to them.

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::anchor::{Anchor, AnchorCommand};
use timenav_core::ids::{AnchorId, TimelineId, type_id};
use timenav_core::time::{Instant, Virtual};

use crate::action::Action;
use crate::caller::Caller;
use crate::changes::{AnchorMarked, ClockAfter, LedgerPosition};
use crate::clocks::ClockStep;
use crate::cursor;
use crate::deciding::anchors::SetAnchor;
use crate::deciding::clocks::ReturnToAnchor;
use crate::deciding::repeated::Again;
use crate::engine::Engine;
use crate::expected::Expected;
use crate::head::TimelineState;
use crate::idempotency::Idempotency;
use crate::payload::Reading;
use crate::refusal::Refusal;

/// What an anchor is to mark.
#[derive(Clone, Debug)]
pub struct AnchorRequest {
    /// The moment; the clock's now where there is none.
    pub timestamp: Option<Instant<Virtual>>,
    /// What it is for.
    pub description: String,
    /// Whether changes to what came before it are paradoxes.
    pub fixed: bool,
}

/// What returning to an anchor restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnScope {
    /// The clock: moment, place, rate, and whether it runs.
    Clock,
    /// The clock, and events and timers as they stood when the anchor was set.
    All,
}

/// How to return to an anchor.
#[derive(Clone, Debug)]
pub struct Returning {
    /// What is taken back.
    pub scope: ReturnScope,
    /// What the clock must be for it to be done.
    pub expected: Option<Expected>,
    /// Whether a handler of a firing asks.
    pub is_inside: bool,
}

impl From<ReturnScope> for Returning {
    fn from(scope: ReturnScope) -> Self {
        Self { scope, expected: None, is_inside: false }
    }
}

impl ReturnScope {
    /// Returns what a return is, told again.
    const fn again(self) -> Again<ClockAfter> {
        let demands = match self {
            Self::Clock => ReturnToAnchor::CLOCK_DEMANDS,
            Self::All => ReturnToAnchor::ALL_DEMANDS,
        };
        Again::of(Action::ReturnToAnchor, demands)
    }
}

/// How often what is to be changed back is worked out anew, where others change events meanwhile.
const ATTEMPTS_MAX: usize = 8;

/// One page of anchors: first those of the timelines that this one was forked from, each timeline's
/// in the order in which they were set.
#[derive(Clone, Debug)]
pub struct AnchorPage {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// The anchors, each with the timeline whose ledger its position is of.
    pub anchors: Vec<(TimelineId, Anchor)>,
    /// Asks for the next page.
    pub next_cursor: Option<String>,
}

impl Engine {
    /// Marks a moment on a timeline.
    ///
    /// # Errors
    /// The caller may not, a limit is reached, or the ledger cannot be written.
    #[boxed]
    pub async fn set_anchor(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        request: AnchorRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<(AnchorId, Instant<Virtual>, LedgerPosition, bool), Refusal> {
        let timeline = caller.timeline(timeline);
        let anchor_id =
            AnchorId::new(&type_id("anchor", self.uuid())).map_err(|error| Refusal::id("anchor_id", error))?;
        let AnchorRequest { timestamp, description, fixed } = request;
        let anchor = SetAnchor(AnchorCommand { anchor_id, timestamp, description, fixed });
        let answer = self.submit(caller, timeline, anchor, idempotency).await?;
        let AnchorMarked { anchor_id, timestamp } = answer.change;
        Ok((anchor_id, timestamp, answer.ledger, answer.replayed))
    }

    /// Takes the clock back to an anchor, and with [`ReturnScope::All`] events and timers too: one entry changes
    /// back each event that stands otherwise now, and timers come in another round. No entry and no version is lost.
    ///
    /// # Errors
    /// The caller may not, there is no such anchor, too much was changed since, or the ledger cannot
    /// be written.
    pub async fn return_to_anchor(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        anchor_id: &AnchorId,
        how: impl Into<Returning>,
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
        how: Returning,
        idempotency: Option<Idempotency>,
    ) -> Result<ClockStep, Refusal> {
        let timeline = caller.timeline(timeline);
        let Returning { scope, expected, is_inside } = how;
        for attempt in 1..=ATTEMPTS_MAX {
            let state = self.admit(caller, &timeline, Demand::Steer, Action::ReturnToAnchor.word()).await?;
            let returning = match self.returning(&state, anchor_id, scope).await {
                // So it looks too while others change what is read.
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
                Err(Refusal::TimersBehind) => self.let_fall_due(&timeline).await?,
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

    /// Puts together what it takes to return to an anchor.
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

    /// Returns a page of the anchors that a timeline can return to: its own, and those that were set on
    /// the timelines it was forked from before it was.
    ///
    /// # Errors
    /// The caller may not, the cursor is of another query, or the ledger cannot be written.
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
        let admitted = self.let_on(caller, timeline, Demand::Look, Reading::Anchors {}).await?;
        let from = cursor.map(|text| self.open_cursor(caller, &query, text)).transpose()?;
        let look = admitted.with_first_page(from.map(|cursor| cursor.as_of)).look().await?;
        let layers = &look.layers;
        let (first, mut after) = from.map_or((0, None), |cursor| {
            let (layer, position) = cursor.place();
            (layer, Some(position))
        });
        let mut found: Vec<(usize, Anchor)> = Vec::new();
        for (number, layer) in layers.iter().enumerate().skip(first) {
            // One more than the page holds tells that there is a next one.
            let mut from = after.take();
            while found.len() <= items_max {
                let wanted = items_max + 1 - found.len();
                let mut anchors = self.store().anchor_rows(layer.timeline, from, wanted).await?;
                let is_all = anchors.len() < wanted;
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
