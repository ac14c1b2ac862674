//! Holds: leases that pause advances without a firing.

use timenav_core::limits::HOLD_SECONDS_MAX;

use crate::engine::*;

async fn hold(home: &Home<'_>, reason: &str) -> timenav_core::timers::holds::Hold {
    home.engine.hold_advances(&home.admin, hold_for(600, reason), None).await.unwrap().1
}

/// The clock does not step while there is a hold. It continues once there is none, and stops after ten minutes.
async fn clock_does_not_step_during_a_hold(house: House) {
    let home = house.open().await;
    let (engine, admin) = (&home.engine, &home.admin);
    home.pause_at_epoch().await;
    // PostgreSQL cannot store text with NUL, so it is rejected beforehand.
    let refused = engine.hold_advances(admin, hold_for(600, "a\0b"), None).await.unwrap_err();
    assert!(matches!(&refused, Refusal::Invalid { .. }), "{refused}");
    for (name, at) in [("one", 10), ("two", 20)] {
        home.set_timer(name, timer_at(at)).await;
    }
    let first = hold(&home, "first").await;
    let second = hold(&home, "second").await;
    assert_eq!(engine.holds(admin, None).await.unwrap().1.len(), 2);
    let traveled = engine.change_clock(admin, None, travel(15), None).await.unwrap();
    let advance_id = traveled.advance_id.unwrap();
    let timeline = timenav_core::ids::TimelineId::main();
    home.keep_time(20).await;
    let receipt = engine.receipt(&timeline, &advance_id).await.unwrap();
    assert_eq!((receipt.state, receipt.step), (AdvanceState::Running, 0));
    assert!(receipt.held_by.unwrap().contains(" of admin: "));
    // Releasing one of two is not enough.
    engine.release_hold(admin, None, &first.lease_id).await.unwrap();
    home.keep_time(20).await;
    let receipt = engine.receipt(&timeline, &advance_id).await.unwrap();
    assert_eq!((receipt.state, receipt.step), (AdvanceState::Running, 0));
    assert_eq!(receipt.held_by, Some(second.description()));
    engine.release_hold(admin, None, &second.lease_id).await.unwrap();
    assert!(engine.release_hold(admin, None, &second.lease_id).await.is_err());
    home.keep_time(20).await;
    assert_eq!(engine.receipt(&timeline, &advance_id).await.unwrap().state, AdvanceState::Settled);
    // No instant can be held for longer than ten minutes, even with renewals.
    let third = hold(&home, "third").await;
    let traveled = engine.change_clock(admin, None, travel(30), None).await.unwrap();
    home.keep_time(20).await;
    house.pass((HOLD_SECONDS_MAX - 1) * SECOND);
    let longer = HoldRequest { lease_id: Some(third.lease_id.clone()), ..hold_for(60, "third") };
    engine.hold_advances(admin, longer, None).await.unwrap();
    home.keep_time(20).await;
    let advance_id = traveled.advance_id.unwrap();
    assert_eq!(engine.receipt(&timeline, &advance_id).await.unwrap().state, AdvanceState::Running);
    house.pass(SECOND);
    home.keep_time(20).await;
    let stopped = engine.receipt(&timeline, &advance_id).await.unwrap();
    assert_eq!((stopped.state, stopped.held_by), (AdvanceState::Stopped, Some(third.description())));
    home.close().await;
}

on_each_store![clock_does_not_step_during_a_hold];

/// A repeated request gets the same response and the same single lease, even after the lease has ended.
#[tokio::test(flavor = "multi_thread")]
async fn repeated_hold_request_creates_one_lease() {
    let home = Home::new().await;
    let key = idempotent("a lease", "asked");
    let hold_request = || hold_for(60, "first");
    let at_once = [(); 8].map(|()| {
        home.spawn(move |engine, admin| async move { engine.hold_advances(&admin, hold_request(), key).await.unwrap() })
    });
    let mut receipts = Vec::new();
    for one in at_once {
        receipts.push(one.await.unwrap());
    }
    assert_eq!(receipts.iter().filter(|(.., replayed)| !replayed).count(), 1);
    assert!(receipts.iter().all(|(_, hold, _)| *hold == receipts[0].1), "{receipts:?}");
    assert_eq!(home.engine.holds(&home.admin, None).await.unwrap().1.len(), 1);
    home.engine.release_hold(&home.admin, None, &receipts[0].1.lease_id).await.unwrap();
    home.house.pass(3_600 * SECOND);
    let home = home.reopen().await;
    let (_, hold, replayed) = home.engine.hold_advances(&home.admin, hold_request(), key).await.unwrap();
    assert_eq!((&hold, replayed), (&receipts[0].1, true));
    assert!(home.engine.holds(&home.admin, None).await.unwrap().1.is_empty(), "nothing is held again");
    home.close().await;
}
