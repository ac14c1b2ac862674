//! The bytes of files in, drafts of events out.
//!
//! [`read`] takes a file in one of three formats, hands every record of it to a sink, one at a
//! time, and keeps no more than one record in memory. A record that is wrong is handed over as a
//! [`RecordError`] and the next one is read; an [`ImportError`] means that the file cannot be read
//! on. `docs/importing.md` tells the same to those who send files.
//!
//! This crate knows no clock, no network, no database and no async, and nothing of the input can
//! make it panic, wait or grow: each buffer has a limit in [`limits`].

mod format;
mod item;
mod import_error;
pub mod limits;
mod event_record;
mod attributes;
mod content_id;
mod field;
mod mapping;
mod assembly;
mod unix_time;
mod ndjson_file;
mod csv_file;
mod geojson_file;
mod byte_order_mark;
mod suggestion;

#[cfg(test)]
mod documentation;
#[cfg(test)]
mod tests;

pub use content_id::content_id;
pub use event_record::{
    AssertionRecord, CauseKindWord, CauseObject, CauseRecord, EventKindWord, EventRecord, GeoRecord, PrecisionWord,
};
pub use format::{Format, UnknownFormat};
pub use import_error::ImportError;
pub use item::{Item, RecordError};
pub use mapping::{Mapping, MappingError};

use std::io::Read;
use std::ops::ControlFlow;

/// Takes the records of a file as they are read. `Break` ends the reading without an error.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(Item) -> ControlFlow<()>;

/// Reads a file and hands each of its records to `sink`, in the order of the file.
///
/// Every draft has passed [`timenav_core::event::EventDraft::check`] and has an id: its own, or
/// that of its content ([`content_id()`]), so that reading a file twice gives the same ids.
///
/// # Errors
/// The file cannot be read on. The records before that point have been handed over.
pub fn read(
    format: Format,
    mapping: &Mapping,
    input: impl Read,
    sink: &mut dyn FnMut(Item) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let mut input = byte_order_mark::without(input).map_err(|source| ImportError::Io { line: 1, source })?;
    match format {
        Format::Ndjson if !mapping.is_automatic() => Err(ImportError::MappingUnused),
        Format::Ndjson => ndjson_file::read(&mut input, sink),
        Format::Csv => csv_file::read(mapping, &mut input, sink),
        Format::GeoJson => geojson_file::read(mapping, &mut input, sink),
    }
}
