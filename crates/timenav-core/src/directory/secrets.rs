use std::collections::BTreeSet;
use std::sync::Arc;

use super::key::ApiKey;
use super::session::Session;
use crate::directory::persistent_map::PersistentMap;
use crate::ids::{KeyId, SessionId, UserId};

pub trait Secret {
    type Id: Clone + Ord;

    fn id(&self) -> &Self::Id;
    /// Returns the SHA-256 of the secret.
    fn hash(&self) -> &[u8; 32];
    fn user_id(&self) -> &UserId;
}

impl Secret for ApiKey {
    type Id = KeyId;

    fn id(&self) -> &KeyId {
        &self.key_id
    }

    fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    fn user_id(&self) -> &UserId {
        &self.user_id
    }
}

impl Secret for Session {
    type Id = SessionId;

    fn id(&self) -> &SessionId {
        &self.session_id
    }

    fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    fn user_id(&self) -> &UserId {
        &self.user_id
    }
}

/// Credentials of one kind, indexed by id, secret digest, and user.
#[derive(Clone, Debug)]
pub struct Secrets<T: Secret> {
    all: PersistentMap<T::Id, Arc<T>>,
    /// By digest of the secret.
    by_hash: PersistentMap<[u8; 32], Arc<T>>,
    names: PersistentMap<UserId, Arc<BTreeSet<T::Id>>>,
}

impl<T: Secret> Default for Secrets<T> {
    fn default() -> Self {
        Self { by_hash: PersistentMap::default(), all: PersistentMap::default(), names: PersistentMap::default() }
    }
}

impl<T: Secret> Secrets<T> {
    #[must_use]
    pub fn by_hash(&self, hash: &[u8; 32]) -> Option<&Arc<T>> {
        self.by_hash.get(hash)
    }

    #[must_use]
    pub fn get(&self, id: &T::Id) -> Option<&Arc<T>> {
        self.all.get(id)
    }

    #[must_use]
    pub const fn len(&self) -> usize {
        self.all.len()
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns a user's credentials, ordered by id.
    pub fn of_user(&self, user_id: &UserId) -> impl Iterator<Item = &Arc<T>> {
        self.names.get(user_id).into_iter().flat_map(|ids| ids.iter()).filter_map(|id| self.all.get(id))
    }

    pub fn values(&self) -> impl Iterator<Item = &Arc<T>> {
        self.all.values()
    }

    /// Inserts a credential, replacing the one with the same id.
    pub fn put(&mut self, secret: T) {
        self.take_out(&secret.id().clone());
        let secret = Arc::new(secret);
        let mut ids = self.names.get(secret.user_id()).cloned().unwrap_or_default();
        Arc::make_mut(&mut ids).insert(secret.id().clone());
        self.names.insert(secret.user_id().clone(), ids);
        self.by_hash.insert(*secret.hash(), Arc::clone(&secret));
        self.all.insert(secret.id().clone(), secret);
    }

    pub fn take_out(&mut self, id: &T::Id) {
        let Some(secret) = self.all.remove(id) else { return };
        self.by_hash.remove(secret.hash());
        let Some(mut ids) = self.names.remove(secret.user_id()) else { return };
        Arc::make_mut(&mut ids).remove(id);
        if !ids.is_empty() {
            self.names.insert(secret.user_id().clone(), ids);
        }
    }

    pub fn retain(&mut self, stays: impl Fn(&T) -> bool) {
        let leaving: Vec<T::Id> =
            self.all.values().filter(|secret| !stays(secret)).map(|secret| secret.id().clone()).collect();
        for id in leaving {
            self.take_out(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::persistent_map::SHELF_ENTRIES_MAX;
    use crate::time::Instant;

    fn key(name: &str, hash: u8, user: &str) -> ApiKey {
        ApiKey {
            key_id: KeyId::new(name).unwrap(),
            hash: [hash; 32],
            user_id: UserId::new(user).unwrap(),
            timeline_id: crate::ids::TimelineId::new("main").unwrap(),
            label: String::new(),
            scopes: None,
            horizon: crate::horizon::Horizon::default(),
            created_at: Instant::EPOCH,
            expires_at: None,
            revoked_at: None,
        }
    }

    fn names(keys: &Secrets<ApiKey>, user: &str) -> Vec<String> {
        keys.of_user(&UserId::new(user).unwrap()).map(|key| key.key_id.to_string()).collect()
    }

    #[test]
    fn secrets_are_consistent_across_all_indexes() {
        let mut keys = Secrets::default();
        for (name, hash, user) in [("key_a", 1, "ada"), ("key_b", 2, "ada"), ("key_c", 3, "bob")] {
            keys.put(key(name, hash, user));
        }
        assert_eq!(
            (names(&keys, "ada"), names(&keys, "bob")),
            (vec!["key_a".into(), "key_b".into()], vec!["key_c".into()])
        );
        assert_eq!(keys.by_hash(&[2; 32]).unwrap().key_id.as_str(), "key_b");
        // A credential with the same id replaces the previous one, including its digest.
        keys.put(key("key_b", 9, "bob"));
        assert!(keys.by_hash(&[2; 32]).is_none() && keys.by_hash(&[9; 32]).is_some());
        assert_eq!(
            (names(&keys, "ada"), names(&keys, "bob")),
            (vec!["key_a".into()], vec!["key_b".into(), "key_c".into()])
        );
        keys.retain(|key| key.user_id.as_str() == "ada");
        assert_eq!((names(&keys, "bob"), keys.values().count()), (Vec::<String>::new(), 1));
        assert!(keys.get(&KeyId::new("key_c").unwrap()).is_none() && keys.by_hash(&[3; 32]).is_none());
        assert!(!keys.names.contains_key(&UserId::new("bob").unwrap()), "nothing is left of a user without any");
    }

    #[test]
    fn adding_a_credential_copies_one_shelf_per_index() {
        let of = |number: u32| {
            let mut one = key(&format!("key_{number:06}"), 0, &format!("user-{}", number % 20_000));
            one.hash = *crate::ledger::sha256(&[&number.to_be_bytes()]).as_bytes();
            one
        };
        let mut keys = Secrets::default();
        (0..60_000).map(of).for_each(|key| keys.put(key));
        let before = keys.clone();
        keys.put(of(70_000));
        let copied = [
            keys.all.unshared(&before.all),
            keys.by_hash.unshared(&before.by_hash),
            keys.names.unshared(&before.names),
        ];
        assert!(copied.iter().all(|copied| (1..=SHELF_ENTRIES_MAX).contains(copied)), "{copied:?}");
        keys.take_out(&of(70_000).key_id);
        assert!(keys.by_hash(&of(70_000).hash).is_none() && keys.len() == 60_000);
    }
}
