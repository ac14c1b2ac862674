//! A model of users, their keys, restrictions, the permissions of timelines, and sealed data.

mod checks;

use timenav_core::access::CallerAccess;
use timenav_engine::{Answer, UserChanged};

use super::world::Repetition;
use crate::engine::*;

/// Maximum number of users in addition to the first operator.
pub(super) const USERS: u8 = 3;

/// The password of all users.
const PASSWORD: &str = "correct horse battery staple";

/// A request about users and their belongings.
#[derive(Clone, Copy, Debug)]
pub(super) enum Chore {
    Add {
        user: u8,
        operator: bool,
    },
    Remove(u8),
    Restrict(u8, RestrictionLevel),
    /// Gives a user a key, with or without a scope.
    GiveKey(u8, Option<Scope>),
    StopKey(Index),
    SetPassword(u8),
    LogIn(u8),
    EndSession(Index),
    /// Gives a user a permanent or temporary role on a timeline, or revokes all roles.
    Permit(u8, Option<Role>, bool),
    Seal,
    EraseData(Index),
}

/// A chore with all drawn values.
#[derive(Clone, Debug)]
pub(super) enum Errand {
    Add { user: UserId, operator: bool },
    Remove(UserId),
    Restrict(UserId, RestrictionLevel),
    GiveKey(UserId, Option<Scope>),
    StopKey(KeyId),
    SetPassword(UserId),
    LogIn(UserId),
    EndSession(SessionId),
    Permit(Permissions),
    Seal(String),
    EraseData(DataId),
}

/// The result of an errand: a comparable text, and what the model needs to learn.
pub(super) struct Reply {
    pub(super) summary: String,
    pub(super) position: u64,
    pub(super) replayed: bool,
    pub(super) made: Made,
}

#[derive(Clone, Debug, Default)]
pub(super) enum Made {
    #[default]
    Nothing,
    Key(KeyId, Option<String>),
    Session(SessionId, String),
    Data(DataId),
    /// A timer by its position.
    Timer(u64),
    Import {
        taken: u64,
        /// Records that differed from known events.
        refused: Vec<usize>,
    },
    /// How many events of an import were canceled, and how many stay.
    Undone((u64, u64)),
}

/// A caller other than the first operator, with a key or in a session.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    pub(super) user: UserId,
    secret: String,
    is_in_session: bool,
}

/// The result for a key that does not exist or was revoked.
pub(super) const NO_KEY: &str = "no key";

#[derive(Debug, PartialEq)]
struct Member {
    operator: bool,
    level: RestrictionLevel,
}

struct GivenKey {
    key_id: KeyId,
    /// Unknown if the first response was lost.
    secret: Option<String>,
    user: UserId,
    scope: Option<Scope>,
    is_live: bool,
}

struct LoggedIn {
    session_id: SessionId,
    secret: String,
    user: UserId,
    is_live: bool,
}

struct Sealed {
    data_id: DataId,
    on: TimelineId,
    text: String,
    is_erased: bool,
}

#[derive(Default)]
pub(super) struct Accounts {
    members: BTreeMap<UserId, Member>,
    keys: Vec<GivenKey>,
    passwords: BTreeSet<UserId>,
    /// Those whose secrets are known.
    sessions: Vec<LoggedIn>,
    lists: BTreeMap<TimelineId, Permissions>,
    sealed: Vec<Sealed>,
}

impl Errand {
    /// Returns the result of sending it again.
    pub(super) const fn repetition(&self) -> Repetition {
        match self {
            Self::Remove(_) | Self::StopKey(_) | Self::EndSession(_) => Repetition::NotFound,
            Self::SetPassword(_) | Self::LogIn(_) => Repetition::Anew,
            Self::Add { .. }
            | Self::Restrict(..)
            | Self::GiveKey(..)
            | Self::Permit(_)
            | Self::Seal(_)
            | Self::EraseData(_) => Repetition::Answered,
        }
    }

    fn key_request(&self) -> ApiKeyRequest {
        let Self::GiveKey(user, scope) = self else { panic!("{self:?} asks for no key") };
        ApiKeyRequest {
            user_id: Some(user.clone()),
            timeline_id: None,
            label: "of a life".to_owned(),
            scopes: scope.map(|scope| vec![scope]),
            expires_at: None,
        }
    }

    pub(super) async fn send(
        &self,
        home: &Home<'_>,
        on: &TimelineId,
        key: Option<Idempotency>,
    ) -> Result<Reply, Refusal> {
        let (engine, admin) = (&home.engine, &home.admin);
        let plain = |(summary, ledger, replayed): (String, LedgerPosition, bool)| Reply {
            summary: format!("{summary} {ledger:?}"),
            position: ledger.position,
            replayed,
            made: Made::Nothing,
        };
        let of_user = |made: Answer<UserChanged>| plain((made.change.user_id.to_string(), made.ledger, made.replayed));
        Ok(match self {
            Self::Add { user, operator } => of_user(engine.create_user(admin, user.clone(), *operator, key).await?),
            Self::Remove(user) => of_user(engine.delete_user(admin, user.clone()).await?),
            Self::Restrict(user, level) => {
                of_user(engine.restrict_time_travel(admin, user.clone(), *level, key).await?)
            }
            Self::GiveKey(..) => {
                let request = self.key_request();
                let given = engine.create_api_key(admin, request, key).await?;
                let reply = plain((given.key_id.to_string(), given.ledger, given.replayed));
                Reply { made: Made::Key(given.key_id, given.secret), ..reply }
            }
            Self::StopKey(key_id) => {
                let made = engine.revoke_api_key(admin, key_id.clone()).await?;
                plain((made.change.key_id.to_string(), made.ledger, made.replayed))
            }
            Self::SetPassword(user) => {
                let user_id = Some(user.clone());
                let request = PasswordRequest { user_id, password: password(PASSWORD), current: None };
                engine.set_password(admin, request).await?;
                unreported(Made::Nothing)
            }
            Self::LogIn(user) => {
                let begun = engine.log_in(user.clone(), password(PASSWORD), None).await?;
                let begun = begun.ok_or(Refusal::WrongPassword)?;
                let session_id = begun.caller.session_id().expect("it is one").clone();
                unreported(Made::Session(session_id, begun.secret.to_string()))
            }
            Self::EndSession(session_id) => {
                engine.end_session(admin, session_id.clone()).await?;
                unreported(Made::Nothing)
            }
            Self::Permit(set) => {
                let set = engine.set_access_control(admin, on.clone(), replacing(set), key).await?;
                plain((set.change.tag, set.ledger, set.replayed))
            }
            Self::Seal(text) => {
                let data = Plaintext::new(Zeroizing::new(text.clone()));
                let sealed = engine.encrypt_data(admin, on.clone(), data, own_key(), key).await?;
                let reply = plain((sealed.change.data_id.to_string(), sealed.ledger, sealed.replayed));
                Reply { made: Made::Data(sealed.change.data_id), ..reply }
            }
            Self::EraseData(data_id) => {
                let erasure = ErasureRequest::Data(Some(on.clone()), data_id.clone());
                let erased = engine.erase_data(admin, erasure, key).await?;
                plain((format!("{} {}", erased.timeline_id, erased.change.position), erased.ledger, erased.replayed))
            }
        })
    }
}

fn replacing(set: &Permissions) -> PermissionsChange {
    let Permissions { read, write, admin, ends } = set;
    // Users who stay on a list keep their end, unless another one is given.
    let end_of = |role: Role, user: &UserId| ends.of(role).get(user).map_or(End::Never, |end| End::At(*end));
    let named = |role: Role| set.list(role).iter().map(move |user| ((role, user.clone()), end_of(role, user)));
    let ends = Role::ALL.into_iter().flat_map(named).collect();
    let [read, write, admin] = [read, write, admin].map(|list| Some(list.clone()));
    PermissionsChange { read, write, admin, ends, expected: None }
}

/// A result without a position.
fn unreported(made: Made) -> Reply {
    Reply { summary: String::new(), position: 0, replayed: false, made }
}

impl Asker {
    /// Returns the caller according to the service.
    pub(super) fn caller(&self, engine: &Engine) -> Option<Caller> {
        if self.is_in_session {
            engine.authenticate_session(&self.secret).ok()
        } else {
            engine.authenticate(&self.secret).ok()
        }
    }
}

impl Accounts {
    /// Picks a caller with a usable key or session, if there is one.
    pub(super) fn asker(&self, which: Index) -> Option<Asker> {
        let credentials =
            |key: &GivenKey| Some(Asker { user: key.user.clone(), secret: key.secret.clone()?, is_in_session: false });
        let in_session = |session: &LoggedIn| Asker {
            user: session.user.clone(),
            secret: session.secret.clone(),
            is_in_session: true,
        };
        let keys = self.keys.iter().filter_map(credentials);
        let credentials: Vec<Asker> = keys.chain(self.sessions.iter().map(in_session)).collect();
        (!credentials.is_empty()).then(|| which.get(&credentials).clone())
    }

    /// Returns the denial of an operation on a timeline, as text, if there is one.
    pub(super) fn denied(&self, asker: &Asker, on: &TimelineId, demands: &[Demand]) -> Option<String> {
        let (is_live, scope) = if asker.is_in_session {
            let session = self.sessions.iter().find(|session| session.secret == asker.secret);
            (session.expect("it was begun").is_live, None)
        } else {
            let key = self.keys.iter().find(|key| key.secret.as_ref() == Some(&asker.secret));
            let key = key.expect("it was given");
            (key.is_live, key.scope)
        };
        if !is_live {
            return Some(NO_KEY.to_owned());
        }
        let scopes = scope.map(|scope| [scope]);
        let caller_access = self.caller_access(&asker.user, on, scopes.as_ref().map(<[Scope; 1]>::as_slice));
        let denied = demands.iter().find_map(|demand| timenav_core::access::decide(caller_access, *demand).err());
        denied.map(|denial| format!("{denial:?}"))
    }

    /// Returns the users who may record events on a timeline.
    pub(super) fn recorders(&self, on: &TimelineId) -> BTreeSet<UserId> {
        let users = self.members.keys();
        users
            .filter(|user| timenav_core::access::decide(self.caller_access(user, on, None), Demand::Record).is_ok())
            .cloned()
            .collect()
    }

    fn caller_access<'a>(&self, user: &UserId, on: &TimelineId, scopes: Option<&'a [Scope]>) -> CallerAccess<'a> {
        let member = self.members.get(user);
        CallerAccess {
            operator: member.is_some_and(|member| member.operator),
            restriction: member.map(|member| member.level).unwrap_or_default(),
            // None of the given ends has been reached.
            role: member.and_then(|_| self.lists[on].role(user, Instant::EPOCH)),
            scopes,
        }
    }

    /// A new timeline belongs to its creator.
    pub(super) fn begin(&mut self, timeline: &TimelineId) {
        self.lists.insert(timeline.clone(), Permissions::of_creator(user_id("admin")));
    }

    /// Turns a drawn chore into an errand, with its timeline, unless that is impossible.
    pub(super) fn draw(&self, on: &TimelineId, chore: Chore, number: usize) -> Option<(TimelineId, Errand)> {
        let everywhere = |errand| Some((timeline_id("main"), errand));
        match chore {
            Chore::Add { user, operator } => everywhere(Errand::Add { user: name(user), operator }),
            Chore::Remove(user) => everywhere(Errand::Remove(name(user))),
            Chore::Restrict(user, level) => everywhere(Errand::Restrict(name(user), level)),
            Chore::GiveKey(user, scope) => everywhere(Errand::GiveKey(name(user), scope)),
            Chore::StopKey(_) if self.keys.is_empty() => None,
            Chore::StopKey(which) => everywhere(Errand::StopKey(which.get(&self.keys).key_id.clone())),
            Chore::SetPassword(user) => everywhere(Errand::SetPassword(name(user))),
            Chore::LogIn(user) => everywhere(Errand::LogIn(name(user))),
            Chore::EndSession(_) if self.sessions.is_empty() => None,
            Chore::EndSession(which) => everywhere(Errand::EndSession(which.get(&self.sessions).session_id.clone())),
            Chore::Permit(user, role, expires) => {
                let user = if user == 0 { user_id("admin") } else { name(user - 1) };
                let mut lists = self.lists[on].clone();
                for role in Role::ALL {
                    lists.list_mut(role).remove(&user);
                    lists.ends.of_mut(role).remove(&user);
                }
                if let Some(role) = role {
                    lists.put(role, user, expires.then_some(Instant::MAX));
                }
                Some((on.clone(), Errand::Permit(lists)))
            }
            Chore::Seal => Some((on.clone(), Errand::Seal(format!("{{\"sealed\":{number}}}")))),
            Chore::EraseData(_) if self.sealed.is_empty() => None,
            Chore::EraseData(which) => {
                let sealed = which.get(&self.sealed);
                Some((sealed.on.clone(), Errand::EraseData(sealed.data_id.clone())))
            }
        }
    }

    /// Returns whether the errand succeeds according to the model.
    pub(super) fn may(&self, errand: &Errand) -> bool {
        match errand {
            Errand::Add { user, .. } => !self.members.contains_key(user),
            Errand::Remove(user) | Errand::Restrict(user, _) | Errand::GiveKey(user, _) | Errand::SetPassword(user) => {
                self.members.contains_key(user)
            }
            Errand::LogIn(user) => self.passwords.contains(user),
            Errand::EndSession(session_id) => {
                self.sessions.iter().any(|session| session.session_id == *session_id && session.is_live)
            }
            Errand::StopKey(key_id) => self.keys.iter().any(|key| key.key_id == *key_id && key.is_live),
            Errand::Permit(lists) => lists.admin.len() > lists.ends.admin.len(),
            Errand::Seal(_) => true,
            Errand::EraseData(data_id) => self.sealed.iter().any(|one| one.data_id == *data_id && !one.is_erased),
        }
    }

    /// Applies a successful errand to the model.
    pub(super) fn apply(&mut self, on: &TimelineId, errand: &Errand, made: Made) {
        match (errand, made) {
            (Errand::Add { user, operator }, _) => {
                let level = RestrictionLevel::FullAccess;
                self.members.insert(user.clone(), Member { operator: *operator, level });
            }
            (Errand::Remove(user), _) => {
                self.members.remove(user);
                for key in self.keys.iter_mut().filter(|key| key.user == *user) {
                    key.is_live = false;
                }
                self.passwords.remove(user);
                self.end_sessions(user);
            }
            (Errand::Restrict(user, level), _) => self.members.get_mut(user).unwrap().level = *level,
            (Errand::GiveKey(user, scope), Made::Key(key_id, secret)) => {
                let (user, scope) = (user.clone(), *scope);
                self.keys.push(GivenKey { key_id, secret, user, scope, is_live: true });
            }
            (Errand::StopKey(key_id), _) => {
                self.keys.iter_mut().find(|key| key.key_id == *key_id).unwrap().is_live = false;
            }
            (Errand::SetPassword(user), _) => {
                self.passwords.insert(user.clone());
                self.end_sessions(user);
            }
            (Errand::LogIn(user), Made::Session(session_id, secret)) => {
                self.sessions.push(LoggedIn { session_id, secret, user: user.clone(), is_live: true });
            }
            (Errand::EndSession(session_id), _) => {
                let session = self.sessions.iter_mut().find(|session| session.session_id == *session_id);
                session.unwrap().is_live = false;
            }
            (Errand::Permit(lists), _) => drop(self.lists.insert(on.clone(), lists.clone())),
            (Errand::Seal(text), Made::Data(data_id)) => {
                self.sealed.push(Sealed { data_id, on: on.clone(), text: text.clone(), is_erased: false });
            }
            (Errand::EraseData(data_id), _) => {
                self.sealed.iter_mut().find(|one| one.data_id == *data_id).unwrap().is_erased = true;
            }
            (errand, made) => panic!("{errand:?} made {made:?}"),
        }
    }

    fn end_sessions(&mut self, user: &UserId) {
        for session in self.sessions.iter_mut().filter(|session| session.user == *user) {
            session.is_live = false;
        }
    }
}

fn name(user: u8) -> UserId {
    user_id(&format!("u{user}"))
}

fn own_key() -> EncryptionKey {
    EncryptionKey::new(Zeroizing::new("a key of a life".to_owned())).unwrap()
}
