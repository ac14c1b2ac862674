use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::as_of::AsOf;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::limits::EVENT_RELATIONS_MAX;
use timenav_core::paradox::{Delta, Grade, Heading, IMPACT_EVENTS_MAX, Kind, Paradox, Settings};
use timenav_core::time::{Instant, TimeRange, Virtual, Wall, Zone};

use crate::engine::Engine;
use crate::events::effects::preview;
use crate::events::history::InterventionRequest;
use crate::events::location::zone_of;
use crate::ledger::action::Action;
use crate::ledger::changes::{EventIntervened, LedgerPosition};
use crate::ledger::head::{Layer, TimelineState};
use crate::ledger::payload::Reading;
use crate::ledger::tree::SignedTree;
use crate::paradoxes::view_board::CachedView;
use crate::paradoxes::views::what_if;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::repeated::RepeatedRequest;
use crate::writer::submission::Answer;

/// How often the effects of an intervention are recomputed if others change events in the meantime.
const ATTEMPTS_MAX: usize = 8;

#[derive(Clone, Debug)]
pub struct MonitorParadox {
    pub timeline: Option<TimelineId>,
    /// Paradoxes with an event in this range, both ends inclusive.
    pub range: TimeRange<Virtual>,
    /// The requested kinds. Defaults to all except observations.
    pub kinds: Option<Vec<Kind>>,
    pub observations: bool,
    /// The paradox settings. `None` for the defaults.
    pub settings: Option<Settings>,
    pub as_of: Option<(String, AsOf)>,
    pub items_max: usize,
    pub cursor: Option<String>,
}

/// One page of paradoxes in their canonical order.
#[derive(Clone, Debug)]
pub struct ParadoxPage {
    pub timeline_id: TimelineId,
    pub paradoxes: Vec<Paradox>,
    pub total: usize,
    /// The number of each kind and grade on the whole timeline, including observations.
    pub counts: Vec<(Kind, Grade, u64)>,
    /// The last ledger position visible to all pages of this query.
    pub as_of: Option<u64>,
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Consequences {
    pub created: Vec<Paradox>,
    pub resolved: Vec<Paradox>,
    /// Some of the current events that depend on the event, directly or indirectly, nearest first.
    pub downstream: Vec<EventId>,
    /// The number of these, counted up to [`IMPACT_EVENTS_MAX`].
    pub downstream_count: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnParadox {
    #[default]
    Report,
    Refuse,
}

impl Engine {
    /// Lists paradoxes.
    ///
    /// # Errors
    /// The caller is not authorized, the cursor belongs to another query, or the ledger cannot be written.
    #[boxed]
    pub async fn monitor_paradox(&self, caller: &Caller, request: MonitorParadox) -> Result<ParadoxPage, Refusal> {
        let timeline = caller.timeline(request.timeline);
        let as_of_text = request.as_of.as_ref().map_or("", |(text, _)| text);
        let kinds: Option<Vec<&str>> =
            request.kinds.as_ref().map(|kinds| kinds.iter().map(|kind| kind.code()).collect());
        let query = format!(
            "paradoxes {timeline} {} {as_of_text} {kinds:?} {} {:?}",
            request.range, request.observations, request.settings
        );
        let read = Reading::MonitorParadox {
            kinds: kinds.map(|kinds| kinds.into_iter().map(str::to_owned).collect()),
            observations: request.observations,
            time_range: request.range.to_string(),
        };
        let admitted = self.authorize_read(caller, timeline, Demand::Look, read).await?;
        let cursor = request.cursor.as_deref().map(|text| self.open_cursor(caller, &query, text)).transpose()?;
        let admitted = admitted.at(request.as_of.as_ref().map(|(_, as_of)| as_of)).await?;
        let look = admitted.with_first_page(cursor.map(|cursor| cursor.as_of)).look().await?;
        let skip = cursor.map_or(0, |cursor| usize::try_from(cursor.position).unwrap_or(usize::MAX));
        let (items_max, range) = (request.items_max, request.range);
        let filter = move |heading: Heading| match &request.kinds {
            Some(kinds) => kinds.contains(&heading.kind),
            None => request.observations || !heading.is_observation,
        };
        let found = move |view: &mut CachedView| {
            let (page, total) = page(view, filter, &range, skip, items_max);
            (page, total, view.view.counts())
        };
        let (paradoxes, total, counts) = match request.settings {
            None => self.view_of(caller, &look, found).await?,
            Some(settings) => self.look_with(caller, &look.layers, settings, found).await?,
        };
        let end = skip.saturating_add(paradoxes.len());
        let next_cursor = (end < total).then(|| self.cursor(caller, &query, look.size(), 0, end as u64));
        let (timeline_id, as_of) = (look.timeline(), look.position());
        Ok(ParadoxPage { timeline_id, paradoxes, total, counts, as_of, next_cursor })
    }

    /// Intervenes in an event, and returns the paradoxes that this creates and resolves.
    ///
    /// # Errors
    /// As [`Engine::manipulate_event`]; with [`OnParadox::Refuse`], also that it would create a paradox.
    #[boxed]
    pub async fn intervene(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        request: InterventionRequest,
        on_paradox: OnParadox,
        idempotency: Option<Idempotency>,
    ) -> Result<(Answer<EventIntervened>, Consequences), Refusal> {
        let timeline = caller.timeline(timeline);
        for _ in 0..ATTEMPTS_MAX {
            let mut guard = None;
            if on_paradox == OnParadox::Refuse {
                request.check()?;
                let word = Action::ManipulateEvent.word();
                self.catch_up_with(&timeline).await?;
                let state = self.admit_as_known(caller, &timeline, Demand::Intervene, word).await?;
                guard = Some(state.head.frontier.size());
                if let Err(refusal) = self.refuse_paradoxes(caller, &state, &request).await {
                    let again = RepeatedRequest::of(Action::ManipulateEvent, &[Demand::Intervene]);
                    let answer = self.answered_before(caller, &timeline, again, idempotency).await?;
                    return self.with_consequences(caller, answer.ok_or(refusal)?).await;
                }
            }
            let done =
                self.manipulate_if_unchanged(caller, timeline.clone(), request.clone(), guard, idempotency).await;
            let done = match done {
                Err(Refusal::ChangedMeanwhile) if guard.is_some() => continue,
                other => other?,
            };
            return self.with_consequences(caller, done).await;
        }
        Err(Refusal::ChangedMeanwhile)
    }

    async fn refuse_paradoxes(
        &self,
        caller: &Caller,
        state: &TimelineState,
        request: &InterventionRequest,
    ) -> Result<(), Refusal> {
        let layers = state.layers_now();
        let (host, clock) = (self.host(state), &state.head.clock);
        let zone = zone_of(self.ports(), clock.location.as_deref());
        let hypothetical = self.hypothetical_intervention(&layers, request, (host, clock.now(host)), &zone).await?;
        let created = self.with_view(caller, &layers, move |view| hypothetical.delta(view)).await?;
        match created.created.iter().find(|paradox| !paradox.is_observation) {
            Some(first) => Err(Refusal::WouldCreateParadox { explanation: first.explanation.clone() }),
            None => Ok(()),
        }
    }

    /// A repeated request gets the same effects as the first: later changes are ignored.
    async fn with_consequences(
        &self,
        caller: &Caller,
        done: Answer<EventIntervened>,
    ) -> Result<(Answer<EventIntervened>, Consequences), Refusal> {
        let timeline = &done.timeline_id;
        let state = self.state(timeline);
        let state = state.ok_or_else(|| Refusal::Damaged(format!("timeline `{timeline}` is gone")))?;
        let layers = state.layers_now();
        let delta = self.delta_at(caller, &layers, done.ledger.position).await?;
        let look = downstream_of(done.change.event_id.clone());
        let downstream = if done.replayed {
            let then = state.layers(done.ledger.position + 1);
            self.look_at(caller, timeline, &then, look).await?
        } else {
            self.with_view(caller, &layers, look).await?
        };
        Ok((done, consequences(delta, downstream)))
    }

    /// Dry run of an intervention.
    ///
    /// # Errors
    /// As [`Engine::manipulate_event`].
    #[boxed]
    pub async fn preview_intervention(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        request: InterventionRequest,
    ) -> Result<(Answer<EventIntervened>, Consequences), Refusal> {
        request.check()?;
        let read = Reading::ManipulateEvent { dry_run: true, event_id: request.event_id.to_string() };
        let look = self.look(caller, timeline, Demand::Intervene, read).await?;
        // Only observations depend on the clock, and they are not returned.
        let clock_at = look.state.head.clock.now(look.host);
        let zone = zone_of(self.ports(), look.state.head.clock.location.as_deref());
        let hypothetical = self.hypothetical_intervention(&look.layers, &request, (look.host, clock_at), &zone).await?;
        let (before, after) = (hypothetical.before.clone(), hypothetical.after.clone());
        let downstream = downstream_of(request.event_id.clone());
        let (delta, downstream) =
            self.view_of(caller, &look, move |view| (hypothetical.delta(view), downstream(view))).await?;
        let size = look.size();
        let root = SignedTree::of(&look.state).root_at(self.store(), size).await?;
        let InterventionRequest { event_id, effect, .. } = request;
        let intervention_id = self.new_intervention_id()?;
        let preview = Answer {
            timeline_id: look.timeline(),
            change: EventIntervened { intervention_id, event_id, effect, before, after },
            ledger: LedgerPosition { position: size.saturating_sub(1), size, root, timeline_created: false },
            replayed: false,
        };
        Ok((preview, consequences(delta, downstream)))
    }

    /// Treats the intervention as the next entry, recorded at the given host time and clock reading.
    async fn hypothetical_intervention(
        &self,
        layers: &Arc<[Layer]>,
        request: &InterventionRequest,
        now: (Instant<Wall>, Instant<Virtual>),
        zone: &Zone,
    ) -> Result<HypotheticalIntervention, Refusal> {
        let missing = || Refusal::NotFound { what: "event", id: request.event_id.to_string() };
        let known = self.versions_of(layers, &request.event_id).await?.ok_or_else(missing)?;
        let before = known.current().map(|version| Arc::clone(&version.content));
        let after = preview(&known, &request.event_id, &request.effect, zone)?;
        let intervention_id = self.new_intervention_id()?;
        let intervention_id = EventId::new(intervention_id.as_str()).map_err(|error| Refusal::id("event_id", error))?;
        Ok(HypotheticalIntervention { request: request.clone(), intervention_id, before, after, now })
    }
}

struct HypotheticalIntervention {
    request: InterventionRequest,
    intervention_id: EventId,
    /// The current event as JSON; `None` if it is canceled.
    before: Option<Arc<str>>,
    after: Option<Arc<str>>,
    /// Host time and the clock's reading.
    now: (Instant<Wall>, Instant<Virtual>),
}

impl HypotheticalIntervention {
    fn delta(self, view: &mut CachedView) -> Delta {
        what_if(view, &self.request, self.intervention_id, (self.before, self.after), self.now)
    }
}

fn page(
    view: &CachedView,
    filter: impl Fn(Heading) -> bool,
    range: &TimeRange<Virtual>,
    skip: usize,
    items_max: usize,
) -> (Vec<Paradox>, usize) {
    let list = view.view.list(filter);
    if *range == TimeRange::everything() {
        return (list.page(skip, items_max), list.len());
    }
    let within =
        |paradox: &Paradox| paradox.events.iter().any(|id| view.view.is_within(id, range.first(), range.last()));
    let mut all = list.all();
    all.retain(within);
    let total = all.len();
    (all.into_iter().skip(skip).take(items_max).collect(), total)
}

fn downstream_of(event_id: EventId) -> impl FnOnce(&mut CachedView) -> (Vec<EventId>, usize) + Send + 'static {
    move |view| {
        let downstream = view.view.descendants(&event_id, EVENT_RELATIONS_MAX);
        (downstream, view.view.descendants_count(&event_id, IMPACT_EVENTS_MAX))
    }
}

/// Observations about the data are not an effect of the intervention, so they are left out.
fn consequences(delta: Delta, (downstream, downstream_count): (Vec<EventId>, usize)) -> Consequences {
    let paradoxes = |mut list: Vec<Paradox>| {
        list.retain(|paradox| !paradox.is_observation);
        list
    };
    let (created, resolved) = (paradoxes(delta.created), paradoxes(delta.resolved));
    Consequences { created, resolved, downstream, downstream_count }
}
