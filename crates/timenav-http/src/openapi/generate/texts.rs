//! What the document says of each kind of text.
//!
//! A field names its kind as its `format`. What a pattern can say of a kind is written here once, and takes the place of
//! the name. Names that stay are of texts whose rules no pattern tells: `docs/http-api.md` does. JSON Schema lets a
//! reader pass over formats that it does not know, so they forbid nothing.

use serde_json::{Map, Value, json};
use timenav_core::access::{RestrictionLevel, Scope};
use timenav_core::ids::{FollowerName, TimelineId, UserId};
use timenav_core::limits::{FIND_TEXT_BYTES_MAX, FOLLOWER_HOST_BYTES_MAX, ID_BYTES_MAX, LOCATION_BYTES_MAX};
use timenav_core::paradox::Kind;
use timenav_core::time::{DURATION_BYTES_MAX, TIME_RANGE_BYTES_MAX, TIMESTAMP_BYTES_MAX};
use timenav_engine::Topic;
use timenav_import::limits::MAPPING_BYTES_MAX;
use timenav_import::{ExportFormat, Format};

use crate::v1::proofs;
use crate::v1::streaming::PLACE_PATTERN;

/// Every id, chosen by a caller or made by the service.
pub(super) const ID: &str = "id";
/// The id of any timeline.
pub(super) const TIMELINE_ID: &str = "timeline-id";
/// The path of a tile or of a bundle of entries, below its timeline.
pub(super) const TILE: &str = "tile";

/// Longest text of a leap second: what happens to it, and the second.
const LEAP_BYTES_MAX: usize = "insert@".len() + TIMESTAMP_BYTES_MAX;

/// Says that no two items of a list are the same.
const UNIQUE: &str = "uniqueItems";
/// What a list looks like that is given as one text.
const WITH_COMMAS: &str = "withCommas";

/// What an id is made of.
const ID_PATTERN: &str = "^[0-9A-Za-z][0-9A-Za-z._:@-]{0,127}$";
const _: () = assert!(ID_BYTES_MAX == 128, "the pattern counts them");

/// Returns what is said of a kind of text, or `None` if there is no such kind.
fn rules(kind: &str) -> Option<Value> {
    let rules = match kind {
        ID | TIMELINE_ID => json!({ "pattern": ID_PATTERN }),
        // What it holds are facts of the service: nobody changes it by what changes other timelines.
        "changeable-timeline-id" => json!({ "pattern": ID_PATTERN, "not": { "const": TimelineId::SYSTEM } }),
        "new-user-id" => {
            json!({ "pattern": ID_PATTERN, "not": { "enum": [UserId::UNKNOWN, TimelineId::SYSTEM] } })
        }
        TILE => json!({
            "pattern": "^([0-9]|[1-5][0-9]|6[0-3]|entries)/(x[0-9]{3}/){0,5}[0-9]{3}([.]p/([1-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5]))?$",
            "example": "entries/000.p/1",
        }),
        // It stands for all of them.
        "own-follower-name" => json!({ "pattern": ID_PATTERN, "not": { "const": FollowerName::ALL } }),
        "entity-tags" => json!({ "minLength": 1, "pattern": "^([*]|(W/)?\"[!#-~]*\")$" }),
        "topics" => {
            let topic = Topic::ALL.map(Topic::as_str).join("|");
            json!({ "pattern": format!("^({topic})(,({topic})){{0,{}}}$", Topic::ALL.len() - 1) })
        }
        "place-in-stream" => json!({ "minLength": 1, "pattern": PLACE_PATTERN }),
        "message-id" => json!({ "minLength": 1, "pattern": "^[0-9]{1,19}$" }),
        "host-name" => json!({ "minLength": 1, "maxLength": FOLLOWER_HOST_BYTES_MAX, "pattern": "^[!-~]+$" }),
        "process-id" => json!({ "minLength": 1, "pattern": "^[1-9][0-9]{0,8}$" }),
        "action" => json!({ "pattern": "^[a-z_]{1,64}$" }),
        "actor" => json!({ "minLength": 1, "maxLength": ID_BYTES_MAX }),
        "words" => json!({ "minLength": 1, "maxLength": FIND_TEXT_BYTES_MAX, "format": "words" }),
        "scan-depth" => json!({ "pattern": "^(full|quick|tail:[1-9][0-9]{0,17}|sample:([1-9][0-9]{0,4}|100000))$" }),
        // Blanks around it are no part of it.
        "location" => json!({ "minLength": 1, "maxLength": LOCATION_BYTES_MAX, "pattern": "[^\\s]" }),
        "scope" => json!({ "enum": Scope::ALL.map(Scope::as_str), UNIQUE: true }),
        "restriction-level" => json!({ "enum": RestrictionLevel::ALL.map(RestrictionLevel::as_str) }),
        "paradox-kind" => words(&paradox_kinds()),
        "included" => words("observations"),
        "event-id" | "follower-name" => words(ID_PATTERN.trim_matches(['^', '$'])),
        "proof-format" => json!({ "enum": [proofs::AS_JSON, proofs::AS_FILE] }),
        "export-format" => json!({ "enum": ExportFormat::ALL.map(ExportFormat::as_str) }),
        "attribute-columns" => json!({ "pattern": "^attribute[.][^,]+(,attribute[.][^,]+)*$" }),
        "file-format" => json!({ "enum": Format::ALL.map(Format::as_str) }),
        "timestamp" | "expiry" => json!({ "format": kind, "minLength": 1, "maxLength": TIMESTAMP_BYTES_MAX }),
        "retention" => json!({ "format": "whole-seconds", "minLength": 1, "maxLength": DURATION_BYTES_MAX }),
        "duration" => json!({ "format": "length-of-time", "minLength": 1, "maxLength": DURATION_BYTES_MAX }),
        "short-length" => json!({ "minLength": 1, "maxLength": DURATION_BYTES_MAX }),
        "leap-second" => json!({ "minLength": 1, "maxLength": LEAP_BYTES_MAX }),
        "time-range" => json!({ "format": kind, "minLength": 1, "maxLength": TIME_RANGE_BYTES_MAX }),
        "moment" => json!({ "format": kind, "minLength": 1 }),
        "mapping" => json!({ "format": kind, "maxLength": MAPPING_BYTES_MAX }),
        "import-id" => json!({ "pattern": "^[0-9]{1,19}-[0-9]{1,19}-[0-9]{1,19}$" }),
        "cursor" => json!({ "format": kind }),
        _ => return None,
    };
    Some(rules)
}

/// Returns a pattern of every code and name of a kind of paradox. Case counts in names, and not in codes.
fn paradox_kinds() -> String {
    let digits = |kind: Kind| kind.code().trim_start_matches('P').to_owned();
    Kind::ALL.map(|kind| format!("[Pp]{}|{}", digits(kind), kind.as_str())).join("|")
}

/// Returns what is said of a word in a list, and of the list where it is a text: blanks around a word are no part of it.
fn words(word: &str) -> Value {
    json!({ "pattern": format!("^({word})$"), WITH_COMMAS: format!("^ *({word}) *(, *({word}) *)*$") })
}

/// Returns the schema of a kind of text.
pub(super) fn text(kind: &str) -> Value {
    let mut schema = json!({ "type": "string", "format": kind });
    spell_out(&mut schema);
    schema
}

/// Adds null to the words of a list, where null is a kind of value that may be there.
fn allow_null(schema: &mut Map<String, Value>) {
    let is_nullable = schema.get("type").and_then(Value::as_array).is_some_and(|kinds| kinds.contains(&json!("null")));
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut)
        && is_nullable
    {
        words.push(Value::Null);
    }
}

/// Puts what is said of each kind of text in the place of its name, everywhere below a schema.
pub(super) fn spell_out(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(spell_out);
            let kind = object.get("format").and_then(Value::as_str).and_then(rules);
            if let Some(Value::Object(rules)) = kind {
                object.remove("format");
                object.extend(rules);
                allow_null(object);
            }
            // The kind of a list is that of what is in it, and this is said of the list.
            for (said, name) in [(UNIQUE, UNIQUE), (WITH_COMMAS, "pattern")] {
                let items = object.get_mut("items").and_then(Value::as_object_mut);
                if let Some(rule) = items.and_then(|items| items.remove(said)) {
                    object.insert(name.to_owned(), rule);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(spell_out),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
