//! What counts as a paradox can be set. Every bound of the search is here too.

use crate::time::Span;

/// Fastest that anybody moves, in kilometres an hour: an airliner.
pub const SPEED_KMH_DEFAULT: f64 = 900.0;
/// The speed of light in kilometres an hour, for those who are faster than airliners.
pub const SPEED_OF_LIGHT_KMH: f64 = 1_079_252_848.8;
/// How far two duplicates lie apart at most, in microseconds.
pub const DUPLICATE_MICROS_DEFAULT: i64 = 1_000_000;
/// How far two duplicates lie apart at most, in metres.
pub const DUPLICATE_METRES_DEFAULT: f64 = 100.0;
/// Most partners of one event in one group (an actor, a thing asserted, equal content) with which
/// it is told to be in conflict when it is recorded. Who is at a thousand places at once is told
/// to be at a hundred of them.
pub const PARTNERS_PER_EVENT_MAX: usize = 100;
/// Most events of one cycle or one path that are told; how many there are is told in any case.
pub const PATH_EVENTS_MAX: usize = 1_000;
/// Most edges that are looked at for a shorter cycle once one is found.
pub const CYCLE_SEARCH_EDGES_MAX: usize = 1 << 22;
/// Most events that are counted as what hangs on an orphan.
pub const IMPACT_EVENTS_MAX: usize = 10_000;

/// What counts as a paradox on a timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// By how much clocks may differ before one time counts as before another.
    pub tolerance: Span,
    /// Fastest that anybody moves, in kilometres an hour.
    pub speed_kmh: f64,
    /// How much later than something later a source may record something.
    pub lateness_max: Span,
    /// How long a cause may stay unrecorded before it counts as a paradox, by host time; forever
    /// if `None`.
    pub grace: Option<Span>,
    /// How far duplicates lie apart at most, in time.
    pub duplicate_time: Span,
    /// How far duplicates lie apart at most, in metres.
    pub duplicate_metres: f64,
    /// Whether an event may begin only after the causes it requires are over, not only begun.
    pub requires_complete: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: Span::ZERO,
            speed_kmh: SPEED_KMH_DEFAULT,
            lateness_max: Span::ZERO,
            grace: None,
            duplicate_time: Span::from_micros(DUPLICATE_MICROS_DEFAULT),
            duplicate_metres: DUPLICATE_METRES_DEFAULT,
            requires_complete: false,
        }
    }
}

impl Settings {
    /// Returns the top speed in metres a microsecond.
    pub(super) fn speed(&self) -> f64 {
        self.speed_kmh / 3.6e6
    }
}
