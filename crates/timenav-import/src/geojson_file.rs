//! GeoJSON: one event a feature (RFC 7946).

mod members;
mod feature;
mod geometry;
#[cfg(test)]
mod tests;

use std::io::Read;

use serde::de::DeserializeSeed;
use serde_json::error::Category;

use crate::event_record::without_position;
use crate::item::clipped;
use crate::limits::FEATURE_BYTES_MAX;
use crate::mapping::Mapping;
use crate::meter::Meter;
use crate::{ImportError, Sink};
use members::{Members, Progress};

/// Reads a feature collection feature by feature, or a single feature.
pub(crate) fn read(mapping: &Mapping, input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    let meter = Meter::new(FEATURE_BYTES_MAX);
    let mut reader = serde_json::Deserializer::from_reader(meter.input(input));
    let mut progress = Progress::new(mapping, &meter, sink);
    let outcome = Members(&mut progress).deserialize(&mut reader).and_then(|()| {
        meter.begin();
        reader.end()
    });
    match outcome {
        Ok(()) => Ok(()),
        Err(_) if progress.is_stopped() => Ok(()),
        Err(error) => Err(import_error(error, progress.features(), meter.is_used_up())),
    }
}

fn import_error(error: serde_json::Error, features: u64, is_too_large: bool) -> ImportError {
    let line = u64::try_from(error.line()).unwrap_or(u64::MAX);
    if is_too_large {
        return ImportError::FeatureTooLarge { line, features };
    }
    let column = u64::try_from(error.column()).unwrap_or(u64::MAX);
    let detail = clipped(without_position(&error));
    match error.classify() {
        Category::Io => ImportError::Io { line, source: error.into() },
        Category::Syntax | Category::Eof => ImportError::MalformedJson { line, column, records: features, detail },
        Category::Data => ImportError::NotGeoJson { line, detail },
    }
}
