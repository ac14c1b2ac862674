//! Every limit of an import, by name. Those of the events themselves are in
//! [`timenav_core::limits`].

/// Longest record, in bytes: a line of NDJSON or a row of CSV without its line end, the properties
/// of a GeoJSON feature, a span, or a `CloudEvent`.
pub const RECORD_BYTES_MAX: usize = 1024 * 1024;
/// Longest GeoJSON feature, and longest other member of a feature collection, in bytes. Outlines
/// of countries need more room than [`RECORD_BYTES_MAX`].
pub const FEATURE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest trace document, in bytes. Which event a span hangs on is known only when the other spans
/// of its trace are, so a document is read as a whole.
pub const TRACE_DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most spans in one trace document.
pub const TRACE_SPANS_MAX: usize = 100_000;
/// Longest resource, scope or process in a trace document, in bytes. It is copied to every span that
/// it made.
pub const TRACE_ORIGIN_BYTES_MAX: usize = 16 * 1024;
/// Most memory that the events of a calendar take which wait for their time zones to be defined, in bytes. A definition
/// may come after the events that name it.
pub const CALENDAR_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Deepest nesting of the components of a calendar.
pub const CALENDAR_DEPTH_MAX: usize = 16;
/// Most changes of clocks that the definition of a time zone lists.
pub const CALENDAR_ONSETS_MAX: usize = 400;
/// How many times larger than itself a packed file may become.
pub const UNPACKED_RATIO_MAX: u64 = 100;
/// How many unpacked bytes are not asked what they were packed in.
pub const UNPACKED_BYTES_FREE: u64 = 1024 * 1024;
/// Deepest nesting of geometry collections, which RFC 7946 §3.1.8 advises against at all.
pub const GEOMETRY_DEPTH_MAX: usize = 8;
/// Deepest nesting of lists and objects in the attributes of an event, counting the object that
/// they are. Within answers and files of events they are nested deeper, and readers of JSON stop at
/// 128.
pub const ATTRIBUTES_DEPTH_MAX: usize = 64;
/// Most columns of a CSV file.
pub const CSV_COLUMNS_MAX: usize = 1_024;
/// Most memory that the pattern of a mapping takes once it is compiled, in bytes. What a line takes grows with both.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 16 * 1024;
/// Longest line that a pattern is tried on, in bytes.
pub const PATTERN_LINE_BYTES_MAX: usize = 64 * 1024;
/// Longest mapping, in bytes.
pub const MAPPING_BYTES_MAX: usize = 16 * 1024;
/// Most columns in one template.
pub const TEMPLATE_COLUMNS_MAX: usize = 32;
/// Longest text that a template makes, in bytes.
pub const TEMPLATE_TEXT_BYTES_MAX: usize = 64 * 1024;
/// How much of a file is looked at to propose a mapping, in bytes.
pub const GUESS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How many records are looked at to propose a mapping, but for numbers that stand for nothing.
pub const GUESS_ROWS_MAX: usize = 1_000;
/// Longest detail of an error, in bytes: it quotes the input, which may be hostile.
pub const DETAIL_BYTES_MAX: usize = 400;
/// Longest word that another is suggested for, in bytes.
pub const SUGGESTION_BYTES_MAX: usize = 64;

/// How much is asked of the input at once, in bytes.
pub(crate) const BUFFER_BYTES: usize = 64 * 1024;
