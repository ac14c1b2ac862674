//! Moments by the time that has passed: each hour, each minute, each second, and cron.

use super::days::{CYCLE_DAYS, Days};
use super::known_months::KnownMonths;
use super::times::{DAY_SECONDS, Times};

/// What local clocks show at the moments of a rule: days and times of day, of which every so many seconds a stretch is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phases {
    pub(super) days: Days,
    pub(super) times: Times,
    /// Seconds from the beginning of one stretch to that of the next one.
    pub(super) step: i64,
    /// Seconds that a stretch lasts, at most `step`.
    pub(super) width: i64,
    /// When one of them begins, in seconds since 1970, in UTC.
    pub(super) anchor: i64,
}

/// What earlier searches of the same rule have cached.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Whether any time of day fits, for each phase of the steps: a zone has few offsets.
    phases: Vec<(i64, bool)>,
    pub(super) months: KnownMonths,
}

impl Phases {
    /// Returns what local clocks show at the first moment that is not before `from`, where they are ahead of UTC by so many
    /// seconds, or `before` if there is none before that.
    pub(super) fn next(&self, from: i64, before: i64, offset: i64, known: &mut Known) -> i64 {
        let anchor = self.anchor + offset;
        // What has not come in one cycle does not come.
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

    /// Returns after how many seconds steps and calendar fall together again.
    pub(super) const fn cycle_seconds(&self) -> i64 {
        let calendar = CYCLE_DAYS * DAY_SECONDS;
        if self.has_one_phase() { calendar } else { (self.step / gcd(self.step, calendar)).saturating_mul(calendar) }
    }

    /// Returns whether every second is in a stretch.
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

/// Returns the greatest common divisor of two positive numbers.
pub(super) const fn gcd(mut one: i64, mut other: i64) -> i64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
