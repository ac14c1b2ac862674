//! Users, their keys, and who a key belongs to.

use async_recursion::async_recursion as boxed;
use timenav_core::access::{Demand, Scope};
use timenav_core::directory::user::UserCommand;
use timenav_core::directory::{ApiKey, User};
use timenav_core::horizon::Horizon;
use timenav_core::ids::{KeyId, TimelineId, UserId, type_id};
use timenav_core::key::is_well_formed_key;
use timenav_core::limits::LABEL_BYTES_MAX;
use timenav_core::time::{Instant, Wall};

use crate::asked::Answer;
use crate::caller::{AuthFailure, Caller, Credential};
use crate::changes::{KeyChanged, LedgerPosition, UserChanged};
use crate::deciding::identity::{ChangeUser, CreateKey, RevokeKey};
use crate::engine::Engine;
use crate::idempotency::Idempotency;
use crate::one_fact::OneFact as _;
use crate::payload::Reading;
use crate::refusal::Refusal;
use crate::secrets::{key_digest, new_key_text};

/// What a new key is to be.
#[derive(Clone, Debug)]
pub struct ApiKeyRequest {
    /// Whose; the caller's where there is none.
    pub user_id: Option<UserId>,
    /// The timeline meant where a request names none; `main` where there is none.
    pub timeline_id: Option<TimelineId>,
    /// What it is for.
    pub label: String,
    /// What it may be used for; `None` for all that the user may do.
    pub scopes: Option<Vec<Scope>>,
    /// When it stops working, by the host.
    pub expires_at: Option<Instant<Wall>>,
}

/// A key that was just made.
#[derive(Clone, Debug)]
pub struct NewApiKey {
    /// Its public name.
    pub key_id: KeyId,
    /// The key itself, shown this once; `None` for a repeated request.
    pub secret: Option<String>,
    /// The user it belongs to.
    pub user_id: UserId,
    /// The timeline it is bound to.
    pub timeline_id: TimelineId,
    /// Where its making stands.
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
}

impl Engine {
    /// Returns who shows a key.
    ///
    /// # Errors
    /// The key is malformed, unknown, expired or revoked, and which of these is not told; or it has a horizon.
    pub fn authenticate(&self, text: &str) -> Result<Caller, AuthFailure> {
        if !is_well_formed_key(text) {
            return Err(AuthFailure::Invalid);
        }
        // Looking up a digest tells nothing about the secret, however long it takes.
        let directory = self.directory();
        let key = directory.keys.shown(&key_digest(text)).filter(|key| key.is_live(self.for_expiry()));
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

    /// Returns whether the key a caller showed still works, or their session still lasts.
    #[must_use]
    pub fn is_live(&self, caller: &Caller) -> bool {
        self.check_live(caller).is_ok()
    }

    /// Returns when what a caller showed ends by itself, by the host; `None` where it does not, or has ended.
    #[must_use]
    pub fn ends_at(&self, caller: &Caller) -> Option<Instant<Wall>> {
        let directory = self.directory();
        match &caller.credential {
            Credential::Key(key_id) => directory.keys.get(key_id)?.expires_at,
            Credential::Session(id) => Some(directory.sessions.get(id)?.idle_expires_at(self.session_spans())),
        }
    }

    /// Returns when a caller's role on a timeline expires, or what they showed does, by the host: the earlier of both.
    /// `None` where neither does.
    #[must_use]
    pub fn access_ends_at(&self, caller: &Caller, timeline: &TimelineId) -> Option<Instant<Wall>> {
        let state = self.state(timeline);
        let role_end = state.and_then(|state| state.head.permissions.role_end(&caller.user_id, self.now()));
        self.ends_at(caller).into_iter().chain(role_end).min()
    }

    /// Lets somebody go on with what takes long: what they showed is still good, and they may still.
    ///
    /// # Errors
    /// It is not, or they may not.
    pub fn check_still(&self, caller: &Caller, timeline: &TimelineId, demand: Demand) -> Result<(), Refusal> {
        self.check_live(caller)?;
        self.check_standing(timeline)?;
        self.decide(caller, timeline, demand).map_err(|denial| Refusal::from(denial).about(timeline))
    }

    /// Lets an answer about a timeline be told that was waited for: the caller may still look there.
    ///
    /// # Errors
    /// They may not.
    pub fn check_watching(&self, caller: &Caller, timeline: &TimelineId) -> Result<(), Refusal> {
        self.check_still(caller, timeline, Demand::Look)
    }

    /// Returns whether a caller may still claim firings of a timeline.
    #[must_use]
    pub fn may_claim(&self, caller: &Caller, timeline: &TimelineId) -> bool {
        self.check_still(caller, timeline, Demand::Record).is_ok()
    }

    /// Lets an answer be told that took a while: what was shown for it is still good.
    ///
    /// # Errors
    /// It is not, which is logged on `system`.
    #[boxed]
    pub async fn check_told(&self, caller: &Caller, operation: &str) -> Result<(), Refusal> {
        if self.is_live(caller) {
            return Ok(());
        }
        Err(self.refuse_ended(caller, &TimelineId::system(), operation).await)
    }

    /// Makes a user.
    ///
    /// # Errors
    /// The user exists, the caller is no operator, or the ledger cannot be written.
    #[boxed]
    pub async fn create_user(
        &self,
        caller: &Caller,
        user_id: UserId,
        operator: bool,
        idempotency: Option<Idempotency>,
    ) -> Result<(UserId, LedgerPosition, bool), Refusal> {
        let creating = ChangeUser(UserCommand::Create { user_id, operator });
        let answer = self.submit(caller, TimelineId::system(), creating, idempotency).await?;
        Ok(user_of(answer))
    }

    /// Removes a user and stops their keys. Their name stays in ledgers and permissions.
    ///
    /// # Errors
    /// There is no such user, it is the last operator, the caller is no operator, or the ledger
    /// cannot be written.
    #[boxed]
    pub async fn delete_user(
        &self,
        caller: &Caller,
        user_id: UserId,
    ) -> Result<(UserId, LedgerPosition, bool), Refusal> {
        let removing = ChangeUser(UserCommand::Remove { user_id });
        let answer = self.submit(caller, TimelineId::system(), removing, None).await?;
        Ok(user_of(answer))
    }

    /// Returns a page of the users, by name, and the name after which the next page begins.
    ///
    /// # Errors
    /// The caller is no operator, or the ledger cannot be written.
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

    /// Makes an API key. Its secret is in the answer and nowhere else.
    ///
    /// # Errors
    /// There is no such user, the caller may not, or the ledger cannot be written.
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
        let secret = new_key_text(&*self.doors().entropy);
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
        let (key_id, ledger, replayed) = key_of(answer);
        // A key that was made earlier may have been stopped since.
        let made = self.known_key(&key_id).await?;
        let made = made.ok_or_else(|| Refusal::NotFound { what: "API key", id: key_id.to_string() })?;
        let ApiKey { user_id, timeline_id, .. } = made;
        let secret = (!replayed).then_some(secret);
        Ok(NewApiKey { key_id, secret, user_id, timeline_id, ledger, replayed })
    }

    /// Stops an API key.
    ///
    /// # Errors
    /// There is no such live key, the caller may not, or the ledger cannot be written.
    #[boxed]
    pub async fn revoke_api_key(
        &self,
        caller: &Caller,
        key_id: KeyId,
    ) -> Result<(KeyId, LedgerPosition, bool), Refusal> {
        let owner = self.known_key(&key_id).await?.map(|key| key.user_id);
        let answer = self.submit(caller, TimelineId::system(), RevokeKey { key_id, owner }, None).await?;
        Ok(key_of(answer))
    }

    /// Returns a key, if there ever was one: while it works as the service let it in, whatever another hand has written into
    /// its row since. One that was revoked or has expired is in the store alone.
    pub(crate) async fn known_key(&self, key_id: &KeyId) -> Result<Option<ApiKey>, Refusal> {
        if let Some(key) = self.directory().keys.get(key_id) {
            return Ok(Some(ApiKey::clone(key)));
        }
        Ok(self.store().api_key(key_id).await?)
    }

    /// Returns a page of the caller's keys, or those of a user, newest first, and the name after which the next page
    /// begins. Those that work no more are among them.
    ///
    /// # Errors
    /// The keys are another user's and the caller is no operator, the page is to begin after a key that is not
    /// one of them, or the ledger cannot be written.
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

fn user_of(answer: Answer<UserChanged>) -> (UserId, LedgerPosition, bool) {
    (answer.change.user_id, answer.ledger, answer.replayed)
}

fn key_of(answer: Answer<KeyChanged>) -> (KeyId, LedgerPosition, bool) {
    (answer.change.key_id, answer.ledger, answer.replayed)
}
