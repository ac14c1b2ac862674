use http::Method;
use serde_json::{Map, Value, json};
use timenav_import::ExportFormat;

use super::{Version, collect, reference};
use crate::route::{Gives, Messages, Route};

const PROBLEMS: [(&str, &str); 12] = [
    ("400", "The request is invalid; `errors` names the field"),
    ("401", "The caller is not authenticated"),
    ("403", "The caller is not allowed to do this"),
    ("404", "The resource does not exist, or the caller has no access to it"),
    ("409", "The request conflicts with the current state"),
    ("412", "The resource has changed since the tag in `If-Match`"),
    ("413", "The body is too large"),
    ("415", "The media type of the body is not supported"),
    ("422", "The request is well-formed but cannot be carried out"),
    ("429", "Too many attempts or requests; `Retry-After` says when to try again"),
    ("500", "Internal error; quote the `request_id` when you ask for help"),
    ("503", "The ledger cannot be written, so nothing was changed"),
];

pub(super) fn answers(route: &Route, method: &Method, version: Version, schemas: &mut Map<String, Value>) -> Value {
    let mut answers = Map::new();
    let (content, description) = content(&route.gives, version, schemas);
    let done = json!({ "description": description, "content": content, "headers": headers_when_done(route, method) });
    if route.or_there {
        answers.insert("200".to_owned(), done.clone());
    }
    answers.insert(route.status.to_string(), done);
    let changes = [Method::POST, Method::PATCH, Method::DELETE].contains(method);
    for (status, _) in PROBLEMS {
        let may = match status {
            "409" => changes || route.refusals.contains(&"409"),
            "412" => changes && route.refusals.contains(&"412"),
            _ => true,
        };
        if may {
            answers.insert(status.to_owned(), json!({ "$ref": format!("#/components/responses/{status}") }));
        }
    }
    Value::Object(answers)
}

pub(super) fn problems() -> Value {
    let problem = |(status, description): (&str, &str)| {
        let content = json!({
            "application/json": { "schema": reference("Problem") },
            "application/problem+json": { "schema": reference("ProblemDetails") },
        });
        let headers = headers_of_problem(status);
        (status.to_owned(), json!({ "description": description, "content": content, "headers": headers }))
    };
    PROBLEMS.into_iter().map(problem).collect()
}

fn content(gives: &Gives, version: Version, schemas: &mut Map<String, Value>) -> (Value, &'static str) {
    match gives {
        Gives::Json(body) => {
            collect(body, schemas);
            (json!({ "application/json": { "schema": reference(&body.name) } }), "Done")
        }
        Gives::Stream(body, messages) => {
            collect(body, schemas);
            let names: Vec<String> = messages.names.iter().map(|name| format!("`{name}`")).collect();
            let stream = match version {
                Version::V3_1 => json!({ "schema": {
                    "type": "string",
                    "description": format!("Events named {} with a {} as data", names.join(", "), body.name),
                } }),
                Version::V3_2 => json!({ "itemSchema": message(&body.name, messages) }),
            };
            (json!({ "text/event-stream": stream }), messages.what)
        }
        Gives::WithProgress(body, progress) => {
            collect(body, schemas);
            collect(progress, schemas);
            let description = format!(
                "Events named `progress` with a {} as data, then one named `result` with a {}, or `error` with a \
                 Problem",
                progress.name, body.name
            );
            let events = json!({ "schema": { "type": "string", "description": description } });
            let json = json!({ "schema": reference(&body.name) });
            (json!({ "application/json": json, "text/event-stream": events }), "Done")
        }
        Gives::Bytes => {
            let bytes = json!({ "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } });
            (bytes, "The bytes")
        }
        Gives::File => {
            let kind = |format: ExportFormat| {
                let media_type = format.content_type().split(';').next().unwrap_or_default();
                (media_type.to_owned(), json!({ "schema": file(format) }))
            };
            let content: Map<String, Value> = ExportFormat::ALL.into_iter().map(kind).collect();
            (Value::Object(content), "A file of events, ordered by time, then position")
        }
        Gives::Lines(what) => (json!({ "application/x-ndjson": { "schema": { "type": "string" } } }), what),
        Gives::Text(what, body) => {
            collect(body, schemas);
            let json = json!({ "schema": reference(&body.name) });
            (json!({ "text/plain": { "schema": { "type": "string" } }, "application/json": json }), what)
        }
    }
}

/// Returns the schema of an exported file: text, or the JSON type of its media type.
fn file(format: ExportFormat) -> Value {
    match format {
        ExportFormat::Ndjson | ExportFormat::Csv | ExportFormat::ICalendar => json!({ "type": "string" }),
        ExportFormat::GeoJson => json!({
            "type": "object",
            "properties": {
                "type": { "const": "FeatureCollection" },
                "features": { "type": "array", "items": { "type": "object" } },
            },
            "required": ["type", "features"],
        }),
    }
}

fn message(body: &str, messages: &Messages) -> Value {
    let required: &[&str] = if messages.may_be_silent { &["id"] } else { &["event", "id", "data"] };
    json!({
        "type": "object",
        "properties": {
            "event": { "type": "string", "enum": messages.names },
            "id": { "type": "string", "pattern": messages.id },
            "data": { "type": "string", "contentMediaType": "application/json", "contentSchema": reference(body) },
        },
        "required": required,
    })
}

fn headers_when_done(route: &Route, method: &Method) -> Value {
    let mut headers = Map::from_iter([request_id()]);
    let mut add = |name: &str, header: Value| headers.insert(name.to_owned(), header);
    if *method == Method::POST || *method == Method::PATCH {
        let description = "`true` if this repeats the response to an earlier request with the same `Idempotency-Key`";
        add("Idempotency-Replayed", json!({ "description": description, "schema": { "type": "boolean" } }));
    }
    if route.tagged && *method != query() {
        let description = "The current tag, for `If-Match`";
        add("ETag", json!({ "description": description, "required": true, "schema": { "type": "string" } }));
    }
    if route.linked && *method == Method::GET {
        let description = "`rel=\"next\"` links to the next page, if there is one";
        add("Link", json!({ "description": description, "schema": { "type": "string" } }));
    }
    for (name, description) in &route.tells {
        add(name, json!({ "description": description, "required": true, "schema": { "type": "string" } }));
    }
    Value::Object(headers)
}

fn headers_of_problem(status: &str) -> Value {
    let mut headers = Map::from_iter([request_id()]);
    let required =
        |description: &str, schema: Value| json!({ "description": description, "required": true, "schema": schema });
    match status {
        "401" => {
            let header = required("How to authenticate (RFC 6750)", json!({ "type": "string" }));
            headers.insert("WWW-Authenticate".to_owned(), header);
        }
        "429" | "503" => {
            let header = required("Seconds to wait before trying again", json!({ "type": "integer", "minimum": 0 }));
            headers.insert("Retry-After".to_owned(), header);
        }
        _ => {}
    }
    Value::Object(headers)
}

fn request_id() -> (String, Value) {
    let header = json!({
        "description": "Identifies the request; copied from the request if present",
        "required": true,
        "schema": { "type": "string", "pattern": "^[!-~]{1,128}$" },
    });
    ("X-Request-Id".to_owned(), header)
}

/// Returns the QUERY method: a lookup with parameters in its body (RFC 10008).
pub(super) fn query() -> Method {
    Method::from_bytes(b"QUERY").expect("a name of letters")
}
