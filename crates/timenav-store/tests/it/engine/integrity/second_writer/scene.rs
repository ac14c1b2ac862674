//! The objects of requests, prepared before they are sent.

use super::request::{Needs, Request};
use crate::engine::access::sessions;
use crate::engine::*;

const WEEK: i64 = 7 * 86_400 * SECOND;

/// The object of a request.
#[derive(Clone)]
pub(super) struct Scene {
    /// Unique among the requests.
    pub(super) name: String,
    pub(super) caller: Caller,
    /// The timeline of the request and of the interference.
    pub(super) on: TimelineId,
    /// One of its entries, or the end of the range where events were found.
    pub(super) position: u64,
    pub(super) about: About,
}

/// The object that the request needs, if it has to exist before.
#[derive(Clone)]
pub(super) enum About {
    Nothing,
    Stream(Arc<ClockStream>),
    Import(ImportId),
    Data(DataId),
    Key(KeyId),
    Session(SessionId),
    Firings(Vec<FiringId>),
}

pub(super) fn later(seconds: i64) -> TimerChangeRequest {
    let schedule = Some(ScheduleChange::To(Schedule::At(at(seconds))));
    TimerChangeRequest { schedule, ..TimerChangeRequest::default() }
}

/// Requests a hold that lasts longer than a test.
pub(super) fn held(on: &TimelineId) -> HoldRequest {
    HoldRequest { timeline: Some(on.clone()), ..hold_for(10, "a test") }
}

pub(super) fn sealing_key() -> EncryptionKey {
    EncryptionKey::new(Zeroizing::new("k".to_owned())).unwrap()
}

pub(super) fn key_of(user: &str, label: String) -> ApiKeyRequest {
    ApiKeyRequest { user_id: Some(user_id(user)), timeline_id: None, label, scopes: None, expires_at: None }
}

/// Runs the engine's background work until no advance is in progress, or for a limited time.
pub(super) async fn drive(engine: &Engine, on: &TimelineId) {
    for _ in 0..4 {
        engine.report_presence().await.unwrap();
        engine.keep_time().await;
        if engine.clock_after(on).is_none_or(|view| view.advance.is_none()) {
            return;
        }
    }
}

/// Seals a record for the request.
async fn seal(home: &Home<'_>, scene: &mut Scene) {
    create(home, scene).await;
    let data = Plaintext::new(Zeroizing::new("{}".to_owned()));
    let sealed = home.engine.encrypt_data(&home.admin, scene.on.clone(), data, sealing_key(), None).await.unwrap();
    scene.about = About::Data(sealed.change.data_id);
}

/// Follows a clock like a program that can show faults.
async fn follow(home: &Home<'_>, timeline: &TimelineId) -> ClockStream {
    let (name, place) = (FollowerName::new("web").unwrap(), FollowerPlace::default());
    let follow = FollowAs { name, steps: false, place, shows_faults: true };
    home.engine.follow_clock(&home.admin, Some(timeline.clone()), None, follow).await.unwrap().1
}

impl Request {
    /// Prepares the object of the request.
    pub(super) async fn prepare(self, home: &Home<'_>, name: &str) -> Scene {
        let own = timeline_id(name);
        let mut scene = Scene {
            name: name.to_owned(),
            caller: home.admin.clone(),
            on: own.clone(),
            position: 0,
            about: About::Nothing,
        };
        match self.needs() {
            Needs::Main => scene.on = TimelineId::main(),
            Needs::Return => return_to(home, &mut scene).await,
            Needs::Events => self.prepare_events(home, &mut scene).await,
            Needs::Own => self.prepare_own(home, &mut scene).await,
            Needs::Sealed => seal(home, &mut scene).await,
            Needs::Sweep => sweep(home, &scene).await,
            Needs::User => self.prepare_user(home, &mut scene).await,
            Needs::Timers => self.prepare_timer(home, &mut scene).await,
        }
        scene
    }

    async fn prepare_events(self, home: &Home<'_>, scene: &mut Scene) {
        match self {
            Self::Correct | Self::Cancel | Self::CancelWithoutParadox | Self::Erase => {
                scene.on = TimelineId::main();
                record(home, scene, &["event-of"]).await;
            }
            Self::EraseIds | Self::EraseFound | Self::EraseUnchanged => {
                record(home, scene, &["a", "b"]).await;
                let request = EventErasure { evaluated_at: None, ..self.erasure(scene) };
                if !matches!(request.which, WhichEvents::Ids(_)) {
                    let foreseen = home.engine.preview_erasure(&home.admin, request).await.unwrap();
                    assert_eq!(foreseen.events_count, 2);
                    scene.position = foreseen.evaluated_at;
                }
            }
            Self::UndoImport => {
                let drafts = ["a", "b"].map(|event| named_event(&format!("{event}-{}", scene.name), 1, "")).into();
                let batch = home.engine.import_events(&home.admin, &scene.on, drafts).await.unwrap();
                let end = batch.ledger.position + 1;
                scene.about = About::Import(ImportId::new(end - batch.taken, end, batch.taken).unwrap());
            }
            _ => {}
        }
    }

    /// Prepares a new timeline on which only the clock was read.
    async fn prepare_own(self, home: &Home<'_>, scene: &mut Scene) {
        create(home, scene).await;
        home.read_clock(Some(scene.on.clone())).await;
        scene.position = home.size(&scene.name).await - 1;
        self.prepare_last(home).await;
        if self == Self::Fault {
            scene.about = About::Stream(Arc::new(follow(home, &scene.on).await));
        }
    }

    async fn prepare_last(self, home: &Home<'_>) {
        match self {
            Self::CommitHeads => {
                home.engine.commit_heads().await.unwrap();
                home.read_clock(None).await;
            }
            Self::AcceptHostClock => home.house.pass(2 * WEEK),
            _ => {}
        }
    }

    /// Creates a user with the request's name and without permissions, and what the request changes about them.
    async fn prepare_user(self, home: &Home<'_>, scene: &mut Scene) {
        create(home, scene).await;
        let name = &scene.name;
        if matches!(self, Self::LogIn | Self::Renew | Self::LogOut | Self::EndSession) {
            sessions::with_password(home, name).await;
        } else {
            let user = home.user(name, false).await;
            if self == Self::Refused {
                scene.caller = user;
            }
        }
        if self == Self::RevokeKey {
            let made = home.engine.create_api_key(&home.admin, key_of(name, String::new()), None).await.unwrap();
            scene.about = About::Key(made.key_id);
        }
        if matches!(self, Self::Renew | Self::LogOut | Self::EndSession) {
            let session = sessions::log_in(home, name).await;
            let listed = home.engine.sessions(&session.caller, None).await.unwrap();
            scene.about = About::Session(listed[0].session_id.clone());
            if self != Self::EndSession {
                scene.caller = session.caller;
            }
        }
        if self == Self::Renew {
            home.house.clock.advance(120 * SECOND);
        }
    }

    /// Creates a timeline with its clock paused at 0, with the timers that the request needs.
    async fn prepare_timer(self, home: &Home<'_>, scene: &mut Scene) {
        let (engine, admin) = (&home.engine, &home.admin);
        let jump = |seconds: i64| ClockChange { settle: false, ..ClockChange::from(travel(seconds)) };
        let change = async |change: ClockChange| {
            engine.change_clock(admin, Some(scene.on.clone()), change, None).await.unwrap();
        };
        change(ClockCommand::Pause.into()).await;
        change(travel(0).into()).await;
        if self == Self::SetTimer {
            return;
        }
        let set = async |name: &str, seconds: i64| {
            let named = (Some(TimerId::new(name).unwrap()), timer_at(seconds));
            engine.set_timer(admin, Some(scene.on.clone()), named, None).await.unwrap();
        };
        set("timer", 10).await;
        match self {
            Self::FireTimers => change(jump(15)).await,
            Self::Advance => {
                set("later", 20).await;
                change(travel(30).into()).await;
            }
            Self::EndAdvance => {
                // With a listener, the instant is held until the firing is done.
                assert!(claim(home, &scene.on).await.is_empty());
                change(travel(15).into()).await;
                home.keep_time(1).await;
                let firings = named(&scene.on, claim(home, &scene.on).await);
                // A hold prevents the advance from ending with the outcome.
                let (_, hold, _) = engine.hold_advances(admin, held(&scene.on), None).await.unwrap();
                engine.acknowledge(admin, firings, None).await.unwrap();
                engine.release_hold(admin, Some(scene.on.clone()), &hold.lease_id).await.unwrap();
            }
            Self::Acknowledge | Self::Redeliver => {
                change(jump(15)).await;
                home.keep_time(1).await;
                let firings = claim(home, &scene.on).await;
                assert_eq!(firings.len(), 1);
                if self == Self::Redeliver {
                    fail(home, &scene.on, &firings).await;
                }
                scene.about = About::Firings(firings);
            }
            _ => {}
        }
    }
}

async fn create(home: &Home<'_>, scene: &Scene) {
    home.create_timeline(scene.on.clone()).await;
}

async fn record(home: &Home<'_>, scene: &Scene, names: &[&str]) {
    let drafts = names.iter().map(|name| named_event(&format!("{name}-{}", scene.name), 3, "")).collect();
    home.record_events(Some(scene.on.clone()), drafts).await;
}

async fn return_to(home: &Home<'_>, scene: &mut Scene) {
    scene.on = TimelineId::main();
    home.set_anchor(None).await;
    // An event to be restored.
    record(home, scene, &["late"]).await;
}

/// Creates entries to be pruned.
async fn sweep(home: &Home<'_>, scene: &Scene) {
    create(home, scene).await;
    let request = RetentionRequest { reads: RetentionPeriod::Seconds(1), refusals: RetentionPeriod::Ever };
    home.engine.set_retention(&home.admin, scene.on.clone(), request, None).await.unwrap();
    home.read_clock(Some(scene.on.clone())).await;
    home.house.clock.advance(2 * SECOND);
}

pub(super) fn named(on: &TimelineId, firing_ids: Vec<FiringId>) -> FiringsRequest {
    FiringsRequest { timeline: Some(on.clone()), firing_ids, lease_ids: None }
}

async fn claim(home: &Home<'_>, on: &TimelineId) -> Vec<FiringId> {
    firing_ids(&home.engine.claim(&home.admin, Some(on.clone()), &claim_of(9)).await.unwrap())
}

/// Exhausts the attempts of claimed firings.
async fn fail(home: &Home<'_>, on: &TimelineId, firings: &[FiringId]) {
    for _ in 0..ATTEMPTS_MAX {
        let answer = home.engine.fail_firings(&home.admin, named(on, firings.to_vec()), None, None).await.unwrap();
        if answer.firings[0].1 == FiringState::Failed {
            return;
        }
        home.house.pass(400 * SECOND);
        home.engine.keep_time().await;
        assert_eq!(claim(home, on).await, firings);
    }
    panic!("it is tried again and again");
}
