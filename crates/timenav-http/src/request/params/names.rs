//! Rejects duplicate names in JSON objects at every level, even in values that are stored unparsed: readers would
//! disagree about which value to use (RFC 8259 §4).

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::fault;
use super::reader::{Name, ReadError, Segment};
use crate::response::problem::Failure;

/// Rejects a body with a duplicate name in an object. Syntax errors are left to the reader.
pub(super) fn check(json: &[u8]) -> Result<(), Failure> {
    if json.is_empty() {
        return Ok(());
    }
    let path = RefCell::new(Vec::new());
    let Err(error) = Unique { path: &path }.deserialize(&mut serde_json::Deserializer::from_slice(json)) else {
        return Ok(());
    };
    if serde_json::from_slice::<IgnoredAny>(json).is_err() {
        return Ok(());
    }
    Err(fault(&ReadError::at(&path.into_inner(), error.into())))
}

/// Any JSON with unique names per object. Only the path to a duplicate name is kept.
#[derive(Clone, Copy)]
struct Unique<'de, 'p> {
    path: &'p RefCell<Vec<Segment<'de>>>,
}

impl<'de> DeserializeSeed<'de> for Unique<'de, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'de, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        for index in 0.. {
            self.path.borrow_mut().push(Segment::Index(index));
            if items.next_element_seed(self)?.is_none() {
                break;
            }
            self.path.borrow_mut().pop();
        }
        self.path.borrow_mut().pop();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(Name(name)) = fields.next_key()? {
            self.path.borrow_mut().push(Segment::Name(name.clone()));
            if names.contains(&name) {
                return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
            }
            names.insert(name);
            fields.next_value_seed(self)?;
            self.path.borrow_mut().pop();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::problem::FaultKind;

    #[test]
    fn duplicate_member_names_are_rejected() {
        let ok = |json: &str| assert!(check(json.as_bytes()).is_ok(), "{json}");
        ok("");
        ok("{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":2.5},null,true,-1,\"a\"]}");
        // Invalid JSON is accepted here: the reader reports it.
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
