//! Two engines on one store, of which one writes wherever the other comes: when that asks what it needs, and before it
//! commits. What was decided on heads that have moved is decided again; no answer is lost, wrong or given twice.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use timenav_core::clock::ClockCommand;
use timenav_core::event::EventDraft;
use timenav_core::intervention::Effect;
use timenav_core::scan::Depth;
use timenav_core::time::{Duration, Span};
use timenav_engine::{
    AnchorRequest, ApiKeyRequest, Caller, Engine, ErasureRequest, HorizonRequest, Idempotency, InterventionRequest,
    LedgerPosition, MadeTimeline, OnParadox, PermissionsChange, Refusal, ReturnScope, Store,
};

use crate::faulty_store::{FaultyStore, Meddler};
use crate::house::{Home, House, is_unavailable, on, told};
use crate::sample::{digest, event_id, moment, timeline_id, user_id, users};

/// Where an answer stands, and whether it is an earlier one.
type Told = Result<(LedgerPosition, bool), Refusal>;
type Asked = Pin<Box<dyn Future<Output = Told> + Send>>;

/// What is asked for, under a name that no other request has.
#[derive(Clone, Copy, Debug)]
enum Request {
    Clock,
    Anchor,
    Return,
    Record,
    Correct,
    Cancel,
    CancelWithoutParadox,
    Erase,
    Create,
    Fork,
    Permissions,
    User,
    Key,
}

const REQUESTS: [Request; 13] = [
    Request::Clock,
    Request::Anchor,
    Request::Return,
    Request::Record,
    Request::Correct,
    Request::Cancel,
    Request::CancelWithoutParadox,
    Request::Erase,
    Request::Create,
    Request::Fork,
    Request::Permissions,
    Request::User,
    Request::Key,
];

/// What somebody else does in between.
#[derive(Clone, Copy, Debug)]
enum Meddling {
    /// Moves the same timeline on.
    SameTimeline,
    /// Moves `system` on, and with it who there is.
    System,
    /// Makes another timeline, which takes a key in the store.
    NewTimeline,
    /// Sends the very same request first.
    SameRequest,
}

const MEDDLINGS: [Meddling; 4] =
    [Meddling::SameTimeline, Meddling::System, Meddling::NewTimeline, Meddling::SameRequest];

fn hour() -> ClockCommand {
    ClockCommand::FastForward(Duration::new(0, Span::from_micros(3_600_000_000)).unwrap())
}

fn draft(name: &str, time: i64) -> EventDraft {
    EventDraft { event_id: Some(event_id(name)), ..EventDraft::at(moment(time), "") }
}

fn made(made: MadeTimeline) -> (LedgerPosition, bool) {
    (made.ledger, made.replayed)
}

impl Request {
    /// Asks an engine for it.
    fn ask(self, engine: Engine, caller: Caller, name: String) -> Asked {
        let key = Some(Idempotency { key: digest(&name), fingerprint: digest("the request") });
        let event = event_id(&format!("event-of-{name}"));
        Box::pin(async move {
            let cancel = || InterventionRequest {
                event_id: event.clone(),
                action: "cancel".to_owned(),
                effect: Effect::Cancel,
                time: moment(1),
                causes: Vec::new(),
            };
            match self {
                Self::Clock => {
                    engine.change_clock(&caller, None, hour(), key).await.map(|step| (step.ledger, step.replayed))
                }
                Self::Anchor => {
                    let request = AnchorRequest { timestamp: None, description: name, fixed: false };
                    let set = engine.set_anchor(&caller, None, request, key).await;
                    set.map(|(_, _, ledger, replayed)| (ledger, replayed))
                }
                Self::Return => {
                    let anchors = engine.anchors(&caller, None, 1, None).await?.anchors;
                    let to = &anchors.first().unwrap().1.anchor_id;
                    let step = engine.return_to_anchor(&caller, None, to, ReturnScope::All, key).await;
                    step.map(|step| (step.ledger, step.replayed))
                }
                Self::Record => {
                    let drafts = vec![draft(&format!("new-{name}"), 1), draft(&format!("newer-{name}"), 2)];
                    let recorded = engine.record_events(&caller, None, drafts, key).await;
                    recorded.map(|recorded| (recorded.ledger, recorded.replayed))
                }
                Self::Correct => {
                    let corrected = engine.correct_event(&caller, None, draft(event.as_str(), 9), None, key).await;
                    corrected.map(|corrected| (corrected.ledger, corrected.replayed))
                }
                Self::Cancel | Self::CancelWithoutParadox => {
                    let is_careful = matches!(self, Self::CancelWithoutParadox);
                    let on_paradox = if is_careful { OnParadox::Refuse } else { OnParadox::Tell };
                    let done = engine.intervene(&caller, None, cancel(), on_paradox, key).await;
                    done.map(|(done, _)| (done.ledger, done.replayed))
                }
                Self::Erase => {
                    let erased = engine.erase_data(&caller, ErasureRequest::Event(None, event), key).await;
                    erased.map(|erased| (erased.ledger, erased.replayed))
                }
                Self::Create => engine.create_timeline(&caller, timeline_id(&name), key).await.map(made),
                Self::Fork => {
                    engine.fork_timeline(&caller, timeline_id(&name), &timeline_id("main"), None, key).await.map(made)
                }
                Self::Permissions => {
                    let change = PermissionsChange { read: Some(users(["ada"])), ..PermissionsChange::default() };
                    let set = engine.set_access_control(&caller, timeline_id("main"), change, key).await;
                    set.map(|(_, ledger, replayed)| (ledger, replayed))
                }
                Self::User => {
                    let made = engine.create_user(&caller, user_id(&name), false, key).await;
                    made.map(|(_, ledger, replayed)| (ledger, replayed))
                }
                Self::Key => {
                    let request = key_of_admin(name);
                    let made = engine.create_api_key(&caller, request, key).await;
                    made.map(|made| (made.ledger, made.replayed))
                }
            }
        })
    }

    /// Makes ready what the request is about.
    async fn prepare(self, home: &Home<'_>, name: &str) {
        match self {
            Self::Return => {
                let request = AnchorRequest { timestamp: None, description: String::new(), fixed: false };
                home.engine.set_anchor(&home.admin, None, request, None).await.unwrap();
                // Something to be changed back.
                home.engine
                    .record_events(&home.admin, None, vec![draft(&format!("late-{name}"), 3)], None)
                    .await
                    .unwrap();
            }
            Self::Correct | Self::Cancel | Self::CancelWithoutParadox | Self::Erase => {
                let event = draft(&format!("event-of-{name}"), 3);
                home.engine.record_events(&home.admin, None, vec![event], None).await.unwrap();
            }
            Self::Clock
            | Self::Anchor
            | Self::Record
            | Self::Create
            | Self::Fork
            | Self::Permissions
            | Self::User
            | Self::Key => {}
        }
    }

    fn asks_again_where_events_changed(self) -> bool {
        matches!(self, Self::Return | Self::CancelWithoutParadox)
    }
}

impl Meddling {
    fn ask(self, request: Request, engine: Engine, caller: Caller, name: String) -> Asked {
        match self {
            Self::SameTimeline => Request::Clock.ask(engine, caller, format!("clock-beside-{name}")),
            Self::System => Request::User.ask(engine, caller, format!("user-beside-{name}")),
            Self::NewTimeline => Request::Create.ask(engine, caller, format!("timeline-beside-{name}")),
            Self::SameRequest => request.ask(engine, caller, name),
        }
    }
}

/// Sends a request while somebody else writes when the writer comes to a store for the `point`th time. Returns whether it
/// came there.
async fn meddle(
    (left, store): (&Home<'_>, &FaultyStore),
    right: &Home<'_>,
    (request, meddling, point): (Request, Meddling, usize),
) -> bool {
    let name = format!("{request:?}-{meddling:?}-{point}").to_lowercase();
    request.prepare(left, &name).await;
    // Whoever only reads sees what was written here: by its entry it finds out what others have written.
    right.engine.read_clock(&right.admin, None).await.unwrap();
    let (visits, theirs) = (Arc::new(AtomicUsize::new(0)), Arc::new(parking_lot::Mutex::new(None)));
    let meddler: Arc<Meddler> = {
        let (engine, caller, name) = (right.engine.clone(), right.admin.clone(), name.clone());
        let (visits, theirs) = (Arc::clone(&visits), Arc::clone(&theirs));
        Arc::new(move || {
            let is_now = visits.fetch_add(1, Ordering::SeqCst) == point;
            let asked = is_now.then(|| meddling.ask(request, engine.clone(), caller.clone(), name.clone()));
            let theirs = Arc::clone(&theirs);
            Box::pin(async move {
                if let Some(asked) = asked {
                    *theirs.lock() = Some(asked.await);
                }
            })
        })
    };
    store.meddle(Some(meddler));
    let ours = request.ask(left.engine.clone(), left.admin.clone(), name.clone()).await;
    store.meddle(None);
    store.meddled().await;
    let case = format!("{name}: {ours:?}");
    let (ledger, replayed) = ours.expect(&case);
    let Some(theirs) = theirs.lock().take() else { return false };
    let (their_ledger, their_replayed) = theirs.expect(&case);
    match meddling {
        // Whoever came first has written; the other is told the same.
        Meddling::SameRequest => {
            assert_eq!((ledger, replayed), (their_ledger, !their_replayed), "{case}: {their_replayed}");
            assert!(replayed || store.locks(), "{case}: who came in between was there first");
        }
        Meddling::SameTimeline | Meddling::System | Meddling::NewTimeline => {
            assert!(!replayed && !their_replayed, "{case}");
        }
    }
    // Either engine tells it again, and writes nothing.
    for home in [left, right] {
        let again = request.ask(home.engine.clone(), home.admin.clone(), name.clone()).await;
        assert_eq!(again.expect(&case), (ledger, true), "{case}");
    }
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_another_writer_does_in_between_is_decided_upon_again() {
    let house = House::off_disk();
    let (store, other) = (FaultyStore::shared(house.store()), FaultyStore::shared(house.store()));
    Box::pin(interfere(&house, store, Arc::new(other))).await;
}

/// As the test above, of two services that lock what they write to.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_another_service_does_in_between_is_decided_upon_again() {
    let house = House::on_postgres();
    let (store, other) = (FaultyStore::locking(house.store()), house.store());
    Box::pin(interfere(&house, store, other)).await;
}

async fn interfere(house: &House, store: FaultyStore, other: Arc<dyn Store>) {
    let store = Arc::new(store);
    let left = house.try_open(Arc::clone(&store) as _).await.unwrap();
    left.user("ada", false).await;
    let right = house.try_open(other).await.unwrap();
    let mut cases = 0;
    for request in REQUESTS {
        for meddling in MEDDLINGS {
            let is_restless = matches!(meddling, Meddling::SameRequest) && request.asks_again_where_events_changed();
            let mut point = 0;
            while meddle((&left, &store), &right, (request, meddling, point)).await {
                (point, cases) = (point + 1, cases + 1);
            }
            assert!(point > 0 || is_restless, "{request:?} asks the store for nothing");
        }
    }
    assert!(cases >= 2 * REQUESTS.len() * MEDDLINGS.len(), "{cases}");
    right.engine.close().await;
    // Each request and each meddling has written once, and the ledgers are whole.
    let lines = left.close().await;
    let made = lines.iter().filter(|line| line.action == "create_user").count();
    assert!(made > 20, "{made}");
    let home = house.open().await;
    for timeline in ["main", "system"] {
        let scan = home.engine.detect_tampering(&home.admin, &timeline_id(timeline), Depth::Full, &mut |_| {}).await;
        let scan = scan.unwrap().scan;
        assert!(!scan.tampering_detected(), "{}", scan.details);
    }
    home.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_that_always_write_at_once_both_come_to_their_end() {
    let house = House::off_disk();
    let left = house.try_open(Arc::new(FaultyStore::shared(house.store()))).await.unwrap();
    let right = house.try_open(Arc::new(FaultyStore::shared(house.store()))).await.unwrap();
    let mut tasks = Vec::new();
    for number in 0..100 {
        let home = if number % 2 == 0 { &left } else { &right };
        let (engine, caller) = (home.engine.clone(), home.admin.clone());
        tasks.push(tokio::spawn(async move {
            let drafts = vec![draft(&format!("event-{number}"), number)];
            engine.record_events(&caller, None, drafts, None).await.map(|recorded| recorded.ledger.position)
        }));
    }
    let mut positions = Vec::new();
    for task in tasks {
        positions.push(task.await.unwrap().unwrap());
    }
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), 100, "each has an entry of its own");
    right.engine.close().await;
    let lines = left.close().await;
    assert_eq!(lines.iter().filter(|line| line.action == "record_event").count(), 100);
}

#[tokio::test]
async fn where_nobody_else_may_write_nothing_is_signed_over_what_somebody_wrote() {
    let house = House::new();
    let (left, right) = (house.open().await, house.open().await);
    left.engine.change_clock(&left.admin, None, hour(), None).await.unwrap();
    for _ in 0..2 {
        let refused = right.engine.change_clock(&right.admin, None, hour(), None).await;
        assert!(is_unavailable(&refused), "{refused:?}");
    }
    assert!(right.engine.ready().await.is_err(), "until a restart");
    right.engine.close().await;
    drop(right);
    left.engine.change_clock(&left.admin, on("main"), hour(), None).await.unwrap();
    left.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rows_of_which_no_entry_tells_are_not_taken_over_from_another_writer() {
    let house = House::off_disk();
    let left = house.try_open(Arc::new(FaultyStore::shared(house.store()))).await.unwrap();
    let right = house.try_open(Arc::new(FaultyStore::shared(house.store()))).await.unwrap();
    let ada = left.user("ada", false).await;
    let write = |statement: &str| {
        let changed = rusqlite::Connection::open(house.path()).unwrap().execute(statement, []).unwrap();
        assert_eq!(changed, 1, "{statement}");
    };
    right.engine.read_clock(&right.admin, None).await.unwrap();
    left.engine.read_clock(&left.admin, None).await.unwrap();
    write("UPDATE users SET operator = 1 WHERE user_id = 'ada'");
    // Each has the other take over what it wrote on `main`.
    right.engine.change_clock(&right.admin, None, hour(), None).await.unwrap();
    left.engine.change_clock(&left.admin, None, hour(), None).await.unwrap();
    let refused = left.engine.create_user(&ada, user_id("eve"), true, None).await;
    assert_eq!(told(&refused), "OperatorOnly");
    write("UPDATE users SET operator = 0 WHERE user_id = 'ada'");
    right.engine.close().await;
    left.close().await;
}

fn key_of_admin(label: String) -> ApiKeyRequest {
    let (user_id, horizon) = (Some(user_id("admin")), HorizonRequest::default());
    ApiKeyRequest { user_id, timeline_id: None, label, scopes: None, horizon, expires_at: None }
}
