//! `attribute.KEY=VALUE`: parameters whose names contain a key chosen by the caller. They are combined into one
//! parameter, `attribute`: an object of keys and lists of values.

use serde_json::{Map, Value};

use super::conflict;
use crate::response::problem::Failure;

const ATTRIBUTE: &str = "attribute";

/// Accepts `attribute.KEY`, and `attribute[KEY]` as OpenAPI writes an object in a query string.
pub(super) fn key(name: &str) -> Option<&str> {
    let rest = name.strip_prefix(ATTRIBUTE)?;
    rest.strip_prefix('.').or_else(|| rest.strip_prefix('[')?.strip_suffix(']'))
}

pub(super) fn add(parameters: &mut Map<String, Value>, key: &str, value: Value) -> Result<(), Failure> {
    let attributes = parameters.entry(ATTRIBUTE).or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(attributes) = attributes else { return Err(conflict(ATTRIBUTE)) };
    let values = attributes.entry(key).or_insert_with(|| Value::Array(Vec::new()));
    let mut listed = list(values.take());
    match value {
        Value::Array(more) => listed.extend(more),
        one => listed.push(one),
    }
    *values = Value::Array(listed);
    Ok(())
}

/// Returns whether a body has such names. It is parsed only if the bytes contain one, which is rare.
pub(super) fn are_in(body: &[u8]) -> bool {
    let name = b"\"attribute.";
    let may_be = memchr::memmem::find(body, name).is_some();
    may_be
        && serde_json::from_slice::<Map<String, Value>>(body)
            .is_ok_and(|given| given.keys().any(|name| key(name).is_some()))
}

pub(super) fn gathered(given: Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    let (with_keys, others): (Vec<_>, Vec<_>) = given.into_iter().partition(|(name, _)| key(name).is_some());
    let mut gathered: Map<String, Value> = others.into_iter().collect();
    for (name, value) in with_keys {
        add(&mut gathered, key(&name).unwrap_or_default(), value)?;
    }
    Ok(gathered)
}

/// Merges attributes of the query string into those of the body. Returns whether both had some.
pub(super) fn merge(given: &mut Value, name: &str, of_query: &Value) -> Result<bool, Failure> {
    let (ATTRIBUTE, Value::Object(given), Value::Object(of_query)) = (name, given, of_query) else { return Ok(false) };
    for (key, values) in of_query {
        match given.get(key) {
            None => drop(given.insert(key.clone(), values.clone())),
            Some(same) if texts(same) == texts(values) => {}
            Some(_) => return Err(conflict(&format!("{ATTRIBUTE}.{key}"))),
        }
    }
    Ok(true)
}

fn texts(value: &Value) -> Vec<String> {
    let text = |one: Value| one.as_str().map_or_else(|| one.to_string(), str::to_owned);
    list(value.clone()).into_iter().map(text).collect()
}

fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        one => vec![one],
    }
}
