//! Converts files to event drafts, and events to files.
//!
//! [`read`] takes a file in one of several formats and hands its records to a sink, one at a time. It keeps no more in
//! memory than it needs: one record, or one trace. An invalid record is handed over as a [`RecordError`], and reading
//! continues; an [`ImportError`] means that the file cannot be read further. `docs/import-export.md` is the user
//! documentation.
//!
//! This crate has no clock, no network, no database and no async. No input can make it panic, block or use unlimited
//! memory: each buffer has a limit in [`limits`].

mod json;
mod time;
mod files;
mod format;
mod item;
mod import_error;
pub mod limits;
mod event_record;
mod attributes;
mod content_id;
mod mapping;
mod assembly;
mod coordinates;
mod guess;
mod export;
mod suggestion;
pub mod other_names;

#[cfg(test)]
mod documentation;
#[cfg(test)]
mod tests;

pub use content_id::content_id;
pub use event_record::{
    AssertionRecord, CauseKindRecord, CauseObject, CauseRecord, EventKindRecord, EventRecord, GeoRecord,
    PrecisionRecord,
};
pub use export::{AttributeColumns, Export, ExportError, ExportFormat, UnknownExportFormat, WrongColumns};
pub use files::cloud_event_file::cloud_event_of_parts;
pub use files::git_log::GIT_LOG_FORMAT;
pub use files::unpacking::{Packing, unpacked};
pub use format::{Format, UnknownFormat};
pub use guess::Guess;
pub use import_error::ImportError;
pub use item::{Item, RecordError, RecordNote};
pub use json::long_integers::{lost_integer, lost_integer_detail};
pub use json::plain_words;
pub use mapping::{Mapping, MappingError};

use std::io::Read;
use std::ops::ControlFlow;

/// Receives the records of a file. `Break` stops reading without an error.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(Item) -> ControlFlow<()>;

/// Reads a file and hands its records to `sink`, in file order.
///
/// Every draft has passed [`timenav_core::event::EventDraft::check`] and has an id: its own, or a content id
/// ([`content_id()`]), so that reading a file twice gives the same ids.
///
/// # Errors
/// The file cannot be read further. Earlier records have been handed over.
pub fn read(
    format: Format,
    mapping: &Mapping,
    input: impl Read,
    sink: &mut dyn FnMut(Item) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let (input, other) =
        files::byte_order_mark::without(input).map_err(|source| ImportError::Io { line: 1, source })?;
    if let Some(other) = other.filter(|_| format != Format::Git) {
        return Err(ImportError::NotText { what: other });
    }
    if !mapping.is_automatic() && !format.takes_mapping() {
        return Err(ImportError::MappingUnused);
    }
    let mut input: Box<dyn Read + '_> = match mapping.encoding() {
        files::encoding::Encoding::Utf8 => Box::new(input),
        files::encoding::Encoding::Windows1252 => Box::new(files::encoding::decoded(input)),
    };
    let mut is_zone_noted = false;
    let sink: Sink<'_> = &mut |mut item| {
        let is_new =
            |note: &RecordNote| note.code != RecordNote::ZONE_ASSUMED || !std::mem::replace(&mut is_zone_noted, true);
        item.notes.retain(is_new);
        sink(item)
    };
    match format {
        Format::Ndjson if mapping.is_automatic() => files::ndjson_file::read(&mut input, sink),
        Format::Ndjson => files::json_file::read_lines(mapping, &mut input, sink),
        Format::Json => files::json_file::read(mapping, &mut input, sink),
        Format::Logfmt => files::json_file::read_logfmt(mapping, &mut input, sink),
        Format::Csv => files::csv_file::read(mapping, &mut input, sink),
        Format::GeoJson => files::geojson_file::read(mapping, &mut input, sink),
        Format::CloudEvents => files::cloud_event_file::read(&mut input, sink),
        Format::ICalendar => files::calendar_file::read(&mut input, sink),
        Format::Git => files::git_log::read(&mut input, sink),
        Format::Zipkin => files::trace_file::read_zipkin(&mut input, sink),
        Format::Jaeger => files::trace_file::read_jaeger(&mut input, sink),
        Format::Otlp => files::trace_file::read_otlp(&mut input, sink),
    }
}
