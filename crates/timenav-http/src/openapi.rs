//! The OpenAPI 3.1 document, made from the routes.

use serde_json::{Map, Value, json};
use utoipa::{PartialSchema, ToSchema};

use crate::app::operations;
use crate::problem::Problem;
use crate::route::{Gives, Route, Takes, WireType};

#[cfg(test)]
mod tests;

const DESCRIPTION: &str = "One clock and one history that a whole system can share. Every path below `/v1` is \
    served below `/api/v1` too. Operations that only look take their parameters from the query string, from a JSON \
    body, or from a QUERY request (RFC 10008) with a JSON body, with the same answer.";

/// Errors that every operation may answer with.
const PROBLEMS: [(&str, &str); 5] = [
    ("400", "The request cannot be understood; `errors` names the field"),
    ("401", "Nobody could be identified"),
    ("403", "The caller may not"),
    ("404", "There is no such thing, or it is not the caller's to see"),
    ("503", "The ledger cannot be written, so nothing is done"),
];
/// Errors of operations that change something.
const CHANGE_PROBLEMS: [(&str, &str); 3] = [
    ("409", "The request conflicts with what is there"),
    ("413", "The body is too large"),
    ("422", "The request is well-formed but cannot be carried out"),
];

/// Returns the document as JSON text.
#[must_use]
pub fn openapi_json() -> String {
    let mut schemas = Map::new();
    let mut paths: Map<String, Value> = Map::new();
    for route in operations() {
        let operation = operation(&route, &mut schemas);
        let path = paths.entry(route.documented_path()).or_insert_with(|| json!({}));
        if let Value::Object(methods) = path {
            methods.insert(route.method.as_str().to_lowercase(), operation);
        }
    }
    add::<Problem>(&mut schemas);
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "timenav",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{ "api_key": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "api_key": { "type": "http", "scheme": "bearer", "bearerFormat": "tnk_ and 36 letters and digits" },
            },
            "schemas": schemas,
        },
    });
    // The alternate form of a JSON value is JSON, indented.
    format!("{document:#}\n")
}

fn operation(route: &Route, schemas: &mut Map<String, Value>) -> Value {
    let mut operation = json!({
        "operationId": route.id,
        "tags": [route.tag],
        "summary": route.summary,
        "parameters": path_parameters(route),
        "responses": responses(route, schemas),
    });
    match &route.takes {
        Takes::Nothing => {}
        Takes::Params(params) => {
            collect(params, schemas);
            let schema = value(&params.schema);
            if route.method == http::Method::GET {
                add_parameters(&mut operation, query_parameters(&schema));
            } else {
                operation["requestBody"] = json_body(&params.name, is_anything_required(&schema));
            }
        }
        Takes::Body(body) => {
            collect(body, schemas);
            operation["requestBody"] = json_body(&body.name, true);
            let timeline =
                json!({ "name": "timeline_id", "in": "query", "required": false, "schema": { "type": "string" } });
            add_parameters(&mut operation, vec![timeline]);
        }
        Takes::File(params) => {
            add_parameters(&mut operation, query_parameters(&value(&params.schema)));
            let file = json!({ "schema": { "type": "string", "format": "binary" } });
            operation["requestBody"] = json!({
                "required": true,
                "content": { "application/x-ndjson": file, "text/csv": file, "application/geo+json": file },
            });
        }
    }
    // Importing a file twice adds nothing, with a key or without.
    if route.method == http::Method::POST && !matches!(route.takes, Takes::File(_)) {
        add_parameters(&mut operation, vec![idempotency_key()]);
    }
    operation
}

fn add_parameters(operation: &mut Value, more: Vec<Value>) {
    if let Some(parameters) = operation["parameters"].as_array_mut() {
        parameters.extend(more);
    }
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key", "in": "header", "required": false,
        "description": "A request with a key happens once; a repetition within 24 hours is given the same answer.",
        "schema": { "type": "string", "minLength": 1, "maxLength": crate::idempotency::KEY_CHARS_MAX, "pattern": "^[!-~]+$" },
    })
}

fn path_parameters(route: &Route) -> Vec<Value> {
    let names = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| name.trim_start_matches('*'));
    names
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } }))
        .collect()
}

fn query_parameters(schema: &Value) -> Vec<Value> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object();
    let parameter = |(name, property): (&String, &Value)| {
        let mut schema = property.clone();
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        without_null(&mut schema);
        json!({
            "name": name, "in": "query", "required": required.contains(&name.as_str()),
            "description": description.unwrap_or_else(|| json!("")), "schema": schema,
        })
    };
    properties.into_iter().flatten().map(parameter).collect()
}

/// A query string cannot say null.
fn without_null(schema: &mut Value) {
    if let Some(kinds) = schema["type"].as_array() {
        let kinds: Vec<Value> = kinds.iter().filter(|kind| **kind != json!("null")).cloned().collect();
        if let [kind] = kinds.as_slice() {
            schema["type"] = kind.clone();
        }
    } else if schema.get("type").is_some_and(Value::is_null)
        && let Some(object) = schema.as_object_mut()
    {
        object.remove("type");
    }
}

fn is_anything_required(schema: &Value) -> bool {
    schema["required"].as_array().is_some_and(|required| !required.is_empty())
}

fn json_body(name: &str, required: bool) -> Value {
    json!({ "required": required, "content": { "application/json": { "schema": reference(name) } } })
}

fn responses(route: &Route, schemas: &mut Map<String, Value>) -> Value {
    let mut responses = Map::new();
    let (content, description) = match &route.gives {
        Gives::Json(body) => {
            collect(body, schemas);
            (json!({ "application/json": { "schema": reference(&body.name) } }), "Done")
        }
        Gives::Stream(body) => {
            collect(body, schemas);
            let schema = json!({ "type": "string", "description": format!("Events named `clock` or `reset` whose data is a {}", body.name) });
            (
                json!({ "text/event-stream": { "schema": schema } }),
                "One message for each change; the id is the generation",
            )
        }
        Gives::Bytes => {
            let bytes = json!({ "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } });
            (bytes, "The bytes")
        }
        Gives::Note(body) => {
            collect(body, schemas);
            let json = json!({ "schema": reference(&body.name) });
            (json!({ "text/plain": { "schema": { "type": "string" } }, "application/json": json }), "A signed note")
        }
    };
    responses.insert(route.status.to_string(), json!({ "description": description, "content": content }));
    let problem = |description: &str| json!({ "description": description, "content": { "application/json": { "schema": reference("Problem") } } });
    for (status, description) in PROBLEMS {
        responses.insert(status.to_owned(), problem(description));
    }
    let takes_body = route.method == http::Method::POST;
    for (status, description) in CHANGE_PROBLEMS.into_iter().filter(|_| route.method != http::Method::GET) {
        responses.insert(status.to_owned(), problem(description));
    }
    if route.limited {
        responses
            .insert("429".to_owned(), problem("There were too many attempts; `Retry-After` says when to try again"));
    }
    if takes_body {
        responses.insert("415".to_owned(), problem("The body is of a type that is not taken here"));
    }
    Value::Object(responses)
}

fn add<T: ToSchema>(schemas: &mut Map<String, Value>) {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    schemas.insert(T::name().into_owned(), value(&<T as PartialSchema>::schema()));
    schemas.extend(parts.iter().map(|(name, schema)| (name.clone(), value(schema))));
}

fn collect(wire: &WireType, schemas: &mut Map<String, Value>) {
    schemas.insert(wire.name.clone(), value(&wire.schema));
    schemas.extend(wire.parts.iter().map(|(name, schema)| (name.clone(), value(schema))));
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn value(schema: &impl serde::Serialize) -> Value {
    serde_json::to_value(schema).expect("a schema is made of texts, numbers and lists")
}
