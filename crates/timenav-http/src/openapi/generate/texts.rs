//! The schemas of text formats.
//!
//! A field names its kind of text as its `format`. If a pattern can describe the kind, it is defined here once and
//! replaces the name. The remaining names are texts whose rules no pattern can express; `docs/http-api.md` describes
//! them. JSON Schema lets readers ignore unknown formats, so they reject nothing.

use serde_json::{Map, Value, json};
use timenav_core::access::{RestrictionLevel, Scope};
use timenav_core::ids::{FollowerName, TimelineId, UserId};
use timenav_core::limits::{FIND_TEXT_BYTES_MAX, FOLLOWER_HOST_BYTES_MAX, ID_BYTES_MAX, LOCATION_BYTES_MAX};
use timenav_core::paradox::Kind;
use timenav_core::time::{DURATION_BYTES_MAX, TIME_RANGE_BYTES_MAX, TIMESTAMP_BYTES_MAX};
use timenav_engine::Topic;
use timenav_import::limits::MAPPING_BYTES_MAX;
use timenav_import::{ExportFormat, Format};

use crate::v1::ledger::proofs;
use crate::v1::streaming::PLACE_PATTERN;

pub(super) const ID: &str = "id";
pub(super) const TIMELINE_ID: &str = "timeline-id";
/// The path of a tile or an entry bundle, below its timeline.
pub(super) const TILE: &str = "tile";

/// Maximum length of a leap second text: its kind and the second.
const LEAP_BYTES_MAX: usize = "insert@".len() + TIMESTAMP_BYTES_MAX;

const UNIQUE: &str = "uniqueItems";
/// The pattern of a list that is given as one text.
const WITH_COMMAS: &str = "withCommas";

const ID_PATTERN: &str = "^[0-9A-Za-z][0-9A-Za-z._:@-]{0,127}$";
const _: () = assert!(ID_BYTES_MAX == 128, "the pattern counts them");

fn rules(kind: &str) -> Option<Value> {
    let rules = match kind {
        ID | TIMELINE_ID => json!({ "pattern": ID_PATTERN }),
        // `system` holds facts about the service, so operations on timelines never change it.
        "changeable-timeline-id" => json!({ "pattern": ID_PATTERN, "not": { "const": TimelineId::SYSTEM } }),
        "new-user-id" => {
            json!({ "pattern": ID_PATTERN, "not": { "enum": [UserId::UNKNOWN, TimelineId::SYSTEM] } })
        }
        TILE => json!({
            "pattern": "^([0-9]|[1-5][0-9]|6[0-3]|entries)/(x[0-9]{3}/){0,5}[0-9]{3}([.]p/([1-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5]))?$",
            "example": "entries/000.p/1",
        }),
        // The name is reserved for all followers.
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
        // Surrounding blanks are ignored.
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

/// Returns a pattern that matches every paradox kind by code or name. Names are case-sensitive, codes are not.
fn paradox_kinds() -> String {
    let digits = |kind: Kind| kind.code().trim_start_matches('P').to_owned();
    Kind::ALL.map(|kind| format!("[Pp]{}|{}", digits(kind), kind.as_str())).join("|")
}

/// Returns the patterns of a word and of a comma-separated list of words. Blanks around a word are ignored.
fn words(word: &str) -> Value {
    json!({ "pattern": format!("^({word})$"), WITH_COMMAS: format!("^ *({word}) *(, *({word}) *)*$") })
}

pub(super) fn text(kind: &str) -> Value {
    let mut schema = json!({ "type": "string", "format": kind });
    spell_out(&mut schema);
    schema
}

fn allow_null(schema: &mut Map<String, Value>) {
    let is_nullable = schema.get("type").and_then(Value::as_array).is_some_and(|kinds| kinds.contains(&json!("null")));
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut)
        && is_nullable
    {
        words.push(Value::Null);
    }
}

/// Replaces each format name with its schema keywords, recursively.
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
            // A list has the format of its items, but this keyword applies to the list.
            for (sentence, name) in [(UNIQUE, UNIQUE), (WITH_COMMAS, "pattern")] {
                let items = object.get_mut("items").and_then(Value::as_object_mut);
                if let Some(rule) = items.and_then(|items| items.remove(sentence)) {
                    object.insert(name.to_owned(), rule);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(spell_out),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
