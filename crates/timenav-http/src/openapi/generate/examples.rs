//! Examples derived from the schemas: the example of a field if it has one, or else a value of its type.

use serde_json::{Map, Value, json};

const DEPTH_MAX: usize = 8;

pub(super) fn add(document: &mut Value) {
    let schemas = document["components"]["schemas"].clone();
    add_below(document, &schemas);
}

fn add_below(value: &mut Value, schemas: &Value) {
    match value {
        Value::Object(object) => {
            for (name, media) in object.iter_mut() {
                let is_json = name == "application/json" || name == "application/problem+json";
                if is_json && let Some(schema) = media.get("schema").cloned() {
                    media["example"] = example(&schema, schemas, "", 0);
                } else {
                    add_below(media, schemas);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| add_below(item, schemas)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(super) fn example(schema: &Value, schemas: &Value, name: &str, depth: usize) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let referred = &schemas[reference.rsplit('/').next().unwrap_or_default()];
        return example(referred, schemas, name, depth);
    }
    let given = schema.get("example").or_else(|| schema["examples"].get(0)).or_else(|| schema.get("const"));
    if let Some(given) = given.or_else(|| schema["enum"].get(0)) {
        return given.clone();
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let parts = parts.iter().map(|part| example(part, schemas, name, depth));
        return Value::Object(parts.filter_map(|part| part.as_object().cloned()).flatten().collect());
    }
    let is_object = schema.get("properties").is_some();
    let variants = ["oneOf", "anyOf"].into_iter().find_map(|word| schema[word].as_array());
    if let (false, Some(variants)) = (is_object, variants) {
        let variant = variants.iter().find(|variant| variant["type"] != "null");
        return variant.map_or(Value::Null, |variant| example(variant, schemas, name, depth));
    }
    match kind(schema) {
        "object" => object(schema, schemas, depth),
        "array" => {
            let item = || example(&schema["items"], schemas, name, depth + 1);
            if depth < DEPTH_MAX { json!([item()]) } else { json!([]) }
        }
        "string" => json!(text(schema, name)),
        "integer" => json!(schema["minimum"].as_u64().unwrap_or(1).max(1)),
        "number" => json!(1.0),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => json!({}),
    }
}

fn kind(schema: &Value) -> &str {
    let kinds = &schema["type"];
    kinds.as_str().or_else(|| kinds.as_array()?.iter().find_map(Value::as_str)).unwrap_or_default()
}

/// Uses required fields and optional ones with an example, in the first form that the schema lists.
fn object(schema: &Value, schemas: &Value, depth: usize) -> Value {
    let form = &schema["anyOf"][0];
    let names = |schema: &Value| -> Vec<String> {
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (mut needed, formed) = (names(schema), names(form));
    needed.extend(formed);
    let mut made = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_reported = property.get("example").is_some() || property["examples"].get(0).is_some();
        let is_ruled_out = form["properties"][name]["type"] == "null";
        if !is_ruled_out && (needed.contains(name) || is_reported) && depth < DEPTH_MAX {
            made.insert(name.clone(), example(property, schemas, name, depth + 1));
        }
    }
    Value::Object(made)
}

fn text(schema: &Value, name: &str) -> String {
    let id = |kind: &str| format!("{kind}_01m7vsgh52ewg8wycc4r8s9czz");
    let by_format = match schema["format"].as_str().unwrap_or_default() {
        "timestamp" => "2005-08-29T11:10:00Z",
        "expiry" => "9999-01-01T00:00:00Z",
        "length-of-time" => "90m",
        "whole-seconds" => "P30D",
        "time-range" => "2005-08-29T00:00:00Z/P1D",
        "moment" => "1234",
        _ => "",
    };
    let by_name = match name {
        "anchor_id" | "data_id" | "key_id" | "session_id" | "intervention_id" | "request_id" => {
            let kind = name.trim_end_matches("_id");
            id(if kind == "request" { "req" } else { kind })
        }
        "api_key" => "tnk_0000000000000000000000000000000000000".chars().take(40).collect(),
        "root" | "leaf_hash" | "hash" | "sha256" | "hashes" | "payload_hash" | "directory_root" => "5f".repeat(32),
        "salt" => "5f".repeat(16),
        "timeline_id" | "of" | "fork_of" => "main".to_owned(),
        "user_id" | "actor" | "read" | "write" | "admin" | "created_by" | "operator" => "alice".to_owned(),
        "event_id" | "event_ids" | "events" => "moon-landing".to_owned(),
        "status" => "A sentence that says what happened.".to_owned(),
        "state" => "running".to_owned(),
        "role" => "admin".to_owned(),
        "password" | "current_password" | "encryption_key" => "correct horse battery staple".to_owned(),
        name if name.ends_with("time")
            || name.ends_with("_at")
            || name == "timestamp"
            || name.starts_with("origin_") =>
        {
            "2005-08-29T11:10:00Z".to_owned()
        }
        _ => "text".to_owned(),
    };
    if by_format.is_empty() { by_name } else { by_format.to_owned() }
}
