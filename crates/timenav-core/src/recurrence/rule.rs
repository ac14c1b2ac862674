use super::periods::Periods;
use super::phases::{Known, Phases};
use super::times::{DAY_SECONDS, FIRST_SECOND, LAST_SECOND};
use crate::time::{Instant, Stretch, Virtual, Zone};

const SECOND_MICROS: i64 = 1_000_000;
/// Larger than any jump of local clocks: a day, in Manila in 1844 and in Apia in 2011.
const GAP_SECONDS_MAX: i64 = 2 * DAY_SECONDS;
/// 2100-01-01: after it no zone has rules for single years, so zone rules repeat with the calendar.
const ZONES_REPEAT_SECOND: i64 = 4_102_444_800;

/// When something happens again and again: by a rule of iCalendar or by a cron expression.
///
/// A rule has been checked: it fires at least once. Its moments are worked out by arithmetic from wherever you ask, over
/// the whole range of [`Instant`]; it costs the same near its beginning and ten thousand years on.
///
/// ```
/// use timenav_core::recurrence::Rule;
/// use timenav_core::time::{Instant, Virtual, Zone, parse_timestamp};
///
/// let at = |text| parse_timestamp::<Virtual>(text).unwrap();
/// let paris = Zone::named("Europe/Paris").unwrap();
/// let rule = Rule::rrule("FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD", at("2027-01-31T08:00:00Z"), paris).unwrap();
/// assert_eq!(rule.next_after(at("2027-01-31T08:00:00Z")), Some(at("2027-02-28T08:00:00Z")));
/// assert_eq!(rule.next_after(at("2027-03-01T00:00:00Z")), Some(at("2027-03-31T07:00:00Z")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub(super) zone: Zone,
    pub(super) pattern: Pattern,
    /// Microseconds of every moment after its second.
    pub(super) fraction: i64,
    /// No moment is before this second.
    pub(super) first: i64,
    /// No moment is after this second.
    pub(super) last: i64,
    /// The start, if it is the second occurrence of a repeated local time, which the pattern does not match.
    pub(super) second_showing: Option<i64>,
    pub(super) last_of_count: Option<Instant<Virtual>>,
}

/// The local times of a rule, and how it treats repeated ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Once: of a repeated time the first occurrence, and a skipped one with the offset before the gap.
    Dates(Periods),
    /// Same as [`Pattern::Dates`].
    FixedTimes(Phases),
    /// At every occurrence.
    Passing(Phases),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub moments: u64,
    pub is_complete: bool,
}

/// The cost of searches for moments, in visited months of some tens of nanoseconds each. Most rules need one or two per
/// moment; a rule that matches one day in centuries needs thousands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Work(pub u64);

/// The moments of a rule, in order. Ends with the rule, or with the year 9999.
#[derive(Clone, Debug)]
pub struct Moments<'rule> {
    rule: &'rule Rule,
    /// The earliest second of the next moment.
    from: i64,
    known: Known,
}

impl Rule {
    /// Returns the first moment later than `at`, or `None` if the rule never fires again.
    #[must_use]
    pub fn next_after(&self, at: Instant<Virtual>) -> Option<Instant<Virtual>> {
        self.after(at).next()
    }

    /// Returns the first moment later than `at`, and adds the cost of the search to `work`.
    #[must_use]
    pub fn next_after_at_cost(&self, at: Instant<Virtual>, work: &mut Work) -> Option<Instant<Virtual>> {
        let mut moments = self.after(at);
        let next = moments.next();
        work.0 += moments.known.months.examined_count;
        next
    }

    #[must_use]
    pub fn first(&self) -> Option<Instant<Virtual>> {
        Moments { rule: self, from: self.first, known: Known::default() }.next()
    }

    /// Returns all moments later than `at`, in order.
    #[must_use]
    pub fn after(&self, at: Instant<Virtual>) -> Moments<'_> {
        let from = (at.micros() - self.fraction).div_euclid(SECOND_MICROS) + 1;
        Moments { rule: self, from, known: Known::default() }
    }

    /// Returns the number of moments later than `after` and not later than `through`, up to `limit`.
    #[must_use]
    pub fn count(&self, after: Instant<Virtual>, through: Instant<Virtual>, limit: u64) -> Count {
        let mut moments = 0;
        for _ in self.after(after).take_while(|moment| *moment <= through) {
            if moments == limit {
                return Count { moments, is_complete: false };
            }
            moments += 1;
        }
        Count { moments, is_complete: true }
    }

    #[must_use]
    pub const fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Returns the last moment of a rule with `COUNT`. Computing it visits all moments, so it is stored with the rule.
    #[must_use]
    pub const fn last_of_count(&self) -> Option<Instant<Virtual>> {
        self.last_of_count
    }

    pub(super) const fn instant(&self, second: i64) -> Option<Instant<Virtual>> {
        Instant::from_micros(second * SECOND_MICROS + self.fraction)
    }

    /// Returns the second of the first moment from that second on.
    pub(super) fn search(&self, from: i64, known: &mut Known) -> Option<i64> {
        let from = from.max(self.first);
        let mut best = self.second_showing.filter(|second| *second >= from);
        let give_up = from.max(ZONES_REPEAT_SECOND).saturating_add(self.pattern.cycle_seconds());
        // A time skipped before `from` may be interpreted as one after it.
        let mut stretch = self.zone.stretch(if self.pattern.is_passing() { from } else { from - GAP_SECONDS_MAX });
        loop {
            let (begin, end) = self.pattern.local_range(&stretch);
            let local = begin.max(from + stretch.offset);
            let mut skip_to = i64::MIN;
            if local < end {
                let Some(found) = self.pattern.next(local, end, stretch.offset, known) else { break };
                let second = found - stretch.offset;
                if found < end {
                    best = Some(best.map_or(second, |best| best.min(second)));
                } else if matches!(self.pattern, Pattern::Dates(_)) {
                    // The pattern matches no local time before that, at any offset.
                    skip_to = second - GAP_SECONDS_MAX;
                }
            }
            let Some(ends) = stretch.ends else { break };
            if best.is_some_and(|best| best < ends) || ends > self.last || ends > give_up {
                break;
            }
            stretch = self.zone.stretch(ends.max(skip_to));
        }
        best.filter(|second| *second <= self.last)
    }
}

impl Pattern {
    const fn is_passing(&self) -> bool {
        matches!(self, Self::Passing(_))
    }

    /// Returns the range of local times to search in a period of constant offset, end excluded.
    fn local_range(&self, stretch: &Stretch) -> (i64, i64) {
        let (before, after) = if self.is_passing() {
            (stretch.offset, stretch.offset)
        } else {
            // Repeated times belong to the period before, and skipped ones are interpreted with the offset before.
            (stretch.offset.max(stretch.offset_before), stretch.offset.max(stretch.offset_after))
        };
        let begin = stretch.begins.map_or(FIRST_SECOND - GAP_SECONDS_MAX, |begins| begins + before);
        let end = stretch.ends.map_or(LAST_SECOND + GAP_SECONDS_MAX, |ends| ends + after);
        (begin, end)
    }

    /// Returns the first matching local time from `from` on. If the rule matches none before `end`, returns any later
    /// value, or `None` if it never matches.
    fn next(&self, from: i64, end: i64, offset: i64, known: &mut Known) -> Option<i64> {
        match self {
            Self::Dates(periods) => periods.next(from, &mut known.months),
            Self::FixedTimes(phases) | Self::Passing(phases) => Some(phases.next(from, end, offset, known)),
        }
    }

    const fn cycle_seconds(&self) -> i64 {
        match self {
            // Periods limit their search themselves.
            Self::Dates(_) => LAST_SECOND,
            Self::FixedTimes(phases) | Self::Passing(phases) => phases.cycle_seconds(),
        }
    }
}

impl Iterator for Moments<'_> {
    type Item = Instant<Virtual>;

    fn next(&mut self) -> Option<Self::Item> {
        let second = self.rule.search(self.from, &mut self.known)?;
        self.from = second + 1;
        self.rule.instant(second)
    }
}
