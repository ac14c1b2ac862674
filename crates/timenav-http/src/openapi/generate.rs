use http::Method;
use serde_json::{Map, Value, json};
use utoipa::{PartialSchema, ToSchema};

use super::{patch, text};
use crate::operations::operations;
use crate::response::finish::ProblemDetails;
use crate::response::problem::Problem;
use crate::route::{Form, Heeded, Route, Takes, WireType};

mod answers;
mod examples;
#[cfg(test)]
mod tests;
mod texts;
mod tidy;

const DESCRIPTION: &str = "A controllable clock for whole systems. Every path under `/v1` is also served under \
    `/api/v1`. Read operations take their parameters from the query string, from a JSON body, or from a QUERY request \
    (RFC 10008) with a JSON body, with the same result.";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// The version that tools support today. It cannot describe QUERY.
    V3_1,
    /// The complete version, with QUERY and stream messages.
    V3_2,
}

#[must_use]
pub fn openapi() -> String {
    text(&document(Version::V3_1))
}

#[must_use]
pub fn openapi_3_2_patch() -> String {
    let patch = patch::between(&document(Version::V3_1), &document(Version::V3_2));
    text(&patch.unwrap_or_default())
}

fn document(version: Version) -> Value {
    let mut schemas = Map::new();
    let mut paths: Map<String, Value> = Map::new();
    for route in operations() {
        let path = paths.entry(route.documented_path()).or_insert_with(|| json!({}));
        let Value::Object(methods) = path else { continue };
        methods.insert(route.method.as_str().to_lowercase(), operation(&route, &route.method, version, &mut schemas));
        if version == Version::V3_2 && route.method == Method::GET {
            methods.insert("query".to_owned(), operation(&route, &answers::query(), version, &mut schemas));
        }
    }
    add::<Problem>(&mut schemas);
    add::<ProblemDetails>(&mut schemas);
    let mut document = json!({
        "openapi": match version {
            Version::V3_1 => "3.1.0",
            Version::V3_2 => "3.2.0",
        },
        "info": {
            "title": "timenav",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        // The service that serves the document is the service that it describes.
        "servers": [{ "url": "/", "description": "The service that serves this document" }],
        "security": [{ "api_key": [] }, { "session": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "api_key": { "type": "http", "scheme": "bearer", "bearerFormat": "tnk_ and 36 letters and digits" },
                "session": {
                    "type": "apiKey", "in": "cookie", "name": "__Host-timenav",
                    "description": "Set by `log_in`. Over plain HTTP on this machine the cookie is called `timenav`.",
                },
            },
            "responses": answers::problems(),
            "schemas": schemas,
        },
    });
    texts::spell_out(&mut document);
    tidy::leave_out_unused(&mut document);
    tidy::describe_list_items(&mut document);
    examples::add(&mut document);
    document
}

/// Returns the operation of a route for one method: its own, or QUERY in place of GET.
fn operation(route: &Route, method: &Method, version: Version, schemas: &mut Map<String, Value>) -> Value {
    let by_query = *method == answers::query();
    let mut operation = json!({
        "operationId": if by_query { format!("{}_by_query", route.id) } else { route.id.to_owned() },
        "tags": [route.tag],
        "summary": route.summary,
        "parameters": path_parameters(route),
        "responses": answers::answers(route, method, version, schemas),
    });
    match &route.takes {
        Takes::Nothing => {}
        Takes::Params(params) => {
            collect_request(params, schemas);
            let schema = value(&params.schema);
            if !route.forms.is_empty() {
                // The forms are mutually exclusive, but tools that check for overlaps cannot see that.
                schemas[&params.name]["anyOf"] = route.forms.iter().map(|one| form(one, &schema)).collect();
            }
            if *method == Method::GET {
                add_parameters(&mut operation, query_parameters(&schema));
            } else {
                // A QUERY declares its body, even if it is empty.
                let required = by_query || is_anything_required(&schema) || is_any_form_needed(&route.forms);
                operation["requestBody"] = json_body(&params.name, required);
            }
        }
        Takes::Body(body) => {
            collect_request(body, schemas);
            operation["requestBody"] = json_body(&body.name, true);
            let mut schema = texts::text("changeable-timeline-id");
            schema["example"] = json!("main");
            let timeline = json!({
                "name": "timeline_id", "in": "query", "required": false,
                "description": "The timeline. Defaults to the API key's.", "schema": schema,
            });
            add_parameters(&mut operation, vec![timeline]);
        }
        Takes::File(params, types) => {
            add_parameters(&mut operation, query_parameters(&value(&params.schema)));
            let file = json!({ "schema": { "type": "string", "format": "binary" } });
            let kind = |kind: &&str| ((*kind).to_owned(), file.clone());
            let content: Map<String, Value> = types.iter().map(kind).collect();
            operation["requestBody"] = json!({ "required": true, "content": content });
        }
    }
    // Importing a file is idempotent with or without a key.
    if route.stores_response
        || ([Method::POST, Method::PATCH].contains(method) && !matches!(route.takes, Takes::File(..)))
    {
        add_parameters(&mut operation, vec![idempotency_key(route.anew)]);
    }
    if route.open {
        operation["security"] = json!([]);
    }
    add_parameters(&mut operation, route.heeds.iter().map(header_parameter).collect());
    if names_timeline(&operation, &route.takes) {
        add_parameters(&mut operation, vec![timeline_header()]);
    }
    operation
}

fn names_timeline(operation: &Value, takes: &Takes) -> bool {
    let is_named = |parameter: &Value| parameter["name"] == "timeline_id";
    let in_body = |body: &WireType| value(&body.schema)["properties"]["timeline_id"].is_object();
    operation["parameters"].as_array().into_iter().flatten().any(is_named)
        || matches!(takes, Takes::Params(body) | Takes::Body(body) if in_body(body))
}

fn timeline_header() -> Value {
    let description = "The same timeline as `timeline_id`, for load balancers that do not read bodies";
    json!({
        "name": "Timenav-Timeline", "in": "header", "required": false, "description": description,
        "schema": texts::text(texts::TIMELINE_ID),
    })
}

/// Describes which fields may be combined. This can only be expressed for a body.
fn form(form: &Form, schema: &Value) -> Value {
    let given = form.given.iter().map(|name| {
        let kind = &schema["properties"][name]["type"];
        if kind.is_null() {
            // A union type: only null is excluded.
            return (*name, json!({ "not": { "type": "null" } }));
        }
        let mut kind = json!({ "type": kind });
        without_null(&mut kind);
        (*name, kind)
    });
    let absent = form.absent.iter().map(|name| (*name, json!({ "type": "null" })));
    let off = form.off.iter().map(|name| (*name, json!({ "enum": [false, null] })));
    let or_nothing =
        |words: &[&str]| -> Vec<Value> { words.iter().map(|word| json!(word)).chain([Value::Null]).collect() };
    let words = form.words.iter().map(|(name, words)| (*name, json!({ "enum": or_nothing(words) })));
    let properties: Map<String, Value> =
        given.chain(absent).chain(off).chain(words).map(|(name, sentence)| (name.to_owned(), sentence)).collect();
    json!({ "type": "object", "required": form.given, "properties": properties })
}

/// Closes enum variants to unknown fields, as requests reject them. The derived schema closes only structs.
fn close(schema: &mut Value) {
    for variant in
        schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
    {
        if variant.contains_key("properties") {
            variant.insert("additionalProperties".to_owned(), json!(false));
        }
    }
}

fn header_parameter(heeded: &Heeded) -> Value {
    let Heeded { name, description, kind } = heeded;
    let schema = texts::text(kind);
    json!({ "name": name, "in": "header", "required": false, "description": description, "schema": schema })
}

fn add_parameters(operation: &mut Value, more: Vec<Value>) {
    if let Some(parameters) = operation["parameters"].as_array_mut() {
        parameters.extend(more);
    }
}

fn idempotency_key(anew: bool) -> Value {
    let description = if anew {
        "Only its format is checked: the response is not stored, and a repeated request runs again"
    } else {
        "A request with a key is carried out once; a repeat within 24 hours gets the same response"
    };
    json!({
        "name": "Idempotency-Key", "in": "header", "required": false, "description": description,
        "schema": { "type": "string", "minLength": 1, "maxLength": crate::request::idempotency::KEY_CHARS_MAX, "pattern": "^[!-~]+$" },
    })
}

fn path_parameters(route: &Route) -> Vec<Value> {
    let names = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| name.trim_start_matches('*'));
    let schema = |name: &str| match name {
        "timeline_id" => texts::text(texts::TIMELINE_ID),
        "tile" => texts::text(texts::TILE),
        _ => texts::text(texts::ID),
    };
    let description = |name: &str| match name {
        "tile" => "The path of the tile or entry bundle.".to_owned(),
        "lease_id" => "The hold.".to_owned(),
        "key_id" => "The API key.".to_owned(),
        _ => format!("The {}.", name.trim_end_matches("_id")),
    };
    let parameter = |name: &str| {
        json!({
            "name": name, "in": "path", "required": true, "description": description(name), "schema": schema(name),
        })
    };
    names.map(parameter).collect()
}

fn query_parameters(schema: &Value) -> Vec<Value> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object();
    let parameter = |(name, property): (&String, &Value)| {
        let mut schema = property.clone();
        // An optional enum has its description at the reference.
        let at_reference = schema.pointer("/oneOf/0/description").cloned();
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description")).or(at_reference);
        without_null(&mut schema);
        texts::spell_out(&mut schema);
        without_list(&mut schema);
        let is_object = schema["type"] == "object";
        if is_object {
            without_list(&mut schema["additionalProperties"]);
        }
        let mut parameter = json!({
            "name": name, "in": "query", "required": required.contains(&name.as_str()),
            "description": description.unwrap_or_else(|| json!("")), "schema": schema,
        });
        if is_object {
            (parameter["style"], parameter["explode"]) = (json!("deepObject"), json!(true));
        }
        parameter
    };
    properties.into_iter().flatten().map(parameter).collect()
}

/// In a query string each parameter is given once as text, so the list alternative of a type is removed.
fn without_list(schema: &mut Value) {
    let is_text_too = schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!("string")));
    if is_text_too && let Some(object) = schema.as_object_mut() {
        object.remove("items");
        without_kind("array", schema);
    }
}

/// Removes one type from the types that a schema allows, if others remain.
fn without_kind(kind: &str, schema: &mut Value) {
    let Some(kinds) = schema["type"].as_array_mut() else { return };
    kinds.retain(|allowed| allowed != kind);
    if let [kind] = kinds.as_slice() {
        schema["type"] = kind.clone();
    }
}

/// Removes null, which a query string cannot express.
fn without_null(schema: &mut Value) {
    if schema["type"].is_array() {
        without_kind("null", schema);
    } else if schema.get("type").is_some_and(Value::is_null)
        && let Some(object) = schema.as_object_mut()
    {
        object.remove("type");
    }
}

fn is_anything_required(schema: &Value) -> bool {
    schema["required"].as_array().is_some_and(|required| !required.is_empty())
}

fn is_any_form_needed(forms: &[Form]) -> bool {
    !forms.is_empty() && forms.iter().all(|form| !form.given.is_empty())
}

fn json_body(name: &str, required: bool) -> Value {
    json!({ "required": required, "content": { "application/json": { "schema": reference(name) } } })
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

fn collect_request(wire: &WireType, schemas: &mut Map<String, Value>) {
    collect(wire, schemas);
    let names = wire.parts.iter().map(|(name, _)| name).chain([&wire.name]);
    names.for_each(|name| close(&mut schemas[name]));
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn value(schema: &impl serde::Serialize) -> Value {
    serde_json::to_value(schema).expect("a schema contains only text, numbers and lists")
}
