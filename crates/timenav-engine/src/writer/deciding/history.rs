use std::sync::Arc;

use serde_json::value::RawValue;
use timenav_core::anchor::Anchor;
use timenav_core::event::{Cause, EventDraft};
use timenav_core::ids::{EventId, InterventionId};
use timenav_core::intervention::Effect;
use timenav_core::time::{Instant, Virtual};

use super::events::PreparedEvent;
use super::{Aim, Command, CommandSpec, Needs};
use crate::events::effects::{Version, becomes, missing, stored_draft};
use crate::events::event_content::CauseContent;
use crate::events::location::{columns_of, zone_of};
use crate::ledger::action::Action;
use crate::ledger::changes::{EventCorrected, EventIntervened};
use crate::ledger::payload::{Corrected, EffectRecord, Intervened};
use crate::ports::rows::{EventVersion, InterventionRow, KnownEvent};
use crate::ports::wall_clock::Host;
use crate::requests::expected::Expected;
use crate::requests::json::{json, raw};
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft, Ledger, NewVersion};
use crate::writer::project::EventChange;

/// Correct an event, if the version with the given tag is current.
pub(crate) struct CorrectEvent {
    pub(crate) event: PreparedEvent,
    pub(crate) expected: Option<Expected>,
}

pub(crate) struct Intervene {
    pub(crate) id: InterventionId,
    pub(crate) event_id: EventId,
    pub(crate) action: String,
    pub(crate) time: Instant<Virtual>,
    pub(crate) effect: Effect,
    pub(crate) causes: Vec<Cause>,
    /// The ledger's size for which it was decided; rejected if events have changed since.
    pub(crate) guard: Option<u64>,
}

pub(crate) struct HistoryRestored {
    pub(crate) compensations: Vec<Compensation>,
    pub(crate) guard: u64,
}

pub(crate) struct Compensation {
    pub(crate) intervention_id: InterventionId,
    pub(crate) event_id: EventId,
    /// The event's content at the anchor; `None` if it was not current.
    pub(crate) content: Option<Arc<str>>,
}

/// Why an event is removed instead of canceled, which frees its id.
#[derive(Clone, Copy)]
pub(super) enum TakenBack<'a> {
    ToAnchor(&'a str),
    /// By undoing the import that recorded it.
    OfImport(&'a str),
}

pub(super) struct Before {
    version: Option<EventVersion>,
    /// Whether this timeline has no version of it yet.
    is_inherited: bool,
}

impl Command for CorrectEvent {
    type Output = EventCorrected;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::CorrectEvent, Aim::Timeline)
    }

    fn needs(&self) -> Needs<'_> {
        Needs { events: vec![&self.event.event_id], ..Needs::default() }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<EventCorrected>, Refusal> {
        let ledger = draft.aimed()?;
        let PreparedEvent { event_id, draft: of, content, .. } = &self.event;
        let before = Before::of(draft, ledger, event_id)?;
        let Some(current) = &before.version else {
            return Err(Refusal::EventCancelled { event_id: event_id.to_string() });
        };
        Expected::check(self.expected.as_ref(), current.tag())?;
        let changed = *current.content != **content;
        let change = EventCorrected { event_id: event_id.clone(), content: Arc::clone(content), changed };
        if !changed {
            return Ok(draft.done(ledger, draft.last_position(ledger), change));
        }
        let inherited = before.is_inherited;
        let payload = json(&Corrected { event: raw(content).unwrap_or(RawValue::NULL), inherited });
        let corrected = EventChange::corrected(new_version(draft, (of, content)), inherited);
        let (host, contents) = (draft.host(ledger), draft.hashed(payload));
        let position = draft.append_event(ledger, (Action::CorrectEvent, event_id), corrected, contents, host);
        Ok(draft.done(ledger, position, change))
    }
}

impl Command for Intervene {
    type Output = EventIntervened;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::ManipulateEvent, Aim::Timeline)
    }

    fn needs(&self) -> Needs<'_> {
        Needs { events: vec![&self.event_id], ..Needs::default() }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<EventIntervened>, Refusal> {
        let ledger = draft.aimed()?;
        check_unchanged(draft, ledger, self.guard)?;
        let before = Before::of(draft, ledger, &self.event_id)?;
        let zone = zone_of(draft.ports(), draft.state(ledger).head.clock.location.as_deref());
        let after = becomes(known_event(draft, ledger, &self.event_id)?, &self.event_id, &self.effect, &zone)?;
        let host = draft.host(ledger);
        let position = append_intervention(draft, ledger, self, (&before, after.clone()), None, host);
        let before = before.version.map(|version| version.content);
        let after = match after {
            None => before.clone(),
            Some(after) => after.map(|(_, content)| content),
        };
        let (intervention_id, event_id) = (self.id.clone(), self.event_id.clone());
        let change = EventIntervened { intervention_id, event_id, effect: self.effect.clone(), before, after };
        Ok(draft.done(ledger, position, change))
    }
}

/// Restores history to its state at an anchor, with one entry for each event that has changed since.
///
/// # Errors
/// An event is unknown, or its stored content cannot be parsed.
pub(super) fn restore_history(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    anchor: &Anchor,
    compensations: &[Compensation],
) -> Result<(), Refusal> {
    let host = draft.host(ledger);
    let time = draft.state(ledger).head.clock.now(host);
    for Compensation { intervention_id, event_id, content } in compensations {
        let after = match content {
            Some(content) => Some((Arc::new(stored_draft(content)?), Arc::clone(content))),
            None => None,
        };
        // Content that was erased in the meantime must not be restored.
        let is_there = |content: &Arc<str>| {
            let known = draft.known_event(ledger, event_id);
            known.is_some_and(|known| known.versions.iter().any(|version| version.content == *content))
        };
        if content.as_ref().is_some_and(|content| !is_there(content)) {
            return Err(Refusal::ChangedMeanwhile);
        }
        let before = Before::of(draft, ledger, event_id)?;
        let one = Intervene {
            id: intervention_id.clone(),
            event_id: event_id.clone(),
            action: format!("return to {}", anchor.anchor_id),
            time,
            effect: if after.is_some() { Effect::Restore } else { Effect::Cancel },
            causes: Vec::new(),
            guard: None,
        };
        let by = Some(TakenBack::ToAnchor(anchor.anchor_id.as_str()));
        append_intervention(draft, ledger, &one, (&before, Some(after)), by, host);
    }
    Ok(())
}

pub(super) fn check_unchanged(draft: &Draft<'_>, ledger: Ledger, guard: Option<u64>) -> Result<(), Refusal> {
    let changed_at = draft.state(ledger).events_changed_at;
    if guard.is_some_and(|size| changed_at > size) { Err(Refusal::ChangedMeanwhile) } else { Ok(()) }
}

/// Appends the entry of an intervention. `after` is the resulting event: `Some(None)` if it is now canceled, `None` if
/// nothing changes.
pub(super) fn append_intervention(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    intervention: &Intervene,
    (before, after): (&Before, Option<Version>),
    by: Option<TakenBack<'_>>,
    host: Host,
) -> u64 {
    let Intervene { id: intervention_id, event_id, action, time, effect, causes, .. } = intervention;
    let changed = after.is_some();
    let content = after.as_ref().and_then(Option::as_ref).map(|(_, content)| Arc::clone(content));
    let (anchor_id, import_id) = match by {
        None => (None, None),
        Some(TakenBack::ToAnchor(anchor_id)) => (Some(anchor_id.to_owned()), None),
        Some(TakenBack::OfImport(import_id)) => (None, Some(import_id.to_owned())),
    };
    let (was_active, inherited) = (before.version.is_some(), changed && before.is_inherited);
    let payload = json(&Intervened {
        intervention_id: intervention_id.to_string(),
        event_id: event_id.to_string(),
        action: action.clone(),
        time: time.to_string(),
        effect: EffectRecord::of(effect),
        causes: causes.iter().map(CauseContent::of).collect(),
        anchor_id,
        import_id,
        was_active,
        changed,
        inherited,
        after: content.as_deref().and_then(raw),
    });
    let change = match after {
        None => EventChange::unchanged(),
        Some(after) => {
            let after = after.as_ref().map(|(of, content)| new_version(draft, (of, content)));
            EventChange::intervened(after, was_active, inherited)
        }
    };
    let contents = draft.hashed(payload);
    let position = draft.append_event(ledger, (Action::ManipulateEvent, event_id), change, contents, host);
    let row = InterventionRow { position, event_id: event_id.clone(), intervention_id: intervention_id.clone() };
    draft.step_mut(ledger).interventions.push(row);
    let layer = draft.own_layer(ledger);
    draft.known_event_mut(ledger, event_id).interventions.push((layer, position));
    position
}

fn new_version(draft: &Draft<'_>, (of, content): (&EventDraft, &Arc<str>)) -> NewVersion {
    (columns_of(draft.ports().gazetteer.as_deref(), of), Arc::clone(content))
}

impl Before {
    pub(super) fn of(draft: &Draft<'_>, ledger: Ledger, event_id: &EventId) -> Result<Self, Refusal> {
        let known = known_event(draft, ledger, event_id)?;
        let layer = draft.own_layer(ledger);
        let is_inherited = known.versions.last().is_some_and(|version| version.layer < layer);
        Ok(Self { version: known.current().cloned(), is_inherited })
    }
}

fn known_event<'d>(draft: &'d Draft<'_>, ledger: Ledger, event_id: &EventId) -> Result<&'d KnownEvent, Refusal> {
    draft.known_event(ledger, event_id).ok_or_else(|| missing(event_id))
}
