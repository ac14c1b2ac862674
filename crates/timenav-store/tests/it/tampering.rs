//! Every attack in docs/security.md on the files of a service, done by hand, with the result of a scan.

mod clean;
mod depths;
mod erasure;
mod ledger;
mod rows;
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::collection::vec;
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use timenav_core::access::{RestrictionLevel, Role, Scope};
use timenav_core::clock::{ClockCommand, Rate};
use timenav_core::data::{EncryptionKey, Plaintext};
use timenav_core::event::EventDraft;
use timenav_core::ids::TimelineId;
use timenav_core::intervention::Effect;
use timenav_core::ledger::{
    Authority, Checkpoint, Frontier, Hash, HeadStatement, Held, Leaf, LeafRecord, PositionRuns, PruneClass, TILE_WIDTH,
    TimelineCounts, TimelineFacts, VerifierKey, leaf_hash, origin, rebuilt_leaf, tree_root,
};
use timenav_core::permissions::End;
use timenav_core::place::{Geo, Point};
use timenav_core::scan::{Depth, FindingKind};
use timenav_core::time::{Duration, Span};
use timenav_core::timers::Schedule;
use timenav_engine::{
    Acceptance, AnchorRequest, ApiKeyRequest, Caller, ClockChange, ErasureRequest, Idempotency, InterventionRequest,
    OpenError, PasswordRequest, PermissionsChange, ReferenceCheckpoint, Refusal, ReplayedAuthority, RetentionPeriod,
    RetentionRequest, ReturnScope, Scan, ScanRequest, ScanSource, Signer as _, TimerRequest, scan,
};
use timenav_store::{SqliteArchive, SqliteStore};
use tokio::sync::OnceCell;
use zeroize::Zeroizing;

use crate::audit::payload_hash_of;
use crate::cases::check_cases;
use crate::cluster::execute;
use crate::house::{Home, House, Template, on};
use crate::ports::{CountingEntropy, OneCity, SeedSigner};
use crate::requests::*;
use crate::sample::{event_id, host, hour, key_id, moment, password, timeline_id, user_id, users};

/// The number of `main` in the database.
const MAIN: i64 = 2;
const POSITION_BITS: u32 = 40;

/// The external data that a scan is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    Stored,
    Nothing,
}

/// Returns the key of an entry.
const fn entry(timeline: i64, position: u64) -> i64 {
    (timeline << POSITION_BITS) | position.cast_signed()
}

async fn record(home: &Home<'_>, name: &str, first: i64, count: i64) {
    let draft = |number: i64| {
        let mut draft = EventDraft::at(moment(number * 1_000), "what happened");
        draft.event_id = Some(event_id(&format!("e{number}")));
        draft.location = (number % 3 == 0).then(|| "New Orleans".to_owned());
        draft.geo = (number % 5 == 0).then(|| Geo {
            point: Point::new(29.95 - 0.001 * f64::from(i32::try_from(number).unwrap()), -90.07).unwrap(),
            radius_m: None,
        });
        draft
    };
    let drafts = (first..first + count).map(draft).collect();
    home.record_events(Some(timeline_id(name)), drafts).await;
}

/// Fills a house with a thousand entries on five timelines and some data of each kind.
async fn fill(home: &Home<'_>) {
    let engine = &home.engine;
    let steer = async |name: &str, command: ClockCommand| {
        engine.change_clock(&home.admin, Some(timeline_id(name)), command, None).await.unwrap();
    };
    for (name, count) in [("main", 700), ("one", 20), ("two", 30), ("three", 300)] {
        steer(name, ClockCommand::Pause).await;
        record(home, name, 0, count).await;
        let anchor = AnchorRequest { timestamp: None, description: format!("on {name}"), fixed: true };
        engine.set_anchor(&home.admin, Some(timeline_id(name)), anchor, None).await.unwrap();
        steer(name, ClockCommand::Travel { to: moment(5), location: Some("Utah".to_owned()) }).await;
        steer(name, ClockCommand::Resume).await;
        engine.read_clock(&home.admin, Some(timeline_id(name))).await.unwrap();
    }
    let ada = home.user("ada", false).await;
    engine.read_clock(&ada, None).await.unwrap_err();
    let change = readers(["ada"]);
    engine.set_access_control(&home.admin, timeline_id("main"), change, None).await.unwrap();
    engine.read_clock(&ada, None).await.unwrap();
    let level = RestrictionLevel::ReadOnly;
    engine.restrict_time_travel(&home.admin, user_id("ada"), level, None).await.unwrap();
    seal(home, 3).await;
    let erasure = ErasureRequest::Event(Some(timeline_id("main")), event_id("e7"));
    engine.erase_data(&home.admin, erasure, None).await.unwrap();
    log_in(home).await;
    engine.revoke_api_key(&home.admin, crate::sample::key_id(&ada)).await.unwrap();
}

/// Seals this many records on `main`, and erases the last one.
async fn seal(home: &Home<'_>, count: usize) {
    for number in 1..=count {
        let key = EncryptionKey::new(Zeroizing::new("a passphrase that is long enough".to_owned())).unwrap();
        let data = Plaintext::new(Zeroizing::new(format!("{{\"a\":{number}}}")));
        let sealed = home.engine.encrypt_data(&home.admin, timeline_id("main"), data, key, None).await.unwrap();
        if number == count {
            let erasure = ErasureRequest::Data(None, sealed.change.data_id);
            home.engine.erase_data(&home.admin, erasure, None).await.unwrap();
        }
    }
}

/// Gives ada a password and two sessions, one of which is renewed.
async fn log_in(home: &Home<'_>) {
    for user in ["ada", "admin"] {
        home.engine.set_password(&home.admin, new_password(user, SECRET)).await.unwrap();
    }
    for user in ["ada", "ada", "admin"] {
        let new = home.engine.log_in(user_id(user), password(SECRET), None).await.unwrap();
        home.house.clock.advance(200 * SECOND);
        home.engine.renew_session(&new.expect("the password is right").caller).await.unwrap();
    }
}

/// Returns a closed house with data. It is filled once per process, and each test gets a copy.
async fn lived_in() -> House {
    static FILLED: OnceCell<Template> = OnceCell::const_new();
    let filled = FILLED.get_or_init(|| async {
        let mut house = House::new();
        house.gazetteer = Some(Arc::new(OneCity));
        let home = house.open().await;
        fill(&home).await;
        home.stop().await;
        Template::new(&house)
    });
    Box::pin(filled).await.house()
}

pub(crate) fn connect(house: &House) -> Connection {
    Connection::open(house.path()).unwrap()
}

/// Changes one row by hand.
fn attack(house: &House, statement: &str) {
    assert_eq!(connect(house).execute(statement, []).unwrap(), 1, "{statement}");
}

/// Scans a timeline of a closed house, as `timenav verify` does.
pub(crate) async fn look(house: &House, timeline: &str, depth: Depth, outside: Outside) -> Scan {
    let notes = house.outside.notes();
    let note = notes.get(&timeline_id(timeline)).filter(|_| outside == Outside::Stored);
    look_through(house, &*house.archive(), timeline, depth, note.map(String::as_str)).await
}

async fn look_at(house: &House, path: PathBuf, timeline: &str, depth: Depth, note: Option<&str>) -> Scan {
    look_through(house, &SqliteArchive::open(&path).unwrap(), timeline, depth, note).await
}

pub(crate) async fn look_through(
    house: &House,
    source: &dyn ScanSource,
    timeline: &str,
    depth: Depth,
    note: Option<&str>,
) -> Scan {
    let signer = Arc::clone(&house.signer);
    let request = ScanRequest {
        source,
        timeline: timeline_id(timeline),
        depth,
        keys: VerifierKey::new(&origin(&house.options.service_name, timeline), signer.public_key()).unwrap().into(),
        verify: &move |public, message, signature| signer.verify(public, message, signature),
        gazetteer: house.gazetteer.clone(),
        authority: &ReplayedAuthority::default(),
        entropy: &CountingEntropy::default(),
        references: note
            .into_iter()
            .map(|note| ReferenceCheckpoint { from: "kept outside", note: note.to_owned() })
            .collect(),
        unkept: Vec::new(),
    };
    scan(&request, &mut |_| ()).await.unwrap().expect("there is such a timeline")
}

/// Returns the kinds of findings, with their positions, for error messages and comparisons.
fn finding_kinds(scan: &Scan) -> Vec<(FindingKind, Option<u64>)> {
    scan.findings.iter().map(|finding| (finding.kind, finding.position)).collect()
}

async fn found(house: &House, timeline: &str, kind: FindingKind, position: Option<u64>) -> Scan {
    let scan = Box::pin(look(house, timeline, Depth::Full, Outside::Stored)).await;
    check_found(&scan, kind, position);
    scan
}

#[track_caller]
fn check_found(scan: &Scan, kind: FindingKind, position: Option<u64>) {
    assert!(scan.tampering_detected());
    let first = scan.findings.iter().find(|finding| finding.kind == kind);
    let first = first.unwrap_or_else(|| panic!("no {kind}: {:?}", scan.findings));
    if position.is_some() {
        assert_eq!(first.position, position, "{:?}", scan.findings);
    }
    assert!(scan.details.contains("does not match what was signed"), "{}", scan.details);
}

pub(crate) async fn evidence(house: &House, timeline: &str) -> Vec<String> {
    let scan = look(house, timeline, Depth::Full, Outside::Stored).await;
    scan.findings.into_iter().map(|finding| format!("{}: {}", finding.kind, finding.evidence)).collect()
}

/// Checks that no timeline has a finding.
pub(crate) async fn clean(house: &House) {
    let system = house.archive().snapshot(&TimelineId::system()).await.unwrap().unwrap();
    for timeline in system.service.unwrap().timelines.into_keys() {
        for depth in [Depth::Full, Depth::Quick, "tail:100".parse().unwrap(), "sample:50".parse().unwrap()] {
            let scan = Box::pin(look(house, timeline.as_str(), depth, Outside::Stored)).await;
            assert_eq!(finding_kinds(&scan), [], "{timeline} {depth}: {:#?}", scan.findings);
        }
    }
}

/// Returns a stored entry, with its contents from either table.
fn row(connection: &Connection, timeline: i64, position: u64) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let select = "SELECT leaf, iif(c.entry IS NULL, e.salt, c.salt), iif(c.entry IS NULL, e.payload, c.payload)
        FROM entries e LEFT JOIN contents c ON c.entry = e.entry WHERE e.entry = ?1";
    let key = [entry(timeline, position)];
    let (leaf, salt, payload): (Vec<u8>, _, _) =
        connection.query_row(select, key, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    (whole(connection, timeline, position, &leaf), salt, payload)
}

fn name_of(connection: &Connection, timeline: i64) -> String {
    connection.query_row("SELECT timeline_id FROM timelines WHERE timeline = ?1", [timeline], |row| row.get(0)).unwrap()
}

/// Returns a leaf as it is hashed, given its stored form.
fn whole(connection: &Connection, timeline: i64, position: u64, stored: &[u8]) -> Vec<u8> {
    rebuilt_leaf(stored, &name_of(connection, timeline), position).unwrap().into_owned()
}

/// Returns the position of the first read entry of `main`.
fn first_reads(connection: &Connection) -> u64 {
    (0..1_000).find(|position| row(connection, MAIN, *position).0.starts_with(b"{\"action\":\"reads\"")).unwrap()
}

/// Attributes reads to another user.
fn read_by_nobody(payload: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(payload).unwrap();
    let changed = text.replace("\"user\":\"admin\"", "\"user\":\"nobody\"");
    assert_ne!(changed, text);
    changed.into_bytes()
}

/// Replaces an entry, with its contents in the table `entries`, where earlier versions stored all of them.
fn put(connection: &Connection, timeline: i64, position: u64, (leaf, salt, payload): &(Vec<u8>, Vec<u8>, Vec<u8>)) {
    let insert = "INSERT INTO entries (entry, leaf, salt, payload) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO UPDATE SET leaf = excluded.leaf, salt = excluded.salt, payload = excluded.payload";
    connection.execute(insert, params![entry(timeline, position), leaf, salt, payload]).unwrap();
    connection.execute("DELETE FROM contents WHERE entry = ?1", [entry(timeline, position)]).unwrap();
}

/// Deletes the contents of an entry.
fn empty(house: &House, position: u64) {
    let connection = connect(house);
    let changed = [
        "UPDATE entries SET salt = x'', payload = x'' WHERE entry = ?1 AND payload <> x''",
        "DELETE FROM contents WHERE entry = ?1",
    ]
    .map(|statement| connection.execute(statement, [entry(MAIN, position)]).unwrap());
    assert_eq!(changed.iter().sum::<usize>(), 1, "{position}");
}

/// Changes an entry with knowledge of the format, so that its hashes match.
fn rewrite(
    connection: &Connection,
    timeline: i64,
    position: u64,
    change: impl FnOnce(&mut LeafRecord<'static>, &mut Vec<u8>),
) {
    let (leaf, salt, mut payload) = row(connection, timeline, position);
    let mut record = LeafRecord::decode(&leaf).unwrap().into_owned();
    change(&mut record, &mut payload);
    record.payload_hash = payload_hash_of(&record, &salt, &payload);
    let leaf: Leaf<'_> = record.as_leaf();
    let leaf = leaf.encode_v2(record.authority.as_ref().unwrap());
    put(connection, timeline, position, &(leaf, salt, payload));
}

/// Rebuilds the whole tree of a timeline from its entries: tiles, head, size.
fn rebuild(connection: &Connection, timeline: i64) -> Frontier {
    let select = "SELECT leaf FROM entries WHERE entry BETWEEN ?1 AND ?2 ORDER BY entry";
    let mut select = connection.prepare(select).unwrap();
    let stored = select.query_map([entry(timeline, 0), entry(timeline + 1, 0) - 1], |row| row.get::<_, Vec<u8>>(0));
    let leaves =
        (0..).zip(stored.unwrap()).map(|(position, stored)| whole(connection, timeline, position, &stored.unwrap()));
    let mut level: Vec<Hash> = leaves.map(|leaf| leaf_hash(&leaf)).collect();
    let mut frontier = Frontier::default();
    for hash in &level {
        frontier.push(*hash);
    }
    connection.execute("DELETE FROM tiles WHERE timeline = ?1", [timeline]).unwrap();
    let width = usize::from(TILE_WIDTH);
    for number in 0.. {
        let mut above = Vec::new();
        for (index, tile) in (0_i64..).zip(level.chunks(width)) {
            if number > 0 || tile.len() == width {
                let bytes: Vec<u8> = tile.iter().flat_map(Hash::as_bytes).copied().collect();
                connection
                    .execute("INSERT INTO tiles VALUES (?1, ?2, ?3, ?4)", params![timeline, number, index, bytes])
                    .unwrap();
            }
            if tile.len() == width {
                above.push(tree_root(tile));
            }
        }
        if above.is_empty() {
            break;
        }
        level = above;
    }
    let update = "UPDATE timelines SET size = ?1, frontier = ?2 WHERE timeline = ?3";
    connection.execute(update, params![frontier.size().cast_signed(), frontier.to_bytes(), timeline]).unwrap();
    frontier
}

/// Signs a tree with the previously signed state, and writes the statement to the database.
fn sign(house: &House, timeline: i64, frontier: &Frontier, signer: &SeedSigner) {
    let connection = connect(house);
    let origin = origin(&house.options.service_name, &name_of(&connection, timeline));
    let key = VerifierKey::new(&origin, signer.public_key()).unwrap();
    let before = HeadStatement::parse(&stated(&connection, timeline)).unwrap();
    let statement = HeadStatement { origin, size: frontier.size(), root: frontier.root(), ..before };
    let signature = statement.sign(&key, |text| signer.sign(text)).unwrap();
    put_statement(&connection, timeline, &statement, &key, signature, [0; 32]);
}

/// Changes entries with the signing key, so that everything matches except for external checkpoints. Returns the
/// findings of a scan without them.
async fn forge(house: &House, timeline: i64, change: impl FnOnce(&Connection)) -> Scan {
    let connection = connect(house);
    change(&connection);
    let frontier = rebuild(&connection, timeline);
    sign(house, timeline, &frontier, &house.signer);
    look(house, &name_of(&connection, timeline), Depth::Full, Outside::Nothing).await
}

fn stated(connection: &Connection, timeline: i64) -> String {
    let select = "SELECT statement FROM timelines WHERE timeline = ?1";
    let stored: Vec<u8> = connection.query_row(select, [timeline], |row| row.get(0)).unwrap();
    let lines: Vec<_> = stored.split_inclusive(|byte| *byte == b'\n').take(6).collect();
    String::from_utf8(lines.concat()).unwrap()
}

/// Writes a statement and its signature to the database.
fn put_statement(
    connection: &Connection,
    timeline: i64,
    statement: &HeadStatement,
    key: &VerifierKey,
    signature: [u8; 64],
    code: [u8; 32],
) {
    let bytes = [statement.to_text().as_bytes(), key.id().as_bytes(), &signature, &code].concat();
    let update = "UPDATE timelines SET statement = ?1 WHERE timeline = ?2";
    assert_eq!(connection.execute(update, params![bytes, timeline]).unwrap(), 1);
}

/// Signs a tree like earlier versions, which stored the checkpoint in the database. Returns the checkpoint.
fn sign_note(house: &House, connection: &Connection, timeline: i64, name: &str, frontier: &Frontier) -> String {
    let origin = origin(&house.options.service_name, name);
    let key = VerifierKey::new(&origin, house.signer.public_key()).unwrap();
    let tree = Checkpoint { origin, size: frontier.size(), root: frontier.root(), extensions: Vec::new() };
    let note = tree.sign(&key, |text| house.signer.sign(text)).unwrap().to_string();
    connection.execute("UPDATE timelines SET carried_note = ?1 WHERE timeline = ?2", params![note, timeline]).unwrap();
    note
}

/// Signs the state of `main` from its rows, for the existing tree, like versions before feature level 7.
async fn restate(house: &House, signer: &crate::ports::SeedSigner) {
    let opened = house.store().open().await.unwrap();
    let head = opened.heads.iter().find(|head| head.id.as_str() == "main").unwrap();
    let facts = TimelineFacts {
        clock: &head.clock,
        counts: TimelineCounts {
            anchors: head.anchors_count,
            data: head.data_count,
            events: head.events_count,
            overrides: head.overrides_count,
        },
        directory_root: None,
        fork: None,
        held: Held::NOTHING,
        permissions: &head.permissions,
        timers: "",
    };
    let statement = HeadStatement {
        origin: origin(&house.options.service_name, "main"),
        size: head.frontier.size(),
        root: head.frontier.root(),
        state_hash: facts.hash(),
        index_root: None,
    };
    let text = statement.to_text();
    let key = VerifierKey::new(&statement.origin, signer.public_key()).unwrap();
    let code = signer.authenticate("head statement", text.as_bytes());
    put_statement(&connect(house), MAIN, &statement, &key, signer.sign(text.as_bytes()), code);
}
