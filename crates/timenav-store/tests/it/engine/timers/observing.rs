//! Firings, as seen by observers that claim none.

use timenav_engine::{FiringUpdate, PENDING_FIRINGS_MAX, WatchFirings};

use crate::engine::*;

fn queue(name: &str) -> QueueId {
    QueueId::new(name).unwrap()
}

async fn set(home: &Home<'_>, name: &str, seconds: i64, to: &str) {
    home.set_timer(name, TimerRequest { deliver: Some(Delivery::Queue(queue(to))), ..timer_at(seconds) }).await;
}

async fn claim(home: &Home<'_>, of: &str, max: usize) -> Vec<FiringId> {
    let claim = Claim { queue: queue(of), ..claim_of(max) };
    firing_ids(&home.engine.claim(&home.admin, None, &claim).await.unwrap())
}

fn named(firing_ids: &[FiringId]) -> FiringsRequest {
    firings(firing_ids.to_vec())
}

async fn observe(home: &Home<'_>, of: Option<&str>, seen: Option<Seen>) -> LedgerStream {
    let watch = WatchFirings { timeline: None, queue: of.map(queue), seen };
    home.engine.watch_firings(&home.admin, watch).await.unwrap()
}

/// Returns the next update, ignoring marks.
async fn next(stream: &mut LedgerStream) -> (String, LedgerMessage) {
    loop {
        let message = stream.next().await.expect("something is told");
        let what = match &message.update {
            LedgerUpdate::Mark => continue,
            LedgerUpdate::Gap => "gap".to_owned(),
            LedgerUpdate::Reset => "reset".to_owned(),
            LedgerUpdate::Firing(firing) => {
                let (row, update) = &**firing;
                let update = match update {
                    FiringUpdate::Offered => "offered",
                    FiringUpdate::Redelivered => "redelivered",
                    FiringUpdate::Leased { attempt, holder, .. } => {
                        assert_eq!((&**holder, *attempt > 0), ("admin", true));
                        "leased"
                    }
                    FiringUpdate::Extended(_) => "extended",
                    FiringUpdate::AttemptEnded(_) => "tried_again",
                    FiringUpdate::Settled(state, _) => state.as_str(),
                };
                format!("{} {update}", row.timer_id)
            }
            other => panic!("{other:?}"),
        };
        return (what, message);
    }
}

async fn all(stream: &mut LedgerStream, expected: &[&str]) -> Vec<LedgerMessage> {
    let mut messages = Vec::new();
    for expected in expected {
        let (what, one) = next(stream).await;
        assert_eq!(&what, expected);
        messages.push(one);
    }
    messages
}

/// Moves the clock, which fires everything due by then.
async fn move_to(home: &Home<'_>, seconds: i64) {
    home.change_clock(None, travel(seconds)).await;
    home.keep_time(20).await;
}

/// An observer of a queue is notified when each firing is offered, claimed, retried and settled, and about no other
/// queue.
async fn firings_are_observed_from_their_offer_to_their_outcome(house: House) {
    let home = house.open().await;
    home.change_clock(None, ClockCommand::Pause).await;
    move_to(&home, 0).await;
    for (name, at, to) in [("one", 10, "work"), ("two", 10, "work"), ("elsewhere", 10, "other"), ("three", 20, "work")]
    {
        set(&home, name, at, to).await;
    }
    let (mut work, mut whole) = (observe(&home, Some("work"), None).await, observe(&home, None, None).await);
    move_to(&home, 15).await;
    let offered = all(&mut work, &["one offered", "two offered"]).await;
    assert_eq!((offered[0].part, offered[0].position), (Some(0), offered[1].position));
    assert_eq!(all(&mut whole, &["one offered", "two offered", "elsewhere offered"]).await[2].part, None);
    let firings = claim(&home, "work", 10).await;
    claim(&home, "other", 10).await;
    home.engine.extend_leases(&home.admin, named(&firings[..1]), Span::from_secs(60).unwrap()).await.unwrap();
    home.engine.acknowledge(&home.admin, named(&firings[..1]), None).await.unwrap();
    home.engine.fail_firings(&home.admin, named(&firings[1..]), None, None).await.unwrap();
    let messages =
        all(&mut work, &["one leased", "two leased", "one extended", "one acknowledged", "two tried_again"]).await;
    assert!(messages.windows(2).all(|two| two[0].position <= two[1].position), "{messages:?}");
    all(&mut whole, &["one leased", "two leased", "elsewhere leased", "one extended", "one acknowledged"]).await;
    // A reconnecting observer continues where it was, and is notified that claims may be missing.
    let seen = Seen { position: offered[0].position, part: Some(0), passed: None, entry: offered[0].entry };
    let mut resumed = observe(&home, Some("work"), Some(seen)).await;
    all(&mut resumed, &["gap", "two offered", "one acknowledged"]).await;
    // The end of a lease is reported too, and finally the outcome.
    let last = loop {
        house.pass(400 * SECOND);
        home.engine.keep_time().await;
        assert_eq!(claim(&home, "work", 10).await, firings[1..]);
        all(&mut work, &["two leased"]).await;
        house.pass(31 * SECOND);
        home.keep_time(1).await;
        let (what, messages) = next(&mut work).await;
        if what != "two tried_again" {
            break (what, messages);
        }
    };
    assert_eq!(last.0, "two failed");
    assert!(matches!(&last.1.update, LedgerUpdate::Firing(messages)
        if matches!(&messages.1, FiringUpdate::Settled(FiringState::Failed, Some(reason)) if reason.contains("in time"))));
    let failed = firings[1].clone();
    home.engine.redeliver(&home.admin, None, failed, None).await.unwrap();
    all(&mut work, &["two redelivered"]).await;
    // The clock goes back, and times recur.
    home.change_clock(None, ClockChange { refire: true, ..travel(5).into() }).await;
    all(&mut work, &["two superseded"]).await;
    drop((work, whole, resumed));
    home.close().await;
}

/// A slow reader is notified that claims are missing, and delays no one.
async fn slow_observer_is_notified_of_missed_firings(house: House) {
    let home = house.open().await;
    home.change_clock(None, ClockCommand::Pause).await;
    move_to(&home, 0).await;
    set(&home, "one", 10, "work").await;
    let mut slow = observe(&home, None, None).await;
    move_to(&home, 15).await;
    all(&mut slow, &["one offered"]).await;
    let firings = claim(&home, "work", 1).await;
    for _ in 0..PENDING_FIRINGS_MAX {
        home.engine.extend_leases(&home.admin, named(&firings), Span::from_secs(60).unwrap()).await.unwrap();
    }
    home.engine.acknowledge(&home.admin, named(&firings), None).await.unwrap();
    all(&mut slow, &["gap", "one acknowledged"]).await;
    drop(slow);
    home.close().await;
}

on_each_store![firings_are_observed_from_their_offer_to_their_outcome, slow_observer_is_notified_of_missed_firings,];
