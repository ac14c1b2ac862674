//! Timers whose firings record events on their timeline.

use timenav_engine::Receipt;

use crate::engine::*;

fn jump(seconds: i64) -> ClockChange {
    ClockChange { settle: false, ..travel(seconds).into() }
}

fn recording(schedule: Schedule, description: &str) -> TimerRequest {
    let event = EventDraft { name: Some("told".to_owned()), ..EventDraft::at(Instant::EPOCH, description) };
    TimerRequest {
        schedule: Some(schedule),
        deliver: Some(Delivery::Timeline(Arc::new(event))),
        ..TimerRequest::default()
    }
}

/// An event in effect: its time in seconds, its id, its description and its source.
type RecordedFields = (i64, String, String, String);

struct Line<'a> {
    home: &'a Home<'a>,
    id: TimelineId,
}

impl<'a> Line<'a> {
    /// Returns `main`, with its clock paused at 0.
    async fn main(home: &'a Home<'a>) -> Self {
        let line = Self { home, id: TimelineId::main() };
        line.go(ClockChange::from(ClockCommand::Pause)).await;
        line.go(jump(0)).await;
        line
    }

    /// Moves the clock, and runs all background work. Returns the advance, if there is one.
    async fn go(&self, change: ClockChange) -> Option<AdvanceId> {
        let (engine, admin) = (&self.home.engine, &self.home.admin);
        let step = engine.change_clock(admin, Some(self.id.clone()), change, None).await.unwrap();
        engine.keep_time().await;
        step.advance_id
    }

    async fn receipt(&self, seconds: i64) -> Receipt {
        let advance_id = self.go(travel(seconds).into()).await.expect("timers are passed");
        self.home.engine.receipt(&self.id, &advance_id).await.unwrap()
    }

    async fn set_as(&self, caller: &Caller, name: &str, request: TimerRequest) -> Result<(), Refusal> {
        let named = (Some(TimerId::new(name).unwrap()), request);
        self.home.engine.set_timer(caller, Some(self.id.clone()), named, None).await.map(|_| ())
    }

    async fn set(&self, name: &str, request: TimerRequest) {
        self.set_as(&self.home.admin, name, request).await.unwrap();
        self.home.engine.keep_time().await;
    }

    async fn events(&self) -> Vec<RecordedFields> {
        let mut events = Vec::new();
        let mut cursor = None;
        loop {
            let request = MonitorEvents { cursor, ..every_event(Some(self.id.clone())) };
            let page = self.home.engine.monitor_events(&self.home.admin, request).await.unwrap();
            let recorded = |event: &timenav_engine::StoredEvent| {
                let content: serde_json::Value = serde_json::from_str(&event.content).unwrap();
                let text = |field: &str| content[field].as_str().unwrap_or_default().to_owned();
                (event.time.micros() / SECOND, text("event_id"), text("description"), text("source"))
            };
            events.extend(page.events.iter().map(recorded));
            cursor = page.next_cursor;
            if cursor.is_none() {
                return events;
            }
        }
    }

    async fn firings(&self) -> Vec<FiringRow> {
        let key = self.home.key(&self.id).await;
        self.home.store.timer_rows(key, TimerQuery::FiringsAfter(None, 10_000)).await.unwrap().firings
    }

    /// Returns the times of events, in seconds, after checking that each belongs to one firing, and that each firing is
    /// done.
    async fn moments(&self) -> Vec<i64> {
        let (events, firings) = (self.events().await, self.firings().await);
        let ids: BTreeSet<&str> = events.iter().map(|(_, id, ..)| id.as_str()).collect();
        assert_eq!(ids.len(), events.len(), "an event is there twice");
        for firing in &firings {
            assert_eq!(firing.state, FiringState::Acknowledged, "{firing:?}");
            assert!(ids.contains(firing.firing_id.as_str()), "{firing:?}");
        }
        events.iter().map(|(time, ..)| *time).collect()
    }
}

#[tokio::test]
async fn recorded_firings_become_events_without_a_worker() {
    let home = Home::new().await;
    let line = Line::main(&home).await;
    line.set("single", recording(once(5), "once")).await;
    line.set("rule", recording(every(10, Misfire::All), "again")).await;
    line.set("work", timer_at(5)).await;
    let receipt = line.receipt(30).await;
    assert_eq!((receipt.state, receipt.reached, receipt.step), (AdvanceState::Settled, at(30), 4));
    assert_eq!(receipt.counts, Counts { fired: 5, acknowledged: 4, failed: 0 });
    let found: Vec<(i64, String, String)> =
        line.events().await.into_iter().map(|(time, _, description, source)| (time, description, source)).collect();
    let again = |time: i64| (time, "again".to_owned(), "timer:rule".to_owned());
    assert_eq!(found, [(5, "once".to_owned(), "timer:single".to_owned()), again(10), again(20), again(30)]);
    // A timer that was overdue when it was set records its event at its own time.
    line.set("late", recording(once(12), "late")).await;
    assert!(line.events().await.iter().any(|(time, _, description, _)| (*time, description.as_str()) == (12, "late")));
    // There is nothing to claim, and no queue has its name.
    let queue = QueueId::of_timeline();
    let claim = Claim { queue: queue.clone(), max: 10, ttl: Span::from_secs(30).unwrap(), waits: false };
    assert!(home.engine.claim(&home.admin, None, &claim).await.unwrap().is_empty());
    let request = TimerRequest { deliver: Some(Delivery::Queue(queue)), ..recording(once(90), "") };
    let refused = line.set_as(&home.admin, "queue", request).await;
    assert!(matches!(&refused, Err(Refusal::Invalid { field, .. }) if field == "deliver/queue"), "{refused:?}");
    let home = home.reopen().await;
    let lines = home.close().await;
    // The recorded event is an entry at the clock's time.
    let recorded = lines.iter().filter(|entry| entry.action == "record_event" && entry.timeline == "main");
    let at_clock: Vec<(&str, &str)> =
        recorded.map(|entry| (entry.actor.as_str(), entry.clock_time.get(..19).unwrap())).collect();
    let at_second = |second: &'static str| ("system", second);
    assert_eq!(
        at_clock,
        [
            at_second("1970-01-01T00:00:05"),
            at_second("1970-01-01T00:00:10"),
            at_second("1970-01-01T00:00:20"),
            at_second("1970-01-01T00:00:30"),
            at_second("1970-01-01T00:00:30"),
        ]
    );
}

/// Several decisions record events at once, in an advance and after a jump.
#[tokio::test]
async fn thousands_of_firings_are_each_recorded_once() {
    const TO: i64 = 1_300;
    let home = Home::new().await;
    let line = Line::main(&home).await;
    line.set("each", recording(every(1, Misfire::All), "tick")).await;
    line.set("last", recording(every(7, Misfire::Once), "last")).await;
    line.set("never", recording(every(7, Misfire::Skip), "never")).await;
    line.go(jump(TO)).await;
    // 1,295 is the last multiple of seven.
    let mut expected: Vec<i64> = (1..=TO).chain([1_295]).collect();
    expected.sort_unstable();
    assert_eq!(line.moments().await, expected);
    let receipt = line.receipt(2 * TO).await;
    let sevens = (TO + 1..=2 * TO).filter(|second| second % 7 == 0);
    let more: Vec<i64> = (TO + 1..=2 * TO).chain(sevens.clone()).chain(sevens).collect();
    let fired = more.len() as u64;
    assert_eq!(receipt.counts, Counts { fired, acknowledged: fired, failed: 0 });
    expected.extend(more);
    expected.sort_unstable();
    assert_eq!(line.moments().await, expected);
    // A fast clock: timers that become due during a lookup follow.
    line.go(ClockChange::from(ClockCommand::Resume)).await;
    home.house.pass(40 * SECOND);
    home.engine.keep_time().await;
    let last = line.moments().await.pop();
    assert!(last.is_some_and(|last| last >= 2 * TO + 39), "{last:?}");
    home.close().await;
}

/// Events are not recorded without a valid permission, and existing events are not overwritten.
#[tokio::test]
async fn disallowed_recording_fails_with_a_reason() {
    let home = Home::new().await;
    let line = Line::main(&home).await;
    let bob = home.user("bob", false).await;
    let permit = async |write| {
        let change = PermissionsChange { write: Some(write), ..PermissionsChange::default() };
        home.engine.set_access_control(&home.admin, line.id.clone(), change, None).await.unwrap();
    };
    permit(users(["bob"])).await;
    line.set_as(&bob, "bobs", recording(once(5), "by bob")).await.unwrap();
    line.set("taken", recording(once(7), "by the timer")).await;
    permit(BTreeSet::new()).await;
    // A client that knows the next id may have recorded something with it.
    let before = line.receipt(5).await.firings;
    let reason = before[0].reason.clone().unwrap();
    assert_eq!(before[0].state, FiringState::Failed);
    assert!(reason.starts_with("permission: `bob`"), "{reason}");
    let key = home.key(&line.id).await;
    let named = TimerQuery::Named(TimerId::new("taken").unwrap());
    let position = home.store.timer_rows(key, named).await.unwrap().timers[0].position;
    let due_firing = timenav_core::timers::DueFiring { due: at(7), position, round: 0 };
    let taken = due_firing.firing_id(&line.id);
    let other = EventDraft { event_id: Some(event_id(taken.as_str())), ..EventDraft::at(at(1), "by somebody") };
    home.record_events(Some(line.id.clone()), vec![other]).await;
    let receipt = line.receipt(8).await;
    assert_eq!(receipt.counts, Counts { fired: 1, acknowledged: 0, failed: 1 });
    let reason = receipt.firings[0].reason.clone().unwrap();
    assert!(reason.starts_with("event_exists") && reason.contains(taken.as_str()), "{reason}");
    let descriptions: Vec<String> = line.events().await.into_iter().map(|(_, _, description, _)| description).collect();
    assert_eq!(descriptions, ["by somebody"]);
    home.close().await;
}

#[tokio::test]
async fn repeated_firing_is_recorded_under_another_id() {
    let home = Home::new().await;
    let line = Line::main(&home).await;
    line.set("rule", recording(every(10, Misfire::All), "again")).await;
    line.receipt(10).await;
    let anchor = home.set_anchor(Some(line.id.clone())).await;
    line.receipt(30).await;
    let first = line.events().await;
    let times = |events: &[RecordedFields]| events.iter().map(|(time, ..)| *time).collect::<Vec<_>>();
    assert_eq!(times(&first), [10, 20, 30]);
    // After the clock goes back, recorded events stay, and recurring firings record additional ones.
    line.go(ClockChange { refire: true, ..travel(15).into() }).await;
    line.receipt(30).await;
    let second = line.events().await;
    assert_eq!(times(&second), [10, 20, 20, 30, 30]);
    // A return of the history undoes later recorded events like all others.
    let scope = ReturnScope::All;
    home.engine.return_to_anchor(&home.admin, Some(line.id.clone()), &anchor, scope, None).await.unwrap();
    home.engine.keep_time().await;
    assert_eq!(times(&line.events().await), [10]);
    line.receipt(30).await;
    let third = line.events().await;
    assert_eq!(times(&third), [10, 20, 30]);
    let ids = |events: &[RecordedFields]| events[1..].iter().map(|(_, id, ..)| id.clone()).collect::<BTreeSet<_>>();
    assert!(ids(&second).is_disjoint(&ids(&third)));
    // A fork records on its own, whoever creates it.
    let bob = home.user("bob", false).await;
    let change = readers(["bob"]);
    home.engine.set_access_control(&home.admin, line.id.clone(), change, None).await.unwrap();
    home.engine.fork_timeline(&bob, timeline_id("fork"), &line.id, None, None).await.unwrap();
    let fork = Line { home: &home, id: timeline_id("fork") };
    let receipt = fork.receipt(50).await;
    assert_eq!(receipt.counts, Counts { fired: 2, acknowledged: 2, failed: 0 });
    let forked = fork.events().await;
    assert_eq!(times(&forked), [10, 20, 30, 40, 50]);
    line.receipt(50).await;
    let there = line.events().await;
    assert_eq!((times(&there), &there[..3]), (times(&forked), &forked[..3]));
    assert!(ids(&there[3..]).is_disjoint(&ids(&forked[3..])));
    // A fork created between a firing and its event has neither, and nothing pending.
    let lines = home.lines().await;
    let fired = lines.iter().rfind(|entry| entry.timeline == "main" && entry.action == "fire_timers");
    let at = AsOf::Position(fired.unwrap().seq);
    home.engine.fork_timeline(&home.admin, timeline_id("between"), &line.id, Some(&at), None).await.unwrap();
    let between = Line { home: &home, id: timeline_id("between") };
    home.engine.keep_time().await;
    assert_eq!((times(&between.events().await), between.firings().await.len()), (vec![10, 20, 30, 40], 0));
    home.close().await;
}

/// After the last acknowledgment the clock can be changed without waiting for the timekeeper.
#[tokio::test]
async fn clock_can_move_after_the_last_acknowledgment() {
    let home = Home::new().await;
    let line = Line::main(&home).await;
    for second in [5, 6] {
        let request = timer_at(second);
        line.set(&format!("at-{second}"), request).await;
    }
    let claim = |max| Claim { queue: QueueId::unnamed(), max, ttl: Span::from_secs(30).unwrap(), waits: false };
    // Registers a listener.
    assert!(home.engine.claim(&home.admin, None, &claim(1)).await.unwrap().is_empty());
    let advance_id = line.go(travel(10).into()).await.expect("timers are passed");
    for _ in 0..2 {
        let change = home.engine.change_clock(&home.admin, None, travel(20), None).await;
        assert!(matches!(&change, Err(Refusal::AdvanceInProgress { .. })), "{change:?}");
        home.engine.keep_time().await;
        let claimed = home.engine.claim(&home.admin, None, &claim(1)).await.unwrap();
        let firing_ids = vec![claimed[0].firing.firing_id.clone()];
        let request = firings(firing_ids);
        home.engine.acknowledge(&home.admin, request, None).await.unwrap();
    }
    // The timekeeper has not run since.
    let step = home.change_clock(None, travel(20)).await;
    assert_eq!((step.view.current_time, step.advance_id), (at(20), None));
    let receipt = home.engine.receipt(&line.id, &advance_id).await.unwrap();
    assert_eq!((receipt.state, receipt.reached), (AdvanceState::Settled, at(10)));
    assert_eq!(receipt.counts, Counts { fired: 2, acknowledged: 2, failed: 0 });
    home.close().await;
}
