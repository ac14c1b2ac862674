use std::fmt;

use serde_json::{Value, json};

use crate::measure::rounds::{Rounds, Spread};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
    /// Maximum difference to the floor, in its unit.
    MoreAtMost(f64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    RequestsPerSecond,
    RowsPerSecond,
    InstantsPerSecond,
    FiringsPerSecond,
    EntriesPerSecond,
    MegabytesPerSecond,
    Nanos,
    Micros,
    Millis,
    Megabytes,
    Bytes,
    RoundTrips,
    /// Pages of 8 KiB.
    Pages,
    FramesPerSecond,
    Requests,
    PercentOfCore,
}

#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) rounds: Rounds,
    pub(crate) ratio_goal: Goal,
    /// Required value of the subject itself.
    pub(crate) own_goal: Option<Goal>,
    pub(crate) floor: &'static str,
}

impl Goal {
    fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtLeast(least) => figure >= least,
            Self::AtMost(most) | Self::MoreAtMost(most) => figure <= most,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, "≥ {least}"),
            Self::AtMost(most) => write!(f, "≤ {most}"),
            Self::MoreAtMost(most) => write!(f, "≤ {most} more"),
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RequestsPerSecond => "req/s",
            Self::RowsPerSecond => "rows/s",
            Self::InstantsPerSecond => "instants/s",
            Self::FiringsPerSecond => "firings/s",
            Self::EntriesPerSecond => "entries/s",
            Self::MegabytesPerSecond => "MB/s",
            Self::Nanos => "ns",
            Self::Micros => "µs",
            Self::Millis => "ms",
            Self::Megabytes => "MB",
            Self::Bytes => "bytes",
            Self::RoundTrips => "trips",
            Self::Pages => "pages",
            Self::FramesPerSecond => "fps",
            Self::Requests => "requests",
            Self::PercentOfCore => "% of a core",
        })
    }
}

impl Finding {
    /// Creates a finding without a goal for the subject alone.
    pub(crate) fn new(
        name: impl Into<String>,
        unit: Unit,
        rounds: Rounds,
        ratio_goal: Goal,
        floor: &'static str,
    ) -> Self {
        Self { name: name.into(), unit, rounds, ratio_goal, own_goal: None, floor }
    }

    pub(crate) fn with_own_goal(self, goal: Goal) -> Self {
        Self { own_goal: Some(goal), ..self }
    }

    pub(crate) fn holds(&self) -> bool {
        let own = Spread::of(&self.rounds.subject).median;
        let against_floor = match self.ratio_goal {
            Goal::AtLeast(_) | Goal::AtMost(_) => self.rounds.ratio(),
            Goal::MoreAtMost(_) => self.rounds.difference(),
        };
        self.ratio_goal.holds(against_floor.median) && self.own_goal.is_none_or(|goal| goal.holds(own))
    }

    fn goal(&self) -> String {
        let own = self.own_goal.map(|goal| format!(", {goal} {}", self.unit));
        format!("{}{}", self.ratio_goal, own.unwrap_or_default())
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "unit": self.unit.to_string(),
            "subject": Spread::of(&self.rounds.subject),
            "floor": Spread::of(&self.rounds.floor),
            "floor_is": self.floor,
            "ratio": self.rounds.ratio(),
            "goal": self.goal(),
            "holds": self.holds(),
            "rounds": self.rounds,
        })
    }

    pub(crate) fn markdown_heads() -> &'static str {
        "| name | subject | floor | ratio | goal | |\n| --- | --- | --- | --- | --- | --- |"
    }

    pub(crate) fn to_markdown(&self) -> String {
        let [name, subject, floor, ratio, goal, verdict] = self.cells();
        format!("| {name} | {subject} | {}: {floor} | {ratio} | {goal} | {verdict} |", self.floor)
    }

    fn cells(&self) -> [String; 6] {
        let figure = |figures: &[f64]| format!("{} {}", grouped(Spread::of(figures).median), self.unit);
        let ratio = match self.ratio_goal {
            Goal::AtLeast(_) | Goal::AtMost(_) => {
                let Spread { median, min, max } = self.rounds.ratio();
                format!("{median:.2} ({min:.2}–{max:.2})")
            }
            // The floor may be zero.
            Goal::MoreAtMost(_) => {
                let Spread { median, min, max } = self.rounds.difference();
                format!("{median:+.1} ({min:+.1}–{max:+.1})")
            }
        };
        let (subject, floor) = (figure(&self.rounds.subject), figure(&self.rounds.floor));
        let verdict = if self.holds() { "holds" } else { "short" };
        [self.name.clone(), subject, floor, ratio, self.goal(), verdict.to_owned()]
    }

    pub(crate) fn heads() -> String {
        row(["name", "subject", "floor", "ratio", "goal", ""])
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&row(self.cells().each_ref().map(String::as_str)))
    }
}

fn row([name, subject, floor, ratio, goal, verdict]: [&str; 6]) -> String {
    format!("{name:<38} {subject:>17} {floor:>17}  {ratio:<21} {goal:<28} {verdict}").trim_end().to_owned()
}

/// Formats a figure with grouped thousands, and with decimals only if it is small.
fn grouped(figure: f64) -> String {
    if figure.abs() < 100.0 {
        return format!("{figure:.1}");
    }
    let digits = format!("{figure:.0}");
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(subject: f64, ratio_goal: Goal, own_goal: Option<Goal>) -> Finding {
        let rounds = Rounds { floor: vec![1000.0; 3], subject: vec![subject; 3] };
        Finding { own_goal, ..Finding::new("a", Unit::RowsPerSecond, rounds, ratio_goal, "bare SQL") }
    }

    #[test]
    fn finding_is_printed_on_one_line() {
        let line = finding(12_345.0, Goal::AtLeast(0.5), Some(Goal::AtLeast(20_000.0))).to_string();
        let words: Vec<&str> = line.split_whitespace().collect();
        let expected = "a 12 345 rows/s 1 000 rows/s 12.35 (12.35–12.35) ≥ 0.5, ≥ 20000 rows/s short";
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn ratio_over_zero_floor_is_printed_as_difference() {
        let mut finding = finding(2.5, Goal::MoreAtMost(3.0), None);
        finding.rounds.floor = vec![0.0; 3];
        let words = finding.to_string();
        assert!(words.contains("+2.5 (+2.5–+2.5)"), "{words}");
    }

    #[test]
    fn long_names_do_not_run_into_other_columns() {
        let mut finding = finding(2.5, Goal::MoreAtMost(3.0), Some(Goal::AtMost(3.0)));
        finding.name = "console-hurricanes-idle-timeline-list-and-more".to_owned();
        finding.unit = Unit::PercentOfCore;
        let words = finding.to_string();
        assert!(words.starts_with("console-hurricanes-idle-timeline-list-and-more "), "{words}");
        assert!(words.ends_with(" holds"), "{words}");
    }

    #[test]
    fn finding_holds_if_both_goals_hold() {
        for (subject, ratio_goal, own_goal, expected) in [
            (900.0, Goal::AtLeast(0.85), None, true),
            (800.0, Goal::AtLeast(0.85), None, false),
            (2400.0, Goal::AtMost(2.5), None, true),
            (900.0, Goal::AtLeast(0.5), Some(Goal::AtLeast(1000.0)), false),
            (900.0, Goal::AtMost(1.5), Some(Goal::AtMost(1000.0)), true),
            (1100.0, Goal::MoreAtMost(150.0), None, true),
            (1200.0, Goal::MoreAtMost(150.0), None, false),
        ] {
            assert_eq!(finding(subject, ratio_goal, own_goal).holds(), expected, "{subject}");
        }
    }

    #[test]
    fn figures_are_grouped_and_rounded() {
        for (figure, text) in [(1.25, "1.2"), (99.96, "100.0"), (123.4, "123"), (1_234_567.0, "1 234 567")] {
            assert_eq!(grouped(figure), text);
        }
    }
}
