//! Previews a clock change: the timers that would fire during it and re-arm after it.

use crate::schema::ToSchema;
use serde::Serialize;
use timenav_core::ids::{EventId, TimerId};
use timenav_core::text::counted;
use timenav_engine::{ClockPreview, FirstOf, PreviewedEnd, PreviewedFiring, PreviewedTimer, RefirePreview};

/// Firings that would be due if the clock moved.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldFireBody {
    /// The destination of the clock.
    to: String,
    /// The number of these firings. After the dry run of a return, it includes firings without an outcome at the
    /// anchor, which are delivered again.
    count: u64,
    /// Whether all were counted. Timers that handlers would set on the way are not included.
    complete: bool,
    /// The first 1,000 of these firings, in order.
    firings: Vec<WouldFireFiringBody>,
    /// The number of firings of each timer, by its name.
    timers: Vec<WouldFireTimerBody>,
}

/// A firing that would be due.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldFireFiringBody {
    /// The timer.
    timer_id: String,
    /// The due time.
    due: String,
    /// The queue of the firing. Absent if it would record an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
}

/// The number of firings of a timer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldFireTimerBody {
    /// The timer.
    timer_id: String,
    /// The number of firings.
    count: u64,
}

impl WouldFireBody {
    pub(crate) fn of(foresight: &ClockPreview) -> Self {
        let firing = |one: &PreviewedFiring| WouldFireFiringBody {
            timer_id: one.timer_id.to_string(),
            due: one.due.to_string(),
            queue: one.queue.as_ref().map(ToString::to_string),
        };
        let timer =
            |(timer_id, count): &(TimerId, u64)| WouldFireTimerBody { timer_id: timer_id.to_string(), count: *count };
        Self {
            to: foresight.to.to_string(),
            count: foresight.count,
            complete: foresight.is_complete,
            firings: foresight.firings.iter().map(firing).collect(),
            timers: foresight.by_timer.iter().map(timer).collect(),
        }
    }
}

/// Timers that would be armed again if the clock went back.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldRearmBody {
    /// The number of these timers.
    count: u64,
    /// The first 1,000 of these timers, by next moment.
    timers: Vec<WouldRearmTimerBody>,
}

/// A timer that would be armed again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldRearmTimerBody {
    /// The timer.
    timer_id: String,
    /// Its next moment.
    next: String,
}

/// Timers that a return would disarm.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldDisarmBody {
    /// The number of these timers.
    count: u64,
    /// The first 1,000 of these timers.
    timer_ids: Vec<String>,
}

/// Pending firings that would be superseded if the clock went back.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldSupersedeBody {
    /// The number of these firings.
    count: u64,
    /// The first 1,000 of these firings, in order.
    firings: Vec<WouldSupersedeFiringBody>,
}

/// A firing that would be superseded.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldSupersedeFiringBody {
    /// The id of the firing.
    firing_id: String,
    /// The timer that fired.
    timer_id: String,
    /// The due time.
    due: String,
    /// The queue of the firing.
    queue: String,
}

/// Events that a return would change back to their state at the anchor.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldChangeBody {
    /// The number of these events.
    count: u64,
    /// The first 1,000 of these events.
    event_ids: Vec<String>,
}

/// Timers that would re-arm; absent if only the clock would move.
pub(in crate::v1) struct WouldComeAgain {
    pub(in crate::v1) rearm: Option<WouldRearmBody>,
    pub(in crate::v1) disarm: Option<WouldDisarmBody>,
    pub(in crate::v1) supersede: Option<WouldSupersedeBody>,
    pub(in crate::v1) change: Option<WouldChangeBody>,
}

impl WouldComeAgain {
    pub(in crate::v1) fn of(foresight: &ClockPreview) -> Self {
        let again = foresight.again.as_ref();
        Self {
            rearm: again.map(|again| WouldRearmBody::of(&again.rearmed)),
            disarm: again.filter(|again| again.disarmed.count > 0).map(|again| WouldDisarmBody::of(&again.disarmed)),
            supersede: again.map(|again| WouldSupersedeBody::of(&again.superseded)),
            change: foresight.events.as_ref().map(WouldChangeBody::of),
        }
    }
}

impl WouldRearmBody {
    fn of(rearmed: &FirstOf<PreviewedTimer>) -> Self {
        let timer = |timer: &PreviewedTimer| WouldRearmTimerBody {
            timer_id: timer.timer_id.to_string(),
            next: timer.next.to_string(),
        };
        Self { count: rearmed.count, timers: rearmed.first.iter().map(timer).collect() }
    }
}

impl WouldDisarmBody {
    fn of(disarmed: &FirstOf<TimerId>) -> Self {
        Self { count: disarmed.count, timer_ids: disarmed.first.iter().map(ToString::to_string).collect() }
    }
}

impl WouldSupersedeBody {
    fn of(superseded: &FirstOf<PreviewedEnd>) -> Self {
        let firing = |one: &PreviewedEnd| WouldSupersedeFiringBody {
            firing_id: one.firing_id.to_string(),
            timer_id: one.timer_id.to_string(),
            due: one.due.to_string(),
            queue: one.queue.to_string(),
        };
        Self { count: superseded.count, firings: superseded.first.iter().map(firing).collect() }
    }
}

impl WouldChangeBody {
    fn of(events: &FirstOf<EventId>) -> Self {
        Self { count: events.count, event_ids: events.first.iter().map(ToString::to_string).collect() }
    }
}

pub(in crate::v1) fn sentence(foresight: &ClockPreview) -> String {
    let to = foresight.to;
    let more = if foresight.is_complete { "" } else { "more than " };
    let fires = match (foresight.is_complete, foresight.count) {
        (true, 0) => None,
        (true, 1) => Some("1 firing".to_owned()),
        (_, count) => Some(format!("{more}{count} firings")),
    };
    let Some(RefirePreview { rearmed, disarmed, superseded }) = &foresight.again else {
        return match (foresight.is_back, fires) {
            (true, _) => format!(
                "The clock would go back to {to}; timers that have fired would not fire again. Nothing has moved."
            ),
            (false, None) => format!("No timer would fire on the way to {to}. Nothing has moved."),
            (false, Some(fires)) => format!("{fires} on the way to {to}. Nothing has moved."),
        };
    };
    let some = |count: u64, what: &str, done: &str| (count > 0).then(|| format!("{} {done}", counted(count, what)));
    let would = [
        some(rearmed.count, "timer", "armed again"),
        some(disarmed.count, "timer", "disarmed"),
        some(superseded.count, "firing", "superseded"),
        fires.map(|fires| format!("{fires} delivered")),
        foresight.events.as_ref().and_then(|events| some(events.count, "event", "changed back")),
    ];
    let would: Vec<String> = would.into_iter().flatten().collect();
    let would = if would.is_empty() { "no timer changes".to_owned() } else { would.join(", ") };
    format!("The clock would go to {to}: {would}. Nothing has moved.")
}
