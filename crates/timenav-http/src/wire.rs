//! Deserializers of wire values: parsed texts, and numbers that may be texts.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use timenav_core::access::{RestrictionLevel, Scope};
use timenav_core::as_of::{AsOf, parse_as_of};
use timenav_core::ids::{
    AdvanceId, AnchorId, DataId, EventId, FiringId, FollowerId, FollowerName, KeyId, LeaseId, QueueId, TimelineId,
    TimerId, UserId,
};
use timenav_core::limits::{PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX};
use timenav_core::place::{LocationQuery, parse_location};
use timenav_core::scan::Depth;
use timenav_core::time::{
    Duration, DurationError, Instant, RangeError, Span, TimeRange, TimestampError, Zone, parse_duration,
    parse_time_range, parse_zoned,
};

use timenav_engine::{ImportId, NoImportId, Topic};

use crate::response::problem::{Failure, FaultKind};

/// Separates the kind of a fault from its detail in a deserializer error, which can only carry text.
pub(crate) const KIND_MARK: char = '\u{1f}';

/// Marks times outside the supported range, as opposed to invalid values.
pub(crate) const OUT_OF_RANGE: &str = "time_out_of_range";

pub(crate) struct Wrong {
    kind: FaultKind,
    detail: String,
}

impl Wrong {
    fn invalid(error: &dyn fmt::Display) -> Self {
        Self { kind: FaultKind::Invalid, detail: error.to_string() }
    }

    fn out_of_range(error: &dyn fmt::Display) -> Self {
        Self { kind: FaultKind::OutOfRange, detail: error.to_string() }
    }
}

pub(crate) trait FromText: Sized {
    /// A description of the text for error messages.
    const WHAT: &'static str;

    fn from_text(text: &str) -> Result<Self, Wrong>;
}

#[derive(Clone, Debug)]
pub(crate) struct Text<T>(pub(crate) T);

impl<'de, T: FromText> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<T: FromText> Visitor<'_> for Reader<T> {
            type Value = Text<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", T::WHAT)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                T::from_text(text).map(Text).map_err(|wrong| match wrong.kind {
                    FaultKind::OutOfRange => E::custom(format!("{OUT_OF_RANGE}{KIND_MARK}{}", wrong.detail)),
                    FaultKind::Missing | FaultKind::Invalid | FaultKind::Unknown | FaultKind::Conflicting => {
                        E::custom(wrong.detail)
                    }
                })
            }
        }
        deserializer.deserialize_str(Reader(PhantomData))
    }
}

impl<S> FromText for Instant<S> {
    const WHAT: &'static str = "a timestamp such as \"2005-08-29T11:10:00Z\"";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        <(Self, Option<Zone>)>::from_text(text).map(|(instant, _)| instant)
    }
}

/// A timestamp, with the named zone in its brackets.
impl<S> FromText for (Instant<S>, Option<Zone>) {
    const WHAT: &'static str = Instant::<S>::WHAT;

    fn from_text(text: &str) -> Result<Self, Wrong> {
        parse_zoned(text).map_err(|error| match error {
            TimestampError::OutOfRange => Wrong::out_of_range(&error),
            other => Wrong::invalid(&other),
        })
    }
}

impl FromText for Duration {
    const WHAT: &'static str = "a duration such as \"90m\", \"1.5h\" or \"P1M\"";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        parse_duration(text).map_err(|error| match error {
            DurationError::OutOfRange => Wrong::out_of_range(&error),
            other => Wrong::invalid(&other),
        })
    }
}

impl<S> FromText for TimeRange<S> {
    const WHAT: &'static str = "a time range such as \"2005-08-28T00:00:00Z/2005-08-29T06:00:00Z\"";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        parse_time_range(text).map_err(|error| match error {
            RangeError::OutOfRange { .. }
            | RangeError::Timestamp { error: TimestampError::OutOfRange, .. }
            | RangeError::Duration { error: DurationError::OutOfRange, .. } => Wrong::out_of_range(&error),
            other => Wrong::invalid(&other),
        })
    }
}

/// A location with its original text.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) text: String,
    pub(crate) query: LocationQuery,
}

impl FromText for Location {
    const WHAT: &'static str = "a location such as \"*\", \"29.95,-90.07\" or \"New Orleans\"";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        let query = parse_location(text).map_err(|error| Wrong::invalid(&error))?;
        Ok(Self { text: text.to_owned(), query })
    }
}

/// A moment in the history of a ledger, with its original text.
#[derive(Clone, Debug)]
pub(crate) struct MomentText {
    pub(crate) text: String,
    pub(crate) as_of: AsOf,
}

impl FromText for MomentText {
    const WHAT: &'static str = "a position in the ledger, the id of an anchor, or a host time";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        let as_of = parse_as_of(text).map_err(|error| Wrong::invalid(&error))?;
        Ok(Self { text: text.to_owned(), as_of })
    }
}

impl FromText for ImportId {
    const WHAT: &'static str = "the `import_id` from the response to an import, such as \"17-420-403\"";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        text.parse().map_err(|error: NoImportId| Wrong::invalid(&error))
    }
}

/// A span of host time; may be zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostTime(Span);

impl FromText for HostTime {
    const WHAT: &'static str = "a duration of host time such as \"30s\"";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        if ["0", "0s", "PT0S"].contains(&text.trim()) {
            return Ok(Self(Span::ZERO));
        }
        let duration = Duration::from_text(text)?;
        if duration.months() > 0 {
            return Err(Wrong::invalid(&"months and years differ in length; write seconds, such as `30s`"));
        }
        Ok(Self(duration.exact()))
    }
}

/// `min` and `max` are in seconds.
pub(crate) fn host_time(field: &str, HostTime(span): HostTime, (min, max): (i64, i64)) -> Result<Span, Failure> {
    let span = Some(span).filter(|span| (min * 1_000_000..=max * 1_000_000).contains(&span.micros()));
    span.ok_or_else(|| Failure::invalid(field, format!("give {min} to {max} seconds of host time, such as \"30s\"")))
}

/// Several words: a list, or comma-separated text.
#[derive(Clone, Debug)]
pub(crate) struct Words(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            List(Vec<String>),
        }
        let words = match Either::deserialize(deserializer) {
            Ok(Either::Text(text)) => text.split(',').map(|word| word.trim().to_owned()).collect(),
            Ok(Either::List(words)) => words,
            Err(_) => {
                return Err(de::Error::custom("expected a list of strings, or one string separated by commas"));
            }
        };
        Ok(Self(words))
    }
}

#[cfg(feature = "schema")]
pub(crate) fn words_schema(kind: &str, description: &str) -> utoipa::openapi::Schema {
    use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaFormat, SchemaType, Type};
    let word = ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::Custom(kind.to_owned())));
    let types = SchemaType::from_iter([Type::Array, Type::String, Type::Null]);
    ArrayBuilder::new().schema_type(types).items(word).description(Some(description)).build().into()
}

#[cfg(feature = "schema")]
pub(crate) fn moment_schema() -> utoipa::openapi::Schema {
    use utoipa::openapi::schema::{ObjectBuilder, SchemaFormat, SchemaType, Type};
    let types = SchemaType::from_iter([Type::String, Type::Integer, Type::Null]);
    let moment = ObjectBuilder::new().schema_type(types).format(Some(SchemaFormat::Custom("moment".to_owned())));
    let moment = moment.minimum(Some(0)).maximum(Some(i64::MAX)).examples([serde_json::json!(1234)]);
    let description = "A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.";
    moment.description(Some(description)).build().into()
}

/// Reads a moment in the history of a ledger. A position may be a number.
pub(crate) fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<MomentText>, D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Either {
        Position(u64),
        // A whole number may be written as `2.0`.
        Decimal(f64),
        Text(String),
    }
    let text = match Option::<Either>::deserialize(deserializer) {
        Ok(None) => return Ok(None),
        Ok(Some(Either::Position(position))) => position.to_string(),
        Ok(Some(Either::Decimal(decimal))) => written(decimal),
        Ok(Some(Either::Text(text))) => text,
        Err(_) => return Err(de::Error::custom(format!("expected {}", MomentText::WHAT))),
    };
    MomentText::from_text(&text).map(Some).map_err(|wrong| de::Error::custom(wrong.detail))
}

impl FromText for Scope {
    const WHAT: &'static str = "a scope";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        let found = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.iter().map(|scope| scope.as_str()).collect();
            Wrong::invalid(&format!("unknown scope `{text}`; use {}", all.join(", ")))
        })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ActionName(pub(crate) String);

/// Maximum length of an action name, in bytes. The longest existing one has under 30.
const ACTION_BYTES_MAX: usize = 64;

impl FromText for ActionName {
    const WHAT: &'static str = "the name of an action";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        let named = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if named && (1..=ACTION_BYTES_MAX).contains(&text.len()) {
            return Ok(Self(text.to_owned()));
        }
        Err(Wrong::invalid(&"an action is a word such as `read`, `travel` or `unauthorized_access_attempt`"))
    }
}

impl FromText for RestrictionLevel {
    const WHAT: &'static str = "a restriction level";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        let found = Self::ALL.into_iter().find(|level| level.as_str() == text);
        found.ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.iter().map(|level| level.as_str()).collect();
            Wrong::invalid(&format!("unknown restriction level `{text}`; use {}", all.join(", ")))
        })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Topics(pub(crate) Vec<Topic>);

impl FromText for Topics {
    const WHAT: &'static str = "topics such as \"clock,events\"";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        let names: Vec<&str> = text.split(',').collect();
        if names.len() > Topic::ALL.len() {
            return Err(Wrong::invalid(&format!("there are only {} topics", Topic::ALL.len())));
        }
        let topic = |name: &&str| {
            let all = Topic::ALL.map(Topic::as_str).join(", ");
            let found = Topic::ALL.into_iter().find(|topic| topic.as_str() == *name);
            found.ok_or_else(|| Wrong::invalid(&format!("unknown topic `{name}`; use {all}")))
        };
        names.iter().map(topic).collect::<Result<_, _>>().map(Self)
    }
}

impl FromText for Depth {
    const WHAT: &'static str = "a depth such as \"full\", \"quick\", \"tail:1000\" or \"sample:1000\"";

    fn from_text(text: &str) -> Result<Self, Wrong> {
        text.parse().map_err(|error| Wrong::invalid(&error))
    }
}

macro_rules! ids {
    ($($name:ident: $what:literal),*) => {$(
        impl FromText for $name {
            const WHAT: &'static str = $what;

            fn from_text(text: &str) -> Result<Self, Wrong> {
                Self::new(text).map_err(|error| Wrong::invalid(&error))
            }
        }
    )*};
}
ids!(AdvanceId: "an advance's id", TimelineId: "a timeline's id", UserId: "a user's id", AnchorId: "an anchor's id", KeyId: "a key's id",
    DataId: "a record's id", EventId: "an event's id", TimerId: "a timer's id", FiringId: "a firing's id", LeaseId: "a lease's id",
    QueueId: "the name of a queue", FollowerId: "a follower's id", FollowerName: "the name of a follower");

/// Reads a struct from an object only. A derived implementation also accepts an array of its fields.
pub(crate) fn object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Reader<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(de::value::MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_map(Reader(PhantomData))
}

/// Reads any JSON value, including null, which is not treated as absent.
pub(crate) fn also_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<serde_json::Value>, D::Error> {
    serde_json::Value::deserialize(deserializer).map(Some)
}

/// Reads a number, which is text in a query string.
pub(crate) fn number<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + std::str::FromStr,
{
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Either<T> {
        Number(T),
        // In JSON `2.0` is the integer `2` (JSON Schema, Core §4.2.2).
        Decimal(f64),
        Text(String),
    }
    match Option::<Either<T>>::deserialize(deserializer) {
        Ok(None) => Ok(None),
        Ok(Some(Either::Number(number))) => Ok(Some(number)),
        Ok(Some(Either::Decimal(decimal))) => {
            written(decimal).parse().map(Some).map_err(|_| de::Error::custom("expected a number within its limits"))
        }
        Ok(Some(Either::Text(text))) => {
            text.parse().map(Some).map_err(|_| de::Error::custom(format!("expected a number, not `{text}`")))
        }
        Err(_) => Err(de::Error::custom("expected a number within its limits")),
    }
}

/// Formats a number as text: integers have no fraction and zero has no sign.
fn written(decimal: f64) -> String {
    (decimal + 0.0).to_string()
}

/// Reads a boolean, which is text in a query string.
pub(crate) fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Either {
        Truth(bool),
        Text(String),
    }
    match Option::<Either>::deserialize(deserializer) {
        Ok(None) => Ok(None),
        Ok(Some(Either::Truth(truth))) => Ok(Some(truth)),
        Ok(Some(Either::Text(text))) if text == "true" => Ok(Some(true)),
        Ok(Some(Either::Text(text))) if text == "false" => Ok(Some(false)),
        Ok(Some(Either::Text(_))) | Err(_) => Err(de::Error::custom("expected `true` or `false`")),
    }
}

pub(crate) fn page_items<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    match number::<D, u64>(deserializer)? {
        None => Ok(None),
        Some(items) => match usize::try_from(items) {
            Ok(items) if (1..=PAGE_ITEMS_MAX).contains(&items) => Ok(Some(items)),
            Ok(_) | Err(_) => Err(de::Error::custom(format!("a page can have 1 to {PAGE_ITEMS_MAX} items"))),
        },
    }
}

pub(crate) fn items_max(requested: Option<usize>) -> usize {
    requested.unwrap_or(PAGE_ITEMS_DEFAULT)
}

#[cfg(test)]
mod tests {
    use timenav_engine::Action;

    use super::*;

    #[test]
    fn every_action_word_is_a_valid_action_name() {
        for action in Action::ALL {
            assert_eq!(ActionName::from_text(action.word()).map(|name| name.0).ok().as_deref(), Some(action.word()));
        }
    }
}
