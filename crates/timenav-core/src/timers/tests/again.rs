//! Rewound clocks, restored histories and forks, by random walks over the model.

use super::*;

const SECOND: i64 = 1_000_000;

#[derive(Clone, Debug)]
pub(super) enum Entry {
    Set(u64),
    Cancelled(u64, Instant<Virtual>),
    Fired(Vec<DueFiring>),
    Settled(DueFiring),
    Restored { timers: Vec<(u64, Option<PreviousState<Schedule>>)>, superseded: Vec<DueFiring>, fired: Vec<DueFiring> },
}

struct Anchor {
    size: usize,
    now: i64,
    armed: BTreeMap<u64, Instant<Virtual>>,
    pending: BTreeSet<(Instant<Virtual>, u64)>,
    twin: Model,
}

fn every(seconds: i64, from: i64) -> Schedule {
    let rule = format!("FREQ=SECONDLY;INTERVAL={seconds}");
    let source = RuleSource::Every { rule, starts: at(from), zone: "UTC".to_owned() };
    Schedule::Repeating(Box::new(Repeating::read(source, Misfire::All, false).unwrap()))
}

impl Model {
    fn cancel(&mut self, number: usize) {
        let armed: Vec<u64> = self.armed().into_keys().collect();
        let Some(position) = armed.get(number % armed.len().max(1)) else { return };
        self.entry();
        let timer = self.timers.get_mut(position).unwrap();
        self.journal.push(Entry::Cancelled(*position, timer.next.take().unwrap()));
        self.cancelled.insert(*position);
        self.count();
    }

    fn count(&mut self) {
        self.state.next = self.earliest();
        self.state.armed = self.armed().len() as u64;
    }

    fn armed(&self) -> BTreeMap<u64, Instant<Virtual>> {
        self.timers.values().filter_map(|timer| Some((timer.position, timer.next?))).collect()
    }

    fn pending(&self) -> BTreeSet<DueFiring> {
        let pending = self.firings.iter().filter(|(_, firing)| firing.0 == FiringState::Pending);
        pending.map(|(one, _)| *one).collect()
    }

    fn state_before(&self, position: u64) -> Option<PreviousState<Schedule>> {
        let timer = self.timers.get(&position)?;
        Some(PreviousState {
            definition: Some(timer.schedule.clone()),
            next: timer.next,
            round: Some(timer.round),
            is_cancelled: self.cancelled.contains(&position),
        })
    }

    /// Restores timers and firings. A firing is made once.
    fn restore(&mut self, timers: Vec<(u64, Option<(Timer, bool)>)>, superseded: &[DueFiring], fired: &[DueFiring]) {
        let made = self.entry();
        let was: Vec<_> = timers.iter().map(|(position, _)| (*position, self.state_before(*position))).collect();
        for one in superseded {
            self.settle(*one, FiringState::Superseded);
        }
        for (position, timer) in timers {
            self.timers.remove(&position);
            self.cancelled.remove(&position);
            if let Some((timer, is_cancelled)) = timer {
                self.timers.insert(position, timer);
                self.cancelled.extend(is_cancelled.then_some(position));
            }
        }
        for one in fired {
            assert!(self.firings.insert(*one, (FiringState::Pending, made, None)).is_none(), "twice: {one:?}");
        }
        self.state.fired(fired.len() as u64);
        self.count();
        let (superseded, fired) = (superseded.to_vec(), fired.to_vec());
        self.journal.push(Entry::Restored { timers: was, superseded, fired });
    }

    fn rewind(&mut self, by: i64, refire: bool) {
        if self.state.advance.is_some() {
            return;
        }
        self.latest = self.latest.max(self.now);
        self.now -= by;
        let destination = at(self.now);
        if !refire {
            return;
        }
        let mut back: BTreeMap<u64, Instant<Virtual>> = BTreeMap::new();
        let mut superseded = Vec::new();
        for (one, firing) in &self.firings {
            let Some(timer) = self.timers.get(&one.position) else { continue };
            let comes = !self.cancelled.contains(&one.position) && timer.returns_to(one.due, destination);
            if comes {
                back.entry(one.position).or_insert(one.due);
                superseded.extend((firing.0 == FiringState::Pending).then_some(*one));
            }
        }
        let again = |(position, next): (&u64, &Instant<Virtual>)| {
            let timer = &self.timers[position];
            (*position, Some((Timer { next: Some(*next), round: timer.round + 1, ..timer.clone() }, false)))
        };
        let timers = back.iter().map(again).collect();
        let mut expected = self.state.clone();
        for (position, next) in &back {
            expected.armed += u64::from(self.timers[position].next.is_none());
            expected.next = expected.next.into_iter().chain([*next]).min();
        }
        expected.supersede(superseded.len() as u64);
        self.restore(timers, &superseded, &[]);
        assert_eq!(expected, self.state);
    }

    /// Undoes entries back to a size, newest first.
    fn undo(&self, size: usize) -> Undo<Schedule> {
        let mut undo = Undo::default();
        for entry in self.journal[size..].iter().rev() {
            match entry {
                Entry::Set(position) => undo.set(*position),
                Entry::Cancelled(position, next) => undo.passed(*position, *next, None),
                Entry::Fired(due_firing) => {
                    for one in due_firing {
                        undo.made(*one);
                    }
                    // In due order, so that the first one counts.
                    due_firing.iter().rev().for_each(|one| undo.passed(one.position, one.due, Some(one.round)));
                }
                Entry::Settled(one) => undo.settled(*one),
                Entry::Restored { timers, superseded, fired } => {
                    for (position, was) in timers {
                        undo.record_state(*position, was.clone());
                    }
                    for one in superseded {
                        undo.settled(*one);
                    }
                    for one in fired {
                        undo.made(*one);
                    }
                }
            }
        }
        undo
    }

    /// The timers at an earlier size, each with whether it was cancelled, and the firings in flight.
    fn then(&self, undo: &Undo<Schedule>) -> (BTreeMap<u64, (Timer, bool)>, BTreeSet<DueFiring>) {
        let mut then: BTreeMap<u64, (Timer, bool)> = self
            .timers
            .iter()
            .map(|(position, timer)| (*position, (timer.clone(), self.cancelled.contains(position))))
            .collect();
        for (position, before) in undo.timers() {
            let now = then.remove(position);
            let Some(before) = before else { continue };
            let schedule = before.definition.clone().or_else(|| Some(now.as_ref()?.0.schedule.clone())).unwrap();
            let round = before.round.or_else(|| Some(now.as_ref()?.0.round)).unwrap();
            let timer = Timer { position: *position, schedule, next: before.next, round };
            then.insert(*position, (timer, before.is_cancelled));
        }
        (then, undo.pending(self.pending()))
    }

    fn anchor(&self) -> Option<Anchor> {
        self.state.advance.is_none().then(|| Anchor {
            size: self.journal.len(),
            now: self.now,
            armed: self.armed(),
            pending: moments(&self.pending()),
            twin: self.twin(TimelineId::main(), &self.timers, &self.pending()),
        })
    }

    /// A timeline with the same timers and in-flight firings.
    fn twin(&self, timeline: TimelineId, timers: &BTreeMap<u64, Timer>, in_flight: &BTreeSet<DueFiring>) -> Self {
        let mut twin = Self { timeline, now: self.now, host: self.host, ..Self::new() };
        (twin.timers, twin.position) = (timers.clone(), self.position);
        twin.latest = self.latest.max(self.now);
        twin.firings = in_flight.iter().map(|one| (*one, (FiringState::Pending, 0, None))).collect();
        twin.state.pending = in_flight.len() as u64;
        twin.count();
        twin
    }

    fn return_to(&mut self, anchor: &Anchor) {
        if self.state.advance.is_some() {
            return;
        }
        let undo = self.undo(anchor.size);
        let (then, in_flight) = self.then(&undo);
        let mut changed = Vec::new();
        let mut fired = Vec::new();
        let positions: BTreeSet<u64> =
            undo.timers().keys().copied().chain(in_flight.iter().map(|one| one.position)).collect();
        for position in positions {
            let flying: Vec<&DueFiring> = in_flight.iter().filter(|one| one.position == position).collect();
            let now = self.timers.get(&position);
            let highest = undo.highest_round(position, now.map(|timer| timer.round)).unwrap_or_default();
            let timer = then.get(&position);
            let rounds = flying.iter().map(|one| one.round).chain(timer.map(|(timer, _)| timer.round));
            let more = rounds_grow_by(highest, rounds);
            fired.extend(flying.iter().map(|one| DueFiring { round: one.round + more, ..**one }));
            let again = |(timer, is_cancelled): &(Timer, bool)| {
                (Timer { round: timer.round + more, ..timer.clone() }, *is_cancelled)
            };
            changed.push((position, timer.map(again)));
        }
        self.latest = self.latest.max(self.now);
        self.now = anchor.now;
        let superseded: Vec<DueFiring> = self.pending().into_iter().collect();
        self.restore(changed, &superseded, &fired);
        // The anchor's state is restored, and no earlier id is reused.
        assert_eq!(self.armed(), anchor.armed);
        assert_eq!(moments(&self.pending()), anchor.pending);
    }

    /// P7: a drained fork reaches the same moments as the original would have, with other ids.
    fn check_fork(&self, anchor: &Anchor) {
        let (then, in_flight) = self.then(&self.undo(anchor.size));
        let timers: BTreeMap<u64, Timer> = then.into_iter().map(|(position, (timer, _))| (position, timer)).collect();
        let mut fork = self.twin(TimelineId::new("fork").unwrap(), &timers, &in_flight);
        fork.now = anchor.now;
        let mut original = anchor.twin.twin(TimelineId::main(), &anchor.twin.timers, &anchor.twin.pending());
        for model in [&mut fork, &mut original] {
            model.tick();
            model.begin(40 * SECOND);
            model.drain();
            model.check();
        }
        let done = |model: &Self| model.outcomes.keys().map(|one| (one.due, one.position)).collect::<Vec<_>>();
        assert_eq!(done(&fork), done(&original));
        let named = |model: &Self| -> BTreeSet<FiringId> {
            model.outcomes.keys().map(|one| one.firing_id(&model.timeline)).collect()
        };
        assert!(named(&fork).is_disjoint(&named(&original)));
    }
}

fn moments(due_firing: &BTreeSet<DueFiring>) -> BTreeSet<(Instant<Virtual>, u64)> {
    due_firing.iter().map(|one| (one.due, one.position)).collect()
}

#[derive(Clone, Debug)]
enum Turn {
    Set(i64),
    Every(i64),
    Cancel(usize),
    Advance(i64),
    Jump(i64),
    Steps(usize),
    Claim(usize),
    Acknowledge(usize),
    Rewind(i64, bool),
    Anchor,
    Return(usize),
    Fork(usize),
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = prop_oneof![
        4 => (-3..20_i64).prop_map(Turn::Set),
        2 => (1..7_i64).prop_map(Turn::Every),
        1 => (0..8_usize).prop_map(Turn::Cancel),
        3 => (1..15_i64).prop_map(Turn::Advance),
        2 => (1..8_i64).prop_map(Turn::Jump),
        6 => (1..5_usize).prop_map(Turn::Steps),
        4 => (1..5_usize).prop_map(Turn::Claim),
        5 => (0..8_usize).prop_map(Turn::Acknowledge),
        4 => ((1..12_i64), any::<bool>()).prop_map(|(by, refire)| Turn::Rewind(by, refire)),
        3 => Just(Turn::Anchor),
        3 => (0..6_usize).prop_map(Turn::Return),
        2 => (0..6_usize).prop_map(Turn::Fork),
    ];
    prop::collection::vec(turn, 1..80)
}

fn take(model: &mut Model, turn: &Turn, anchors: &mut Vec<Anchor>, hands: &mut Vec<DueFiring>) {
    match turn {
        Turn::Set(by) => {
            model.set(model.now + by * SECOND);
            model.tick();
        }
        Turn::Every(seconds) => model.set_by(every(*seconds, model.now)),
        Turn::Cancel(number) => model.cancel(*number),
        Turn::Advance(by) => model.begin(by * SECOND),
        Turn::Jump(by) => model.jump(by * SECOND),
        Turn::Steps(count) => {
            for _ in 0..*count {
                model.step();
            }
        }
        Turn::Claim(max) => hands.extend(model.claim(*max)),
        Turn::Acknowledge(number) if *number < hands.len() => {
            let one = hands.remove(*number);
            model.settle(one, FiringState::Acknowledged);
        }
        Turn::Rewind(by, refire) => {
            model.host += LEASE_SECONDS_DEFAULT;
            model.rewind(by * SECOND, *refire);
        }
        Turn::Anchor => anchors.extend(model.anchor()),
        Turn::Return(number) if !anchors.is_empty() => model.return_to(&anchors[number % anchors.len()]),
        Turn::Fork(number) if !anchors.is_empty() => model.check_fork(&anchors[number % anchors.len()]),
        Turn::Acknowledge(_) | Turn::Return(_) | Turn::Fork(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// P1 to P3 and P7 hold across rewinds.
    #[test]
    fn random_walks_with_rewinds_keep_the_timer_invariants(turns in turns()) {
        let mut model = Model::new();
        let (mut anchors, mut hands) = (Vec::new(), Vec::new());
        for turn in &turns {
            take(&mut model, turn, &mut anchors, &mut hands);
            model.check();
        }
        model.drain();
        model.check();
    }
}

#[test]
fn rewound_timer_is_armed_at_its_earliest_fallen_moment() {
    let mut model = Model::new();
    model.set(10 * SECOND);
    model.set_by(every(3, 0));
    model.begin(10 * SECOND);
    model.drain();
    assert_eq!(model.armed(), BTreeMap::from([(2, at(12 * SECOND))]));
    model.rewind(5 * SECOND, false);
    assert_eq!(model.armed(), BTreeMap::from([(2, at(12 * SECOND))]), "what fell due stays so");
    model.rewind(0, true);
    assert_eq!(model.armed(), BTreeMap::from([(1, at(10 * SECOND)), (2, at(6 * SECOND))]));
    assert_eq!(model.timers[&2].round, 1);
    // A further rewind before anything fires again restores the moments of the round before.
    model.rewind(3 * SECOND, true);
    assert_eq!(model.armed(), BTreeMap::from([(1, at(10 * SECOND)), (2, at(3 * SECOND))]));
    assert_eq!((model.timers[&1].round, model.timers[&2].round), (1, 2));
}

#[test]
fn pending_firing_is_superseded_if_its_moment_recurs() {
    let mut model = Model::new();
    model.set(4 * SECOND);
    model.set(8 * SECOND);
    model.begin(10 * SECOND);
    while model.step() {}
    let claimed = model.claim(2);
    assert_eq!(claimed.len(), 2);
    model.rewind(4 * SECOND, true);
    // A firing that does not recur still waits for its outcome.
    assert_eq!(model.pending(), BTreeSet::from([claimed[0]]));
    assert_eq!(model.firings[&claimed[1]].0, FiringState::Superseded);
    model.settle(claimed[1], FiringState::Acknowledged);
    assert_eq!(model.firings[&claimed[1]].0, FiringState::Superseded, "late is too late");
    model.begin(10 * SECOND);
    model.drain();
    assert_eq!(model.log.len(), 3);
}

#[test]
fn restored_timers_and_firings_are_limited() {
    use crate::limits::{RESTORE_SCANNED_MAX, RESTORED_BYTES_MAX, RESTORED_FIRINGS_MAX};
    let mut room = Room::default();
    assert!((0..TIMERS_PER_TIMELINE_MAX).all(|_| room.timer(0).is_ok()));
    assert_eq!(room.timer(0).unwrap_err().max, TIMERS_PER_TIMELINE_MAX);
    let mut room = Room::default();
    assert!(room.timer(RESTORED_BYTES_MAX).is_ok());
    assert_eq!(room.timer(1).unwrap_err().max, RESTORED_BYTES_MAX);
    assert!((0..RESTORED_FIRINGS_MAX).all(|_| room.firing().is_ok()));
    assert_eq!(room.firing().unwrap_err().max, RESTORED_FIRINGS_MAX);
    assert!(room.look(RESTORE_SCANNED_MAX).is_ok());
    assert_eq!(room.look(1).unwrap_err().max, RESTORE_SCANNED_MAX);
}
