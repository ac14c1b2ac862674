//! Compact tool schemas, derived from the OpenAPI document: an agent has the schemas of all tools in its context.
//!
//! They contain argument and member names, types, enums, and the first part of each description. The error for an
//! invalid value explains the rest.

use serde_json::{Map, Value, json};

const IN_DOCUMENT: &str = "#/components/schemas/";
/// Maximum levels of members in a schema: those of an argument, and their members.
const MEMBERS_DEPTH_MAX: usize = 2;
const DESCRIBED_DEPTH_MAX: usize = 1;
/// Arguments of many tools that are explained by their names or by the server instructions.
const EXPLAINED: [&str; 6] = ["timeline_id", "limit", "cursor", "dry_run", "wait", "followers"];

pub(super) fn arguments(document: &Value, properties: &Map<String, Value>, required: &[String]) -> Map<String, Value> {
    let members = properties.iter().map(|(name, schema)| {
        let mut members = brief(document, schema, 0);
        if EXPLAINED.contains(&name.as_str()) {
            members.remove("description");
        }
        (name.clone(), Value::Object(members))
    });
    object(members.collect(), required.iter().map(String::as_str).collect())
}

pub(super) fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str().and_then(|reference| reference.strip_prefix(IN_DOCUMENT)) {
        Some(name) => &document["components"]["schemas"][name],
        None => schema,
    }
}

fn object(properties: Map<String, Value>, required: Vec<&str>) -> Map<String, Value> {
    let mut object = Map::from_iter([("type".to_owned(), json!("object"))]);
    object.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        object.insert("required".to_owned(), required.into());
    }
    object
}

fn brief(document: &Value, schema: &Value, depth: usize) -> Map<String, Value> {
    let full = resolved(document, schema);
    let mut description = match choices(full) {
        Some(choices) => one_of(choices.map(|choice| brief(document, choice, depth)).collect()),
        None => Map::new(),
    };
    if let Some(kind) = kind(full) {
        description.insert("type".to_owned(), kind);
    }
    if let Some(values) = full["enum"].as_array() {
        // An enum implies the type.
        description.remove("type");
        description.insert("enum".to_owned(), values.iter().filter(|value| !value.is_null()).cloned().collect());
    }
    if let Some(value) = full.get("const") {
        description.insert("const".to_owned(), value.clone());
    }
    if depth < MEMBERS_DEPTH_MAX {
        add_members(document, full, depth, &mut description);
    }
    let described =
        schema["description"].as_str().or(full["description"].as_str()).filter(|description| !description.is_empty());
    if let Some(text) = described.filter(|_| depth <= DESCRIBED_DEPTH_MAX) {
        description.insert("description".to_owned(), beginning(text).into());
    }
    description
}

fn add_members(document: &Value, schema: &Value, depth: usize, listed: &mut Map<String, Value>) {
    if let Some(members) = schema["properties"].as_object() {
        // Write-only members are secrets, which no agent is asked for.
        let open = members.iter().filter(|(_, member)| member["writeOnly"] != true);
        let members = open.map(|(name, member)| (name.clone(), brief(document, member, depth + 1).into()));
        listed.extend(object(members.collect(), required(schema)));
    }
    if let Some(item) = schema.get("items") {
        let mut item = brief(document, item, depth);
        item.remove("description");
        listed.insert("items".to_owned(), Value::Object(item));
    }
}

fn required(schema: &Value) -> Vec<&str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the type or types of a value without null.
fn kind(schema: &Value) -> Option<Value> {
    let Some(kinds) = schema["type"].as_array() else { return schema.get("type").cloned() };
    let kinds: Vec<&Value> = kinds.iter().filter(|kind| **kind != "null").collect();
    match kinds[..] {
        [] => None,
        [kind] => Some(kind.clone()),
        _ => Some(kinds.into_iter().cloned().collect()),
    }
}

fn choices(schema: &Value) -> Option<impl Iterator<Item = &Value>> {
    let choices = ["oneOf", "anyOf", "allOf"].into_iter().find_map(|word| schema[word].as_array())?;
    Some(choices.iter().filter(|choice| choice["type"] != "null"))
}

/// Merges alternatives into one schema. Objects become one object with all members.
fn one_of(choices: Vec<Map<String, Value>>) -> Map<String, Value> {
    let (objects, mut others): (Vec<_>, Vec<_>) =
        choices.into_iter().partition(|choice| choice.contains_key("properties"));
    others.extend(objects.into_iter().reduce(united));
    if let [one] = &mut others[..] {
        return std::mem::take(one);
    }
    if others.iter().all(|choice| choice.keys().all(|word| word == "type" || word == "description")) {
        let kinds = others.iter().filter_map(|choice| choice.get("type").cloned());
        let mut kinds: Vec<Value> = kinds.collect();
        kinds.dedup();
        return Map::from_iter([("type".to_owned(), Value::Array(kinds))]);
    }
    for choice in &mut others {
        choice.remove("description");
    }
    Map::from_iter([("anyOf".to_owned(), others.into_iter().map(Value::Object).collect())])
}

/// Merges two objects. Members are required if both require them.
fn united(mut one: Map<String, Value>, other: Map<String, Value>) -> Map<String, Value> {
    one.remove("description");
    let (one, other) = (Value::Object(one), Value::Object(other));
    let mut members = one["properties"].as_object().cloned().unwrap_or_default();
    for (name, member) in other["properties"].as_object().into_iter().flatten() {
        let known = members.entry(name.clone()).or_insert_with(|| member.clone());
        let known = known.get_mut("enum").and_then(Value::as_array_mut);
        if let (Some(known), Some(values)) = (known, member["enum"].as_array()) {
            let new: Vec<Value> = values.iter().filter(|value| !known.contains(value)).cloned().collect();
            known.extend(new);
        }
    }
    let both = required(&other);
    object(members, required(&one).into_iter().filter(|name| both.contains(name)).collect())
}

/// Returns a text up to the first period, semicolon or colon outside backticks.
fn beginning(text: &str) -> String {
    let mut is_code = false;
    let end = text.char_indices().find(|&(at, letter)| {
        is_code ^= letter == '`';
        !is_code && matches!(letter, '.' | ';' | ':') && text[at + 1..].chars().next().is_none_or(char::is_whitespace)
    });
    let part = end.map_or(text, |(at, _)| &text[..at]);
    part.split_whitespace().collect::<Vec<_>>().join(" ")
}
