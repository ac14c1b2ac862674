//! The file formats that events are read from.

pub(crate) mod byte_order_mark;
pub(crate) mod calendar_file;
pub(crate) mod cloud_event_file;
pub(crate) mod csv_file;
pub(crate) mod encoding;
pub(crate) mod geojson_file;
pub(crate) mod git_log;
pub(crate) mod json_file;
pub(crate) mod ndjson_file;
pub(crate) mod trace_file;
pub(crate) mod unpacking;
