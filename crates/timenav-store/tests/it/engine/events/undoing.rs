//! Undoing imports.

use timenav_engine::UndoneImport;

use crate::engine::timelines::life::{draft, found};
use crate::engine::*;

async fn import(home: &Home<'_>, by: &Caller, on: &TimelineId, drafts: Vec<EventDraft>) -> ImportId {
    let batch = home.engine.import_events(by, on, drafts).await.unwrap();
    let end = batch.ledger.position + 1;
    ImportId::new(end - batch.taken, end, batch.taken).unwrap()
}

async fn undo(home: &Home<'_>, by: &Caller, on: &TimelineId, import: ImportId) -> Result<UndoneImport, Refusal> {
    home.engine.undo_import(by, Some(on.clone()), import, None).await
}

/// Start, end and event count of an import.
fn numbers(import: ImportId) -> Vec<u64> {
    import.to_string().split('-').map(|number| number.parse().unwrap()).collect()
}

/// The id of two imports as if they were one.
fn over(first: ImportId, last: ImportId) -> ImportId {
    let (first, last) = (numbers(first), numbers(last));
    ImportId::new(first[0], first[1].max(last[1]), first[2] + last[2]).unwrap()
}

#[tokio::test]
async fn undone_import_keeps_events_changed_since() {
    let home = Home::new().await;
    let main = timeline_id("main");
    home.record_events(None, vec![draft(9, 9)]).await;
    let bad = import(&home, &home.admin, &main, (1..=4).map(|event| draft(event, event.into())).collect()).await;
    home.intervene(None, "e2", Effect::Describe("corrected by hand".to_owned())).await;
    home.intervene(None, "e3", Effect::Cancel).await;
    let undone = undo(&home, &home.admin, &main, bad).await.unwrap();
    assert_eq!((undone.undone, undone.skipped_changed, undone.rest), (2, 1, None));
    assert_eq!(found(&home, &main, None).await, [(2, "e2".to_owned()), (9, "e9".to_owned())]);
    let home = home.reopen().await;
    home.check_clean(&main).await;
    // The ids of undone events are available, and the others are still taken.
    let again = (1..=4).map(|event| draft(event, 50 + i64::from(event))).collect();
    let batch = home.engine.import_events(&home.admin, &main, again).await.unwrap();
    let refused: Vec<String> = batch.refused.iter().map(|refused| refused.event_id.to_string()).collect();
    assert_eq!((batch.taken, refused), (2, vec!["e2".to_owned(), "e3".to_owned()]));
    // Events recorded again do not belong to the first import.
    let undone = undo(&home, &home.admin, &main, bad).await.unwrap();
    assert_eq!((undone.undone, undone.skipped_changed), (0, 3));
    home.check_clean(&main).await;
    let history = home.engine.event(&home.admin, None, &event_id("e1"), None).await.unwrap();
    assert_eq!(history.interventions.len(), 1);
    assert!(history.interventions[0].payload.contains(&format!(r#""import_id":"{bad}""#)));
    home.close().await;
}

#[tokio::test]
async fn undo_excludes_events_recorded_by_others_during_the_import() {
    let home = Home::new().await;
    let main = timeline_id("main");
    let ada = home.user("ada", true).await;
    let first = import(&home, &home.admin, &main, vec![draft(1, 1)]).await;
    import(&home, &ada, &main, vec![draft(2, 2)]).await;
    let last = import(&home, &home.admin, &main, vec![draft(3, 3)]).await;
    let whole = over(first, last);
    // No user recorded that many events there, and there is nothing past the end.
    let size = home.size("main").await;
    for wrong in [over(whole, first), ImportId::new(size, size + 1, 1).unwrap()] {
        let refused = undo(&home, &home.admin, &main, wrong).await.map(|_| ());
        assert!(
            matches!(refused, Err(Refusal::NotFound { what: "import", .. })),
            "{wrong}: {}",
            outcome_text(&refused)
        );
    }
    // Two users have recorded one event each there, and the caller is neither.
    let eve = home.user("eve", true).await;
    let either = ImportId::new(numbers(first)[0], numbers(last)[0], 1).unwrap();
    let refused = undo(&home, &eve, &main, either).await.map(|_| ());
    assert!(matches!(refused, Err(Refusal::NotFound { what: "import", .. })), "{}", outcome_text(&refused));
    // Another user may undo it as well, if it is clear which import is meant.
    let undone = undo(&home, &ada, &main, whole).await.unwrap();
    assert_eq!((undone.undone, undone.skipped_changed), (2, 0));
    assert_eq!(found(&home, &main, None).await, [(2, "e2".to_owned())]);
    home.check_clean(&main).await;
    home.close().await;
}

#[tokio::test]
async fn fork_cannot_undo_an_import_of_its_parent() {
    let home = Home::new().await;
    let (main, fork) = (timeline_id("main"), timeline_id("fork"));
    let bad = import(&home, &home.admin, &main, vec![draft(1, 1)]).await;
    home.engine.fork_timeline(&home.admin, fork.clone(), &main, None, None).await.unwrap();
    let refused = undo(&home, &home.admin, &fork, bad).await.map(|_| ());
    assert!(matches!(refused, Err(Refusal::NotFound { what: "import", .. })), "{}", outcome_text(&refused));
    undo(&home, &home.admin, &main, bad).await.unwrap();
    assert_eq!(found(&home, &fork, None).await, [(1, "e1".to_owned())]);
    home.check_clean(&fork).await;
    home.close().await;
}

#[tokio::test]
async fn large_import_is_undone_in_idempotent_steps() {
    let home = Home::new().await;
    let main = timeline_id("main");
    let one = |number: usize| named_event(&format!("n{number}"), 1, "it happens");
    let drafts = (0..RETURN_EVENTS_MAX + 2).map(one).collect();
    let bad = import(&home, &home.admin, &main, drafts).await;
    let request = idempotent("undo", "asked");
    let step = async || home.engine.undo_import(&home.admin, None, bad, request).await.unwrap();
    let (first, again) = (step().await, step().await);
    assert_eq!((first.undone, again.undone), (RETURN_EVENTS_MAX as u64, RETURN_EVENTS_MAX as u64));
    assert_eq!((first.replayed, again.replayed, first.rest), (false, true, again.rest));
    assert_eq!(found(&home, &main, None).await.len(), 2);
    let last = undo(&home, &home.admin, &main, first.rest.unwrap()).await.unwrap();
    assert_eq!((last.undone, last.rest), (2, None));
    assert_eq!(found(&home, &main, None).await, []);
    home.check_clean(&main).await;
    home.close().await;
}
