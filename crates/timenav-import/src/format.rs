use std::str::FromStr;

use timenav_core::named;

use crate::suggestion;

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Format {
        /// One JSON object per line.
        Ndjson = "ndjson",
        /// JSON of any structure: an array of objects, or consecutive objects.
        Json = "json",
        /// One line of `key=value` per record.
        Logfmt = "logfmt",
        /// Tables with a header: comma-separated values (RFC 4180) and similar formats.
        Csv = "csv",
        /// A feature collection, or single features (RFC 7946).
        GeoJson = "geojson",
        /// `CloudEvents` 1.0 in JSON: a single one, a batch, or one per line.
        CloudEvents = "cloudevents",
        /// Calendars (RFC 5545).
        ICalendar = "icalendar",
        /// Zipkin spans, version 2 of the JSON format.
        Zipkin = "zipkin",
        /// Traces as exported by the Jaeger UI.
        Jaeger = "jaeger",
        /// `OpenTelemetry` traces in OTLP/JSON.
        Otlp = "otlp",
        /// Git commits, as written by `git log -z` in the format [`crate::GIT_LOG_FORMAT`].
        Git = "git",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a format that can be imported; {hint}")]
pub struct UnknownFormat {
    given: String,
    hint: String,
}

impl Format {
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Ndjson => "application/x-ndjson",
            Self::Csv => "text/csv",
            Self::GeoJson => "application/geo+json",
            Self::CloudEvents => "application/cloudevents-batch+json",
            Self::ICalendar => "text/calendar",
            Self::Json | Self::Zipkin | Self::Jaeger | Self::Otlp => "application/json",
            Self::Logfmt => "text/plain",
            Self::Git => "application/octet-stream",
        }
    }

    #[must_use]
    pub const fn takes_mapping(self) -> bool {
        matches!(self, Self::Csv | Self::GeoJson | Self::Ndjson | Self::Json | Self::Logfmt)
    }

    /// Returns the format of a file extension, given without its dot. `.json` is not mapped to a format because it says
    /// nothing about the contents.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            "csv" | "tsv" | "tab" => Some(Self::Csv),
            "logfmt" => Some(Self::Logfmt),
            "geojson" | "geojsonl" | "geojsons" | "geojsonseq" => Some(Self::GeoJson),
            "ics" | "ical" | "ifb" | "icalendar" => Some(Self::ICalendar),
            _ => None,
        }
    }

    /// Returns the format of a `Content-Type`, ignoring its parameters.
    #[must_use]
    pub fn from_content_type(content_type: &str) -> Option<Self> {
        let (essence, _parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
        match essence.trim().to_ascii_lowercase().as_str() {
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/x-jsonlines" => {
                Some(Self::Ndjson)
            }
            "text/csv" | "application/csv" | "text/tab-separated-values" => Some(Self::Csv),
            "application/geo+json" | "application/geo+json-seq" => Some(Self::GeoJson),
            "application/cloudevents+json" | "application/cloudevents-batch+json" => Some(Self::CloudEvents),
            "text/calendar" => Some(Self::ICalendar),
            _ => None,
        }
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        let named = Self::parse(text);
        named.ok_or_else(|| UnknownFormat {
            given: crate::item::clipped(text.to_owned()),
            hint: suggestion::hint("the formats", text, Self::ALL.map(Self::as_str)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_formats_are_parsed_by_name() {
        for format in Format::ALL {
            assert_eq!(format.as_str().parse(), Ok(format));
            // What traces and histories are sent as does not say what is inside.
            let is_general =
                ["application/json", "application/octet-stream", "text/plain"].contains(&format.content_type());
            let expected = (!is_general).then_some(format);
            assert_eq!(Format::from_content_type(format.content_type()), expected);
        }
        let check = |text: &str, expected: &str| {
            assert_eq!(text.parse::<Format>().unwrap_err().to_string(), expected);
        };
        check("ndjsn", "`ndjsn` is not a format that can be imported; did you mean `ndjson`?");
        check(
            "x",
            "`x` is not a format that can be imported; the formats are `ndjson`, `json`, `logfmt`, `csv`, `geojson`, \
             `cloudevents`, `icalendar`, `zipkin`, `jaeger`, `otlp`, `git`",
        );
    }

    #[test]
    fn formats_are_detected_by_extension_and_content_type() {
        assert_eq!(Format::from_extension("JSONL"), Some(Format::Ndjson));
        assert_eq!(Format::from_extension("tsv"), Some(Format::Csv));
        assert_eq!(Format::from_extension("geojsonl"), Some(Format::GeoJson));
        assert_eq!(Format::from_extension("json"), None);
        for (content_type, expected) in [
            ("application/x-ndjson", Some(Format::Ndjson)),
            ("text/csv; charset=utf-8; header=present", Some(Format::Csv)),
            ("Application/Geo+JSON", Some(Format::GeoJson)),
            ("application/json", None),
            ("", None),
        ] {
            assert_eq!(Format::from_content_type(content_type), expected, "{content_type}");
        }
    }
}
