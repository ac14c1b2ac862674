//! Finds one attribute in the JSON of all attributes of an event. The others are skipped without being parsed.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Returns the value of a key or dotted path, as [`timenav_core::event::attribute_at`] does.
pub(super) fn attribute_in(object: &str, key: &str) -> Option<Value> {
    let mut members = serde_json::Deserializer::from_str(object).deserialize_map(Path(key)).ok()?;
    members.sort_by_key(|(name_bytes, _)| (*name_bytes != key.len(), *name_bytes));
    members.into_iter().find_map(|(name_bytes, value)| match key.get(name_bytes + 1..) {
        Some(rest) => attribute_in(value.get(), rest),
        None => serde_json::from_str(value.get()).ok(),
    })
}

/// Selects the members of an object that a path may lead through: the one with its name, and those whose names it
/// begins with, up to a dot. Returns the length of the name and the value of each.
struct Path<'k>(&'k str);

impl<'de> Visitor<'de> for Path<'_> {
    type Value = Vec<(usize, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(name_bytes) = map.next_key_seed(Name(self.0))? {
            match name_bytes {
                Some(name_bytes) => members.push((name_bytes, map.next_value()?)),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(members)
    }
}

/// Returns the length of a name if a path leads through it.
struct Name<'k>(&'k str);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let rest = self.0.strip_prefix(name);
        Ok(rest.filter(|rest| rest.is_empty() || rest.starts_with('.')).map(|_| name.len()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use timenav_core::event::attribute_at;

    use super::*;

    fn check(attributes: &Value, key: &str) {
        let expected = attribute_at(attributes, key, &|of, key| of.get(key)).cloned();
        assert_eq!(attribute_in(&attributes.to_string(), key), expected, "{key} in {attributes}");
    }

    #[test]
    fn attribute_of_json_text_is_the_parsed_one() {
        let attributes = serde_json::json!({
            "a.b": 1, "a": { "b": 2, "c.d": { "e": 3 } }, "f": [4], "\"é": { "\n": 1e21 }, "": { "": null, "x": true }
        });
        for key in ["a.b", "a.c.d.e", "a.c", "f", "b", "a.", "f.0", "", ".", ".x", "\"é", "\"é.\n", "é"] {
            check(&attributes, key);
        }
        for other in ["[1]", "1", "null", "{", ""] {
            assert_eq!(attribute_in(other, "a"), None, "{other}");
        }
    }

    fn objects() -> impl Strategy<Value = Value> {
        let leaf = (0..9_u8).prop_map(Value::from);
        leaf.prop_recursive(3, 24, 4, |inner| {
            let members = proptest::collection::btree_map("[ab.]{0,3}", inner, 0..4);
            members.prop_map(|members| Value::Object(members.into_iter().collect()))
        })
    }

    proptest! {
        #[test]
        fn attribute_without_parsing_equals_parsed_attribute(attributes in objects(), key in "[ab.]{0,6}") {
            check(&attributes, &key);
        }
    }
}
