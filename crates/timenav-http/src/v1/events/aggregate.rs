use crate::schema::ToSchema;
use axum::Json;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use timenav_core::ids::TimelineId;
use timenav_core::limits::{
    AGGREGATE_EVENTS_MAX, AGGREGATE_EVENTS_READ_MAX, AGGREGATE_EVENTS_SEARCHED_MAX, AGGREGATE_GROUPS_MAX,
    AGGREGATE_VALUES_MAX, FIND_ATTRIBUTE_BYTES_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX,
};
use timenav_core::place::LocationQuery;
use timenav_core::text::counted;
use timenav_core::time::{Bucket, TimeRange, Virtual, parse_duration};
use timenav_engine::{AggregateEvents, AggregatedEvents, EventGroup, GroupBy, GroupKey};

use crate::request::call::Read;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::events::filter::{self, Attributes};
use crate::v1::events::resolved::ResolvedBody;
use crate::v1::parameters::timeline;
use crate::wire::{self, Location, MomentText, Text};

/// Default number of time intervals.
const STRETCHES: usize = 24;
/// Default cell size, in degrees.
const RESOLUTION_DEFAULT: f64 = 10.0;
/// Allowed cell sizes, in degrees.
const RESOLUTION: std::ops::RangeInclusive<f64> = 0.001..=90.0;

pub(crate) fn routes() -> Vec<Route> {
    let summary = "Counts events by time, cell, actor, source or attribute";
    vec![
        Route::lookup("/aggregate-events", "aggregate_events", summary, aggregate_events)
            .takes::<AggregateRequest>()
            .gives::<AggregatedBody>()
            .tag("events"),
    ]
}

/// Events to count, and their grouping.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AggregateRequest {
    /// The key of a group: `time`, `cell`, `actor`, `source` or `attribute.KEY`; or two, such as
    /// `time,attribute.category`.
    #[schema(
        pattern = "^(time|cell|actor|source|attribute[.].{1,256})(,(time|cell|actor|source|attribute[.].{1,256}))?$",
        example = "time"
    )]
    group_by: String,
    /// For `time`: the length of a group, such as `P1D`, in UTC; or the number of equal groups, from 1 to 1000, between
    /// the first event and the last. Defaults to 24 groups. With two keys, give a length.
    #[schema(schema_with = bucket_schema, required = false)]
    #[serde(default, deserialize_with = "bucket")]
    bucket: Option<Stretch>,
    /// For `cell`: the height and width of a cell, in degrees. Defaults to 10.
    #[schema(minimum = 0.001, maximum = 90.0)]
    #[serde(default, deserialize_with = "wire::number")]
    resolution: Option<f64>,
    /// The place, as in `monitor-events`. Defaults to anywhere.
    #[schema(value_type = Option<String>, format = "location", example = "bbox:-98,18,-81,31")]
    location: Option<Text<Location>>,
    /// `<start>/<end>`, as in `monitor-events`. Defaults to all time.
    #[schema(value_type = Option<String>, format = "time-range", example = "2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")]
    time_range: Option<Text<TimeRange<Virtual>>>,
    /// Only events with these words or word prefixes, ignoring case and accents: in name, description, location, id,
    /// actors or attributes.
    #[schema(format = "words", example = "hurricane")]
    text: Option<String>,
    /// Only events with exactly this actor.
    #[schema(format = "actor", example = "Katrina")]
    actor: Option<String>,
    /// Only events with exactly this source.
    #[schema(min_length = 1, max_length = 512, example = "https://www.nhc.noaa.gov")]
    source: Option<String>,
    /// Only events with these attribute values.
    #[schema(schema_with = crate::v1::events::filter::attributes_schema, required = false)]
    #[serde(default)]
    attribute: Option<Attributes>,
    /// Only these values of the last key: `actor`, `source` or an attribute. Give a list, in a query string as JSON such
    /// as `["4","5"]`, or one value.
    #[schema(schema_with = values_schema, required = false)]
    #[serde(default)]
    values: Option<Values>,
    /// The maximum number of groups: the first ones for `time`, otherwise the largest ones. Defaults to 100.
    #[schema(minimum = 1, maximum = 10_000)]
    #[serde(default, deserialize_with = "groups_max")]
    limit: Option<usize>,
    /// A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
    #[schema(schema_with = wire::moment_schema, required = false)]
    #[serde(default, deserialize_with = "wire::moment")]
    as_of: Option<MomentText>,
    /// The `next_cursor` of an earlier response for the same parameters. Counts the events after those already counted,
    /// in the same state of the ledger. Add up the counts.
    #[schema(format = "cursor")]
    cursor: Option<String>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// How time is divided: into a number of intervals, or into intervals of a given length.
#[derive(Clone, Copy, Debug)]
enum Stretch {
    Count(usize),
    Length(Bucket),
}

#[cfg(feature = "schema")]
fn bucket_schema() -> utoipa::openapi::Schema {
    use utoipa::openapi::schema::{ObjectBuilder, SchemaFormat, SchemaType, Type};
    let types = SchemaType::from_iter([Type::String, Type::Integer, Type::Null]);
    let kind = SchemaFormat::Custom("duration".to_owned());
    let bucket = ObjectBuilder::new().schema_type(types).format(Some(kind)).minimum(Some(1)).maximum(Some(1_000));
    let description = "For `time`: the length of a group in UTC, such as `P1D`; or the number of equal groups, from 1 \
        to 1000. Defaults to 24 groups.";
    bucket.examples([serde_json::json!("PT6H")]).description(Some(description)).build().into()
}

/// Reads a duration or a count, which is text in a query string.
fn bucket<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Stretch>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Count(u64),
        // A whole number may be written as `2.0`.
        Decimal(f64),
        Text(String),
    }
    let text = match Option::<Either>::deserialize(deserializer) {
        Ok(None) => return Ok(None),
        Ok(Some(Either::Count(count))) => count.to_string(),
        Ok(Some(Either::Decimal(decimal))) => decimal.to_string(),
        Ok(Some(Either::Text(text))) => text,
        Err(_) => return Err(D::Error::custom("expected a duration such as `P1D`, or a number of groups")),
    };
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let count = text.parse().ok().filter(|count| (1..=PAGE_ITEMS_MAX).contains(count));
        return count
            .map(|count| Some(Stretch::Count(count)))
            .ok_or_else(|| D::Error::custom(format!("the number of groups must be from 1 to {PAGE_ITEMS_MAX}")));
    }
    let duration = parse_duration(&text).map_err(D::Error::custom)?;
    let mixed = "months and years cannot be combined with shorter units: write `P1M`, or only days and hours";
    Bucket::new(duration).map(|bucket| Some(Stretch::Length(bucket))).ok_or_else(|| D::Error::custom(mixed))
}

fn groups_max<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let Some(groups) = wire::number::<D, u64>(deserializer)? else { return Ok(None) };
    let groups = usize::try_from(groups).ok().filter(|groups| (1..=AGGREGATE_GROUPS_MAX).contains(groups));
    let detail = format!("a response can have 1 to {AGGREGATE_GROUPS_MAX} groups");
    groups.map(Some).ok_or_else(|| D::Error::custom(detail))
}

/// A list, JSON text of a list, or one value.
#[derive(Debug)]
struct Values(Vec<String>);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            List(Vec<String>),
        }
        let expected = "expected a list of strings, such as [\"4\", \"5\"]";
        match Either::deserialize(deserializer) {
            Ok(Either::Text(text)) if text.starts_with('[') => serde_json::from_str(&text).map(Self),
            Ok(Either::Text(text)) => return Ok(Self(vec![text])),
            Ok(Either::List(values)) => return Ok(Self(values)),
            Err(_) => return Err(D::Error::custom(expected)),
        }
        .map_err(|_| D::Error::custom(expected))
    }
}

#[cfg(feature = "schema")]
fn values_schema() -> utoipa::openapi::Schema {
    use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
    let description = "Only these values of the last key: `actor`, `source` or an attribute. Give a list, in a query \
        string as JSON such as `[\"4\",\"5\"]`, or one value.";
    let types = SchemaType::from_iter([Type::Array, Type::String, Type::Null]);
    let value = ObjectBuilder::new().schema_type(Type::String).max_length(Some(FIND_ATTRIBUTE_BYTES_MAX));
    let values = ArrayBuilder::new().schema_type(types).items(value);
    let values = values.min_items(Some(1)).max_items(Some(AGGREGATE_VALUES_MAX));
    values.examples([serde_json::json!("5")]).description(Some(description)).build().into()
}

/// Counts of events.
#[derive(Serialize, ToSchema)]
pub(crate) struct AggregatedBody {
    /// A sentence that sums up the counts.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The grouping.
    group_by: String,
    /// The groups that have events: in order of time for `time`, otherwise, and at the same time, the largest first.
    groups: Vec<GroupBody>,
    /// The number of groups with events. If it exceeds the length of `groups`, the others are omitted.
    groups_count: usize,
    /// Whether some groups were not counted because there are too many.
    groups_truncated: bool,
    /// The number of counted events: up to 1,000,000; up to 400,000 if the query has to read each event, or 100,000 if
    /// it has to search words in each.
    count: usize,
    /// The number of events in no group: without a value to group by, or with none of `values`.
    ungrouped_count: usize,
    /// The time of the last counted event, if there may be more. More events can have the same time, so continue with
    /// `next_cursor`, not from this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_until: Option<String>,
    /// The cursor for the remaining events, if there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there may be more events to count, with `next_cursor`.
    has_more: bool,
    /// How the location was resolved.
    location_resolved: ResolvedBody,
    /// The last ledger position that the counts include, the same on all pages.
    as_of: Option<u64>,
}

/// Events with a common value.
#[derive(Serialize, ToSchema)]
pub(crate) struct GroupBody {
    /// The value: the start time, the box `west,south,east,north`, the actor, the source or the attribute's value.
    key: String,
    /// With two keys: the value of the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    second_key: Option<String>,
    /// For `time`: the end of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
    /// The number of events.
    count: usize,
    /// The time of the first event.
    first: String,
    /// The time of the last event.
    last: String,
}

async fn aggregate_events(
    Read { app, caller, request }: Read<AggregateRequest>,
) -> Result<Json<AggregatedBody>, Failure> {
    let (by, second) = grouping(&request.group_by, request.bucket, request.resolution)?;
    let values = request.values.map(|values| checked(values, second.as_ref().unwrap_or(&by))).transpose()?;
    let searches = request.text.is_some();
    let filter = filter::filter(request.text, (request.actor, request.source), request.attribute)?;
    let (location_text, location) = match request.location {
        None => ("*".to_owned(), LocationQuery::Anywhere),
        Some(Text(Location { text, query })) => (text, query),
    };
    let engine_request = AggregateEvents {
        timeline: timeline(request.timeline_id),
        location_text,
        location,
        range: request.time_range.map_or_else(TimeRange::everything, |range| range.0),
        as_of: request.as_of.map(|moment| (moment.text, moment.as_of)),
        filter,
        by_text: request.group_by.clone(),
        by,
        second,
        values,
        groups_max: request.limit.unwrap_or(PAGE_ITEMS_DEFAULT),
        events_max: AGGREGATE_EVENTS_MAX,
        events_read_max: if searches { AGGREGATE_EVENTS_SEARCHED_MAX } else { AGGREGATE_EVENTS_READ_MAX },
        cursor: request.cursor,
    };
    let counted = app.engine.aggregate_events(&caller, engine_request).await?;
    Ok(Json(AggregatedBody::of(counted, request.group_by)))
}

/// Parses one or two keys. Options of other keys are rejected, because the caller expects them to have an effect.
fn grouping(
    text: &str,
    bucket: Option<Stretch>,
    resolution: Option<f64>,
) -> Result<(GroupBy, Option<GroupBy>), Failure> {
    let detail =
        "group by `time`, `cell`, `actor`, `source` or `attribute.KEY`, or by two of them, such as `time,actor`";
    let (first, second) = keys(text).ok_or_else(|| Failure::invalid("group_by", detail))?;
    if second == Some(first) {
        return Err(Failure::invalid("group_by", "the two keys must differ"));
    }
    let has = |key: &str| first == key || second == Some(key);
    for (field, key, is_given) in [("bucket", "time", bucket.is_some()), ("resolution", "cell", resolution.is_some())] {
        if is_given && !has(key) {
            let detail = format!("it applies to `group_by={key}`, not to `group_by={text}`");
            return Err(Failure::invalid(field, detail));
        }
    }
    let is_length = matches!(bucket, Some(Stretch::Length(_)));
    if second.is_some() && has("time") && !is_length {
        return Err(Failure::invalid("bucket", "with two keys, it must be a length, such as `P1D`"));
    }
    let group_by = |key| group_by(key, bucket, resolution);
    Ok((group_by(first)?, second.map(group_by).transpose()?))
}

/// Splits one or two keys. The name of an attribute can contain commas.
fn keys(text: &str) -> Option<(&str, Option<&str>)> {
    let pairs = text.match_indices(',').map(|(comma, _)| (&text[..comma], &text[comma + 1..]));
    let is_pair = |(first, second): &(&str, &str)| is_key(first) && is_key(second);
    let pair = pairs.into_iter().find(is_pair).map(|(first, second)| (first, Some(second)));
    pair.or_else(|| is_key(text).then_some((text, None)))
}

fn is_key(text: &str) -> bool {
    let name = text.strip_prefix(ATTRIBUTE).map(str::len);
    matches!(text, "time" | "cell" | "actor" | "source")
        || name.is_some_and(|bytes| (1..=KEY_BYTES_MAX).contains(&bytes))
}

fn group_by(key: &str, bucket: Option<Stretch>, resolution: Option<f64>) -> Result<GroupBy, Failure> {
    Ok(match key {
        "time" => match bucket.unwrap_or(Stretch::Count(STRETCHES)) {
            Stretch::Count(count) => GroupBy::Stretches(count),
            Stretch::Length(bucket) => GroupBy::Time(bucket),
        },
        "cell" => GroupBy::Cell(millionths(resolution.unwrap_or(RESOLUTION_DEFAULT))?),
        "actor" => GroupBy::Actor,
        "source" => GroupBy::Source,
        attribute => GroupBy::Attribute(attribute.strip_prefix(ATTRIBUTE).unwrap_or(attribute).to_owned()),
    })
}

fn checked(Values(values): Values, last: &GroupBy) -> Result<Vec<String>, Failure> {
    let detail = match last {
        GroupBy::Time(_) | GroupBy::Stretches(_) | GroupBy::Cell(_) => {
            "the last key of `group_by` must be `actor`, `source` or `attribute.KEY`".to_owned()
        }
        GroupBy::Actor | GroupBy::Source | GroupBy::Attribute(_) => {
            let has_long = values.iter().any(|value| value.len() > FIND_ATTRIBUTE_BYTES_MAX);
            match values.len() {
                0 => "give at least one value, or leave it out".to_owned(),
                1..=AGGREGATE_VALUES_MAX if !has_long => return Ok(values),
                1..=AGGREGATE_VALUES_MAX => format!("a value can have at most {FIND_ATTRIBUTE_BYTES_MAX} bytes"),
                _ => format!("a request can have at most {AGGREGATE_VALUES_MAX} values"),
            }
        }
    };
    Err(Failure::invalid("values", detail))
}

const ATTRIBUTE: &str = "attribute.";
const KEY_BYTES_MAX: usize = timenav_core::limits::EVENT_NAME_BYTES_MAX;

#[expect(clippy::cast_possible_truncation, reason = "the range has only small numbers")]
fn millionths(degrees: f64) -> Result<i64, Failure> {
    if RESOLUTION.contains(&degrees) {
        return Ok((degrees * 1e6).round() as i64);
    }
    let detail = format!("a cell must have {} to {} degrees", RESOLUTION.start(), RESOLUTION.end());
    Err(Failure::invalid("resolution", detail))
}

impl AggregatedBody {
    fn of(aggregated: AggregatedEvents, group_by: String) -> Self {
        let so_far = if aggregated.counted_until.is_some() { " so far" } else { "" };
        let (events, groups) = (counted(aggregated.count, "event"), counted(aggregated.groups_count, "group"));
        Self {
            status: format!("{events} in {groups}{so_far}."),
            timeline_id: aggregated.timeline_id.to_string(),
            group_by,
            groups: aggregated.groups.into_iter().map(GroupBody::of).collect(),
            groups_count: aggregated.groups_count,
            groups_truncated: aggregated.groups_truncated,
            count: aggregated.count,
            ungrouped_count: aggregated.ungrouped_count,
            counted_until: aggregated.counted_until.map(|time| time.to_string()),
            has_more: aggregated.next_cursor.is_some(),
            next_cursor: aggregated.next_cursor,
            location_resolved: ResolvedBody::of_understood(&aggregated.understood, aggregated.suggestions),
            as_of: aggregated.as_of,
        }
    }
}

impl GroupBody {
    fn of(group: EventGroup) -> Self {
        let (key, end) = key_and_end(group.key);
        let (second_key, second_end) = group.second_key.map(key_and_end).unzip();
        let end = end.or_else(|| second_end.flatten());
        let (first, last) = (group.first.to_string(), group.last.to_string());
        Self { key, second_key, end, count: group.count, first, last }
    }
}

fn key_and_end(key: GroupKey) -> (String, Option<String>) {
    match key {
        GroupKey::Time(begin, end) => (begin.to_string(), end.map(|end| end.to_string())),
        GroupKey::Cell(bbox) => (bbox.map(|degrees| degrees.to_string()).join(","), None),
        GroupKey::Text(text) => (text, None),
    }
}
