use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::merkle::{leaf_hash, tree_root};
use super::*;
use crate::access::{RestrictionLevel, Scope};
use crate::horizon::Horizon;
use crate::ids::{KeyId, SessionId, TimelineId, UserId};
use crate::time::Instant;

fn from_scratch<'a>(rows: impl IntoIterator<Item = DirectoryRow<'a>>) -> Hash {
    let mut buckets = vec![BTreeMap::new(); DIRECTORY_BUCKETS];
    for row in rows {
        let name = row.name().digest();
        let bucket = usize::from_str_radix(&name.to_hex()[..3], 16).unwrap();
        buckets[bucket].insert(name, row.digest());
    }
    let bytes = |bucket: &BTreeMap<Hash, Hash>| -> Vec<u8> {
        bucket.iter().flat_map(|(name, row)| [*name.as_bytes(), *row.as_bytes()]).flatten().collect()
    };
    let leaves: Vec<Hash> = buckets.iter().map(|bucket| leaf_hash(&bytes(bucket))).collect();
    tree_root(&leaves)
}

fn user(user_id: &UserId, operator: bool) -> DirectoryRow<'_> {
    DirectoryRow::User { user_id, operator, restriction: RestrictionLevel::FullAccess, created_at: Instant::EPOCH }
}

fn password(user_id: &UserId, byte: u8) -> DirectoryRow<'_> {
    DirectoryRow::Password { user_id, sha256: Hash::from_bytes([byte; 32]), set_at: Instant::EPOCH }
}

fn ended(timeline_id: &TimelineId, size: u64, byte: u8) -> DirectoryRow<'_> {
    DirectoryRow::Ended { timeline_id, size, root: Hash::from_bytes([byte; 32]) }
}

#[test]
fn every_field_of_a_row_changes_its_digest() {
    let (user_id, other) = (UserId::new("ada").unwrap(), UserId::new("bob").unwrap());
    let (timeline_id, key_id) = (TimelineId::new("main").unwrap(), KeyId::new("key_1").unwrap());
    let elsewhere = TimelineId::new("other").unwrap();
    let session_id = SessionId::new("session_1").unwrap();
    let (sha256, at, later) = (sha256(&[b"secret"]), Instant::EPOCH, Instant::from_micros(1).unwrap());
    let (horizon, clock) = (Horizon::default(), Horizon { until_clock: true, known_at: None });
    let known = Horizon { until_clock: false, known_at: Some(0) };
    let key = |user_id, label, scopes, horizon, expires_at| {
        let (key_id, timeline_id) = (&key_id, &timeline_id);
        DirectoryRow::Key { key_id, sha256, user_id, timeline_id, label, scopes, horizon, created_at: at, expires_at }
    };
    let session = |user_id, horizon, renewed_at, expires_at| {
        let session_id = &session_id;
        DirectoryRow::Session { session_id, sha256, user_id, horizon, created_at: at, renewed_at, expires_at }
    };
    let restricted = DirectoryRow::User {
        user_id: &user_id,
        operator: false,
        restriction: RestrictionLevel::NoAccess,
        created_at: at,
    };
    let rows = [
        user(&user_id, false),
        user(&user_id, true),
        user(&other, false),
        restricted,
        password(&user_id, 1),
        password(&user_id, 2),
        key(&user_id, "", None, horizon, None),
        key(&other, "", None, horizon, None),
        key(&user_id, "x", None, horizon, None),
        key(&user_id, "", Some(&[][..]), horizon, None),
        key(&user_id, "", Some(&[Scope::Operator]), horizon, None),
        key(&user_id, "", None, clock, None),
        key(&user_id, "", None, known, None),
        key(&user_id, "", None, horizon, Some(at)),
        session(&user_id, horizon, at, later),
        session(&other, horizon, at, later),
        session(&user_id, clock, at, later),
        session(&user_id, horizon, later, later),
        session(&user_id, horizon, at, at),
        ended(&timeline_id, 1, 1),
        ended(&timeline_id, 2, 1),
        ended(&timeline_id, 1, 2),
        ended(&elsewhere, 1, 1),
    ];
    let digests: BTreeMap<Hash, usize> = rows.iter().map(DirectoryRow::digest).zip(0..).collect();
    assert_eq!(digests.len(), rows.len());
    for row in rows {
        let bytes = row.encode();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(bytes, serde_json_canonicalizer::to_vec(&value).unwrap());
    }
    let both = [Scope::TimelineRead, Scope::Operator, Scope::TimelineRead];
    let sorted = key(&user_id, "", Some(&both[..2]), horizon, None).digest();
    assert_eq!(key(&user_id, "", Some(&both[1..]), horizon, None).digest(), sorted);
}

#[test]
fn row_names_differ_by_kind() {
    let user_id = UserId::new("ada").unwrap();
    let (key_id, session_id) = (KeyId::new("ada").unwrap(), SessionId::new("ada").unwrap());
    let timeline_id = TimelineId::new("ada").unwrap();
    let names = [
        RowName::User(&user_id),
        RowName::Password(&user_id),
        RowName::Key(&key_id),
        RowName::Session(&session_id),
        RowName::Ended(&timeline_id),
    ];
    let digests: std::collections::BTreeSet<Hash> = names.into_iter().map(RowName::digest).collect();
    assert_eq!(digests.len(), names.len());
}

#[test]
fn directory_row_is_found_by_name() {
    let (ada, missing) = (UserId::new("ada").unwrap(), TimelineId::new("gone").unwrap());
    let mut tree: DirectoryTree = [user(&ada, false), ended(&missing, 4, 1)].into_iter().collect();
    assert!(tree.contains(RowName::User(&ada)) && tree.contains(RowName::Ended(&missing)));
    assert!(!tree.contains(RowName::Password(&ada)));
    assert!(!tree.contains(RowName::Ended(&TimelineId::new("ada").unwrap())));
    assert!(tree.remove(RowName::Ended(&missing)) && !tree.contains(RowName::Ended(&missing)));
}

#[test]
fn cloned_directory_tree_changes_independently() {
    let (ada, bob) = (UserId::new("ada").unwrap(), UserId::new("bob").unwrap());
    let mut tree: DirectoryTree = [user(&ada, false), user(&bob, false)].into_iter().collect();
    let before = tree.root();
    let mut promoted = tree.clone();
    promoted.put(&user(&bob, true));
    assert_ne!(promoted.root(), before);
    assert_eq!((tree.root(), tree.len(), promoted.len()), (before, 2, 2));
    promoted.put(&user(&bob, false));
    assert_eq!(promoted.root(), before);
    assert!(tree.remove(RowName::User(&ada)) && !tree.remove(RowName::User(&ada)));
    assert!(tree.remove(RowName::User(&bob)) && tree.is_empty());
    assert_eq!(tree.root(), from_scratch([]));
}

#[test]
fn directory_root_of_many_rows_matches_a_full_computation() {
    let ids: Vec<UserId> = (0..20_000).map(|number| UserId::new(&format!("user-{number}")).unwrap()).collect();
    let rows = || ids.iter().map(|id| user(id, id.as_str().ends_with('7')));
    let mut tree: DirectoryTree = rows().collect();
    assert_eq!((tree.root(), tree.len()), (from_scratch(rows()), ids.len()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Few names, so that rows are often replaced and removed.
    #[test]
    fn incremental_directory_root_matches_a_full_computation(
        steps in prop::collection::vec((0..12_u8, prop::option::of(any::<u8>()), any::<bool>()), 0..60),
    ) {
        let ids: Vec<UserId> = (0..6).map(|number| UserId::new(&format!("user-{number}")).unwrap()).collect();
        let mut tree = DirectoryTree::default();
        let mut model: BTreeMap<u8, u8> = BTreeMap::new();
        let row = |slot: u8, byte: u8| {
            let id = &ids[usize::from(slot / 2)];
            if slot.is_multiple_of(2) { user(id, byte.is_multiple_of(2)) } else { password(id, byte) }
        };
        for (slot, byte, asks) in steps {
            if let Some(byte) = byte {
                tree.put(&row(slot, byte));
                model.insert(slot, byte);
            } else {
                prop_assert_eq!(tree.remove(row(slot, 0).name()), model.remove(&slot).is_some());
            }
            if asks {
                tree.root();
            }
        }
        prop_assert_eq!(tree.len(), model.len());
        prop_assert_eq!(tree.root(), from_scratch(model.iter().map(|(slot, byte)| row(*slot, *byte))));
    }
}
