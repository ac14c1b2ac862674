use std::collections::HashSet;

use serde_json::{Map, Value};

/// The values of a repeated name become a list.
pub(crate) fn object_of(pairs: impl IntoIterator<Item = (String, Value)>) -> Map<String, Value> {
    let mut lists = HashSet::new();
    let mut object = Map::new();
    for (name, value) in pairs {
        match object.get_mut(&name) {
            None => {
                object.insert(name, value);
            }
            Some(Value::Array(values)) if lists.contains(&name) => values.push(value),
            Some(first) => {
                *first = Value::Array(vec![first.take(), value]);
                lists.insert(name);
            }
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_name_becomes_a_list() {
        let pair = |name: &str, value: Value| (name.to_owned(), value);
        let list = Value::from(vec![2]);
        let object = object_of([
            pair("a", 1.into()),
            pair("b", list.clone()),
            pair("a", list.clone()),
            pair("a", 3.into()),
            pair("b", 4.into()),
        ]);
        assert_eq!(Value::Object(object), serde_json::json!({"a": [1, [2], 3], "b": [[2], 4]}));
    }
}
