//! The fields of an event that a column of CSV or a property of GeoJSON can fill.

/// A field that can be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    EventId,
    Time,
    EndTime,
    Precision,
    Description,
    Name,
    Location,
    Lat,
    Lon,
    RadiusM,
    Causes,
    Actors,
    Source,
}

/// How many fields there are.
pub(crate) const FIELDS: usize = Field::ALL.len();

impl Field {
    pub(crate) const ALL: [Self; 13] = [
        Self::EventId,
        Self::Time,
        Self::EndTime,
        Self::Precision,
        Self::Description,
        Self::Name,
        Self::Location,
        Self::Lat,
        Self::Lon,
        Self::RadiusM,
        Self::Causes,
        Self::Actors,
        Self::Source,
    ];

    /// Returns the word for it in a mapping.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::EventId => "event_id",
            Self::Time => "time",
            Self::EndTime => "end_time",
            Self::Precision => "precision",
            Self::Description => "description",
            Self::Name => "name",
            Self::Location => "location",
            Self::Lat => "lat",
            Self::Lon => "lon",
            Self::RadiusM => "radius_m",
            Self::Causes => "causes",
            Self::Actors => "actors",
            Self::Source => "source",
        }
    }

    /// Returns the field of that word, or of its name in the JSON of an event.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let word = word.strip_prefix("geo.").filter(|rest| matches!(*rest, "lat" | "lon" | "radius_m")).unwrap_or(word);
        Self::ALL.into_iter().find(|field| field.as_str() == word)
    }

    /// Returns its place in [`Field::ALL`].
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// Returns the columns that are it where nothing is mapped, the most telling first.
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
            Self::Causes => &["causes"],
            Self::Actors => &["actors"],
            Self::Source => &["source"],
        }
    }

    /// Returns the properties of a feature that are it where nothing is mapped, the most telling
    /// first. The geometry is where the feature is.
    pub(crate) const fn properties(self) -> &'static [&'static str] {
        match self {
            Self::Time => &["time", "timestamp", "datetime", "date"],
            Self::Description => &["description", "title"],
            Self::Name => &["name", "title"],
            Self::Lat | Self::Lon | Self::RadiusM => &[],
            Self::EventId
            | Self::EndTime
            | Self::Precision
            | Self::Location
            | Self::Causes
            | Self::Actors
            | Self::Source => self.columns(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named() {
        for (place, field) in Field::ALL.into_iter().enumerate() {
            assert_eq!(Field::from_word(field.as_str()), Some(field));
            assert_eq!(field.index(), place);
        }
        assert_eq!(Field::from_word("geo.lat"), Some(Field::Lat));
        assert_eq!(Field::from_word("geo.radius_m"), Some(Field::RadiusM));
        assert_eq!(Field::from_word("geo.time"), None);
        assert_eq!(Field::from_word("geo"), None);
    }
}
