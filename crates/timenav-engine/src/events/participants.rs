use serde::Deserialize;
use serde_json::value::RawValue;

use crate::requests::json::json;

/// Maximum size in bytes: beyond that, the index would be as large as the events it saves reading.
pub(crate) const PARTIES_BYTES_MAX: usize = 1_000;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Parties {
    pub(crate) source: Option<String>,
    pub(crate) actors: Vec<String>,
}

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    actors: Option<&'a RawValue>,
}

impl Parties {
    /// Parses the result of [`parties_text`], or the JSON of a whole event. Anything else has no source and actors.
    pub(crate) fn read(stored: &str) -> Self {
        if is_whole_event(stored) {
            let of_event = serde_json::from_str::<Members<'_>>(stored).ok();
            let (source, actors) = of_event.map_or((None, None), |event| (event.source, event.actors));
            let source = source.and_then(|source| serde_json::from_str(source.get()).ok());
            let actors = actors.and_then(|actors| serde_json::from_str(actors.get()).ok());
            return Self { source, actors: actors.unwrap_or_default() };
        }
        let mut values = serde_json::Deserializer::from_str(stored);
        let source = stored.starts_with('"').then(|| String::deserialize(&mut values).ok()).flatten();
        let actors = Vec::deserialize(&mut values).unwrap_or_default();
        Self { source, actors }
    }
}

/// Returns whether this is a whole event, which is read if nothing is indexed. The result of [`parties_text`] begins
/// differently.
pub(crate) fn is_whole_event(stored: &str) -> bool {
    stored.starts_with('{')
}

/// Returns source and actors as concatenated JSON, without missing parts. `None` if that is too long for the index.
pub(crate) fn parties_text(source: Option<&str>, actors: &[String]) -> Option<String> {
    let mut text = source.map(|source| json(&source)).unwrap_or_default();
    if !actors.is_empty() {
        text.push_str(&json(&actors));
    }
    Some(text).filter(|text| text.len() <= PARTIES_BYTES_MAX)
}

/// Like [`parties_text`], from the JSON of an event and without parsing either.
pub(crate) fn parties_in(content: &str) -> Option<String> {
    let Members { source, actors } = serde_json::from_str(content).ok()?;
    let text: String = [source, actors].into_iter().flatten().map(RawValue::get).collect();
    Some(text).filter(|text| text.len() <= PARTIES_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use timenav_core::event::EventDraft;
    use timenav_core::ids::EventId;
    use timenav_core::time::Instant;

    use super::*;
    use crate::events::event_content::event_content;

    fn content(source: Option<&str>, actors: &[&str]) -> String {
        let actors = actors.iter().map(ToString::to_string).collect();
        let draft = EventDraft { source: source.map(str::to_owned), actors, ..EventDraft::at(Instant::EPOCH, "told") };
        event_content(&EventId::new("e1").unwrap(), &draft)
    }

    #[test]
    fn stored_parties_of_an_event_are_short() {
        let parties_of = |source, actors: &[&str]| parties_in(&content(source, actors));
        assert_eq!(parties_of(None, &[]).as_deref(), Some(""));
        assert_eq!(parties_of(Some("NASA"), &[]).as_deref(), Some(r#""NASA""#));
        assert_eq!(parties_of(None, &["Ada", "B\"b"]).as_deref(), Some(r#"["Ada","B\"b"]"#));
        assert_eq!(parties_of(Some(""), &["é"]).as_deref(), Some("\"\"[\"é\"]"));
        let long = "x".repeat(PARTIES_BYTES_MAX - 2);
        assert_eq!(parties_of(Some(&long), &[]).map(|parties_of| parties_of.len()), Some(PARTIES_BYTES_MAX));
        assert_eq!(parties_of(Some(&format!("{long}x")), &[]), None);
        assert_eq!(parties_in(""), None);
    }

    #[test]
    fn invalid_event_has_no_parties() {
        for nothing in ["", "{", "{}", "x", "\"", "[", "[1]", r#"{"source":1,"actors":2}"#] {
            assert_eq!(Parties::read(nothing), Parties::default(), "{nothing}");
        }
    }

    proptest! {
        #[test]
        fn stored_parties_match_the_event(
            source in proptest::option::of(any::<String>()),
            actors in proptest::collection::vec(any::<String>(), 0..4),
        ) {
            let draft = EventDraft { source: source.clone(), actors: actors.clone(), ..EventDraft::at(Instant::EPOCH, "") };
            let content = event_content(&EventId::new("e1").unwrap(), &draft);
            let stored = parties_text(source.as_deref(), &actors);
            prop_assert_eq!(&stored, &parties_in(&content));
            let parties = Parties { source, actors };
            prop_assert_eq!(&Parties::read(&content), &parties);
            if let Some(stored) = stored {
                prop_assert!(!is_whole_event(&stored));
                prop_assert_eq!(Parties::read(&stored), parties);
            }
        }
    }
}
