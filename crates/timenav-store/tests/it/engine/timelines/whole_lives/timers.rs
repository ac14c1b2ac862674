//! Requests about timers, and the state of each timeline's timers compared with the model.

use timenav_engine::TimerSetStep;

use super::accounts::{Made, Reply};
use super::timing::{Fired, Plan, SECOND, Target, Timing, When, firing_id};
use crate::engine::*;

const HALF_AN_HOUR: i64 = 1_800;
/// Longer than a listener stays registered on a queue after a claim.
pub(super) const UNHEARD_AFTER: i64 = 40 * SECOND;
/// More than ever exist.
const ROWS_MAX: usize = 10_000;

/// A request about timers.
#[derive(Clone, Debug)]
pub(super) enum TimerDeed {
    Set {
        name: u8,
        when: Rough,
        target: Target,
    },
    Change {
        name: u8,
        when: Option<Rough>,
        target: Target,
    },
    Cancel(u8),
    /// Claims this many firings, and acknowledges them.
    Work(usize),
}

/// A schedule, in half hours from the clock's time.
#[derive(Clone, Debug)]
pub(super) struct Rough {
    pub(super) first: i64,
    /// The step, the number of times, the misfire policy, and whether past times count.
    pub(super) rule: Option<(i64, i64, Misfire, bool)>,
}

/// A deed with all drawn values.
#[derive(Clone, Debug)]
pub(super) enum TimerErrand {
    Set(String, Plan),
    Change(String, Option<When>, Target),
    Cancel(String),
    Done(Vec<Fired>),
}

/// The timers of all timelines: now, after each entry, and at each anchor.
#[derive(Default)]
pub(super) struct Timings {
    now: BTreeMap<TimelineId, Timing>,
    past: BTreeMap<TimelineId, BTreeMap<u64, Timing>>,
    anchored: BTreeMap<AnchorId, Timing>,
}

impl Rough {
    fn from(&self, now: Instant<Virtual>) -> When {
        let start = now.micros().div_euclid(SECOND) + self.first * HALF_AN_HOUR;
        match self.rule {
            None => When::Once(start),
            Some((step, count, misfire, catch_up)) => {
                When::Every { start, step: step * HALF_AN_HOUR, count, misfire, catch_up }
            }
        }
    }
}

impl TimerErrand {
    /// Turns a drawn deed into an errand, unless that is impossible.
    pub(super) async fn draw(
        deed: &TimerDeed,
        (home, on): (&Home<'_>, &TimelineId),
        (timing, now): (&Timing, Instant<Virtual>),
        (number, set_by): (usize, Option<UserId>),
    ) -> Option<Self> {
        let named = |name: &u8| format!("t{name}");
        Some(match deed {
            TimerDeed::Set { name, when, target } => {
                Self::Set(named(name), Plan { when: when.from(now), target: *target, number, set_by })
            }
            TimerDeed::Change { name, when, target } => {
                Self::Change(named(name), when.as_ref().map(|when| when.from(now)), *target)
            }
            TimerDeed::Cancel(name) => Self::Cancel(named(name)),
            TimerDeed::Work(max) => {
                let ttl = Span::from_secs(30).unwrap();
                let claim = Claim { queue: QueueId::unnamed(), max: *max, ttl, waits: false };
                let claimed = home.engine.claim(&home.admin, Some(on.clone()), &claim).await.unwrap();
                let claimed: Vec<Fired> = claimed
                    .iter()
                    .map(|one| one.firing.due_firing)
                    .map(|due_firing| (due_firing.due.micros() / SECOND, due_firing.position, due_firing.round))
                    .collect();
                let offered: Vec<Fired> = timing.pending().into_iter().take(*max).collect();
                assert_eq!(claimed, offered, "{on}");
                if claimed.is_empty() {
                    return None;
                }
                Self::Done(claimed)
            }
        })
    }

    /// Returns whether the errand succeeds according to the model.
    pub(super) fn may(&self, timing: &Timing, now: Instant<Virtual>) -> bool {
        let named = |name: &str| timing.named(name).map(|(_, timer)| timer);
        match self {
            Self::Set(name, plan) => named(name).is_none() && plan.when.first(now).is_some(),
            Self::Change(name, when, _) => {
                let is_armed = named(name).is_some_and(|timer| timer.next.is_some());
                is_armed && when.as_ref().is_none_or(|when| when.first(now).is_some())
            }
            Self::Cancel(name) => named(name).is_some(),
            Self::Done(_) => true,
        }
    }

    pub(super) async fn send(
        &self,
        (engine, caller): (&Engine, &Caller),
        on: &TimelineId,
        key: Option<Idempotency>,
    ) -> Result<Reply, Refusal> {
        let named = Some(on.clone());
        let reply = |step: TimerSetStep| {
            let row = &step.timer.row;
            let summary = format!("{} {:?} {} {:?}", row.timer_id, row.next, step.changed, step.ledger);
            let (position, replayed) = (step.ledger.position, step.replayed);
            Reply { summary, position, replayed, made: Made::Timer(row.position) }
        };
        Ok(match self {
            Self::Set(name, Plan { when, target, number, .. }) => {
                let payload = (*target != Target::Event).then(|| number.to_string().into());
                let (schedule, deliver) = (Some(schedule(when)), Some(delivery(*target, Some(*number))));
                let request = TimerRequest { schedule, deliver, payload, order_key: None };
                reply(engine.set_timer(caller, named, (Some(timer_id(name)), request), key).await?)
            }
            Self::Change(name, when, target) => {
                let schedule = when.as_ref().map(|when| ScheduleChange::To(schedule(when)));
                let deliver = Some(delivery(*target, None));
                let request = TimerChangeRequest { schedule, deliver, ..TimerChangeRequest::default() };
                reply(engine.change_timer(caller, named, (timer_id(name), request), key).await?)
            }
            Self::Cancel(name) => reply(engine.cancel_timer(caller, named, timer_id(name), key).await?.0),
            Self::Done(fired) => {
                let firing_ids: Vec<FiringId> = fired.iter().map(|fired| firing_id(*fired, on)).collect();
                let request = FiringsRequest { timeline: named, firing_ids, lease_ids: None };
                let answer = engine.acknowledge(caller, request, key).await?;
                let ledger = answer.ledger.expect("they had no outcome");
                let summary = format!("{:?} {ledger:?}", answer.firings);
                Reply { summary, position: ledger.position, replayed: answer.replayed, made: Made::Nothing }
            }
        })
    }

    /// Applies a successful errand to the model.
    pub(super) fn apply(&self, timing: &mut Timing, now: Instant<Virtual>, made: &Made) {
        match (self, made) {
            (Self::Set(name, plan), Made::Timer(position)) => {
                timing.set((*position, name.clone()), plan.clone(), now);
            }
            (Self::Change(name, when, target), _) => timing.change(name, when.as_ref(), *target, now),
            (Self::Cancel(name), _) => timing.cancel(name),
            (Self::Done(fired), _) => {
                for one in fired {
                    timing.firings.insert(*one, FiringState::Acknowledged);
                }
            }
            (Self::Set(..), made) => panic!("{self:?} made {made:?}"),
        }
    }
}

impl Timings {
    /// Adds a new timeline to the model.
    pub(super) fn begin(&mut self, timeline: &TimelineId, timing: Timing) {
        self.past.insert(timeline.clone(), BTreeMap::from([(0, timing.clone())]));
        self.now.insert(timeline.clone(), timing);
    }

    pub(super) fn of(&self, timeline: &TimelineId) -> &Timing {
        &self.now[timeline]
    }

    pub(super) fn of_mut(&mut self, timeline: &TimelineId) -> &mut Timing {
        self.now.get_mut(timeline).expect("the model has it")
    }

    /// Returns what a fork of a timeline inherits, at a position or now.
    pub(super) fn forked(&self, timeline: &TimelineId, at: Option<u64>) -> Timing {
        let then = at.map(|at| self.past[timeline].range(..=at).next_back().expect("the first entry made it").1);
        then.unwrap_or_else(|| self.of(timeline)).fork()
    }

    pub(super) fn remember(&mut self, timeline: &TimelineId, position: u64) {
        let now = self.of(timeline).clone();
        self.past.get_mut(timeline).expect("the model has it").insert(position, now);
    }

    pub(super) fn anchor(&mut self, timeline: &TimelineId, anchor_id: &AnchorId) {
        self.anchored.insert(anchor_id.clone(), self.of(timeline).clone());
    }

    pub(super) async fn take_back(&mut self, home: &Home<'_>, timeline: &TimelineId, anchor_id: &AnchorId) {
        let rows = timer_rows(home, timeline).await;
        let rounds = rows.iter().map(|row| (row.position, row.round)).collect();
        let then = self.anchored[anchor_id].clone();
        self.of_mut(timeline).take_back(&then, &rounds);
    }

    /// Compares the timers of a timeline, and their firings.
    pub(super) async fn check(&self, home: &Home<'_>, timeline: &TimelineId) {
        let rows = timer_rows(home, timeline).await;
        let timers: Vec<_> = rows
            .iter()
            .map(|row| (row.position, row.timer_id.as_str(), row.next, row.round, row.is_cancelled))
            .collect();
        let timing = self.of(timeline);
        let due = |seconds: i64| moment(seconds * SECOND);
        let expected: Vec<_> = timing
            .timers
            .iter()
            .map(|(position, one)| (*position, one.name.as_str(), one.next.map(due), one.round, one.is_cancelled))
            .collect();
        assert_eq!(timers, expected, "timers of {timeline}");
        let query = TimerQuery::FiringsAfter(None, ROWS_MAX);
        let rows = home.store.timer_rows(home.key(timeline).await, query).await.unwrap().firings;
        let fired = |row: &FiringRow| {
            let fired = (row.due_firing.due.micros() / SECOND, row.due_firing.position, row.due_firing.round);
            assert_eq!(row.firing_id, firing_id(fired, timeline));
            (fired, row.state)
        };
        let firings: BTreeMap<Fired, FiringState> = rows.iter().map(fired).collect();
        assert_eq!(firings, timing.firings, "firings of {timeline}");
    }
}

async fn timer_rows(home: &Home<'_>, timeline: &TimelineId) -> Vec<TimerRow> {
    let query = TimerQuery::ByPosition(None, ROWS_MAX);
    home.store.timer_rows(home.key(timeline).await, query).await.unwrap().timers
}

fn schedule(when: &When) -> Schedule {
    match when {
        When::Once(at) => Schedule::At(moment(at * SECOND)),
        When::Every { start, step, count, misfire, catch_up } => {
            let rule = format!("FREQ=SECONDLY;INTERVAL={step};COUNT={count}");
            let source = RuleSource::Every { rule, starts: moment(start * SECOND), zone: "UTC".to_owned() };
            Schedule::Repeating(Box::new(Repeating::read(source, *misfire, *catch_up).unwrap()))
        }
    }
}

/// The number distinguishes it from others, because an identical timer may be set again.
fn delivery(target: Target, number: Option<usize>) -> Delivery {
    match target {
        Target::Queue => Delivery::Queue(QueueId::unnamed()),
        Target::Webhook => Delivery::Webhook(WebhookTarget { url: "https://shop.test/hook".to_owned(), secret: None }),
        Target::Event => {
            let event = EventDraft::at(Instant::EPOCH, format!("the timer fired {number:?}"));
            Delivery::Timeline(Arc::new(event))
        }
    }
}

fn timer_id(name: &str) -> TimerId {
    TimerId::new(name).unwrap()
}
