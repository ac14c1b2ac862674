//! Timelines that go over from one house to another, and what is refused.

mod arriving;
mod erased;
mod forks;
mod hostile;
mod limits;
mod mutated;
mod swept;
mod timers;

pub(crate) use arriving::{in_the_midst, large, record};
pub(crate) use timers::{go_on, layers_stay, runs_over};

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;
use timenav_core::clock::ClockCommand;
use timenav_core::data::{EncryptionKey, Plaintext};
use timenav_core::event::EventDraft;
use timenav_core::intervention::Effect;
use timenav_core::ledger::VerifierKey;
use timenav_core::scan::Depth;
use timenav_engine::{
    ADOPT_ROOM_LEFT_BYTES, ADOPT_ROOM_TIMES, AdoptRequest, AdoptedTimeline, EventErasure, InterventionRequest,
    ReadErasure, Refusal, Signer as _, UnreadBundle, WhichEvents, WhichReads,
};
use zeroize::Zeroizing;

use crate::house::{Home, House};
use crate::sample::{event_id, moment, timeline_id};
use crate::tampering::{Outside, look};

pub(crate) const NAME: &str = "away";
/// From the start of the tests' clocks to the year 9000, in microseconds.
const FAR_MICROS: i64 = 7_000 * 365 * 86_400 * 1_000_000;

/// Returns a house whose salts and ids are none of another house.
pub(super) fn another_house() -> House {
    another(House::new())
}

/// As [`another_house`], on PostgreSQL.
pub(crate) fn another_house_on_postgres() -> House {
    another(House::on_postgres())
}

/// As [`another_house`], with its files in memory.
pub(super) fn another_house_off_disk() -> House {
    another(House::off_disk())
}

fn another(house: House) -> House {
    house.doors().entropy.fill(&mut vec![0; 32 * 100_000]);
    house
}

pub(super) async fn make_line(home: &Home<'_>, name: &str) {
    make(home, name).await;
}

async fn make(home: &Home<'_>, name: &str) {
    home.engine.create_timeline(&home.admin, timeline_id(name), None).await.unwrap();
    let draft = |id: &str| EventDraft { event_id: Some(event_id(id)), ..EventDraft::at(moment(1), "d") };
    let drafts = vec![draft("a"), draft("b")];
    home.engine.record_events(&home.admin, Some(timeline_id(name)), drafts, None).await.unwrap();
}

async fn seal(home: &Home<'_>, name: &str) {
    let (data, key) = (Plaintext::new(Zeroizing::new("{}".to_owned())), Zeroizing::new("k".to_owned()));
    let key = EncryptionKey::new(key).unwrap();
    home.engine.encrypt_data(&home.admin, timeline_id(name), data, key, None).await.unwrap();
}

async fn export(home: &Home<'_>) -> String {
    export_named(home, NAME).await
}

pub(super) async fn export_named(home: &Home<'_>, name: &str) -> String {
    let mut export = home.engine.export_bundle(&home.admin, &timeline_id(name)).await.unwrap();
    let mut text = String::new();
    while let Some(part) = export.next_part().await.unwrap() {
        text.push_str(&part);
    }
    text
}

/// Returns a bundle of a timeline of another house, and the key that it is verified with. Its salts are those of no other
/// one.
pub(super) async fn bundle_of(there: House, name: &str) -> (VerifierKey, String) {
    static BUNDLES: AtomicUsize = AtomicUsize::new(0);
    let before = BUNDLES.fetch_add(1, Ordering::SeqCst);
    there.doors().entropy.fill(&mut vec![0; 32 * 10_000 * before]);
    let far = there.open().await;
    make(&far, name).await;
    let text = export_named(&far, name).await;
    far.close().await;
    (VerifierKey::new(&format!("timenav.test/{name}"), there.signer.public_key()).unwrap(), text)
}

pub(crate) async fn adopt(home: &Home<'_>, of: &House, text: &str) -> Result<AdoptedTimeline, Refusal> {
    adopt_named(home, of, NAME, text).await
}

pub(super) async fn adopt_named(
    home: &Home<'_>,
    of: &House,
    name: &str,
    text: &str,
) -> Result<AdoptedTimeline, Refusal> {
    let key = VerifierKey::new(&format!("timenav.test/{name}"), of.signer.public_key()).unwrap();
    home.engine.admit_adoption(&home.admin, &key).await?;
    let request = AdoptRequest { key, map: BTreeMap::new(), rotations: Vec::new(), bytes_min: 0 };
    match home.engine.read_arrival(request, text.as_bytes()) {
        Ok(arrival) => home.engine.adopt(&home.admin, arrival).await,
        Err(UnreadBundle::Refused(refusal)) => Err(refusal),
        Err(other) => Err(Refusal::Unavailable(other.to_string())),
    }
}

#[tokio::test]
async fn what_arrives_goes_on_and_is_there_after_a_restart() {
    let (there, here) = (House::new(), another_house());
    let (far, home) = (there.open().await, here.open().await);
    make(&far, NAME).await;
    let adopted = adopt(&home, &there, &export(&far).await).await.unwrap();
    assert_eq!((adopted.bundle.origin.as_str(), adopted.sealed), ("timenav.test/away", 0));
    let home = home.reopen().await;
    let draft = EventDraft { event_id: Some(event_id("c")), ..EventDraft::at(moment(1), "d") };
    home.engine.record_events(&home.admin, Some(timeline_id(NAME)), vec![draft], None).await.unwrap();
    let again = adopt(&home, &there, &export(&far).await).await.err().unwrap();
    assert!(matches!(again, Refusal::NotMerged { .. }), "{again}");
    assert!(again.to_string().contains("timelines are never merged"), "{again}");
    far.close().await;
    let lines = home.close().await;
    let of_it: Vec<&str> = lines.iter().filter(|line| line.timeline == NAME).map(|line| line.action.as_str()).collect();
    let expected =
        ["create_timeline", "record_event", "record_event", "read", "adopt", "pause_time", "set_access_control"];
    assert_eq!(of_it[..7], expected);
}

#[tokio::test]
async fn what_was_erased_there_stays_erased_here() {
    let (there, here) = (House::new(), another_house());
    let (far, home) = (there.open().await, here.open().await);
    make(&far, NAME).await;
    let on = || Some(timeline_id(NAME));
    let request = |ids: &[&str]| EventErasure {
        timeline: on(),
        which: WhichEvents::Ids(ids.iter().map(|id| event_id(id)).collect()),
        include_forks: false,
        evaluated_at: None,
    };
    // One that was cancelled before, one that stands, and the first one's id again.
    let cancel = InterventionRequest {
        event_id: event_id("a"),
        action: "cancel".to_owned(),
        effect: Effect::Cancel,
        time: moment(1),
        causes: Vec::new(),
    };
    far.engine.manipulate_event(&far.admin, on(), cancel, None).await.unwrap();
    far.engine.erase_events(&far.admin, request(&["a", "b"]), None).await.unwrap();
    let draft = |id: &str| EventDraft { event_id: Some(event_id(id)), ..EventDraft::at(moment(1), "again") };
    far.engine.record_events(&far.admin, on(), vec![draft("a"), draft("c")], None).await.unwrap();
    for _ in 0..3 {
        far.engine.read_clock(&far.admin, on()).await.unwrap();
    }
    let lines = far.lines().await;
    let read = lines.iter().find(|line| line.timeline == NAME && line.subject == "clock").unwrap().seq;
    let which = WhichReads::Of("admin".to_owned());
    let reads = ReadErasure { timeline: on(), position: read, which };
    far.engine.erase_reads(&far.admin, reads, None).await.unwrap();
    adopt(&home, &there, &export(&far).await).await.unwrap();
    far.close().await;
    let home = home.reopen().await;
    home.engine.erase_events(&home.admin, request(&["a"]), None).await.unwrap();
    home.engine.record_events(&home.admin, on(), vec![draft("b")], None).await.unwrap();
    home.close().await;
    crate::tampering::clean(&here).await;
}

#[tokio::test]
async fn who_did_what_there_cannot_be_made_somebody_here() {
    let (there, here) = (House::new(), another_house());
    let (far, home) = (there.open().await, here.open().await);
    make(&far, NAME).await;
    adopt(&home, &there, &export(&far).await).await.unwrap();
    home.engine.close().await;
    for origins in ["''", "'4 time.example/away' || char(10)", "'3 timenav.test/away' || char(10)"] {
        let update = format!("UPDATE timelines SET origins = {origins} WHERE timeline_id = '{NAME}'");
        assert_eq!(Connection::open(here.path()).unwrap().execute(&update, []).unwrap(), 1, "{update}");
        let scan = look(&here, NAME, Depth::Full, Outside::Kept).await;
        let found: Vec<&str> = scan.findings.iter().map(|finding| finding.evidence.as_str()).collect();
        assert!(found.iter().any(|found| found.contains("whose entries it starts with")), "{origins}: {found:?}");
    }
    let update = "UPDATE timelines SET origins = '4 timenav.test/away' || char(10) WHERE timeline_id = 'away'";
    assert_eq!(Connection::open(here.path()).unwrap().execute(update, []).unwrap(), 1);
    here.open().await.close().await;
    far.close().await;
}

#[tokio::test]
async fn what_comes_from_the_far_future_is_refused() {
    let (there, here) = (House::new(), another_house());
    there.clock.advance(FAR_MICROS);
    let (far, home) = (there.open().await, here.open().await);
    make(&far, NAME).await;
    let refused = adopt(&home, &there, &export(&far).await).await.err().unwrap();
    assert!(refused.to_string().contains("more than 300 seconds in the future"), "{refused}");
    assert!(home.store.open().await.unwrap().heads.iter().all(|head| head.id.as_str() != NAME));
    home.close().await;
    far.close().await;
}

#[tokio::test]
async fn what_the_disk_has_no_room_for_is_refused() {
    let (there, here) = (House::new(), another_house());
    let (far, home) = (there.open().await, here.open().await);
    make(&far, NAME).await;
    let text = export(&far).await;
    // The file is asked for before it is read, so nothing is known of its size.
    let needed = |bytes: u64| ADOPT_ROOM_TIMES * bytes + ADOPT_ROOM_LEFT_BYTES;
    here.spool.0.store(needed(0) - 1, Ordering::Relaxed);
    let refused = adopt(&home, &there, &text).await.err().unwrap();
    assert!(refused.to_string().contains("67108863 are free"), "{refused}");
    here.spool.0.store(needed(1_000), Ordering::Relaxed);
    let key = VerifierKey::new(&format!("timenav.test/{NAME}"), there.signer.public_key()).unwrap();
    let told = |bytes_min| AdoptRequest { key: key.clone(), map: BTreeMap::new(), rotations: Vec::new(), bytes_min };
    let refused = home.engine.read_arrival(told(1_001), text.as_bytes()).err().unwrap();
    assert!(matches!(refused, UnreadBundle::NoRoom { bytes: 1_001, .. }), "{refused}");
    home.engine.read_arrival(told(1_000), text.as_bytes()).unwrap();
    adopt(&home, &there, &text).await.unwrap();
    home.close().await;
    far.close().await;
}

#[tokio::test]
async fn sealed_records_of_others_are_not_taken_over() {
    // Both draw the same numbers, so both have given the same id.
    let (there, here) = (House::new(), House::new());
    let (far, home) = (there.open().await, here.open().await);
    make(&far, NAME).await;
    seal(&far, NAME).await;
    make(&home, "own").await;
    seal(&home, "own").await;
    let text = export(&far).await;
    let refused = adopt(&home, &there, &text).await.err().unwrap();
    assert!(matches!(refused, Refusal::SealedRecordTaken { .. }), "{refused}");
    home.close().await;
    far.close().await;
}

#[tokio::test]
async fn what_was_handed_over_stays_so() {
    let house = House::new();
    let home = house.open().await;
    make(&home, NAME).await;
    let refused = home.engine.hand_over(&home.admin, timeline_id("main"), None).await.err().unwrap();
    assert!(refused.to_string().contains("every service has its own `main`"), "{refused}");
    home.engine.hand_over(&home.admin, timeline_id(NAME), None).await.unwrap();
    let size = home.size(NAME).await;
    let home = home.reopen().await;
    let named = Some(timeline_id(NAME));
    let refused = home.engine.change_clock(&home.admin, named.clone(), ClockCommand::Pause, None).await;
    assert!(matches!(refused, Err(Refusal::HandedOver { .. })), "{refused:?}");
    home.engine.read_clock(&home.admin, named).await.unwrap();
    export(&home).await;
    assert_eq!(home.size(NAME).await, size, "nothing is written to it");
    let lines = home.close().await;
    let told: Vec<&str> =
        lines.iter().filter(|line| line.subject.ends_with(" away")).map(|line| line.subject.as_str()).collect();
    assert_eq!(told, ["clock away", "bundle away"], "reads are told on `system`");
}

/// Whoever follows a clock has to see that it stands still now, and not that something has changed which has not.
#[tokio::test]
async fn a_clock_that_ran_has_changed_when_it_arrives_and_one_that_stood_still_has_not() {
    for runs in [true, false] {
        let (there, here) = (House::new(), another_house());
        let (far, home) = (there.open().await, here.open().await);
        make(&far, NAME).await;
        let on = || Some(timeline_id(NAME));
        if !runs {
            far.engine.change_clock(&far.admin, on(), ClockCommand::Pause, None).await.unwrap();
        }
        let before = far.engine.read_clock(&far.admin, on()).await.unwrap().clock;
        adopt(&home, &there, &export(&far).await).await.unwrap();
        let after = home.engine.read_clock(&home.admin, on()).await.unwrap().clock;
        assert!(!after.is_running());
        assert_eq!(after.generation, before.generation + u64::from(runs), "{runs}");
        far.close().await;
        home.close().await;
    }
}
