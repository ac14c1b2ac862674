use proptest::prelude::*;

use super::*;
use crate::access::Role;

fn users(names: &[&str]) -> BTreeSet<UserId> {
    names.iter().map(|name| UserId::new(name).unwrap()).collect()
}

fn given() -> Permissions {
    Permissions { read: users(&["ada"]), write: users(&["bob"]), admin: users(&["cyd"]) }
}

#[test]
fn a_list_that_is_left_out_stays() {
    let set = decide(&given(), &PermissionsCommand { write: Some(users(&["dot"])), ..Default::default() }).unwrap();
    assert_eq!(set.0, Permissions { write: users(&["dot"]), ..given() });
    let nothing = decide(&given(), &PermissionsCommand::default()).unwrap();
    assert_eq!(nothing.0, given());
}

#[test]
fn an_empty_list_takes_all_away_and_that_of_administrators_is_refused() {
    let set = decide(&given(), &PermissionsCommand { read: Some(users(&[])), ..Default::default() }).unwrap();
    assert_eq!(set.0.role(&UserId::new("ada").unwrap()), None);
    let refused = decide(&given(), &PermissionsCommand { admin: Some(users(&[])), ..Default::default() });
    assert_eq!(refused, Err(PermissionsRefusal::LastAdmin));
}

/// Any few of four users.
fn some() -> impl Strategy<Value = BTreeSet<UserId>> {
    prop::collection::btree_set(prop::sample::select(vec!["ada", "bob", "cyd", "dot"]), 0..=4)
        .prop_map(|names| names.into_iter().map(|name| UserId::new(name).unwrap()).collect())
}

fn any_command() -> impl Strategy<Value = PermissionsCommand> {
    let list = || prop::option::of(some());
    (list(), list(), list()).prop_map(|(read, write, admin)| PermissionsCommand { read, write, admin })
}

proptest! {
    #[test]
    fn somebody_administers_a_timeline_after_any_commands(
        commands in prop::collection::vec(any_command(), 0..12),
    ) {
        let mut permissions = Permissions::of_creator(UserId::new("ada").unwrap());
        for command in commands {
            let before = permissions.clone();
            match decide(&permissions, &command) {
                Ok(set) => apply(&mut permissions, &set),
                Err(PermissionsRefusal::LastAdmin) => prop_assert_eq!(command.admin.as_ref(), Some(&BTreeSet::new())),
            }
            prop_assert!(permissions.admin.iter().any(|user| permissions.role(user) == Some(Role::Admin)));
            if command.admin.as_ref().is_none_or(|admin| !admin.is_empty()) {
                prop_assert_eq!(&permissions.read, command.read.as_ref().unwrap_or(&before.read));
                prop_assert_eq!(&permissions.write, command.write.as_ref().unwrap_or(&before.write));
                prop_assert_eq!(&permissions.admin, command.admin.as_ref().unwrap_or(&before.admin));
            } else {
                prop_assert_eq!(permissions, before.clone());
                permissions = before;
            }
        }
    }
}
