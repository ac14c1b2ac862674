use std::fmt;

/// A kind of paradox, or of observation about the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// P01: an effect is before its cause.
    EffectBeforeCause,
    /// P02: events cause each other in a cycle.
    CausalCycle,
    /// P03: a cycle without an outside cause.
    Bootstrap,
    /// P04: an intervention removed one of its own causes.
    Grandfather,
    /// P05: an event requires another one that was removed.
    OrphanedEffect,
    /// P06: an event names a cause that was never recorded.
    DanglingCause,
    /// P07: an actor was at two places, without enough time to travel between them.
    TwoPlacesAtOnce,
    /// P08: two events assert different values of one thing at the same time.
    ContradictoryState,
    /// P09: two events have the same content.
    Duplicate,
    /// P10: an event was recorded as observed before it happened.
    FutureDated,
    /// P11: a source recorded an event after a later one.
    OutOfOrderRecording,
    /// P12: a clock jumped.
    ClockDiscontinuity,
    /// P13: an event before a fixed anchor was changed.
    AnchorBroken,
    /// P14: a source's sequence numbers have a gap or a duplicate.
    SequenceGap,
    /// P15: an event ends before it starts, or its versions do not form a valid sequence.
    IntervalInverted,
}

impl Kind {
    pub const ALL: [Self; 15] = [
        Self::EffectBeforeCause,
        Self::CausalCycle,
        Self::Bootstrap,
        Self::Grandfather,
        Self::OrphanedEffect,
        Self::DanglingCause,
        Self::TwoPlacesAtOnce,
        Self::ContradictoryState,
        Self::Duplicate,
        Self::FutureDated,
        Self::OutOfOrderRecording,
        Self::ClockDiscontinuity,
        Self::AnchorBroken,
        Self::SequenceGap,
        Self::IntervalInverted,
    ];

    #[must_use]
    pub const fn code(self) -> &'static str {
        self.names().0
    }

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.names().1
    }

    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| text.eq_ignore_ascii_case(kind.code()) || text == kind.as_str())
    }

    /// Returns whether it is an observation about the data, which is listed only on request.
    #[must_use]
    pub const fn is_observation(self) -> bool {
        match self {
            Self::DanglingCause
            | Self::Duplicate
            | Self::FutureDated
            | Self::OutOfOrderRecording
            | Self::ClockDiscontinuity
            | Self::SequenceGap => true,
            Self::EffectBeforeCause
            | Self::CausalCycle
            | Self::Bootstrap
            | Self::Grandfather
            | Self::OrphanedEffect
            | Self::TwoPlacesAtOnce
            | Self::ContradictoryState
            | Self::AnchorBroken
            | Self::IntervalInverted => false,
        }
    }

    /// Returns the severity for a grade. Uncertain paradoxes are one level lower. A dangling cause is only late data.
    /// An inverted interval is a mistake in one record.
    #[must_use]
    pub const fn severity(self, grade: Grade) -> Severity {
        let certain = match self {
            Self::CausalCycle | Self::Bootstrap | Self::Grandfather | Self::ContradictoryState | Self::SequenceGap => {
                Severity::Critical
            }
            Self::EffectBeforeCause | Self::OrphanedEffect | Self::TwoPlacesAtOnce | Self::AnchorBroken => {
                Severity::High
            }
            Self::Duplicate
            | Self::FutureDated
            | Self::OutOfOrderRecording
            | Self::ClockDiscontinuity
            | Self::IntervalInverted => Severity::Medium,
            Self::DanglingCause => Severity::Low,
        };
        match grade {
            Grade::Definite | Grade::Exact | Grade::Unexplained => certain,
            Grade::Possible | Grade::Probable | Grade::Explained => certain.one_lower(),
        }
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::EffectBeforeCause => ("P01", "effect_before_cause"),
            Self::CausalCycle => ("P02", "causal_cycle"),
            Self::Bootstrap => ("P03", "bootstrap"),
            Self::Grandfather => ("P04", "grandfather"),
            Self::OrphanedEffect => ("P05", "orphaned_effect"),
            Self::DanglingCause => ("P06", "dangling_cause"),
            Self::TwoPlacesAtOnce => ("P07", "two_places_at_once"),
            Self::ContradictoryState => ("P08", "contradictory_state"),
            Self::Duplicate => ("P09", "duplicate"),
            Self::FutureDated => ("P10", "future_dated"),
            Self::OutOfOrderRecording => ("P11", "out_of_order_recording"),
            Self::ClockDiscontinuity => ("P12", "clock_discontinuity"),
            Self::AnchorBroken => ("P13", "anchor_broken"),
            Self::SequenceGap => ("P14", "sequence_gap"),
            Self::IntervalInverted => ("P15", "interval_inverted"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How certain a paradox is. Counts of different grades are never added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// It holds for every possible value of uncertain times.
    Definite,
    /// It holds for some possible values.
    Possible,
    /// Duplicates that agree in everything but their ids.
    Exact,
    /// Duplicates that agree in actors, kind and name, and approximately in time and place.
    Probable,
    /// A clock jump with a recorded clock change.
    Explained,
    /// A clock jump without a recorded clock change.
    Unexplained,
}

impl Grade {
    pub const ALL: [Self; 6] =
        [Self::Definite, Self::Possible, Self::Exact, Self::Probable, Self::Explained, Self::Unexplained];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Definite => "definite",
            Self::Possible => "possible",
            Self::Exact => "exact",
            Self::Probable => "probable",
            Self::Explained => "explained",
            Self::Unexplained => "unexplained",
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// For information.
    Low,
    /// Should be reviewed.
    Medium,
    /// Something is wrong.
    High,
    /// The history is impossible as recorded.
    Critical,
}

impl Severity {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    const fn one_lower(self) -> Self {
        match self {
            Self::Critical => Self::High,
            Self::High => Self::Medium,
            Self::Medium | Self::Low => Self::Low,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_code_and_by_word() {
        for (number, kind) in (1..).zip(Kind::ALL) {
            assert_eq!(kind.code(), format!("P{number:02}"));
            assert_eq!(Kind::named(kind.code()), Some(kind));
            assert_eq!(Kind::named(kind.as_str()), Some(kind));
        }
        assert_eq!(Kind::named("p07"), Some(Kind::TwoPlacesAtOnce));
        assert_eq!(Kind::named("P16"), None);
        assert!(Kind::ALL.is_sorted());
    }

    #[test]
    fn uncertain_paradox_has_a_lower_severity() {
        let check = |kind: Kind, grade, expected| assert_eq!(kind.severity(grade), expected, "{kind} {grade}");
        check(Kind::ContradictoryState, Grade::Definite, Severity::Critical);
        check(Kind::ContradictoryState, Grade::Possible, Severity::High);
        check(Kind::EffectBeforeCause, Grade::Possible, Severity::Medium);
        check(Kind::Duplicate, Grade::Exact, Severity::Medium);
        check(Kind::Duplicate, Grade::Probable, Severity::Low);
        check(Kind::ClockDiscontinuity, Grade::Unexplained, Severity::Medium);
    }

    #[test]
    fn six_kinds_are_observations() {
        let observations: Vec<&str> =
            Kind::ALL.into_iter().filter(|kind| kind.is_observation()).map(Kind::code).collect();
        assert_eq!(observations, ["P06", "P09", "P10", "P11", "P12", "P14"]);
    }
}
