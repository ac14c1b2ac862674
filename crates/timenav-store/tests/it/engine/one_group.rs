//! Requests that are decided in one group, each on top of the ones before it.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::engine::timelines::life::{draft, found};
use crate::engine::*;

/// Long enough for a request to read what it needs and to reach the queue.
const PREPARATION: Duration = Duration::from_millis(100);

/// Sends requests in this order while a commit of another timeline waits. They become the next group.
async fn in_one_group(home: &Home<'_>, store: &FaultyStore, requests: Vec<BoxFuture<'static, String>>) -> Vec<String> {
    store.close_gate();
    let first =
        home.spawn(move |engine, admin| async move { engine.read_clock(&admin, on("elsewhere")).await.map(|_| ()) });
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
    home.create_timeline(timeline_id("elsewhere")).await;
    home
}

/// Returns a request whose result is sent later, as text.
fn request<T, F: Future<Output = Result<T, Refusal>> + Send + 'static>(
    home: &Home<'_>,
    request: impl FnOnce(Engine, Caller) -> F,
) -> BoxFuture<'static, String> {
    let sent = request(home.engine.clone(), home.admin.clone());
    Box::pin(async move { outcome_text(&sent.await) })
}

#[tokio::test]
async fn return_to_anchor_reverts_changes_decided_just_before_it() {
    let house = House::new();
    let store = Arc::new(FaultyStore::new(house.store()));
    let home = open(&house, &store).await;
    let main = timeline_id("main");
    home.record_events(None, vec![draft(1, 10)]).await;
    let then = found(&home, &main, None).await;
    let anchor = home.set_anchor(None).await;
    for change in [Some(Effect::Cancel), Some(Effect::Move(moment(99))), None] {
        let effect = change.clone();
        let changed = request(&home, move |engine, admin| async move {
            match effect {
                Some(effect) => engine.manipulate_event(&admin, None, intervention("e1", effect), None).await.map(drop),
                None => engine.record_events(&admin, None, vec![draft(2, 20)], None).await.map(drop),
            }
        });
        let anchor = anchor.clone();
        let returned = request(&home, move |engine, admin| async move {
            engine.return_to_anchor(&admin, None, &anchor, ReturnScope::All, None).await
        });
        assert_eq!(in_one_group(&home, &store, vec![changed, returned]).await, ["ok", "ok"], "{change:?}");
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
    let shared = request(&home, move |engine, admin| async move {
        engine.set_access_control(&admin, timeline_id("main"), readers(["ada"]), None).await
    });
    let paused = request(&home, move |engine, admin| async move {
        engine.change_clock(&admin, None, ClockCommand::Pause, None).await
    });
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
    for (name, deliver_webhooks, expected) in
        [("silent", false, "ok"), ("sending", true, "Permission { needs: Write }")]
    {
        home.set_permissions("main", writers(["ada"])).await;
        let lowered = request(&home, move |engine, admin| async move {
            let lists = PermissionsChange { write: Some(users([])), ..readers(["ada"]) };
            engine.set_access_control(&admin, timeline_id("main"), lists, None).await
        });
        let ada = ada.clone();
        let forked = request(&home, move |engine, _| async move {
            let fork = NewTimeline { deliver_webhooks, ..timeline_id(name).into() };
            engine.fork_timeline(&ada, fork, &timeline_id("main"), None, None).await
        });
        let outcomes = in_one_group(&home, &store, vec![lowered, forked]).await;
        assert_eq!(outcomes[0], "ok");
        assert!(outcomes[1].contains(expected), "{name}: {}", outcomes[1]);
    }
    home.close().await;
}
