//! Recurrence rules: iCalendar (RFC 5545, section 3.3.10, with `SKIP` from RFC 7529) and cron.
//!
//! Dates and times of day are local to a time zone. A local time that is skipped is interpreted with the offset before
//! the gap (RFC 5545, section 3.3.5), and of a repeated one the first occurrence is used. Frequencies of hours, minutes
//! or seconds follow elapsed time, so every five minutes remains every five minutes.
//!
//! The arithmetic is our own because of these results on `test-data/recurrence-v1.json`:
//!
//! - `rrule` 0.14 is wrong for 16 of 400 rules, all of `MINUTELY` or `SECONDLY` with `BYHOUR`, `BYMINUTE` or `BYDAY`
//!   (`FREQ=MINUTELY;BYDAY=MO;BYHOUR=11` has no moments), and rejects `BYDAY=-5FR` of a month. It iterates from the start
//!   of a rule, which takes up to 23 ms per moment, and does not know `SKIP`.
//! - `croner` 3 agrees in UTC. In a zone, `*/5 * * * *` passes over the repeated hour, and `30 2 * * *` runs at 03:00
//!   instead of 03:30 if 02:30 is skipped.

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
