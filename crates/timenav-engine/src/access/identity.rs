use async_recursion::async_recursion as boxed;
use timenav_core::access::{Demand, Scope};
use timenav_core::directory::user::UserCommand;
use timenav_core::directory::{ApiKey, User};
use timenav_core::horizon::Horizon;
use timenav_core::ids::{KeyId, TimelineId, UserId, type_id};
use timenav_core::key::is_well_formed_key;
use timenav_core::limits::LABEL_BYTES_MAX;
use timenav_core::time::{Instant, Wall};

use crate::access::secrets::{key_digest, new_key_text};
use crate::engine::Engine;
use crate::ledger::changes::{KeyChanged, LedgerPosition, UserChanged};
use crate::ledger::payload::Reading;
use crate::ports::lookups::OneFact as _;
use crate::requests::caller::{AuthFailure, Caller, Credential};
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::access::identity::{ChangeUser, CreateKey, RevokeKey};
use crate::writer::submission::Answer;

#[derive(Clone, Debug)]
pub struct ApiKeyRequest {
    /// Defaults to the caller.
    pub user_id: Option<UserId>,
    /// The timeline of requests that name none. Defaults to `main`.
    pub timeline_id: Option<TimelineId>,
    pub label: String,
    /// Limits what the key may be used for; `None` for everything the user may do.
    pub scopes: Option<Vec<Scope>>,
    pub expires_at: Option<Instant<Wall>>,
}

#[derive(Clone, Debug)]
pub struct NewApiKey {
    pub key_id: KeyId,
    /// The key itself, which is shown only once; `None` for a repeated request.
    pub secret: Option<String>,
    pub user_id: UserId,
    pub timeline_id: TimelineId,
    pub ledger: LedgerPosition,
    pub replayed: bool,
}

impl Engine {
    /// Returns the caller for an API key.
    ///
    /// # Errors
    /// The key is malformed, unknown, expired or revoked, and the error does not reveal which; or it has a horizon.
    pub fn authenticate(&self, text: &str) -> Result<Caller, AuthFailure> {
        if !is_well_formed_key(text) {
            return Err(AuthFailure::Invalid);
        }
        // The lookup uses a digest, so that its duration reveals nothing about the secret.
        let directory = self.directory();
        let key = directory.keys.by_hash(&key_digest(text)).filter(|key| key.is_live(self.for_expiry()));
        let key = key.ok_or(AuthFailure::Invalid)?;
        if !key.horizon.is_open() {
            return Err(AuthFailure::Retired);
        }
        Ok(Caller {
            user_id: key.user_id.clone(),
            credential: Credential::Key(key.key_id.clone()),
            timeline_id: key.timeline_id.clone(),
            scopes: key.scopes.clone(),
        })
    }

    #[must_use]
    pub fn is_live(&self, caller: &Caller) -> bool {
        self.check_live(caller).is_ok()
    }

    /// In host time; `None` if the credentials do not expire, or are no longer valid.
    #[must_use]
    pub fn ends_at(&self, caller: &Caller) -> Option<Instant<Wall>> {
        let directory = self.directory();
        match &caller.credential {
            Credential::Key(key_id) => directory.keys.get(key_id)?.expires_at,
            Credential::Session(id) => Some(directory.sessions.get(id)?.idle_expires_at(self.session_spans())),
        }
    }

    /// The earlier end of the caller's role on the timeline and of their credentials; `None` if neither expires.
    #[must_use]
    pub fn access_ends_at(&self, caller: &Caller, timeline: &TimelineId) -> Option<Instant<Wall>> {
        let state = self.state(timeline);
        let role_end = state.and_then(|state| state.head.permissions.role_end(&caller.user_id, self.now()));
        self.ends_at(caller).into_iter().chain(role_end).min()
    }

    /// Re-checks authorization during a long operation: credentials are still valid, and the caller is still
    /// authorized.
    ///
    /// # Errors
    /// They are not.
    pub fn check_still(&self, caller: &Caller, timeline: &TimelineId, demand: Demand) -> Result<(), Refusal> {
        self.check_live(caller)?;
        self.check_exists(timeline)?;
        self.decide(caller, timeline, demand).map_err(|denial| Refusal::from(denial).about(timeline))
    }

    /// Re-checks that a caller may read a timeline before a delayed response about it is sent.
    ///
    /// # Errors
    /// They may not.
    pub fn check_watching(&self, caller: &Caller, timeline: &TimelineId) -> Result<(), Refusal> {
        self.check_still(caller, timeline, Demand::Look)
    }

    #[must_use]
    pub fn may_claim(&self, caller: &Caller, timeline: &TimelineId) -> bool {
        self.check_still(caller, timeline, Demand::Record).is_ok()
    }

    /// Re-checks credentials before a delayed response is sent.
    ///
    /// # Errors
    /// They are no longer valid, which is logged on `system`.
    #[boxed]
    pub async fn check_log_access(&self, caller: &Caller, operation: &str) -> Result<(), Refusal> {
        if self.is_live(caller) {
            return Ok(());
        }
        Err(self.refuse_ended(caller, &TimelineId::system(), operation).await)
    }

    /// Creates a user.
    ///
    /// # Errors
    /// The user exists, the caller is not an operator, or the ledger cannot be written.
    #[boxed]
    pub async fn create_user(
        &self,
        caller: &Caller,
        user_id: UserId,
        operator: bool,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<UserChanged>, Refusal> {
        let creating = ChangeUser(UserCommand::Create { user_id, operator });
        self.submit(caller, TimelineId::system(), creating, idempotency).await
    }

    /// Deletes a user and revokes their keys. Their name stays in ledgers and permissions.
    ///
    /// # Errors
    /// There is no such user, it is the last operator, the caller is not an operator, or the ledger cannot be written.
    #[boxed]
    pub async fn delete_user(&self, caller: &Caller, user_id: UserId) -> Result<Answer<UserChanged>, Refusal> {
        let removing = ChangeUser(UserCommand::Remove { user_id });
        self.submit(caller, TimelineId::system(), removing, None).await
    }

    /// Returns a page of users by name, and the name after which the next page begins.
    ///
    /// # Errors
    /// The caller is not an operator, or the ledger cannot be written.
    #[boxed]
    pub async fn users(
        &self,
        caller: &Caller,
        items_max: usize,
        after: Option<&UserId>,
    ) -> Result<(Vec<User>, Option<UserId>), Refusal> {
        self.look(caller, TimelineId::system(), Demand::Operate, Reading::Users {}).await?;
        let directory = self.directory();
        let mut rest = directory.users.after(after).map(|(_, user)| user);
        let users: Vec<User> = rest.by_ref().take(items_max).cloned().collect();
        let next = rest.next().and_then(|_| users.last()).map(|last| last.user_id.clone());
        Ok((users, next))
    }

    /// Creates an API key. Its secret is only in this response.
    ///
    /// # Errors
    /// There is no such user, the caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn create_api_key(
        &self,
        caller: &Caller,
        request: ApiKeyRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<NewApiKey, Refusal> {
        if request.label.len() > LABEL_BYTES_MAX {
            return Err(Refusal::invalid("label", format!("a label can have at most {LABEL_BYTES_MAX} bytes")));
        }
        let timeline_id = request.timeline_id.unwrap_or_else(TimelineId::main);
        let secret = new_key_text(&*self.ports().entropy);
        let key_id = KeyId::new(&type_id("key", self.uuid())).map_err(|error| Refusal::id("key_id", error))?;
        let key = ApiKey {
            key_id,
            hash: key_digest(&secret),
            user_id: request.user_id.unwrap_or_else(|| caller.user_id.clone()),
            timeline_id,
            label: request.label,
            scopes: request.scopes.map(Into::into),
            horizon: Horizon::default(),
            created_at: self.now(),
            expires_at: request.expires_at,
            revoked_at: None,
        };
        let answer = self.submit(caller, TimelineId::system(), CreateKey(key), idempotency).await?;
        let Answer { change: KeyChanged { key_id }, ledger, replayed, .. } = answer;
        // On a repeated request, the key may have been revoked since.
        let made = self.known_key(&key_id).await?;
        let made = made.ok_or_else(|| Refusal::NotFound { what: "API key", id: key_id.to_string() })?;
        let ApiKey { user_id, timeline_id, .. } = made;
        let secret = (!replayed).then_some(secret);
        Ok(NewApiKey { key_id, secret, user_id, timeline_id, ledger, replayed })
    }

    /// Revokes an API key.
    ///
    /// # Errors
    /// There is no such live key, the caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn revoke_api_key(&self, caller: &Caller, key_id: KeyId) -> Result<Answer<KeyChanged>, Refusal> {
        let owner = self.known_key(&key_id).await?.map(|key| key.user_id);
        self.submit(caller, TimelineId::system(), RevokeKey { key_id, owner }, None).await
    }

    /// A live key comes from memory, so that tampering with its row has no effect; others are only in the store.
    pub(crate) async fn known_key(&self, key_id: &KeyId) -> Result<Option<ApiKey>, Refusal> {
        if let Some(key) = self.directory().keys.get(key_id) {
            return Ok(Some(ApiKey::clone(key)));
        }
        Ok(self.store().api_key(key_id).await?)
    }

    /// Returns a page of the keys of the caller or of a user, newest first, including those no longer valid, and the
    /// name after which the next page begins.
    ///
    /// # Errors
    /// The keys are another user's and the caller is not an operator, the page is to begin after a key that is not one
    /// of them, or the ledger cannot be written.
    #[boxed]
    pub async fn api_keys(
        &self,
        caller: &Caller,
        user_id: Option<UserId>,
        items_max: usize,
        after: Option<KeyId>,
    ) -> Result<(Vec<ApiKey>, Option<KeyId>), Refusal> {
        let of = user_id.unwrap_or_else(|| caller.user_id.clone());
        let demand = if of == caller.user_id { Demand::Own } else { Demand::Operate };
        self.look(caller, TimelineId::system(), demand, Reading::ApiKeys {}).await?;
        if let Some(after) = &after {
            let found = self.known_key(after).await?;
            found.filter(|key| key.user_id == of).ok_or(Refusal::Cursor)?;
        }
        let mut keys = self.store().api_keys(&of, after.as_ref(), items_max + 1).await?;
        let directory = self.directory();
        for key in &mut keys {
            if let Some(signed) = directory.keys.get(&key.key_id) {
                key.clone_from(signed.as_ref());
            }
        }
        let is_more = keys.len() > items_max;
        keys.truncate(items_max);
        let next = keys.last().filter(|_| is_more).map(|last| last.key_id.clone());
        Ok((keys, next))
    }
}
