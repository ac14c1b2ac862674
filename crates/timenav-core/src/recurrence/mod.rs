//! When something happens again and again: rules of iCalendar (RFC 5545, section 3.3.10, with RFC 7529's `SKIP`) and cron.
//!
//! Dates and times of day are local ones of a zone. A local time that clocks skip is read with the offset before (RFC 5545,
//! section 3.3.5), and one that they show twice is the first one; what counts hours, minutes or seconds goes by the time that
//! passes, so every five minutes stays every five minutes.
//!
//! The arithmetic is our own because no library covers the years -9999 to 9999 and finds the next moment far from the
//! start of a rule without walking there.

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
