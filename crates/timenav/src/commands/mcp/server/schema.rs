//! Schemas of the OpenAPI document as schemas that need no document: JSON Schema 2020-12, which both are written in.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Where the document has its schemas, and where a schema of a tool has them.
const IN_DOCUMENT: &str = "#/components/schemas/";
const IN_TOOL: &str = "#/$defs/";

/// Returns a schema of an object with all that it refers to inside it.
pub(super) fn standalone(document: &Value, root: &Value) -> Map<String, Value> {
    let mut named = BTreeSet::new();
    let mut root = rewritten(resolved(document, root), &mut named);
    let mut defined = Map::new();
    while let Some(name) = named.iter().find(|name| !defined.contains_key(*name)).cloned() {
        let schema = rewritten(&document["components"]["schemas"][&name], &mut named);
        defined.insert(name, schema);
    }
    // The protocol asks for the word at the root, which a reference or a choice has not.
    root["type"] = json!("object");
    if !defined.is_empty() {
        root["$defs"] = Value::Object(defined);
    }
    match root {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Returns the schema that a reference names, or the schema itself.
pub(super) fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str().and_then(|reference| reference.strip_prefix(IN_DOCUMENT)) {
        Some(name) => &document["components"]["schemas"][name],
        None => schema,
    }
}

/// Returns a schema that refers to `$defs`, and notes what it refers to.
fn rewritten(schema: &Value, named: &mut BTreeSet<String>) -> Value {
    match schema {
        Value::Object(members) => {
            let mut told = Map::new();
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("$ref", Value::String(reference)) => {
                        let name = reference.strip_prefix(IN_DOCUMENT).unwrap_or(reference);
                        named.insert(name.to_owned());
                        told.insert(key.clone(), format!("{IN_TOOL}{name}").into());
                    }
                    // Kinds of text that this API names by itself; checkers refuse what they do not know.
                    ("format", Value::String(_)) => {}
                    ("example", example) => {
                        told.insert("examples".to_owned(), json!([example]));
                    }
                    ("properties", Value::Object(properties)) => {
                        // What is written and never shown is a secret, and no agent is asked for one.
                        let open = properties.iter().filter(|(_, schema)| schema["writeOnly"] != true);
                        let open = open.map(|(name, schema)| (name.clone(), rewritten(schema, named)));
                        told.insert(key.clone(), Value::Object(open.collect()));
                    }
                    ("const" | "enum" | "default" | "examples" | "required", value) => {
                        told.insert(key.clone(), value.clone());
                    }
                    (_, value) => {
                        told.insert(key.clone(), rewritten(value, named));
                    }
                }
            }
            Value::Object(told)
        }
        Value::Array(items) => items.iter().map(|item| rewritten(item, named)).collect(),
        other => other.clone(),
    }
}
