use crate::schema::ToSchema;
use serde::Serialize;
use timenav_core::clock::Clock;
use timenav_core::time::{Duration, Instant, Span, Virtual};
use timenav_engine::{
    AdvanceSeen, ClockPreview, ClockStep, ClockView, DeliveryLag, FollowedBy, OriginBoot, Receipt, Understood,
};

use crate::response::answer::{Changed, LedgerBody, created_first};
use crate::v1::clock::faults::FaultBody;
use crate::v1::clock::followers::ConfirmationsBody;
use crate::v1::clock::foreseen;
use crate::v1::clock::foreseen::{
    WouldChangeBody, WouldComeAgain, WouldDisarmBody, WouldFireBody, WouldRearmBody, WouldSupersedeBody,
};
use crate::v1::events::resolved::ResolvedBody;
use crate::v1::timers::advances::{ReceiptBody, receipt_sentence};

/// A clock, with everything needed to compute its time without another request: while it runs, `origin_virtual + (host
/// time - origin_host) * rate`; while it is paused, `origin_virtual`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClockBody {
    /// A sentence that says what happened. Absent if the clock is part of a larger response.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// The timeline of the clock.
    timeline_id: String,
    /// `true` if this request created the timeline. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline_created: Option<bool>,
    /// The clock's current time.
    current_time: String,
    /// After a move by a duration or to the next moment: the destination. `current_time` differs if the clock runs, or
    /// if another request has moved it during the advance.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_time: Option<String>,
    /// After a pause: the moment at which the clock was paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused_at: Option<String>,
    /// Whether the clock is `running` or `paused`.
    #[schema(value_type = String)]
    state: &'static str,
    /// Virtual seconds per host second.
    rate: f64,
    /// The place last traveled to.
    #[schema(required)]
    location: Option<String>,
    /// The clock's time in the zone of its location, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    local_time: Option<String>,
    /// Counts changes of this clock.
    generation: u64,
    /// Host time since which the clock has been running or paused.
    origin_host: String,
    /// Virtual time at `origin_host`.
    origin_virtual: String,
    /// In clock reads and streams: the boot clock (`CLOCK_BOOTTIME`) of the service's kernel at `origin_host`, in
    /// seconds with nine decimal places. It is negative if the kernel started later. Programs on the same kernel can
    /// compute the clock to the nanosecond. Absent if the system has no such clock, or while the host's clock is
    /// earlier than the timeline's last entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin_boot: Option<String>,
    /// With `origin_boot`: identifies the kernel and its start, as a hash of the boot id.
    #[serde(skip_serializing_if = "Option::is_none")]
    boot_id: Option<String>,
    /// After a return: the anchor.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor_id: Option<String>,
    /// After traveling to a place by name: how the name was resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    location_resolved: Option<ResolvedBody>,
    /// The advance that moves the clock, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    advance: Option<AdvanceBody>,
    /// The backlog of deliveries; the clock waits for them only in an advance. Absent if every firing has an outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag: Option<LagBody>,
    /// After a change that passed timers: the receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<ReceiptBody>,
    /// After a change with `followers`: the confirmations.
    #[serde(skip_serializing_if = "Option::is_none")]
    followers: Option<ConfirmationsBody>,
    /// In a stream with `follow`: the id of the follower, for confirmations.
    #[serde(skip_serializing_if = "Option::is_none")]
    follower_id: Option<String>,
    /// In a stream with `faults`: the clock error that the follower has to apply to this message's correct time. Absent
    /// without an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultBody>,
    /// After a dry run: the firings that would be due. Nothing has moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_fire: Option<WouldFireBody>,
    /// After the dry run of a return, or of a move back with `refire`: timers that would be armed for another moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_rearm: Option<WouldRearmBody>,
    /// After the dry run of a return: armed timers that would be disarmed. Omitted if empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_disarm: Option<WouldDisarmBody>,
    /// After the dry run of a return, or of a move back with `refire`: pending firings that would be superseded.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_supersede: Option<WouldSupersedeBody>,
    /// After the dry run of a return: events that would change back to their state at the anchor.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_change: Option<WouldChangeBody>,
    /// After a change: its place in the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<LedgerBody>,
}

/// The backlog of deliveries on a clock.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LagBody {
    /// The number of firings without an outcome.
    pending: u64,
    /// The earliest due time of a firing without an outcome.
    oldest: String,
    /// How far the clock is past that moment, as a duration.
    duration: String,
}

/// An advance that moves the clock and stops at each timer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AdvanceBody {
    /// The id of the advance.
    advance_id: String,
    /// The number of instants reached so far.
    step: u64,
    /// The destination.
    to: String,
}

impl LagBody {
    fn of(lag: &DeliveryLag, now: Instant<Virtual>) -> Self {
        let behind = now.since(lag.oldest).max(Span::ZERO);
        let behind = Duration::new(0, behind).filter(|_| behind > Span::ZERO).map(|behind| behind.to_string());
        let behind = behind.unwrap_or_else(|| "PT0S".to_owned());
        Self { pending: lag.pending, oldest: lag.oldest.to_string(), duration: behind }
    }
}

impl AdvanceBody {
    fn of(advance: &AdvanceSeen) -> Self {
        Self { advance_id: advance.advance_id.to_string(), step: advance.step, to: advance.to.to_string() }
    }
}

/// The clock operation, which determines the wording and fields of the response.
#[derive(Clone, Copy)]
pub(crate) enum Operation<'a> {
    Read,
    Travel,
    Pause,
    Resume,
    Shift,
    SetRate,
    Return { anchor_id: &'a str },
}

impl ClockBody {
    pub(crate) fn read(view: &ClockView) -> Self {
        Self::of(view, Operation::Read, true)
    }

    pub(crate) fn foreseen(foresight: &ClockPreview) -> Self {
        let WouldComeAgain { rearm, disarm, supersede, change } = WouldComeAgain::of(foresight);
        Self {
            status: Some(foreseen::sentence(foresight)),
            would_fire: Some(WouldFireBody::of(foresight)),
            would_rearm: rearm,
            would_disarm: disarm,
            would_supersede: supersede,
            would_change: change,
            ..Self::read(&foresight.view)
        }
    }

    pub(crate) fn part(view: &ClockView) -> Self {
        Self { status: None, ..Self::read(view) }
    }

    pub(crate) fn changed(step: &ClockStep, operation: Operation<'_>) -> Changed<Self> {
        let body = Self::of(&step.view, operation, step.changed);
        let (status, timeline_created) =
            created_first(step.ledger, &body.timeline_id, body.status.clone().unwrap_or_default());
        let body = Self { status: Some(status), timeline_created, ledger: Some(step.ledger.into()), ..body };
        Changed::ok(body, step.replayed)
    }

    /// Returns the response to a change that passes timers: the clock at the end of the wait.
    pub(crate) fn settled(self, view: &ClockView, operation: Operation<'_>, receipt: &Receipt) -> Self {
        let Self { timeline_created, ledger, status: before, .. } = self;
        let body = Self::of(view, operation, true);
        // Another caller that waited for this advance may have moved the clock again since.
        let new_time = body.new_time.is_some().then(|| receipt.reached.to_string());
        let sentence = receipt_sentence(receipt, body.status.as_deref().unwrap_or_default());
        let created = timeline_created.and(before).map(|before| format!("{before} "));
        let status = Some(format!("{}{sentence}", created.unwrap_or_default()));
        Self { status, new_time, timeline_created, ledger, receipt: Some(ReceiptBody::of(receipt)), ..body }
    }

    pub(crate) fn confirmed(self, sentence: &str, awaited: ConfirmationsBody) -> Self {
        let status = self.status.map_or_else(|| sentence.to_owned(), |status| format!("{status} {sentence}"));
        Self { status: Some(status), followers: Some(awaited), ..self }
    }

    /// Adds the origin of the clock in terms of the boot clock of the service's kernel.
    pub(crate) fn by_boot(self, view: &ClockView) -> Self {
        let Some(OriginBoot { boot_id, nanos }) = &view.origin_boot else { return self };
        Self { origin_boot: Some(seconds(*nanos)), boot_id: Some(boot_id.clone()), ..self }
    }

    pub(crate) fn for_follower(self, follower: Option<&FollowedBy>) -> Self {
        let fault = follower.and_then(FollowedBy::fault).as_ref().map(FaultBody::of);
        Self { follower_id: follower.map(|follower| follower.follower_id().to_string()), fault, ..self }
    }

    pub(crate) fn travelled(changed: Changed<Self>, place: Option<(Understood, Vec<String>)>) -> Changed<Self> {
        let Some((understood, near)) = place else { return changed };
        let resolved = ResolvedBody::of_understood(&understood, near);
        changed.map(|mut body| {
            if let (Some(status), Some(caution)) = (&mut body.status, resolved.caution()) {
                status.push(' ');
                status.push_str(&caution);
            }
            Self { location_resolved: Some(resolved), ..body }
        })
    }

    fn of(view: &ClockView, operation: Operation<'_>, changed: bool) -> Self {
        let clock: &Clock = &view.clock;
        let current_time = view.current_time.to_string();
        let state = if clock.is_running() { "running" } else { "paused" };
        let (origin_host, origin_virtual) = clock.origin();
        Self {
            status: Some(sentence(operation, &current_time, state, changed)),
            timeline_id: view.timeline_id.to_string(),
            timeline_created: None,
            new_time: matches!(operation, Operation::Shift).then(|| current_time.clone()),
            paused_at: matches!(operation, Operation::Pause).then(|| current_time.clone()),
            current_time,
            state,
            rate: clock.rate().factor(),
            location: clock.location.clone(),
            location_resolved: None,
            local_time: view.local_time.clone(),
            generation: clock.generation,
            origin_host: origin_host.to_string(),
            origin_virtual: origin_virtual.to_string(),
            origin_boot: None,
            boot_id: None,
            anchor_id: match operation {
                Operation::Return { anchor_id } => Some(anchor_id.to_owned()),
                Operation::Read
                | Operation::Travel
                | Operation::Pause
                | Operation::Resume
                | Operation::Shift
                | Operation::SetRate => None,
            },
            advance: view.advance.as_ref().map(AdvanceBody::of),
            lag: view.lag.as_ref().map(|lag| LagBody::of(lag, view.current_time)),
            receipt: None,
            followers: None,
            follower_id: None,
            fault: None,
            would_fire: None,
            would_rearm: None,
            would_disarm: None,
            would_supersede: None,
            would_change: None,
            ledger: None,
        }
    }
}

/// Formats nanoseconds as seconds with nine decimal places.
fn seconds(nanos: i128) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    format!("{sign}{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

fn sentence(operation: Operation<'_>, now: &str, state: &str, changed: bool) -> String {
    match (operation, changed) {
        (Operation::Read, _) => format!("The clock shows {now} and is {state}."),
        (Operation::Travel, _) => format!("Traveled to {now}; the clock is {state}."),
        (Operation::Pause, true) => format!("Time is paused at {now}."),
        (Operation::Pause, false) => format!("Time was already paused, at {now}."),
        (Operation::Resume, true) => format!("Time resumed at {now}."),
        (Operation::Resume, false) => format!("Time was already running; it is {now}."),
        (Operation::Shift, _) => format!("The clock now shows {now} and is {state}."),
        (Operation::SetRate, true) => format!("The rate was changed; the clock shows {now} and is {state}."),
        (Operation::SetRate, false) => format!("The clock already had that rate; it shows {now} and is {state}."),
        (Operation::Return { .. }, _) => format!("Returned to the anchor at {now}; the clock is {state}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_written_as_seconds() {
        for (nanos, expected) in [
            (0, "0.000000000"),
            (1, "0.000000001"),
            (-1, "-0.000000001"),
            (1_500_000_000, "1.500000000"),
            (-12_000_000_034, "-12.000000034"),
        ] {
            assert_eq!(seconds(nanos), expected);
        }
    }
}
