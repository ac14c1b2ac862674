use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::route::Gives;

/// Visits every object within a value, with the names that lead to it.
fn each_object<'a>(value: &'a Value, place: &str, visit: &mut dyn FnMut(&'a Map<String, Value>, &str)) {
    match value {
        Value::Object(object) => {
            visit(object, place);
            object.iter().for_each(|(name, value)| each_object(value, &format!("{place}/{name}"), visit));
        }
        Value::Array(items) => items.iter().for_each(|item| each_object(item, place, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the strings with a name, such as `$ref`, outside examples.
fn strings_of<'a>(document: &'a Value, name: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    each_object(document, "", &mut |object, place| {
        if !place.contains("/example") {
            found.extend(object.get(name).and_then(Value::as_str));
        }
    });
    found
}

#[test]
fn committed_openapi_documents_match_the_routes() {
    let write = "run `cargo xtask openapi`";
    assert!(crate::openapi::OPENAPI == openapi(), "docs/api/openapi.json is not what the routes say; {write}");
    let newer = text(&document(Version::V3_2));
    assert!(
        crate::openapi::OPENAPI_3_2_SERVED.plain == newer.as_bytes(),
        "docs/api/openapi-3.2.patch.json is not what the routes say; {write}"
    );
}

#[test]
fn every_openapi_reference_resolves() {
    let document: Value = serde_json::from_str(&openapi()).unwrap();
    let found = strings_of(&document, "$ref");
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

#[test]
fn schema_names_are_unique_per_type() {
    let mut known: BTreeMap<String, Value> = BTreeMap::new();
    for route in operations() {
        for wire in wire_types(&route) {
            let parts = wire.parts.iter().map(|(name, schema)| (name, value(schema)));
            for (name, schema) in parts.chain([(&wire.name, value(&wire.schema))]) {
                let first = known.entry(name.clone()).or_insert_with(|| schema.clone());
                assert_eq!(*first, schema, "two types are called `{name}`, and the document can have one of them");
            }
        }
    }
}

fn wire_types(route: &Route) -> Vec<&WireType> {
    let taken = match &route.takes {
        Takes::Nothing => None,
        Takes::Params(wire) | Takes::Body(wire) | Takes::File(wire, _) => Some(wire),
    };
    let mut found: Vec<&WireType> = taken.into_iter().collect();
    match &route.gives {
        Gives::Json(wire) | Gives::Stream(wire, _) | Gives::Text(_, wire) => found.push(wire),
        Gives::WithProgress(wire, progress) => found.extend([wire, &**progress]),
        Gives::Bytes | Gives::File | Gives::Lines(_) => {}
    }
    found
}

#[test]
fn every_openapi_format_is_documented() {
    // Formats of the OpenAPI registry need no description.
    let registered = ["binary", "double", "int32", "int64", "password"];
    let document = document(Version::V3_2);
    let mut found = strings_of(&document, "format");
    found.retain(|format| !registered.contains(format));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/http-api.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, section) = text.split_once("\n## Formats in the OpenAPI document\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.collect::<BTreeSet<_>>(), found);
}

#[test]
fn text_formats_are_expanded_in_schemas() {
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
fn body_schema_requires_one_of_two_parameters() {
    let schemas = &document(Version::V3_1)["components"]["schemas"];
    let alone = |given: &str, absent: &str| json!({ "type": "object", "required": [given], "properties": { given: { "type": "string" }, absent: { "type": "null" } } });
    assert_eq!(schemas["EraseRequest"]["anyOf"], json!([alone("data_id", "event_id"), alone("event_id", "data_id")]));
}

/// Collects the places in a request schema that accept arbitrary text.
fn free_texts(schema: &Value, schemas: &Value, place: &str, found: &mut BTreeSet<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return free_texts(&schemas[name], schemas, &format!("{place} {name}"), found);
    }
    let is_text =
        schema["type"] == "string" || schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!("string")));
    let is_ruled = ["pattern", "format", "enum", "maxLength", "anyOf"].iter().any(|rule| schema.get(rule).is_some());
    // The value of an assertion is arbitrary JSON, including arbitrary text, and an attribute has any text as a value.
    let is_arbitrary = ["AssertionRecord.value", "AggregateRequest.values", "aggregate_events?\"values\""];
    if is_text && !is_ruled && !is_arbitrary.iter().any(|arbitrary| place.ends_with(arbitrary)) {
        found.insert(place.to_owned());
    }
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        free_texts(property, schemas, &format!("{place}.{name}"), found);
    }
    free_texts_of_items(schema, schemas, place, found);
}

fn free_texts_of_items(schema: &Value, schemas: &Value, place: &str, found: &mut BTreeSet<String>) {
    if let Some(items) = schema.get("items") {
        free_texts(items, schemas, &format!("{place}[]"), found);
    }
    // A `oneOf` next to `properties` only says which fields go together; the fields are described in `properties`.
    let variants = schema["oneOf"].as_array().filter(|_| schema.get("properties").is_none());
    for variant in variants.into_iter().flatten() {
        free_texts(variant, schemas, place, found);
    }
}

#[test]
fn every_request_text_is_constrained() {
    let document = document(Version::V3_2);
    let mut found = BTreeSet::new();
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|methods| methods.as_object().unwrap().values());
    for operation in operations {
        let place = operation["operationId"].as_str().unwrap();
        let schemas = &document["components"]["schemas"];
        for parameter in operation["parameters"].as_array().unwrap() {
            free_texts(&parameter["schema"], schemas, &format!("{place}?{}", parameter["name"]), &mut found);
        }
        free_texts(&operation["requestBody"]["content"]["application/json"]["schema"], schemas, place, &mut found);
    }
    assert_eq!(found, BTreeSet::new());
}

#[test]
fn incompatible_parameters_are_excluded_in_schemas() {
    let schemas = &document(Version::V3_2)["components"]["schemas"];
    let forms = |name: &str| schemas[name]["anyOf"].clone();
    let alone = json!({ "at": { "type": "null" }, "deliver_webhooks": { "type": "null" } });
    let fork = json!({ "fork_of": { "type": "string" } });
    assert_eq!(
        forms("TimelineRequest"),
        json!([
            { "type": "object", "required": [], "properties": alone },
            { "type": "object", "required": ["fork_of"], "properties": fork },
        ])
    );
    // Witnesses vouch for single entries. Proofs of growth are JSON.
    let absent = json!({ "type": "null" });
    let off = json!({ "enum": [false, null] });
    let format = json!({ "enum": ["json", null] });
    let growth = json!({ "from": { "type": "integer" }, "position": absent, "witnessed": off, "format": format });
    assert_eq!(forms("ProofRequest")[1], json!({ "type": "object", "required": ["from"], "properties": growth }));
}

#[test]
fn documented_statuses_match_the_operations() {
    let document = document(Version::V3_1);
    let may_come = |path: &str, status: &str| document["paths"][path]["post"]["responses"].get(status).is_some();
    // The clock and events have entity tags. Timelines have none.
    for (path, has_tag) in [("/v1/travel", true), ("/v1/correct-event", true), ("/v1/events", false)] {
        assert_eq!(may_come(path, "412"), has_tag, "{path}");
    }
    // An identical timer may have been set before. An event is never recorded twice.
    for (path, is_there) in [("/v1/timers", true), ("/v1/events", false)] {
        assert_eq!((may_come(path, "200"), may_come(path, "201")), (is_there, true), "{path}");
    }
}

#[test]
fn query_string_list_is_comma_separated() {
    let document = document(Version::V3_2);
    let of_get = document["paths"]["/v1/monitor-paradox"]["get"]["parameters"].as_array().unwrap();
    let kinds = &of_get.iter().find(|parameter| parameter["name"] == "kinds").unwrap()["schema"];
    assert_eq!(kinds["type"], "string");
    assert!(kinds.get("items").is_none() && kinds["pattern"].as_str().unwrap().contains("[Pp]01|effect_before_cause|"));
    let of_body = &document["components"]["schemas"]["ParadoxRequest"]["properties"]["kinds"];
    assert_eq!(of_body["type"], json!(["array", "string", "null"]));
    assert!(of_body["items"]["pattern"].as_str().unwrap().ends_with("|[Pp]15|interval_inverted)$"));
}

#[test]
fn variants_reject_unknown_fields() {
    let document = document(Version::V3_1);
    let variants = document["components"]["schemas"]["EffectRequest"]["oneOf"].as_array().unwrap();
    assert_eq!(variants.len(), 9);
    assert!(variants.iter().all(|variant| variant["additionalProperties"] == false));
}

#[test]
fn correction_requires_an_event_id() {
    let document = document(Version::V3_1);
    let event = &document["components"]["schemas"]["CorrectedRecord"];
    assert!(event["required"].as_array().unwrap().contains(&json!("event_id")));
    assert_eq!(event["properties"]["event_id"]["type"], "string");
    let recorded = &document["components"]["schemas"]["EventRecord"];
    assert_eq!(recorded["properties"]["event_id"]["type"], json!(["string", "null"]));
}

#[test]
fn openapi_document_has_no_unused_schemas_or_null_defaults() {
    for version in [Version::V3_1, Version::V3_2] {
        let document = document(version);
        assert_eq!(document["servers"][0]["url"], "/");
        let found = strings_of(&document, "$ref");
        for name in document["components"]["schemas"].as_object().unwrap().keys() {
            assert!(found.contains(format!("#/components/schemas/{name}").as_str()), "{name} is never used");
        }
        // An omitted field is null anyway.
        each_object(&document, "", &mut |object, place| {
            assert!(object.get("default") != Some(&Value::Null) || place.ends_with("example"), "{place}");
        });
    }
}

#[test]
fn every_request_and_response_has_a_valid_example() {
    let document = document(Version::V3_1);
    let schemas = &document["components"]["schemas"];
    let mut count = 0;
    let mut look = |content: &Value, place: &str| {
        for (kind, media) in content.as_object().into_iter().flatten() {
            if kind != "application/json" && kind != "application/problem+json" {
                continue;
            }
            let example = media.get("example").unwrap_or_else(|| panic!("{place} has no example"));
            fits(example, &media["schema"], schemas, place);
            count += 1;
        }
    };
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            look(&operation["requestBody"]["content"], &format!("{method} {path}"));
            for (status, answer) in operation["responses"].as_object().unwrap() {
                look(&answer["content"], &format!("{method} {path} {status}"));
            }
        }
    }
    for (status, answer) in document["components"]["responses"].as_object().unwrap() {
        look(&answer["content"], status);
    }
    assert!(count > 100, "{count}");
}

/// Validates a value against the schema keywords used here: types, enums, lengths, bounds and fields.
#[track_caller]
fn fits(value: &Value, schema: &Value, schemas: &Value, place: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        return fits(value, &schemas[reference.rsplit('/').next().unwrap()], schemas, place);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        fits(value, part, schemas, place);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allows = |allowed: &Value| allowed == kind || (allowed == "number" && kind == "integer");
    let is_allowed = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(allows),
        one => allows(one),
    };
    assert!(is_allowed, "{place}: {value} is no {}", schema["type"]);
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{place}: {value} is none of {words:?}");
    }
    if let Some(text) = value.as_str() {
        let chars = text.chars().count() as u64;
        assert!(chars >= schema["minLength"].as_u64().unwrap_or(0), "{place}: {text}");
        assert!(chars <= schema["maxLength"].as_u64().unwrap_or(u64::MAX), "{place}: {text}");
        assert_ne!(schema["not"]["const"], *value, "{place}");
    }
    if let Some(number) = value.as_f64() {
        assert!(number >= schema["minimum"].as_f64().unwrap_or(f64::MIN), "{place}: {number}");
        assert!(number <= schema["maximum"].as_f64().unwrap_or(f64::MAX), "{place}: {number}");
    }
    for item in value.as_array().into_iter().flatten() {
        fits(item, &schema["items"], schemas, place);
    }
    if let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object()) {
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(object.contains_key(required.as_str().unwrap()), "{place}: {required} is missing");
        }
        for (name, member) in object {
            match properties.get(name) {
                Some(property) => fits(member, property, schemas, &format!("{place}.{name}")),
                None => assert_ne!(schema["additionalProperties"], false, "{place}: {name} is not known"),
            }
        }
    }
}
