//! Requests in short forms, and requests of the first operator that must succeed.

use std::sync::Arc;

use timenav_core::access::Scope;
use timenav_core::clock::ClockCommand;
use timenav_core::event::EventDraft;
use timenav_core::ids::{AnchorId, FiringId, QueueId, TimelineId, TimerId};
use timenav_core::intervention::Effect;
use timenav_core::place::LocationQuery;
use timenav_core::scan::Depth;
use timenav_core::time::{Instant, Span, TimeRange, Virtual, Wall};
use timenav_core::timers::{Misfire, Repeating, RuleSource, Schedule};
use timenav_engine::{
    AccessLogs, AggregateEvents, AnchorRequest, Answer, ApiKeyRequest, Caller, Claim, ClaimedFiring, ClockChange,
    ClockStep, ClockView, Engine, EventErasure, FiringsRequest, GroupBy, HoldRequest, Idempotency, InterventionRequest,
    LogOrder, MonitorParadox, NewTimeline, PasswordRequest, PermissionsAfter, PermissionsChange, Recorded, ReturnScope,
    Scan, TimelineEnd, TimelineMade, TimerRequest, WhichEvents,
};
use tokio::task::JoinHandle;

use crate::house::Home;
use crate::sample::{digest, event_id, moment, password, timeline_id, user_id, users};

/// The password of all users.
pub(crate) const SECRET: &str = "correct horse battery staple";
/// In microseconds.
pub(crate) const SECOND: i64 = 1_000_000;
pub(crate) const HOUR: i64 = 3_600 * SECOND;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Returns a time in seconds since the epoch.
pub(crate) fn at(seconds: i64) -> Instant<Virtual> {
    moment(seconds * SECOND)
}

/// Returns a clock command to a time in seconds since the epoch.
pub(crate) fn travel(seconds: i64) -> ClockCommand {
    ClockCommand::Travel { to: at(seconds), location: None }
}

pub(crate) fn named_event(name: &str, micros: i64, description: impl Into<String>) -> EventDraft {
    EventDraft { event_id: Some(event_id(name)), ..EventDraft::at(moment(micros), description) }
}

pub(crate) const fn anchor_now() -> AnchorRequest {
    AnchorRequest { timestamp: None, description: String::new(), fixed: true }
}

#[expect(clippy::unnecessary_wraps, reason = "reads as the argument that it is")]
pub(crate) fn idempotent(key: &str, request: &str) -> Option<Idempotency> {
    Some(Idempotency { key: digest(key), fingerprint: digest(request) })
}

pub(crate) fn intervention(event: &str, effect: Effect) -> InterventionRequest {
    let action = effect.as_str().to_owned();
    InterventionRequest { event_id: event_id(event), action, effect, time: moment(0), causes: Vec::new() }
}

pub(crate) fn readers<const N: usize>(names: [&str; N]) -> PermissionsChange {
    PermissionsChange { read: Some(users(names)), ..PermissionsChange::default() }
}

pub(crate) fn writers<const N: usize>(names: [&str; N]) -> PermissionsChange {
    PermissionsChange { write: Some(users(names)), ..PermissionsChange::default() }
}

pub(crate) fn admins<const N: usize>(names: [&str; N]) -> PermissionsChange {
    PermissionsChange { admin: Some(users(names)), ..PermissionsChange::default() }
}

pub(crate) fn own_key(scopes: Option<Vec<Scope>>, expires_at: Option<Instant<Wall>>) -> ApiKeyRequest {
    ApiKeyRequest { user_id: None, timeline_id: None, label: String::new(), scopes, expires_at }
}

pub(crate) fn key_for(user: &str) -> ApiKeyRequest {
    ApiKeyRequest { user_id: Some(user_id(user)), ..own_key(None, None) }
}

pub(crate) fn new_password(user: &str, secret: &str) -> PasswordRequest {
    PasswordRequest { user_id: Some(user_id(user)), password: password(secret), current: None }
}

pub(crate) fn erase_ids(timeline: Option<TimelineId>, ids: &[&str]) -> EventErasure {
    let which = WhichEvents::Ids(ids.iter().map(|id| event_id(id)).collect());
    EventErasure { timeline, which, include_forks: false, evaluated_at: None }
}

pub(crate) fn timer_at(seconds: i64) -> TimerRequest {
    TimerRequest { schedule: Some(once(seconds)), ..TimerRequest::default() }
}

pub(crate) fn once(seconds: i64) -> Schedule {
    Schedule::At(at(seconds))
}

/// Returns a schedule with a time every so many seconds from the epoch on.
pub(crate) fn every(seconds: i64, misfire: Misfire) -> Schedule {
    let rule = format!("FREQ=SECONDLY;INTERVAL={seconds}");
    let source = RuleSource::Every { rule, starts: at(0), zone: "UTC".to_owned() };
    Schedule::Repeating(Box::new(Repeating::read(source, misfire, false).unwrap()))
}

/// Claims firings of the unnamed queue for 30 seconds.
pub(crate) fn claim_of(max: usize) -> Claim {
    Claim { queue: QueueId::unnamed(), max, ttl: Span::from_secs(30).unwrap(), waits: false }
}

pub(crate) const fn firings(firing_ids: Vec<FiringId>) -> FiringsRequest {
    FiringsRequest { timeline: None, firing_ids, lease_ids: None }
}

pub(crate) fn firing_ids(claimed: &[ClaimedFiring]) -> Vec<FiringId> {
    claimed.iter().map(|claimed| claimed.firing.firing_id.clone()).collect()
}

pub(crate) fn hold_for(seconds: i64, reason: &str) -> HoldRequest {
    let ttl = Span::from_secs(seconds).unwrap();
    HoldRequest { timeline: None, lease_id: None, reason: reason.to_owned(), ttl }
}

pub(crate) fn every_paradox(timeline: Option<TimelineId>) -> MonitorParadox {
    MonitorParadox {
        timeline,
        range: TimeRange::everything(),
        kinds: None,
        observations: true,
        settings: None,
        as_of: None,
        items_max: 10,
        cursor: None,
    }
}

/// Requests the whole access log of a timeline.
pub(crate) fn every_log(timeline: &str) -> AccessLogs {
    AccessLogs {
        timeline: timeline_id(timeline),
        range: TimeRange::everything(),
        user_id: None,
        action: None,
        order: LogOrder::Oldest,
        items_max: 1_000,
        cursor: None,
    }
}

pub(crate) fn count_by(timeline: Option<TimelineId>, by: GroupBy, events_max: usize) -> AggregateEvents {
    AggregateEvents {
        timeline,
        location_text: "*".to_owned(),
        location: LocationQuery::Anywhere,
        range: TimeRange::everything(),
        as_of: None,
        filter: Arc::default(),
        by_text: "any".to_owned(),
        by,
        second: None,
        values: None,
        groups_max: 1_000,
        events_max,
        events_read_max: events_max,
        cursor: None,
    }
}

/// Gives other tasks this many turns to reach what they wait for.
pub(crate) async fn yield_turns(count: usize) {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}

impl Home<'_> {
    pub(crate) async fn change_clock(&self, timeline: Option<TimelineId>, change: impl Into<ClockChange>) -> ClockStep {
        self.engine.change_clock(&self.admin, timeline, change, None).await.unwrap()
    }

    /// Pauses the clock of `main` at the epoch.
    pub(crate) async fn pause_at_epoch(&self) {
        self.change_clock(None, ClockCommand::Pause).await;
        self.change_clock(None, travel(0)).await;
    }

    pub(crate) async fn read_clock(&self, timeline: Option<TimelineId>) -> ClockView {
        self.engine.read_clock(&self.admin, timeline).await.unwrap()
    }

    pub(crate) async fn record_events(&self, timeline: Option<TimelineId>, drafts: Vec<EventDraft>) -> Recorded {
        self.engine.record_events(&self.admin, timeline, drafts, None).await.unwrap()
    }

    pub(crate) async fn create_timeline(&self, timeline: impl Into<NewTimeline>) -> Answer<TimelineMade> {
        self.engine.create_timeline(&self.admin, timeline, None).await.unwrap()
    }

    pub(crate) async fn end_timeline(&self, timeline: TimelineId) -> TimelineEnd {
        self.engine.end_timeline(&self.admin, timeline, None).await.unwrap()
    }

    pub(crate) async fn fork(&self, fork: &str, of: &str) -> Answer<TimelineMade> {
        let (fork, of) = (timeline_id(fork), timeline_id(of));
        self.engine.fork_timeline(&self.admin, fork, &of, None, None).await.unwrap()
    }

    pub(crate) async fn set_permissions(&self, timeline: &str, change: PermissionsChange) -> Answer<PermissionsAfter> {
        self.engine.set_access_control(&self.admin, timeline_id(timeline), change, None).await.unwrap()
    }

    pub(crate) async fn set_anchor(&self, timeline: Option<TimelineId>) -> AnchorId {
        self.engine.set_anchor(&self.admin, timeline, anchor_now(), None).await.unwrap().change.anchor_id
    }

    pub(crate) async fn return_to(&self, timeline: Option<TimelineId>, anchor: &AnchorId) -> ClockStep {
        self.engine.return_to_anchor(&self.admin, timeline, anchor, ReturnScope::All, None).await.unwrap()
    }

    pub(crate) async fn intervene(&self, timeline: Option<TimelineId>, event: &str, effect: Effect) {
        let request = intervention(event, effect);
        self.engine.manipulate_event(&self.admin, timeline, request, None).await.unwrap();
    }

    pub(crate) async fn set_timer(&self, name: &str, request: TimerRequest) {
        let named = (Some(TimerId::new(name).unwrap()), request);
        self.engine.set_timer(&self.admin, None, named, None).await.unwrap();
    }

    /// Claims firings of `main`.
    pub(crate) async fn claim(&self, max: usize) -> Vec<ClaimedFiring> {
        self.engine.claim(&self.admin, None, &claim_of(max)).await.unwrap()
    }

    pub(crate) async fn scan(&self, timeline: &str, depth: Depth) -> Scan {
        let timeline = timeline_id(timeline);
        self.engine.detect_tampering(&self.admin, &timeline, depth, &mut |_| ()).await.unwrap().scan
    }

    /// Sends a request of the first operator in a separate task.
    pub(crate) fn spawn<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
        &self,
        request: impl FnOnce(Engine, Caller) -> F,
    ) -> JoinHandle<T> {
        tokio::spawn(request(self.engine.clone(), self.admin.clone()))
    }

    /// Runs the work of the timekeeper repeatedly.
    pub(crate) async fn keep_time(&self, times: usize) {
        for _ in 0..times {
            self.engine.report_presence().await.unwrap();
            self.engine.keep_time().await;
        }
    }
}
