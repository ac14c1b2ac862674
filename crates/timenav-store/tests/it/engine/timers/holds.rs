//! Holds: leases that pause advances without a firing.

use timenav_core::clock::ClockCommand;
use timenav_core::ids::TimerId;
use timenav_core::limits::HOLD_SECONDS_MAX;
use timenav_core::time::Span;
use timenav_core::timers::{AdvanceState, Schedule};
use timenav_engine::{HoldRequest, Idempotency, Refusal, TimerRequest};

use crate::house::{Home, House};
use crate::sample::{digest, moment};

const SECOND: i64 = 1_000_000;

async fn hold(home: &Home<'_>, reason: &str) -> timenav_core::timers::holds::Hold {
    let ttl = Span::from_secs(600).unwrap();
    let request = HoldRequest { timeline: None, lease_id: None, reason: reason.to_owned(), ttl };
    home.engine.hold_advances(&home.admin, request, None).await.unwrap().1
}

/// Runs background work repeatedly.
async fn drive(home: &Home<'_>) {
    for _ in 0..20 {
        home.engine.report_presence().await.unwrap();
        home.engine.keep_time().await;
    }
}

/// The clock does not step while there is a hold. It continues once there is none, and stops after ten minutes.
pub(crate) async fn holds(house: House) {
    let home = house.open().await;
    let (engine, admin) = (&home.engine, &home.admin);
    for command in [ClockCommand::Pause, ClockCommand::Travel { to: moment(0), location: None }] {
        engine.change_clock(admin, None, command, None).await.unwrap();
    }
    // PostgreSQL cannot store text with NUL, so it is rejected beforehand.
    let ttl = Span::from_secs(600).unwrap();
    let unkept = HoldRequest { timeline: None, lease_id: None, reason: "a\0b".to_owned(), ttl };
    let refused = engine.hold_advances(admin, unkept, None).await.unwrap_err();
    assert!(matches!(&refused, Refusal::Invalid { .. }), "{refused}");
    for (name, at) in [("one", 10), ("two", 20)] {
        let schedule = Some(Schedule::At(moment(at * SECOND)));
        let request = TimerRequest { schedule, ..TimerRequest::default() };
        engine.set_timer(admin, None, (Some(TimerId::new(name).unwrap()), request), None).await.unwrap();
    }
    let first = hold(&home, "first").await;
    let second = hold(&home, "second").await;
    assert_eq!(engine.holds(admin, None).await.unwrap().1.len(), 2);
    let travel = |seconds: i64| ClockCommand::Travel { to: moment(seconds * SECOND), location: None };
    let traveled = engine.change_clock(admin, None, travel(15), None).await.unwrap();
    let advance_id = traveled.advance_id.unwrap();
    let timeline = timenav_core::ids::TimelineId::main();
    drive(&home).await;
    let receipt = engine.receipt(&timeline, &advance_id).await.unwrap();
    assert_eq!((receipt.state, receipt.step), (AdvanceState::Running, 0));
    assert!(receipt.held_by.unwrap().contains(" of admin: "));
    // Releasing one of two is not enough.
    engine.release_hold(admin, None, &first.lease_id).await.unwrap();
    drive(&home).await;
    let receipt = engine.receipt(&timeline, &advance_id).await.unwrap();
    assert_eq!((receipt.state, receipt.step), (AdvanceState::Running, 0));
    assert_eq!(receipt.held_by, Some(second.description()));
    engine.release_hold(admin, None, &second.lease_id).await.unwrap();
    assert!(engine.release_hold(admin, None, &second.lease_id).await.is_err());
    drive(&home).await;
    assert_eq!(engine.receipt(&timeline, &advance_id).await.unwrap().state, AdvanceState::Settled);
    // No instant can be held for longer than ten minutes, even with renewals.
    let third = hold(&home, "third").await;
    let traveled = engine.change_clock(admin, None, travel(30), None).await.unwrap();
    drive(&home).await;
    house.pass((HOLD_SECONDS_MAX - 1) * SECOND);
    let longer = HoldRequest {
        timeline: None,
        lease_id: Some(third.lease_id.clone()),
        reason: "third".to_owned(),
        ttl: Span::from_secs(60).unwrap(),
    };
    engine.hold_advances(admin, longer, None).await.unwrap();
    drive(&home).await;
    assert_eq!(
        engine.receipt(&timeline, traveled.advance_id.as_ref().unwrap()).await.unwrap().state,
        AdvanceState::Running
    );
    house.pass(SECOND);
    drive(&home).await;
    let stopped = engine.receipt(&timeline, &traveled.advance_id.unwrap()).await.unwrap();
    assert_eq!((stopped.state, stopped.held_by), (AdvanceState::Stopped, Some(third.description())));
    home.close().await;
}

#[tokio::test]
async fn clock_does_not_step_during_a_hold() {
    Box::pin(holds(House::new())).await;
}

/// A repeated request gets the same response and the same single lease, even after the lease has ended.
#[tokio::test(flavor = "multi_thread")]
async fn repeated_hold_request_creates_one_lease() {
    let house = House::new();
    let home = house.open().await;
    let key = Some(Idempotency { key: digest("a lease"), fingerprint: digest("asked") });
    let hold_request = || HoldRequest {
        timeline: None,
        lease_id: None,
        reason: "first".to_owned(),
        ttl: Span::from_secs(60).unwrap(),
    };
    let at_once = [(); 8].map(|()| {
        let (engine, admin) = (home.engine.clone(), home.admin.clone());
        tokio::spawn(async move { engine.hold_advances(&admin, hold_request(), key).await.unwrap() })
    });
    let mut receipts = Vec::new();
    for one in at_once {
        receipts.push(one.await.unwrap());
    }
    assert_eq!(receipts.iter().filter(|(.., replayed)| !replayed).count(), 1);
    assert!(receipts.iter().all(|(_, hold, _)| *hold == receipts[0].1), "{receipts:?}");
    assert_eq!(home.engine.holds(&home.admin, None).await.unwrap().1.len(), 1);
    home.engine.release_hold(&home.admin, None, &receipts[0].1.lease_id).await.unwrap();
    house.pass(3_600 * SECOND);
    let home = home.reopen().await;
    let (_, hold, replayed) = home.engine.hold_advances(&home.admin, hold_request(), key).await.unwrap();
    assert_eq!((&hold, replayed), (&receipts[0].1, true));
    assert!(home.engine.holds(&home.admin, None).await.unwrap().1.is_empty(), "nothing is held anew");
    home.close().await;
}
