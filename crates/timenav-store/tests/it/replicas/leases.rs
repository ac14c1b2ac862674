//! Firings at two services on one database: each is leased to one worker, regardless of the service; an advance waits
//! for workers at either; and a suspended service does nothing that another one has taken over.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;
use timenav_core::ids::{FiringId, QueueId};
use timenav_engine::{Claim, ClaimedFiring, FiringsRequest};

use crate::replicas::*;

/// Timeout for all waits.
const PATIENCE: HostDuration = HostDuration::from_mins(1);
/// Interval in which an engine is told that time has passed.
const EVERY: HostDuration = HostDuration::from_millis(20);

/// Acts as the timekeeper of an engine, like the program does, until dropped.
struct Keeping(JoinHandle<()>);

impl Keeping {
    /// One of them also advances the house's clock.
    fn start(home: &Home<'_>, moves_clock: bool) -> Self {
        let (engine, clock) = (home.engine.clone(), Arc::clone(&home.house.clock));
        Self(tokio::spawn(async move {
            loop {
                if moves_clock {
                    clock.advance(i64::try_from(EVERY.as_micros()).unwrap());
                }
                engine.report_presence().await.unwrap();
                engine.keep_time().await;
                let _ = timeout(EVERY, std::future::pending::<()>()).await;
                engine.catch_up_all().await.unwrap();
            }
        }))
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(super) fn asking(max: usize, ttl_seconds: i64, waits: bool) -> Claim {
    Claim { queue: QueueId::unnamed(), max, ttl: Span::from_secs(ttl_seconds).unwrap(), waits }
}

/// Returns a timer for a time in microseconds.
pub(super) fn timer_in_micros(at: i64) -> TimerRequest {
    TimerRequest { schedule: Some(Schedule::At(moment(at))), ..TimerRequest::default() }
}

/// Repeats a claim until it returns something.
pub(super) async fn claimed(engine: &Engine, caller: &Caller, ttl_seconds: i64) -> Vec<ClaimedFiring> {
    let claim = asking(10, ttl_seconds, true);
    timeout(PATIENCE, engine.claim(caller, None, &claim)).await.expect("something comes").unwrap()
}

pub(super) async fn acknowledge(engine: &Engine, caller: &Caller, firing_ids: Vec<FiringId>) -> Vec<FiringState> {
    let request = firings(firing_ids);
    let answer = engine.acknowledge(caller, request, None).await.unwrap();
    answer.firings.into_iter().map(|(_, state)| state).collect()
}

/// The firings currently held, and how often each was claimed.
#[derive(Default)]
struct Hands {
    held: HashMap<FiringId, &'static str>,
    times: BTreeMap<FiringId, u32>,
    done: usize,
}

/// Claims, waits a moment, and acknowledges through the other service. Every fifth attempt fails once.
async fn work(one: (Engine, &'static str), other: Engine, caller: Caller, hands: Arc<Mutex<Hands>>, count: usize) {
    let (engine, name) = one;
    while hands.lock().done < count {
        let claim = asking(3, 30, true);
        let claiming = timeout(HostDuration::from_millis(200), engine.claim(&caller, None, &claim));
        let Ok(found) = claiming.await else { continue };
        for claimed in found.unwrap() {
            let firing_id = claimed.firing.firing_id.clone();
            let times = {
                let mut hands = hands.lock();
                let before = hands.held.insert(firing_id.clone(), name);
                assert_eq!(before, None, "{firing_id} was given to a worker at {name}, and somebody has it");
                let times = hands.times.entry(firing_id.clone()).or_default();
                *times += 1;
                assert_eq!(claimed.attempt, *times, "{firing_id}");
                *times
            };
            tokio::task::yield_now().await;
            let fails = times == 1 && firing_id.as_str().ends_with(['a', 'b', 'c', 'd', 'e']);
            let request = firings(vec![firing_id.clone()]);
            hands.lock().held.remove(&firing_id);
            if fails {
                other.fail_firings(&caller, request, Some("not yet".to_owned()), None).await.unwrap();
            } else {
                let states = acknowledge(&other, &caller, vec![firing_id]).await;
                assert_eq!(states, [FiringState::Acknowledged]);
                hands.lock().done += 1;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn firing_is_leased_by_one_replica_at_a_time() {
    const COUNT: usize = 40;
    let (left, right) = pair().await;
    left.pause_at_epoch().await;
    for number in 0..COUNT {
        left.set_timer(&format!("t{number}"), timer_in_micros(-1 - i64::try_from(number).unwrap())).await;
    }
    let keeping = [Keeping::start(&left, true), Keeping::start(&right, false)];
    let hands = Arc::<Mutex<Hands>>::default();
    let mut workers = Vec::new();
    for number in 0..8 {
        let (one, other) = if number % 2 == 0 { (&left, &right) } else { (&right, &left) };
        let name = if number % 2 == 0 { "left" } else { "right" };
        let (one, other) = ((one.engine.clone(), name), other.engine.clone());
        workers.push(tokio::spawn(work(one, other, left.admin.clone(), Arc::clone(&hands), COUNT)));
    }
    for worker in workers {
        timeout(PATIENCE, worker).await.expect("all is done in time").unwrap();
    }
    let (done, claimed) = {
        let hands = hands.lock();
        (hands.done, hands.times.len())
    };
    assert_eq!((done, claimed), (COUNT, COUNT));
    drop(keeping);
    end([left, right]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn advance_waits_for_a_worker_of_another_replica() {
    let (left, right) = pair().await;
    left.pause_at_epoch().await;
    for number in 1..=5 {
        left.set_timer(&format!("t{number}"), timer_in_micros(number * 1_000_000)).await;
    }
    let keeping = [Keeping::start(&left, true), Keeping::start(&right, false)];
    let is_listening = Arc::<AtomicBool>::default();
    let (engine, caller) = (right.engine.clone(), right.admin.clone());
    let listening = Arc::clone(&is_listening);
    let worker = tokio::spawn(async move {
        let none = engine.claim(&caller, None, &asking(1, 30, false)).await.unwrap();
        assert!(none.is_empty());
        listening.store(true, Ordering::SeqCst);
        let mut dues = Vec::new();
        while dues.len() < 5 {
            for one in claimed(&engine, &caller, 30).await {
                let current_time = engine.read_clock(&caller, None).await.unwrap().current_time;
                assert_eq!(current_time, one.firing.due_firing.due, "the clock waits for whoever has the firing");
                dues.push(one.firing.due_firing.due.micros());
                acknowledge(&engine, &caller, vec![one.firing.firing_id]).await;
            }
        }
        dues
    });
    while !is_listening.load(Ordering::SeqCst) {
        let _ = timeout(EVERY, std::future::pending::<()>()).await;
    }
    let to = ClockCommand::Travel { to: moment(10_000_000), location: None };
    let step = left.change_clock(None, to).await;
    let advance = step.advance_id.expect("timers are on the way");
    let main = left.admin.timeline(None);
    timeout(PATIENCE, left.engine.until_settled(&main, &advance)).await.expect("it is settled in time");
    let receipt = left.engine.receipt(&main, &advance).await.unwrap();
    assert_eq!(receipt.state, AdvanceState::Settled, "{receipt:?}");
    assert_eq!((receipt.counts.fired, receipt.counts.acknowledged, receipt.counts.unheard()), (5, 5, 0));
    assert_eq!(worker.await.unwrap(), [1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000]);
    // Exactly one of them is the timekeeper of the timeline.
    let stored = [&left, &right].map(|home| home.engine.replica().unwrap().timekeeping.unwrap().timelines);
    assert!(stored.iter().sum::<u64>() <= 1, "{stored:?}");
    drop(keeping);
    end([left, right]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn abandoned_firing_is_offered_again_by_the_other_replica() {
    let (left, right) = pair().await;
    left.pause_at_epoch().await;
    left.set_timer("late", timer_in_micros(-1)).await;
    let keeping = [Keeping::start(&left, true), Keeping::start(&right, false)];
    let first = claimed(&right.engine, &right.admin, 8).await;
    assert_eq!((first.len(), first[0].attempt), (1, 1));
    // It is extended through the other service, and then abandoned.
    let request = firings(firing_ids(&first));
    let (_, extended) = left.engine.extend_leases(&left.admin, request, Span::from_secs(8).unwrap()).await.unwrap();
    assert!(extended[0].1.is_some(), "{extended:?}");
    assert!(left.engine.claim(&left.admin, None, &asking(1, 30, false)).await.unwrap().is_empty());
    let again = claimed(&left.engine, &left.admin, 30).await;
    assert_eq!((firing_ids(&again), again[0].attempt), (firing_ids(&first), 2));
    // The previous worker uses its old lease, but the firing now belongs to the other one.
    let old = || {
        let lease_ids = first.iter().map(|one| one.lease_id.clone()).collect();
        FiringsRequest { timeline: None, firing_ids: firing_ids(&first), lease_ids: Some(lease_ids) }
    };
    for engine in [&left.engine, &right.engine] {
        let refused = engine.acknowledge(&right.admin, old(), None).await.unwrap_err();
        assert!(matches!(refused, Refusal::LeaseLost { .. }), "{refused}");
        let refused = engine.fail_firings(&right.admin, old(), None, None).await.unwrap_err();
        assert!(matches!(refused, Refusal::LeaseLost { .. }), "{refused}");
        let (_, extended) = engine.extend_leases(&right.admin, old(), Span::from_secs(8).unwrap()).await.unwrap();
        assert_eq!(extended[0].1, None);
    }
    // Both acknowledge it as the same user. There is one outcome.
    assert_eq!(acknowledge(&left.engine, &left.admin, firing_ids(&again)).await, [FiringState::Acknowledged]);
    let before = right.size("main").await;
    assert_eq!(acknowledge(&right.engine, &right.admin, firing_ids(&first)).await, [FiringState::Acknowledged]);
    assert_eq!(right.size("main").await, before, "there is no second outcome");
    assert!(right.engine.claim(&right.admin, None, &asking(1, 30, false)).await.unwrap().is_empty());
    drop(keeping);
    end([left, right]).await;
}

/// A client waits for firings and disconnects before they arrive: no one has them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn firings_claimed_for_a_disconnected_client_are_released() {
    let (left, right) = pair().await;
    left.pause_at_epoch().await;
    let keeping = [Keeping::start(&left, true), Keeping::start(&right, false)];
    for number in 0..30 {
        left.set_timer(&format!("t{number}"), timer_in_micros(-1 - number)).await;
        // It is dropped at an arbitrary point.
        let claim = asking(10, 600, true);
        let claiming = right.engine.claim(&right.admin, None, &claim);
        let broken_off = timeout(HostDuration::from_micros(u64::try_from(number * 700).unwrap()), claiming).await;
        if let Ok(found) = broken_off {
            acknowledge(&right.engine, &right.admin, firing_ids(&found.unwrap())).await;
        }
    }
    let is_done = async || {
        let heads = left.store.open().await.unwrap().heads;
        let main = heads.into_iter().find(|head| head.id.as_str() == "main").unwrap();
        main.timers.pending == 0 && main.timers.next.is_none()
    };
    for _ in 0..30 {
        if is_done().await {
            break;
        }
        let claim = asking(10, 600, true);
        let claiming = timeout(HostDuration::from_secs(2), left.engine.claim(&left.admin, None, &claim));
        let Ok(found) = claiming.await else { continue };
        let found = found.unwrap();
        assert!(found.iter().all(|one| one.attempt == 1), "an attempt that nobody was told of does not count");
        acknowledge(&left.engine, &left.admin, firing_ids(&found)).await;
    }
    assert!(is_done().await, "somebody who is gone has them");
    drop(keeping);
    end([left, right]).await;
}

/// A claim is dropped after its result has arrived, and before it is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn unread_claims_are_released() {
    let (left, right) = pair().await;
    left.pause_at_epoch().await;
    let keeping = [Keeping::start(&left, true), Keeping::start(&right, false)];
    let claim = asking(10, 600, true);
    let mut polls = 0;
    loop {
        polls += 1;
        left.set_timer(&format!("t{polls}"), timer_in_micros(-1)).await;
        right.engine.catch_up_all().await.unwrap();
        let mut claiming = Box::pin(right.engine.claim(&right.admin, None, &claim));
        let mut found = None;
        for _ in 0..polls {
            found = tokio::select! {
                biased;
                found = &mut claiming => Some(found),
                () = std::future::ready(()) => None,
            };
            if found.is_some() {
                break;
            }
            // What the poll has begun ends unread.
            let _ = timeout(EVERY * 2, std::future::pending::<()>()).await;
        }
        drop(claiming);
        if let Some(found) = found {
            assert_eq!(acknowledge(&right.engine, &right.admin, firing_ids(&found.unwrap())).await.len(), 1);
            break;
        }
        let found = timeout(PATIENCE, left.engine.claim(&left.admin, None, &claim)).await;
        let found = found.unwrap_or_else(|_| panic!("the firing stays leased after {polls} polls")).unwrap();
        assert_eq!(acknowledge(&left.engine, &left.admin, firing_ids(&found)).await.len(), 1);
    }
    drop(keeping);
    end([left, right]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn paused_timekeeper_writes_nothing_under_its_old_epoch() {
    let (left, right) = pair().await;
    left.pause_at_epoch().await;
    left.set_timer("far", timer_in_micros(1_000_000_000_000)).await;
    left.keep_time(1).await;
    let timelines = |home: &Home<'_>| home.engine.replica().unwrap().timekeeping.unwrap().timelines;
    right.engine.catch_up_all().await.unwrap();
    right.keep_time(1).await;
    assert_eq!((timelines(&left), timelines(&right)), (1, 0), "one of them keeps the time");
    // One is suspended until its time is over, and the other one takes over.
    execute(&left.house.database(), "UPDATE services SET until = 0");
    right.keep_time(1).await;
    assert_eq!((timelines(&left), timelines(&right)), (1, 1), "the first one does not know yet");
    assert_eq!(right.engine.replica().unwrap().timekeeping.unwrap().takeovers, 1);
    // A timer becomes due, and the service that wakes up would fire it.
    right.set_timer("now", timer_in_micros(-1)).await;
    left.engine.catch_up_all().await.unwrap();
    let before = right.size("main").await;
    left.engine.keep_time().await;
    assert_eq!(right.size("main").await, before, "it wrote although another one keeps the time");
    assert_eq!(timelines(&left), 0);
    right.engine.keep_time().await;
    assert_eq!(right.size("main").await, before + 1);
    end([left, right]).await;
}

/// The owner of the database can cause a firing to be repeated or delayed. It still has one outcome, and does not fail
/// without an attempt.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tampered_lease_rows_at_most_repeat_or_delay_firings() {
    let (left, right) = pair().await;
    left.pause_at_epoch().await;
    let keeping = [Keeping::start(&left, true), Keeping::start(&right, false)];
    let far = "9000000000000000";
    for (number, statement) in [
        "DELETE FROM firing_leases".to_owned(),
        "TRUNCATE services, timekeepers, listeners, firing_leases".to_owned(),
        format!("UPDATE firing_leases SET until = {far}, attempts = 2000000000"),
        format!("UPDATE firing_leases SET until = NULL, not_before = {far}, holder = '', code = ''"),
        "UPDATE firing_leases SET until = 1, attempts = -7, queue = 'n/one', code = '\\x00'".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        left.set_timer(&format!("t{number}"), timer_in_micros(-1)).await;
        let first = claimed(&right.engine, &right.admin, 600).await;
        execute(&left.house.database(), &statement);
        let again = claimed(&left.engine, &left.admin, 600).await;
        assert_eq!(firing_ids(&again), firing_ids(&first), "{statement}");
        assert!(again[0].attempt <= 2, "{statement}: {}", again[0].attempt);
        for engine in [&left.engine, &right.engine] {
            assert_eq!(
                acknowledge(engine, &left.admin, firing_ids(&first)).await,
                [FiringState::Acknowledged],
                "{statement}"
            );
        }
    }
    drop(keeping);
    end([left, right]).await;
}
