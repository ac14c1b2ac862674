//! Requests that are decided in one group, each on top of the ones before it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use timenav_core::clock::ClockCommand;
use timenav_core::intervention::Effect;
use timenav_engine::{AnchorRequest, InterventionRequest, NewTimeline, PermissionsChange, ReturnScope};
use tokio::time::timeout;

use crate::engine::timelines::life::{draft, found};
use crate::faulty_store::FaultyStore;
use crate::house::{Home, House, on, outcome_text};
use crate::sample::{event_id, moment, timeline_id, users};

/// Long enough for a request to read what it needs and to reach the queue.
const PREPARATION: Duration = Duration::from_millis(100);

/// Sends requests in this order while a commit of another timeline waits. They become the next group.
async fn in_one_group(home: &Home<'_>, store: &FaultyStore, requests: Vec<BoxFuture<'static, String>>) -> Vec<String> {
    store.close_gate();
    let (engine, admin) = (home.engine.clone(), home.admin.clone());
    let first = tokio::spawn(async move { engine.read_clock(&admin, on("elsewhere")).await.map(|_| ()) });
    store.arrival().await;
    let mut tasks = Vec::new();
    for request in requests {
        let mut task = tokio::spawn(request);
        assert!(timeout(PREPARATION, &mut task).await.is_err(), "it waits for the commit");
        tasks.push(task);
    }
    store.open_gate();
    first.await.unwrap().unwrap();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes
}

async fn open<'a>(house: &'a House, store: &Arc<FaultyStore>) -> Home<'a> {
    let home = house.try_open(Arc::clone(store) as _).await.unwrap();
    home.engine.create_timeline(&home.admin, timeline_id("elsewhere"), None).await.unwrap();
    home
}

#[tokio::test]
async fn return_to_anchor_reverts_changes_decided_just_before_it() {
    let house = House::new();
    let store = Arc::new(FaultyStore::new(house.store()));
    let home = open(&house, &store).await;
    let main = timeline_id("main");
    home.engine.record_events(&home.admin, None, vec![draft(1, 10)], None).await.unwrap();
    let then = found(&home, &main, None).await;
    let request = AnchorRequest { timestamp: None, description: String::new(), fixed: true };
    let anchor = home.engine.set_anchor(&home.admin, None, request, None).await.unwrap().0;
    for change in [Some(Effect::Cancel), Some(Effect::Move(moment(99))), None] {
        let (engine, admin, effect) = (home.engine.clone(), home.admin.clone(), change.clone());
        let changed: BoxFuture<'static, String> = Box::pin(async move {
            let Some(effect) = effect else {
                return outcome_text(&engine.record_events(&admin, None, vec![draft(2, 20)], None).await);
            };
            let (event_id, action) = (event_id("e1"), effect.as_str().to_owned());
            let request = InterventionRequest { event_id, action, effect, time: moment(0), causes: Vec::new() };
            outcome_text(&engine.manipulate_event(&admin, None, request, None).await)
        });
        let (engine, admin, anchor) = (home.engine.clone(), home.admin.clone(), anchor.clone());
        let returned: BoxFuture<'static, String> = Box::pin(async move {
            outcome_text(&engine.return_to_anchor(&admin, None, &anchor, ReturnScope::All, None).await)
        });
        let outcomes = in_one_group(&home, &store, vec![changed, returned]).await;
        assert_eq!(outcomes, ["ok", "ok"], "{change:?}");
        assert_eq!(found(&home, &main, None).await, then, "{change:?}");
    }
    home.check_clean(&main).await;
    home.close().await;
}

#[tokio::test]
async fn permissions_set_before_another_change_are_stored() {
    let house = House::new();
    let store = Arc::new(FaultyStore::new(house.store()));
    let home = open(&house, &store).await;
    let ada = home.user("ada", false).await;
    let (engine, admin) = (home.engine.clone(), home.admin.clone());
    let shared: BoxFuture<'static, String> = Box::pin(async move {
        let lists = PermissionsChange { read: Some(users(["ada"])), ..PermissionsChange::default() };
        outcome_text(&engine.set_access_control(&admin, timeline_id("main"), lists, None).await)
    });
    let (engine, admin) = (home.engine.clone(), home.admin.clone());
    let paused: BoxFuture<'static, String> =
        Box::pin(async move { outcome_text(&engine.change_clock(&admin, None, ClockCommand::Pause, None).await) });
    assert_eq!(in_one_group(&home, &store, vec![shared, paused]).await, ["ok", "ok"]);
    let home = home.reopen().await;
    assert_eq!(outcome_text(&home.engine.read_clock(&ada, on("main")).await), "ok");
    home.check_clean(&timeline_id("main")).await;
    home.close().await;
}

#[tokio::test]
async fn fork_that_sends_webhooks_needs_write_access_when_it_is_decided() {
    let house = House::new();
    let store = Arc::new(FaultyStore::new(house.store()));
    let home = open(&house, &store).await;
    let ada = home.user("ada", false).await;
    let writers = PermissionsChange { write: Some(users(["ada"])), ..PermissionsChange::default() };
    for (name, deliver_webhooks, expected) in
        [("silent", false, "ok"), ("sending", true, "Permission { needs: Write }")]
    {
        home.engine.set_access_control(&home.admin, timeline_id("main"), writers.clone(), None).await.unwrap();
        let (engine, admin) = (home.engine.clone(), home.admin.clone());
        let lowered: BoxFuture<'static, String> = Box::pin(async move {
            let lists = PermissionsChange {
                read: Some(users(["ada"])),
                write: Some(users([])),
                ..PermissionsChange::default()
            };
            outcome_text(&engine.set_access_control(&admin, timeline_id("main"), lists, None).await)
        });
        let (engine, ada) = (home.engine.clone(), ada.clone());
        let forked: BoxFuture<'static, String> = Box::pin(async move {
            let fork = NewTimeline { deliver_webhooks, ..timeline_id(name).into() };
            outcome_text(&engine.fork_timeline(&ada, fork, &timeline_id("main"), None, None).await)
        });
        let outcomes = in_one_group(&home, &store, vec![lowered, forked]).await;
        assert_eq!(outcomes[0], "ok");
        assert!(outcomes[1].contains(expected), "{name}: {}", outcomes[1]);
    }
    home.close().await;
}
