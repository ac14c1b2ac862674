//! The event fields that a CSV column or a GeoJSON property can fill.

use serde_json::{Map, Value};
use timenav_core::event::EventKind;
use timenav_core::limits::EVENT_SEQUENCE_MAX;
use timenav_core::named;

use crate::event_record::AssertionRecord;

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Field {
        EventId = "event_id",
        Time = "time",
        EndTime = "end_time",
        Precision = "precision",
        Description = "description",
        Name = "name",
        Location = "location",
        Lat = "lat",
        Lon = "lon",
        RadiusM = "radius_m",
        /// A latitude and a longitude in one value.
        Geo = "geo",
        Causes = "causes",
        Actors = "actors",
        Source = "source",
        Kind = "kind",
        Asserts = "asserts",
        Sequence = "sequence",
        Attributes = "attributes",
    }
}

pub(crate) const FIELDS: usize = Field::ALL.len();

impl Field {
    /// Returns the field with that name, or with that path in the JSON of an event.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let word = word.strip_prefix("geo.").filter(|rest| matches!(*rest, "lat" | "lon" | "radius_m")).unwrap_or(word);
        Self::parse(word)
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// Returns the column names that are used without a mapping, most specific first.
    pub(crate) const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::EventId => &["event_id", "id"],
            Self::Time => &["time", "timestamp", "date_time", "datetime"],
            Self::EndTime => &["end_time"],
            Self::Precision => &["precision"],
            Self::Description => &["description"],
            Self::Name => &["name"],
            Self::Location => &["location", "place"],
            Self::Lat => &["lat", "latitude"],
            Self::Lon => &["lon", "lng", "long", "longitude"],
            Self::RadiusM => &["radius_m"],
            // A common name for many things. Only a mapping makes it a point.
            Self::Geo => &[],
            Self::Causes => &["causes"],
            Self::Actors => &["actors"],
            Self::Source => &["source"],
            Self::Kind => &["kind"],
            Self::Asserts => &["asserts"],
            Self::Sequence => &["sequence"],
            Self::Attributes => &["attributes"],
        }
    }

    /// Property names used without a mapping, most specific first. The place of a feature is in its geometry.
    pub(crate) const fn properties(self) -> &'static [&'static str] {
        match self {
            Self::Time => &["time", "timestamp", "datetime", "date"],
            Self::Description => &["description", "title"],
            Self::Name => &["name", "title"],
            Self::Lat | Self::Lon | Self::Geo => &[],
            _ => self.columns(),
        }
    }

    /// Returns the JSON member names that are used without a mapping, most specific first.
    pub(crate) const fn members(self) -> &'static [&'static str] {
        match self {
            Self::Time => &["time", "timestamp", "@timestamp", "datetime", "ts", "date"],
            Self::Description => &["description", "message", "msg"],
            _ => self.columns(),
        }
    }

    /// Whether a text fits a field whose name is also a common word. If not, it becomes an attribute.
    pub(crate) fn can_mean(self, text: &str) -> bool {
        match self {
            Self::Kind => EventKind::parse(text).is_some(),
            Self::Asserts => serde_json::from_str::<Vec<AssertionRecord>>(text).is_ok(),
            Self::Sequence => sequence(text).is_some(),
            Self::Attributes => text.starts_with('{') && serde_json::from_str::<Map<String, Value>>(text).is_ok(),
            _ => true,
        }
    }

    pub(crate) const fn is_usual_word(self) -> bool {
        matches!(self, Self::Kind | Self::Asserts | Self::Sequence | Self::Attributes)
    }
}

pub(crate) fn sequence(text: &str) -> Option<u64> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| text.parse().ok()).flatten().filter(|number| *number <= EVENT_SEQUENCE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        for (place, field) in Field::ALL.into_iter().enumerate() {
            assert_eq!(Field::from_word(field.as_str()), Some(field));
            assert_eq!(field.index(), place);
        }
        assert_eq!(Field::from_word("geo.lat"), Some(Field::Lat));
        assert_eq!(Field::from_word("geo.radius_m"), Some(Field::RadiusM));
        assert_eq!(Field::from_word("geo.time"), None);
        assert_eq!(Field::from_word("geo"), Some(Field::Geo));
    }
}
