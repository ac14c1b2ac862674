//! Writes calls of every operation for tests: with all that it takes, and as it can be sent.

use serde_json::Value;

use super::calls::{is_whole, owner, paged, typed};
use super::document::{Content, Document, Operation, Parameter, Place, reference, texts};
use super::head;
use super::shapes::{Shape, Shapes, Typed, is_tagged};
use super::text::{camel, snake};

/// Of what the document has no example. What is named here need not be there: the service has to understand the call.
const GIVEN: [(&str, &str); 17] = [
    ("advance_id", "advance_01m7vsgh52ewg8wycc4r8s9czz"),
    ("anchor_id", "anchor_01m7vsgh52ewg8wycc4r8s9czz"),
    ("data_id", "data_01m7vsgh52ewg8wycc4r8s9czz"),
    ("encryption_key", "a passphrase"),
    ("event_id", "no-such-event"),
    ("firing_id", "firing_01m7vsgh52ewg8wycc4r8s9czz"),
    ("firing_ids", "firing_01m7vsgh52ewg8wycc4r8s9czz"),
    ("follower_id", "follower_01m7vsgh52ewg8wycc4r8s9czz"),
    ("key_id", "key_01m7vsgh52ewg8wycc4r8s9czz"),
    ("lease_id", "lease_01m7vsgh52ewg8wycc4r8s9czz"),
    ("password", "correct horse battery"),
    ("queue", "default"),
    ("session_id", "session_01m7vsgh52ewg8wycc4r8s9czz"),
    ("tile", "0/000"),
    ("timeline_id", "what-if"),
    ("timer_id", "no-such-timer"),
    ("user_id", "nobody-at-all"),
];
const MOMENT: &str = "2028-02-29T09:00:00Z";
/// What every call of the file needs.
const PREAMBLE: &str = "use serde_json::{Map, Value, json};\nuse timenav_client::{Client, Error, Instant, Length, Request, Sent, Timer, \
    schemas};\n\n\
    /// A call, made in two ways.\npub(super) struct Every {\n    /// The name of the operation.\n    pub(super) name: \
    &'static str,\n    /// The call with all that it takes.\n    pub(super) whole: fn(&Client) -> Result<Request, Error>,\n    \
    /// The call with its filters, and as little as it needs in its body, sent.\n    pub(super) sent: for<'a> fn(&'a Client) -> Sent<'a, ()>,\n    \
    /// Reads an answer as the call does, if that is one in JSON.\n    pub(super) reads: Option<fn(Value) -> \
    Result<(), serde_json::Error>>,\n}\n\n\
    fn at(text: &str) -> Instant {\n    text.parse().unwrap()\n}\n\n\
    fn object() -> Map<String, Value> {\n    Map::from_iter([(\"a\".to_owned(), json!(1))])\n}\n\n\
    fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<(), serde_json::Error> {\n    \
    serde_json::from_value::<T>(value).map(drop)\n}\n\n";

/// Returns the file.
pub(super) fn write(document: &Document, shapes: &mut Shapes<'_>) -> String {
    let rows: Vec<String> = document.operations.iter().map(|operation| row(document, shapes, operation)).collect();
    format!(
        "{}{PREAMBLE}/// Every call.\npub(super) const EVERY: [Every; {}] = [\n{}];\n",
        head("Every call of the client, made with all that it takes, and once more to be sent."),
        rows.len(),
        rows.concat()
    )
}

fn row(document: &Document, shapes: &mut Shapes<'_>, operation: &Operation) -> String {
    let begun = begun(document, shapes, operation);
    let is_filter = |one: &&Parameter| one.place == Place::Query && one.name != "cursor";
    let optional = operation.parameters.iter().filter(|one| !one.is_required);
    let sent = optional.filter(|one| one.name == "timeline_id" || is_filter(one));
    let sent: String = sent.map(|one| setter(document, shapes, operation, one)).collect();
    let whole: String = operation
        .parameters
        .iter()
        .filter(|one| !one.is_required && one.name != "Timenav-Firing")
        .filter(|one| one.place != Place::Body || !is_whole(operation) || one.name == "timeline_id")
        .map(|one| setter(document, shapes, operation, one))
        .collect();
    let kind = match &operation.content {
        Content::File(kinds) => format!(".content_type({:?})", kinds[0]),
        Content::Nothing | Content::Members | Content::Json(_) => String::new(),
    };
    let reads = operation
        .json()
        .and_then(reference)
        .map_or_else(|| "None".to_owned(), |name| format!("Some(read::<schemas::{name}>)"));
    let page = if paged(document, operation).is_some() { ".pages().next()" } else { "" };
    format!(
        "Every {{ name: {:?}, whole: |client| {begun}{whole}{kind}.request(), \
         sent: |client| Box::pin(async move {{ {begun}{sent}{page}.await.map(drop) }}), reads: {reads} }},\n",
        operation.name
    )
}

/// Returns the call with what it needs.
fn begun(document: &Document, shapes: &mut Shapes<'_>, operation: &Operation) -> String {
    let mut arguments = Vec::new();
    for one in operation.required() {
        if one.place == Place::Body && is_whole(operation) {
            continue;
        }
        arguments.push(argument(document, shapes, operation, one));
    }
    match &operation.content {
        Content::Json(schema) => {
            let typed = shapes.of(schema, &operation.name, "body");
            arguments.push(sample(document, shapes, &typed.shape, "body", schema));
        }
        Content::File(_) => arguments.push("\"\"".to_owned()),
        Content::Members if is_whole(operation) => {
            arguments.push(format!("&Timer::at(at({MOMENT:?})).id(\"no-such-timer\")"));
        }
        Content::Members | Content::Nothing => {}
    }
    format!("client.{}({})", snake(&operation.name), arguments.join(", "))
}

fn setter(document: &Document, shapes: &mut Shapes<'_>, operation: &Operation, one: &Parameter) -> String {
    match one.name.as_str() {
        "Idempotency-Key" => return ".idempotency_key(\"a-key\")".to_owned(),
        "If-Match" => return ".if_match(7)".to_owned(),
        "Last-Event-ID" => return ".after(\"7\")".to_owned(),
        "attribute" => return ".attribute(\"category\", \"5\")".to_owned(),
        _ => {}
    }
    format!(".{}({})", snake(&one.name), argument(document, shapes, operation, one))
}

fn argument(document: &Document, shapes: &mut Shapes<'_>, operation: &Operation, one: &Parameter) -> String {
    if one.place == Place::Header {
        return "\"7\"".to_owned();
    }
    let Typed { shape, .. } = typed(shapes, operation, one);
    let value = sample(document, shapes, &shape, &one.name, &one.schema);
    match shape {
        Shape::Text if Shapes::is_cleared(owner(operation, one), &one.name) => format!("{value}.to_owned()"),
        Shape::Length if Shapes::is_cleared(owner(operation, one), &one.name) => format!("Length::from({value})"),
        _ => value,
    }
}

/// Returns a value of a type.
fn sample(document: &Document, shapes: &mut Shapes<'_>, shape: &Shape, name: &str, schema: &Value) -> String {
    let example =
        [&schema["example"], &schema["examples"][0], &schema["minimum"]].into_iter().find(|one| !one.is_null());
    let example = example.cloned().unwrap_or_default();
    let given = GIVEN.iter().find(|(of, _)| *of == name).map(|(_, given)| *given);
    let text = |otherwise: &str| format!("{:?}", example.as_str().or(given).unwrap_or(otherwise));
    match shape {
        Shape::Text => text("an example"),
        Shape::Instant => format!("at({})", text(MOMENT)),
        Shape::Length | Shape::Bucket => text("1h"),
        Shape::TimeRange => text("../.."),
        Shape::Moment => "7".to_owned(),
        Shape::Bool => "true".to_owned(),
        Shape::U32 | Shape::U64 | Shape::I64 => example.as_i64().unwrap_or(1).to_string(),
        Shape::F64 => format!("{:?}", example.as_f64().unwrap_or(1.0)),
        Shape::Any => "json!({ \"a\": 1 })".to_owned(),
        Shape::Object | Shape::Attributes => "object()".to_owned(),
        Shape::Map(of) => {
            format!("[(\"alice\", {})]", sample(document, shapes, of, name, &schema["additionalProperties"]))
        }
        Shape::List(of) => {
            let items = if let Some(first) = example.get(0).filter(|first| first.is_string()) {
                serde_json::json!({ "example": first })
            } else {
                schema["items"].clone()
            };
            format!("[{}]", sample(document, shapes, of, name, &items))
        }
        Shape::Named(named) => sample_of(document, shapes, named),
    }
}

fn sample_of(document: &Document, shapes: &mut Shapes<'_>, name: &str) -> String {
    let schema = shapes.named(name).cloned().unwrap_or_default();
    if is_tagged(&schema) {
        return format!(
            "schemas::{name}::{}",
            camel(&texts(&schema["oneOf"][0]["properties"]["kind"]["enum"]).concat())
        );
    }
    if let Some(first) = schema["oneOf"].get(0) {
        let shape = shapes.of(first, name, "").shape;
        return sample(document, shapes, &shape, "event_id", first);
    }
    if let Some(word) = texts(&schema["enum"]).first() {
        return format!("schemas::{name}::{}", camel(word));
    }
    let (members, required) = document.members(&schema);
    let arguments: Vec<String> = required
        .iter()
        .filter_map(|member| {
            let typed = shapes.of(&members[member], name, member);
            (!typed.is_nullable).then(|| sample(document, shapes, &typed.shape, member, &members[member]))
        })
        .collect();
    format!("schemas::{name}::new({})", arguments.join(", "))
}
