use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use timenav_core::limits::{
    EVENT_NAME_BYTES_MAX, FIND_ATTRIBUTE_BYTES_MAX, FIND_ATTRIBUTES_MAX, ID_BYTES_MAX, SOURCE_BYTES_MAX,
};
use timenav_core::words::{WordQuery, each_word};

use self::attribute::attribute_in;
use self::attribute_match::AttributeMatch;
use crate::events::participants::Parties;
use crate::requests::json::json;

mod attribute;
mod attribute_match;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterTexts {
    /// Words or prefixes of words.
    pub text: Option<String>,
    pub actor: Option<String>,
    pub source: Option<String>,
    pub attributes: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    pub field: String,
    pub detail: String,
}

/// A filter for events. All of its conditions must hold.
///
/// `text`: each word is a prefix of a word in the name, the description, the location, the id, an actor, or a text in
/// the attributes, ignoring case and accents ([`WordQuery`]). `actor` and `source` match exactly. An attribute matches
/// a value if it is that text, number or boolean, or a list that contains it; `FROM/TO` also matches the numbers in
/// that range, where `..` is an open end. A key is that of an attribute, or a dotted path into nested ones.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    texts: FilterTexts,
    words: Option<WordQuery>,
    attributes: BTreeMap<String, Vec<AttributeMatch>>,
    /// Substrings that the JSON of every matching event contains, for a fast check before the event is parsed.
    signs: Vec<String>,
}

#[derive(Deserialize)]
struct FilterFields<'a> {
    #[serde(borrow)]
    event_id: Cow<'a, str>,
    #[serde(default, borrow)]
    description: Cow<'a, str>,
    #[serde(default, borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    location: Option<Cow<'a, str>>,
    #[serde(default)]
    actors: Vec<String>,
    #[serde(default, borrow)]
    attributes: Option<&'a RawValue>,
    #[serde(default, borrow)]
    source: Option<Cow<'a, str>>,
}

impl EventFilter {
    /// Parses a filter.
    ///
    /// # Errors
    /// The text contains no word, or a value is too long or has too many parts.
    pub fn new(texts: FilterTexts) -> Result<Self, FilterError> {
        let words = texts.text.as_deref().map(WordQuery::new).transpose();
        let words = words.map_err(|error| FilterError { field: "text".to_owned(), detail: error.to_string() })?;
        check("actor", texts.actor.as_deref(), ID_BYTES_MAX)?;
        check("source", texts.source.as_deref(), SOURCE_BYTES_MAX)?;
        for (key, values) in &texts.attributes {
            let field = format!("attribute/{}", key.replace('~', "~0").replace('/', "~1"));
            check(&field, Some(key), EVENT_NAME_BYTES_MAX)?;
            if values.is_empty() {
                return Err(FilterError { field, detail: "give the value of the attribute".to_owned() });
            }
            for value in values.iter().filter(|value| !value.is_empty()) {
                check(&field, Some(value), FIND_ATTRIBUTE_BYTES_MAX)?;
            }
        }
        let count: usize = texts.attributes.values().map(Vec::len).sum();
        if count > FIND_ATTRIBUTES_MAX {
            let detail = format!("a request can filter by at most {FIND_ATTRIBUTES_MAX} attribute values");
            return Err(FilterError { field: "attribute".to_owned(), detail });
        }
        let read = |values: &Vec<String>| values.iter().map(|value| AttributeMatch::new(value)).collect();
        let attributes = texts.attributes.iter().map(|(key, values)| (key.clone(), read(values))).collect();
        let signs = signs(&texts);
        Ok(Self { texts, words, attributes, signs })
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts == FilterTexts::default()
    }

    pub(crate) fn needs_parties_alone(&self) -> bool {
        self.words.is_none() && self.texts.attributes.is_empty()
    }

    /// Only for filters that need no more than source and actors.
    pub(crate) fn passes_parties(&self, Parties { source, actors }: &Parties) -> bool {
        let FilterTexts { actor, source: from, .. } = &self.texts;
        actor.as_ref().is_none_or(|actor| actors.contains(actor)) && from.as_ref().is_none_or(|_| from == source)
    }

    /// Returns the folded words of `text`; empty without a text.
    #[must_use]
    pub fn words(&self) -> &[String] {
        self.words.as_ref().map_or(&[], WordQuery::words)
    }

    #[must_use]
    pub const fn texts(&self) -> &FilterTexts {
        &self.texts
    }

    /// Returns whether an event passes, given its JSON. Invalid JSON does not.
    #[must_use]
    pub fn passes(&self, content: &str) -> bool {
        if self.is_empty() {
            return true;
        }
        if !self.signs.iter().all(|sign| content.contains(sign.as_str())) {
            return false;
        }
        let Ok(event) = serde_json::from_str::<FilterFields<'_>>(content) else { return false };
        let FilterTexts { actor, source, .. } = &self.texts;
        let has_actor = actor.as_ref().is_none_or(|actor| event.actors.contains(actor));
        let has_source = source.as_ref().is_none_or(|source| event.source.as_ref().is_some_and(|of| of == source));
        if !has_actor || !has_source {
            return false;
        }
        let has = |(key, values): (&String, &Vec<AttributeMatch>)| {
            let value = event.attributes.and_then(|attributes| attribute_in(attributes.get(), key));
            value.is_some_and(|value| values.iter().all(|values| values.is_in(&value)))
        };
        self.attributes.iter().all(has) && self.words.as_ref().is_none_or(|words| contains_words(words, &event))
    }
}

fn check(field: &str, text: Option<&str>, bytes_max: usize) -> Result<(), FilterError> {
    let detail = match text.map(str::len) {
        Some(0) => "it is empty; leave it out".to_owned(),
        Some(length) if length > bytes_max => format!("it can have at most {bytes_max} bytes"),
        Some(_) | None => return Ok(()),
    };
    Err(FilterError { field: field.to_owned(), detail })
}

/// Returns substrings of the JSON of every matching event. Each text has only one JSON form in stored events.
fn signs(texts: &FilterTexts) -> Vec<String> {
    texts.actor.iter().chain(&texts.source).map(json).collect()
}

fn contains_words(words: &WordQuery, event: &FilterFields<'_>) -> bool {
    let mut search = words.search();
    any_searched_text(event, &mut |text| search.look_into(text))
}

/// Calls `visit` with each folded word that a search by `text` compares with. Returns `false` if the JSON is invalid: no
/// search finds such an event.
pub fn each_event_word(content: &str, visit: &mut dyn FnMut(&str)) -> bool {
    let Ok(event) = serde_json::from_str::<FilterFields<'_>>(content) else { return false };
    any_searched_text(&event, &mut |text| {
        each_word(text, visit);
        false
    });
    true
}

/// Returns whether a predicate holds for any text that a search by `text` covers.
fn any_searched_text(event: &FilterFields<'_>, holds: &mut dyn FnMut(&str) -> bool) -> bool {
    let own = [Some(&event.description), event.name.as_ref(), event.location.as_ref(), Some(&event.event_id)];
    own.into_iter().flatten().any(|text| holds(text))
        || event.actors.iter().any(|actor| holds(actor))
        || event
            .attributes
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .is_some_and(|attributes| any_text(&attributes, holds))
}

/// Returns whether a predicate holds for any text in a value, at any depth.
fn any_text(value: &Value, holds: &mut dyn FnMut(&str) -> bool) -> bool {
    match value {
        Value::String(text) => holds(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, holds)),
        Value::Object(members) => members.values().any(|member| any_text(member, holds)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow)]
    actors: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    attributes: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Member<'a> {
    Actors,
    Source,
    /// The attribute of a key, which may be a path into nested ones.
    Attribute(&'a str),
}

/// Returns a field of an event, if it is present. Nothing else is parsed.
pub(crate) fn value_of(content: &str, member: Member<'_>) -> Option<Value> {
    let event: Members<'_> = serde_json::from_str(content).ok()?;
    let (raw, key) = match member {
        Member::Actors => (event.actors, None),
        Member::Source => (event.source, None),
        Member::Attribute(key) => (event.attributes, Some(key)),
    };
    match key {
        None => serde_json::from_str(raw?.get()).ok(),
        Some(key) => attribute_in(raw?.get(), key),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use timenav_core::event::EventDraft;
    use timenav_core::ids::EventId;
    use timenav_core::time::Instant;

    use super::*;
    use crate::events::event_content::event_content;

    fn event() -> EventDraft {
        EventDraft {
            name: Some("Moon landing".to_owned()),
            location: Some("Mare Tranquillitatis".to_owned()),
            actors: vec!["Armstrong".to_owned(), "Aldrin \"Buzz\"".to_owned()],
            attributes: Some(
                r#"{"a.b":"dotted","a":{"b":"hidden","c":[1,"two",{"d":"Déjà vu"}]},"mag":5.60,"ok":true,"none":null}"#
                    .to_owned(),
            ),
            source: Some("NASA".to_owned()),
            ..EventDraft::at(Instant::EPOCH, "The Eagle has landed.")
        }
    }

    fn content(draft: &EventDraft) -> String {
        event_content(&EventId::new("apollo_11").unwrap(), draft)
    }

    fn filter(texts: FilterTexts) -> EventFilter {
        EventFilter::new(texts).unwrap()
    }

    #[test]
    fn words_are_found_in_all_texts_except_the_source() {
        let content = content(&event());
        for (text, expected) in [
            ("eagle", true),
            ("LAND moon", true),
            ("tranq", true),
            ("apollo", true),
            ("11", true),
            ("buzz", true),
            ("deja vu", true),
            ("eagle armstrong two", true),
            ("eagle collins", false),
            ("nasa", false),
            ("description", false),
            ("mag", false),
        ] {
            let texts = FilterTexts { text: Some(text.to_owned()), ..FilterTexts::default() };
            assert_eq!(filter(texts).passes(&content), expected, "{text}");
        }
    }

    #[test]
    fn actors_and_sources_are_compared_exactly() {
        let content = content(&event());
        for (actor, source, expected) in [
            (Some("Armstrong"), None, true),
            (Some("Aldrin \"Buzz\""), Some("NASA"), true),
            (Some("armstrong"), None, false),
            (Some("Arm"), None, false),
            (Some("NASA"), None, false),
            (None, Some("NASA"), true),
            (None, Some("Nasa"), false),
            (Some("Armstrong"), Some("ESA"), false),
        ] {
            let [actor, source] = [actor, source].map(|text| text.map(str::to_owned));
            let texts = FilterTexts { actor: actor.clone(), source: source.clone(), ..FilterTexts::default() };
            assert_eq!(filter(texts).passes(&content), expected, "{actor:?} {source:?}");
        }
    }

    #[test]
    fn attributes_are_found_by_key_and_value() {
        let content = content(&event());
        for (key, value, expected) in [
            ("a.b", "dotted", true),
            ("a.b", "hidden", false),
            ("a.c", "two", true),
            ("a.c", "1", true),
            ("a.c", "1.0", true),
            ("a.c", "3", false),
            ("a.c.d", "Déjà vu", false),
            ("a", "hidden", false),
            ("mag", "5.6", true),
            ("mag", "5.600", true),
            ("mag", "5.7", false),
            ("mag", "5.6/..", true),
            ("mag", "../5.5", false),
            ("a.c", "1/9", true),
            ("missing", "../5.5", false),
            ("ok", "true", true),
            ("ok", "yes", false),
            ("none", "null", true),
            ("missing", "null", false),
        ] {
            let attributes = [(key.to_owned(), vec![value.to_owned()])].into();
            let texts = FilterTexts { attributes, ..FilterTexts::default() };
            assert_eq!(filter(texts).passes(&content), expected, "{key}={value}");
        }
        let both = [("a.c".to_owned(), vec!["1".to_owned(), "two".to_owned()])].into();
        assert!(filter(FilterTexts { attributes: both, ..FilterTexts::default() }).passes(&content));
    }

    #[test]
    fn invalid_event_passes_only_the_empty_filter() {
        let words = filter(FilterTexts { text: Some("a".to_owned()), ..FilterTexts::default() });
        assert!(!words.passes("") && !words.passes("{}") && !words.passes("[1]"));
        assert!(EventFilter::default().passes(""));
    }

    #[test]
    fn invalid_filter_names_its_field() {
        let field = |texts: FilterTexts| EventFilter::new(texts).unwrap_err().field;
        let some = |length: usize| Some("x".repeat(length));
        assert_eq!(field(FilterTexts { text: Some("...".to_owned()), ..FilterTexts::default() }), "text");
        assert_eq!(field(FilterTexts { actor: some(0), ..FilterTexts::default() }), "actor");
        assert_eq!(field(FilterTexts { actor: some(ID_BYTES_MAX + 1), ..FilterTexts::default() }), "actor");
        assert_eq!(field(FilterTexts { source: some(SOURCE_BYTES_MAX + 1), ..FilterTexts::default() }), "source");
        let of = |key: &str, values: &[&str]| {
            let values = values.iter().map(ToString::to_string).collect();
            FilterTexts { attributes: [(key.to_owned(), values)].into(), ..FilterTexts::default() }
        };
        assert_eq!(field(of("a/b", &[])), "attribute/a~1b");
        assert_eq!(field(of("", &["x"])), "attribute/");
        assert_eq!(field(of("k", &[&"x".repeat(FIND_ATTRIBUTE_BYTES_MAX + 1)])), "attribute/k");
        assert_eq!(field(of("k", &["x"; FIND_ATTRIBUTES_MAX + 1])), "attribute");
        assert!(EventFilter::new(of("k", &["x"; FIND_ATTRIBUTES_MAX])).is_ok());
        assert!(EventFilter::new(of("k", &[""])).is_ok());
    }

    /// A filter over few words, so that many events pass.
    fn texts() -> impl Strategy<Value = FilterTexts> {
        let one = || proptest::option::weighted(0.4, "[ab]{1,2}");
        let attributes = proptest::collection::btree_map("[kl]", proptest::collection::vec("[ab1]", 1..3), 0..2);
        (one(), one(), one(), attributes).prop_map(|(text, actor, source, attributes)| FilterTexts {
            text,
            actor,
            source,
            attributes,
        })
    }

    fn drafts() -> impl Strategy<Value = EventDraft> {
        let word = || "[ab]{1,2}";
        let members = proptest::collection::btree_map("[kl]", proptest::collection::vec("[ab]", 1..3), 0..3);
        (
            word(),
            proptest::option::of(word()),
            proptest::collection::vec(word(), 0..3),
            proptest::option::of(word()),
            members,
        )
            .prop_map(|(description, name, actors, source, members)| {
                let attributes = Some(serde_json::to_string(&members).unwrap());
                EventDraft { name, actors, source, attributes, ..EventDraft::at(Instant::EPOCH, &description) }
            })
    }

    proptest! {
        #[test]
        fn event_filter_matches_a_simple_model(texts in texts(), draft in drafts()) {
            let members: BTreeMap<String, Vec<String>> = serde_json::from_str(draft.attributes.as_deref().unwrap()).unwrap();
            let searched = std::iter::once(&draft.description).chain(&draft.name).chain(&draft.actors).chain(members.values().flatten());
            let has_word = |word: &String| searched.clone().any(|text| text.starts_with(word.as_str()));
            let expected = texts.text.as_ref().is_none_or(has_word)
                && texts.actor.as_ref().is_none_or(|actor| draft.actors.contains(actor))
                && texts.source.as_ref().is_none_or(|source| draft.source.as_ref() == Some(source))
                && texts.attributes.iter().all(|(key, accepted)| {
                    accepted.iter().all(|accepted| members.get(key).is_some_and(|values| values.contains(accepted)))
                });
            let content = event_content(&EventId::new("id").unwrap(), &draft);
            let filter = filter(texts);
            prop_assert_eq!(filter.passes(&content), expected, "{}", content);
            if filter.needs_parties_alone() {
                prop_assert_eq!(filter.passes_parties(&Parties::read(&content)), expected, "{}", content);
            }
        }
    }
}
