pub(crate) mod export;
pub(crate) mod filter;
pub(crate) mod import;
pub(crate) mod import_git;
pub(crate) mod mapping;
pub(crate) mod paradoxes;
pub(crate) mod stream;
mod check;
mod count;
mod erase;
mod history;
mod scan;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};
use timenav_import::{lost_integer, lost_integer_detail};

use self::filter::FilterOptions;
use super::arguments::insert;
use super::pages::{page_text, show_pages_as};
use crate::client::{Client, CreateOption, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::output::{self, Records};
use crate::wiring::surroundings::Surroundings;

const EVENTS: Records = Records {
    member: "events",
    fields: &[
        "event_id",
        "time",
        "end_time",
        "precision",
        "name",
        "description",
        "location",
        "geo/lat",
        "geo/lon",
        "geo/radius_m",
        "causes",
        "actors",
        "kind",
        "asserts",
        "attributes",
        "source",
        "sequence",
        "position",
        "timeline_id",
    ],
    columns: &[("TIME", "time"), ("LOCATION", "location"), ("EVENT", "event_id"), ("WHAT", "what")],
};

/// Records, finds, corrects, erases and changes events.
#[derive(Debug, clap::Args)]
pub(crate) struct EventsCommand {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Records one event from flags, or events from a JSON file, all or none.
    Add(Box<Add>),
    /// Finds events by place and time, ordered by time.
    Find(Find),
    /// Finds events as `find` does, and shows their effects, interventions and paradoxes.
    Scan(scan::Scan),
    /// Counts events by time, cell, actor, source or attribute.
    Count(count::Count),
    /// Checks whether an event occurs, and shows its causes, effects and interventions.
    Check(check::Check),
    /// Shows an event, its versions and its interventions.
    Show(history::Show),
    /// Corrects an event, from flags or a JSON file. Fields that you omit are removed.
    Correct(Box<history::Correct>),
    /// Intervenes in an event: cancels, restores, delays, advances, moves, relocates, describes or renames it.
    Intervene(history::Manipulate),
    /// Erases events with all their versions, by id, query or age. This cannot be undone.
    ///
    /// The ledger still shows who recorded them and when, and all proofs stay valid. To erase by query or age, run
    /// `--dry-run` first and pass the ledger size that it prints.
    Erase(erase::Erase),
}

#[derive(Debug, clap::Args)]
struct Add {
    /// A JSON file with one event, an array of events, or one event per line; `-` is standard input. At most 1000
    /// events; for more, use `timenav import`.
    #[arg(long, conflicts_with = "Flags")]
    file: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    create: CreateOption,
}

/// One event, told by flags.
#[derive(Debug, clap::Args)]
struct Flags {
    /// The time or start: RFC 3339 with a zone.
    #[arg(long, required_unless_present = "file", allow_hyphen_values = true)]
    time: Option<String>,
    /// A description in a sentence or two.
    #[arg(long)]
    description: Option<String>,
    /// The event id. Defaults to a generated one for a new event.
    #[arg(long, value_name = "EVENT_ID")]
    id: Option<String>,
    /// The end.
    #[arg(long, allow_hyphen_values = true)]
    end_time: Option<String>,
    /// The precision of the time: year, month, day, hour, minute or second.
    #[arg(long)]
    precision: Option<String>,
    /// A short title.
    #[arg(long)]
    name: Option<String>,
    /// The place, in words.
    #[arg(long)]
    location: Option<String>,
    /// The latitude, in degrees north.
    #[arg(long, requires = "lon", value_parser = number, allow_hyphen_values = true)]
    lat: Option<Number>,
    /// The longitude, in degrees east.
    #[arg(long, requires = "lat", value_parser = number, allow_hyphen_values = true)]
    lon: Option<Number>,
    /// The radius around that point, in meters.
    #[arg(long, requires = "lat", value_name = "METERS", value_parser = number)]
    radius_m: Option<Number>,
    /// The id of an event that caused it. Repeatable.
    #[arg(long, value_name = "EVENT_ID")]
    cause: Vec<String>,
    /// A participant. Repeatable.
    #[arg(long)]
    actor: Vec<String>,
    /// Whether it was observed, is scheduled or is predicted.
    #[arg(long)]
    kind: Option<String>,
    /// A state that holds during the event: `{"subject": "door-7", "predicate": "state", "value": "open"}`. Repeatable.
    #[arg(long = "assert", value_name = "JSON", value_parser = object)]
    asserts: Vec<Map<String, Value>>,
    /// Other attributes, as a JSON object.
    #[arg(long, value_name = "JSON", value_parser = object)]
    attributes: Option<Map<String, Value>>,
    /// The source of the record.
    #[arg(long)]
    source: Option<String>,
    /// The record's sequence number at the source.
    #[arg(long, value_name = "NUMBER")]
    sequence: Option<u64>,
}

#[derive(Debug, clap::Args)]
struct Find {
    /// The place: `*`, `29.95,-90.07`, `geo:29.95,-90.07;u=5000`, `bbox:west,south,east,north`, an event's id or name,
    /// a known place, or the location text of the events.
    #[arg(long, default_value = "*", allow_hyphen_values = true)]
    location: String,
    /// The time range, inclusive: `<start>/<end>` or `<start>/<duration>`; `..` is an open end.
    #[arg(long, default_value = "../..", allow_hyphen_values = true)]
    time_range: String,
    /// Include events that began before the range and extend into it.
    #[arg(long)]
    overlapping: bool,
    /// The maximum number of events, or per page with `--all`.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Continue from the `next_cursor` of an earlier response.
    #[arg(long)]
    cursor: Option<String>,
    /// Read at this ledger position, anchor id or host time. Defaults to now.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    as_of: Option<String>,
    /// Show all pages. With `--json`, one response per page.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    filter: FilterOptions,
}

pub(crate) fn run(command: EventsCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    match command.action {
        Action::Add(add) => {
            let body = match &add.file {
                Some(path) => file_body(path)?,
                None => Value::Object(event(add.flags)).to_string(),
            };
            let answer = client.write(&["v1", "events"], &command.timeline.query(), &body, add.create)?;
            client.show(&answer, added_text)
        }
        Action::Find(find) => run_find(&client, find, command.timeline.query()),
        Action::Scan(scan) => scan::run(&client, scan, &command.timeline.body()),
        Action::Count(count) => count::run(&client, count, command.timeline.query()),
        Action::Check(check) => check::run(&client, check, command.timeline.required_query()),
        Action::Show(show) => history::show(&client, show, command.timeline.query()),
        Action::Correct(correct) => history::correct(&client, *correct, command.timeline.body()),
        Action::Intervene(manipulate) => history::manipulate(&client, manipulate, command.timeline.body()),
        Action::Erase(erase) => erase::run(&client, erase, &command.timeline.body()),
    }
}

fn run_find(client: &Client, find: Find, mut query: Vec<(&'static str, String)>) -> Result<(), Failure> {
    query.extend([("location", find.location), ("time_range", find.time_range)]);
    query.extend(find.overlapping.then(|| ("overlapping", true.to_string())));
    query.extend(find.limit.map(|limit| ("limit", limit.to_string())));
    query.extend(find.as_of.map(|moment| ("as_of", moment)));
    query.extend(find.cursor.map(|cursor| ("cursor", cursor)));
    query.extend(find.filter.query());
    show_pages_as(client, &["v1", "monitor-events"], query, (find.all, &EVENTS), found_text)
}

fn event(flags: Flags) -> Map<String, Value> {
    fn list<T>(items: Vec<T>) -> Option<Vec<T>> {
        (!items.is_empty()).then_some(items)
    }
    let mut event = Map::new();
    insert(&mut event, "event_id", flags.id);
    insert(&mut event, "time", flags.time);
    insert(&mut event, "end_time", flags.end_time);
    insert(&mut event, "precision", flags.precision);
    insert(&mut event, "name", flags.name);
    insert(&mut event, "description", flags.description);
    insert(&mut event, "location", flags.location);
    let mut geo = Map::new();
    insert(&mut geo, "lat", flags.lat);
    insert(&mut geo, "lon", flags.lon);
    insert(&mut geo, "radius_m", flags.radius_m);
    insert(&mut event, "geo", (!geo.is_empty()).then_some(geo));
    insert(&mut event, "causes", list(flags.cause));
    insert(&mut event, "actors", list(flags.actor));
    insert(&mut event, "kind", flags.kind);
    insert(&mut event, "asserts", list(flags.asserts));
    insert(&mut event, "attributes", flags.attributes);
    insert(&mut event, "source", flags.source);
    insert(&mut event, "sequence", flags.sequence);
    event
}

fn file_body(path: &Path) -> anyhow::Result<String> {
    as_body(&file_text(path)?).with_context(|| format!("{}", path.display()))
}

pub(super) fn file_text(path: &Path) -> anyhow::Result<String> {
    if path != Path::new("-") {
        return std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("standard input cannot be read")?;
    Ok(text)
}

/// Returns a request body: one JSON value as it is, several as an array.
fn as_body(text: &str) -> anyhow::Result<String> {
    let values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let values = values.collect::<Result<Vec<_>, _>>().context("this is not JSON")?;
    match values.as_slice() {
        [] => bail!("there is no event"),
        [one] => Ok(one.get().to_owned()),
        several => Ok(serde_json::to_string(several)?),
    }
}

fn added_text(answer: &Value) -> String {
    let ids = answer["event_ids"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let lines = ids.map(|id| output::printable(id) + "\n");
    output::status(answer) + &lines.collect::<String>()
}

fn found_text(page: &Value, is_first: bool) -> String {
    let events = page["events"].as_array().into_iter().flatten();
    let rows = serde_json::json!({ "status": page["status"], "rows": events.map(event_json).collect::<Vec<_>>() });
    page_text(&rows, "rows", EVENTS.columns, is_first)
}

/// Returns the columns of an event: the place name or else its coordinates, and the title or else the description.
pub(super) fn event_json(event: &Value) -> Value {
    let words = |name: &str| event[name].as_str().filter(|text| !text.is_empty());
    let degrees = || Some(format!("{}, {}", event["geo"]["lat"].as_f64()?, event["geo"]["lon"].as_f64()?));
    serde_json::json!({
        "time": event["time"],
        "location": words("location").map(str::to_owned).or_else(degrees),
        "event_id": event["event_id"],
        "what": words("name").or_else(|| words("description")),
    })
}

pub(super) fn number(text: &str) -> Result<Number, String> {
    serde_json::from_str(text).map_err(|_| "expected a number, such as 29.95".to_owned())
}

pub(super) fn object(text: &str) -> Result<Map<String, Value>, String> {
    let object = serde_json::from_str(text).map_err(|error| format!("expected a JSON object: {error}"))?;
    keeps_integers(text)?;
    Ok(object)
}

/// Rejects JSON with an integer that would be rounded.
pub(super) fn keeps_integers(text: &str) -> Result<(), String> {
    let Some((path, digits)) = lost_integer(text.as_bytes()) else { return Ok(()) };
    let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
    Err(place + &lost_integer_detail(&digits))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use timenav_import::EventRecord;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        add: Add,
    }

    fn parse(flags: &[&str]) -> Result<Add, clap::Error> {
        Line::try_parse_from(std::iter::once("add").chain(flags.iter().copied())).map(|line| line.add)
    }

    #[test]
    fn every_event_field_has_a_flag() {
        let flags = [
            "--time",
            "-000043-03-15T12:00:00Z",
            "--id=ides",
            "--end-time=1Z",
            "--precision=day",
            "--name=Ides",
            "--description=Caesar is murdered.",
            "--location=Rome",
            "--lat=41.9",
            "--lon",
            "-12.5",
            "--radius-m=500",
            "--cause=a",
            "--cause=b",
            "--actor=Brutus",
            "--attributes={\"knives\":23}",
            "--source=Plutarch",
            "--kind=observed",
            "--assert={\"subject\":\"Caesar\",\"predicate\":\"alive\",\"value\":false}",
            "--sequence=44",
        ];
        let event = event(parse(&flags).unwrap().flags);
        for field in EventRecord::FIELDS {
            assert!(event.contains_key(field), "{field}");
        }
        assert_eq!(event["time"], "-000043-03-15T12:00:00Z");
        assert_eq!(event["geo"].to_string(), r#"{"lat":41.9,"lon":-12.5,"radius_m":500}"#);
        assert_eq!(event["causes"], serde_json::json!(["a", "b"]));
    }

    #[test]
    fn event_is_given_by_file_or_flags() {
        assert!(parse(&[]).is_err());
        assert!(parse(&["--file=-", "--time=x"]).is_err());
        assert!(parse(&["--time=x", "--lat=1"]).is_err());
        assert!(parse(&["--file=-"]).is_ok());
        assert_eq!(event(parse(&["--time=x"]).unwrap().flags).len(), 1);
    }

    #[test]
    fn event_file_is_an_object_an_array_or_ndjson() {
        let check = |text: &str, expected: &str| assert_eq!(as_body(text).unwrap(), expected);
        check(" {\"b\": 1.50, \"a\": 2}\n", "{\"b\": 1.50, \"a\": 2}");
        check("[{}, {}]", "[{}, {}]");
        check("{\"a\": 1}\n{\"a\": 2}\n", "[{\"a\": 1},{\"a\": 2}]");
        assert!(as_body("").is_err());
        assert!(as_body("{").is_err());
    }

    #[test]
    fn events_are_shown_with_their_location_and_name() {
        let page = serde_json::json!({"events": [
            {"event_id": "a", "time": "2000-01-01T00:00:00Z", "location": "Rome", "name": "N", "description": "D"},
            {"event_id": "b", "time": "2001-01-01T00:00:00Z", "geo": {"lat": 1.5, "lon": -2.0}, "description": "D"},
        ]});
        assert_eq!(
            found_text(&page, true),
            "TIME                  LOCATION  EVENT  WHAT\n\
             2000-01-01T00:00:00Z  Rome      a      N\n\
             2001-01-01T00:00:00Z  1.5, -2   b      D\n"
        );
    }
}
