//! Interventions: parsing an action in free text, and its effect on an event.

use crate::event::{DraftError, EventDraft};
use crate::place::Geo;
use crate::time::{Duration, Instant, Virtual, Zone};
use phrase::{Found, bare, duration_in, timestamp_in};

mod phrase;
#[cfg(test)]
mod tests;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Cancel,
    /// The event happens as it was last recorded: all interventions on it are undone.
    Restore,
    Delay(Duration),
    Advance(Duration),
    Move(Instant<Virtual>),
    Relocate {
        location: String,
        geo: Option<Geo>,
    },
    Describe(String),
    Rename(String),
    /// Adds a note; the event does not change.
    Note,
}

impl Effect {
    pub const WORDS: [&'static str; 9] =
        ["cancel", "restore", "delay", "advance", "move", "relocate", "describe", "rename", "note"];

    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Restore => "restore",
            Self::Delay(_) => "delay",
            Self::Advance(_) => "advance",
            Self::Move(_) => "move",
            Self::Relocate { .. } => "relocate",
            Self::Describe(_) => "describe",
            Self::Rename(_) => "rename",
            Self::Note => "note",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Understood {
    pub effect: Effect,
    /// What was expected after a known verb but not found. The effect is a note in this case.
    pub missing: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Changed(Box<EventDraft>),
    Cancelled,
    Unchanged,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterventionRefusal {
    #[error("the event would fall outside the years -9999 to 9999")]
    OutOfRange,
    #[error("the event is canceled; restore it first")]
    Cancelled,
    #[error("{0}")]
    Draft(DraftError),
}

/// Parses a free-text action by its leading verb, ignoring case.
///
/// `prevent`, `cancel`, `stop`, `remove`, `delete`, `call off` cancel; `restore` and `undo` restore. `delay`,
/// `postpone`, `put off` and `advance`, `bring forward` take the duration or timestamp in the text. So do `move`,
/// `reschedule` and `shift`, which move to a later time unless the text says `earlier`. `relocate` takes the text after
/// `to`, `describe` and `rename` take the text after the verb. Anything else is a note, and so is a text with several
/// durations or a partly understood one: an action is never carried out in part.
#[must_use]
pub fn understand(action: &str) -> Understood {
    let action = action.trim();
    let (verb, rest) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
    let verb = verb.trim_end_matches([':', ',', '.', '!']).to_lowercase();
    let rest = rest.trim();
    let found = |effect: Option<Effect>, missing: &'static str| {
        let missing = effect.is_none().then_some(missing);
        Understood { effect: effect.unwrap_or(Effect::Note), missing }
    };
    let certain = |effect| Understood { effect, missing: None };
    match verb.as_str() {
        "prevent" | "cancel" | "stop" | "remove" | "delete" | "drop" | "abort" | "scrap" => certain(Effect::Cancel),
        "call" if has_word(rest, &["off"]) => certain(Effect::Cancel),
        "restore" | "undo" | "revert" | "reinstate" | "undelete" | "uncancel" => certain(Effect::Restore),
        "delay" | "postpone" | "defer" => found(
            shifted(rest, Effect::Delay),
            "one duration, such as `delay 2h` or `delay 2 hours 30 minutes`, or one timestamp",
        ),
        "put" | "push" | "move" | "shift" if has_word(rest, &["back", "off"]) && verb != "move" => {
            found(shifted(rest, Effect::Delay), "one duration, such as `delay 2h`, or one timestamp")
        }
        "advance" | "hasten" => {
            found(shifted(rest, Effect::Advance), "one duration, such as `advance 2h`, or one timestamp")
        }
        "bring" | "pull" if has_word(rest, &["forward", "ahead", "in"]) => {
            found(shifted(rest, Effect::Advance), "one duration, such as `advance 2h`, or one timestamp")
        }
        // "Moved forward" means earlier to some readers and later to others.
        "move" | "push" | "put" | "shift"
            if timestamp_in(rest).is_nothing() && has_word(rest, &["back", "forward"]) =>
        {
            found(None, "a direction: `delay 2h` is later, `advance 2h` is earlier")
        }
        "move" | "reschedule" | "shift" => found(
            moved(rest),
            "one timestamp, such as `move to 2024-07-20T20:17:40Z`, or one duration, such as `delay 2h`; for another place, \
             `relocate to Paris`",
        ),
        "relocate" => {
            let place = after_word(rest, "to");
            let effect = place.map(|place| Effect::Relocate { location: place.to_owned(), geo: None });
            found(effect, "a place, such as `relocate to Paris`")
        }
        "describe" => {
            let text = after_word(rest, "as").unwrap_or(rest);
            found(not_empty(text).map(Effect::Describe), "a text, such as `describe as The crew is saved.`")
        }
        "rename" => {
            let text = after_word(rest, "to").unwrap_or(rest);
            found(not_empty(text).map(Effect::Rename), "a name, such as `rename to Second launch`")
        }
        _ => certain(Effect::Note),
    }
}

/// Decides the effect of an intervention on an event. Has no side effects.
///
/// `current` is the current event, `None` if it is canceled; `recorded` is the event as last recorded or corrected.
/// Months and years are counted on the calendar of `zone`.
///
/// # Errors
/// [`InterventionRefusal`]; the event is unchanged.
pub fn decide(
    effect: &Effect,
    current: Option<&EventDraft>,
    recorded: &EventDraft,
    zone: &Zone,
) -> Result<Outcome, InterventionRefusal> {
    if *effect == Effect::Restore {
        let same = current == Some(recorded);
        return Ok(if same { Outcome::Unchanged } else { Outcome::Changed(Box::new(recorded.clone())) });
    }
    if *effect == Effect::Note {
        return Ok(Outcome::Unchanged);
    }
    let current = current.ok_or(InterventionRefusal::Cancelled)?;
    let mut after = current.clone();
    match effect {
        Effect::Cancel => return Ok(Outcome::Cancelled),
        Effect::Delay(by) => shift(&mut after, |at| by.later(at, zone))?,
        Effect::Advance(by) => shift(&mut after, |at| by.earlier(at, zone))?,
        Effect::Move(to) => {
            let span = to.since(current.time);
            let end_time = current.end_time.map(|end| end.checked_add(span).ok_or(InterventionRefusal::OutOfRange));
            after.end_time = end_time.transpose()?;
            after.time = *to;
        }
        Effect::Relocate { location, geo } => {
            after.location = Some(location.clone());
            after.geo = *geo;
        }
        Effect::Describe(text) => after.description.clone_from(text),
        Effect::Rename(name) => after.name = Some(name.clone()),
        Effect::Restore | Effect::Note => {}
    }
    after.check().map_err(InterventionRefusal::Draft)?;
    Ok(if after == *current { Outcome::Unchanged } else { Outcome::Changed(Box::new(after)) })
}

fn shift(
    event: &mut EventDraft,
    shifted: impl Fn(Instant<Virtual>) -> Option<Instant<Virtual>>,
) -> Result<(), InterventionRefusal> {
    event.time = shifted(event.time).ok_or(InterventionRefusal::OutOfRange)?;
    event.end_time = event.end_time.map(|end| shifted(end).ok_or(InterventionRefusal::OutOfRange)).transpose()?;
    Ok(())
}

/// Parses a duration for `by`, or a timestamp to move to.
fn shifted(text: &str, by: impl FnOnce(Duration) -> Effect) -> Option<Effect> {
    match (duration_in(text), timestamp_in(text)) {
        (Found::One(duration), Found::Nothing) => Some(by(duration)),
        (Found::Nothing, Found::One(moment)) => Some(Effect::Move(moment)),
        _ => None,
    }
}

/// Parses a timestamp to move to, or a duration, which moves to a later time unless the text says `earlier`.
fn moved(text: &str) -> Option<Effect> {
    let earlier = has_word(text, &["earlier", "sooner"]);
    shifted(text, |by| if earlier { Effect::Advance(by) } else { Effect::Delay(by) })
}

fn has_word(text: &str, words: &[&str]) -> bool {
    text.split_whitespace().any(|word| words.iter().any(|one| bare(word).eq_ignore_ascii_case(one)))
}

fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let mut start = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        start += piece.len();
        if piece.trim_end().eq_ignore_ascii_case(word) {
            let rest = text.get(start..)?.trim();
            return (!rest.is_empty()).then_some(rest);
        }
    }
    None
}

fn not_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
