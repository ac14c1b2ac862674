//! Properties P1 to P8 of timers, by random walks over a model that decides like the service.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::leases::{HeldByOther, Leases, Offer, Retry, Under};
use super::retries::Pace;
use super::*;
use crate::clock::{Clock, ClockState, Rate};
use crate::ids::{LeaseId, QueueId};
use crate::limits::{ATTEMPTS_IN_ADVANCE_MAX, HOLDS_PER_TIMELINE_MAX, LEASE_SECONDS_DEFAULT, LEASES_MAX};
use crate::recurrence::Work;
use crate::time::Span;
use crate::timers::holds::{Hold, NotHeld};

mod again;

fn at(moment: i64) -> Instant<Virtual> {
    Instant::from_micros(moment).expect("an instant")
}

fn host(moment: i64) -> Instant<Wall> {
    Instant::from_micros(moment * 1_000_000).expect("an instant")
}

#[test]
fn due_firings_are_in_sorted_order() {
    let single =
        |position: u64, due: i64| Timer { position, schedule: Schedule::At(at(due)), next: Some(at(due)), round: 0 };
    let mut timers: Vec<Timer> = (0..50_u64).map(|number| single(number, (number.cast_signed() * 37) % 23)).collect();
    let mut expected: Vec<(i64, u64)> = (0..50_u64).map(|number| ((number.cast_signed() * 37) % 23, number)).collect();
    expected.sort_unstable();
    expected.retain(|(due, _)| *due <= 20);
    let mut due_firing = Vec::new();
    loop {
        let some = fall_due(&mut timers, at(20), Coming::OneByOne, 7).due_firing;
        if some.is_empty() {
            break;
        }
        due_firing.extend(some.iter().map(|one| (one.due.micros(), one.position)));
    }
    assert_eq!(due_firing, expected);
    assert!(timers.iter().all(|timer| timer.next.is_none_or(|next| next > at(20))));
}

#[test]
fn firing_id_depends_on_timeline_timer_moment_and_round() {
    let main = TimelineId::main();
    let one = DueFiring { due: at(7), position: 3, round: 0 };
    let others = [
        (main.clone(), DueFiring { due: at(8), ..one }),
        (main.clone(), DueFiring { position: 4, ..one }),
        (main.clone(), DueFiring { round: 1, ..one }),
        (TimelineId::new("other").unwrap(), one),
    ];
    let ids: BTreeSet<String> = others.iter().map(|(of, one)| one.firing_id(of).to_string()).collect();
    assert_eq!(ids.len(), 4);
    assert!(!ids.contains(one.firing_id(&main).as_str()));
    assert_eq!(one.firing_id(&main), one.firing_id(&main));
    // Firing ids are visible to clients and must never change.
    assert_eq!(one.firing_id(&main).as_str(), "firing_3y1pzdbqsvscfs6b1zq0ksz7tk");
}

#[test]
fn clock_computes_the_host_time_of_a_moment() {
    let running = |rate: u64| Clock {
        state: ClockState::Running {
            origin_host: host(100),
            origin_virtual: at(0),
            rate: Rate::from_micros(rate).unwrap(),
        },
        location: None,
        generation: 0,
    };
    for rate in [1, 3, 999_999, 1_000_000, 1_000_001, 7_000_000, 1_000_000_000_000] {
        let clock = running(rate);
        for moment in [1, 2, 1_000, 999_999, 1_000_000, 86_400_000_000] {
            let Some(when) = clock.host_when(at(moment)) else { continue };
            assert!(clock.now(when) >= at(moment), "{rate} {moment}");
            let before = when.checked_sub(Span::from_micros(1)).unwrap();
            assert!(clock.now(before) < at(moment), "{rate} {moment}");
        }
    }
    let paused = Clock {
        state: ClockState::Paused { since: host(5), at: at(10), rate: Rate::NORMAL },
        location: None,
        generation: 0,
    };
    assert_eq!((paused.host_when(at(10)), paused.host_when(at(11))), (Some(host(5)), None));
}

struct Model {
    timeline: TimelineId,
    queue: QueueId,
    now: i64,
    host: i64,
    state: Timers,
    timers: BTreeMap<u64, Timer>,
    firings: BTreeMap<DueFiring, (FiringState, u64, Option<u64>)>,
    outcomes: BTreeMap<DueFiring, u32>,
    leases: Leases,
    position: u64,
    log: Vec<DueFiring>,
    cancelled: BTreeSet<u64>,
    /// The latest time before the clock went back.
    latest: i64,
    /// Operations on timers, in order.
    journal: Vec<again::Entry>,
}

impl Model {
    fn new() -> Self {
        Self {
            timeline: TimelineId::main(),
            queue: QueueId::unnamed(),
            now: 0,
            host: 0,
            state: Timers::default(),
            timers: BTreeMap::new(),
            firings: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            leases: Leases::default(),
            position: 0,
            log: Vec::new(),
            cancelled: BTreeSet::new(),
            latest: i64::MIN,
            journal: Vec::new(),
        }
    }

    fn entry(&mut self) -> u64 {
        self.position += 1;
        self.position
    }

    fn set(&mut self, due: i64) {
        self.set_by(Schedule::At(at(due)));
    }

    fn set_by(&mut self, schedule: Schedule) {
        let position = self.entry();
        self.journal.push(again::Entry::Set(position));
        let next = schedule.first(at(self.now)).unwrap();
        self.timers.insert(position, Timer { position, schedule, next: Some(next), round: 0 });
        self.state.arm(next);
    }

    fn earliest(&self) -> Option<Instant<Virtual>> {
        self.timers.values().filter_map(|timer| timer.next).min()
    }

    fn fire(&mut self, upto: i64) {
        let made = self.entry();
        let mut timers: Vec<Timer> = self.timers.values().cloned().collect();
        let due_firing = fall_due(&mut timers, at(upto), Coming::OneByOne, usize::MAX).due_firing;
        let advance = self.state.advance.as_ref().map(|advance| advance.position);
        for one in &due_firing {
            // P2: each firing is made once.
            assert!(self.firings.insert(*one, (FiringState::Pending, made, advance)).is_none(), "twice: {one:?}");
        }
        self.journal.push(again::Entry::Fired(due_firing.clone()));
        self.state.fired(due_firing.len() as u64);
        self.timers = timers.into_iter().map(|timer| (timer.position, timer)).collect();
        self.state.next = self.earliest();
        self.state.armed = self.timers.values().filter(|timer| timer.next.is_some()).count() as u64;
        self.log.extend(due_firing);
    }

    fn tick(&mut self) {
        if self.state.is_behind(at(self.now)) {
            self.fire(self.now);
        }
    }

    fn jump(&mut self, by: i64) {
        if self.state.advance.is_none() {
            self.now += by;
            self.tick();
        }
    }

    fn begin(&mut self, by: i64) {
        let (from, to) = (at(self.now), at(self.now + by));
        if self.state.advance.is_some() {
            return;
        }
        if !self.state.is_between(from, to) {
            self.now += by;
            return;
        }
        let position = self.entry();
        self.state.advance = Some(Advance {
            advance_id: AdvanceId::new("advance").unwrap(),
            position,
            from,
            to,
            location: None,
            is_running: false,
            step: 0,
            stepped: position,
            held_since: host(self.host),
            at_instant: 0,
            open: 0,
            counts: Counts::default(),
        });
    }

    fn open(&self) -> Vec<(FiringId, QueueId)> {
        let Some(advance) = &self.state.advance else { return Vec::new() };
        let is_open = |(state, made, _): &(FiringState, u64, Option<u64>)| {
            *state == FiringState::Pending && *made >= advance.stepped
        };
        let open = self.firings.iter().filter(|(_, firing)| is_open(firing));
        let open: Vec<_> = open.map(|(one, _)| (one.firing_id(&self.timeline), self.queue.clone())).collect();
        assert_eq!(open.len() as u64, advance.open, "what is open is counted");
        open
    }

    /// Moves the advance forward. Returns whether it moved.
    fn step(&mut self) -> bool {
        let Some(advance) = self.state.advance.clone() else { return false };
        let open = self.open();
        if self.leases.begin_step(&self.timeline, &open, host(self.host)).is_err() {
            return false;
        }
        // P4: the clock does not pass a firing that is leased or offered.
        assert!(open.iter().all(|(id, _)| self.leases.lease(id).is_none()));
        self.go_on(&advance);
        self.leases.end_step(&self.timeline);
        true
    }

    /// Acknowledges a firing, and moves the advance in the same step if its instant waits for nothing else. Returns
    /// whether it moved.
    fn settle_and_step(&mut self, one: DueFiring) -> bool {
        let (firing_ids, advance) = ([one.firing_id(&self.timeline)], self.state.advance.clone());
        self.leases.begin_settling(&self.timeline, &firing_ids);
        let open = advance.as_ref().map_or(0, |advance| advance.open);
        let begun = self.leases.begin_step_with_outcomes(&self.timeline, open, host(self.host));
        // A firing being settled is not offered, and nothing is offered while the clock may move on.
        let offered = self.claim(100);
        assert!(!offered.contains(&one) && (!begun || offered.is_empty()));
        for other in &offered {
            self.leases.give_back(&[other.firing_id(&self.timeline)]);
        }
        self.settle(one, FiringState::Acknowledged);
        self.leases.end_settling(&self.timeline, &firing_ids);
        let is_left = begun && self.open().is_empty();
        if let Some(advance) = advance.filter(|_| is_left) {
            self.go_on(&advance);
        }
        if begun {
            self.leases.end_step(&self.timeline);
        }
        is_left
    }

    fn go_on(&mut self, advance: &Advance) {
        match advance.next_move(self.earliest()) {
            Move::End => {
                self.entry();
                self.now = advance.to.micros();
                self.state.advance = None;
            }
            Move::To(next) => {
                let instant = next.micros().max(self.now);
                // P4: the clock never goes back or past the destination.
                assert!(instant >= self.now && at(instant) <= advance.to);
                let (is_new, position, held) = (instant > self.now, self.position + 1, host(self.host));
                self.now = instant;
                if let Some(advance) = &mut self.state.advance {
                    advance.step_to(is_new, position, held);
                }
                self.fire(instant);
            }
        }
    }

    fn claim(&mut self, max: usize) -> Vec<DueFiring> {
        let mark = self.leases.mark();
        let pending: Vec<DueFiring> =
            self.firings.iter().filter(|(_, one)| one.0 == FiringState::Pending).map(|(one, _)| *one).collect();
        let offers: Vec<Offer> =
            pending.iter().map(|one| Offer { firing_id: one.firing_id(&self.timeline), order_key: None }).collect();
        let ttl = Span::from_secs(LEASE_SECONDS_DEFAULT).unwrap();
        let by = (&lease("lease_a"), "worker", host(self.host));
        let claimed = self.leases.claim((&self.timeline, &self.queue), (&offers, mark), (max, ttl), by);
        let claimed: Vec<DueFiring> =
            claimed.expect("a fresh mark").into_iter().map(|(number, _)| pending[number]).collect();
        // P5: offered firings are due, and stay so if the clock goes back.
        let latest = at(self.now.max(self.latest));
        assert!(claimed.iter().all(|one| one.due <= latest), "{claimed:?} at {}", self.now);
        claimed
    }

    fn settle(&mut self, one: DueFiring, outcome: FiringState) {
        let Some(firing) = self.firings.get_mut(&one).filter(|firing| firing.0 == FiringState::Pending) else { return };
        firing.0 = outcome;
        let (_, made, advance) = *firing;
        if outcome != FiringState::Superseded {
            self.journal.push(again::Entry::Settled(one));
        }
        *self.outcomes.entry(one).or_default() += 1;
        self.state.settled(outcome, advance, made);
        self.leases.settle(&one.firing_id(&self.timeline));
    }

    fn fail(&mut self, one: DueFiring) {
        if self.firings.get(&one).is_none_or(|firing| firing.0 != FiringState::Pending) {
            return;
        }
        let retry = self.leases.fail(&one.firing_id(&self.timeline), self.pace(), host(self.host));
        if retry == Retry::Exhausted {
            self.settle(one, FiringState::Failed);
        }
    }

    fn pace(&self) -> Pace {
        if self.state.advance.is_some() { Pace::Hurried } else { Pace::Steady }
    }

    fn crash(&mut self) {
        self.leases = Leases::default();
    }

    fn check(&self) {
        // P1: armed timers are later than the clock, except those added at an instant before it is left.
        if self.state.advance.is_none() {
            assert!(self.timers.values().all(|timer| timer.next.is_none_or(|next| next > at(self.now))));
        }
        assert_eq!(self.state.next, self.earliest());
        let pending = self.firings.values().filter(|firing| firing.0 == FiringState::Pending).count();
        assert_eq!(self.state.pending, pending as u64);
        // P3: at most one outcome.
        assert!(self.outcomes.values().all(|count| *count == 1));
    }

    fn drain(&mut self) {
        for _ in 0..10_000 {
            let claimed = self.claim(10);
            for one in &claimed {
                self.settle(*one, FiringState::Acknowledged);
            }
            self.host += 400;
            for (_, firing_id) in self.leases.expired(host(self.host)) {
                let _ = self.leases.fail(&firing_id, Pace::Steady, host(self.host));
            }
            self.leases.waited(host(self.host));
            if claimed.is_empty() && !self.step() && self.state.pending == 0 {
                break;
            }
        }
        assert_eq!(self.state.advance, None);
        assert_eq!(self.state.pending, 0);
        // P3: exactly one outcome.
        assert_eq!(self.outcomes.len(), self.firings.len());
    }
}

#[derive(Clone, Debug)]
enum Act {
    Set(i64),
    Begin(i64),
    Jump(i64),
    Step,
    Stop,
    Claim(usize),
    Acknowledge(usize),
    AcknowledgeAndStep(usize),
    Fail(usize),
    Wait(i64),
    Crash,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (-3..20_i64).prop_map(Act::Set),
        2 => (0..30_i64).prop_map(Act::Begin),
        1 => (0..10_i64).prop_map(Act::Jump),
        6 => Just(Act::Step),
        1 => Just(Act::Stop),
        5 => (1..4_usize).prop_map(Act::Claim),
        2 => (0..8_usize).prop_map(Act::Acknowledge),
        2 => (0..8_usize).prop_map(Act::AcknowledgeAndStep),
        2 => (0..8_usize).prop_map(Act::Fail),
        2 => (0..40_i64).prop_map(Act::Wait),
        1 => Just(Act::Crash),
    ];
    prop::collection::vec(act, 1..120)
}

fn walk(acts: &[Act], may_crash: bool) -> Model {
    let mut model = Model::new();
    let mut hands: Vec<DueFiring> = Vec::new();
    for act in acts {
        match act {
            Act::Set(by) => {
                model.set(model.now + by);
                model.tick();
            }
            Act::Begin(by) => model.begin(*by),
            Act::Jump(by) => model.jump(*by),
            Act::Step => {
                model.step();
            }
            Act::Stop => {
                model.state.advance = None;
                model.tick();
            }
            Act::Claim(max) => hands.extend(model.claim(*max)),
            Act::Acknowledge(number) if *number < hands.len() => {
                let one = hands.remove(*number);
                model.settle(one, FiringState::Acknowledged);
            }
            Act::AcknowledgeAndStep(number) if *number < hands.len() => {
                let one = hands.remove(*number);
                model.settle_and_step(one);
            }
            Act::Fail(number) if *number < hands.len() => {
                let one = hands.remove(*number);
                model.fail(one);
            }
            Act::Wait(seconds) => {
                model.host += seconds;
                for (_, firing_id) in model.leases.expired(host(model.host)) {
                    let _ = model.leases.fail(&firing_id, model.pace(), host(model.host));
                }
                model.leases.waited(host(model.host));
            }
            Act::Crash if may_crash => {
                model.crash();
                hands.clear();
            }
            Act::Acknowledge(_) | Act::AcknowledgeAndStep(_) | Act::Fail(_) | Act::Crash => {}
        }
        model.check();
    }
    model.drain();
    model.check();
    model
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn random_walks_keep_the_timer_invariants(acts in acts()) {
        walk(&acts, true);
    }

    /// P8: two consecutive advances pass the same moments as one.
    #[test]
    fn two_consecutive_advances_equal_one(dues in prop::collection::vec(1..100_i64, 1..30), split in 1..99_i64) {
        let passed = |stops: &[i64]| {
            let mut model = Model::new();
            for due in &dues {
                model.set(*due);
            }
            for stop in stops {
                model.begin(stop - model.now);
                model.drain();
                assert_eq!(model.now, *stop);
            }
            model.log
        };
        let mut sorted: Vec<(i64, u64)> = dues.iter().copied().zip(1..).collect();
        sorted.sort_unstable();
        let one: Vec<(i64, u64)> = passed(&[100]).iter().map(|one| (one.due.micros(), one.position)).collect();
        prop_assert_eq!(&one, &sorted);
        let two: Vec<(i64, u64)> = passed(&[split, 100]).iter().map(|one| (one.due.micros(), one.position)).collect();
        prop_assert_eq!(two, sorted);
    }

    /// P6: crashes do not change which moments get an outcome.
    #[test]
    fn crashes_do_not_change_the_outcomes(dues in prop::collection::vec(1..50_i64, 1..20), crashes in 0..6_usize) {
        let run = |crashes: usize| {
            let mut model = Model::new();
            for due in &dues {
                model.set(*due);
            }
            model.begin(60);
            for _ in 0..crashes {
                model.step();
                model.claim(2);
                model.crash();
            }
            model.drain();
            model.outcomes
        };
        prop_assert_eq!(run(crashes), run(0));
    }
}

#[test]
fn attempts_in_an_advance_end_within_ten_seconds() {
    let mut model = Model::new();
    model.set(5);
    model.begin(10);
    assert!(model.step());
    let mut waited = 0;
    for attempt in 1..=ATTEMPTS_IN_ADVANCE_MAX {
        let claimed = model.claim(1);
        assert_eq!(claimed.len(), 1, "{attempt}");
        model.fail(claimed[0]);
        assert!(attempt == ATTEMPTS_IN_ADVANCE_MAX || model.claim(1).is_empty(), "it waits");
        while attempt < ATTEMPTS_IN_ADVANCE_MAX && !model.leases.waited(host(model.host)) {
            model.host += 1;
            waited += 1;
        }
    }
    assert!(waited <= 10, "{waited}");
    assert_eq!(model.state.advance.as_ref().unwrap().counts, Counts { fired: 1, acknowledged: 0, failed: 1 });
    assert!(model.step());
    assert_eq!(model.state.advance, None);
}

#[test]
fn instant_is_held_by_claimed_firings_and_listeners() {
    let mut model = Model::new();
    model.set(5);
    model.leases.listen(&model.timeline, &model.queue, host(0));
    model.begin(10);
    assert!(model.step(), "nothing is open yet");
    assert!(!model.step(), "somebody listens");
    let claimed = model.claim(1);
    model.leases.leave(&model.timeline, &model.queue, host(0));
    model.host += 20;
    assert!(!model.step(), "somebody has it");
    model.settle(claimed[0], FiringState::Acknowledged);
    assert!(model.step());
    assert_eq!(model.now, 10);
}

#[test]
fn armed_timers_are_limited() {
    let armed = |armed: usize| Timers { armed: armed as u64, ..Timers::default() }.has_room();
    assert!(armed(TIMERS_PER_TIMELINE_MAX - 1));
    assert!(!armed(TIMERS_PER_TIMELINE_MAX));
}

#[test]
fn instant_with_too_many_firings_is_stuck() {
    let mut model = Model::new();
    model.set(5);
    model.begin(10);
    assert!(model.step());
    let advance = model.state.advance.as_mut().unwrap();
    advance.at_instant = FIRINGS_AT_INSTANT_MAX;
    assert!(!advance.is_stuck());
    advance.at_instant += 1;
    assert!(advance.is_stuck());
    assert_eq!(advance.held_until(), host(HOLD_SECONDS_MAX));
}

#[test]
fn leased_firings_are_limited() {
    let (timeline, queue) = (TimelineId::main(), QueueId::unnamed());
    let offer = |position: u64| {
        let firing_id = DueFiring { due: at(0), position, round: 0 }.firing_id(&timeline);
        Offer { firing_id, order_key: None }
    };
    let offers: Vec<Offer> = (0..=LEASES_MAX as u64).map(offer).collect();
    let mut leases = Leases::default();
    let ttl = Span::from_secs(LEASE_SECONDS_DEFAULT).unwrap();
    let mut claim = |max: usize| {
        let mark = leases.mark();
        let by = (&lease("lease_a"), "worker", host(0));
        leases.claim((&timeline, &queue), (&offers, mark), (max, ttl), by).unwrap().len()
    };
    assert_eq!((claim(LEASES_MAX - 1), claim(2), claim(1)), (LEASES_MAX - 1, 1, 0));
}

#[test]
fn firing_belongs_to_its_last_claimant() {
    let (timeline, queue, other) = (TimelineId::main(), QueueId::unnamed(), TimelineId::system());
    let firing_id = DueFiring { due: at(0), position: 0, round: 0 }.firing_id(&timeline);
    let named = [firing_id.clone()];
    let offers = [Offer { firing_id: firing_id.clone(), order_key: None }];
    let (mut leases, ttl) = (Leases::default(), Span::from_secs(30).unwrap());
    let claim = |leases: &mut Leases, lease_id: &str, holder: &str, now: i64| {
        let (mark, by) = (leases.mark(), (&lease(lease_id), holder, host(now)));
        leases.claim((&timeline, &queue), (&offers, mark), (1, ttl), by).unwrap().len()
    };
    let under = |lease_id: &str| Under::Leases(vec![lease(lease_id)]);
    let by = |name: &str| Under::Holder(name.to_owned());
    assert_eq!(claim(&mut leases, "lease_a", "ada", 0), 1);
    // After the lease expires, its former holder may still report completion.
    let late = 31_000_000;
    assert!(leases.of_others(&timeline, &named, (&under("lease_x"), host(late))).is_empty());
    assert_eq!(leases.expired(host(late)).len(), 1);
    assert_eq!(claim(&mut leases, "lease_b", "bob", late), 1);
    for (who, is_theirs) in [
        (under("lease_a"), false),
        (under("lease_b"), true),
        (Under::Leases(vec![lease("lease_a"), lease("lease_b")]), true),
        (by("ada"), false),
        (by("bob"), true),
        (Under::Anybody, true),
    ] {
        let of_others = leases.of_others(&timeline, &named, (&who, host(late)));
        let expected = HeldByOther { firing_id: firing_id.clone(), holder: "bob".to_owned() };
        assert_eq!(of_others, if is_theirs { vec![] } else { vec![expected] }, "{who:?}");
        let extended = leases.extend(&firing_id, ttl, (&who, host(late)));
        assert_eq!(extended.is_some(), is_theirs, "{who:?}");
    }
    // The holder is not disclosed to another timeline.
    assert!(leases.of_others(&other, &named, (&by("ada"), host(late))).is_empty());
}

fn lease(text: &str) -> LeaseId {
    LeaseId::new(text).unwrap()
}

fn every_hour(misfire: Misfire) -> Timer {
    let source = RuleSource::Every { rule: "FREQ=HOURLY".to_owned(), starts: at(0), zone: "UTC".to_owned() };
    let schedule = Schedule::Repeating(Box::new(Repeating::read(source, misfire, false).unwrap()));
    let next = schedule.first(at(0));
    Timer { position: 1, schedule, next, round: 0 }
}

const HOUR: i64 = 3_600_000_000;

#[test]
fn overdue_moments_fire_per_misfire_policy() {
    for (misfire, is_full, fires, skipped) in [
        (Misfire::All, false, vec![1, 2, 3], None),
        (Misfire::Once, false, vec![3], Some((1, 2))),
        (Misfire::Skip, false, vec![], Some((1, 3))),
        (Misfire::All, true, vec![], Some((1, 3))),
    ] {
        let mut timers = [every_hour(misfire)];
        let fell = fall_due(&mut timers, at(3 * HOUR + 1), Coming::Together { now: at(3 * HOUR + 1), is_full }, 10);
        let hours: Vec<i64> = fell.due_firing.iter().map(|one| one.due.micros() / HOUR).collect();
        assert_eq!(hours, fires, "{misfire:?}");
        let first_skipped = fell.skipped.first().map(|one| (one.from.micros() / HOUR, one.to.micros() / HOUR));
        assert_eq!(first_skipped, skipped, "{misfire:?}");
        assert_eq!(timers[0].next, Some(at(4 * HOUR)), "{misfire:?}");
        // A single moment is no misfire, and an advance reaches each one separately.
        let mut timers = [every_hour(misfire)];
        let alone = fall_due(&mut timers, at(HOUR), Coming::Together { now: at(HOUR), is_full: false }, 10);
        assert_eq!((alone.due_firing.len(), alone.skipped.len()), (1, 0), "{misfire:?}");
        let mut timers = [every_hour(misfire)];
        assert_eq!(fall_due(&mut timers, at(3 * HOUR), Coming::OneByOne, 10).due_firing.len(), 3, "{misfire:?}");
    }
}

/// Other pending timers limit how far one call goes, but not a timer's outcome.
#[test]
fn misfire_policy_applies_across_partial_batches() {
    let together = Coming::Together { now: at(3 * HOUR), is_full: false };
    for (misfire, fires) in [(Misfire::All, vec![1, 2, 3]), (Misfire::Once, vec![3]), (Misfire::Skip, vec![])] {
        let mut timers = [every_hour(misfire)];
        let upto = [HOUR, 2 * HOUR, 3 * HOUR];
        let fell = upto.map(|upto| fall_due(&mut timers, at(upto), together, 10).due_firing);
        let hours: Vec<i64> = fell.iter().flatten().map(|one| one.due.micros() / HOUR).collect();
        assert_eq!(hours, fires, "{misfire:?}");
        assert_eq!(timers[0].next, Some(at(4 * HOUR)), "{misfire:?}");
    }
}

#[test]
fn last_of_many_moments_is_found_by_arithmetic() {
    let source = RuleSource::Cron { expression: "*/5 * * * *".to_owned(), zone: "Europe/Paris".to_owned() };
    let repeating = Repeating::read(source, Misfire::Once, false).unwrap();
    // Two hundred years of moments.
    let mut work = Work::default();
    let last = repeating.last_between(at(0), at(200 * 365 * 24 * HOUR + 7), &mut work);
    assert_eq!(last, Some(at(200 * 365 * 24 * HOUR)));
    assert_eq!(repeating.last_between(at(0), at(1), &mut work), None);
    assert!(work < Work(200), "{work:?}");
}

#[test]
fn fall_due_with_rare_rules_stops_at_work_limit_and_resumes() {
    // 29 February is a Monday every 28 or 40 years.
    let rule = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO".to_owned();
    let now = at(100 * 365 * 24 * HOUR);
    for (misfire, is_full) in
        [(Misfire::All, false), (Misfire::Once, false), (Misfire::Skip, false), (Misfire::All, true)]
    {
        let source = RuleSource::Every { rule: rule.clone(), starts: at(0), zone: "UTC".to_owned() };
        let schedule = Schedule::Repeating(Box::new(Repeating::read(source, misfire, false).unwrap()));
        let next = schedule.first(at(0));
        let timer = |position| Timer { position, schedule: schedule.clone(), next, round: 0 };
        let mut timers: Vec<Timer> = (1..=512).map(timer).collect();
        let whole = {
            let mut alone = vec![timer(1)];
            let fell = fall_due(&mut alone, now, Coming::Together { now, is_full }, 10);
            (fell.due_firing.len(), fell.skipped.len(), alone[0].next)
        };
        let (mut decisions, mut fired, mut skipped) = (0, 0, 0);
        while timers.iter().any(|timer| timer.next.is_some_and(|next| next <= now)) {
            let fell = fall_due(&mut timers, now, Coming::Together { now, is_full }, 512);
            assert!(fell.due_firing.len() + fell.skipped.len() > 0, "{misfire:?}: a decision that does nothing");
            (decisions, fired, skipped) = (decisions + 1, fired + fell.due_firing.len(), skipped + fell.skipped.len());
            timers.sort_by_key(|timer| (timer.next.is_none(), timer.next, timer.position));
        }
        assert!(decisions > 5, "{misfire:?}: {decisions}");
        assert_eq!((fired, skipped), (512 * whole.0, 512 * whole.1), "{misfire:?}");
        assert!(timers.iter().all(|timer| timer.next == whole.2), "{misfire:?}");
    }
}

#[test]
fn foreseen_firings_are_limited() {
    let single = Timer { position: 2, schedule: Schedule::At(at(HOUR)), next: Some(at(HOUR)), round: 0 };
    let foreseen = foresee(vec![every_hour(Misfire::All), single.clone()], at(5 * HOUR), (3, 100));
    assert_eq!((foreseen.count, foreseen.is_complete), (6, true));
    assert_eq!(foreseen.by_timer, [(1, 5), (2, 1)]);
    let listed: Vec<(i64, u64)> = foreseen.firings.iter().map(|one| (one.due.micros() / HOUR, one.position)).collect();
    assert_eq!(listed, [(1, 1), (1, 2), (2, 1)]);
    let foreseen = foresee(vec![every_hour(Misfire::All)], at(5 * HOUR), (0, 5));
    assert_eq!((foreseen.count, foreseen.is_complete), (5, true));
    let foreseen = foresee(vec![every_hour(Misfire::All)], at(5 * HOUR), (0, 4));
    assert!(foreseen.count > 4 && !foreseen.is_complete);
}

#[test]
fn hold_delays_an_advance_without_a_firing() {
    let timeline = TimelineId::main();
    let mut leases = Leases::default();
    let hold = |name: &str, owner: &str, until: i64| Hold {
        lease_id: LeaseId::new(name).unwrap(),
        owner: owner.to_owned(),
        reason: "looks".to_owned(),
        until: host(until),
    };
    let taken = |leases: &mut Leases, one: Hold, renews: bool, now: i64| {
        leases.hold(&timeline, |holds| holds.take(one, renews, host(now)))
    };
    assert_eq!(taken(&mut leases, hold("one", "ada", 30), false, 0), Some(Ok(())));
    let held_by = leases.begin_step(&timeline, &[], host(29));
    assert_eq!(held_by, Err("the hold `one` of ada: looks".to_owned()));
    assert_eq!(leases.next_end(host(0)), Some(host(30)));
    // Only the holder can renew a lease, and nobody after it has ended.
    assert_eq!(taken(&mut leases, hold("one", "bob", 60), true, 29), Some(Err(NotHeld::NotTheirs)));
    assert_eq!(taken(&mut leases, hold("one", "ada", 60), true, 29), Some(Ok(())));
    assert_eq!(taken(&mut leases, hold("one", "ada", 90), true, 60), Some(Err(NotHeld::NotTheirs)));
    assert_eq!(leases.begin_step(&TimelineId::new("other").unwrap(), &[], host(29)), Ok(()));
    // Claims during a move wait until every step has ended.
    assert_eq!(leases.begin_step(&timeline, &[], host(60)), Ok(()));
    assert_eq!(leases.begin_step(&timeline, &[], host(60)), Ok(()));
    leases.end_step(&timeline);
    assert_eq!(taken(&mut leases, hold("two", "ada", 90), false, 60), None);
    leases.end_step(&timeline);
    assert_eq!(taken(&mut leases, hold("two", "ada", 90), false, 60), Some(Ok(())));
    let release = |leases: &mut Leases, owner: Option<&str>| {
        leases.hold(&timeline, |holds| holds.release(&LeaseId::new("two").unwrap(), owner, host(61)))
    };
    assert_eq!(release(&mut leases, Some("bob")), Some(Err(NotHeld::NotTheirs)));
    assert_eq!(release(&mut leases, Some("ada")), Some(Ok(())));
    assert_eq!(release(&mut leases, None), Some(Err(NotHeld::NotTheirs)), "it has ended");
    assert_eq!(taken(&mut leases, hold("two", "ada", 90), false, 60), Some(Ok(())));
    assert_eq!(release(&mut leases, None), Some(Ok(())), "anybody's");
    assert_eq!(leases.begin_step(&timeline, &[], host(61)), Ok(()));
    leases.end_step(&timeline);
    for number in 0..HOLDS_PER_TIMELINE_MAX {
        assert_eq!(taken(&mut leases, hold(&format!("n{number}"), "ada", 90), false, 70), Some(Ok(())));
    }
    assert_eq!(taken(&mut leases, hold("more", "ada", 90), false, 70), Some(Err(NotHeld::TooMany)));
    assert_eq!(taken(&mut leases, hold("more", "ada", 120), false, 90), Some(Ok(())));
}

/// A step joins the outcomes only if they are all its instant waits for and nothing else holds it.
#[test]
fn step_joins_outcomes_only_if_nothing_else_holds_it() {
    let (timeline, queue, other) = (TimelineId::main(), QueueId::unnamed(), TimelineId::new("other").unwrap());
    let mut leases = Leases::default();
    let due_firing = |position: u64| DueFiring { due: at(1), position, round: 0 }.firing_id(&timeline);
    let offers: Vec<Offer> = (0..3).map(|one| Offer { firing_id: due_firing(one), order_key: None }).collect();
    let (mark, ttl) = (leases.mark(), Span::from_secs(30).unwrap());
    let by = (&lease("lease_a"), "worker", host(0));
    let claimed = leases.claim((&timeline, &queue), (&offers[..2], mark), (9, ttl), by);
    assert_eq!(claimed.unwrap().len(), 2);
    let may = |leases: &mut Leases, open: u64| leases.begin_step_with_outcomes(&timeline, open, host(1));
    assert!(!may(&mut leases, 1), "nothing is on its way");
    leases.begin_settling(&timeline, &[due_firing(0), due_firing(2)]);
    assert!(!may(&mut leases, 2), "one of the two was handed out to nobody");
    assert!(!leases.begin_step_with_outcomes(&other, 1, host(1)), "they are another timeline's");
    leases.begin_settling(&timeline, &[due_firing(1)]);
    assert!(!may(&mut leases, 3));
    assert!(!may(&mut leases, 0), "there is nothing to wait for");
    let hold = Hold { lease_id: lease("lease_h"), owner: "ada".to_owned(), reason: "looks".to_owned(), until: host(9) };
    assert_eq!(leases.hold(&timeline, |holds| holds.take(hold.clone(), false, host(1))), Some(Ok(())));
    assert!(!may(&mut leases, 2), "somebody holds the instant");
    assert_eq!(leases.hold(&timeline, |holds| holds.release(&hold.lease_id, Some("ada"), host(1))), Some(Ok(())));
    assert!(may(&mut leases, 2) && leases.is_stepping(&timeline));
    assert_eq!(leases.hold(&timeline, |holds| holds.take(hold.clone(), false, host(1))), None);
    leases.end_step(&timeline);
    leases.end_settling(&timeline, &[due_firing(1)]);
    assert!(!may(&mut leases, 2) && !leases.is_stepping(&timeline) && leases.settling(&timeline) == 2);
}
