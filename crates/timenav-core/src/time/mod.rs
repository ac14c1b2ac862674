//! Instants, spans, and their text forms: timestamps, durations and time ranges.

mod bucket;
mod civil;
mod duration;
mod instant;
mod leap_second;
mod range;
mod timestamp;
mod unit;
mod zone;

pub use bucket::Bucket;
pub use civil::{Civil, days_in_month};
pub use duration::{DURATION_BYTES_MAX, Duration, DurationError, parse_duration};
pub use instant::{Instant, Span, TimeScale, Virtual, Wall};
pub use range::{RangeError, RangePart, TIME_RANGE_BYTES_MAX, TimeRange, parse_time_range};
pub use timestamp::{TIMESTAMP_BYTES_MAX, TimestampError, parse_timestamp, parse_zoned};
pub use unit::{Unit, unit_of};
pub(crate) use zone::Stretch;
pub use zone::{Zone, zone_tables_version};
