//! Floor and subject in turn.

use serde::Serialize;

use crate::interrupt;
use crate::setting::Setting;

/// What each round measured.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Rounds {
    /// The floor, one figure a round.
    pub(crate) floor: Vec<f64>,
    /// The subject, one figure a round.
    pub(crate) subject: Vec<f64>,
}

/// The middle of some figures, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    /// The middle one.
    pub(crate) median: f64,
    /// The lowest.
    pub(crate) min: f64,
    /// The highest.
    pub(crate) max: f64,
}

impl Rounds {
    /// Measures floor and subject in turn, as many rounds as the setting says.
    pub(crate) fn measure(
        setting: &Setting,
        mut floor: impl FnMut() -> anyhow::Result<f64>,
        mut subject: impl FnMut() -> anyhow::Result<f64>,
    ) -> anyhow::Result<Self> {
        let mut rounds = Self::default();
        for _ in 0..setting.rounds_count {
            interrupt::check()?;
            rounds.floor.push(floor()?);
            interrupt::check()?;
            rounds.subject.push(subject()?);
        }
        Ok(rounds)
    }

    /// Returns the ratio of subject to floor, round by round: what disturbs a round disturbs both.
    pub(crate) fn ratio(&self) -> Spread {
        self.compared(|subject, floor| subject / floor)
    }

    /// Returns how much more the subject has than the floor, round by round.
    pub(crate) fn difference(&self) -> Spread {
        self.compared(|subject, floor| subject - floor)
    }

    fn compared(&self, compare: impl Fn(f64, f64) -> f64) -> Spread {
        let figures = self.subject.iter().zip(&self.floor).map(|(subject, floor)| compare(*subject, *floor));
        Spread::of(&figures.collect::<Vec<_>>())
    }
}

impl Spread {
    /// Returns the spread of some figures, which is not a number where there are none.
    pub(crate) fn of(figures: &[f64]) -> Self {
        let mut sorted = figures.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
        let middle = sorted.len() / 2;
        let median = if sorted.len().is_multiple_of(2) && middle > 0 {
            f64::midpoint(at(middle - 1), at(middle))
        } else {
            at(middle)
        };
        Self { median, min: at(0), max: at(sorted.len().saturating_sub(1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_the_middle() {
        for (figures, median) in [(&[3.0, 1.0, 2.0][..], 2.0), (&[4.0, 1.0, 2.0, 3.0], 2.5), (&[7.0], 7.0)] {
            assert!((Spread::of(figures).median - median).abs() < 1e-9, "{figures:?}");
        }
        assert!(Spread::of(&[]).median.is_nan());
    }

    #[test]
    fn a_disturbed_round_disturbs_its_ratio_little() {
        let rounds = Rounds { floor: vec![100.0, 10.0, 100.0], subject: vec![80.0, 8.0, 82.0] };
        assert!((rounds.ratio().median - 0.8).abs() < 1e-9);
    }
}
