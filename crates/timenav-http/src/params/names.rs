//! Every name in a JSON body stands once in its object, in those too that nobody looks into: of two values, readers
//! would choose one or the other (RFC 8259 §4).

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::fault;
use crate::problem::Failure;

/// Refuses a body in which a name stands twice. What is no JSON is told by whoever reads it.
pub(super) fn check(json: &[u8]) -> Result<(), Failure> {
    if json.is_empty() || serde_json::from_slice::<Unique>(json).is_ok() {
        return Ok(());
    }
    if serde_json::from_slice::<serde::de::IgnoredAny>(json).is_err() {
        return Ok(());
    }
    // Where it is costs more to find out.
    let mut reader = serde_json::Deserializer::from_slice(json);
    match serde_path_to_error::deserialize::<_, Unique>(&mut reader) {
        Ok(Unique) => Ok(()),
        Err(error) => Err(fault(&error)),
    }
}

/// Any JSON whose objects have each name once. Nothing of it is kept.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        let mut names = HashSet::new();
        while let Some(Name(name)) = fields.next_key()? {
            if names.contains(&name) {
                return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
            }
            names.insert(name);
            fields.next_value::<Self>()?;
        }
        Ok(self)
    }
}

/// A name, borrowed unless it is written with escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(AnyName)
    }
}

struct AnyName;

impl<'de> Visitor<'de> for AnyName {
    type Value = Name<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Name<'de>, E> {
        Ok(Name(name.into()))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Name<'de>, E> {
        Ok(Name(name.to_owned().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::FaultKind;

    #[test]
    fn a_name_stands_once_in_its_object() {
        let ok = |json: &str| assert!(check(json.as_bytes()).is_ok(), "{json}");
        ok("");
        ok("{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":2.5},null,true,-1,\"a\"]}");
        // Not JSON: others tell.
        ok("{\"a\":1,\"a\":");
        let refused = |json: &str, at: &str| match check(json.as_bytes()) {
            Err(Failure::Parameter(fault)) => {
                assert_eq!((fault.kind, fault.path.as_str()), (FaultKind::Conflicting, at), "{json}");
            }
            other => panic!("{json}: {other:?}"),
        };
        refused("{\"a\":1,\"a\":1}", "a");
        refused("{\"a\":1,\"\\u0061\":2}", "a");
        refused("{\"attributes\":{\"b\":[0,{\"c\":1,\"c\":2}]}}", "attributes/b/1/c");
        refused("{\"t\":\"main\",\"data\":{\"z\":1,\"a\":1.10, \"e\":1E2,\"a\":{}},\"k\":\"\"}", "data/a");
        refused("[{\"data\":{}},{\"data\":{\"x\":1,\"y\":2,\"x\":3}}]", "1/data/x");
    }
}
