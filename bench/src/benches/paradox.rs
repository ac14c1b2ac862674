//! Paradox detection, for a whole timeline of a million events with three million causes, against Tarjan's algorithm
//! over plain arrays. Both have their data in memory (goal 13); a second figure includes adding the records. Also
//! record by record, against inserting the same records into a map by id, which goal 14 compares with a whole write.

use std::collections::HashMap;
use std::hint::black_box;

use anyhow::{Context, ensure};
use timenav_core::event::{Cause, CauseKind, EventDraft};
use timenav_core::ids::EventId;
use timenav_core::paradox::{Builder, Kind, Record, Settings, SizeHint, Stamp, Version, VersionOrigin, View};
use timenav_core::place::{Geo, Point};
use timenav_core::time::Instant;

use crate::history::mix;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::running::Memory;

const CAUSES: u64 = 3;
/// One in this many causes is recorded after its effect, and is itself an effect of it.
const BACKWARD_EVERY: u64 = 50_000;
const MEGABYTES_MAX: f64 = 200.0;

struct Events {
    ids: Vec<EventId>,
    drafts: Vec<EventDraft>,
    /// The causes as plain arrays: the start index of each event's causes, and the causes.
    starts: Vec<u32>,
    targets: Vec<u32>,
}

pub(crate) fn scan(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let events = Events::new(setting.history_events())?;
    let before = Memory::of_this_process().megabytes()?;
    let view = events.build();
    let memory = Memory::of_this_process().megabytes()? - before;
    let cycles = view.list(|heading| heading.kind == Kind::CausalCycle).len();
    let parts = components(&events.starts, &events.targets);
    ensure!((1..=parts).contains(&cycles), "{cycles} cycles cannot be in {parts} components");
    eprintln!("paradox-scan: {memory:.0} MB of {MEGABYTES_MAX:.0} for {} events, {cycles} cycles", events.ids.len());
    let mut view = view;
    let floor = || {
        let watch = Stopwatch::start();
        black_box(components(&events.starts, &events.targets));
        Ok(watch.micros() / 1_000.0)
    };
    let in_memory = Rounds::measure(setting, floor, || {
        let watch = Stopwatch::start();
        view.find_again();
        Ok(watch.micros() / 1_000.0)
    })?;
    drop(view);
    let from_records = Rounds::measure(setting, floor, || {
        let watch = Stopwatch::start();
        let view = events.build();
        let millis = watch.micros() / 1_000.0;
        black_box(view.counts());
        Ok(millis)
    })?;
    let finding = |(name, goal, rounds): (&str, f64, Rounds)| {
        Finding::new(
            name,
            Unit::Millis,
            rounds,
            Goal::AtMost(goal),
            "Tarjan's components over plain arrays of the same causes, already in memory",
        )
    };
    Ok([("paradox-scan", 10.0, in_memory), ("paradox-scan-records", 25.0, from_records)].map(finding).into())
}

pub(crate) fn write(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let mut events = Events::new(setting.history_events() / 10)?;
    events.move_about()?;
    let count = f64::from(u32::try_from(events.ids.len())?);
    let rounds = Rounds::measure(
        setting,
        || {
            let watch = Stopwatch::start();
            let mut by_id: HashMap<EventId, EventDraft> = HashMap::new();
            for (id, draft) in events.ids.iter().zip(&events.drafts) {
                by_id.insert(id.clone(), draft.clone());
            }
            let micros = watch.micros() / count;
            black_box(by_id);
            Ok(micros)
        },
        || {
            let watch = Stopwatch::start();
            let mut view = View::new(Settings::default());
            for number in 0..events.ids.len() {
                black_box(view.apply(&events.record(number)));
            }
            Ok(watch.micros() / count)
        },
    )?;
    Ok(vec![
        Finding::new(
            "paradox-write",
            Unit::Micros,
            rounds,
            Goal::AtMost(5.0),
            "putting the same events into a map by id, one after the other",
        )
        .with_own_goal(Goal::AtMost(10.0)),
    ])
}

impl Events {
    /// Generates events in time order, each with earlier events as causes. A few causes are later events, which close
    /// causal cycles.
    fn new(count: u64) -> anyhow::Result<Self> {
        let (mut ids, mut drafts) = (Vec::new(), Vec::new());
        let (mut starts, mut targets) = (vec![0], Vec::new());
        let mut closing: HashMap<u64, u64> = HashMap::new();
        for number in 0..count {
            let mut draft = EventDraft::at(
                Instant::from_micros(i64::try_from(number * 60_000_000)?).context("a minute after the other")?,
                format!("Step {number} of the works is done."),
            );
            for cause in 0..CAUSES.min(number) {
                let edge = number * CAUSES + cause;
                let is_backward = mix(edge).is_multiple_of(BACKWARD_EVERY);
                let target = if is_backward {
                    let later = (number + 1 + mix(edge ^ 0xbac) % 1_000) % count;
                    closing.insert(later, number);
                    later
                } else {
                    closing.remove(&number).unwrap_or_else(|| mix(edge ^ 0xca5e) % number)
                };
                let event_id = EventId::new(&format!("step-{target}"))?;
                if draft.causes.iter().all(|known| known.event_id != event_id) {
                    draft.causes.push(Cause { event_id, kind: CauseKind::Requires });
                    targets.push(u32::try_from(target)?);
                }
            }
            ids.push(EventId::new(&format!("step-{number}"))?);
            drafts.push(draft);
            starts.push(u32::try_from(targets.len())?);
        }
        Ok(Self { ids, drafts, starts, targets })
    }

    /// Gives each event one of a thousand actors, who never move far.
    fn move_about(&mut self) -> anyhow::Result<()> {
        for (number, draft) in (0_u32..).zip(&mut self.drafts) {
            let actor = number % 1_000;
            draft.actors = vec![format!("crew-{actor}")];
            let lat = f64::from(actor % 100) / 2.0 + f64::from(number % 7) / 100.0;
            let point = Point::new(lat, f64::from(actor) / 10.0).context("a place on earth")?;
            draft.geo = Some(Geo { point, radius_m: None });
        }
        Ok(())
    }

    fn record(&self, number: usize) -> Record<'_> {
        let stamp = Stamp { position: number as u64, recorded_at: Instant::EPOCH, clock_at: Instant::MAX };
        Record::Version(Version {
            event_id: &self.ids[number],
            stamp,
            draft: &self.drafts[number],
            origin: VersionOrigin::Recorded,
        })
    }

    fn build(&self) -> View {
        let id_bytes = self.ids.iter().map(|id| id.as_str().len()).sum();
        let hint = SizeHint { events: self.ids.len(), causes: self.targets.len(), id_bytes };
        let mut builder = Builder::new(Settings::default(), hint);
        (0..self.ids.len()).for_each(|number| builder.add(&self.record(number)));
        builder.finish()
    }
}

/// Counts the strongly connected components with a minimal implementation of Tarjan's algorithm.
fn components(starts: &[u32], targets: &[u32]) -> usize {
    const UNSEEN: u32 = u32::MAX;
    let count = starts.len() - 1;
    let (mut order, mut low) = (vec![UNSEEN; count], vec![0_u32; count]);
    let mut is_open = vec![false; count];
    let (mut open, mut calls): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
    let (mut seen, mut found) = (0_u32, 0);
    for root in 0..u32::try_from(count).unwrap_or(UNSEEN) {
        if order[root as usize] != UNSEEN {
            continue;
        }
        calls.push((root, starts[root as usize]));
        while let Some((node, at)) = calls.last_mut() {
            let index = *node as usize;
            if order[index] == UNSEEN {
                (order[index], low[index], is_open[index]) = (seen, seen, true);
                seen += 1;
                open.push(*node);
            }
            if *at < starts[index + 1] {
                let target = targets[*at as usize];
                *at += 1;
                if order[target as usize] == UNSEEN {
                    calls.push((target, starts[target as usize]));
                } else if is_open[target as usize] {
                    low[index] = low[index].min(order[target as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some((caller, _)) = calls.last() {
                low[*caller as usize] = low[*caller as usize].min(low[index]);
            }
            if low[index] == order[index] {
                found += 1;
                while let Some(member) = open.pop() {
                    is_open[member as usize] = false;
                    if member as usize == index {
                        break;
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_counted() {
        // Events 0, 1 and 2 form a cycle, and 0 causes 3.
        assert_eq!(components(&[0, 1, 2, 3, 4], &[2, 0, 1, 0]), 2);
        assert_eq!(components(&[0, 0, 1], &[0]), 2);
    }

    #[test]
    fn causal_cycles_are_the_graph_components_of_several_events() {
        let events = Events::new(30_000).unwrap();
        let view = events.build();
        assert_eq!(view.nodes_count(), 30_000);
        let cycles = view.list(|heading| heading.kind == Kind::CausalCycle).len();
        assert_eq!(cycles, 2);
        assert!(cycles < components(&events.starts, &events.targets));
    }
}
