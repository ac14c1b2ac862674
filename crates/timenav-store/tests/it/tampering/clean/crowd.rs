//! Random legitimate actions by many users, permitted or rejected and with any credentials, cause no findings.

use proptest::prelude::*;
use proptest::sample::Index;
use timenav_core::ids::UserId;
use timenav_engine::Engine;

use crate::tampering::*;

/// An action or an attempt of a user.
#[derive(Clone, Debug)]
enum Deed {
    CreateUser(u8, bool),
    DeleteUser(u8),
    CreateKey {
        user: u8,
        scope: Option<Index>,
        expires_in: Option<i64>,
    },
    RevokeKey(Index),
    SetPassword(u8),
    LogIn(u8),
    LogOut(bool),
    EndSession(Index),
    Renew,
    Restrict(u8, Index),
    /// Users who are also in `expires` get limited permissions.
    Permit {
        read: u8,
        write: u8,
        admin: u8,
        expires: u8,
        expires_in: i64,
    },
    Record(u8),
    Erase(u8),
    Cancel(u8),
    Steer(ClockCommand),
    Anchor,
    Return(bool),
    Fork(u8),
    Seal,
    Look(u8),
    Wait(i64),
    Reopen,
}

fn deeds() -> impl Strategy<Value = Vec<(Deed, Index, Index)>> {
    let index = any::<Index>;
    let command = prop_oneof![
        Just(ClockCommand::Pause),
        Just(ClockCommand::Resume),
        (1_u64..4_000_000).prop_map(|micros| ClockCommand::SetRate(Rate::from_micros(micros).unwrap())),
        (1_i64..100).prop_map(|hours| {
            ClockCommand::FastForward(Duration::new(0, Span::from_micros(hours * HOUR)).unwrap())
        }),
        (-9_i64..9).prop_map(|to| ClockCommand::Travel { to: moment(to * HOUR), location: None }),
    ];
    let deed = prop_oneof![
        3 => (0_u8..5, any::<bool>()).prop_map(|(user, operator)| Deed::CreateUser(user, operator)),
        2 => (0_u8..5).prop_map(Deed::DeleteUser),
        5 => (0_u8..5, proptest::option::of(index()), proptest::option::of(1_i64..3 * HOUR))
            .prop_map(|(user, scope, expires_in)| Deed::CreateKey { user, scope, expires_in }),
        2 => index().prop_map(Deed::RevokeKey),
        3 => (0_u8..5).prop_map(Deed::SetPassword),
        4 => (0_u8..5).prop_map(Deed::LogIn),
        1 => any::<bool>().prop_map(Deed::LogOut),
        1 => index().prop_map(Deed::EndSession),
        3 => Just(Deed::Renew),
        3 => (0_u8..5, index()).prop_map(|(user, level)| Deed::Restrict(user, level)),
        4 => (0_u8..32, 0_u8..32, 0_u8..32, 0_u8..32, 1_i64..3 * HOUR).prop_map(
            |(read, write, admin, expires, expires_in)| Deed::Permit { read, write, admin, expires, expires_in }
        ),
        4 => (0_u8..4).prop_map(Deed::Record),
        1 => (0_u8..4).prop_map(Deed::Erase),
        2 => (0_u8..4).prop_map(Deed::Cancel),
        5 => command.prop_map(Deed::Steer),
        2 => Just(Deed::Anchor),
        1 => any::<bool>().prop_map(Deed::Return),
        1 => (0_u8..3).prop_map(Deed::Fork),
        1 => Just(Deed::Seal),
        8 => (0_u8..9).prop_map(Deed::Look),
        3 => (1_i64..2 * HOUR).prop_map(Deed::Wait),
        // The host clock is set back.
        1 => (-HOUR..0).prop_map(Deed::Wait),
        1 => Just(Deed::Reopen),
    ];
    vec((deed, index(), index()), 1..60)
}

fn name(user: u8) -> String {
    if user == 0 { "admin".to_owned() } else { format!("user{user}") }
}

fn named(bits: u8) -> BTreeSet<UserId> {
    (0..5).filter(|user| bits & (1 << user) != 0).map(|user| user_id(&name(user))).collect()
}

/// All callers that were ever authenticated, whether they still are or not.
struct Crowd {
    callers: Vec<Caller>,
}

impl Crowd {
    /// Attempts an action. The ledgers show whether it was permitted.
    async fn act(&mut self, home: &Home<'_>, deed: Deed, (who, on): (Index, Index)) {
        let caller = who.get(&self.callers).clone();
        let timeline = timeline_id(["main", "one", "fork0", "fork1"][on.index(4)]);
        if let Some(deed) = self.manage(&home.engine, &caller, deed).await {
            steer(home, &caller, timeline, deed).await;
        }
    }

    /// Executes actions on the service's users and permissions. Returns all others.
    async fn manage(&mut self, engine: &Engine, caller: &Caller, deed: Deed) -> Option<Deed> {
        match deed {
            Deed::CreateUser(user, operator) => {
                drop(engine.create_user(caller, user_id(&name(user)), operator, None).await);
            }
            Deed::DeleteUser(user) => drop(engine.delete_user(caller, user_id(&name(user))).await),
            Deed::CreateKey { user, scope, expires_in } => {
                let expires_at = expires_in.and_then(|micros| engine.now().checked_add(Span::from_micros(micros)));
                let scopes = scope.map(|scope| vec![*scope.get(&Scope::ALL)]);
                let user_id = Some(user_id(&name(user)));
                let request = ApiKeyRequest { user_id, ..own_key(scopes, expires_at) };
                let made = engine.create_api_key(caller, request, None).await;
                let secret = made.ok().and_then(|made| made.secret);
                self.callers.extend(secret.and_then(|secret| engine.authenticate(&secret).ok()));
            }
            Deed::RevokeKey(whose) => {
                let whose = whose.get(&self.callers);
                if whose.session_id().is_none() {
                    drop(engine.revoke_api_key(caller, key_id(whose)).await);
                }
            }
            Deed::SetPassword(user) => {
                let current = caller.session_id().map(|_| password(SECRET));
                let user_id = Some(user_id(&name(user)));
                let request = PasswordRequest { user_id, password: password(SECRET), current };
                drop(engine.set_password(caller, request).await);
            }
            Deed::LogIn(user) => {
                let new = engine.log_in(user_id(&name(user)), password(SECRET), Some(caller)).await;
                self.callers.extend(new.unwrap().map(|new| new.caller));
            }
            Deed::LogOut(everywhere) => drop(engine.log_out(caller, everywhere).await),
            Deed::EndSession(whose) => {
                if let Some(session_id) = whose.get(&self.callers).session_id() {
                    drop(engine.end_session(caller, session_id.clone()).await);
                }
            }
            Deed::Renew => drop(engine.renew_session(caller).await),
            Deed::Restrict(user, level) => {
                let level = *level.get(&RestrictionLevel::ALL);
                drop(engine.restrict_time_travel(caller, user_id(&name(user)), level, None).await);
            }
            deed => return Some(deed),
        }
        None
    }
}

/// Executes actions on a timeline.
async fn steer(home: &Home<'_>, caller: &Caller, timeline: TimelineId, deed: Deed) {
    let (engine, on) = (&home.engine, Some(timeline.clone()));
    match deed {
        Deed::Permit { read, write, admin, expires, expires_in } => {
            let ends = Role::ALL.into_iter().zip([read, write, admin]).flat_map(|(role, list)| {
                named(list & expires)
                    .into_iter()
                    .map(move |user| ((role, user), End::In(Span::from_micros(expires_in))))
            });
            let change = PermissionsChange {
                read: Some(named(read)),
                write: Some(named(write)),
                admin: Some(named(admin)),
                ends: ends.collect(),
                ..PermissionsChange::default()
            };
            drop(engine.set_access_control(caller, timeline, change, None).await);
        }
        Deed::Record(event) => {
            let mut draft = EventDraft::at(moment(i64::from(event)), "what happened");
            draft.event_id = Some(event_id(&format!("e{event}")));
            if engine.record_events(caller, on.clone(), vec![draft.clone()], None).await.is_err() {
                "what happened in fact".clone_into(&mut draft.description);
                drop(engine.correct_event(caller, on, draft, None, None).await);
            }
        }
        Deed::Erase(event) => {
            let erasure = ErasureRequest::Event(on, event_id(&format!("e{event}")));
            drop(engine.erase_data(caller, erasure, None).await);
        }
        Deed::Cancel(event) => {
            let request = InterventionRequest {
                event_id: event_id(&format!("e{event}")),
                action: "cancel".to_owned(),
                effect: Effect::Cancel,
                time: moment(1),
                causes: Vec::new(),
            };
            drop(engine.preview_intervention(caller, on.clone(), request.clone()).await);
            drop(engine.manipulate_event(caller, on, request, None).await);
        }
        Deed::Steer(command) => drop(engine.change_clock(caller, on, command, None).await),
        Deed::Anchor => {
            drop(engine.set_anchor(caller, on, anchor_now(), None).await);
        }
        Deed::Return(all) => {
            let Ok(page) = engine.anchors(caller, on.clone(), 1, None).await else { return };
            let Some((_, anchor)) = page.anchors.first() else { return };
            let scope = if all { ReturnScope::All } else { ReturnScope::Clock };
            drop(engine.return_to_anchor(caller, on, &anchor.anchor_id, scope, None).await);
        }
        Deed::Fork(number) => {
            let fork = timeline_id(&format!("fork{number}"));
            drop(engine.fork_timeline(caller, fork, &timeline, None, None).await);
        }
        Deed::Seal => {
            let key = || EncryptionKey::new(Zeroizing::new("a passphrase that is long enough".to_owned())).unwrap();
            let data = Plaintext::new(Zeroizing::new("{}".to_owned()));
            let Ok(made) = engine.encrypt_data(caller, timeline, data, key(), None).await else { return };
            drop(engine.decrypt_data(caller, None, made.change.data_id.clone(), key()).await);
            drop(engine.erase_data(caller, ErasureRequest::Data(None, made.change.data_id), None).await);
        }
        Deed::Look(what) => look_at_something(home, caller, timeline, what).await,
        Deed::Wait(micros) => home.house.clock.advance(micros),
        _ => {}
    }
}

async fn look_at_something(home: &Home<'_>, caller: &Caller, timeline: TimelineId, what: u8) {
    let engine = &home.engine;
    match what {
        0 => drop(engine.read_clock(caller, Some(timeline)).await),
        1 => drop(engine.timeline(caller, &timeline).await),
        2 => drop(engine.timelines(caller, 9, None).await),
        3 => drop(engine.users(caller, 9, None).await),
        4 => drop(engine.api_keys(caller, Some(user_id("user1")), 9, None).await),
        5 => drop(engine.sessions(caller, None).await),
        6 => drop(engine.checkpoint(caller, &timeline, true).await),
        7 => drop(engine.access_control(caller, &timeline).await),
        _ => drop(engine.detect_tampering(caller, &timeline, Depth::Quick, &mut |_| ()).await),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_allowed_and_rejected_actions_have_no_findings() {
    check_cases(150, &deeds(), async |deeds| {
        let house = House::new();
        let mut home = house.open().await;
        let mut crowd = Crowd { callers: vec![home.admin.clone()] };
        // Ensures that some actions are permitted.
        for user in 1..3 {
            crowd.callers.push(home.user(&name(user), user == 1).await);
        }
        for (deed, who, on) in deeds {
            if matches!(deed, Deed::Reopen) {
                home.engine.close().await;
                // The first key may have been revoked, which would prevent opening the house.
                let store = house.store();
                let keep = |_: &str| Ok(());
                let ports = house.ports();
                let engine = Engine::open(Arc::clone(&store), ports, house.options.clone(), keep);
                home = Home {
                    house: crate::house::HouseRef::Borrowed(&house),
                    engine: engine.await.unwrap(),
                    store,
                    admin: home.admin,
                };
            } else {
                crowd.act(&home, deed, (who, on)).await;
            }
        }
        home.engine.close().await;
        clean(&house).await;
    });
}
