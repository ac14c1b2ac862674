//! Erasing events by their ids, by a query and by their age, and erasing single reads.

use timenav_core::ledger::EventsErased;
use timenav_engine::{ERASE_EVENTS_BATCH_MAX, ErasurePreview, EventsErasureResult};

use crate::engine::*;
use crate::tampering::clean;

/// Only in these tests.
const SECRET: &str = "what-nobody-is-to-know";
const DAY_MICROS: i64 = 86_400_000_000;

fn draft(id: &str, second: i64) -> EventDraft {
    EventDraft {
        event_id: Some(event_id(id)),
        location: Some(format!("{SECRET} place")),
        ..EventDraft::at(moment(second), format!("{SECRET} {id}"))
    }
}

async fn record(home: &Home<'_>, timeline: &str, ids: &[&str]) {
    let drafts = ids.iter().zip(1..).map(|(id, second)| draft(id, second)).collect();
    home.record_events(on(timeline), drafts).await;
}

async fn correct(home: &Home<'_>, timeline: &str, id: &str, key: Option<Idempotency>) -> Result<(), Refusal> {
    let mut draft = draft(id, 77);
    draft.description = format!("{SECRET} {id} corrected");
    home.engine.correct_event(&home.admin, on(timeline), draft, None, key).await.map(|_| ())
}

async fn intervene(
    home: &Home<'_>,
    timeline: &str,
    (id, effect): (&str, Effect),
    key: Option<Idempotency>,
) -> Result<(), Refusal> {
    let request = InterventionRequest { action: format!("{SECRET} action"), ..intervention(id, effect) };
    home.engine.manipulate_event(&home.admin, on(timeline), request, key).await.map(|_| ())
}

fn everything(timeline: &str, evaluated_at: Option<u64>) -> EventErasure {
    let which = WhichEvents::Found {
        location_text: "*".to_owned(),
        location: LocationQuery::Anywhere,
        range: TimeRange::everything(),
    };
    EventErasure { timeline: on(timeline), which, include_forks: false, evaluated_at }
}

fn unchanged_for(days: i64, evaluated_at: Option<u64>) -> EventErasure {
    let which = WhichEvents::Unchanged { text: format!("P{days}D"), span: Span::from_micros(days * DAY_MICROS) };
    EventErasure { timeline: on("main"), which, include_forks: false, evaluated_at }
}

async fn foresee(home: &Home<'_>, request: EventErasure) -> ErasurePreview {
    home.engine.preview_erasure(&home.admin, request).await.unwrap()
}

async fn erase(home: &Home<'_>, request: EventErasure) -> Result<EventsErasureResult, Refusal> {
    home.engine.erase_events(&home.admin, request, None).await.map(|erased| erased.change)
}

/// Erases the result of a dry run, in all batches.
async fn erase_all(home: &Home<'_>, request: EventErasure) -> u64 {
    let foreseen = foresee(home, request.clone()).await;
    let request = EventErasure { evaluated_at: Some(foreseen.evaluated_at), ..request };
    let mut erased = 0;
    loop {
        let batch = erase(home, request.clone()).await.unwrap();
        erased += batch.events_count;
        if batch.left == 0 {
            assert_eq!(erased, foreseen.events_count);
            return erased;
        }
    }
}

/// Returns how often the secret occurs in the database files.
fn secrets(house: &House) -> usize {
    let count = |end: &str| {
        let bytes = std::fs::read(format!("{}{end}", house.path().display())).unwrap_or_default();
        bytes.windows(SECRET.len()).filter(|piece| *piece == SECRET.as_bytes()).count()
    };
    ["", "-wal"].into_iter().map(count).sum()
}

fn erasures(lines: &[Line], timeline: &str) -> Vec<EventsErased<'static>> {
    let is_one = |line: &&Line| line.timeline == timeline && line.action == "erase_events";
    let of = |line: &Line| {
        let payload = line.payload.to_string();
        let EventsErased { by, evaluated_at, events_count, include_forks, interventions, outcomes, versions, .. } =
            EventsErased::decode(payload.as_bytes()).unwrap();
        let requested_by = line.actor.clone().into();
        EventsErased { requested_by, by, evaluated_at, events_count, include_forks, interventions, outcomes, versions }
    };
    lines.iter().filter(is_one).map(of).collect()
}

#[tokio::test]
async fn erasure_removes_every_copy_of_the_event_only() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "main", &["a", "b"]).await;
    correct(&home, "main", "a", idempotent("correct", "asked")).await.unwrap();
    intervene(&home, "main", ("a", Effect::Note), idempotent("note", "asked")).await.unwrap();
    intervene(&home, "main", ("a", Effect::Cancel), idempotent("cancel", "asked")).await.unwrap();
    // It has no effect, and the response contains the current event.
    intervene(&home, "main", ("b", Effect::Note), idempotent("b", "asked")).await.unwrap();
    assert!(secrets(&house) > 10);
    let erased = home.engine.erase_events(&home.admin, erase_ids(on("main"), &["a", "a"]), None).await.unwrap();
    let EventsErasureResult { events_count, payloads_count, outcomes_count, left, .. } = erased.change;
    assert_eq!((events_count, payloads_count, outcomes_count, left), (1, 4, 3, 0));
    let lines = home.lines().await;
    let [erasure] = &erasures(&lines, "main")[..] else { panic!("{lines:?}") };
    assert_eq!((erasure.versions.count(), erasure.interventions.count(), erasure.outcomes.len()), (2, 2, 3));
    // A repeated request only confirms that it has happened.
    for again in [
        correct(&home, "main", "a", idempotent("correct", "asked")).await,
        intervene(&home, "main", ("a", Effect::Note), idempotent("note", "asked")).await,
        intervene(&home, "main", ("a", Effect::Cancel), idempotent("cancel", "asked")).await,
    ] {
        assert!(matches!(again, Err(Refusal::AnswerErased { .. })), "{again:?}");
    }
    intervene(&home, "main", ("b", Effect::Note), idempotent("b", "asked")).await.unwrap();
    assert!(matches!(erase(&home, erase_ids(on("main"), &["a"])).await, Err(Refusal::NotFound { .. })));
    erase(&home, erase_ids(on("main"), &["b"])).await.unwrap();
    // The id is available again, and its past stays erased.
    home.record_events(None, vec![named_event("a", 1, "new")]).await;
    let then = AsOf::Position(erased.ledger.position - 1);
    assert!(home.engine.event(&home.admin, None, &event_id("a"), Some(&then)).await.is_err());
    let history = home.engine.event(&home.admin, None, &event_id("a"), None).await.unwrap();
    assert_eq!(history.known.versions.len(), 1);
    home.close().await;
    assert_eq!(secrets(&house), 0);
    clean(&house).await;
}

#[tokio::test]
async fn single_event_erasure_removes_stored_responses_with_its_content() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "main", &["a"]).await;
    // In one group with the erasure, and before it.
    correct(&home, "main", "a", idempotent("correct", "asked")).await.unwrap();
    let erasure = ErasureRequest::Event(None, event_id("a"));
    let (_, erased) = tokio::join!(
        intervene(&home, "main", ("a", Effect::Note), idempotent("note", "asked")),
        home.engine.erase_data(&home.admin, erasure, None),
    );
    erased.unwrap();
    let again = correct(&home, "main", "a", idempotent("correct", "asked")).await;
    assert!(matches!(again, Err(Refusal::AnswerErased { position: 2.., .. })), "{again:?}");
    home.close().await;
    assert_eq!(secrets(&house), 0);
}

#[tokio::test]
async fn query_erasure_matches_its_dry_run_or_erases_nothing() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "main", &["a", "b", "c"]).await;
    let size = home.size("main").await;
    let foreseen = foresee(&home, everything("main", None)).await;
    assert_eq!((foreseen.events_count, foreseen.event_ids.len(), foreseen.forks.len()), (3, 3, 0));
    assert_eq!(home.size("main").await, size + 1, "only its read is an entry");
    // Reads of a poller and changes elsewhere do not affect the selection.
    for _ in 0..5 {
        home.read_clock(None).await;
    }
    for at in [None, Some(0), Some(10_000)] {
        let refused = erase(&home, everything("main", at)).await;
        assert!(matches!(&refused, Err(Refusal::Invalid { field, .. }) if field == "as_of_size"), "{refused:?}");
    }
    let request = everything("main", Some(foreseen.evaluated_at));
    record(&home, "main", &["d"]).await;
    let refused = erase(&home, request.clone()).await;
    assert!(matches!(refused, Err(Refusal::SelectionChanged { .. })), "{refused:?}");
    intervene(&home, "main", ("d", Effect::Cancel), None).await.unwrap();
    // Events that are again in effect as before are the same selection.
    assert_eq!(erase(&home, request.clone()).await.unwrap().events_count, 3);
    let again = erase(&home, request).await.unwrap();
    assert_eq!((again.events_count, again.left), (0, 0));
    correct(&home, "main", "a", None).await.unwrap_err();
    // A correction after the dry run rejects the erasure too.
    record(&home, "main", &["e"]).await;
    let at = foresee(&home, everything("main", None)).await.evaluated_at;
    correct(&home, "main", "e", None).await.unwrap();
    let refused = erase(&home, everything("main", Some(at))).await;
    assert!(matches!(refused, Err(Refusal::SelectionChanged { .. })), "{refused:?}");
    assert_eq!(erase_all(&home, everything("main", None)).await, 1);
    home.close().await;
    clean(&house).await;
}

#[tokio::test]
async fn many_events_are_erased_in_batches() {
    let house = House::new();
    let home = house.open().await;
    let names: Vec<String> = (0..2 * ERASE_EVENTS_BATCH_MAX + 5).map(|number| format!("e{number:05}")).collect();
    for part in names.chunks(500) {
        record(&home, "main", &part.iter().map(String::as_str).collect::<Vec<_>>()).await;
        home.read_clock(None).await;
    }
    assert_eq!(erase_all(&home, everything("main", None)).await, names.len() as u64);
    let lines = home.lines().await;
    let counts: Vec<u64> = erasures(&lines, "main").iter().map(|one| one.events_count).collect();
    assert_eq!(counts, [1_000, 1_000, 5]);
    home.close().await;
    assert_eq!(secrets(&house), 0);
    clean(&house).await;
}

#[tokio::test]
async fn erasure_by_age_includes_canceled_events() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "main", &["old", "cancelled", "corrected"]).await;
    intervene(&home, "main", ("cancelled", Effect::Cancel), None).await.unwrap();
    for _ in 0..6 {
        house.clock.advance(DAY_MICROS);
    }
    correct(&home, "main", "corrected", None).await.unwrap();
    record(&home, "main", &["young"]).await;
    assert_eq!(foresee(&home, unchanged_for(7, None)).await.events_count, 0);
    let foreseen = foresee(&home, unchanged_for(5, None)).await;
    assert_eq!(foreseen.event_ids, [event_id("cancelled"), event_id("old")]);
    let request = unchanged_for(5, Some(foreseen.evaluated_at));
    assert!(erase(&home, unchanged_for(5, None)).await.is_err());
    // A clock that jumped must not destroy anything.
    house.clock.advance(400 * DAY_MICROS);
    let doubted = erase(&home, request.clone()).await;
    assert!(matches!(doubted, Err(Refusal::HostClockDoubted { .. })), "{doubted:?}");
    house.clock.advance(-400 * DAY_MICROS);
    assert_eq!(erase(&home, request).await.unwrap().events_count, 2);
    home.close().await;
    clean(&house).await;
}

#[tokio::test]
async fn concurrent_erasures_of_the_same_events_erase_once() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "main", &["a", "b", "c"]).await;
    let at = foresee(&home, everything("main", None)).await.evaluated_at;
    let one = || home.engine.erase_events(&home.admin, everything("main", Some(at)), None);
    let named = home.engine.erase_events(&home.admin, erase_ids(on("main"), &["b"]), None);
    let (a, b, c) = tokio::join!(one(), one(), named);
    let erased =
        [&a, &b, &c].into_iter().filter_map(|one| one.as_ref().ok()).map(|one| one.change.events_count).sum::<u64>();
    assert_eq!(erased, 3, "{a:?} {b:?} {c:?}");
    home.close().await;
    assert_eq!(secrets(&house), 0);
    clean(&house).await;
}

/// Forks a timeline, and does everything that a fork can do to its parent's events.
async fn forked(home: &Home<'_>) {
    record(home, "main", &["a", "b", "c", "d"]).await;
    for (name, of) in [("one", "main"), ("two", "one"), ("plain", "main")] {
        home.fork(name, of).await;
    }
    correct(home, "one", "a", idempotent("one a", "asked")).await.unwrap();
    intervene(home, "one", ("b", Effect::Cancel), None).await.unwrap();
    intervene(home, "two", ("b", Effect::Note), None).await.unwrap();
    intervene(home, "two", ("c", Effect::Note), idempotent("two c", "asked")).await.unwrap();
    intervene(home, "two", ("d", Effect::Cancel), None).await.unwrap();
    intervene(home, "two", ("d", Effect::Restore), None).await.unwrap();
    record(home, "two", &["own"]).await;
}

#[tokio::test]
async fn erasure_in_forks_requires_the_flag_and_admin_of_each() {
    let house = House::new();
    let home = house.open().await;
    forked(&home).await;
    let request = erase_ids(on("main"), &["a", "b", "c", "d"]);
    let refused = erase(&home, request.clone()).await;
    assert!(matches!(&refused, Err(Refusal::Invalid { field, .. }) if field == "include_forks"), "{refused:?}");
    let refused = erase(&home, erase_ids(on("one"), &["a"])).await;
    assert!(matches!(&refused, Err(Refusal::Invalid { field, .. }) if field == "event_ids"), "{refused:?}");
    // Ada administers all of the forks but one.
    let ada: Caller = home.user("ada", false).await;
    for name in ["main", "one", "plain"] {
        let change = admins(["admin", "ada"]);
        home.set_permissions(name, change).await;
    }
    let request = EventErasure { include_forks: true, ..request };
    let before = secrets(&house);
    let refused = home.engine.erase_events(&ada, request.clone(), None).await;
    assert_eq!(outcome_text(&refused), "Permission { needs: Admin }");
    assert!(secrets(&house) >= before, "nothing went");
    let lines = home.lines().await;
    assert!(!lines.iter().any(|line| line.action == "erase_events"));
    let foreseen = home.engine.preview_erasure(&ada, request.clone()).await.unwrap();
    let forks: Vec<(&str, bool)> =
        foreseen.forks.iter().map(|fork| (fork.timeline_id.as_str(), fork.may_erase)).collect();
    assert_eq!(forks, [("one", true), ("plain", true), ("two", false)]);
    let change = admins(["admin", "ada"]);
    home.set_permissions("two", change).await;
    let erased = home.engine.erase_events(&ada, request, None).await.unwrap().change;
    assert_eq!((erased.events_count, erased.payloads_count, erased.forks_count), (4, 10, 2));
    for again in [
        correct(&home, "one", "a", idempotent("one a", "asked")).await,
        intervene(&home, "two", ("c", Effect::Note), idempotent("two c", "asked")).await,
    ] {
        assert!(matches!(again, Err(Refusal::AnswerErased { .. })), "{again:?}");
    }
    for (name, left) in [("main", 0), ("one", 0), ("plain", 0), ("two", 1)] {
        let found = foresee(&home, everything(name, None)).await;
        assert_eq!(found.events_count, left, "{name}");
        for id in ["a", "b", "c", "d"] {
            assert!(home.engine.event(&home.admin, on(name), &event_id(id), None).await.is_err(), "{name} {id}");
        }
    }
    home.engine.erase_data(&home.admin, ErasureRequest::Event(on("two"), event_id("own")), None).await.unwrap();
    let home = home.reopen().await;
    // Each name is available again, on each timeline.
    record(&home, "two", &["a", "d"]).await;
    correct(&home, "two", "d", None).await.unwrap();
    erase(&home, erase_ids(on("two"), &["a", "d"])).await.unwrap();
    home.close().await;
    assert_eq!(secrets(&house), 0);
    clean(&house).await;
}

#[tokio::test]
async fn fork_keeps_its_own_event_with_the_erased_id() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "main", &["before"]).await;
    home.fork("fork", "main").await;
    record(&home, "fork", &["same"]).await;
    correct(&home, "fork", "same", idempotent("of the fork", "asked")).await.unwrap();
    record(&home, "main", &["same"]).await;
    let erasure = EventErasure { include_forks: true, ..erase_ids(on("main"), &["same", "before"]) };
    let erased = erase(&home, erasure).await.unwrap();
    assert_eq!((erased.events_count, erased.forks_count, erased.outcomes_count), (2, 0, 0));
    let known = async |timeline: &str, id: &str| {
        home.engine.event(&home.admin, on(timeline), &event_id(id), None).await.is_ok()
    };
    assert!(known("fork", "same").await && !known("fork", "before").await && !known("main", "same").await);
    // Its stored responses are kept too.
    correct(&home, "fork", "same", idempotent("of the fork", "asked")).await.unwrap();
    home.close().await;
    clean(&house).await;
}

#[tokio::test]
async fn concurrent_fork_intervention_does_not_copy_erased_content() {
    let house = House::new();
    let home = house.open().await;
    forked(&home).await;
    let request = EventErasure { include_forks: true, ..erase_ids(on("main"), &["a", "b", "c", "d"]) };
    // Decided together, in any order.
    let (erased, _, _) = tokio::join!(
        erase(&home, request),
        intervene(&home, "plain", ("a", Effect::Restore), None),
        intervene(&home, "two", ("d", Effect::Cancel), None),
    );
    erased.unwrap();
    erase_all(&home, everything("two", None)).await;
    home.close().await;
    assert_eq!(secrets(&house), 0);
    clean(&house).await;
}

#[tokio::test]
async fn remaining_reads_are_provable_after_single_reads_are_erased() {
    let house = House::new();
    let home = house.open().await;
    let ada = home.user("ada", false).await;
    let change = readers(["ada"]);
    home.set_permissions("main", change).await;
    let read = |caller: &Caller| {
        let (engine, caller) = (home.engine.clone(), caller.clone());
        async move { engine.read_clock(&caller, None).await.unwrap() }
    };
    // Many concurrent reads share an entry.
    let reads: Vec<_> =
        (0..40).map(|number| tokio::spawn(read(if number % 2 == 0 { &ada } else { &home.admin }))).collect();
    for read in reads {
        read.await.unwrap();
    }
    let lines = home.lines().await;
    let of_ada: Vec<u64> =
        lines.iter().filter(|line| line.actor == "ada" && line.action == "read").map(|line| line.seq).collect();
    let position = *of_ada.last().unwrap();
    let there = lines.iter().filter(|line| line.timeline == "main" && line.seq == position).count() as u64;
    let query = of_ada.iter().filter(|seq| **seq == position).count() as u64;
    let erasure = |position, which| ReadErasure { timeline: on("main"), position, which };
    let of = |user: &str| WhichReads::Of(user.to_owned());
    let refused = home.engine.erase_reads(&ada, erasure(position, of("ada")), None).await;
    assert_eq!(outcome_text(&refused), "Permission { needs: Admin }");
    let erased =
        home.engine.erase_reads(&home.admin, erasure(position, of("ada")), idempotent("reads", "asked")).await.unwrap();
    assert_eq!((erased.change.erased, erased.change.left), (query, there - query));
    let again =
        home.engine.erase_reads(&home.admin, erasure(position, of("ada")), idempotent("reads", "asked")).await.unwrap();
    assert!(again.replayed);
    for (position, which) in [
        (position, of("ada")),
        (position, of("nobody")),
        (0, of("ada")),
        (position, WhichReads::Numbers([9_999].into())),
        (10_000, WhichReads::Numbers([0].into())),
    ] {
        let refused = home.engine.erase_reads(&home.admin, erasure(position, which), None).await;
        assert!(matches!(refused, Err(Refusal::NotFound { .. } | Refusal::Invalid { .. })), "{refused:?}");
    }
    let request = EntriesRequest { timeline: timeline_id("main"), from: position, items_max: 1 };
    let page = home.engine.entries(&home.admin, request).await.unwrap();
    let EntryContents::Visible { salt, payload } = &page.entries[0].contents else { panic!("{page:?}") };
    assert!(salt.is_empty() && !String::from_utf8_lossy(payload).contains("\"user\":\"ada\""));
    let home = home.reopen().await;
    let lines = home.lines().await;
    assert!(!lines.iter().any(|line| line.actor == "ada" && line.seq == position && line.timeline == "main"));
    // One of the remaining ones, and then the rest.
    let reads = lines.iter().filter(|line| line.timeline == "main" && line.seq == position);
    let first = u32::try_from(reads.clone().position(|line| line.actor == "admin").unwrap_or(0)).unwrap();
    if reads.clone().any(|line| line.actor == "admin") {
        let one = WhichReads::Numbers([first].into());
        let (a, b) = tokio::join!(
            home.engine.erase_reads(&home.admin, erasure(position, one), None),
            home.engine.erase_reads(&home.admin, erasure(position, of("admin")), None),
        );
        let all = [&a, &b].into_iter().filter_map(|one| one.as_ref().ok()).map(|one| one.change.erased).sum::<u64>();
        assert_eq!(all, there - query, "{a:?} {b:?}");
    }
    home.close().await;
    clean(&house).await;
}
