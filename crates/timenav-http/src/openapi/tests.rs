use std::collections::BTreeSet;

use super::*;

/// Returns every `$ref` below a value.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_committed_document_is_this_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api/openapi.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == openapi_json(), "docs/api/openapi.json is not what the routes say; run `cargo xtask openapi`");
}

#[test]
fn every_reference_leads_somewhere() {
    let document: Value = serde_json::from_str(&openapi_json()).unwrap();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

#[test]
fn operation_ids_are_unique() {
    let mut ids: Vec<&str> = operations().iter().map(|route| route.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

/// Returns every `format` below a value.
fn formats(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("format").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|value| formats(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| formats(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_format_is_documented() {
    // Those of the registry of OpenAPI need no words.
    let registered = ["binary", "double", "int32", "int64", "password"];
    let mut found = BTreeSet::new();
    formats(&document(Version::V3_2), &mut found);
    found.retain(|format| !registered.contains(&format.as_str()));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api-design.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, section) = text.split_once("\n## Formats in the OpenAPI document\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.map(str::to_owned).collect::<BTreeSet<_>>(), found);
}

#[test]
fn a_kind_of_text_is_spelt_out_where_it_is_named() {
    let mut schema = json!({ "properties": {
        "format": { "type": ["string", "null"], "format": "actor" },
        "scopes": { "type": "array", "items": { "type": "string", "format": "scope" } },
        "size": { "type": "integer", "format": "int64" },
    } });
    texts::spell_out(&mut schema);
    let properties = &schema["properties"];
    assert_eq!(properties["format"], json!({ "type": ["string", "null"], "minLength": 1, "maxLength": 128 }));
    assert_eq!(properties["scopes"]["uniqueItems"], true);
    let scopes = ["timeline:read", "timeline:write", "timeline:admin", "operator"];
    assert_eq!(properties["scopes"]["items"], json!({ "type": "string", "enum": scopes }));
    assert_eq!(properties["size"]["format"], "int64");
}

#[test]
fn one_of_two_parameters_is_said_of_a_body() {
    let schemas = &document(Version::V3_1)["components"]["schemas"];
    let alone = |given: &str, absent: &str| json!({ "required": [given], "properties": { given: { "type": "string" }, absent: { "type": "null" } } });
    assert_eq!(schemas["EraseRequest"]["oneOf"], json!([alone("data_id", "event_id"), alone("event_id", "data_id")]));
}
