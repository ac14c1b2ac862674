//! What somebody does to an event: what their words mean, and what becomes of the event.

use crate::event::{DraftError, EventDraft};
use crate::place::Geo;
use crate::time::{Duration, Instant, Virtual, Zone};
use phrase::{Found, bare, duration_in, timestamp_in};

mod phrase;
#[cfg(test)]
mod tests;

/// What an intervention does to an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// The event does not happen.
    Cancel,
    /// The event happens as it was last recorded: every intervention on it is taken back.
    Restore,
    /// It happens later.
    Delay(Duration),
    /// It happens earlier.
    Advance(Duration),
    /// It happens at another moment.
    Move(Instant<Virtual>),
    /// It happens elsewhere.
    Relocate {
        /// Where, in words.
        location: String,
        /// Where, on the earth, if that is known.
        geo: Option<Geo>,
    },
    /// It gets another description.
    Describe(String),
    /// It gets another name.
    Rename(String),
    /// Nothing but a note on the event.
    Note,
}

impl Effect {
    /// The words for all of them, on the wire.
    pub const WORDS: [&'static str; 9] =
        ["cancel", "restore", "delay", "advance", "move", "relocate", "describe", "rename", "note"];

    /// Returns the word for it on the wire.
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

/// What a text in free words was understood as.
#[derive(Clone, Debug, PartialEq)]
pub struct Understood {
    /// The effect.
    pub effect: Effect,
    /// Why it is only a note although its first word is known: what was looked for and not found.
    pub missing: Option<&'static str>,
}

/// What becomes of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It stands in another form.
    Changed(Box<EventDraft>),
    /// It does not stand any more.
    Cancelled,
    /// It stands as before.
    Unchanged,
}

/// What an event says no to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterventionRefusal {
    /// The event would leave −9999…9999.
    #[error("the event would fall outside the years -9999 to 9999")]
    OutOfRange,
    /// The event does not stand; only restoring is left.
    #[error("the event is cancelled; restore it first")]
    Cancelled,
    /// The event would break a limit.
    #[error("{0}")]
    Draft(DraftError),
}

/// Reads an action in free words by its leading verb. Case does not count.
///
/// `prevent`, `cancel`, `stop`, `remove`, `delete`, `call off` cancel; `restore` and `undo` restore; `delay`, `postpone`,
/// `put off` and `advance`, `bring forward` take the duration or the timestamp in the text; so do `move`, `reschedule` and
/// `shift`, whose duration is later unless the text says `earlier`; `relocate` what follows `to`; `describe` and `rename`
/// what follows them. Anything else is a note, and so is a text with several durations, or with one that is only partly
/// understood: a part of an order is never carried out.
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
        // To some, what is moved forward is earlier, and to others later.
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

/// Decides what an effect makes of an event. Changes nothing.
///
/// `standing` is the event as it stands, `None` if it is cancelled; `recorded` is how it was last
/// recorded or corrected. Months and years are counted on the calendar of `zone`.
///
/// # Errors
/// [`InterventionRefusal`]; the event stays as it is.
pub fn decide(
    effect: &Effect,
    standing: Option<&EventDraft>,
    recorded: &EventDraft,
    zone: &Zone,
) -> Result<Outcome, InterventionRefusal> {
    if *effect == Effect::Restore {
        let same = standing == Some(recorded);
        return Ok(if same { Outcome::Unchanged } else { Outcome::Changed(Box::new(recorded.clone())) });
    }
    if *effect == Effect::Note {
        return Ok(Outcome::Unchanged);
    }
    let standing = standing.ok_or(InterventionRefusal::Cancelled)?;
    let mut after = standing.clone();
    match effect {
        Effect::Cancel => return Ok(Outcome::Cancelled),
        Effect::Delay(by) => shift(&mut after, |at| by.later(at, zone))?,
        Effect::Advance(by) => shift(&mut after, |at| by.earlier(at, zone))?,
        Effect::Move(to) => {
            let span = to.since(standing.time);
            let end_time = standing.end_time.map(|end| end.checked_add(span).ok_or(InterventionRefusal::OutOfRange));
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
    Ok(if after == *standing { Outcome::Unchanged } else { Outcome::Changed(Box::new(after)) })
}

fn shift(
    event: &mut EventDraft,
    shifted: impl Fn(Instant<Virtual>) -> Option<Instant<Virtual>>,
) -> Result<(), InterventionRefusal> {
    event.time = shifted(event.time).ok_or(InterventionRefusal::OutOfRange)?;
    event.end_time = event.end_time.map(|end| shifted(end).ok_or(InterventionRefusal::OutOfRange)).transpose()?;
    Ok(())
}

/// Reads by how much something is put off or brought forward, or to when.
fn shifted(text: &str, by: impl FnOnce(Duration) -> Effect) -> Option<Effect> {
    match (duration_in(text), timestamp_in(text)) {
        (Found::One(duration), Found::Nothing) => Some(by(duration)),
        (Found::Nothing, Found::One(moment)) => Some(Effect::Move(moment)),
        _ => None,
    }
}

/// Reads to when something is moved, or by how much: later, unless the text says that it is earlier.
fn moved(text: &str) -> Option<Effect> {
    let earlier = has_word(text, &["earlier", "sooner"]);
    shifted(text, |by| if earlier { Effect::Advance(by) } else { Effect::Delay(by) })
}

fn has_word(text: &str, words: &[&str]) -> bool {
    text.split_whitespace().any(|word| words.iter().any(|one| bare(word).eq_ignore_ascii_case(one)))
}

/// Returns what follows a word, wherever it stands alone.
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
