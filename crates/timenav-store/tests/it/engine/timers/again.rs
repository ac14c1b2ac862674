//! Timers after clock moves back, returns and forks.

use timenav_engine::TimerStatus;

use super::foreseen;
use crate::engine::*;

/// Longer than a listener stays registered on a queue, and than a lease.
const LONG: i64 = 40 * SECOND;

/// One timeline and its clock on an open engine.
pub(in crate::engine) struct Line<'a> {
    pub(in crate::engine) home: &'a Home<'a>,
    pub(in crate::engine) id: TimelineId,
}

impl<'a> Line<'a> {
    /// Returns `main`, with its clock paused at 0.
    async fn main(home: &'a Home<'a>) -> Self {
        Self::of(home, TimelineId::main()).await
    }

    pub(in crate::engine) async fn of(home: &'a Home<'a>, id: TimelineId) -> Self {
        let line = Self { home, id };
        line.change(ClockCommand::Pause, false).await.unwrap();
        line.go(0, false).await;
        line
    }

    pub(in crate::engine) async fn change(&self, command: ClockCommand, refire: bool) -> Result<(), Refusal> {
        let change = ClockChange { refire, ..ClockChange::from(command) };
        self.home.engine.change_clock(&self.home.admin, Some(self.id.clone()), change, None).await?;
        self.drive().await;
        Ok(())
    }

    pub(in crate::engine) async fn go(&self, seconds: i64, refire: bool) {
        self.change(ClockCommand::Travel { to: at(seconds), location: None }, refire).await.unwrap();
    }

    /// Runs all background work. There is no listener.
    async fn drive(&self) {
        for _ in 0..200 {
            self.home.engine.keep_time().await;
            if self.head().await.timers.advance.is_none() {
                self.home.engine.keep_time().await;
                return;
            }
            self.home.house.pass(LONG);
        }
        panic!("the advance does not end");
    }

    pub(in crate::engine) async fn head(&self) -> timenav_engine::Head {
        let heads = self.home.store.open().await.unwrap().heads;
        heads.into_iter().find(|head| head.id == self.id).unwrap()
    }

    pub(in crate::engine) async fn set(&self, name: &str, schedule: Schedule) -> Result<(), Refusal> {
        self.set_to(name, schedule, None).await
    }

    /// Sets a timer with a delivery target.
    pub(in crate::engine) async fn set_to(
        &self,
        name: &str,
        schedule: Schedule,
        deliver: Option<Delivery>,
    ) -> Result<(), Refusal> {
        let records = matches!(deliver, Some(Delivery::Timeline(_)));
        let request = TimerRequest {
            schedule: Some(schedule),
            deliver,
            order_key: (!records).then(|| "one\"".to_owned()),
            payload: (!records).then(|| format!("[{name:?}]").into()),
        };
        let named = (Some(TimerId::new(name).unwrap()), request);
        self.home.engine.set_timer(&self.home.admin, Some(self.id.clone()), named, None).await?;
        self.drive().await;
        Ok(())
    }

    pub(in crate::engine) async fn patch(&self, name: &str, schedule: Option<Schedule>) {
        let deliver = Delivery::Queue(QueueId::unnamed());
        let schedule = schedule.map(ScheduleChange::To);
        let request = TimerChangeRequest { schedule, deliver: Some(deliver), ..TimerChangeRequest::default() };
        let named = (TimerId::new(name).unwrap(), request);
        // Timers with no time left are not changed.
        let _ = self.home.engine.change_timer(&self.home.admin, Some(self.id.clone()), named, None).await;
        self.drive().await;
    }

    pub(in crate::engine) async fn cancel(&self, name: &str) {
        let named = TimerId::new(name).unwrap();
        let _ = self.home.engine.cancel_timer(&self.home.admin, Some(self.id.clone()), named, None).await;
    }

    async fn claim(&self, max: usize) -> Vec<ClaimedFiring> {
        self.home.engine.claim(&self.home.admin, Some(self.id.clone()), &claim_of(max)).await.unwrap()
    }

    async fn acknowledge(&self, firing_id: &FiringId) -> FiringState {
        let request = FiringsRequest { timeline: Some(self.id.clone()), ..firings(vec![firing_id.clone()]) };
        self.home.engine.acknowledge(&self.home.admin, request, None).await.unwrap().firings[0].1
    }

    /// Acknowledges everything. Returns the due times in the order of the claims, and the ids.
    pub(in crate::engine) async fn work_off(&self) -> (Vec<(i64, String)>, BTreeSet<FiringId>) {
        let (mut done, mut ids) = (Vec::new(), BTreeSet::new());
        self.home.house.pass(LONG);
        self.home.engine.keep_time().await;
        for _ in 0..10_000 {
            let claimed = self.claim(1).await;
            let Some(one) = claimed.first() else { break };
            assert_eq!(self.acknowledge(&one.firing.firing_id).await, FiringState::Acknowledged);
            assert!(ids.insert(one.firing.firing_id.clone()), "handed out twice");
            done.push((one.firing.due_firing.due.micros() / SECOND, one.firing.timer_id.to_string()));
        }
        done.sort();
        (done, ids)
    }

    pub(in crate::engine) async fn timers(&self) -> Vec<TimerRow> {
        let key = self.home.key(&self.id).await;
        self.home.store.timer_rows(key, TimerQuery::ByPosition(None, 10_000)).await.unwrap().timers
    }

    pub(in crate::engine) async fn firings(&self) -> Vec<FiringRow> {
        let key = self.home.key(&self.id).await;
        self.home.store.timer_rows(key, TimerQuery::FiringsAfter(None, 10_000)).await.unwrap().firings
    }

    /// Returns the armed timers with their payloads, and the due times of firings in flight.
    pub(in crate::engine) async fn picture(&self) -> Picture {
        let armed = self.timers().await.into_iter().filter(|row| row.next.is_some());
        let mut armed: Vec<String> =
            armed.map(|row| format!("{} {:?} {} {}", row.timer_id, row.next, row.payload, row.schedule)).collect();
        armed.sort();
        let pending = self.firings().await.into_iter().filter(|firing| firing.state == FiringState::Pending);
        let in_flight = pending.map(|firing| (firing.due_firing.due.micros() / SECOND, firing.timer_id.to_string()));
        Picture { armed, in_flight: in_flight.collect() }
    }

    pub(in crate::engine) async fn anchor(&self) -> AnchorId {
        self.home.set_anchor(Some(self.id.clone())).await
    }

    pub(in crate::engine) async fn return_to(&self, anchor: &AnchorId) {
        self.home.return_to(Some(self.id.clone()), anchor).await;
        self.drive().await;
    }

    pub(in crate::engine) async fn fork(&self, name: &str, at: Option<&AnchorId>) -> Line<'a> {
        let at = at.map(|anchor| AsOf::Anchor(anchor.clone()));
        let engine = &self.home.engine;
        engine.fork_timeline(&self.home.admin, timeline_id(name), &self.id, at.as_ref(), None).await.unwrap();
        let fork = Line { home: self.home, id: timeline_id(name) };
        fork.drive().await;
        fork
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Picture {
    pub(in crate::engine) armed: Vec<String>,
    pub(in crate::engine) in_flight: BTreeSet<(i64, String)>,
}

on_each_store![
    rewound_timers_fire_again_if_requested,
    unfinished_firings_are_superseded_and_late_settlement_is_rejected,
    return_to_anchor_restores_timers,
];

async fn rewound_timers_fire_again_if_requested(house: House) {
    let home = house.open().await;
    let line = Line::main(&home).await;
    line.set("single", once(10)).await.unwrap();
    line.set("rule", every(4, Misfire::All)).await.unwrap();
    line.go(11, false).await;
    let (done, first) = line.work_off().await;
    assert_eq!(done, [(4, "rule".to_owned()), (8, "rule".to_owned()), (10, "single".to_owned())]);
    // Past firings stay.
    line.go(5, false).await;
    line.go(11, false).await;
    assert_eq!(line.work_off().await.0, []);
    line.go(5, true).await;
    let rounds: Vec<(String, Option<i64>, u32)> = line
        .timers()
        .await
        .iter()
        .map(|row| (row.timer_id.to_string(), row.next.map(|next| next.micros() / SECOND), row.round))
        .collect();
    assert_eq!(rounds, [("single".to_owned(), Some(10), 1), ("rule".to_owned(), Some(8), 1)]);
    line.go(11, false).await;
    let (done, second) = line.work_off().await;
    assert_eq!(done, [(8, "rule".to_owned()), (10, "single".to_owned())]);
    assert!(first.is_disjoint(&second));
    home.reopen().await.close().await;
}

async fn unfinished_firings_are_superseded_and_late_settlement_is_rejected(house: House) {
    let home = house.open().await;
    let line = Line::main(&home).await;
    for second in [2, 6] {
        line.set(&format!("at-{second}"), once(second)).await.unwrap();
    }
    line.go(7, false).await;
    house.pass(LONG);
    home.engine.keep_time().await;
    let claimed = line.claim(1).await;
    let (early, late) = (claimed[0].firing.clone(), line.firings().await[1].firing_id.clone());
    // A rewind of a running clock by a duration.
    line.change(ClockCommand::Resume, false).await.unwrap();
    line.change(ClockCommand::Rewind(parse_duration("3s").unwrap()), true).await.unwrap();
    line.change(ClockCommand::Pause, false).await.unwrap();
    assert_eq!(line.acknowledge(&late).await, FiringState::Superseded);
    // Firings that do not recur are still in flight.
    assert_eq!(line.acknowledge(&early.firing_id).await, FiringState::Acknowledged);
    home.close().await;
}

async fn return_to_anchor_restores_timers(house: House) {
    let home = house.open().await;
    let line = Line::main(&home).await;
    line.set("changed", once(20)).await.unwrap();
    line.set("cancelled", once(21)).await.unwrap();
    line.set("fires", once(5)).await.unwrap();
    line.set("in-flight", once(1)).await.unwrap();
    line.set("rule", every(3, Misfire::All)).await.unwrap();
    line.set("untouched", once(90)).await.unwrap();
    line.go(2, false).await;
    let flying = line.firings().await[0].firing_id.clone();
    let anchor = line.anchor().await;
    let then = line.picture().await;
    assert_eq!(then.in_flight, BTreeSet::from([(1, "in-flight".to_owned())]));
    line.patch("changed", Some(once(30))).await;
    line.cancel("cancelled").await;
    line.set("new", once(40)).await.unwrap();
    line.set("new-and-done", once(3)).await.unwrap();
    line.go(10, false).await;
    let (done, before) = line.work_off().await;
    assert_eq!(done.len(), 6, "{done:?}");
    assert!(before.contains(&flying));
    for round in 0..3 {
        line.return_to(&anchor).await;
        assert_eq!(line.picture().await, then, "{round}");
        line.go(10, false).await;
        let (again, after) = line.work_off().await;
        assert_eq!(again.len(), 5, "{again:?}");
        assert!(before.is_disjoint(&after));
        assert_eq!(line.acknowledge(&flying).await, FiringState::Acknowledged, "its outcome stays");
        // The names are available for setting up the same again.
        line.set("new", once(41)).await.unwrap();
    }
    let untouched = line.timers().await.into_iter().find(|row| row.timer_id.as_str() == "untouched").unwrap();
    assert_eq!(untouched.round, 0, "what is as it was needs no other round");
    // A return of the clock alone does not affect timers.
    let now = line.picture().await;
    home.engine.return_to_anchor(&home.admin, None, &anchor, ReturnScope::Clock, None).await.unwrap();
    assert_eq!(line.picture().await, now);
    home.reopen().await.close().await;
}

#[tokio::test]
async fn fork_inherits_timers_and_diverges() {
    let home = Home::new().await;
    let line = Line::main(&home).await;
    line.set("single", once(10)).await.unwrap();
    line.set("rule", every(4, Misfire::All)).await.unwrap();
    line.set("in-flight", once(1)).await.unwrap();
    line.go(2, false).await;
    let anchor = line.anchor().await;
    let then = line.picture().await;
    let now = line.fork("now", None).await;
    assert_eq!(now.picture().await, then);
    line.patch("single", Some(once(50))).await;
    line.cancel("rule").await;
    let (done, own) = line.work_off().await;
    assert_eq!(done, [(1, "in-flight".to_owned())]);
    // As of a past position, with later changes by others.
    let past = line.fork("past", Some(&anchor)).await;
    assert_eq!(past.picture().await, then);
    for fork in [&now, &past] {
        fork.set("own", once(10)).await.unwrap();
        assert!(fork.set("single", once(11)).await.is_err(), "the name is taken along");
        fork.go(11, false).await;
        let (done, theirs) = fork.work_off().await;
        let expected = [(1, "in-flight"), (4, "rule"), (8, "rule"), (10, "own"), (10, "single")];
        assert_eq!(done, expected.map(|(due, name)| (due, name.to_owned())));
        assert!(own.is_disjoint(&theirs));
        // At the same due time, inherited timers come before own ones.
        let order: Vec<String> = fork.firings().await.iter().map(|firing| firing.timer_id.to_string()).collect();
        assert_eq!(order[3..], ["single".to_owned(), "own".to_owned()]);
        // To a time before the fork.
        fork.return_to(&anchor).await;
        assert_eq!(fork.picture().await, then);
    }
    // A fork of a fork, returned to the first one's anchor.
    let deep = now.fork("deep", None).await;
    deep.go(30, false).await;
    deep.return_to(&anchor).await;
    assert_eq!(deep.picture().await, then);
    assert_eq!(line.picture().await.armed.len(), 1, "nothing of it happened here");
    home.reopen().await.close().await;
}

#[tokio::test]
async fn fork_can_return_to_timers_finished_before_it_was_created() {
    let home = Home::new().await;
    let line = Line::main(&home).await;
    line.set("in-flight", once(1)).await.unwrap();
    line.set("cancelled", once(20)).await.unwrap();
    line.set("done", once(3)).await.unwrap();
    line.patch("cancelled", Some(once(21))).await;
    line.go(2, false).await;
    let (anchor, then) = (line.anchor().await, line.picture().await);
    line.cancel("cancelled").await;
    line.go(5, false).await;
    assert_eq!(line.work_off().await.0.len(), 2);
    let fork = line.fork("fork", None).await;
    assert!(fork.timers().await.is_empty(), "nothing was left to take along");
    let deep = fork.fork("deep", None).await;
    for fork in [fork, deep] {
        fork.set("done", once(90)).await.unwrap();
        fork.return_to(&anchor).await;
        assert_eq!(fork.picture().await, then);
        fork.go(30, false).await;
        let done = [(1, "in-flight"), (3, "done"), (21, "cancelled")];
        assert_eq!(fork.work_off().await.0, done.map(|(due, name)| (due, name.to_owned())));
        home.check_clean(&fork.id).await;
    }
    home.close().await;
}

/// Pseudorandom numbers, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn seconds(&mut self, end: u64) -> i64 {
        self.below(end).cast_signed()
    }
}

/// Makes random moves. A move back or a return has the previewed effect. Each anchor is returned to and forked at, and
/// its timers are as they were then.
async fn live(seed: u64) {
    let home = Home::new().await;
    let line = Line::main(&home).await;
    let mut numbers = Numbers(seed);
    let mut anchors: Vec<(AnchorId, Picture)> = Vec::new();
    let mut now = 0;
    for turn in 0..40 {
        let name = format!("t{}", numbers.below(6));
        match numbers.below(12) {
            0 | 1 => drop(line.set(&name, once(now + numbers.seconds(20) - 3)).await),
            2 => drop(line.set(&name, every(numbers.seconds(5) + 2, Misfire::All)).await),
            3 => line.patch(&name, Some(once(now + numbers.seconds(20)))).await,
            4 => line.cancel(&name).await,
            5 | 6 => {
                now += numbers.seconds(8);
                line.go(now, false).await;
            }
            7 => {
                now -= numbers.seconds(8);
                foreseen::go_back(&line, now, numbers.below(2) == 0).await;
            }
            8 => {
                home.house.pass(LONG);
                home.engine.keep_time().await;
                for one in line.claim(3).await {
                    line.acknowledge(&one.firing.firing_id).await;
                }
            }
            9 => anchors.push((line.anchor().await, line.picture().await)),
            10 if !anchors.is_empty() => {
                let (anchor, then) = &anchors[usize::try_from(numbers.below(anchors.len() as u64)).unwrap()];
                foreseen::return_to(&line, anchor).await;
                assert_eq!(line.picture().await, *then, "{seed} {turn}");
                now = line.head().await.clock.now(home.house.clock.now()).micros() / SECOND;
            }
            11 if !anchors.is_empty() => {
                let (anchor, then) = &anchors[usize::try_from(numbers.below(anchors.len() as u64)).unwrap()];
                let of_then = numbers.below(2) == 0;
                let fork = line.fork(&format!("fork-{turn}"), of_then.then_some(anchor)).await;
                if !of_then {
                    fork.return_to(anchor).await;
                }
                assert_eq!(fork.picture().await, *then, "{seed} {turn}");
            }
            _ => {}
        }
    }
    home.close().await;
}

#[tokio::test]
async fn random_timer_histories_return_and_fork_to_recorded_states() {
    for seed in 0..24 {
        live(seed).await;
    }
}

#[tokio::test]
async fn return_to_anchor_restores_hundreds_of_timers() {
    let home = Home::new().await;
    let line = Line::main(&home).await;
    for number in 0..700 {
        home.set_timer(&format!("t{number}"), timer_at(5 + number % 3)).await;
    }
    let anchor = line.anchor().await;
    let then = line.picture().await;
    line.go(10, false).await;
    assert_eq!(line.firings().await.len(), 700);
    line.go(0, true).await;
    assert_eq!(line.picture().await, then);
    line.go(10, false).await;
    line.return_to(&anchor).await;
    assert_eq!(line.picture().await, then);
    let fork = line.fork("fork", None).await;
    assert_eq!(fork.picture().await, then);
    let listed = home.engine.timers(&home.admin, on("fork"), TimerStatus::Armed, (3, None)).await.unwrap();
    assert_eq!(listed.timers.len(), 3);
    home.close().await;
}
