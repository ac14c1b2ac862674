use proptest::prelude::*;

use super::*;
use crate::access::Ends;

fn users(names: &[&str]) -> BTreeSet<UserId> {
    names.iter().map(|name| UserId::new(name).unwrap()).collect()
}

fn given() -> Permissions {
    Permissions { read: users(&["ada"]), write: users(&["bob"]), admin: users(&["cyd"]), ..Permissions::default() }
}

fn user(name: &str) -> UserId {
    UserId::new(name).unwrap()
}

fn at(micros: i64) -> Instant<Wall> {
    Instant::from_micros(micros).unwrap()
}

fn ends<const N: usize>(ends: [(Role, &str, End); N]) -> PermissionsCommand {
    let ends = ends.into_iter().map(|(role, name, end)| ((role, user(name)), end)).collect();
    PermissionsCommand { ends, ..PermissionsCommand::default() }
}

const NOW: i64 = 100;

#[test]
fn omitted_permission_list_is_unchanged() {
    let set =
        decide(&given(), &PermissionsCommand { write: Some(users(&["dot"])), ..Default::default() }, at(NOW)).unwrap();
    assert_eq!(set, Permissions { write: users(&["dot"]), ..given() });
    let nothing = decide(&given(), &PermissionsCommand::default(), at(NOW)).unwrap();
    assert_eq!(nothing, given());
}

#[test]
fn empty_list_revokes_all_but_not_administrators() {
    let nobody = PermissionsCommand { read: Some(users(&[])), ..Default::default() };
    let set = decide(&given(), &nobody, at(NOW)).unwrap();
    assert_eq!(set.role(&user("ada"), at(NOW)), None);
    let nobody = PermissionsCommand { admin: Some(users(&[])), ..Default::default() };
    let refused = decide(&given(), &nobody, at(NOW));
    assert_eq!(refused, Err(PermissionsRefusal::LastAdmin));
}

#[test]
fn permission_ends_exactly_at_its_end_time() {
    let set = decide(&given(), &ends([(Role::Read, "ada", End::At(at(200)))]), at(NOW)).unwrap();
    assert_eq!(set.role(&user("ada"), at(199)), Some(Role::Read));
    assert_eq!((set.role(&user("ada"), at(200)), set.names(&user("ada"))), (None, true));
    assert_eq!(set.role_end(&user("ada"), at(199)), Some(at(200)));
    assert_eq!((set.role_end(&user("ada"), at(200)), set.role_end(&user("bob"), at(NOW))), (None, None));

    // When a higher role ends, a lower one remains.
    let both = PermissionsCommand {
        read: Some(users(&["ada", "bob"])),
        ..ends([(Role::Write, "bob", End::In(Span::from_micros(50)))])
    };
    let set = decide(&set, &both, at(NOW)).unwrap();
    assert_eq!(set.role(&user("bob"), at(149)), Some(Role::Write));
    assert_eq!((set.role(&user("bob"), at(150)), set.role_end(&user("bob"), at(150))), (Some(Role::Read), None));
}

#[test]
fn remaining_user_keeps_the_end_until_another_is_set() {
    let decide = |permissions: &Permissions, command: PermissionsCommand| decide(permissions, &command, at(NOW));
    let first = decide(&given(), ends([(Role::Read, "ada", End::At(at(200)))])).unwrap();
    // A client unaware of ends reads the lists, adds a user, and sends them back.
    let more = PermissionsCommand { read: Some(users(&["ada", "dot"])), ..Default::default() };
    let second = decide(&first, more.clone()).unwrap();
    assert_eq!(second.ends.read, BTreeMap::from([(user("ada"), at(200))]));
    assert_eq!(decide(&second, ends([(Role::Read, "ada", End::Never)])).unwrap().ends, Ends::default());
    let out = decide(&second, PermissionsCommand { read: Some(users(&["dot"])), ..Default::default() }).unwrap();
    assert_eq!(decide(&out, more).unwrap().ends, Ends::default());
}

#[test]
fn permission_end_must_be_later_unless_unchanged() {
    let expired = |end| Err(PermissionsRefusal::Expired { role: Role::Read, user: user(end) });
    for end in [NOW - 1, NOW] {
        assert_eq!(decide(&given(), &ends([(Role::Read, "ada", End::At(at(end)))]), at(NOW)), expired("ada"));
    }
    let same = ends([(Role::Read, "ada", End::At(at(NOW + 1)))]);
    let set = decide(&given(), &same, at(NOW)).unwrap();
    assert_eq!(decide(&set, &same, at(NOW + 9)).unwrap(), set);
    assert_eq!(decide(&set, &ends([(Role::Read, "ada", End::At(at(NOW + 2)))]), at(NOW + 9)), expired("ada"));
    let far = decide(&set, &ends([(Role::Read, "ada", End::In(Span::from_micros(i64::MAX)))]), at(NOW)).unwrap();
    assert_eq!(far.ends.read[&user("ada")], Instant::MAX);
}

#[test]
fn end_for_an_unlisted_user_is_rejected() {
    let refused = decide(&given(), &ends([(Role::Write, "ada", End::Never)]), at(NOW));
    assert_eq!(refused, Err(PermissionsRefusal::NotListed { role: Role::Write, user: user("ada") }));
}

#[test]
fn one_administrator_without_an_end_must_remain() {
    let refused = decide(&given(), &ends([(Role::Admin, "cyd", End::At(at(200)))]), at(NOW));
    assert_eq!(refused, Err(PermissionsRefusal::EveryAdminExpires));
    let two =
        PermissionsCommand { admin: Some(users(&["cyd", "dot"])), ..ends([(Role::Admin, "cyd", End::At(at(200)))]) };
    let set = decide(&given(), &two, at(NOW)).unwrap();
    assert_eq!(set.role(&user("cyd"), at(200)), None);
    // The last administrator can neither be removed nor expire.
    let alone = PermissionsCommand { admin: Some(users(&["cyd"])), ..Default::default() };
    assert_eq!(decide(&set, &alone, at(NOW)), Err(PermissionsRefusal::EveryAdminExpires));
}

fn some() -> impl Strategy<Value = BTreeSet<UserId>> {
    prop::collection::btree_set(prop::sample::select(vec!["ada", "bob", "cyd", "dot"]), 0..=4)
        .prop_map(|names| names.into_iter().map(|name| UserId::new(name).unwrap()).collect())
}

fn any_command() -> impl Strategy<Value = PermissionsCommand> {
    let list = || prop::option::of(some());
    let role = prop::sample::select(Role::ALL.to_vec());
    let end = prop_oneof![
        Just(End::Never),
        (0_i64..300).prop_map(|end| End::At(at(end))),
        (1_i64..300).prop_map(|span| End::In(Span::from_micros(span))),
    ];
    let named = prop::sample::select(vec!["ada", "bob", "cyd", "dot"]).prop_map(user);
    let ends = prop::collection::btree_map((role, named), end, 0..3);
    (list(), list(), list(), ends).prop_map(|(read, write, admin, ends)| PermissionsCommand {
        read,
        write,
        admin,
        ends,
    })
}

proptest! {
    #[test]
    fn timeline_always_keeps_an_administrator_without_an_end(
        commands in prop::collection::vec((any_command(), 0_i64..200), 0..12),
    ) {
        let mut permissions = Permissions::of_creator(user("ada"));
        for (command, now) in commands {
            let before = permissions.clone();
            if let Ok(set) = decide(&permissions, &command, at(now)) {
                permissions = set;
                prop_assert_eq!(&permissions.read, command.read.as_ref().unwrap_or(&before.read));
                prop_assert_eq!(&permissions.write, command.write.as_ref().unwrap_or(&before.write));
                prop_assert_eq!(&permissions.admin, command.admin.as_ref().unwrap_or(&before.admin));
            }
            prop_assert!(permissions.admin.iter().any(|user| permissions.role(user, Instant::MAX) == Some(Role::Admin)));
            for role in Role::ALL {
                prop_assert!(permissions.ends.of(role).keys().all(|user| permissions.list(role).contains(user)));
            }
            // Sending the permissions back unchanged has no effect at any time.
            let ends = Role::ALL.into_iter().flat_map(|role| {
                permissions.ends.of(role).iter().map(move |(user, end)| ((role, user.clone()), End::At(*end)))
            });
            let same = PermissionsCommand {
                read: Some(permissions.read.clone()),
                write: Some(permissions.write.clone()),
                admin: Some(permissions.admin.clone()),
                ends: ends.collect(),
            };
            prop_assert_eq!(decide(&permissions, &same, Instant::MAX).unwrap(), permissions.clone());
        }
    }
}
