//! Strict parsing of JSON objects, and of whole numbers in any notation.
//!
//! A derived `Deserialize` also accepts an array for a struct, in the order of its fields: `[29.95, -90.07, null]`
//! would be a point. Here only an object is accepted.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Unexpected, Visitor};

use super::{CauseObject, CauseRecord};

/// Parses an object, or `null` as `None`.
pub(super) fn optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_any(OptionalObject(PhantomData))
}

struct OptionalObject<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OptionalObject<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }
}

/// Parses a whole number, or `null` as `None`. In JSON `2.0` equals `2` (JSON Schema, Core §4.2.2).
pub(super) fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    deserializer.deserialize_any(WholeNumber)
}

struct WholeNumber;

impl Visitor<'_> for WholeNumber {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of 0 or more")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        // Removes the sign of zero. A whole number is formatted without a fraction.
        let read = (number + 0.0).to_string().parse();
        read.map(Some).map_err(|_| E::invalid_type(Unexpected::Float(number), &self))
    }
}

impl<'de> Deserialize<'de> for CauseRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrObject)
    }
}

struct TextOrObject;

impl<'de> Visitor<'de> for TextOrObject {
    type Value = CauseRecord;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of an event, or an object with `event_id` and `kind`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<CauseRecord, E> {
        Ok(CauseRecord::Id(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CauseRecord, A::Error> {
        CauseObject::deserialize(MapAccessDeserializer::new(map)).map(CauseRecord::Object)
    }
}
