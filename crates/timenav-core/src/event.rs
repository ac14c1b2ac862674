use crate::ids::EventId;
use crate::limits::{
    ASSERTION_BYTES_MAX, DESCRIPTION_BYTES_MAX, EVENT_ACTORS_MAX, EVENT_ASSERTS_MAX, EVENT_ATTRIBUTES_BYTES_MAX,
    EVENT_CAUSES_MAX, EVENT_NAME_BYTES_MAX, EVENT_SEQUENCE_MAX, ID_BYTES_MAX, LOCATION_BYTES_MAX, RADIUS_METERS_MAX,
    SOURCE_BYTES_MAX,
};
use crate::place::Geo;
pub use crate::time::Unit as Precision;
use crate::time::{Instant, Virtual};

#[derive(Clone, Debug, PartialEq)]
pub struct EventDraft {
    /// The caller's id. `None` lets the service generate one.
    pub event_id: Option<EventId>,
    pub time: Instant<Virtual>,
    pub end_time: Option<Instant<Virtual>>,
    /// How precisely `time` and `end_time` are known. `None` for microseconds.
    pub precision: Option<Precision>,
    pub description: String,
    pub name: Option<String>,
    pub location: Option<String>,
    pub geo: Option<Geo>,
    pub causes: Vec<Cause>,
    pub actors: Vec<String>,
    /// `None` for [`EventKind::Observed`].
    pub kind: Option<EventKind>,
    /// States that hold for the duration of the event.
    pub asserts: Vec<Assertion>,
    /// A JSON object in canonical form (RFC 8785).
    pub attributes: Option<String>,
    pub source: Option<String>,
    /// The source's own sequence number of the record, without gaps.
    pub sequence: Option<u64>,
}

/// One cause of an event. It may be recorded later than its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub event_id: EventId,
    pub kind: CauseKind,
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CauseKind {
        /// Without the cause there is no effect.
        Requires = "requires",
        Contributes = "contributes",
    }
}

named! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum EventKind {
        /// An observation. If observed before it happens, it is dated in the future.
        #[default]
        Observed = "observed",
        Scheduled = "scheduled",
        Predicted = "predicted",
    }
}

/// A state that holds for the duration of an event: the predicate of the subject has exactly this value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// For example `door-7`.
    pub subject: String,
    /// For example `state`.
    pub predicate: String,
    /// JSON in canonical form (RFC 8785), for example `"open"` with its quotes.
    pub value: String,
}

/// The first problem of a draft.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct DraftError {
    /// The path of the field: `causes/3`.
    pub field: String,
    /// What the field must be.
    pub detail: String,
}

impl EventDraft {
    #[must_use]
    pub fn at(time: Instant<Virtual>, description: impl Into<String>) -> Self {
        Self {
            event_id: None,
            time,
            end_time: None,
            precision: None,
            description: description.into(),
            name: None,
            location: None,
            geo: None,
            causes: Vec::new(),
            actors: Vec::new(),
            kind: None,
            asserts: Vec::new(),
            attributes: None,
            source: None,
            sequence: None,
        }
    }

    /// Checks every length and count against its limit.
    ///
    /// # Errors
    /// The first field that exceeds its limit. An end before the start is not an error: the event is recorded as given,
    /// and is a paradox.
    pub fn check(&self) -> Result<(), DraftError> {
        text("description", &self.description, 0, DESCRIPTION_BYTES_MAX)?;
        optional("name", self.name.as_deref(), EVENT_NAME_BYTES_MAX)?;
        optional("location", self.location.as_deref(), LOCATION_BYTES_MAX)?;
        optional("source", self.source.as_deref(), SOURCE_BYTES_MAX)?;
        optional("attributes", self.attributes.as_deref(), EVENT_ATTRIBUTES_BYTES_MAX)?;
        let radius_m = self.geo.and_then(|geo| geo.radius_m);
        if radius_m.is_some_and(|metres| !(0.0..=RADIUS_METERS_MAX).contains(&metres)) {
            return Err(error("geo/radius_m", format!("a radius must be from 0 to {RADIUS_METERS_MAX} meters")));
        }
        if self.sequence.is_some_and(|sequence| sequence > EVENT_SEQUENCE_MAX) {
            return Err(error("sequence", format!("a sequence number must be from 0 to {EVENT_SEQUENCE_MAX}")));
        }
        self.check_asserts()?;
        count("causes", self.causes.len(), EVENT_CAUSES_MAX)?;
        count("actors", self.actors.len(), EVENT_ACTORS_MAX)?;
        for (index, cause) in self.causes.iter().enumerate() {
            if self.causes[..index].iter().any(|earlier| earlier.event_id == cause.event_id) {
                let detail = format!("the cause `{}` is listed twice; list it once", cause.event_id);
                return Err(error(format!("causes/{index}"), detail));
            }
        }
        let check_actor = |(index, actor): (usize, &String)| text(&format!("actors/{index}"), actor, 1, ID_BYTES_MAX);
        self.actors.iter().enumerate().try_for_each(check_actor)
    }

    fn check_asserts(&self) -> Result<(), DraftError> {
        count("asserts", self.asserts.len(), EVENT_ASSERTS_MAX)?;
        for (index, Assertion { subject, predicate, value }) in self.asserts.iter().enumerate() {
            text(&format!("asserts/{index}/subject"), subject, 1, ID_BYTES_MAX)?;
            text(&format!("asserts/{index}/predicate"), predicate, 1, ID_BYTES_MAX)?;
            text(&format!("asserts/{index}/value"), value, 1, ASSERTION_BYTES_MAX)?;
            let same = |earlier: &Assertion| earlier.subject == *subject && earlier.predicate == *predicate;
            if self.asserts[..index].iter().any(same) {
                let detail =
                    format!("`{predicate}` of `{subject}` is asserted twice; it can have only one value at a time");
                return Err(error(format!("asserts/{index}"), detail));
            }
        }
        Ok(())
    }
}

fn error(field: impl Into<String>, detail: String) -> DraftError {
    DraftError { field: field.into(), detail }
}

fn optional(field: &str, value: Option<&str>, bytes_max: usize) -> Result<(), DraftError> {
    value.map_or(Ok(()), |value| text(field, value, 1, bytes_max))
}

fn text(field: &str, value: &str, bytes_min: usize, bytes_max: usize) -> Result<(), DraftError> {
    if (bytes_min..=bytes_max).contains(&value.len()) {
        return Ok(());
    }
    Err(error(field, format!("the text has {} bytes; it must have {bytes_min} to {bytes_max}", value.len())))
}

fn count(field: &str, given: usize, max: usize) -> Result<(), DraftError> {
    if given <= max {
        return Ok(());
    }
    Err(error(field, format!("the list has {given} items; at most {max} are allowed")))
}

/// Returns the attribute of a key: the member with that name, or else the one at the path that the key spells, with
/// dots between the parts. `member` looks up a member of an object.
pub fn attribute_at<'a, V>(
    attributes: &'a V,
    key: &str,
    member: &impl Fn(&'a V, &str) -> Option<&'a V>,
) -> Option<&'a V> {
    member(attributes, key).or_else(|| {
        let mut splits = key.match_indices('.').map(|(at, _)| (&key[..at], &key[at + 1..]));
        splits.find_map(|(first, rest)| attribute_at(member(attributes, first)?, rest, member))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribute_is_found_by_name_or_path() {
        let attributes = serde_json::json!({ "a.b": 1, "a": { "b": 2, "c.d": { "e": 3 } }, "f": [4] });
        let found = |key: &str| attribute_at(&attributes, key, &|of, key| of.get(key)).map(ToString::to_string);
        for (key, value) in [("a.b", "1"), ("a.c.d.e", "3"), ("f", "[4]")] {
            assert_eq!(found(key).as_deref(), Some(value), "{key}");
        }
        assert_eq!((found("b"), found("a."), found("f.0"), found("")), (None, None, None, None));
    }

    fn draft() -> EventDraft {
        EventDraft::at(Instant::EPOCH, "something happened")
    }

    fn check(change: impl FnOnce(&mut EventDraft), expected: Option<&str>) {
        let mut draft = draft();
        change(&mut draft);
        assert_eq!(draft.check().err().map(|error| error.field).as_deref(), expected);
    }

    #[test]
    fn event_field_limits_are_inclusive() {
        check(|_| {}, None);
        check(|draft| draft.description = String::new(), None);
        check(|draft| draft.description = "x".repeat(DESCRIPTION_BYTES_MAX), None);
        check(|draft| draft.description = "x".repeat(DESCRIPTION_BYTES_MAX + 1), Some("description"));
        check(|draft| draft.name = Some("x".repeat(EVENT_NAME_BYTES_MAX)), None);
        check(|draft| draft.name = Some("x".repeat(EVENT_NAME_BYTES_MAX + 1)), Some("name"));
        check(|draft| draft.name = Some(String::new()), Some("name"));
        check(|draft| draft.location = Some("x".repeat(LOCATION_BYTES_MAX + 1)), Some("location"));
        check(|draft| draft.source = Some("x".repeat(SOURCE_BYTES_MAX + 1)), Some("source"));
        check(|draft| draft.actors = vec!["a".into(), String::new()], Some("actors/1"));
        check(|draft| draft.actors = vec!["a".into(); EVENT_ACTORS_MAX], None);
        check(|draft| draft.actors = vec!["a".into(); EVENT_ACTORS_MAX + 1], Some("actors"));
    }

    #[test]
    fn assertions_are_limited_and_have_one_value_per_property() {
        let assertion = |subject: &str, value: &str| Assertion {
            subject: subject.to_owned(),
            predicate: "state".to_owned(),
            value: value.to_owned(),
        };
        let (open, long) = (assertion("door", "\"open\""), "x".repeat(ASSERTION_BYTES_MAX + 1));
        check(|draft| draft.asserts = vec![open.clone(), assertion("gate", "\"open\"")], None);
        check(|draft| draft.asserts = vec![open.clone(), assertion("door", "\"shut\"")], Some("asserts/1"));
        check(|draft| draft.asserts = vec![assertion("", "1")], Some("asserts/0/subject"));
        check(|draft| draft.asserts = vec![assertion("door", &long)], Some("asserts/0/value"));
        let many = |count: usize| (0..count).map(|number| assertion(&number.to_string(), "1")).collect();
        check(|draft| draft.asserts = many(EVENT_ASSERTS_MAX), None);
        check(|draft| draft.asserts = many(EVENT_ASSERTS_MAX + 1), Some("asserts"));
        check(|draft| draft.sequence = Some(EVENT_SEQUENCE_MAX), None);
        check(|draft| draft.sequence = Some(EVENT_SEQUENCE_MAX + 1), Some("sequence"));
    }

    #[test]
    fn repeated_cause_is_rejected() {
        let cause = |id: &str, kind| Cause { event_id: EventId::new(id).unwrap(), kind };
        let twice =
            vec![cause("a", CauseKind::Requires), cause("b", CauseKind::Requires), cause("a", CauseKind::Contributes)];
        check(|draft| draft.causes = twice, Some("causes/2"));
    }
}
