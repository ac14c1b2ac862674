//! Recurrence rules: iCalendar (RFC 5545, section 3.3.10, with `SKIP` from RFC 7529) and cron.
//!
//! Dates and times of day are local to a time zone. A local time that is skipped is interpreted with the offset before
//! the gap (RFC 5545, section 3.3.5), and of a repeated one the first occurrence is used. Frequencies of hours, minutes
//! or seconds follow elapsed time, so every five minutes remains every five minutes.
//!
//! The arithmetic is our own because no library covers the years -9999 to 9999, and finds the next moment far from the
//! start of a rule without iterating up to it.

mod calendar;
mod cron;
mod days;
mod known_months;
mod periods;
mod phases;
mod rrule;
mod rule;
mod rule_error;
#[cfg(test)]
mod tests;
mod times;

pub use rule::{Count, Moments, Rule, Work};
pub use rule_error::RuleError;
