named! {
    /// A kind of paradox, or of observation about the data.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Kind {
        /// P01: an effect is before its cause.
        EffectBeforeCause = "effect_before_cause",
        /// P02: events cause each other in a cycle.
        CausalCycle = "causal_cycle",
        /// P03: a cycle without an outside cause.
        Bootstrap = "bootstrap",
        /// P04: an intervention removed one of its own causes.
        Grandfather = "grandfather",
        /// P05: an event requires another one that was removed.
        OrphanedEffect = "orphaned_effect",
        /// P06: an event names a cause that was never recorded.
        DanglingCause = "dangling_cause",
        /// P07: an actor was at two places, without enough time to travel between them.
        TwoPlacesAtOnce = "two_places_at_once",
        /// P08: two events assert different values of one thing at the same time.
        ContradictoryState = "contradictory_state",
        /// P09: two events have the same content.
        Duplicate = "duplicate",
        /// P10: an event was recorded as observed before it happened.
        FutureDated = "future_dated",
        /// P11: a source recorded an event after a later one.
        OutOfOrderRecording = "out_of_order_recording",
        /// P12: a clock jumped.
        ClockDiscontinuity = "clock_discontinuity",
        /// P13: an event before a fixed anchor was changed.
        AnchorBroken = "anchor_broken",
        /// P14: a source's sequence numbers have a gap or a duplicate.
        SequenceGap = "sequence_gap",
        /// P15: an event ends before it starts, or its versions do not form a valid sequence.
        IntervalInverted = "interval_inverted",
    }
}

impl Kind {
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::EffectBeforeCause => "P01",
            Self::CausalCycle => "P02",
            Self::Bootstrap => "P03",
            Self::Grandfather => "P04",
            Self::OrphanedEffect => "P05",
            Self::DanglingCause => "P06",
            Self::TwoPlacesAtOnce => "P07",
            Self::ContradictoryState => "P08",
            Self::Duplicate => "P09",
            Self::FutureDated => "P10",
            Self::OutOfOrderRecording => "P11",
            Self::ClockDiscontinuity => "P12",
            Self::AnchorBroken => "P13",
            Self::SequenceGap => "P14",
            Self::IntervalInverted => "P15",
        }
    }

    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        Self::parse(text).or_else(|| Self::ALL.into_iter().find(|kind| text.eq_ignore_ascii_case(kind.code())))
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
}

named! {
    /// How certain a paradox is. Counts of different grades are never added up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Grade {
        /// It holds for every possible value of uncertain times.
        Definite = "definite",
        /// It holds for some possible values.
        Possible = "possible",
        /// Duplicates that agree in everything but their ids.
        Exact = "exact",
        /// Duplicates that agree in actors, kind and name, and approximately in time and place.
        Probable = "probable",
        /// A clock jump with a recorded clock change.
        Explained = "explained",
        /// A clock jump without a recorded clock change.
        Unexplained = "unexplained",
    }
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Severity {
        /// For information.
        Low = "low",
        /// Should be reviewed.
        Medium = "medium",
        /// Something is wrong.
        High = "high",
        /// The history is impossible as recorded.
        Critical = "critical",
    }
}

impl Severity {
    const fn one_lower(self) -> Self {
        match self {
            Self::Critical => Self::High,
            Self::High => Self::Medium,
            Self::Medium | Self::Low => Self::Low,
        }
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
