use super::kinds::{Grade, Kind};
use super::report::{Step, Taken, TimerDetail, Witness};
use crate::paradox::rules::stream::Jumped;
use crate::time::Span;

/// Number of events of a cycle or path that are named in a sentence.
const NAMED_MAX: usize = 6;

impl Witness {
    pub(super) fn explain(&self, kind: Kind, grade: Grade) -> String {
        match self {
            Self::Edge { .. } => self.explain_edge(grade),
            Self::Cycle { steps, length, component_size } => cycle(kind, steps, *length, *component_size),
            Self::Path { event, intervention, path, length } => {
                let names: Vec<&str> = path.iter().map(crate::ids::EventId::as_str).collect();
                format!("`{intervention}` removed `{event}`, but happened because of it: {}.", chain(&names, *length))
            }
            Self::Orphan { .. } => self.explain_orphan(),
            Self::Dangling { effect, cause, is_overdue } => {
                let yet = if *is_overdue { "for longer than allowed" } else { "yet" };
                format!("`{effect}` names `{cause}` as its cause, but that event was not recorded {yet}.")
            }
            Self::Apart { .. } => self.explain_apart(grade),
            Self::Contradiction {
                pair: [one, other],
                subject,
                predicate,
                values: [value, other_value],
                from,
                until,
            } => {
                let is = if grade == Grade::Possible { "may be" } else { "is" };
                format!(
                    "`{predicate}` of `{subject}` {is} {value} by `{one}` and {other_value} by `{other}`, from {from} until {until}."
                )
            }
            Self::Duplicate { pair: [one, other] } if grade == Grade::Exact => {
                format!("`{one}` and `{other}` are identical.")
            }
            Self::Duplicate { pair: [one, other] } => {
                format!("`{one}` and `{other}` have the same actors at nearly the same time and place.")
            }
            Self::Future { event, time, clock_at } => {
                format!("`{event}` was recorded as observed at {clock_at}, before it happened at {time}.")
            }
            Self::Late { previous, event, lateness } => {
                let late = length(*lateness);
                format!("`{event}` was recorded after `{previous}` of the same source and happened {late} before it.")
            }
            Self::Jump { positions, jumped } => jump(*positions, *jumped, grade),
            Self::Anchor { anchor_id, timestamp, event, .. } => {
                format!("`{event}` was changed after the anchor `{anchor_id}` ({timestamp}) was set.")
            }
            Self::Gap { source, first, last } => {
                let numbers =
                    if first == last { format!("number {first} is") } else { format!("numbers {first} to {last} are") };
                format!("Of {}, the {numbers} missing.", source_name(source.as_deref()))
            }
            Self::Repeat { source, sequence, pair: [one, other] } => {
                let source = source_name(source.as_deref());
                format!("{source} gave the number {sequence} to both `{one}` and `{other}`.")
            }
            Self::Inverted { event, time, end } => format!("`{event}` ends at {end}, before it begins at {time}."),
            Self::Unlinked { event } => format!("The versions of `{event}` do not follow from one another."),
        }
    }

    fn explain_edge(&self, grade: Grade) -> String {
        let Self::Edge { cause, effect, cause_time, effect_time, gap, timer } = self else {
            return String::new();
        };
        let may = if grade == Grade::Possible { "may come" } else { "lies" };
        let (effect_at, cause_at, by) = (effect_time.min, cause_time.max, length(*gap));
        let Some(timer) = timer else {
            return format!(
                "`{effect}` ({effect_at}) {may} before its cause `{cause}` ({cause_at}), by {by} as recorded."
            );
        };
        let (due, timer) = (timer.due, timer_name(timer));
        let firing = if cause == effect { String::new() } else { format!("`{cause}`, a firing of ") };
        let did = if cause == effect { "recorded it" } else { "fired" };
        format!("`{effect}` ({effect_at}) {may} before {firing}{timer}, which {did} at {due}, by {by} as recorded.")
    }

    fn explain_orphan(&self) -> String {
        let Self::Orphan { effect, cause, intervention, impact, timer, .. } = self else {
            return String::new();
        };
        let others = others(*impact);
        let Some(timer) = timer else {
            let by = intervention.as_ref().map(|by| format!(" by `{by}`")).unwrap_or_default();
            return format!("`{effect}` requires `{cause}`, which was removed{by}{others}.");
        };
        let (why, timer) = (taken_words(timer), timer_name(timer));
        if cause == effect {
            format!("`{effect}` was recorded by {timer}, {why}{others}.")
        } else {
            format!("`{effect}` requires `{cause}`, a firing of {timer}, {why}{others}.")
        }
    }

    fn explain_apart(&self, grade: Grade) -> String {
        let Self::Apart { actor, pair: [one, other], metres, gap, needed_kmh, names } = self else {
            return String::new();
        };
        if let Some([name, other_name]) = names {
            return format!("`{actor}` may be at {name} (`{one}`) and at {other_name} (`{other}`) at the same time.");
        }
        let km = metres.unwrap_or(0.0) / 1_000.0;
        let is = if grade == Grade::Possible { "may have been" } else { "was" };
        let how = needed_kmh.map_or_else(
            || "at the same time".to_owned(),
            |kmh| format!("with {} to get there, which takes {kmh:.0} km/h", length(*gap)),
        );
        format!("`{actor}` {is} at two places {km:.1} km apart (`{one}`, `{other}`) {how}.")
    }
}

/// Phrases how many more events depend on an orphan.
fn others(impact: usize) -> String {
    match impact {
        0 => String::new(),
        1 => ", and 1 more event depends on it".to_owned(),
        count => format!(", and {count} more events depend on it"),
    }
}

fn timer_name(timer: &TimerDetail) -> String {
    timer.timer_id.as_ref().map_or_else(|| "a timer".to_owned(), |timer_id| format!("the timer `{timer_id}`"))
}

/// Phrases why the moment of a firing is gone.
fn taken_words(TimerDetail { due, taken, .. }: &TimerDetail) -> String {
    match taken {
        Some(Taken::Cancelled(at)) => format!("which was canceled at {at} on the clock, before it fired at {due}"),
        Some(Taken::Changed(at)) => {
            format!("which was changed at {at} on the clock and no longer fires at {due}")
        }
        Some(Taken::ComesAgain) | None => format!("which is to fire again at {due}"),
        Some(Taken::Returned) => format!("whose firing at {due} was undone by a return to an anchor"),
    }
}

fn cycle(kind: Kind, steps: &[Step], length: usize, component_size: usize) -> String {
    if let ([step], 1) = (steps, length) {
        return format!("`{}` names itself as its cause.", step.cause);
    }
    let mut names: Vec<&str> = steps.iter().map(|step| step.cause.as_str()).collect();
    if names.len() == length {
        names.extend(steps.first().map(|step| step.cause.as_str()));
    }
    let chain = chain(&names, length + 1);
    let size = if component_size > length {
        format!("; {component_size} events cause each other there")
    } else {
        String::new()
    };
    if kind == Kind::Bootstrap {
        format!("Events cause each other in a circle, and nothing else causes any of them: {chain}{size}.")
    } else {
        format!("Events cause each other in a circle: {chain}{size}.")
    }
}

fn jump([before, after]: [u64; 2], jumped: Jumped, grade: Grade) -> String {
    match jumped {
        Jumped::Host { from, to } => {
            format!("Host time went back between records {before} and {after}, from {from} to {to}.")
        }
        Jumped::Virtual { from, to } if grade == Grade::Explained => {
            format!("The clock was moved from {from} to {to} between records {before} and {after}.")
        }
        Jumped::Virtual { from, to } => {
            format!("The clock went from {from} to {to} between records {before} and {after} without a clock change.")
        }
    }
}

/// Joins the first and the last names of a path with arrows.
fn chain(names: &[&str], length: usize) -> String {
    let quoted = |name: &&str| format!("`{name}`");
    if names.len() <= NAMED_MAX && names.len() == length {
        return names.iter().map(quoted).collect::<Vec<_>>().join(" → ");
    }
    let first: Vec<String> = names.iter().take(NAMED_MAX / 2).map(quoted).collect();
    let last: Vec<String> = if names.len() == length {
        names.iter().skip(names.len() - NAMED_MAX / 2).map(quoted).collect()
    } else {
        Vec::new()
    };
    let between = length.saturating_sub(first.len() + last.len());
    let parts = first.into_iter().chain([format!("{between} more")]).chain(last);
    parts.collect::<Vec<_>>().join(" → ")
}

fn source_name(source: Option<&str>) -> String {
    source.map_or_else(|| "records without a source".to_owned(), |source| format!("source `{source}`"))
}

/// Formats a span in its two largest non-zero units.
fn length(span: Span) -> String {
    let micros = span.micros().unsigned_abs();
    let (days, rest) = (micros / 86_400_000_000, micros % 86_400_000_000);
    let (hours, rest) = (rest / 3_600_000_000, rest % 3_600_000_000);
    let (minutes, rest) = (rest / 60_000_000, rest % 60_000_000);
    let (seconds, rest) = (rest / 1_000_000, rest % 1_000_000);
    let parts = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s"), (rest, "µs")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).take(2).map(|(count, unit)| format!("{count} {unit}")).collect();
    if parts.is_empty() { "no time".to_owned() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_in_up_to_two_units() {
        for (micros, text) in [
            (0, "no time"),
            (1, "1 µs"),
            (60_000_000, "1 min"),
            (-90_061_000_001, "1 d 1 h"),
            (3_600_000_000 + 5, "1 h 5 µs"),
        ] {
            assert_eq!(length(Span::from_micros(micros)), text);
        }
    }

    #[test]
    fn long_chains_are_shortened_in_the_middle() {
        assert_eq!(chain(&["a", "b", "a"], 3), "`a` → `b` → `a`");
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        assert_eq!(chain(&names, 8), "`a` → `b` → `c` → 2 more → `f` → `g` → `h`");
        assert_eq!(chain(&names, 1_000), "`a` → `b` → `c` → 997 more");
    }
}
