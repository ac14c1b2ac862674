//! Differences in timers and firings between two timelines with a common ancestor.
//!
//! A fork copies the rows of inherited timers. Timers are therefore compared by name, and firings by timer and due
//! time, since an inherited timer keeps its position.

use std::collections::VecDeque;

use timenav_core::ids::TimerId;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{DueFiring, FiringState};

use super::Parting;
use crate::engine::Engine;
use crate::ledger::head::{Layer, TimelineKey};
use crate::ports::timer_rows::{FiringRow, TimerQuery, TimerRow};
use crate::requests::refusal::Refusal;
use crate::timers::commands::TimerView;

/// Maximum number of rows examined per page. If few of them differ, pages are short.
const ROWS_MAX: usize = 50_000;
const BLOCK_TIMERS: usize = 100;
const BLOCK_FIRINGS: usize = 500;

/// A timer that is armed on at least one of two timelines and differs on the other.
#[derive(Clone, Debug)]
pub struct TimerDifference {
    pub timer_id: TimerId,
    pub a: Option<TimerView>,
    pub b: Option<TimerView>,
}

/// A due time of a timer with different outcomes since two timelines diverged.
#[derive(Clone, Debug)]
pub struct FiringDifference {
    pub timer_id: TimerId,
    pub due: Instant<Virtual>,
    /// The firing on timeline `a`, if it fell due there.
    pub a: Option<FiringRow>,
    /// The firing on timeline `b`, if it fell due there.
    pub b: Option<FiringRow>,
}

impl Engine {
    /// Returns the first differing timers after a name, and the name after which the next page begins, if there is one.
    pub(super) async fn timers_apart(
        &self,
        (a, b): (TimelineKey, TimelineKey),
        after: Option<TimerId>,
        items_max: usize,
    ) -> Result<(Vec<TimerDifference>, Option<TimerId>), Refusal> {
        let (mut found, mut examined): (Vec<TimerDifference>, usize) = (Vec::new(), 0);
        let mut sides = [Armed::after(a, after.clone()), Armed::after(b, after)];
        loop {
            let mut first: Option<TimerId> = None;
            for side in &mut sides {
                side.fill(self, &mut examined).await?;
                first = side.rows.front().map(|row| row.timer_id.clone()).into_iter().chain(first).min();
            }
            let Some(timer_id) = first.filter(|_| a != b) else { return Ok((found, None)) };
            let [of_a, of_b] = sides.each_mut().map(|side| side.rows.pop_front_if(|row| row.timer_id == timer_id));
            let is_alike = of_a.as_ref().zip(of_b.as_ref()).is_some_and(|(a, b)| is_alike(a, b));
            if !is_alike {
                if found.len() == items_max {
                    let last = found.last().map(|last| last.timer_id.clone());
                    return Ok((found, last));
                }
                let (a, b) = (self.timer_named(a, &timer_id, of_a).await?, self.timer_named(b, &timer_id, of_b).await?);
                found.push(TimerDifference { timer_id: timer_id.clone(), a, b });
            }
            if examined >= ROWS_MAX {
                return Ok((found, Some(timer_id)));
            }
        }
    }

    /// Returns a timer; one that is not armed is looked up by name.
    async fn timer_named(
        &self,
        timeline: TimelineKey,
        timer_id: &TimerId,
        armed: Option<TimerRow>,
    ) -> Result<Option<TimerView>, Refusal> {
        let row = match armed {
            Some(row) => Some(row),
            None => self.store().timer_rows(timeline, TimerQuery::Named(timer_id.clone())).await?.timers.pop(),
        };
        row.map(TimerView::of).transpose()
    }

    /// Returns the first due times after a place with different outcomes since two timelines diverged, and the place
    /// after which the next page begins, if there is one.
    pub(super) async fn firings_apart(
        &self,
        (a, b): (&[Layer], &[Layer]),
        parting: Parting,
        after: Option<DueFiring>,
        items_max: usize,
    ) -> Result<(Vec<FiringDifference>, Option<DueFiring>), Refusal> {
        let (mut found, mut examined): (Vec<FiringDifference>, usize) = (Vec::new(), 0);
        let mut last: Option<DueFiring> = None;
        let is_same = a.last().map(|layer| layer.timeline) == b.last().map(|layer| layer.timeline);
        let mut sides = [Outcomes::of(a, parting, after), Outcomes::of(b, parting, after)];
        loop {
            let mut first: Option<Moment> = None;
            for side in &mut sides {
                side.fill(self, &mut examined).await?;
                first = side.first().into_iter().chain(first).min();
            }
            let Some(moment) = first.filter(|_| !is_same) else { return Ok((found, None)) };
            let (due, position, timer_id) = moment.clone();
            // Two timers with the same position and due time must be on the same page.
            let is_next = last.is_none_or(|last| (last.due, last.position) != (due, position));
            if is_next && last.is_some() && (found.len() >= items_max || examined >= ROWS_MAX) {
                return Ok((found, last));
            }
            last = Some(DueFiring { due, position, round: u32::MAX });
            let mut rows = Vec::with_capacity(2);
            for side in &mut sides {
                rows.push(side.take(self, &moment, &mut examined).await?);
            }
            let (b, a) = (rows.pop().flatten(), rows.pop().flatten());
            if a.as_ref().map(|a| a.state) != b.as_ref().map(|b| b.state) {
                found.push(FiringDifference { timer_id, due, a, b });
            }
        }
    }
}

fn is_alike(a: &TimerRow, b: &TimerRow) -> bool {
    a.next == b.next
        && a.schedule == b.schedule
        && a.deliver == b.deliver
        && a.order_key == b.order_key
        && a.payload == b.payload
}

struct Armed {
    timeline: TimelineKey,
    after: Option<TimerId>,
    rows: VecDeque<TimerRow>,
    is_done: bool,
}

impl Armed {
    const fn after(timeline: TimelineKey, after: Option<TimerId>) -> Self {
        Self { timeline, after, rows: VecDeque::new(), is_done: false }
    }

    async fn fill(&mut self, engine: &Engine, examined: &mut usize) -> Result<(), Refusal> {
        if !self.rows.is_empty() || self.is_done {
            return Ok(());
        }
        let query = TimerQuery::ArmedByName(self.after.clone(), BLOCK_TIMERS);
        let rows = engine.store().timer_rows(self.timeline, query).await?.timers;
        (*examined, self.is_done) = (*examined + rows.len(), rows.len() < BLOCK_TIMERS);
        self.after = rows.last().map(|last| last.timer_id.clone());
        self.rows = rows.into();
        Ok(())
    }
}

/// A due time of a timer: instant, position and name of the timer.
type Moment = (Instant<Virtual>, u64, TimerId);

fn moment_of(row: &FiringRow) -> Moment {
    (row.due_firing.due, row.due_firing.position, row.timer_id.clone())
}

struct Outcomes(Vec<OfLayer>);

struct OfLayer {
    timeline: TimelineKey,
    /// Earlier outcomes are common to both sides.
    from: u64,
    /// Later outcomes belong to other timelines. `None` for the timeline itself, which also includes pending firings.
    to: Option<u64>,
    after: Option<DueFiring>,
    rows: VecDeque<FiringRow>,
    is_done: bool,
}

impl Outcomes {
    fn of(layers: &[Layer], parting: Parting, after: Option<DueFiring>) -> Self {
        let own = layers.len().saturating_sub(1);
        let apart = layers.iter().enumerate().skip(parting.layer);
        let of_layer = |(number, layer): (usize, &Layer)| OfLayer {
            timeline: layer.timeline,
            from: if number == parting.layer { parting.size } else { 0 },
            to: (number < own).then_some(layer.as_of),
            after,
            rows: VecDeque::new(),
            is_done: false,
        };
        Self(apart.map(of_layer).collect())
    }

    async fn fill(&mut self, engine: &Engine, examined: &mut usize) -> Result<(), Refusal> {
        for layer in &mut self.0 {
            layer.fill(engine, examined).await?;
        }
        Ok(())
    }

    fn first(&self) -> Option<Moment> {
        self.0.iter().filter_map(|layer| layer.rows.front()).map(moment_of).min()
    }

    /// Takes the last outcome of a due time; `None` if it has not fallen due, or if it will recur.
    async fn take(
        &mut self,
        engine: &Engine,
        moment: &Moment,
        examined: &mut usize,
    ) -> Result<Option<FiringRow>, Refusal> {
        let mut end: Option<FiringRow> = None;
        for layer in &mut self.0 {
            while let Some(row) = layer.rows.pop_front_if(|row| moment_of(row) == *moment) {
                if end.as_ref().is_none_or(|end| end.due_firing.round <= row.due_firing.round) {
                    end = Some(row);
                }
                layer.fill(engine, examined).await?;
            }
        }
        Ok(end.filter(|end| end.state != FiringState::Superseded))
    }
}

impl OfLayer {
    async fn fill(&mut self, engine: &Engine, examined: &mut usize) -> Result<(), Refusal> {
        while self.rows.is_empty() && !self.is_done {
            let query = TimerQuery::FiringsAfter(self.after, BLOCK_FIRINGS);
            let rows = engine.store().timer_rows(self.timeline, query).await?.firings;
            (*examined, self.is_done) = (*examined + rows.len(), rows.len() < BLOCK_FIRINGS);
            self.after = rows.last().map(|last| last.due_firing);
            let (from, to) = (self.from, self.to);
            let is_apart = |row: &FiringRow| match row.settled {
                Some(settled) => settled >= from && to.is_none_or(|to| settled < to),
                None => to.is_none(),
            };
            self.rows.extend(rows.into_iter().filter(is_apart));
        }
        Ok(())
    }
}
