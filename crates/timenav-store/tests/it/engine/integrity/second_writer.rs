//! Two engines on one store. One of them writes whenever the other one asks for facts or is about to commit. Decisions
//! based on outdated heads are repeated, and no response is lost, wrong or duplicated.

mod ask;
mod request;
mod scene;

use std::sync::atomic::AtomicUsize;

use timenav_engine::Store;

use self::ask::{Asking, Outcome};
use self::request::{Covered, DECISIONS, Needs, Request, Twice, covered};
use self::scene::{About, Scene};
use crate::cluster::variable;
use crate::engine::*;
use crate::faulty_store::Meddler;

/// Interference by the other writer.
#[derive(Clone, Copy, Debug)]
enum Meddling {
    SameTimeline,
    /// Writes to `system`, and so changes the directory.
    System,
    /// Creates another timeline, which takes a key in the store.
    NewTimeline,
    /// Sends the very same request first.
    SameRequest,
}

const MEDDLINGS: [Meddling; 4] =
    [Meddling::SameTimeline, Meddling::System, Meddling::NewTimeline, Meddling::SameRequest];

impl Meddling {
    /// Returns a request that writes to the same timeline without changing what this request finds.
    fn alongside(request: Request) -> Request {
        if request.needs() == Needs::Timers { Request::Anchor } else { Request::Clock }
    }

    fn ask(self, request: Request, engine: Engine, admin: Caller, scene: &Scene) -> Asking {
        let (name, on) = (&scene.name, scene.on.clone());
        let other = |name: String, on| Scene { name, caller: admin, on, position: 0, about: About::Nothing };
        match self {
            Self::SameTimeline => Self::alongside(request).ask(engine, other(format!("beside-{name}"), on)),
            Self::System => Request::User.ask(engine, other(format!("user-beside-{name}"), on)),
            Self::NewTimeline => Request::Create.ask(engine, other(format!("timeline-beside-{name}"), on)),
            Self::SameRequest => request.ask(engine, scene.clone()),
        }
    }
}

/// Returns the number of entries per action written since the ledgers had these sizes.
async fn written_since(store: &dyn Store, sizes: &[(TimelineKey, u64)]) -> HashMap<Action, usize> {
    let before: HashMap<TimelineKey, u64> = sizes.iter().copied().collect();
    let mut written = HashMap::new();
    for (key, size) in store.sizes().await.unwrap() {
        let first = before.get(&key).copied().unwrap_or(0);
        let count = usize::try_from(size - first).unwrap();
        for leaf in store.leaves(key, first, count).await.unwrap() {
            let action = Action::of(&LeafRecord::decode(&leaf).unwrap()).unwrap();
            *written.entry(action).or_insert(0) += 1;
        }
    }
    written
}

/// Sends a request while the other engine writes when the writer accesses the store for the `point`th time. Returns
/// whether it did.
async fn meddle(
    (left, store): (&Home<'_>, &FaultyStore),
    right: &Home<'_>,
    (request, meddling, point): (Request, Meddling, usize),
) -> bool {
    let name = format!("{request:?}-{meddling:?}-{point}").to_lowercase();
    let scene = request.prepare(left, &name).await;
    // A reader sees what was written here, because its own entry shows it what others have written.
    right.read_clock(None).await;
    let sizes = left.store.sizes().await.unwrap();
    let (visits, theirs) = (Arc::new(AtomicUsize::new(0)), Arc::new(parking_lot::Mutex::new(None)));
    let meddler: Arc<Meddler> = {
        let (engine, admin, scene) = (right.engine.clone(), right.admin.clone(), scene.clone());
        let (visits, theirs) = (Arc::clone(&visits), Arc::clone(&theirs));
        Arc::new(move || {
            let is_now = visits.fetch_add(1, Ordering::SeqCst) == point;
            let question = is_now.then(|| meddling.ask(request, engine.clone(), admin.clone(), &scene));
            let theirs = Arc::clone(&theirs);
            Box::pin(async move {
                if let Some(question) = question {
                    *theirs.lock() = Some(question.await);
                }
            })
        })
    };
    store.meddle(Some(meddler));
    let ours = request.ask(left.engine.clone(), scene.clone()).await;
    store.meddle(None);
    store.meddled().await;
    let theirs = theirs.lock().take();
    let case = format!("{name}: {ours:?}, {theirs:?}");
    let written = written_since(&*left.store, &sizes).await;
    let times = match &theirs {
        None => check_alone(&ours, &case),
        Some(theirs) => check(request, meddling, (&ours, theirs, store.locks()), &case),
    };
    let alongside = if theirs.is_some() { meddling.writes(request) } else { &[] };
    for (action, count) in request.writes() {
        let others = alongside.iter().find(|(other, _)| other == action).map_or(0, |(_, count)| *count);
        let found = written.get(action).copied().unwrap_or(0);
        assert_eq!(found, count * times + others, "{case}: entries `{}`", action.word());
    }
    if theirs.is_some() && request.twice() == Twice::Reported {
        // Either engine repeats the response, and writes nothing.
        let sizes = left.store.sizes().await.unwrap();
        for home in [left, right] {
            let again = request.ask(home.engine.clone(), scene.clone()).await.expect(&case);
            assert_eq!((again.ledger, again.replayed), (ours.as_ref().unwrap().ledger, true), "{case}");
        }
        let written = written_since(&*left.store, &sizes).await;
        assert!(request.writes().iter().all(|(action, _)| !written.contains_key(action)), "{case}: {written:?}");
    }
    theirs.is_some()
}

fn check_alone(ours: &Outcome, case: &str) -> usize {
    assert!(!ours.as_ref().expect(case).replayed, "{case}");
    1
}

/// Compares both responses with what the API guarantees. Returns how often the request has happened.
fn check(request: Request, meddling: Meddling, (ours, theirs, locks): (&Outcome, &Outcome, bool), case: &str) -> usize {
    if !matches!(meddling, Meddling::SameRequest) {
        assert!(!ours.as_ref().expect(case).replayed, "{case}");
        match theirs {
            Ok(theirs) => assert!(!theirs.replayed, "{case}"),
            // A request that had to wait for a lock may come after the end.
            Err(Refusal::Ended { .. } | Refusal::HandedOver { .. }) => {
                assert!(locks && request == Request::End, "{case}");
            }
            Err(refusal) => panic!("{case}: {refusal}"),
        }
        return 1;
    }
    match request.twice() {
        Twice::Reported => {
            let (ours, theirs) = (ours.as_ref().expect(case), theirs.as_ref().expect(case));
            // The first one has written, and the other one gets the same response.
            assert_eq!((ours.ledger, ours.replayed), (theirs.ledger, !theirs.replayed), "{case}");
            assert!(ours.replayed || locks, "{case}: who came in between was there first");
            1
        }
        Twice::Once => {
            assert!(ours.is_ok() && theirs.is_ok(), "{case}");
            1
        }
        Twice::Both => {
            assert!(ours.is_ok() && theirs.is_ok(), "{case}");
            2
        }
        Twice::OrRefused => {
            assert!(ours.is_ok() || theirs.is_ok(), "{case}");
            for outcome in [ours, theirs] {
                assert!(!matches!(outcome, Err(Refusal::Unavailable(_) | Refusal::OutcomeUnknown(_))), "{case}");
            }
            1
        }
    }
}

/// Pruned entries are less than a day old.
fn keeping_nothing(mut house: House) -> House {
    house.options.retention_floor_seconds = 0;
    house
}

/// Environment variable to test every request instead of a sample, which takes minutes.
const ALL_REQUESTS: &str = "TIMENAV_TEST_ALL_REQUESTS";

/// Returns the requests to test: one in `of`.
fn tried(of: usize) -> impl Iterator<Item = &'static Request> {
    Request::ALL.iter().step_by(if variable(ALL_REQUESTS).is_some() { 1 } else { of })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn decision_is_repeated_after_an_interleaved_write() {
    for request in tried(4) {
        let house = keeping_nothing(House::new());
        let (store, other) = (FaultyStore::shared(house.store()), FaultyStore::shared(house.store()));
        Box::pin(interfere(&house, store, Arc::new(other), *request)).await;
    }
}

/// Like the test above, for two services that lock what they write to.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn decision_is_repeated_after_an_interleaved_write_by_another_service() {
    for request in tried(16) {
        let house = keeping_nothing(House::on_postgres());
        let (store, other) = (FaultyStore::locking(house.store()), house.store());
        Box::pin(interfere(&house, store, other, *request)).await;
    }
}

async fn interfere(house: &House, store: FaultyStore, other: Arc<dyn Store>, request: Request) {
    let store = Arc::new(store);
    let left = house.try_open(Arc::clone(&store) as _).await.unwrap();
    left.user("ada", false).await;
    let right = house.try_open(other).await.unwrap();
    for meddling in MEDDLINGS {
        // No ledger grows by a hold, and only services that share a store know the streams of others.
        let needs_locks = matches!(request, Request::Hold | Request::Fault);
        if matches!(meddling, Meddling::SameRequest) && needs_locks && !store.locks() {
            continue;
        }
        let mut point = 0;
        while meddle((&left, &store), &right, (request, meddling, point)).await {
            point += 1;
        }
        assert!(point > 0, "{request:?} asks the store for nothing");
    }
    // The ledgers are intact. Both services store their checkpoints in one place here, and the slower one may store an
    // older one last. The next start stores the newest.
    right.engine.close().await;
    left.engine.close().await;
    drop((left, right));
    let home = house.open().await;
    for timeline in ["main", "system"] {
        println!("scan of `{timeline}` after {request:?}");
        home.check_clean(&timeline_id(timeline)).await;
    }
    home.close().await;
}

#[test]
fn every_action_has_an_interference_test() {
    let written: HashSet<Action> =
        Request::ALL.iter().flat_map(|request| request.writes()).map(|(action, _)| *action).collect();
    for action in Action::ALL {
        match covered(*action) {
            Covered::Here => assert!(written.contains(action), "no request writes `{}`", action.word()),
            Covered::As(other) => {
                assert!(!written.contains(action) && written.contains(&other), "`{}`", action.word());
            }
            Covered::Never(why) => assert!(!written.contains(action), "`{}`: {why}", action.word()),
        }
    }
}

/// Returns the types with decisions according to the engine's sources.
fn deciding(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut deciding(&path));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let types = text.lines().filter(|line| line.starts_with("impl")).filter_map(|line| {
            let (_, of) = line.split_once(" Command for ")?;
            Some(of.split(['<', ' ']).next()?.to_owned())
        });
        found.extend(types);
    }
    found
}

#[test]
fn every_decision_has_an_interference_test() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../timenav-engine/src/writer/deciding");
    let listed: BTreeSet<String> = DECISIONS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(deciding(&sources), listed, "name the requests of a new one, and interfere with them");
    let request: BTreeSet<Request> = DECISIONS.iter().flat_map(|(_, requests)| *requests).copied().collect();
    assert_eq!(request, Request::ALL.iter().copied().collect(), "every request is there for a decision");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_of_two_engines_all_succeed() {
    let house = House::new();
    let left = house.try_open(Arc::new(FaultyStore::shared(house.store()))).await.unwrap();
    let right = house.try_open(Arc::new(FaultyStore::shared(house.store()))).await.unwrap();
    let mut tasks = Vec::new();
    for number in 0..100 {
        let home = if number % 2 == 0 { &left } else { &right };
        let (engine, caller) = (home.engine.clone(), home.admin.clone());
        tasks.push(tokio::spawn(async move {
            let drafts = vec![named_event(&format!("event-{number}"), number, "")];
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
async fn exclusive_engine_stops_after_a_foreign_write() {
    let house = House::new();
    let (left, right) = (house.open().await, house.open().await);
    left.change_clock(None, hour()).await;
    for _ in 0..2 {
        let refused = right.engine.change_clock(&right.admin, None, hour(), None).await;
        assert!(is_unavailable(&refused), "{refused:?}");
    }
    assert!(right.engine.ready().await.is_err(), "until a restart");
    right.stop().await;
    left.change_clock(on("main"), hour()).await;
    left.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rows_without_an_entry_are_not_adopted_from_another_writer() {
    let house = House::new();
    let left = house.try_open(Arc::new(FaultyStore::shared(house.store()))).await.unwrap();
    let right = house.try_open(Arc::new(FaultyStore::shared(house.store()))).await.unwrap();
    let ada = left.user("ada", false).await;
    let write = |statement: &str| {
        let changed = rusqlite::Connection::open(house.path()).unwrap().execute(statement, []).unwrap();
        assert_eq!(changed, 1, "{statement}");
    };
    right.read_clock(None).await;
    left.read_clock(None).await;
    write("UPDATE users SET operator = 1 WHERE user_id = 'ada'");
    // Each makes the other one load what it wrote on `main`.
    right.change_clock(None, hour()).await;
    left.change_clock(None, hour()).await;
    let refused = left.engine.create_user(&ada, user_id("eve"), true, None).await;
    assert_eq!(outcome_text(&refused), "OperatorOnly");
    write("UPDATE users SET operator = 0 WHERE user_id = 'ada'");
    right.engine.close().await;
    left.close().await;
}
