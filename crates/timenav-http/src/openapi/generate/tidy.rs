use std::collections::BTreeSet;

use serde_json::{Value, json};

/// Removes unreferenced schemas, such as those of parameters that appear individually in a query string.
pub(super) fn leave_out_unused(document: &mut Value) {
    let mut used = BTreeSet::new();
    let schemas = &document["components"]["schemas"];
    let mut open = named(&document["paths"]);
    open.extend(named(&document["components"]["responses"]));
    while let Some(name) = open.pop() {
        if used.insert(name.clone()) {
            open.extend(named(&schemas[&name]));
        }
    }
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        schemas.retain(|name, _| used.contains(name));
    }
}

fn named(value: &Value) -> Vec<String> {
    match value {
        Value::Object(object) => {
            let here = object.get("$ref").and_then(Value::as_str);
            let here = here.and_then(|reference| reference.strip_prefix("#/components/schemas/")).map(str::to_owned);
            object.values().flat_map(named).chain(here).collect()
        }
        Value::Array(items) => items.iter().flat_map(named).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Adds an empty `items` to lists without one: some tools require the keyword.
pub(super) fn describe_list_items(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.values_mut().for_each(describe_list_items);
            let is_list =
                |kind: &Value| kind == "array" || kind.as_array().is_some_and(|all| all.contains(&json!("array")));
            if object.get("type").is_some_and(is_list) && !object.contains_key("items") {
                object.insert("items".to_owned(), json!({}));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(describe_list_items),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
