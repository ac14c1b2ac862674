//! JSON of any structure and length.

pub(crate) mod json_fields;
pub(crate) mod json_object;
pub(crate) mod json_stream;
pub(crate) mod long_integers;
pub(crate) mod meter;
pub(crate) mod object_of;
pub mod plain_words;
