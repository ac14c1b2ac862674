//! When timers fall due: once, or by a rule.

use crate::recurrence::{Count, Rule, RuleError, Work};
use crate::time::{Instant, Span, Virtual, Zone};

/// When a timer falls due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Once, at that moment.
    At(Instant<Virtual>),
    /// Again and again.
    Repeating(Box<Repeating>),
}

/// A schedule that has more than one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeating {
    /// The rule as it was written.
    pub source: RuleSource,
    /// The rule.
    pub rule: Rule,
    /// What becomes of moments that have come together.
    pub misfire: Misfire,
    /// Whether moments count that had passed when the timer was set.
    pub catch_up: bool,
}

/// A rule as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleSource {
    /// A rule of iCalendar.
    Every {
        /// The rule.
        rule: String,
        /// Its first moment, if that is one of the rule.
        starts: Instant<Virtual>,
        /// The zone on whose calendar it counts.
        zone: String,
    },
    /// A cron expression.
    Cron {
        /// The expression.
        expression: String,
        /// The zone whose clocks it reads.
        zone: String,
    },
}

impl RuleSource {
    /// Returns the field that it is given in.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Every { .. } => "every",
            Self::Cron { .. } => "cron",
        }
    }
}

/// What becomes of moments of a rule that have come together: the clock jumped over them, or nobody told it to stop there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Misfire {
    /// Each fires.
    #[default]
    All,
    /// The last one fires.
    Once,
    /// None does.
    Skip,
}

impl Misfire {
    /// Every choice.
    pub const ALL: [Self; 3] = [Self::All, Self::Once, Self::Skip];

    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Once => "once",
            Self::Skip => "skip",
        }
    }

    /// Returns the choice of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}

impl Repeating {
    /// Reads a rule.
    ///
    /// # Errors
    /// It is none, or there is no such zone.
    pub fn read(source: RuleSource, misfire: Misfire, catch_up: bool) -> Result<Self, RepeatingError> {
        let zone = |name: &str| Zone::named(name).ok_or_else(|| RepeatingError::Zone(name.to_owned()));
        let rule = match &source {
            RuleSource::Every { rule, starts, zone: name } => Rule::rrule(rule, *starts, zone(name)?)?,
            RuleSource::Cron { expression, zone: name } => Rule::cron(expression, zone(name)?)?,
        };
        Ok(Self { source, rule, misfire, catch_up })
    }

    /// Reads a stored rule with its [`Rule::last_of_count`]. The writer does this for each due timer.
    ///
    /// # Errors
    /// It is none, or there is no such zone.
    pub fn stored(
        source: RuleSource,
        misfire: Misfire,
        catch_up: bool,
        last_of_count: Option<Instant<Virtual>>,
    ) -> Result<Self, RepeatingError> {
        let RuleSource::Every { rule, starts, zone } = &source else { return Self::read(source, misfire, catch_up) };
        let zone = Zone::named(zone).ok_or_else(|| RepeatingError::Zone(zone.clone()))?;
        let rule = Rule::stored_rrule(rule, *starts, zone, last_of_count)?;
        Ok(Self { source, rule, misfire, catch_up })
    }

    /// Returns the last moment of the rule that is later than one moment and not later than another, where there is one.
    pub(super) fn last_between(
        &self,
        after: Instant<Virtual>,
        upto: Instant<Virtual>,
        work: &mut Work,
    ) -> Option<Instant<Virtual>> {
        let mut next = |at| self.rule.next_after_at_cost(at, work).filter(|next| *next <= upto);
        let mut found = next(after)?;
        // Back from the end in steps that double, to where one is found; from there on there are few.
        let mut back = 1_000_000;
        while let Some(from) = upto.checked_sub(Span::from_micros(back)).filter(|from| *from > found) {
            if let Some(late) = next(from) {
                found = late;
                break;
            }
            back *= 2;
        }
        while let Some(later) = next(found) {
            found = later;
        }
        Some(found)
    }
}

/// Why something is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepeatingError {
    /// The rule or expression is none.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// There is no such zone.
    #[error("there is no time zone `{0}`; use a name such as `Europe/Paris`, or `UTC`")]
    Zone(String),
}

impl Schedule {
    /// Returns the first moment of a timer that is set while the clock shows `now`. It may have passed where it is the only
    /// one, or those that have are to be caught up with: then the timer falls due at once, with its own moment.
    #[must_use]
    pub fn first(&self, now: Instant<Virtual>) -> Option<Instant<Virtual>> {
        match self {
            Self::At(at) => Some(*at),
            Self::Repeating(repeating) if repeating.catch_up => repeating.rule.first(),
            Self::Repeating(repeating) => repeating.rule.next_after(now),
        }
    }

    /// Returns the moment after one that fell due.
    #[must_use]
    pub fn after(&self, due: Instant<Virtual>) -> Option<Instant<Virtual>> {
        self.after_at_cost(due, &mut Work::default())
    }

    /// Returns the moment after one that fell due, and adds what the search cost to `work`.
    pub(super) fn after_at_cost(&self, due: Instant<Virtual>, work: &mut Work) -> Option<Instant<Virtual>> {
        match self {
            Self::At(_) => None,
            Self::Repeating(repeating) => repeating.rule.next_after_at_cost(due, work),
        }
    }

    /// Returns whether a moment is one of the schedule.
    #[must_use]
    pub fn has(&self, moment: Instant<Virtual>) -> bool {
        match self {
            Self::At(at) => *at == moment,
            Self::Repeating(repeating) => {
                let before = moment.checked_sub(Span::from_micros(1));
                before.and_then(|before| repeating.rule.next_after(before)) == Some(moment)
            }
        }
    }

    /// Returns how many moments there are from one on up to another. It counts no further than `limit`, and says whether
    /// these are all.
    #[must_use]
    pub fn count(&self, first: Instant<Virtual>, upto: Instant<Virtual>, limit: u64) -> (u64, bool) {
        if first > upto {
            return (0, true);
        }
        match self {
            Self::At(_) => (1, true),
            Self::Repeating(repeating) => {
                let Count { moments, is_complete } = repeating.rule.count(first, upto, limit.saturating_sub(1));
                (moments + 1, is_complete)
            }
        }
    }
}
