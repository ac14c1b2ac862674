use crate::time::Span;

/// Default top speed in kilometers per hour: an airliner.
pub const SPEED_KMH_DEFAULT: f64 = 900.0;
/// The speed of light in kilometers per hour, for actors faster than airliners.
pub const SPEED_OF_LIGHT_KMH: f64 = 1_079_252_848.8;
/// Default time difference up to which events can be duplicates, in microseconds.
pub const DUPLICATE_MICROS_DEFAULT: i64 = 1_000_000;
/// Default distance up to which events can be duplicates, in meters.
pub const DUPLICATE_METRES_DEFAULT: f64 = 100.0;
/// Most conflicting partners that are reported for an event when it is recorded, within one group (an actor, an
/// asserted thing, equal content). An actor at a thousand places at once is reported for a hundred of them.
pub const PARTNERS_PER_EVENT_MAX: usize = 100;
/// Most events of a cycle or path that are listed. Its length is always reported.
pub const PATH_EVENTS_MAX: usize = 1_000;
pub const CYCLE_SEARCH_EDGES_MAX: usize = 1 << 22;
/// Upper limit when counting the events that depend on an orphan.
pub const IMPACT_EVENTS_MAX: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Clock difference up to which a time does not count as before another.
    pub tolerance: Span,
    pub speed_kmh: f64,
    /// How late a source may record an event, measured from its latest event.
    pub lateness_max: Span,
    /// Host time for which a cause may be unrecorded before this counts as a paradox. `None` for no limit.
    pub grace: Option<Span>,
    pub duplicate_time: Span,
    /// Distance up to which events can be duplicates, in meters.
    pub duplicate_metres: f64,
    /// Whether an event may start only after its required causes have ended, not only started.
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
    /// Returns the top speed in meters per microsecond.
    pub(super) fn speed(&self) -> f64 {
        self.speed_kmh / 3.6e6
    }
}
