use std::sync::Arc;

use timenav_core::event::EventDraft;
use timenav_core::ids::EventId;
use timenav_core::intervention::{self, Effect, Outcome as Becomes};
use timenav_core::time::Zone;

use crate::events::event_content::{event_content, event_draft};
use crate::ports::rows::{EventVersion, KnownEvent};
use crate::requests::refusal::Refusal;

/// A version of an event; `None` if it is canceled.
pub(crate) type Version = Option<(Arc<EventDraft>, Arc<str>)>;

/// `None` if nothing changes. Months are counted in the calendar of `zone`.
pub(crate) fn becomes(
    known: &KnownEvent,
    event_id: &EventId,
    effect: &Effect,
    zone: &Zone,
) -> Result<Option<Version>, Refusal> {
    let current = known.current().map(draft_of).transpose()?;
    let recorded = match (&current, effect) {
        (_, Effect::Restore) | (None, _) => known.recorded().map(draft_of).ok_or_else(|| missing(event_id))??,
        (Some(current), _) => current.clone(),
    };
    let becomes = intervention::decide(effect, current.as_ref(), &recorded, zone);
    Ok(match becomes.map_err(|refusal| refused(event_id, refusal))? {
        Becomes::Unchanged => None,
        Becomes::Cancelled => Some(None),
        Becomes::Changed(draft) => {
            let content: Arc<str> = event_content(event_id, &draft).into();
            Some(Some((Arc::new(*draft), content)))
        }
    })
}

pub(crate) fn preview(
    known: &KnownEvent,
    event_id: &EventId,
    effect: &Effect,
    zone: &Zone,
) -> Result<Option<Arc<str>>, Refusal> {
    Ok(match becomes(known, event_id, effect, zone)? {
        None => known.current().map(|version| Arc::clone(&version.content)),
        Some(version) => version.map(|(_, content)| content),
    })
}

fn draft_of(version: &EventVersion) -> Result<EventDraft, Refusal> {
    stored_draft(&version.content)
}

pub(crate) fn stored_draft(content: &str) -> Result<EventDraft, Refusal> {
    event_draft(content).ok_or_else(|| Refusal::Damaged("a stored event cannot be read".to_owned()))
}

pub(crate) fn missing(event_id: &EventId) -> Refusal {
    Refusal::NotFound { what: "event", id: event_id.to_string() }
}

fn refused(event_id: &EventId, refusal: intervention::InterventionRefusal) -> Refusal {
    use intervention::InterventionRefusal as Why;
    match refusal {
        Why::OutOfRange => Refusal::EventOutOfRange,
        Why::Cancelled => Refusal::EventCancelled { event_id: event_id.to_string() },
        Why::Draft(error) => Refusal::invalid(&format!("effect/{}", error.field), error.detail),
    }
}
