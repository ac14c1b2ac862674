//! Events recorded again after a return to an anchor undid them.

use crate::engine::timelines::life::{draft, found};
use crate::engine::*;

async fn record(home: &Home<'_>, on: &TimelineId, time: i64) -> Result<(), Refusal> {
    let events = vec![draft(1, time)];
    home.engine.record_events(&home.admin, Some(on.clone()), events, None).await.map(|_| ())
}

#[tokio::test]
async fn event_id_is_reusable_after_a_return_removes_the_event() {
    let mut home = Home::new().await;
    let main = timeline_id("main");
    let before = home.set_anchor(on("main")).await;
    record(&home, &main, 1).await.unwrap();
    let between = home.set_anchor(on("main")).await;
    assert!(matches!(record(&home, &main, 2).await, Err(Refusal::EventExists { .. })));
    home.return_to(on("main"), &before).await;
    record(&home, &main, 2).await.unwrap();
    assert_eq!(found(&home, &main, None).await, [(2, "e1".to_owned())]);
    // The event is in effect, so the id is taken.
    assert!(matches!(record(&home, &main, 3).await, Err(Refusal::EventExists { .. })));
    let history = home.engine.event(&home.admin, None, &event_id("e1"), None).await.unwrap();
    assert_eq!(history.known.versions.len(), 2);
    assert_eq!(history.interventions.len(), 1);
    // A return to a time when the first one was in effect restores that one.
    home.return_to(on("main"), &between).await;
    assert_eq!(found(&home, &main, None).await, [(1, "e1".to_owned())]);
    home.return_to(on("main"), &before).await;
    home = home.reopen().await;
    record(&home, &main, 4).await.unwrap();
    assert_eq!(found(&home, &main, None).await, [(4, "e1".to_owned())]);
    home.check_clean(&main).await;
    home.close().await;
}

#[tokio::test]
async fn canceled_event_keeps_its_id_after_a_return() {
    let home = Home::new().await;
    let main = timeline_id("main");
    let before = home.set_anchor(on("main")).await;
    record(&home, &main, 1).await.unwrap();
    home.intervene(on("main"), "e1", Effect::Cancel).await;
    home.return_to(on("main"), &before).await;
    // The return had nothing to undo.
    assert!(matches!(record(&home, &main, 2).await, Err(Refusal::EventExists { .. })));
    home.intervene(on("main"), "e1", Effect::Restore).await;
    home.return_to(on("main"), &before).await;
    home.intervene(on("main"), "e1", Effect::Note).await;
    record(&home, &main, 2).await.unwrap();
    home.check_clean(&main).await;
    home.close().await;
}

#[tokio::test]
async fn event_id_is_reusable_on_forks_without_the_event() {
    let home = Home::new().await;
    let (main, early, late) = (timeline_id("main"), timeline_id("early"), timeline_id("late"));
    let before = home.set_anchor(on("main")).await;
    record(&home, &main, 1).await.unwrap();
    home.engine.fork_timeline(&home.admin, early.clone(), &main, None, None).await.unwrap();
    home.return_to(on("main"), &before).await;
    home.engine.fork_timeline(&home.admin, late.clone(), &main, None, None).await.unwrap();
    // It was in effect when the first fork was created.
    assert!(matches!(record(&home, &early, 2).await, Err(Refusal::EventExists { .. })));
    record(&home, &late, 3).await.unwrap();
    record(&home, &main, 4).await.unwrap();
    // A fork returns on its own, to an inherited anchor.
    home.return_to(on("early"), &before).await;
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
    let home = Home::new().await;
    let (main, fork) = (timeline_id("main"), timeline_id("fork"));
    record(&home, &main, 1).await.unwrap();
    let other = vec![draft(2, 2)];
    let before = home.set_anchor(on("main")).await;
    home.record_events(Some(main.clone()), other).await;
    home.return_to(on("main"), &before).await;
    home.engine.fork_timeline(&home.admin, fork.clone(), &main, None, None).await.unwrap();
    home.intervene(on("fork"), "e1", Effect::Cancel).await;
    // Its id is available on the fork, so this is a separate event and overrides nothing.
    home.record_events(Some(fork.clone()), vec![draft(2, 3)]).await;
    let erasure = EventErasure { include_forks: true, ..erase_ids(on("main"), &["e2"]) };
    home.engine.erase_events(&home.admin, erasure, None).await.unwrap();
    home.check_clean(&fork).await;
    assert_eq!(found(&home, &fork, None).await, [], "what it canceled stays so");
    home.close().await;
}

#[tokio::test]
async fn reimport_after_a_return_records_the_events_again() {
    let home = Home::new().await;
    let main = timeline_id("main");
    let before = home.set_anchor(on("main")).await;
    let import = async || {
        let batch = home.engine.import_events(&home.admin, &main, vec![draft(1, 1), draft(2, 2)]).await.unwrap();
        (batch.taken, batch.unchanged, batch.refused.len())
    };
    assert_eq!(import().await, (2, 0, 0));
    assert_eq!(import().await, (0, 2, 0));
    home.return_to(on("main"), &before).await;
    assert_eq!(import().await, (2, 0, 0));
    assert_eq!(import().await, (0, 2, 0));
    home.check_clean(&main).await;
    home.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_return_and_recording_are_serialized() {
    let home = Home::new().await;
    let main = timeline_id("main");
    for time in 0..20 {
        let before = home.set_anchor(on("main")).await;
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
        home.return_to(on("main"), &before).await;
    }
    home.check_clean(&main).await;
    home.close().await;
}

#[tokio::test]
async fn event_recorded_again_is_compared_with_all_its_versions() {
    let home = Home::new().await;
    let main = timeline_id("main");
    record(&home, &main, 10).await.unwrap();
    for effect in [Effect::Rename("Moved".to_owned()), Effect::Cancel] {
        home.intervene(on("main"), "e1", effect.clone()).await;
        for (time, is_different) in [(10, false), (11, true)] {
            let rejected = record(&home, &main, time).await;
            let is_expected = matches!(rejected, Err(Refusal::EventExists { differs, .. }) if differs == is_different);
            assert!(is_expected, "{effect:?}: {rejected:?}");
        }
    }
    home.close().await;
}
