//! JSON merge patches (RFC 7396): the difference between two documents, and its application.

use serde_json::{Map, Value};

pub(super) fn apply(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (name, value) in patch {
        if value.is_null() {
            target.remove(&name);
        } else {
            apply(target.entry(name).or_insert(Value::Null), value);
        }
    }
}

/// `None` if the documents are equal. A merge patch cannot set a member to `null`.
#[cfg(feature = "schema")]
pub(super) fn between(from: &Value, to: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (from, to) else {
        return (from != to).then(|| to.clone());
    };
    let removed = before.keys().filter(|name| !after.contains_key(*name)).map(|name| (name.clone(), Value::Null));
    let changed = after.iter().filter_map(|(name, value)| {
        let patch = before.get(name).map_or_else(|| Some(value.clone()), |before| between(before, value))?;
        Some((name.clone(), patch))
    });
    let patch: Map<String, Value> = removed.chain(changed).collect();
    (!patch.is_empty()).then_some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Examples of RFC 7396, appendix A.
    #[test]
    fn merge_patch_matches_rfc_7396_examples() {
        let check = |mut target: Value, patch: Value, expected: Value| {
            apply(&mut target, patch);
            assert_eq!(target, expected);
        };
        check(json!({"a":"b"}), json!({"a":"c"}), json!({"a":"c"}));
        check(json!({"a":"b","b":"c"}), json!({"a":null}), json!({"b":"c"}));
        check(json!({"a":{"b":"c"}}), json!({"a":{"b":"d","c":null}}), json!({"a":{"b":"d"}}));
        check(json!({"a":[{"b":"c"}]}), json!({"a":[1]}), json!({"a":[1]}));
        check(json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"]));
        check(json!({"a":"foo"}), json!("bar"), json!("bar"));
        check(json!([1, 2]), json!({"a":"b","c":null}), json!({"a":"b"}));
        check(json!({}), json!({"a":{"bb":{"ccc":null}}}), json!({"a":{"bb":{}}}));
    }
}
