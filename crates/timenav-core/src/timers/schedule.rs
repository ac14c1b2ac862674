use crate::recurrence::{Count, Rule, RuleError, Work};
use crate::time::{Instant, Span, Virtual, Zone};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    At(Instant<Virtual>),
    Repeating(Box<Repeating>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeating {
    pub source: RuleSource,
    pub rule: Rule,
    pub misfire: Misfire,
    /// Whether moments count that had passed when the timer was set.
    pub catch_up: bool,
}

/// A rule as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleSource {
    Every {
        rule: String,
        /// Start of the recurrence (DTSTART).
        starts: Instant<Virtual>,
        /// The time zone whose calendar the rule uses.
        zone: String,
    },
    Cron {
        expression: String,
        /// The time zone in which the expression is evaluated.
        zone: String,
    },
}

impl RuleSource {
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Every { .. } => "every",
            Self::Cron { .. } => "cron",
        }
    }
}

named! {
    /// What happens to moments of a rule that are reached together, because the clock jumped or ran past them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Misfire {
        /// Each fires.
        #[default]
        All = "all",
        /// Only the last one fires.
        Once = "once",
        /// None fires.
        Skip = "skip",
    }
}

impl Repeating {
    /// Parses a rule.
    ///
    /// # Errors
    /// The rule or its time zone is not valid.
    pub fn read(source: RuleSource, misfire: Misfire, catch_up: bool) -> Result<Self, RepeatingError> {
        let zone = |name: &str| Zone::named(name).ok_or_else(|| RepeatingError::Zone(name.to_owned()));
        let rule = match &source {
            RuleSource::Every { rule, starts, zone: name } => Rule::rrule(rule, *starts, zone(name)?)?,
            RuleSource::Cron { expression, zone: name } => Rule::cron(expression, zone(name)?)?,
        };
        Ok(Self { source, rule, misfire, catch_up })
    }

    /// Parses a stored rule with its [`Rule::last_of_count`]. The writer does this for each due timer.
    ///
    /// # Errors
    /// The rule or its time zone is not valid.
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

    /// Returns the last moment of the rule that is later than `after` and not later than `upto`, if any.
    pub(super) fn last_between(
        &self,
        after: Instant<Virtual>,
        upto: Instant<Virtual>,
        work: &mut Work,
    ) -> Option<Instant<Virtual>> {
        let mut next = |at| self.rule.next_after_at_cost(at, work).filter(|next| *next <= upto);
        let mut found = next(after)?;
        // Search back from the end in doubling steps until a moment is found. Few moments remain from there on.
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

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepeatingError {
    #[error(transparent)]
    Rule(#[from] RuleError),
    #[error("the time zone `{0}` is unknown; use a name such as `Europe/Paris`, or `UTC`")]
    Zone(String),
}

impl Schedule {
    /// Returns the first moment of a timer that is set while the clock shows `now`. It may be in the past for a
    /// one-time schedule or with `catch_up`: then the timer falls due at once, with its original moment.
    #[must_use]
    pub fn first(&self, now: Instant<Virtual>) -> Option<Instant<Virtual>> {
        match self {
            Self::At(at) => Some(*at),
            Self::Repeating(repeating) if repeating.catch_up => repeating.rule.first(),
            Self::Repeating(repeating) => repeating.rule.next_after(now),
        }
    }

    #[must_use]
    pub fn after(&self, due: Instant<Virtual>) -> Option<Instant<Virtual>> {
        self.after_at_cost(due, &mut Work::default())
    }

    /// Returns the moment after one that fell due, and adds the cost of the search to `work`.
    pub(super) fn after_at_cost(&self, due: Instant<Virtual>, work: &mut Work) -> Option<Instant<Virtual>> {
        match self {
            Self::At(_) => None,
            Self::Repeating(repeating) => repeating.rule.next_after_at_cost(due, work),
        }
    }

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

    /// Returns the number of moments from `first` up to `upto`, counting up to `limit`, and whether these are all.
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
