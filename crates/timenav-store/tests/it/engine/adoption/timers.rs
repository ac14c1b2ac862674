//! Timers of timelines that go over from one house to another.

use std::sync::Arc;

use rusqlite::Connection;
use serde_json::Value;
use timenav_core::clock::ClockCommand;
use timenav_core::event::EventDraft;
use timenav_core::time::{Instant, Span};
use timenav_core::timers::{AdvanceState, FiringState};
use timenav_engine::{ClockChange, Delivery, HoldRequest, WallClock as _, WebhookTarget};
use zeroize::Zeroizing;

use super::forks::{bundle, lines};
use super::{NAME, adopt, another_house, export, make};
use crate::cluster;
use crate::engine::timers_again::{Line, at, every, once};
use crate::house::{House, on};
use crate::sample::timeline_id;
use crate::tampering::{clean, evidence};

fn hook() -> Delivery {
    let secret = Some(Zeroizing::new("whsec_c2VjcmV0".to_owned()));
    Delivery::Webhook(WebhookTarget { url: "https://shop.test/hook".to_owned(), secret })
}

/// A fork with timers of each kind, an advance on its way, and firings in flight goes on at another house.
#[expect(clippy::too_many_lines, reason = "the story of one timeline")]
pub(crate) async fn go_on(there: House, here: House) {
    let (far, home) = (there.open().await, here.open().await);
    make(&far, "p").await;
    let parent = Line::of(&far, timeline_id("p")).await;
    parent.set("early", once(1)).await.unwrap();
    parent.set("inherited", once(60)).await.unwrap();
    parent.go(2, false).await;
    let line = parent.fork(NAME, None).await;
    line.set("single", once(10)).await.unwrap();
    line.set("rule", every(4)).await.unwrap();
    line.set("changed", once(70)).await.unwrap();
    line.patch("changed", Some(once(20))).await;
    line.set("cancelled", once(80)).await.unwrap();
    line.cancel("cancelled").await;
    let event = Delivery::Timeline(Arc::new(EventDraft::at(Instant::EPOCH, "told")));
    line.set_to("event", once(12), Some(event)).await.unwrap();
    line.set_to("hook", once(13), Some(hook())).await.unwrap();
    line.go(5, false).await;
    let (anchor, then) = (line.anchor().await, line.picture().await);
    assert_eq!(then.in_flight.len(), 2);
    line.go(9, false).await;
    assert_eq!(line.work_off().await.0.len(), 3);
    line.go(6, true).await;
    let ttl = Span::from_secs(600).unwrap();
    let hold = HoldRequest { timeline: on(NAME), lease_id: None, reason: "looks".to_owned(), ttl };
    far.engine.hold_advances(&far.admin, hold, None).await.unwrap();
    let travel = ClockChange::from(ClockCommand::Travel { to: at(30), location: None });
    let begun = far.engine.change_clock(&far.admin, on(NAME), travel, None).await.unwrap();
    far.engine.keep_time().await;
    let advance_id = begun.advance_id.unwrap();

    adopt(&home, &there, &export(&far).await).await.unwrap();
    let ours = Line { home: &home, id: timeline_id(NAME) };
    assert_eq!((ours.timers().await, ours.firings().await), (line.timers().await, line.firings().await));
    let (theirs, head) = (line.head().await.timers, ours.head().await.timers);
    assert!(theirs.advance.is_some() && head.advance.is_none());
    assert_eq!((head.base, head.next, head.armed, head.pending), (theirs.base, theirs.next, theirs.armed, 0));
    let receipt = home.engine.receipt(&ours.id, &advance_id).await.unwrap();
    assert_eq!((receipt.state, receipt.reached), (AdvanceState::Stopped, at(6)));
    clean(&here).await;
    let home = home.reopen().await;
    let ours = Line { home: &home, id: timeline_id(NAME) };

    // What is set here counts on from what came along, and falls due after it.
    ours.set("own", once(10)).await.unwrap();
    ours.set_to("own-hook", once(14), Some(hook())).await.unwrap();
    assert!(ours.set("single", once(11)).await.is_err(), "the name came along");
    ours.go(12, false).await;
    // Nobody sends webhooks here, and an advance would wait for that.
    let jump = ClockChange { settle: false, ..ClockCommand::Travel { to: at(25), location: None }.into() };
    home.engine.change_clock(&home.admin, on(NAME), jump, None).await.unwrap();
    home.engine.keep_time().await;
    let told: Vec<(i64, String)> = ours
        .firings()
        .await
        .iter()
        .map(|one| (one.fallen.due.micros() / 1_000_000, one.timer_id.to_string()))
        .collect();
    let expected = [
        (1, "early"),
        (4, "rule"),
        (8, "rule"),
        (8, "rule"),
        (10, "single"),
        (10, "own"),
        (12, "rule"),
        (12, "event"),
        (13, "hook"),
        (14, "own-hook"),
        (16, "rule"),
        (20, "rule"),
        (20, "changed"),
        (24, "rule"),
    ];
    assert_eq!(told, expected.map(|(due, name)| (due, name.to_owned())));
    let firings = ours.firings().await;
    let named = |name: &str| firings.iter().find(|one| one.timer_id.as_str() == name).unwrap();
    assert_eq!(named("event").state, FiringState::Acknowledged, "whoever adopted may record it");
    // What came along is sent nowhere. What was set here is.
    for _ in 0..2 {
        let claimed = home.engine.claim_webhooks(&ours.id, 1).await.unwrap();
        let sealed_for = home.engine.webhook_sealed_for(&ours.id, &claimed[0]);
        let is_own = claimed[0].firing.timer_id.as_str() == "own-hook";
        assert_eq!(sealed_for, is_own.then(|| vec![ours.id.clone()]), "{}", claimed[0].firing.timer_id);
        // Those of one key go one after the other.
        home.engine.webhook_taken(&ours.id, &claimed[0].firing.firing_id).await.unwrap();
    }
    clean(&here).await;
    // To a moment before it was adopted, and on from there.
    ours.return_to(&anchor).await;
    assert_eq!(ours.picture().await, then);
    ours.go(11, false).await;
    clean(&here).await;
    home.reopen().await.close().await;
    far.close().await;
}

#[tokio::test]
async fn timers_go_on_where_they_arrive() {
    Box::pin(go_on(House::new(), another_house())).await;
}

/// A row of timers cannot be changed on a layer that came along with a fork: a scan of the fork finds it.
pub(crate) async fn layers_stay(there: House, here: House) {
    let (far, home) = (there.open().await, here.open().await);
    make(&far, "p").await;
    let parent = Line::of(&far, timeline_id("p")).await;
    parent.set("fired", once(1)).await.unwrap();
    parent.set("rule", every(4)).await.unwrap();
    parent.set("armed", once(60)).await.unwrap();
    parent.set("cancelled", once(70)).await.unwrap();
    parent.cancel("cancelled").await;
    parent.go(5, false).await;
    parent.work_off().await;
    parent.go(9, false).await;
    let line = parent.fork(NAME, None).await;
    line.go(10, false).await;
    adopt(&home, &there, &export(&far).await).await.unwrap();
    home.close().await;
    clean(&here).await;
    let of_layer = "timeline IN (SELECT timeline FROM ended_timelines WHERE timeline_id = 'away/p')";
    for (table, change, back, which) in [
        ("timers", "next = next + 1", "next = next - 1", "timer_id = 'armed'"),
        ("timers", "round = round + 1", "round = round - 1", "timer_id = 'rule'"),
        ("timers", "cancelled = (1 = 0)", "cancelled = (1 = 1)", "timer_id = 'cancelled'"),
        ("timers", "set_by = 'eve'", "set_by = 'admin'", "timer_id = 'fired'"),
        ("firings", "state = 2", "state = 1", "timer_id = 'fired'"),
        ("firings", "made = made + 1", "made = made - 1", "state = 0"),
        ("advances", "ended = ended + 1", "ended = ended - 1", "position > 0"),
    ] {
        let update = |set: &str| change_rows(&here, &format!("UPDATE {table} SET {set} WHERE {of_layer} AND {which}"));
        update(change);
        let found = evidence(&here, NAME).await;
        assert!(found.iter().any(|found| found.contains(&format!("table {table}"))), "{table} {change}: {found:?}");
        update(back);
        clean(&here).await;
    }
    change_rows(&here, &format!("DELETE FROM firings WHERE {of_layer} AND state = 0"));
    let found = evidence(&here, NAME).await;
    assert!(found.iter().any(|found| found.contains("table firings has")), "{found:?}");
    far.close().await;
}

/// A bundle is exported while the clock runs and timers are armed: where it arrives, the clock stands where it was then, and
/// the timers come to the same moments, however long it took.
pub(crate) async fn runs_over(there: House, here: House) {
    const SECOND: i64 = 1_000_000;
    let (far, home) = (there.open().await, here.open().await);
    make(&far, NAME).await;
    let line = Line::of(&far, timeline_id(NAME)).await;
    for (name, when) in [("overdue", once(5)), ("single", once(10)), ("rule", every(4))] {
        line.set(name, when).await.unwrap();
    }
    line.change(ClockCommand::Resume, false).await.unwrap();
    there.pass(4 * SECOND);
    far.engine.keep_time().await;
    // One has come due by the time of the export, and nobody has written that yet.
    there.pass(2 * SECOND);
    let text = export(&far).await;
    there.pass(SECOND / 2);
    here.pass(3_600 * SECOND);

    adopt(&home, &there, &text).await.unwrap();
    let ours = Line { home: &home, id: timeline_id(NAME) };
    let shown = |line: &Line<'_>, head: timenav_engine::Head| head.clock.now(line.home.house.clock.now());
    // Whoever looks at the clock of a test takes a microsecond.
    let late = shown(&ours, ours.head().await).since(at(6)).micros();
    assert!((0..1_000).contains(&late), "what the clock showed when it was exported, and not {late} later");
    home.engine.keep_time().await;
    assert!(!ours.head().await.clock.is_running());
    let next = |timers: Vec<timenav_engine::TimerRow>| -> Vec<(String, Option<Instant<_>>)> {
        timers.into_iter().map(|timer| (timer.timer_id.to_string(), timer.next)).collect()
    };
    let expected = [("overdue", None), ("single", Some(at(10))), ("rule", Some(at(8)))];
    let expected = expected.map(|(name, next)| (name.to_owned(), next)).to_vec();
    assert_eq!(next(ours.timers().await), expected);
    clean(&here).await;
    // Both go on, and come to the same firings, under the same names.
    ours.change(ClockCommand::Resume, false).await.unwrap();
    here.pass(6 * SECOND);
    there.pass(5 * SECOND + SECOND / 2);
    for home in [&home, &far] {
        home.engine.keep_time().await;
    }
    let told = |firings: Vec<timenav_engine::FiringRow>| -> Vec<(i64, String)> {
        firings.into_iter().map(|one| (one.fallen.due.micros() / SECOND, one.firing_id.to_string())).collect()
    };
    let (theirs, firings) = (told(line.firings().await), told(ours.firings().await));
    assert_eq!(firings.iter().map(|(due, _)| *due).collect::<Vec<_>>(), [4, 5, 8, 10, 12]);
    assert_eq!(firings, theirs);
    clean(&here).await;
    home.close().await;
    far.close().await;
}

/// Changes rows by hand.
fn change_rows(house: &House, statement: &str) {
    match &house.database {
        None => assert!(Connection::open(house.path()).unwrap().execute(statement, []).unwrap() > 0, "{statement}"),
        Some(url) => cluster::execute(url, statement),
    }
}

#[tokio::test]
async fn rows_of_timers_of_a_layer_cannot_be_changed() {
    Box::pin(layers_stay(House::new(), another_house())).await;
}

#[tokio::test]
async fn timers_of_a_clock_that_runs_go_over_with_it() {
    Box::pin(runs_over(House::new(), another_house())).await;
}

#[tokio::test]
async fn what_a_bundle_says_of_timers_cannot_be_changed() {
    let (there, here) = (House::new(), another_house());
    let (far, home) = (there.open().await, here.open().await);
    make(&far, NAME).await;
    let line = Line::of(&far, timeline_id(NAME)).await;
    line.set("single", once(10)).await.unwrap();
    line.set("rule", every(4)).await.unwrap();
    line.go(5, false).await;
    let text = export(&far).await;
    for (action, before, after) in
        [("set_timer", "\"single\"", "\"singly\""), ("fire_timers", "\"fired\":[[", "\"fired\":[[1")]
    {
        let mut changed = lines(&text);
        let line = changed.iter_mut().find(|line| line.contains(&format!("\\\"{action}\\\""))).unwrap();
        let mut entry: Value = serde_json::from_str(line).unwrap();
        let payload = entry["entry"]["payload"].as_str().unwrap();
        assert!(payload.contains(before), "{payload}");
        entry["entry"]["payload"] = payload.replacen(before, after, 1).into();
        *line = entry.to_string();
        let refused = adopt(&home, &there, &bundle(&changed)).await.err().unwrap().to_string();
        assert!(refused.contains("payload"), "{action}: {refused}");
    }
    adopt(&home, &there, &text).await.unwrap();
    home.engine.close().await;
    for (table, attack) in [
        ("timers", "UPDATE timers SET next = next + 1 WHERE timer_id = 'single'"),
        ("timers", "UPDATE timers SET payload = '[1]' WHERE timer_id = 'rule'"),
        ("firings", "DELETE FROM firings WHERE timer_id = 'rule'"),
    ] {
        let kept = here.path().with_extension("kept");
        here.copy_database(&kept);
        assert_eq!(Connection::open(here.path()).unwrap().execute(attack, []).unwrap(), 1, "{attack}");
        let found = evidence(&here, NAME).await;
        assert!(found.iter().any(|found| found.contains(&format!("table {table}"))), "{attack}: {found:?}");
        here.replace_database(&kept);
        std::fs::remove_file(&kept).unwrap();
    }
    clean(&here).await;
    far.close().await;
}
