//! The limits of an import. The limits of events are in [`timenav_core::limits`].

/// Longest record, in bytes: a line of NDJSON or a row of CSV without its line end, the properties of a GeoJSON
/// feature, a span, or a `CloudEvent`.
pub const RECORD_BYTES_MAX: usize = 1024 * 1024;
/// Longest GeoJSON feature or other member, in bytes. Country outlines exceed [`RECORD_BYTES_MAX`].
pub const FEATURE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest trace document, in bytes. The parent of a span may come after it, so a document is read as a whole.
pub const TRACE_DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;
pub const TRACE_SPANS_MAX: usize = 100_000;
/// Longest resource, scope or process in a trace document, in bytes. It is copied to each of its spans.
pub const TRACE_ORIGIN_BYTES_MAX: usize = 16 * 1024;
/// Most memory for calendar events that wait for the definition of their time zones, in bytes. A definition may come
/// after the events that use it.
pub const CALENDAR_BYTES_MAX: usize = 16 * 1024 * 1024;
pub const CALENDAR_DEPTH_MAX: usize = 16;
/// Most offset changes that a time zone definition lists.
pub const CALENDAR_ONSETS_MAX: usize = 400;
/// Maximum compression ratio of a file.
pub const UNPACKED_RATIO_MAX: u64 = 100;
/// Number of decompressed bytes that are exempt from the ratio.
pub const UNPACKED_BYTES_FREE: u64 = 1024 * 1024;
/// Deepest nesting of geometry collections. RFC 7946 §3.1.8 advises against any.
pub const GEOMETRY_DEPTH_MAX: usize = 8;
/// Deepest nesting of lists and objects in the attributes of an event, including the outermost object. Responses and
/// files add further levels, and JSON parsers commonly stop at 128.
pub const ATTRIBUTES_DEPTH_MAX: usize = 64;
pub const CSV_COLUMNS_MAX: usize = 1_024;
/// Most memory of a compiled pattern, in bytes. The time per line grows with it and the line.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 16 * 1024;
pub const PATTERN_LINE_BYTES_MAX: usize = 64 * 1024;
pub const MAPPING_BYTES_MAX: usize = 16 * 1024;
pub const TEMPLATE_COLUMNS_MAX: usize = 32;
pub const TEMPLATE_TEXT_BYTES_MAX: usize = 64 * 1024;
/// How much of a file is examined to propose a mapping, in bytes.
pub const GUESS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How many records are examined to propose a mapping, except for missing markers.
pub const GUESS_ROWS_MAX: usize = 1_000;
/// Longest detail of an error, in bytes. It quotes the input, which may be malicious.
pub const DETAIL_BYTES_MAX: usize = 400;
pub const SUGGESTION_BYTES_MAX: usize = 64;

pub(crate) const BUFFER_BYTES: usize = 64 * 1024;
