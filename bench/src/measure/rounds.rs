use serde::Serialize;

use crate::measure::interrupt;
use crate::measure::setting::Setting;

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Rounds {
    pub(crate) floor: Vec<f64>,
    pub(crate) subject: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Rounds {
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

    /// Returns the ratio of subject to floor, computed per round, because disturbances affect both sides of a round.
    pub(crate) fn ratio(&self) -> Spread {
        self.compared(|subject, floor| subject / floor)
    }

    /// Returns the difference of subject and floor, computed per round.
    pub(crate) fn difference(&self) -> Spread {
        self.compared(|subject, floor| subject - floor)
    }

    fn compared(&self, compare: impl Fn(f64, f64) -> f64) -> Spread {
        let figures = self.subject.iter().zip(&self.floor).map(|(subject, floor)| compare(*subject, *floor));
        Spread::of(&figures.collect::<Vec<_>>())
    }
}

impl Spread {
    /// Returns the median, minimum and maximum of the figures; NaN if there are none.
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

/// Returns the 99th percentile of the figures; NaN if there are none.
pub(crate) fn percentile_99(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get((sorted.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_figures_is_the_middle_value() {
        for (figures, median) in [(&[3.0, 1.0, 2.0][..], 2.0), (&[4.0, 1.0, 2.0, 3.0], 2.5), (&[7.0], 7.0)] {
            assert!((Spread::of(figures).median - median).abs() < 1e-9, "{figures:?}");
        }
        assert!(Spread::of(&[]).median.is_nan());
    }

    #[test]
    fn median_ratio_ignores_a_disturbed_round() {
        let rounds = Rounds { floor: vec![100.0, 10.0, 100.0], subject: vec![80.0, 8.0, 82.0] };
        assert!((rounds.ratio().median - 0.8).abs() < 1e-9);
    }
}
