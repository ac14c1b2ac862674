//! What only the order of records shows: late arrivals (P11) and jumps of the clock (P12).

use super::kinds::Grade;
use super::record::Stamp;
use super::site::{Map, Site};
use super::uncertain::Uncertain;
use crate::clock::{Clock, ClockMoved, apply};
use crate::time::{Instant, Span, Virtual, Wall};

/// What is remembered of the records before.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    /// The record before, if there was one.
    last: Option<Stamp>,
    /// The clock, as far as records told of it.
    clock: Option<Clock>,
    /// The newest moment of host time that was seen.
    pub(super) newest: Option<Instant<Wall>>,
}

/// A jump of a clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Jump {
    /// The record before it, and the one after it.
    pub(super) positions: [u64; 2],
    pub(super) what: Jumped,
    /// Whether somebody sent the clock there.
    pub(super) is_explained: bool,
}

/// Which clock jumped, and between which readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jumped {
    /// Host time went down.
    Host {
        /// When the record before was recorded.
        from: Instant<Wall>,
        /// When this one was.
        to: Instant<Wall>,
    },
    /// Virtual time went elsewhere than it runs.
    Virtual {
        /// Where the clock would have been.
        from: Instant<Virtual>,
        /// Where it was.
        to: Instant<Virtual>,
    },
}

impl Stream {
    /// Takes in a record. Returns the jump before it, if there is one.
    pub(super) fn record(&mut self, stamp: Stamp, tolerance: Span) -> Vec<Jump> {
        let mut jumps = self.host(stamp.position, stamp.recorded_at);
        let expected = match (&self.clock, self.last) {
            (Some(clock), _) => Some(clock.now(stamp.recorded_at)),
            // Nobody told how the clock runs, but it does not run backward.
            (None, Some(last)) => Some(last.clock_at).filter(|at| stamp.clock_at < *at),
            (None, None) => None,
        };
        if let Some(from) = expected.filter(|expected| differ(*expected, stamp.clock_at, tolerance)) {
            let what = Jumped::Virtual { from, to: stamp.clock_at };
            jumps.push(Jump { positions: self.positions(stamp.position), what, is_explained: false });
            // What follows is measured from where the clock is found.
            self.clock = None;
        }
        self.last = Some(stamp);
        jumps
    }

    /// Takes in a change of the clock, which explains where it is.
    pub(super) fn moved(&mut self, position: u64, moved: &ClockMoved, tolerance: Span) -> Vec<Jump> {
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

/// The latest beginning that each source told of, and the event.
#[derive(Debug, Default)]
pub(super) struct Watermarks {
    by_source: Map<u32, (i64, u32)>,
}

impl Watermarks {
    /// Takes in an event that a source records. Returns what was known of the source before, and
    /// the late arrival if it is one.
    pub(super) fn record(
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

    /// Puts back what was known of a source.
    pub(super) fn put_back(&mut self, source: u32, before: Option<(i64, u32)>) {
        match before {
            Some(before) => self.by_source.insert(source, before),
            None => self.by_source.remove(&source),
        };
    }
}

impl Jump {
    /// Returns whether it is explained, as a grade.
    pub(super) const fn grade(&self) -> Grade {
        if self.is_explained { Grade::Explained } else { Grade::Unexplained }
    }
}
