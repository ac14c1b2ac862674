//! Permissions that expire: they grant nothing after their end, and no entry is written for it.

use timenav_core::access::Ends;
use timenav_engine::PermissionsAfter;

use crate::engine::*;

type NewEnds = BTreeMap<(Role, UserId), End>;

fn within<const N: usize>(hours: [(Role, &str, i64); N]) -> NewEnds {
    hours
        .into_iter()
        .map(|(role, name, hours)| ((role, user_id(name)), End::In(Span::from_micros(hours * HOUR))))
        .collect()
}

fn reading(name: &str, ends: NewEnds) -> PermissionsChange {
    PermissionsChange { read: Some(users([name])), ends, ..PermissionsChange::default() }
}

async fn set(home: &Home<'_>, change: PermissionsChange) -> Result<PermissionsAfter, Refusal> {
    home.engine.set_access_control(&home.admin, timeline_id("main"), change, None).await.map(|set| set.change)
}

async fn lists(home: &Home<'_>) -> Permissions {
    home.engine.access_control(&home.admin, &timeline_id("main")).await.unwrap().0
}

/// Returns the results of reading and of controlling the clock.
async fn may(home: &Home<'_>, caller: &Caller) -> [String; 2] {
    let look = outcome_text(&home.engine.read_clock(caller, on("main")).await);
    let steer = outcome_text(&home.engine.change_clock(caller, on("main"), ClockCommand::Pause, None).await);
    [look, steer]
}

async fn seen(home: &Home<'_>, caller: &Caller) -> Vec<(String, Option<Instant<Wall>>)> {
    let (views, _) = home.engine.timelines(caller, 10, None).await.unwrap();
    views.into_iter().map(|view| (view.state.head.id.to_string(), view.role_end)).collect()
}

const DENIED: &str = "Permission { needs: Write }";
const HIDDEN: &str = "Hidden";

#[tokio::test]
async fn expired_role_falls_back_to_a_lower_role() {
    let home = Home::new().await;
    let bob = home.user("bob", false).await;
    let ends = within([(Role::Write, "bob", 1), (Role::Read, "bob", 2)]);
    let change = PermissionsChange { write: Some(users(["bob"])), ..reading("bob", ends) };
    set(&home, change).await.unwrap();
    let ends = lists(&home).await.ends;
    let (first, last) = (ends.write.get(&user_id("bob")).copied(), ends.read.get(&user_id("bob")).copied());
    assert!(first.is_some() && first < last);
    assert_eq!(may(&home, &bob).await, ["ok", "ok"]);
    assert_eq!(seen(&home, &bob).await, [("main".to_owned(), first)]);
    assert_eq!(home.engine.access_ends_at(&bob, &timeline_id("main")), first);
    home.house.clock.advance(HOUR);
    assert_eq!(may(&home, &bob).await, ["ok", DENIED]);
    assert_eq!(seen(&home, &bob).await, [("main".to_owned(), last)]);
    let size = home.size("main").await;
    home.house.clock.advance(HOUR);
    assert_eq!(home.size("main").await, size, "nothing is written when a permission expires");
    assert_eq!(may(&home, &bob).await, [HIDDEN, HIDDEN]);
    assert_eq!((seen(&home, &bob).await, home.engine.access_ends_at(&bob, &timeline_id("main"))), (Vec::new(), None));
    // The lists contain him until he is removed.
    assert!(lists(&home).await.names(&user_id("bob")));
    let home = home.reopen().await;
    assert_eq!(may(&home, &bob).await, [HIDDEN, HIDDEN]);
    home.close().await;
}

#[tokio::test]
async fn expired_permission_is_renewed_only_by_a_new_end() {
    let home = Home::new().await;
    let bob = home.user("bob", false).await;
    set(&home, reading("bob", within([(Role::Read, "bob", 1)]))).await.unwrap();
    assert!(set(&home, reading("bob", NewEnds::new())).await.unwrap().expired.is_empty());
    home.house.clock.advance(HOUR);
    let again = set(&home, reading("bob", NewEnds::new())).await.unwrap();
    assert_eq!((again.expired, may(&home, &bob).await[0].as_str()), (vec!["bob".to_owned()], HIDDEN));
    // The lists can be sent back as they were read.
    let ended = lists(&home).await.ends.read[&user_id("bob")];
    let same = BTreeMap::from([((Role::Read, user_id("bob")), End::At(ended))]);
    assert_eq!(set(&home, reading("bob", same)).await.unwrap().expired, ["bob"]);
    let past = BTreeMap::from([((Role::Read, user_id("bob")), End::At(home.engine.now()))]);
    let refused = set(&home, reading("bob", past)).await.unwrap_err();
    let field = "permissions/expires_at/read/bob";
    assert!(matches!(&refused, Refusal::Invalid { field: found, .. } if found == field), "{refused:?}");
    let never = BTreeMap::from([((Role::Read, user_id("bob")), End::Never)]);
    assert!(set(&home, reading("bob", never)).await.unwrap().expired.is_empty());
    assert_eq!((lists(&home).await.ends, may(&home, &bob).await[0].as_str()), (Ends::default(), "ok"));
    home.close().await;
}

/// A fork belongs to its creator: whoever could read could also have copied.
#[tokio::test]
async fn fork_belongs_to_its_creator_without_inherited_permissions() {
    let home = Home::new().await;
    let bob = home.user("bob", false).await;
    let eve = home.user("eve", false).await;
    let change = PermissionsChange {
        read: Some(users(["bob", "eve"])),
        ends: within([(Role::Read, "bob", 1), (Role::Read, "eve", 1)]),
        ..PermissionsChange::default()
    };
    set(&home, change).await.unwrap();
    home.engine.fork_timeline(&bob, timeline_id("bobs"), &timeline_id("main"), None, None).await.unwrap();
    let (of_fork, _) = home.engine.access_control(&bob, &timeline_id("bobs")).await.unwrap();
    assert_eq!(of_fork, Permissions::of_creator(user_id("bob")));
    assert_eq!(outcome_text(&home.engine.read_clock(&eve, on("bobs")).await), HIDDEN);
    home.house.clock.advance(HOUR);
    home.engine.read_clock(&bob, on("bobs")).await.unwrap();
    let refused = home.engine.fork_timeline(&eve, timeline_id("eves"), &timeline_id("main"), None, None).await;
    assert_eq!(outcome_text(&refused), HIDDEN);
    home.close().await;
}

#[tokio::test]
async fn expired_key_and_permission_stay_expired_with_host_clock_set_back() {
    let home = Home::new().await;
    let bob = home.user("bob", false).await;
    set(&home, reading("bob", within([(Role::Read, "bob", 1)]))).await.unwrap();
    let request = ApiKeyRequest {
        user_id: None,
        timeline_id: on("main"),
        label: "short".to_owned(),
        scopes: None,
        expires_at: home.house.clock.now().checked_add(Span::from_micros(HOUR)),
    };
    let key = home.engine.create_api_key(&home.admin, request, None).await.unwrap().secret.unwrap();
    home.house.clock.advance(2 * HOUR);
    assert!(home.engine.authenticate(&key).is_err());
    assert_eq!(may(&home, &bob).await, [HIDDEN, HIDDEN]);
    // Rejected attempts are entries, so the ledger shows how late it was.
    let home = home.reopen().await;
    home.house.clock.advance(-2 * HOUR);
    assert!(home.engine.authenticate(&key).is_err());
    assert_eq!(may(&home, &bob).await, [HIDDEN, HIDDEN]);
    home.close().await;
}
