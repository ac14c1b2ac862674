//! Moments by elapsed time: hourly, minutely, secondly, and cron.

use super::days::{CYCLE_DAYS, Days};
use super::known_months::KnownMonths;
use super::times::{DAY_SECONDS, Times};

/// The local times of a rule: days and times of day within recurring windows of elapsed time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phases {
    pub(super) days: Days,
    pub(super) times: Times,
    /// Seconds between the starts of two windows.
    pub(super) step: i64,
    /// Length of a window in seconds, at most `step`.
    pub(super) width: i64,
    /// The start of a window, in seconds since 1970, UTC.
    pub(super) anchor: i64,
}

/// Results cached by earlier searches for the same rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Whether any time of day is in a window, per phase of the windows. There are few, because a zone has few offsets.
    phases: Vec<(i64, bool)>,
    pub(super) months: KnownMonths,
}

impl Phases {
    /// Returns the first matching local time from `from` on, where `offset` is the local offset from UTC in seconds.
    /// Returns `before` if there is none before that.
    pub(super) fn next(&self, from: i64, before: i64, offset: i64, known: &mut Known) -> i64 {
        let anchor = self.anchor + offset;
        // If there is none within one cycle, there is none at all.
        let end = before.min(from.saturating_add(self.cycle_seconds()));
        if !self.has_any(anchor, known) {
            return before;
        }
        let mut at = from;
        loop {
            let since = (at - anchor).rem_euclid(self.step);
            if since >= self.width {
                at += self.step - since;
            }
            if at >= end {
                return before;
            }
            let (day, time) = (at.div_euclid(DAY_SECONDS), at.rem_euclid(DAY_SECONDS));
            match self.days.next(day, end.div_euclid(DAY_SECONDS), &mut known.months) {
                Some(found) if found == day => {}
                Some(later) => {
                    at = later * DAY_SECONDS;
                    continue;
                }
                None => return before,
            }
            match self.times.next(time) {
                Some(found) if found == time => return at,
                Some(later) => at = day * DAY_SECONDS + later,
                None => at = (day + 1) * DAY_SECONDS,
            }
        }
    }

    /// Returns the common period of windows and calendar, in seconds.
    pub(super) const fn cycle_seconds(&self) -> i64 {
        let calendar = CYCLE_DAYS * DAY_SECONDS;
        if self.has_one_phase() { calendar } else { (self.step / gcd(self.step, calendar)).saturating_mul(calendar) }
    }

    /// Returns whether the windows cover all seconds.
    const fn has_one_phase(&self) -> bool {
        self.step == self.width
    }

    fn has_any(&self, anchor: i64, known: &mut Known) -> bool {
        if self.has_one_phase() {
            return true;
        }
        let step = gcd(self.step, DAY_SECONDS);
        let phase = anchor.rem_euclid(step);
        if let Some((_, has_any)) = known.phases.iter().find(|(known, _)| *known == phase) {
            return *has_any;
        }
        let has_any = self.times.has_any_in_step(phase, step, self.width);
        known.phases.push((phase, has_any));
        has_any
    }
}

pub(super) const fn gcd(mut one: i64, mut other: i64) -> i64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
