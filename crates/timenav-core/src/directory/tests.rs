use proptest::prelude::*;
use proptest::sample::select;

use super::key::KeyCommand;
use super::session::{SessionCommand, SessionsToEnd};
use super::user::UserCommand;
use super::*;
use crate::access::RestrictionLevel;
use crate::ids::TimelineId;
use crate::limits::{KEYS_PER_USER_MAX, SESSIONS_PER_USER_MAX};
use crate::time::Span;

const USERS_MAX: usize = 3;
const SPANS: SessionSpans = SessionSpans { idle: Span::from_micros(60_000_000), most: Span::from_micros(600_000_000) };

fn user_id(name: &str) -> UserId {
    UserId::new(name).unwrap()
}

fn host(seconds: i64) -> Instant<Wall> {
    Instant::from_micros(1_700_000_000_000_000 + seconds * 1_000_000).unwrap()
}

fn times(seconds: i64) -> Times {
    Times { now: host(seconds), recorded: host(seconds), sure: host(seconds) }
}

fn key_of(name: &str, number: u8, expires_at: Option<Instant<Wall>>) -> ApiKey {
    ApiKey {
        key_id: KeyId::new(&format!("key_{number}")).unwrap(),
        hash: [number; 32],
        user_id: user_id(name),
        timeline_id: TimelineId::main(),
        label: String::new(),
        scopes: None,
        horizon: crate::horizon::Horizon::default(),
        created_at: host(0),
        expires_at,
        revoked_at: None,
    }
}

fn session_id(number: u8) -> SessionId {
    SessionId::new(&format!("session_{number}")).unwrap()
}

fn session_of(name: &str, number: u8) -> Session {
    let (at, hash) = (host(0), [number; 32]);
    let (session_id, user_id) = (session_id(number), user_id(name));
    Session { session_id, hash, user_id, created_at: at, renewed_at: at, expires_at: at }
}

fn password_of(name: &str, text: &str) -> StoredPassword {
    StoredPassword { user_id: user_id(name), phc: text.into(), set_at: host(0) }
}

fn create(name: &str, operator: bool) -> UserCommand {
    UserCommand::Create { user_id: user_id(name), operator }
}

fn restrict(name: &str, level: RestrictionLevel) -> UserCommand {
    UserCommand::Restrict { user_id: user_id(name), level }
}

/// A directory that decides and one that replays; both must agree.
#[derive(Default)]
struct Both {
    decides: Directory,
    follows: Directory<PasswordSummary>,
}

impl Both {
    fn of(commands: &[UserCommand]) -> Self {
        let mut both = Self::default();
        for command in commands {
            both.user(command, 0).unwrap();
        }
        both
    }

    fn happen(&mut self, happened: &[Happened]) {
        // Changes decided together see the same earlier state.
        let changes: Vec<_> = happened.iter().flat_map(|one| self.decides.changes::<_, ()>(one)).collect();
        for change in &changes {
            self.decides.apply(change);
        }
        for one in happened {
            for change in &self.follows.changes::<_, ()>(&summary(one)) {
                self.follows.apply(change);
            }
        }
    }

    fn user(&mut self, command: &UserCommand, at: i64) -> Result<(), DirectoryRefusal> {
        let happened = user::decide(&self.decides, command, USERS_MAX, times(at))?;
        self.happen(&happened);
        Ok(())
    }

    fn key(&mut self, command: &KeyCommand, at: i64) -> Result<(), DirectoryRefusal> {
        let happened = key::decide(&self.decides, command, times(at))?;
        self.happen(&[happened]);
        Ok(())
    }

    fn session(&mut self, command: &SessionCommand, at: i64) -> Result<(), DirectoryRefusal> {
        let happened = session::decide(&self.decides, command, SPANS, times(at))?;
        self.happen(happened.as_slice());
        Ok(())
    }

    fn set_password(&mut self, name: &str, text: &str, at: i64) -> Result<(), DirectoryRefusal> {
        let password = password_of(name, text);
        self.session(&SessionCommand::SetPassword { password, compared: None, surviving_session: None }, at)
    }

    fn log_in(&mut self, name: &str, text: &str, number: u8, at: i64) -> Result<(), DirectoryRefusal> {
        let (session, compared) = (session_of(name, number), password_of(name, text));
        self.session(&SessionCommand::LogIn { session, replaced: None, compared, rehashed: None }, at)
    }

    fn live_sessions(&self, name: &str, at: i64) -> usize {
        self.decides.sessions.of_user(&user_id(name)).filter(|one| one.is_live(host(at), SPANS)).count()
    }
}

fn summary(happened: &Happened) -> Happened<PasswordSummary> {
    match happened.clone() {
        Happened::UserMade(user) => Happened::UserMade(user),
        Happened::UserRestricted(user) => Happened::UserRestricted(user),
        Happened::UserRemoved(user) => Happened::UserRemoved(user),
        Happened::KeyMade(key) => Happened::KeyMade(key),
        Happened::KeyStopped(key) => Happened::KeyStopped(key),
        Happened::LoggedIn { session, ended, rehashed } => {
            Happened::LoggedIn { session, ended, rehashed: rehashed.map(|stored| stored.summary()) }
        }
        Happened::SessionRenewed { session_id, at } => Happened::SessionRenewed { session_id, at },
        Happened::SessionsEnded { user_id, ended, is_log_out } => {
            Happened::SessionsEnded { user_id, ended, is_log_out }
        }
        Happened::PasswordSet { password, ended } => Happened::PasswordSet { password: password.summary(), ended },
    }
}

#[test]
fn invalid_user_commands_are_rejected() {
    let mut both = Both::of(&[create("ada", true), create("bob", false)]);
    for name in ["unknown", "system"] {
        assert_eq!(both.user(&create(name, false), 1), Err(DirectoryRefusal::Reserved(user_id(name))));
    }
    assert_eq!(both.user(&create("bob", true), 1), Err(DirectoryRefusal::UserExists(user_id("bob"))));
    assert_eq!(both.user(&create("cyd", false), 1), Ok(()));
    assert_eq!(both.user(&create("dot", false), 1), Err(DirectoryRefusal::TooManyUsers { max: USERS_MAX }));
    let nobody = Err(DirectoryRefusal::NoUser(user_id("dot")));
    assert_eq!(both.user(&UserCommand::Remove { user_id: user_id("dot") }, 1), nobody);
    assert_eq!(both.user(&restrict("dot", RestrictionLevel::ReadOnly), 1), nobody);
}

#[test]
fn last_operator_cannot_be_removed() {
    let mut both = Both::of(&[create("ada", true), create("bob", false)]);
    let remove = UserCommand::Remove { user_id: user_id("ada") };
    assert_eq!(both.user(&remove, 1), Err(DirectoryRefusal::LastOperator(user_id("ada"))));
    both.user(&create("cyd", true), 1).unwrap();
    assert_eq!(both.user(&remove, 1), Ok(()));
    assert!(both.decides.user(&user_id("ada")).is_err());
}

#[test]
fn setting_a_restriction_level_changes_nothing_else() {
    let mut both = Both::of(&[create("ada", true)]);
    let before = both.decides.user(&user_id("ada")).unwrap().clone();
    for level in RestrictionLevel::ALL.into_iter().rev() {
        both.user(&restrict("ada", level), 5).unwrap();
        assert_eq!(both.decides.user(&user_id("ada")), Ok(&User { restriction: level, ..before.clone() }));
        assert_eq!(both.decides.caller_access(&user_id("ada"), None, None, Instant::EPOCH).restriction, level);
    }
}

#[test]
fn removed_user_loses_keys_password_and_sessions() {
    let mut both = Both::of(&[create("ada", true), create("bob", false)]);
    both.key(&KeyCommand::Create(key_of("bob", 1, None)), 1).unwrap();
    both.set_password("bob", "secret", 1).unwrap();
    both.log_in("bob", "secret", 2, 1).unwrap();
    let remove = UserCommand::Remove { user_id: user_id("bob") };
    let happened = user::decide(&both.decides, &remove, USERS_MAX, times(9)).unwrap();
    let [Happened::KeyStopped(stopped), Happened::UserRemoved(_)] = happened.as_slice() else { panic!("{happened:?}") };
    assert_eq!(stopped.revoked_at, Some(host(9)));
    both.happen(&happened);
    assert!(both.decides.keys.is_empty() && both.decides.sessions.is_empty() && both.decides.passwords.is_empty());
}

#[test]
fn invalid_key_commands_are_rejected() {
    let mut both = Both::of(&[create("ada", true)]);
    assert_eq!(both.key(&KeyCommand::Create(key_of("bob", 1, None)), 1), Err(DirectoryRefusal::NoUser(user_id("bob"))));
    let expired = KeyCommand::Create(key_of("ada", 1, Some(host(7))));
    assert_eq!(both.key(&expired, 7), Err(DirectoryRefusal::KeyExpired));
    assert_eq!(both.key(&expired, 6), Ok(()));
    for number in 2..=u8::try_from(KEYS_PER_USER_MAX).unwrap() {
        both.key(&KeyCommand::Create(key_of("ada", number, None)), 6).unwrap();
    }
    let one_more = KeyCommand::Create(key_of("ada", 255, None));
    assert_eq!(both.key(&one_more, 6), Err(DirectoryRefusal::TooManyKeys));
    assert_eq!(both.key(&one_more, 7), Ok(()));
    let unknown = KeyId::new("key_none").unwrap();
    assert_eq!(both.key(&KeyCommand::Stop(unknown.clone()), 7), Err(DirectoryRefusal::NoKey(unknown)));
}

#[test]
fn login_with_a_replaced_password_is_rejected() {
    let mut both = Both::of(&[create("ada", true)]);
    assert_eq!(both.log_in("ada", "first", 1, 1), Err(DirectoryRefusal::WrongPassword));
    both.set_password("ada", "first", 1).unwrap();
    both.log_in("ada", "first", 1, 2).unwrap();
    both.log_in("ada", "first", 2, 3).unwrap();
    let (password, compared) = (password_of("ada", "second"), Some(password_of("ada", "first")));
    let change = SessionCommand::SetPassword { password, compared, surviving_session: Some(session_id(2)) };
    both.session(&change, 4).unwrap();
    assert_eq!(both.decides.sessions.len(), 1, "only the session that asked goes on");
    assert_eq!(both.session(&change, 5), Err(DirectoryRefusal::WrongPassword));
    assert_eq!(both.log_in("ada", "first", 3, 6), Err(DirectoryRefusal::WrongPassword));
    assert_eq!(both.log_in("ada", "second", 3, 6), Ok(()));
    assert_eq!(both.decides.passwords.get(&user_id("ada")).unwrap().set_at, host(4));
}

#[test]
fn rehashed_password_keeps_its_set_time() {
    let mut both = Both::of(&[create("ada", true)]);
    both.set_password("ada", "weak", 1).unwrap();
    let compared = (**both.decides.passwords.get(&user_id("ada")).unwrap()).clone();
    let rehashed = Some(StoredPassword { phc: "strong".into(), ..compared.clone() });
    let session = session_of("ada", 1);
    both.session(&SessionCommand::LogIn { session, replaced: None, compared, rehashed }, 5).unwrap();
    let summary = both.follows.passwords.get(&user_id("ada")).unwrap();
    assert_eq!((summary.set_at, summary.sha256), (host(1), password_of("ada", "strong").sha256()));
}

#[test]
fn session_renewal_is_recorded_at_intervals() {
    let mut both = Both::of(&[create("ada", true)]);
    both.set_password("ada", "secret", 0).unwrap();
    both.log_in("ada", "secret", 1, 0).unwrap();
    let version = both.decides.version;
    both.session(&SessionCommand::Renew(session_id(1)), 1).unwrap();
    assert_eq!(both.decides.version, version, "a second later there is nothing to note");
    both.session(&SessionCommand::Renew(session_id(1)), 2).unwrap();
    assert_eq!(both.decides.sessions.get(&session_id(1)).unwrap().renewed_at, host(2));
    let refused = both.session(&SessionCommand::Renew(session_id(9)), 2);
    assert_eq!(refused, Err(DirectoryRefusal::NoSession(session_id(9))));
}

#[test]
fn login_over_the_session_limit_ends_the_oldest_session() {
    let mut both = Both::of(&[create("ada", true), create("bob", false)]);
    both.set_password("ada", "secret", 0).unwrap();
    both.set_password("bob", "secret", 0).unwrap();
    both.log_in("bob", "secret", 200, 0).unwrap();
    let most = u8::try_from(SESSIONS_PER_USER_MAX).unwrap();
    for number in 1..=most {
        both.log_in("ada", "secret", number, i64::from(number)).unwrap();
    }
    assert_eq!(both.live_sessions("ada", 30), SESSIONS_PER_USER_MAX);
    both.log_in("ada", "secret", most + 1, 30).unwrap();
    assert_eq!(both.live_sessions("ada", 30), SESSIONS_PER_USER_MAX);
    assert!(both.decides.sessions.get(&session_id(1)).is_none() && both.decides.sessions.get(&session_id(2)).is_some());
    assert_eq!(both.live_sessions("bob", 30), 1, "those of others stay");
}

#[test]
fn session_expired_only_by_an_uncertain_clock_is_kept() {
    let mut both = Both::of(&[create("ada", true)]);
    both.set_password("ada", "secret", 0).unwrap();
    both.log_in("ada", "secret", 1, 0).unwrap();
    let (session, compared) = (session_of("ada", 2), password_of("ada", "secret"));
    let log_in = SessionCommand::LogIn { session, replaced: None, compared, rehashed: None };
    let ended = |sure| {
        let times = Times { sure: host(sure), ..times(1_000) };
        match session::decide(&both.decides, &log_in, SPANS, times).unwrap() {
            Some(Happened::LoggedIn { ended, .. }) => ended,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((ended(30), ended(1_000)), (vec![], vec![session_id(1)]));
}

#[derive(Clone, Debug)]
enum AnyCommand {
    User(UserCommand),
    MakeKey(&'static str, Option<i64>),
    StopKey(u8),
    SetPassword(&'static str, &'static str),
    LogIn(&'static str, &'static str),
    Renew(u8),
    End(u8),
    EndAll(&'static str),
}

fn any_command() -> impl Strategy<Value = AnyCommand> {
    let name = || select(vec!["ada", "bob", "cyd", "dot"]);
    let text = || select(vec!["first", "second"]);
    prop_oneof![
        2 => (name(), any::<bool>()).prop_map(|(name, operator)| AnyCommand::User(create(name, operator))),
        2 => name().prop_map(|name| AnyCommand::User(UserCommand::Remove { user_id: user_id(name) })),
        1 => (name(), select(RestrictionLevel::ALL.to_vec())).prop_map(|(name, level)| AnyCommand::User(restrict(name, level))),
        4 => (name(), prop::option::of(1_i64..200)).prop_map(|(name, lasts)| AnyCommand::MakeKey(name, lasts)),
        2 => any::<u8>().prop_map(AnyCommand::StopKey),
        2 => (name(), text()).prop_map(|(name, text)| AnyCommand::SetPassword(name, text)),
        6 => (name(), text()).prop_map(|(name, text)| AnyCommand::LogIn(name, text)),
        2 => any::<u8>().prop_map(AnyCommand::Renew),
        1 => any::<u8>().prop_map(AnyCommand::End),
        1 => name().prop_map(AnyCommand::EndAll),
    ]
}

impl Both {
    fn ask(&mut self, any_command: &AnyCommand, number: u8, at: i64) -> Result<(), DirectoryRefusal> {
        match any_command {
            AnyCommand::User(command) => self.user(command, at),
            AnyCommand::MakeKey(name, lasts) => {
                let expires_at = lasts.map(|seconds| host(at + seconds));
                self.key(&KeyCommand::Create(key_of(name, number, expires_at)), at)
            }
            AnyCommand::StopKey(number) => self.key(&KeyCommand::Stop(key_of("ada", *number, None).key_id), at),
            AnyCommand::SetPassword(name, text) => self.set_password(name, text, at),
            AnyCommand::LogIn(name, text) => self.log_in(name, text, number, at),
            AnyCommand::Renew(number) => self.session(&SessionCommand::Renew(session_id(*number)), at),
            AnyCommand::End(number) => {
                let which = SessionsToEnd::One(session_id(*number));
                self.session(&SessionCommand::End { which, is_log_out: true }, at)
            }
            AnyCommand::EndAll(name) => {
                let which = SessionsToEnd::AllOf(user_id(name));
                self.session(&SessionCommand::End { which, is_log_out: false }, at)
            }
        }
    }

    fn rows<P: PasswordRow>(directory: &Directory<P>) -> String {
        let mut keys: Vec<_> = directory.keys.values().map(|key| format!("{key:?}")).collect();
        let mut sessions: Vec<_> = directory.sessions.values().map(|session| format!("{session:?}")).collect();
        keys.sort_unstable();
        sessions.sort_unstable();
        let passwords: Vec<_> =
            directory.passwords.values().map(|one| (one.user_id(), one.sha256(), one.set_at())).collect();
        format!("{} {:?} {keys:?} {sessions:?} {passwords:?}", directory.version, directory.users)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn directory_invariants_hold_and_replay_is_equal(
        all in prop::collection::vec((any_command(), 0_i64..30), 0..120),
    ) {
        let mut both = Both::of(&[create("ada", true)]);
        let mut at = 0;
        for (number, (command, later)) in all.iter().enumerate() {
            at += later;
            let before = Both::rows(&both.decides);
            let done = both.ask(command, u8::try_from(number).unwrap(), at);
            let Directory { users, keys, passwords, sessions, .. } = &both.decides;

            prop_assert!(users.values().any(|user| user.operator));
            prop_assert!(users.len() <= USERS_MAX);
            for user_id in users.keys() {
                let live = keys.of_user(user_id).filter(|key| key.is_live(host(at)));
                prop_assert!(live.count() <= KEYS_PER_USER_MAX);
                prop_assert!(both.live_sessions(user_id.as_str(), at) <= SESSIONS_PER_USER_MAX);
            }
            prop_assert!(keys.values().all(|key| users.contains_key(&key.user_id) || !key.is_live(host(at))));
            prop_assert!(sessions.values().all(|session| users.contains_key(&session.user_id)));
            prop_assert!(passwords.keys().all(|user_id| users.contains_key(user_id)));
            if done.is_err() {
                prop_assert_eq!(before, Both::rows(&both.decides), "a refusal changes nothing");
            }
            prop_assert_eq!(Both::rows(&both.decides), Both::rows(&both.follows));
        }
    }
}
