//! Paradoxes that depend on the order of records: late arrivals (P11) and clock jumps (P12).

use crate::clock::{Clock, ClockMoved, apply};
use crate::paradox::kinds::Grade;
use crate::paradox::record::Stamp;
use crate::paradox::rules::uncertain::Uncertain;
use crate::paradox::site::{Map, Site};
use crate::time::{Instant, Span, Virtual, Wall};

#[derive(Clone, Debug, Default)]
pub(in crate::paradox) struct Stream {
    last: Option<Stamp>,
    /// The clock, as far as it is known from records.
    clock: Option<Clock>,
    pub(in crate::paradox) newest: Option<Instant<Wall>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::paradox) struct Jump {
    /// The records before and after it.
    pub(in crate::paradox) positions: [u64; 2],
    pub(in crate::paradox) what: Jumped,
    pub(in crate::paradox) is_explained: bool,
}

/// Which clock jumped, and its readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jumped {
    /// Host time decreased.
    Host { from: Instant<Wall>, to: Instant<Wall> },
    /// Virtual time differs from what the clock should show.
    Virtual {
        /// What the clock should have shown.
        from: Instant<Virtual>,
        /// What it showed.
        to: Instant<Virtual>,
    },
}

impl Stream {
    /// Processes a record. Returns the jumps before it.
    pub(in crate::paradox) fn record(&mut self, stamp: Stamp, tolerance: Span) -> Vec<Jump> {
        let mut jumps = self.host(stamp.position, stamp.recorded_at);
        let expected = match (&self.clock, self.last) {
            (Some(clock), _) => Some(clock.now(stamp.recorded_at)),
            // The rate is unknown, but clocks do not run backward.
            (None, Some(last)) => Some(last.clock_at).filter(|at| stamp.clock_at < *at),
            (None, None) => None,
        };
        if let Some(from) = expected.filter(|expected| differ(*expected, stamp.clock_at, tolerance)) {
            let what = Jumped::Virtual { from, to: stamp.clock_at };
            jumps.push(Jump { positions: self.positions(stamp.position), what, is_explained: false });
            // Later readings are measured from this one.
            self.clock = None;
        }
        self.last = Some(stamp);
        jumps
    }

    /// Processes a clock change, which explains the new reading. Returns the jumps before it.
    pub(in crate::paradox) fn moved(&mut self, position: u64, moved: &ClockMoved, tolerance: Span) -> Vec<Jump> {
        let mut jumps = self.host(position, moved.host);
        let to = moved.moment.at;
        let before = self.clock.as_ref().map(|clock| clock.now(moved.host)).or(self.last.map(|last| last.clock_at));
        if let Some(from) = before.filter(|from| differ(*from, to, tolerance)) {
            let what = Jumped::Virtual { from, to };
            jumps.push(Jump { positions: self.positions(position), what, is_explained: true });
        }
        self.last = Some(Stamp { position, recorded_at: moved.host, clock_at: to });
        self.clock = Some(apply(&Clock { location: None, ..Clock::new(moved.host) }, moved));
        jumps
    }

    fn host(&mut self, position: u64, at: Instant<Wall>) -> Vec<Jump> {
        self.newest = self.newest.max(Some(at));
        let Some(last) = self.last.filter(|last| at < last.recorded_at) else { return Vec::new() };
        let what = Jumped::Host { from: last.recorded_at, to: at };
        vec![Jump { positions: self.positions(position), what, is_explained: false }]
    }

    fn positions(&self, position: u64) -> [u64; 2] {
        [self.last.map_or(position, |last| last.position), position]
    }
}

fn differ(one: Instant<Virtual>, other: Instant<Virtual>, tolerance: Span) -> bool {
    one.since(other).micros().abs() > tolerance.micros()
}

/// The latest start recorded by each source, with the event.
#[derive(Debug, Default)]
pub(in crate::paradox) struct Watermarks {
    by_source: Map<u32, (i64, u32)>,
}

impl Watermarks {
    /// Processes an event of a source. Returns the previous watermark, and the late arrival if it is one.
    pub(in crate::paradox) fn record(
        &mut self,
        (source, event): (u32, u32),
        start: Uncertain,
        lateness_max: Span,
    ) -> (Option<(i64, u32)>, Option<Site>) {
        let before = self.by_source.get(&source).copied();
        let late = before.and_then(|(latest, previous)| {
            let micros = latest - start.max.micros();
            (micros > lateness_max.micros()).then_some(Site::Late { event, previous, micros })
        });
        if before.is_none_or(|(latest, _)| start.min.micros() > latest) {
            self.by_source.insert(source, (start.min.micros(), event));
        }
        (before, late)
    }

    pub(in crate::paradox) fn put_back(&mut self, source: u32, before: Option<(i64, u32)>) {
        match before {
            Some(before) => self.by_source.insert(source, before),
            None => self.by_source.remove(&source),
        };
    }
}

impl Jump {
    pub(in crate::paradox) const fn grade(&self) -> Grade {
        if self.is_explained { Grade::Explained } else { Grade::Unexplained }
    }
}
