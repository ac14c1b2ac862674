//! The event filter: the same parameters for finding, exporting, watching and counting events.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::schema::ToSchema;
use serde::de::{Deserialize, Deserializer, Error as _};
use timenav_core::text::counted;
use timenav_engine::{EventFilter, FilterTexts};
#[cfg(feature = "schema")]
use utoipa::openapi::schema::{AdditionalProperties, ArrayBuilder, ObjectBuilder, SchemaType, Type};
#[cfg(feature = "schema")]
use utoipa::openapi::{RefOr, Schema};

use crate::response::problem::Failure;

#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes(BTreeMap<String, Vec<String>>);

/// A string, number or boolean. A query string represents each of them as text.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum One {
    Text(String),
    Number(serde_json::Number),
    Truth(bool),
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(One),
    Many(Vec<One>),
}

/// An object. In a query string it is JSON text.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Given {
    Text(String),
    Object(BTreeMap<String, OneOrMany>),
}

impl One {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
            Self::Truth(truth) => truth.to_string(),
        }
    }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected =
            "an object of keys and values is expected, such as {\"net\": \"us\"}, or `attribute.net=us` in the query";
        let given = match Given::deserialize(deserializer) {
            Ok(Given::Object(given)) => given,
            Ok(Given::Text(text)) => serde_json::from_str(&text).map_err(|_| D::Error::custom(expected))?,
            Err(_) => return Err(D::Error::custom(expected)),
        };
        let texts = given.into_iter().map(|(key, values)| match values {
            OneOrMany::One(value) => (key, vec![value.text()]),
            OneOrMany::Many(values) => (key, values.into_iter().map(One::text).collect()),
        });
        Ok(Self(texts.collect()))
    }
}

#[cfg(feature = "schema")]
pub(crate) fn attributes_schema() -> Schema {
    let text = ObjectBuilder::new().schema_type(Type::String);
    let one_or_many = ArrayBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Array])).items(text);
    let of_each = AdditionalProperties::RefOr(RefOr::T(Schema::from(one_or_many)));
    let attributes = ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Object, Type::Null]))
        .additional_properties(Some(of_each))
        .examples([serde_json::json!({ "category": "5" })]);
    let description = "Only events with these attribute values, by key: in a query string `attribute.KEY=VALUE`, \
        repeatable. A value is a text, a number, a boolean, or a list of them. `FROM/TO` is a range of numbers, with \
        `..` for an open end. Dots select members of objects.";
    attributes.description(Some(description)).build().into()
}

/// The order of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EventOrder {
    /// The earliest.
    #[default]
    Oldest,
    /// The latest.
    Newest,
}

impl EventOrder {
    pub(crate) fn is_newest_first(order: Option<Self>) -> bool {
        order == Some(Self::Newest)
    }
}

pub(crate) fn filter(
    text: Option<String>,
    (actor, source): (Option<String>, Option<String>),
    attributes: Option<Attributes>,
) -> Result<Arc<EventFilter>, Failure> {
    let attributes = attributes.unwrap_or_default().0;
    let filter = EventFilter::new(FilterTexts { text, actor, source, attributes });
    filter.map(Arc::new).map_err(|error| Failure::invalid(&error.field, error.detail))
}

/// Returns the status sentence with the number of events on a page. A page may end early at the search limit.
pub(crate) fn status(count: usize, is_cut: bool) -> String {
    let found = match count {
        0 => "No events".to_owned(),
        count => counted(count, "event"),
    };
    if is_cut { format!("{found} so far: continue the search with `next_cursor`.") } else { format!("{found}.") }
}
