//! GeoJSON: one event per feature (RFC 7946), also as a text sequence (RFC 8142) or one feature per line.

mod members;
mod feature;
mod geometry;
#[cfg(test)]
mod tests;

use std::io::{self, Read};

use serde::de::DeserializeSeed;
use serde_json::error::Category;

use crate::event_record::without_position;
use crate::item::clipped;
use crate::json::meter::Meter;
use crate::limits::FEATURE_BYTES_MAX;
use crate::mapping::Mapping;
use crate::{ImportError, Sink};
use members::{Members, Progress};

/// Precedes each value of a text sequence.
const RECORD_SEPARATOR: u8 = 0x1E;

/// Reads feature collections one feature at a time, and single features. There may be several in a row.
pub(crate) fn read(mapping: &Mapping, input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    let meter = Meter::new(FEATURE_BYTES_MAX);
    let mut reader = serde_json::Deserializer::from_reader(WithoutSeparators(meter.input(input)));
    let mut progress = Progress::new(mapping, &meter, sink);
    loop {
        let outcome = Members(&mut progress).deserialize(&mut reader).and_then(|()| {
            meter.begin();
            reader.end()
        });
        match outcome {
            Ok(()) => return Ok(()),
            Err(_) if progress.is_stopped() => return Ok(()),
            // There is another value after one that ended.
            Err(error) if error.is_syntax() && progress.take_ended() => {}
            Err(error) => return Err(import_error(error, progress.features(), meter.is_used_up())),
        }
    }
}

/// Replaces record separators (RFC 8142, section 2) by blanks. They do not occur elsewhere in JSON.
struct WithoutSeparators<R>(R);

impl<R: Read> Read for WithoutSeparators<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.read(out)?;
        out[..bytes].iter_mut().filter(|byte| **byte == RECORD_SEPARATOR).for_each(|byte| *byte = b' ');
        Ok(bytes)
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
