//! Paradoxes: listed, and made and healed by interventions.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::limits::EVENT_RELATIONS_MAX;
use timenav_core::paradox::{Delta, Grade, Heading, IMPACT_EVENTS_MAX, Kind, Paradox, Settings};
use timenav_core::time::{Instant, TimeRange, Virtual, Wall, Zone};

use crate::action::Action;
use crate::becoming::preview;
use crate::caller::Caller;
use crate::changes::LedgerPosition;
use crate::deciding::repeated::Again;
use crate::engine::Engine;
use crate::head::{Layer, TimelineState};
use crate::history::{IntervenedEvent, InterventionRequest};
use crate::idempotency::Idempotency;
use crate::location::zone_of;
use crate::payload::Reading;
use crate::refusal::Refusal;
use crate::tree::SignedTree;
use crate::view_board::Kept;
use crate::views::what_if;

/// How often what an intervention would make is worked out anew, where others change events
/// meanwhile.
const ATTEMPTS_MAX: usize = 8;

/// Which paradoxes are asked for.
#[derive(Clone, Debug)]
pub struct MonitorParadox {
    /// On which timeline; the key's own where there is none.
    pub timeline: Option<TimelineId>,
    /// Those with an event in this stretch of time, both ends included.
    pub range: TimeRange<Virtual>,
    /// Of which kinds; of all that are no observations, if it is left out.
    pub kinds: Option<Vec<Kind>>,
    /// Whether observations about the data are listed too.
    pub observations: bool,
    /// What counts as a paradox, where it is not what counts by default.
    pub settings: Option<Settings>,
    /// As the ledger told it at that moment, instead of now; also as the caller wrote it.
    pub as_of: Option<(String, AsOf)>,
    /// The maximum number per page.
    pub items_max: usize,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// One page of paradoxes, in their one order.
#[derive(Clone, Debug)]
pub struct ParadoxPage {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// The paradoxes.
    pub paradoxes: Vec<Paradox>,
    /// How many there are on all pages.
    pub total: usize,
    /// How many of each kind and grade there are on the whole timeline, observations too.
    pub counts: Vec<(Kind, Grade, u64)>,
    /// The last ledger position that all pages of this query take into account.
    pub as_of: Option<u64>,
    /// Asks for the next page.
    pub next_cursor: Option<String>,
}

/// What an intervention did, or would do, to others than its event.
#[derive(Clone, Debug)]
pub struct Consequences {
    /// Paradoxes that this creates.
    pub made: Vec<Paradox>,
    /// Paradoxes that this resolves.
    pub healed: Vec<Paradox>,
    /// Events that stand and require the event, directly or not, nearest first: some of them.
    pub downstream: Vec<EventId>,
    /// How many these are, counted no further than [`IMPACT_EVENTS_MAX`].
    pub downstream_count: usize,
}

/// What is to happen if an intervention makes a paradox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnParadox {
    /// It is told.
    #[default]
    Tell,
    /// The intervention is refused.
    Refuse,
}

impl Engine {
    /// Lists paradoxes.
    ///
    /// # Errors
    /// The caller may not, the cursor is of another query, or the ledger cannot be written.
    #[boxed]
    pub async fn monitor_paradox(&self, caller: &Caller, request: MonitorParadox) -> Result<ParadoxPage, Refusal> {
        let timeline = caller.timeline(request.timeline);
        let as_of_text = request.as_of.as_ref().map_or("", |(text, _)| text);
        let kinds: Option<Vec<&str>> =
            request.kinds.as_ref().map(|kinds| kinds.iter().map(|kind| kind.code()).collect());
        let asked = format!(
            "paradoxes {timeline} {} {as_of_text} {kinds:?} {} {:?}",
            request.range, request.observations, request.settings
        );
        let read = Reading::MonitorParadox {
            kinds: kinds.map(|kinds| kinds.into_iter().map(str::to_owned).collect()),
            observations: request.observations,
            time_range: request.range.to_string(),
        };
        let admitted = self.let_on(caller, timeline, Demand::Look, read).await?;
        let cursor = request.cursor.as_deref().map(|text| self.open_cursor(caller, &asked, text)).transpose()?;
        let admitted = admitted.at(request.as_of.as_ref().map(|(_, as_of)| as_of)).await?;
        let look = admitted.with_first_page(cursor.map(|cursor| cursor.as_of)).look().await?;
        let skip = cursor.map_or(0, |cursor| usize::try_from(cursor.position).unwrap_or(usize::MAX));
        let (items_max, range) = (request.items_max, request.range);
        let wanted = move |heading: Heading| match &request.kinds {
            Some(kinds) => kinds.contains(&heading.kind),
            None => request.observations || !heading.is_observation,
        };
        let found = move |kept: &mut Kept| {
            let (page, total) = page(kept, wanted, &range, skip, items_max);
            (page, total, kept.view.counts())
        };
        let (paradoxes, total, counts) = match request.settings {
            None => self.view_of(caller, &look, found).await?,
            Some(settings) => self.look_with(caller, &look.layers, settings, found).await?,
        };
        let shown = skip.saturating_add(paradoxes.len());
        let next_cursor = (shown < total).then(|| self.cursor(caller, &asked, look.size(), 0, shown as u64));
        let (timeline_id, as_of) = (look.timeline(), look.position());
        Ok(ParadoxPage { timeline_id, paradoxes, total, counts, as_of, next_cursor })
    }

    /// Intervenes in an event, and tells what that makes and heals.
    ///
    /// # Errors
    /// As [`Engine::manipulate_event`]; with [`OnParadox::Refuse`] also that it would make a paradox.
    #[boxed]
    pub async fn intervene(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        request: InterventionRequest,
        on_paradox: OnParadox,
        idempotency: Option<Idempotency>,
    ) -> Result<(IntervenedEvent, Consequences), Refusal> {
        let timeline = caller.timeline(timeline);
        for _ in 0..ATTEMPTS_MAX {
            let mut guard = None;
            if on_paradox == OnParadox::Refuse {
                request.check()?;
                let word = Action::ManipulateEvent.word();
                let state = self.admit_to_newest(caller, &timeline, Demand::Intervene, word).await?;
                guard = Some(state.head.frontier.size());
                if let Err(refusal) = self.refuse_paradoxes(caller, &state, &request).await {
                    let again = Again::of(Action::ManipulateEvent, &[Demand::Intervene]);
                    let answer = self.answered_before(caller, &timeline, again, idempotency).await?;
                    return self.told(caller, IntervenedEvent::of(answer.ok_or(refusal)?)).await;
                }
            }
            let done = self.manipulate_guarded(caller, timeline.clone(), request.clone(), guard, idempotency).await;
            let done = match done {
                Err(Refusal::ChangedMeanwhile) if guard.is_some() => continue,
                other => other?,
            };
            return self.told(caller, done).await;
        }
        Err(Refusal::ChangedMeanwhile)
    }

    /// Refuses an intervention that would create a paradox.
    async fn refuse_paradoxes(
        &self,
        caller: &Caller,
        state: &TimelineState,
        request: &InterventionRequest,
    ) -> Result<(), Refusal> {
        let layers = state.layers_now();
        let (host, clock) = (self.host(state), &state.head.clock);
        let zone = zone_of(self.doors(), clock.location.as_deref());
        let asked = self.what_would_be(&layers, request, (host, clock.now(host)), &zone).await?;
        let made = self.with_view(caller, &layers, move |kept| asked.delta(kept)).await?;
        match made.made.iter().find(|paradox| !paradox.is_observation) {
            Some(first) => Err(Refusal::WouldCreateParadox { explanation: first.explanation.clone() }),
            None => Ok(()),
        }
    }

    /// Tells what an intervention made and healed. A repetition is told what the first answer told: what came since is
    /// left out.
    async fn told(&self, caller: &Caller, done: IntervenedEvent) -> Result<(IntervenedEvent, Consequences), Refusal> {
        let timeline = &done.timeline_id;
        let state = self.state(timeline);
        let state = state.ok_or_else(|| Refusal::Damaged(format!("timeline `{timeline}` is gone")))?;
        let layers = state.layers_now();
        let delta = self.delta_at(caller, &layers, done.ledger.position).await?;
        let look = downstream_of(done.event_id.clone());
        let downstream = if done.replayed {
            let then = state.layers(done.ledger.position + 1);
            self.look_at(caller, timeline, &then, look).await?
        } else {
            self.with_view(caller, &layers, look).await?
        };
        Ok((done, consequences(delta, downstream)))
    }

    /// Returns what an intervention would do, and changes nothing.
    ///
    /// # Errors
    /// As [`Engine::manipulate_event`].
    #[boxed]
    pub async fn foresee_intervention(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        request: InterventionRequest,
    ) -> Result<(IntervenedEvent, Consequences), Refusal> {
        request.check()?;
        let read = Reading::ManipulateEvent { dry_run: true, event_id: request.event_id.to_string() };
        let look = self.look(caller, timeline, Demand::Intervene, read).await?;
        // Of what is found, only observations go by the clock, and they are not told.
        let clock_at = look.state.head.clock.now(look.host);
        let zone = zone_of(self.doors(), look.state.head.clock.location.as_deref());
        let asked = self.what_would_be(&look.layers, &request, (look.host, clock_at), &zone).await?;
        let (before, after) = (asked.before.clone(), asked.after.clone());
        let downstream = downstream_of(request.event_id.clone());
        let (delta, downstream) =
            self.view_of(caller, &look, move |kept| (asked.delta(kept), downstream(kept))).await?;
        let size = look.size();
        let root = SignedTree::of(&look.state).root_at(self.store(), size).await?;
        let preview = IntervenedEvent {
            timeline_id: look.timeline(),
            intervention_id: self.new_intervention_id()?,
            event_id: request.event_id,
            effect: request.effect,
            before,
            after,
            ledger: LedgerPosition { position: size.saturating_sub(1), size, root, timeline_created: false },
            replayed: false,
        };
        Ok((preview, consequences(delta, downstream)))
    }

    /// Works out what an intervention would make of its event, were it the next entry. It would be recorded at a host
    /// time at which the clock shows a moment.
    async fn what_would_be(
        &self,
        layers: &Arc<[Layer]>,
        request: &InterventionRequest,
        now: (Instant<Wall>, Instant<Virtual>),
        zone: &Zone,
    ) -> Result<WouldBe, Refusal> {
        let missing = || Refusal::NotFound { what: "event", id: request.event_id.to_string() };
        let known = self.versions_of(layers, &request.event_id).await?.ok_or_else(missing)?;
        let before = known.standing().map(|version| Arc::clone(&version.content));
        let after = preview(&known, &request.event_id, &request.effect, zone)?;
        let intervention_id = self.new_intervention_id()?;
        let intervention_id = EventId::new(intervention_id.as_str()).map_err(|error| Refusal::id("event_id", error))?;
        Ok(WouldBe { request: request.clone(), intervention_id, before, after, now })
    }
}

/// An intervention that is only thought of.
struct WouldBe {
    request: InterventionRequest,
    intervention_id: EventId,
    /// The event as it stands, as JSON; `None` if it does not.
    before: Option<Arc<str>>,
    /// The event as it would stand.
    after: Option<Arc<str>>,
    /// Host time, and what the clock shows.
    now: (Instant<Wall>, Instant<Virtual>),
}

impl WouldBe {
    /// Returns what it would make and heal.
    fn delta(self, kept: &mut Kept) -> Delta {
        what_if(kept, &self.request, self.intervention_id, (self.before, self.after), self.now)
    }
}

/// Returns some of the paradoxes that are wanted, and how many there are.
fn page(
    kept: &Kept,
    wanted: impl Fn(Heading) -> bool,
    range: &TimeRange<Virtual>,
    skip: usize,
    items_max: usize,
) -> (Vec<Paradox>, usize) {
    let list = kept.view.list(wanted);
    if *range == TimeRange::everything() {
        return (list.page(skip, items_max), list.len());
    }
    let within =
        |paradox: &Paradox| paradox.events.iter().any(|id| kept.view.is_within(id, range.first(), range.last()));
    let mut all = list.all();
    all.retain(within);
    let total = all.len();
    (all.into_iter().skip(skip).take(items_max).collect(), total)
}

/// Looks for what hangs on an event: some of it, and how much there is.
fn downstream_of(event_id: EventId) -> impl FnOnce(&mut Kept) -> (Vec<EventId>, usize) + Send + 'static {
    move |kept| {
        let downstream = kept.view.descendants(&event_id, EVENT_RELATIONS_MAX);
        (downstream, kept.view.descendants_count(&event_id, IMPACT_EVENTS_MAX))
    }
}

/// What is only an observation about the data is nobody's doing.
fn consequences(delta: Delta, (downstream, downstream_count): (Vec<EventId>, usize)) -> Consequences {
    let paradoxes = |mut list: Vec<Paradox>| {
        list.retain(|paradox| !paradox.is_observation);
        list
    };
    let (made, healed) = (paradoxes(delta.made), paradoxes(delta.healed));
    Consequences { made, healed, downstream, downstream_count }
}
