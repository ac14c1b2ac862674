//! The directory of one service, updated by the entries of others: the result is the same as after loading it, at a
//! cost independent of its size.

use crate::replicas::*;

async fn set_password(home: &Home<'_>, name: &str, secret: &str) -> Result<(), Refusal> {
    home.engine.set_password(&home.admin, new_password(name, secret)).await.map(drop)
}

/// Creates many timelines, which share as much as possible.
async fn make_many(home: &Home<'_>, count: usize) {
    let made = (0..count).map(|number| {
        let (engine, admin) = (home.engine.clone(), home.admin.clone());
        let timeline = timeline_id(&format!("one-of-many-{number}"));
        tokio::spawn(async move { engine.create_timeline(&admin, timeline, None).await.map(drop) })
    });
    for made in made.collect::<Vec<_>>() {
        made.await.unwrap().unwrap();
    }
}

/// Returns the number of rows that a service reads for each directory change of another one, with this many timelines,
/// and how often it had read all of them before.
async fn rows_for_each_change(timelines: usize) -> (Vec<usize>, usize) {
    let house = House::on_postgres();
    let other = two(&house).await;
    let left = house.open().await;
    let store = Arc::new(FaultyStore::locking(other.store()));
    let right = other.try_open(Arc::clone(&store) as _).await.unwrap();
    store.opened.store(0, Ordering::SeqCst);
    make_many(&left, timelines).await;
    left.engine.create_user(&left.admin, user_id("ada"), false, None).await.unwrap();
    right.change_clock(None, hour()).await;
    assert_eq!(store.opened_locked.load(Ordering::SeqCst), 0, "everything was read while others waited");
    let loads = store.opened.swap(0, Ordering::SeqCst);
    let mut rows = Vec::new();
    for change in 0..6 {
        let (engine, admin) = (&left.engine, &left.admin);
        match change {
            0 => drop(key_of(&left, "ada").await),
            1 => drop(engine.create_user(admin, user_id("bob"), true, None).await.unwrap()),
            2 => drop(
                engine.restrict_time_travel(admin, user_id("bob"), RestrictionLevel::NoAccess, None).await.unwrap(),
            ),
            3 => set_password(&left, "bob", SECRET).await.unwrap(),
            4 => drop(engine.end_timeline(admin, timeline_id("one-of-many-3"), None).await.unwrap()),
            _ => drop(engine.delete_user(admin, user_id("bob")).await.unwrap()),
        }
        store.handed_over.store(0, Ordering::SeqCst);
        if change % 2 == 0 {
            right.engine.catch_up_with(&TimelineId::system()).await.unwrap();
        } else {
            // With locked heads.
            right.change_clock(None, hour()).await;
        }
        rows.push(store.handed_over.swap(0, Ordering::SeqCst));
    }
    assert_eq!(store.opened.load(Ordering::SeqCst), 0);
    right.engine.close().await;
    left.engine.close().await;
    (rows, loads)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cost_of_a_change_is_independent_of_timeline_count() {
    let (few, loads) = rows_for_each_change(10).await;
    assert_eq!(loads, 0);
    assert!(few.iter().all(|rows| (1..10).contains(rows)), "{few:?}");
    let (many, loads) = rows_for_each_change(10_000).await;
    assert_eq!(loads, 1, "so many entries are more than are read with a lock");
    assert_eq!(few, many);
}

/// The directory as shown by one service.
#[derive(Debug, PartialEq, Eq)]
struct Credentials {
    users: Vec<String>,
    let_in: Vec<bool>,
    sessions: Vec<bool>,
    timelines: Vec<String>,
}

/// The objects created so far.
#[derive(Default)]
struct HandedOut {
    keys: Vec<String>,
    callers: Vec<Caller>,
    sessions: Vec<(String, Caller)>,
    timelines: usize,
}

async fn state_of(home: &Home<'_>, out: &HandedOut) -> Credentials {
    let (users, _) = home.engine.users(&home.admin, 100, None).await.unwrap();
    Credentials {
        users: users.iter().map(|user| format!("{user:?}")).collect(),
        let_in: out.keys.iter().map(|key| home.engine.authenticate(key).is_ok()).collect(),
        sessions: out.sessions.iter().map(|(key, _)| home.engine.authenticate_session(key).is_ok()).collect(),
        timelines: names(home, &home.admin).await,
    }
}

/// Makes a change through one service. Rejections are fine too.
async fn step(home: &Home<'_>, out: &mut HandedOut, seed: &mut u64) {
    let (engine, admin) = (&home.engine, &home.admin);
    let name = format!("user{}", draw(seed, 5));
    let user = || user_id(&name);
    match draw(seed, 14) {
        0 | 1 => drop(engine.create_user(admin, user(), draw(seed, 2) == 0, None).await),
        2 => drop(engine.delete_user(admin, user()).await),
        3 => {
            let level = [RestrictionLevel::NoAccess, RestrictionLevel::LimitedAccess][draw(seed, 2)];
            drop(engine.restrict_time_travel(admin, user(), level, None).await);
        }
        4 | 5 if engine.users(admin, 100, None).await.unwrap().0.iter().any(|one| one.user_id == user()) => {
            let key = key_of(home, &name).await;
            out.callers.extend(engine.authenticate(&key).ok());
            out.keys.push(key);
        }
        6 if !out.callers.is_empty() => {
            let caller = &out.callers[draw(seed, out.callers.len())];
            drop(engine.revoke_api_key(admin, key_id(caller)).await);
        }
        7 => drop(set_password(home, &name, &format!("{SECRET} {}", draw(seed, 3))).await),
        8 | 9 => {
            let secret = password(&format!("{SECRET} {}", draw(seed, 3)));
            if let Ok(Some(session)) = engine.log_in(user(), secret, None).await {
                out.sessions.push((session.secret.to_string(), session.caller));
            }
        }
        10 if !out.sessions.is_empty() => {
            let (_, caller) = &out.sessions[draw(seed, out.sessions.len())];
            home.house.clock.advance(3_600_000_000);
            drop(engine.renew_session(caller).await);
        }
        11 if !out.sessions.is_empty() => {
            let (_, caller) = &out.sessions[draw(seed, out.sessions.len())];
            drop(engine.log_out(caller, draw(seed, 2) == 0).await);
        }
        12 => {
            out.timelines += 1;
            drop(engine.create_timeline(admin, timeline_id(&format!("t{}", out.timelines)), None).await);
        }
        _ => {
            let timeline = timeline_id(&format!("t{}", draw(seed, out.timelines + 1)));
            drop(engine.end_timeline(admin, timeline, None).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn incrementally_updated_directory_equals_the_loaded_one() {
    const ROUNDS: u64 = 6;
    const STEPS: usize = 60;
    for round in 0..ROUNDS {
        let mut seed = round;
        let house = House::on_postgres();
        let other = two(&house).await;
        let homes = [house.open().await, other.open().await];
        let mut out = HandedOut::default();
        for _ in 0..STEPS {
            step(&homes[draw(&mut seed, 2)], &mut out, &mut seed).await;
            if draw(&mut seed, 3) == 0 {
                homes[1].engine.catch_up_with(&TimelineId::system()).await.unwrap();
            }
            homes[1].engine.compare_directory().await.unwrap();
        }
        // Reads are entries too, and update all services.
        let fresh = joining(&house).await;
        let loaded = state_of(&fresh, &out).await;
        for home in &homes {
            home.engine.catch_up_all().await.unwrap();
            assert_eq!(state_of(home, &out).await, loaded, "{round}");
            assert_eq!(home.engine.replica().unwrap().loads, 0, "{round}");
        }
        fresh.engine.close().await;
        // Numbers of timelines that were created and ended in the meantime are not reused, and names neither.
        for (number, home) in homes.iter().enumerate() {
            let last = timeline_id(&format!("last{number}"));
            home.create_timeline(last.clone()).await;
            home.end_timeline(last).await;
        }
        let again = homes[0].engine.create_timeline(&homes[0].admin, timeline_id("last1"), None).await.map(drop);
        assert!(matches!(again, Err(Refusal::NameEnded { .. })), "{again:?}");
        end(homes).await;
    }
}

/// The owner of the database changes a row along with a legitimate change: it grants nothing, and is found.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn row_forged_alongside_a_legitimate_change_is_detected() {
    for attack in [
        "UPDATE users SET operator = true WHERE user_id = 'ada'",
        "UPDATE users SET operator = true WHERE user_id = 'new'",
        "DELETE FROM users WHERE user_id = 'bob'",
        "UPDATE api_keys SET user_id = 'admin' WHERE user_id = 'ada'",
        "UPDATE api_keys SET label = 'mine' WHERE user_id = 'ada'",
        "UPDATE passwords SET phc = phc || 'x' WHERE user_id = 'bob'",
        "INSERT INTO passwords SELECT 'ada', phc, set_at FROM passwords WHERE user_id = 'bob'",
        "UPDATE sessions SET user_id = 'admin'",
        "DELETE FROM ended_timelines WHERE timeline_id = 'over'",
        "UPDATE ended_timelines SET size = size + 1 WHERE timeline_id = 'over'",
    ] {
        let (left, right) = pair().await;
        for name in ["ada", "bob"] {
            left.engine.create_user(&left.admin, user_id(name), false, None).await.unwrap();
        }
        let ada = key_of(&left, "ada").await;
        set_password(&left, "bob", SECRET).await.unwrap();
        left.engine.log_in(user_id("bob"), password(SECRET), None).await.unwrap().unwrap();
        left.create_timeline(timeline_id("over")).await;
        left.end_timeline(timeline_id("over")).await;
        right.engine.catch_up_all().await.unwrap();
        right.engine.compare_directory().await.unwrap();
        left.engine.create_user(&left.admin, user_id("new"), false, None).await.unwrap();
        execute(&left.house.database(), attack);
        right.engine.catch_up_with(&TimelineId::system()).await.unwrap();
        let ada = right.engine.authenticate(&ada).unwrap();
        assert!(right.engine.users(&ada, 9, None).await.is_err(), "{attack}");
        right.engine.directory_moved().await;
        let compared = right.engine.compare_directory().await;
        assert!(matches!(&compared, Err(Refusal::Unavailable(why)) if why.contains("outside timenav")), "{compared:?}");
        assert!(right.engine.ready().await.is_err(), "{attack}");
        let changed = right.engine.change_clock(&right.admin, None, hour(), None).await.map(drop);
        assert!(matches!(changed, Err(Refusal::Unavailable(_))), "{attack}: {changed:?}");
        right.engine.close().await;
        left.engine.close().await;
    }
}

/// Data that entries contain only as a hash is read, and used only if it matches.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn changed_row_must_match_its_entry() {
    for attack in [
        "UPDATE passwords SET phc = phc || 'x' WHERE user_id = 'ada'",
        "DELETE FROM passwords WHERE user_id = 'ada'",
        "UPDATE ended_timelines SET root = sha256(root) WHERE timeline_id = 'over'",
        "DELETE FROM ended_timelines WHERE timeline_id = 'over'",
    ] {
        let (left, right) = pair().await;
        left.engine.create_user(&left.admin, user_id("ada"), false, None).await.unwrap();
        left.create_timeline(timeline_id("over")).await;
        right.engine.catch_up_all().await.unwrap();
        set_password(&left, "ada", SECRET).await.unwrap();
        left.end_timeline(timeline_id("over")).await;
        execute(&left.house.database(), attack);
        let outcome = right.engine.catch_up_with(&TimelineId::system()).await;
        assert!(matches!(outcome, Err(Refusal::Unavailable(_))), "{attack}: {outcome:?}");
        assert!(right.engine.ready().await.is_err(), "{attack}");
        right.engine.close().await;
        left.engine.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn changes_unseen_by_this_replica_are_read_without_a_reload() {
    let (left, right) = pair().await;
    Box::pin(password_is_read_in_its_latest_state(&left, &right)).await;
    Box::pin(fork_of_an_ended_timeline_has_full_lineage(&left, &right)).await;
    Box::pin(fork_inherits_unseen_changes(&left, &right)).await;
    end([left, right]).await;
}

/// A password that was set twice in the meantime is the last one.
async fn password_is_read_in_its_latest_state(left: &Home<'_>, right: &Home<'_>) {
    left.engine.create_user(&left.admin, user_id("ada"), false, None).await.unwrap();
    for secret in ["one correct horse battery", "another correct horse battery"] {
        set_password(left, "ada", secret).await.unwrap();
    }
    right.engine.catch_up_with(&TimelineId::system()).await.unwrap();
    let first = right.engine.log_in(user_id("ada"), password("one correct horse battery"), None).await.unwrap();
    assert!(first.is_none());
    let second = right.engine.log_in(user_id("ada"), password("another correct horse battery"), None).await.unwrap();
    assert!(second.is_some());
    assert_eq!(right.engine.replica().unwrap().loads, 0);
}

/// A timeline forked from one that has ended since, before this service knew of either.
async fn fork_of_an_ended_timeline_has_full_lineage(left: &Home<'_>, right: &Home<'_>) {
    for name in ["parent", "child", "grandchild"] {
        let timeline = timeline_id(name);
        match name {
            "parent" => drop(left.create_timeline(timeline.clone()).await),
            name => {
                let of = timeline_id(if name == "child" { "parent" } else { "child" });
                _ = left.engine.fork_timeline(&left.admin, timeline.clone(), &of, None, None).await.unwrap();
            }
        }
        let drafts = vec![draft(&format!("of-{name}"))];
        left.record_events(Some(timeline), drafts).await;
    }
    for name in ["parent", "child"] {
        left.end_timeline(timeline_id(name)).await;
    }
    read_list(left, "grandchild", &[]).await;
    right.engine.catch_up_all().await.unwrap();
    assert_eq!(right.engine.replica().unwrap().loads, 0);
    let lineage = async |home: &Home<'_>| {
        let seen = home.engine.timeline(&home.admin, &timeline_id("grandchild")).await.unwrap();
        (seen.state.ancestors.to_vec(), seen.state.lineage.to_vec())
    };
    let (here, there) = (lineage(right).await, lineage(left).await);
    assert_eq!(here, there);
    assert_eq!(here.1, [timeline_id("parent"), timeline_id("child")]);
}

/// Events of `main` are changed on a fork of it, which another service knows in its earlier state.
async fn fork_inherits_unseen_changes(left: &Home<'_>, right: &Home<'_>) {
    let (parent, child) = (timeline_id("changed"), timeline_id("child-of-changed"));
    left.record_events(None, vec![draft("launch")]).await;
    left.engine.fork_timeline(&left.admin, parent.clone(), &timeline_id("main"), None, None).await.unwrap();
    right.engine.catch_up_all().await.unwrap();
    let corrected = EventDraft { description: "put off".to_owned(), ..draft("launch") };
    left.engine.correct_event(&left.admin, Some(parent.clone()), corrected, None, None).await.unwrap();
    left.engine.fork_timeline(&left.admin, child.clone(), &parent, None, None).await.unwrap();
    right.engine.catch_up_with(&TimelineId::system()).await.unwrap();
    let layers =
        async |home: &Home<'_>| home.engine.timeline(&home.admin, &child).await.unwrap().state.ancestors.to_vec();
    assert_eq!(layers(right).await, layers(left).await);
    assert!(layers(right).await.iter().any(|layer| layer.overrides));
}
