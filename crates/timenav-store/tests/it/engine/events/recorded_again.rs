//! Events recorded again after a return to an anchor undid them.

use timenav_core::ids::{AnchorId, TimelineId};
use timenav_core::intervention::Effect;
use timenav_engine::{AnchorRequest, EventErasure, InterventionRequest, Refusal, ReturnScope, WhichEvents};

use crate::engine::timelines::life::{draft, found};
use crate::house::{Home, House};
use crate::sample::{event_id, moment, timeline_id};

async fn anchor(home: &Home<'_>, on: &TimelineId) -> AnchorId {
    let request = AnchorRequest { timestamp: None, description: String::new(), fixed: true };
    home.engine.set_anchor(&home.admin, Some(on.clone()), request, None).await.unwrap().0
}

async fn back(home: &Home<'_>, on: &TimelineId, to: &AnchorId) {
    home.engine.return_to_anchor(&home.admin, Some(on.clone()), to, ReturnScope::All, None).await.unwrap();
}

async fn record(home: &Home<'_>, on: &TimelineId, time: i64) -> Result<(), Refusal> {
    let events = vec![draft(1, time)];
    home.engine.record_events(&home.admin, Some(on.clone()), events, None).await.map(|_| ())
}

async fn intervene(home: &Home<'_>, on: &TimelineId, effect: Effect) {
    let action = effect.as_str().to_owned();
    let request = InterventionRequest { event_id: event_id("e1"), action, effect, time: moment(0), causes: Vec::new() };
    home.engine.manipulate_event(&home.admin, Some(on.clone()), request, None).await.unwrap();
}

#[tokio::test]
async fn event_id_is_reusable_after_a_return_removes_the_event() {
    let house = House::new();
    let mut home = house.open().await;
    let main = timeline_id("main");
    let before = anchor(&home, &main).await;
    record(&home, &main, 1).await.unwrap();
    let between = anchor(&home, &main).await;
    assert!(matches!(record(&home, &main, 2).await, Err(Refusal::EventExists { .. })));
    back(&home, &main, &before).await;
    record(&home, &main, 2).await.unwrap();
    assert_eq!(found(&home, &main, None).await, [(2, "e1".to_owned())]);
    // The event is in effect, so the id is taken.
    assert!(matches!(record(&home, &main, 3).await, Err(Refusal::EventExists { .. })));
    let history = home.engine.event(&home.admin, None, &event_id("e1"), None).await.unwrap();
    assert_eq!(history.known.versions.len(), 2);
    assert_eq!(history.interventions.len(), 1);
    // A return to a time when the first one was in effect restores that one.
    back(&home, &main, &between).await;
    assert_eq!(found(&home, &main, None).await, [(1, "e1".to_owned())]);
    back(&home, &main, &before).await;
    home = home.reopen().await;
    record(&home, &main, 4).await.unwrap();
    assert_eq!(found(&home, &main, None).await, [(4, "e1".to_owned())]);
    home.check_clean(&main).await;
    home.close().await;
}

#[tokio::test]
async fn canceled_event_keeps_its_id_after_a_return() {
    let house = House::new();
    let home = house.open().await;
    let main = timeline_id("main");
    let before = anchor(&home, &main).await;
    record(&home, &main, 1).await.unwrap();
    intervene(&home, &main, Effect::Cancel).await;
    back(&home, &main, &before).await;
    // The return had nothing to undo.
    assert!(matches!(record(&home, &main, 2).await, Err(Refusal::EventExists { .. })));
    intervene(&home, &main, Effect::Restore).await;
    back(&home, &main, &before).await;
    intervene(&home, &main, Effect::Note).await;
    record(&home, &main, 2).await.unwrap();
    home.check_clean(&main).await;
    home.close().await;
}

#[tokio::test]
async fn event_id_is_reusable_on_forks_without_the_event() {
    let house = House::new();
    let home = house.open().await;
    let (main, early, late) = (timeline_id("main"), timeline_id("early"), timeline_id("late"));
    let before = anchor(&home, &main).await;
    record(&home, &main, 1).await.unwrap();
    home.engine.fork_timeline(&home.admin, early.clone(), &main, None, None).await.unwrap();
    back(&home, &main, &before).await;
    home.engine.fork_timeline(&home.admin, late.clone(), &main, None, None).await.unwrap();
    // It was in effect when the first fork was created.
    assert!(matches!(record(&home, &early, 2).await, Err(Refusal::EventExists { .. })));
    record(&home, &late, 3).await.unwrap();
    record(&home, &main, 4).await.unwrap();
    // A fork returns on its own, to an inherited anchor.
    back(&home, &early, &before).await;
    record(&home, &early, 5).await.unwrap();
    let home = home.reopen().await;
    for (on, time) in [(&main, 4), (&early, 5), (&late, 3)] {
        assert_eq!(found(&home, on, None).await, [(time, "e1".to_owned())], "{on}");
        home.check_clean(on).await;
    }
    home.close().await;
}

#[tokio::test]
async fn erasing_an_event_recorded_again_keeps_other_fork_changes() {
    let house = House::new();
    let home = house.open().await;
    let (main, fork) = (timeline_id("main"), timeline_id("fork"));
    record(&home, &main, 1).await.unwrap();
    let other = vec![draft(2, 2)];
    let before = anchor(&home, &main).await;
    home.engine.record_events(&home.admin, Some(main.clone()), other, None).await.unwrap();
    back(&home, &main, &before).await;
    home.engine.fork_timeline(&home.admin, fork.clone(), &main, None, None).await.unwrap();
    intervene(&home, &fork, Effect::Cancel).await;
    // Its id is available on the fork, so this is a separate event and overrides nothing.
    home.engine.record_events(&home.admin, Some(fork.clone()), vec![draft(2, 3)], None).await.unwrap();
    let which = WhichEvents::Ids(vec![event_id("e2")]);
    let erasure = EventErasure { timeline: Some(main), which, include_forks: true, evaluated_at: None };
    home.engine.erase_events(&home.admin, erasure, None).await.unwrap();
    home.check_clean(&fork).await;
    assert_eq!(found(&home, &fork, None).await, [], "what it canceled stays so");
    home.close().await;
}

#[tokio::test]
async fn reimport_after_a_return_records_the_events_again() {
    let house = House::new();
    let home = house.open().await;
    let main = timeline_id("main");
    let before = anchor(&home, &main).await;
    let import = async || {
        let batch = home.engine.import_events(&home.admin, &main, vec![draft(1, 1), draft(2, 2)]).await.unwrap();
        (batch.taken, batch.unchanged, batch.refused.len())
    };
    assert_eq!(import().await, (2, 0, 0));
    assert_eq!(import().await, (0, 2, 0));
    back(&home, &main, &before).await;
    assert_eq!(import().await, (2, 0, 0));
    assert_eq!(import().await, (0, 2, 0));
    home.check_clean(&main).await;
    home.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_return_and_recording_are_serialized() {
    let house = House::new();
    let home = house.open().await;
    let main = timeline_id("main");
    for time in 0..20 {
        let before = anchor(&home, &main).await;
        record(&home, &main, time).await.unwrap();
        // In either order, each response matches the state at that time.
        let back = home.engine.return_to_anchor(&home.admin, None, &before, ReturnScope::All, None);
        let (back, again) = tokio::join!(back, record(&home, &main, 100 + time));
        back.unwrap();
        match again {
            Ok(()) => assert_eq!(found(&home, &main, None).await.len(), 1),
            Err(Refusal::EventExists { .. }) => assert_eq!(found(&home, &main, None).await, []),
            Err(other) => panic!("{other}"),
        }
        self::back(&home, &main, &before).await;
    }
    home.check_clean(&main).await;
    home.close().await;
}

#[tokio::test]
async fn event_recorded_again_is_compared_with_all_its_versions() {
    let house = House::new();
    let home = house.open().await;
    let main = timeline_id("main");
    record(&home, &main, 10).await.unwrap();
    for effect in [Effect::Rename("Moved".to_owned()), Effect::Cancel] {
        intervene(&home, &main, effect.clone()).await;
        for (time, is_different) in [(10, false), (11, true)] {
            let rejected = record(&home, &main, time).await;
            let is_expected = matches!(rejected, Err(Refusal::EventExists { differs, .. }) if differs == is_different);
            assert!(is_expected, "{effect:?}: {rejected:?}");
        }
    }
    home.close().await;
}
