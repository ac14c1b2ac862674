//! Times in files.

pub(crate) mod excel_date;
pub(crate) mod partial_time;
pub(crate) mod time_format;
pub(crate) mod unix_time;
