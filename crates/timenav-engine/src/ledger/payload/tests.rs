//! Every payload, compared with frozen bytes.

use std::collections::BTreeMap;

use serde::Deserialize;
use timenav_core::access::{Permissions, RestrictionLevel, Role, Scope};
use timenav_core::anchor::Anchor;
use timenav_core::clock::{Clock, ClockState, Moment, Rate};
use timenav_core::directory::{ApiKey, Session, StoredPassword, User};
use timenav_core::event::{Assertion, Cause, CauseKind, EventDraft, EventKind, Precision};
use timenav_core::fault::{Fault, Faults, Leap, LeapKind, Slew};
use timenav_core::horizon::Horizon;
use timenav_core::ids::{AnchorId, EventId, KeyId, QueueId, SessionId, TimelineId, TimerId, UserId};
use timenav_core::intervention::Effect;
use timenav_core::ledger::{
    Adopted, CommittedHead, CommittedHeads, ErasedBy, EventsErased, HandedOver, Hash, PositionRuns, PruneClass,
    ReadsErased, Retention, Sweep, TimelineEnded,
};
use timenav_core::place::{Geo, Point};
use timenav_core::time::{Instant, Span, TimeScale, Virtual, Wall, parse_duration};
use timenav_core::timers::{Advance, DueFiring, FiringState, Timers};

use super::*;
use crate::events::event_content::{CauseContent, event_content, event_draft};
use crate::events::event_filter::FilterTexts;
use crate::ledger::action::{Action, Topic};
use crate::ports::timer_rows::{FiringRow, TimerRow};
use crate::requests::json::{json, raw, read};

fn at<S: TimeScale>(seconds: i64) -> Instant<S> {
    Instant::from_micros(seconds * 1_000_000 + 1).unwrap()
}

fn user_id(name: &str) -> UserId {
    UserId::new(name).unwrap()
}

fn running() -> Clock {
    let state = ClockState::Running { origin_host: at(1), origin_virtual: at(-9), rate: Rate::NORMAL };
    Clock { state, location: Some("東京 \"x\"".to_owned()), generation: 3 }
}

fn paused() -> Clock {
    Clock { state: ClockState::Paused { since: at(1), at: at(2), rate: Rate::NORMAL }, location: None, generation: 0 }
}

fn moment(location: Option<&str>) -> Moment {
    Moment { at: at(5), running: true, rate: Rate::NORMAL, location: location.map(str::to_owned) }
}

fn anchor(location: Option<&str>) -> Anchor {
    Anchor {
        anchor_id: AnchorId::new("before").unwrap(),
        position: 7,
        set_at: at(1),
        timestamp: at(2),
        description: "line\nnext".to_owned(),
        fixed: location.is_some(),
        moment: moment(location),
    }
}

fn session(name: &str) -> Session {
    Session {
        session_id: SessionId::new(name).unwrap(),
        hash: [1; 32],
        user_id: user_id("ada"),
        created_at: at(1),
        renewed_at: at(1),
        expires_at: at(9),
    }
}

fn password() -> StoredPassword {
    StoredPassword { user_id: user_id("ada"), phc: "$argon2id$".into(), set_at: at(1) }
}

fn api_key(scopes: Option<&[Scope]>, expires_at: Option<Instant<Wall>>) -> ApiKey {
    ApiKey {
        key_id: KeyId::new("key_1").unwrap(),
        hash: [2; 32],
        user_id: user_id("ada"),
        timeline_id: TimelineId::new("main").unwrap(),
        label: "laptop \\ 1".to_owned(),
        scopes: scopes.map(Into::into),
        horizon: Horizon::default(),
        created_at: at(1),
        expires_at,
        revoked_at: None,
    }
}

fn permissions() -> Permissions {
    let (read, admin) = ([user_id("bob"), user_id("carol")].into(), [user_id("ada")].into());
    Permissions { read, admin, ..Permissions::default() }
}

fn expiring() -> Permissions {
    let mut expiring = permissions();
    expiring.put(Role::Read, user_id("bob"), Some(at(5)));
    expiring.put(Role::Write, user_id("bob"), Some(at(1)));
    expiring.put(Role::Admin, user_id("carol"), Some(Instant::MAX));
    expiring
}

fn of_clock(action: Action, duration: Option<&str>, anchor_id: Option<&str>) -> (Action, String) {
    let clock = ClockRecord::of(&if anchor_id.is_some() { paused() } else { running() });
    let changed = anchor_id.is_none();
    (
        action,
        json(&ClockChanged {
            clock,
            changed,
            duration: duration.map(str::to_owned),
            anchor_id: anchor_id.map(str::to_owned),
            advance: None,
            ended: None,
        }),
    )
}

fn faults() -> Faults {
    let (second, smear) = (at(1), Span::from_micros(86_400_000_000));
    let ada = Fault {
        offset: Span::from_micros(-1_500_000),
        drift_ppm: 200,
        jitter_micros: 5_000,
        seed: 7,
        slew: Some(Slew::To(500)),
        leap: Some(Leap { kind: LeapKind::Insert, second, smear }),
    };
    let bob = Fault { offset: Span::from_micros(2_000_000), slew: Some(Slew::From(1)), ..Fault::default() };
    Faults::carried([(whose("ada", "web").unwrap(), ada), (whose("bob", "db").unwrap(), bob)])
}

fn of_faults() -> Vec<(Action, String)> {
    let faults = faults();
    let fault = faults.iter().next().map(|(_, fault)| FaultRecord::of(&fault));
    let set = |fault, faults, before| {
        let (user_id, follower) = ("ada".to_owned(), "web".to_owned());
        (Action::SetFault, json(&FaultSet { user_id, follower, fault, faults, before }))
    };
    vec![set(fault, faults_record(&faults), Some(7)), set(None, Vec::new(), None)]
}

fn of_timelines() -> Vec<(Action, String)> {
    let created = |fork| {
        json(&TimelineCreated {
            timeline_id: "main".to_owned(),
            clock: ClockRecord::of(&paused()),
            permissions: PermissionsRecord::of(&permissions()),
            fork,
            expires_at: None,
        })
    };
    let fork = ForkRecord {
        fork_of: "main".to_owned(),
        size: 9,
        root: "00ff".to_owned(),
        checkpoint: "timenav.local/main\n9\n…\n".to_owned(),
        events_count: 4,
        timers_base: None,
        timers_last: None,
        webhooks_from: None,
        faults: Vec::new(),
    };
    let of_timers = ForkRecord { timers_base: Some(9), timers_last: Some(7), webhooks_from: Some(0), ..fork.clone() };
    let of_faults = ForkRecord { faults: faults_record(&faults()), ..fork.clone() };
    vec![
        (Action::CreateTimeline, created(None)),
        (Action::CreateTimeline, created(Some(fork))),
        (Action::CreateTimeline, created(Some(of_timers))),
        (Action::CreateTimeline, created(Some(of_faults))),
        of_clock(Action::Travel, None, None),
        of_clock(Action::PauseTime, None, None),
        of_clock(Action::ResumeTime, None, None),
        of_clock(Action::FastForward, Some("PT1H"), None),
        of_clock(Action::Rewind, Some("PT1H"), None),
        of_clock(Action::SetRate, None, None),
        of_clock(Action::ReturnToAnchor, None, Some("before")),
        (Action::SetAnchor, json(&AnchorSet::of(&anchor(None)))),
        (Action::SetAnchor, json(&AnchorSet::of(&anchor(Some("Paris"))))),
        (Action::SetAccessControl, json(&PermissionsPayload::of(&permissions()))),
        (Action::SetAccessControl, json(&PermissionsPayload::of(&expiring()))),
    ]
}

fn event(is_full: bool) -> String {
    let event_id = EventId::new("e").unwrap();
    let plain = EventDraft::at(Instant::EPOCH, "");
    let full = EventDraft {
        event_id: None,
        end_time: Some(at(7)),
        precision: Some(Precision::Day),
        name: Some("\u{1} \"n\"".to_owned()),
        location: Some("東京".to_owned()),
        geo: Some(Geo { point: Point::new(29.95, -90.07).unwrap(), radius_m: Some(0.1) }),
        causes: vec![Cause { event_id: event_id.clone(), kind: CauseKind::Contributes }],
        actors: vec!["ada".to_owned(), "b\\o\"b".to_owned()],
        kind: Some(EventKind::Scheduled),
        asserts: vec![
            Assertion { subject: "s".into(), predicate: "p".into(), value: r#"{"b":1e21,"a":[]}"#.into() },
            Assertion { subject: "s".into(), predicate: "q".into(), value: "null".into() },
        ],
        attributes: Some(r#"{"b":[null,"é"]}"#.to_owned()),
        source: Some("s".to_owned()),
        sequence: Some(7),
        ..EventDraft::at(Instant::MIN, "d")
    };
    event_content(&event_id, &if is_full { full } else { plain })
}

fn of_undoing() -> Vec<(Action, String)> {
    let payload = json(&Intervened {
        intervention_id: "intervention_2".to_owned(),
        event_id: "e".to_owned(),
        action: "undo the import 3-9-4".to_owned(),
        time: at::<Virtual>(3).to_string(),
        effect: EffectRecord::of(&Effect::Cancel),
        causes: Vec::new(),
        anchor_id: None,
        import_id: Some("3-9-4".to_owned()),
        was_active: true,
        changed: true,
        inherited: false,
        after: None,
    });
    vec![(Action::ManipulateEvent, payload)]
}

fn intervened(effect: &Effect, after: Option<&str>) -> String {
    let causes = [Cause { event_id: EventId::new("why").unwrap(), kind: CauseKind::Requires }];
    let causes = if after.is_some() { &causes[..] } else { &[] };
    json(&Intervened {
        intervention_id: "intervention_1".to_owned(),
        event_id: "e".to_owned(),
        action: "say \"so\"".to_owned(),
        time: at::<Virtual>(3).to_string(),
        effect: EffectRecord::of(effect),
        causes: causes.iter().map(CauseContent::of).collect(),
        anchor_id: after.is_none().then(|| "before".to_owned()),
        import_id: None,
        was_active: true,
        changed: !matches!(effect, Effect::Note),
        inherited: after.is_some(),
        after: after.and_then(raw),
    })
}

fn erased(also: Vec<u64>, data_id: Option<&str>) -> String {
    let event_id = data_id.is_none().then(|| "e".to_owned());
    let data_id = data_id.map(str::to_owned);
    json(&DataErased { position: 4, cancelled: !also.is_empty(), also, data_id, event_id })
}

fn of_events() -> Vec<(Action, String)> {
    let (plain, full) = (event(false), event(true));
    let hour = parse_duration("PT1H").unwrap();
    let geo = Some(Geo { point: Point::new(1.0, 2.0).unwrap(), radius_m: None });
    let effects = [
        Effect::Restore,
        Effect::Delay(hour),
        Effect::Advance(hour),
        Effect::Move(at(4)),
        Effect::Relocate { location: "Rome".to_owned(), geo },
        Effect::Relocate { location: "Rome".to_owned(), geo: None },
        Effect::Describe("d".to_owned()),
        Effect::Rename("n".to_owned()),
    ];
    let corrected = |content: &str, inherited| json(&Corrected { event: raw(content).unwrap(), inherited });
    let encrypted = DataEncrypted {
        data_id: "data_1".to_owned(),
        format: 1,
        kdf: "hkdf".to_owned(),
        sha256: "00ff".to_owned(),
        bytes: 12,
    };
    let mut written = vec![
        (Action::RecordEvent, plain.clone()),
        (Action::RecordEvent, full.clone()),
        (Action::CorrectEvent, corrected(&plain, false)),
        (Action::CorrectEvent, corrected(&full, true)),
        (Action::ManipulateEvent, intervened(&Effect::Cancel, None)),
        (Action::ManipulateEvent, intervened(&Effect::Note, None)),
        (Action::EncryptData, json(&encrypted)),
        (Action::DecryptData, json(&DataDecrypted { data_id: "data_1".to_owned() })),
        (Action::EraseData, erased(Vec::new(), Some("data_1"))),
        (Action::EraseData, erased(Vec::new(), None)),
        (Action::EraseData, erased(vec![5, 6], None)),
        (Action::DetectTampering, json(&ScanPayload { scan_depth: "full".to_owned() })),
    ];
    written.extend(effects.map(|effect| (Action::ManipulateEvent, intervened(&effect, Some(&full)))));
    written
}

fn of_users() -> Vec<(Action, String)> {
    let user = User {
        user_id: user_id("ada"),
        operator: true,
        restriction: RestrictionLevel::LimitedAccess,
        created_at: at(1),
    };
    let (plain, full) = (api_key(None, None), api_key(Some(&[Scope::ALL[0], Scope::ALL[1]]), Some(at(9))));
    let blind = ApiKey { horizon: Horizon { until_clock: true, known_at: Some(7) }, ..api_key(None, None) };
    let ended = ["session_2", "session_3"].map(|id| SessionId::new(id).unwrap());
    vec![
        (Action::CreateUser, json(&UserRecord::of(&user))),
        (Action::DeleteUser, json(&UserRecord::of(&user))),
        (Action::RestrictTimeTravel, json(&UserRecord::of(&user))),
        (Action::CreateApiKey, json(&KeyRecord::of(&plain))),
        (Action::CreateApiKey, json(&KeyRecord::of(&full))),
        (Action::CreateApiKey, json(&KeyRecord::of(&blind))),
        (Action::RevokeApiKey, json(&KeyRecord::of(&plain))),
        (Action::LogIn, json(&LoggedIn::of(&session("session_1"), &[], None))),
        (Action::LogIn, json(&LoggedIn::of(&session("session_1"), &ended, Some(&password())))),
        (Action::RenewSession, json(&SessionRenewed { session_id: "session_1".to_owned() })),
        (Action::LogOut, json(&SessionsEnded::of(&user_id("ada"), &ended))),
        (Action::EndSession, json(&SessionsEnded::of(&user_id("ada"), &[]))),
        (Action::SetPassword, json(&PasswordSet::of(&password(), &[]))),
        (Action::SetPassword, json(&PasswordSet::of(&password(), &ended))),
    ]
}

fn layer_erased() -> LayerErased<'static> {
    LayerErased {
        payload: "{\"event_id\":\"e\"}".into(),
        proof: "c2sp.org/tlog-proof@v1\n".into(),
        salt: "00".into(),
        timeline_id: "x".into(),
    }
}

fn accepted(is_full: bool) -> RollbackAccepted {
    let lost = LostTree {
        checkpoint: "timenav.local/main\n7\nAA==\n".to_owned(),
        root: Hash::from_bytes([8; 32]).to_hex(),
        size: 5,
        timeline_id: "main".to_owned(),
    };
    RollbackAccepted {
        accepted_by: is_full.then(|| "ada".to_owned()),
        findings: vec!["it \"was\" taken back".to_owned()],
        lost: if is_full { vec![lost] } else { Vec::new() },
        reason: is_full.then(|| "failover".to_owned()),
    }
}

#[test]
fn accepted_rollback_is_described_in_sentences() {
    assert_eq!(
        accepted(false).sentences(3),
        ["The state before entry 3 was not compared: an operator accepted a database that does not match what was \
             signed."]
    );
    assert_eq!(
        accepted(true).sentences(3),
        ["Entries lost before entry 3 were not compared: `ada` accepted a rollback (failover): 7 entries of `main` \
             were signed, and it continued from 5. An earlier checkpoint can prove the loss."]
    );
}

fn of_the_service() -> Vec<(Action, String)> {
    let attempt = AttemptRecord {
        operation: "travel".to_owned(),
        code: "permission_denied".to_owned(),
        detail: "\"no\"".to_owned(),
    };
    let counted = AttemptsCounted {
        count: 9,
        since: at::<Wall>(1).to_string(),
        networks: vec![NetworkCount { network: "2001:db8::/64".to_owned(), count: 8 }],
        networks_unnamed: 1,
        operations: vec![OperationCount {
            operation: "/v1/clock".to_owned(),
            code: "missing_credentials".to_owned(),
            count: 9,
        }],
        operations_unnamed: 0,
    };
    let rotated = SigningKeyRotated {
        retired_verifier_key: "timenav.local/main+00000000+AQ".to_owned(),
        verifier_key: "timenav.local/main+11111111+AQ".to_owned(),
    };
    let hash = Hash::from_bytes([3; Hash::BYTES]);
    let adopted = Adopted {
        bundle_sha256: hash,
        checkpoint: "time.example/x\n7\n".into(),
        layers: Vec::new(),
        map: BTreeMap::from([(user_id("ada"), user_id("bob"))]),
        origin: "time.example/x".into(),
        root: hash,
        size: 7,
    };
    let handed_over = HandedOver { requested_by: "ada".into(), root: hash, size: 7 };
    let retention = Retention { reads_seconds: Some(86_400), refusals_seconds: None };
    let mut positions = PositionRuns::default();
    for position in [3, 4, 9] {
        positions.push(position).unwrap();
    }
    let sweep = Sweep {
        requested_by: "ada \"x\"".into(),
        class: PruneClass::Reads,
        cutoff: at(2),
        leaf_hashes: Hash::from_bytes([7; 32]),
        policy: 1,
        positions,
    };
    let head = |name: &str| CommittedHead {
        root: Hash::from_bytes([8; 32]),
        size: 5,
        timeline_id: TimelineId::new(name).unwrap(),
    };
    let heads = CommittedHeads::new(vec![head("main"), head("apollo-11")], Some(3)).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    vec![
        (Action::AcceptRollback, json(&accepted(false))),
        (Action::AcceptRollback, json(&accepted(true))),
        (Action::RotateSigningKey, json(&rotated)),
        (Action::Attempt, json(&attempt)),
        (Action::AttemptsCounted, json(&counted)),
        (Action::Adopt, text(adopted.encode())),
        (Action::HandedOver, text(handed_over.encode())),
        (Action::LayerErased, json(&layer_erased())),
        (
            Action::AcceptHostClock,
            json(&HostClockAccepted { last: at::<Wall>(1).to_string(), now: at::<Wall>(9).to_string() }),
        ),
        (Action::Heads, text(heads.encode())),
        (Action::SetRetention, text(retention.encode())),
        (Action::Sweep, text(sweep.encode())),
    ]
}

fn found(as_of: Option<&str>) -> EventsFound {
    let (location, time_range) = ("Rome".to_owned(), "..".to_owned());
    EventsFound { as_of: as_of.map(str::to_owned), location, time_range, ..EventsFound::default() }
}

fn filter() -> FilterTexts {
    let some = |text: &str| Some(text.to_owned());
    let attributes = [("net".to_owned(), vec!["us".to_owned(), "ak".to_owned()])].into();
    FilterTexts { text: some("quake"), actor: some("ada"), source: some("usgs"), attributes }
}

fn watched() -> EventsWatched {
    EventsWatched { topics: vec!["clock".to_owned(), "events".to_owned()], ..EventsWatched::default() }
}

fn readings() -> Vec<Reading> {
    let text = str::to_owned;
    let range = || text("..");
    let paradoxes = |kinds, observations| Reading::MonitorParadox { kinds, observations, time_range: range() };
    let checked = |as_of| Reading::CheckTimeline { as_of, significant_event: text("e") };
    let exported = |as_of| {
        let (format, location, time_range) = (text("csv"), text("Rome"), range());
        EventsExported { as_of, format, location, time_range, ..EventsExported::default() }
    };
    let mut counted =
        EventsCounted { by: text("time"), location: text("Rome"), time_range: range(), ..EventsCounted::default() };
    counted.filtered_by(&filter());
    let mut filtered = (found(None), exported(None), watched());
    filtered.0.filtered_by(&filter());
    filtered.1.filtered_by(&filter());
    filtered.2.filtered_by(&filter());
    (filtered.0.order, filtered.1.order) = (Some(NEWEST), Some(NEWEST));
    vec![
        Reading::Stream(watched()),
        Reading::MonitorEvents(filtered.0),
        Reading::ExportEvents(filtered.1),
        Reading::Stream(filtered.2),
        Reading::AggregateEvents(counted),
        Reading::AggregateEvents(EventsCounted {
            by: text("time,attribute.net"),
            location: text("*"),
            time_range: range(),
            values: Some(vec![text("us"), text("a\"k")]),
            ..EventsCounted::default()
        }),
        paradoxes(Some(vec![text("grandfather")]), false),
        paradoxes(None, true),
        checked(None),
        checked(Some(text("7"))),
        Reading::MonitorEvents(found(None)),
        Reading::ScanEvents(found(Some("7"))),
        Reading::ExportEvents(exported(None)),
        Reading::ExportEvents(exported(Some(text("7")))),
        Reading::TimelinesDiff { a: text("main"), b: text("other") },
        Reading::Fork { timeline_id: text("other") },
        Reading::AccessLogs { time_range: range() },
        Reading::ManipulateEvent { dry_run: true, event_id: text("e") },
        Reading::Firings { advance_id: None, queue: Some(text("q")), state: None, timer_id: Some(text("t")) },
        Reading::Entries { from: 7 },
        Reading::Event { event_id: text("e") },
        Reading::ClockStream { follow: Some(text("web-1")) },
        Reading::InclusionProof { position: 7 },
        Reading::ConsistencyProof { from: 7 },
        Reading::EraseEvents {
            by: "query",
            dry_run: true,
            location: Some(text("New Orleans")),
            older_than: None,
            time_range: Some(range()),
        },
        Reading::EraseEvents {
            by: "age",
            dry_run: false,
            location: None,
            older_than: Some(text("P90D")),
            time_range: None,
        },
    ]
}

const PLAIN_READINGS: [Reading; 20] = [
    Reading::AccessControl {},
    Reading::Anchors {},
    Reading::ApiKeys {},
    Reading::Bundle {},
    Reading::Checkpoint {},
    Reading::Clock {},
    Reading::ClockStream { follow: None },
    Reading::Followers {},
    Reading::Foresee {},
    Reading::HeadStatement {},
    Reading::Leases {},
    Reading::Prune {},
    Reading::Restrictions {},
    Reading::Sessions {},
    Reading::Tile {},
    Reading::Timeline {},
    Reading::Timelines {},
    Reading::TimerMoments {},
    Reading::Timers {},
    Reading::Users {},
];

/// The parameters of read operations. They were payloads of `read`, and are stored unchanged in those of `reads`.
fn of_reads() -> Vec<(Action, String)> {
    let read = |parameters: String| (Action::Read, parameters);
    let some = readings().iter().map(json).collect::<Vec<_>>();
    std::iter::once(json(&Reading::Clock {})).chain(some).map(read).collect()
}

fn of_ends() -> Vec<(Action, String)> {
    let made = TimelineCreated {
        timeline_id: "job".to_owned(),
        clock: ClockRecord::of(&paused()),
        permissions: PermissionsRecord::of(&permissions()),
        fork: None,
        expires_at: Some(at::<Wall>(9).to_string()),
    };
    let ended = TimelineEnded {
        checkpoint: "timenav.local/job\n9\n…\n".into(),
        ended_by: "ada".into(),
        root: Hash::from_bytes([7; 32]),
        size: 9,
        timeline_id: TimelineId::new("job").unwrap(),
    };
    let ended = String::from_utf8(ended.encode()).unwrap();
    vec![(Action::CreateTimeline, json(&made)), (Action::EndTimeline, ended)]
}

fn of_erasures() -> Vec<(Action, String)> {
    let runs = |positions: &[u64]| {
        let mut runs = PositionRuns::default();
        for position in positions {
            runs.push(*position).unwrap();
        }
        runs
    };
    let events = EventsErased {
        requested_by: "ada \"x\"".into(),
        by: ErasedBy::Age,
        evaluated_at: 12,
        events_count: 2,
        include_forks: true,
        interventions: runs(&[7]),
        outcomes: vec![Hash::from_bytes([7; 32])],
        versions: runs(&[3, 4, 9]),
    };
    let reads = ReadsErased { requested_by: "ada".into(), position: 3, reads: runs(&[0, 1, 5]) };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    vec![(Action::EraseEvents, text(events.encode())), (Action::EraseReads, text(reads.encode()))]
}

fn timer_row() -> TimerRow {
    TimerRow {
        position: 7,
        timer_id: TimerId::new("renew").unwrap(),
        next: Some(at(9)),
        round: 0,
        is_cancelled: false,
        schedule: r#"{"at":"1970-01-01T00:00:09.000001Z"}"#.into(),
        deliver: r#"{"to":"queue","queue":"billing"}"#.into(),
        queue: QueueId::new("billing").unwrap(),
        order_key: Some("customer \"7\"".to_owned()),
        payload: r#"{"b":[null,"é"]}"#.into(),
        set_by: "ada".to_owned(),
        set_at: at(1),
    }
}

fn of_timers() -> Vec<(Action, String)> {
    let row = timer_row();
    let changed = TimerRow { round: 1, order_key: None, payload: "null".into(), ..row.clone() };
    let cancelled = TimerCancelled {
        timer_id: "renew".to_owned(),
        position: 7,
        next: row.next.map(|next| next.to_string()),
        before: Some(8),
    };
    let fired = |clock: Option<ClockRecord>| TimersFired {
        advance_id: clock.as_ref().map(|_| "advance_1".to_owned()),
        step: clock.as_ref().map(|_| 2),
        clock,
        fired: vec![(7, 9_000_001, 0, None), (8, 9_000_001, 1, Some(10_000_000))],
        skipped: vec![(9, 1, 5, Some(6))],
        before: Some(9),
    };
    let outcome = |outcome: &str, reason: Option<&str>| OutcomeOfFiring {
        firing_id: "firing_1".to_owned(),
        timer: 7,
        due: 9_000_001,
        round: u32::from(reason.is_some()),
        outcome: outcome.to_owned(),
        reason: reason.map(str::to_owned),
    };
    let outcomes = vec![outcome("acknowledged", None), outcome("failed", Some("declined"))];
    let settled = FiringsSettled { outcomes, before: Some(10) };
    let ended = |state: &str, held_by: Option<&str>| AdvanceEnded {
        advance_id: "advance_1".to_owned(),
        state: state.to_owned(),
        from: at::<Virtual>(1).to_string(),
        to: at::<Virtual>(9).to_string(),
        reached: at::<Virtual>(9).to_string(),
        step: 2,
        fired: 3,
        acknowledged: 1,
        failed: 1,
        held_by: held_by.map(str::to_owned),
    };
    let over = AdvanceOver { clock: ClockRecord::of(&running()), changed: true, ended: ended("settled", None) };
    let begun = AdvanceBegun {
        advance_id: "advance_1".to_owned(),
        from: at::<Virtual>(1).to_string(),
        to: at::<Virtual>(9).to_string(),
        location: Some("東京".to_owned()),
        running: true,
    };
    let clock = |advance: Option<AdvanceBegun>, ended: Option<AdvanceEnded>| {
        let clock = ClockRecord::of(&paused());
        json(&ClockChanged { clock, changed: true, duration: None, anchor_id: None, advance, ended })
    };
    vec![
        (Action::SetTimer, json(&TimerSet::of(&row, None, None).unwrap())),
        (Action::ChangeTimer, json(&TimerSet::of(&changed, Some(&row), Some(7)).unwrap())),
        (Action::CancelTimer, json(&cancelled)),
        (Action::FireTimers, json(&fired(None))),
        (Action::FireTimers, json(&fired(Some(ClockRecord::of(&paused()))))),
        (Action::SettleFirings, json(&settled)),
        (Action::EndAdvance, json(&over)),
        (Action::Travel, clock(Some(begun), None)),
        (Action::PauseTime, clock(None, Some(ended("stopped", Some("a queue"))))),
        (Action::RestoreTimers, json(&restored(&row, Some("anchor_1")))),
        (Action::RestoreTimers, json(&restored(&row, None))),
    ]
}

fn restored<'a>(row: &'a TimerRow, anchor_id: Option<&str>) -> TimersRestored<'a> {
    let timers = match anchor_id {
        Some(_) => vec![
            TimerRestored::of(row.position, Some(row), None).unwrap(),
            TimerRestored::of(row.position, Some(row), Some(row)).unwrap(),
        ],
        None => vec![TimerRestored::of(row.position, None, Some(row)).unwrap()],
    };
    let due_firing = DueFiring { due: at(9), position: 7, round: 2 };
    let firing = FiringRow {
        due_firing,
        firing_id: due_firing.firing_id(&TimelineId::main()),
        timer_id: row.timer_id.clone(),
        queue: row.queue.clone(),
        order_key: row.order_key.clone(),
        state: FiringState::Pending,
        made: 11,
        settled: None,
        advance: None,
        reason: None,
    };
    TimersRestored {
        anchor_id: anchor_id.map(str::to_owned),
        inherited: anchor_id.is_none(),
        timers,
        superseded: anchor_id.iter().map(|_| due_firing_record(&due_firing)).collect(),
        fired: vec![FiredAgain::of(&firing)],
        before: Some(11),
    }
}

#[test]
fn restored_timer_is_read_back_in_its_former_state() {
    let row = timer_row();
    let resting = TimerRow { next: None, round: 3, is_cancelled: true, ..row.clone() };
    for (was, is) in
        [(Some(&row), Some(&resting)), (Some(&resting), Some(&row)), (Some(&row), None), (None, Some(&row))]
    {
        let document = json(&TimerRestored::of(7, was, is).unwrap());
        let document: TimerRestored<'_> = read(document.as_bytes()).unwrap();
        let previous = document.was.as_ref().map(|document| document.row(7, was).unwrap());
        assert_eq!(previous.as_ref(), was);
        assert_eq!(document.is.as_ref().map(|document| document.row(7, previous.as_ref()).unwrap()).as_ref(), is);
    }
    // The definition of a timer that is not armed is in the entry.
    let document = json(&TimerRestored::of(7, Some(&resting), Some(&row)).unwrap());
    let document: TimerRestored<'_> = read(document.as_bytes()).unwrap();
    assert_eq!(document.was.unwrap().row(7, None), Some(resting));
}

#[test]
fn timers_of_a_head_are_read_back() {
    let empty = Timers::default();
    assert_eq!(timers_text(&empty), "");
    assert_eq!(*read_timers("").unwrap(), empty);
    let begun: ClockChanged = read(of_timers()[7].1.as_bytes()).unwrap();
    let advance = begun.advance.unwrap().advance(3, at(4)).unwrap();
    let advance = Advance { step: 2, stepped: 9, at_instant: 3, open: 1, ..advance };
    let of_fork = Timers { base: 1_000, webhooks: true, sends_from: 900, ..Timers::default() };
    let timers = Timers { next: Some(at(9)), armed: 2, pending: 1, advance: Some(advance), last: Some(8), ..of_fork };
    assert_eq!(*read_timers(&timers_text(&timers)).unwrap(), timers);
    let wrong = Timers { faults: faults().since(Some(8)).into(), ..timers };
    assert_eq!(*read_timers(&timers_text(&wrong)).unwrap(), wrong);
    // A head written before forks could send webhooks of inherited timers.
    let before = r#"{"armed":1,"pending":0,"base":7}"#;
    let silent = Timers { armed: 1, base: 7, sends_from: 7, ..Timers::default() };
    assert_eq!((&*read_timers(before).unwrap(), timers_text(&silent).as_str()), (&silent, before));
    assert!(read_timers("{}").is_none());
}

#[test]
fn set_timer_is_read_back() {
    let row = timer_row();
    let document = json(&TimerSet::of(&row, None, None).unwrap());
    let read: TimerSet<'_> = read(document.as_bytes()).unwrap();
    assert_eq!(read.changes(), None);
    assert_eq!(read.row(7, "ada", at(1)), Some(row));
}

#[derive(Deserialize)]
struct Vectors {
    payloads: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    action: String,
    payload: String,
}

fn vectors() -> Vec<Vector> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test-data/payloads-v1.json");
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str::<Vectors>(&text).unwrap().payloads
}

#[test]
fn written_payloads_match_the_frozen_ones() {
    let written = [
        of_timelines(),
        of_faults(),
        of_events(),
        of_users(),
        of_the_service(),
        of_reads(),
        of_ends(),
        of_erasures(),
        of_undoing(),
        of_timers(),
    ];
    let written = written.concat();
    // Long parameters are now cut differently; the vectors of the second format cover that.
    let is_written = |vector: &Vector| !vector.payload.starts_with(r#"{"parameters_begin""#);
    let frozen: Vec<_> =
        vectors().into_iter().filter(is_written).map(|vector| (vector.action, vector.payload)).collect();
    assert_eq!(written.len(), frozen.len());
    for (written, frozen) in written.iter().zip(&frozen) {
        assert_eq!((written.0.word(), &written.1), (frozen.0.as_str(), &frozen.1));
    }
}

fn written_again(action: Action, payload: &str) -> Option<String> {
    let bytes = payload.as_bytes();
    Some(match action {
        Action::EndTimeline => String::from_utf8(TimelineEnded::decode(bytes).ok()?.encode()).ok()?,
        Action::RecordEvent => {
            let draft = event_draft(payload)?;
            event_content(draft.event_id.as_ref()?, &draft)
        }
        Action::CorrectEvent => json(&read::<Corrected<'_>>(bytes)?),
        Action::ManipulateEvent => {
            let intervened: Intervened<'_> = read(bytes)?;
            let causes: Vec<Cause> = intervened.causes.iter().map(CauseContent::cause).collect::<Option<_>>()?;
            let causes = causes.iter().map(CauseContent::of).collect();
            json(&Intervened { effect: EffectRecord::of(&intervened.effect.effect()?), causes, ..intervened })
        }
        Action::DecryptData => json(&read::<DataDecrypted>(bytes)?),
        Action::EraseData => json(&read::<DataErased>(bytes)?),
        Action::EraseEvents => String::from_utf8(EventsErased::decode(bytes).ok()?.encode()).ok()?,
        Action::EraseReads => String::from_utf8(ReadsErased::decode(bytes).ok()?.encode()).ok()?,
        Action::DetectTampering => json(&read::<ScanPayload>(bytes)?),
        Action::CreateUser | Action::DeleteUser | Action::RestrictTimeTravel => {
            json(&UserRecord::of(&read::<UserRecord>(bytes)?.user()?))
        }
        Action::CreateApiKey | Action::RevokeApiKey => json(&KeyRecord::of(&read::<KeyRecord>(bytes)?.key(at(1))?)),
        Action::LogIn => json(&read::<LoggedIn>(bytes).filter(|intervened| intervened.session(at(1)).is_some())?),
        Action::LogOut | Action::EndSession => json(&read::<SessionsEnded>(bytes)?),
        Action::RenewSession => json(&read::<SessionRenewed>(bytes)?),
        Action::SetPassword => json(&read::<PasswordSet>(bytes)?),
        // The subject determines the read operation: its parameters alone are any object.
        Action::Read => read::<serde_json::Value>(bytes)?.to_string(),
        // Of the second format, whose vectors include it.
        Action::Reads => return None,
        Action::Attempt => json(&read::<AttemptRecord>(bytes)?),
        Action::AttemptsCounted => json(&read::<AttemptsCounted>(bytes)?),
        Action::RotateSigningKey => json(&read::<SigningKeyRotated>(bytes)?),
        Action::AcceptRollback => json(&read::<RollbackAccepted>(bytes)?),
        Action::Adopt => String::from_utf8(Adopted::decode(bytes).ok()?.encode()).ok()?,
        Action::HandedOver => String::from_utf8(HandedOver::decode(bytes).ok()?.encode()).ok()?,
        Action::LayerErased => json(&read::<LayerErased<'_>>(bytes)?),
        Action::Heads => String::from_utf8(CommittedHeads::decode(bytes).ok()?.encode()).ok()?,
        Action::AcceptHostClock => json(&read::<HostClockAccepted>(bytes)?),
        Action::Sweep => String::from_utf8(Sweep::decode(bytes).ok()?.encode()).ok()?,
        Action::CreateTimeline
        | Action::Travel
        | Action::PauseTime
        | Action::ResumeTime
        | Action::FastForward
        | Action::Rewind
        | Action::SetRate
        | Action::ReturnToAnchor
        | Action::SetAnchor
        | Action::EncryptData
        | Action::SetAccessControl
        | Action::SetFault
        | Action::SetRetention
        | Action::SetTimer
        | Action::ChangeTimer
        | Action::CancelTimer
        | Action::FireTimers
        | Action::SettleFirings
        | Action::RestoreTimers
        | Action::EndAdvance => StatePayload::read(action, bytes)?.written(),
    })
}

#[test]
fn frozen_payloads_of_all_actions_are_read_and_rewritten() {
    let vectors = vectors();
    for Vector { action, payload } in &vectors {
        let action = Action::parse(action).unwrap();
        assert_eq!(written_again(action, payload).as_ref(), Some(payload), "{action:?}");
    }
    for action in Action::ALL.iter().filter(|action| **action != Action::Reads) {
        assert!(vectors.iter().any(|vector| vector.action == action.word()), "{action:?} has no vector");
    }
}

#[test]
fn only_clock_payloads_are_read_as_clocks() {
    for Vector { action, payload } in vectors() {
        let parsed = Action::parse(&action);
        // In an advance, timers fall due at the clock's instant.
        let is_step = parsed == Some(Action::FireTimers) && payload.contains("advance_1");
        let tells = parsed.and_then(Action::topic) == Some(Topic::Clock) || is_step;
        assert_eq!(clock_in(payload.as_bytes()).is_some(), tells, "{action}");
    }
}

#[test]
fn logging_page_lists_all_reads() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/logging.md");
    let page = std::fs::read_to_string(page).unwrap();
    let row = page.lines().find(|line| line.starts_with("| `reads` |")).unwrap();
    let subjects = row.split('|').nth(3).unwrap();
    for reading in readings().iter().chain(&PLAIN_READINGS) {
        assert!(subjects.contains(&format!("`{}`", reading.operation())), "{reading:?}");
        assert!(json(reading).starts_with('{'));
    }
}
