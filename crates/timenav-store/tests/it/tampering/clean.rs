//! Legitimate changes are not reported as tampering, because false alarms would make people ignore real ones.

mod crowd;
mod moved;

use std::io::Write as _;

use proptest::prelude::*;

use super::{Outside, clean, connect, fill, finding_kinds, lived_in, look, put, record, row};
use crate::cluster::variable;
use crate::tampering::*;

/// Also with trailing bytes in the file (T29) and an event recorded late (T10).
#[tokio::test]
async fn untampered_history_has_no_findings() {
    let house = lived_in().await;
    let mut file = std::fs::OpenOptions::new().append(true).open(house.path()).unwrap();
    file.write_all(&vec![0xA5; 3 * 8_192]).unwrap();
    drop(file);
    clean(&house).await;
    let home = house.open().await;
    record(&home, "main", -900, 5).await;
    for timeline in ["system", "main", "one", "two", "three"] {
        for depth in [Depth::Full, Depth::Quick, "tail:7".parse().unwrap(), "sample:7".parse().unwrap()] {
            let scan = home.scan(timeline, depth).await;
            assert_eq!(finding_kinds(&scan), [], "{timeline} {depth}: {:#?}", scan.findings);
        }
    }
    home.close().await;
    clean(&house).await;
}

#[tokio::test]
async fn copies_and_torn_logs_have_no_findings() {
    let house = lived_in().await;
    let copy = house.backup();
    house.replace_database(&copy);
    clean(&house).await;
    let home = house.open().await;
    record(&home, "main", 5_000, 300).await;
    let killed = copy_files(&house);
    record(&home, "main", 6_000, 3).await;
    home.engine.close().await;
    let note = house.outside.notes()[&timeline_id("main")].clone();
    let scan = super::look_at(&house, killed.clone(), "main", Depth::Full, None).await;
    assert_eq!(finding_kinds(&scan), [], "{:#?}", scan.findings);
    // It is behind the service that continued.
    let behind = super::look_at(&house, killed.clone(), "main", Depth::Full, Some(&note)).await;
    assert_eq!(finding_kinds(&behind), [(timenav_core::scan::FindingKind::Rollback, Some(scan.size))]);
    // T26: the log is torn.
    let log = std::fs::OpenOptions::new().write(true).open(format!("{}-wal", killed.display())).unwrap();
    let length = log.metadata().unwrap().len();
    log.set_len(length - length / 3).unwrap();
    let scan = super::look_at(&house, killed, "main", Depth::Full, None).await;
    assert_eq!(finding_kinds(&scan), [], "{:#?}", scan.findings);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn scans_concurrent_with_writes_have_no_findings() {
    let home = Home::new().await;
    fill(&home).await;
    let writing = async {
        for number in 0..40 {
            record(&home, "main", 10_000 + number * 20, 20).await;
            home.change_clock(None, ClockCommand::Pause).await;
            home.change_clock(None, ClockCommand::Resume).await;
            let erasure = ErasureRequest::Event(None, event_id(&format!("e{}", 20 + number)));
            home.engine.erase_data(&home.admin, erasure, None).await.unwrap();
        }
    };
    let scanning = async {
        for _ in 0..20 {
            for timeline in ["main", "system"] {
                let scan = home.scan(timeline, Depth::Full).await;
                assert_eq!(finding_kinds(&scan), [], "{:#?}", scan.findings);
            }
        }
    };
    tokio::join!(writing, scanning);
    home.engine.close().await;
}

/// An action of a user.
#[derive(Clone, Debug)]
enum Deed {
    Record(u16),
    Steer(ClockCommand),
    Anchor,
    Look,
    Erase(u8),
    Reopen,
    Kill,
}

fn deeds() -> impl Strategy<Value = Vec<(Deed, bool)>> {
    let rate = (1_u64..9_000_000).prop_map(|micros| ClockCommand::SetRate(Rate::from_micros(micros).unwrap()));
    let travel = (-1_000_000_i64..1_000_000).prop_map(|to| ClockCommand::Travel { to: moment(to), location: None });
    let deed = prop_oneof![
        12 => (1_u16..12).prop_map(Deed::Record),
        // Enough to fill tiles of the tree.
        1 => (200_u16..600).prop_map(Deed::Record),
        6 => rate.prop_map(Deed::Steer),
        6 => travel.prop_map(Deed::Steer),
        3 => Just(Deed::Steer(ClockCommand::Pause)),
        3 => Just(Deed::Steer(ClockCommand::Resume)),
        3 => Just(Deed::Anchor),
        6 => Just(Deed::Look),
        3 => any::<u8>().prop_map(Deed::Erase),
        3 => Just(Deed::Reopen),
        4 => Just(Deed::Kill),
    ];
    vec((deed, any::<bool>()), 1..12)
}

async fn do_all(house: &House, deeds: Vec<(Deed, bool)>) {
    let mut home: Home<'_> = house.open().await;
    let mut next = 0;
    for (deed, on_main) in deeds {
        let name = if on_main { "main" } else { "other" };
        let timeline = Some(timeline_id(name));
        match deed {
            Deed::Record(count) => {
                record(&home, name, next, i64::from(count)).await;
                next += i64::from(count);
            }
            Deed::Steer(command) => {
                home.change_clock(timeline, command).await;
            }
            Deed::Anchor => {
                home.set_anchor(timeline).await;
            }
            Deed::Look => drop(home.engine.read_clock(&home.admin, timeline).await),
            Deed::Erase(number) => {
                let erasure = ErasureRequest::Event(timeline, event_id(&format!("e{number}")));
                drop(home.engine.erase_data(&home.admin, erasure, None).await);
            }
            Deed::Reopen => {
                home.engine.close().await;
                home = house.open().await;
            }
            Deed::Kill => kill(house).await,
        }
    }
    kill(house).await;
    home.engine.close().await;
}

/// Copies the files as a kill now would leave them: the database, and the log that is not folded into it.
fn copy_files(house: &House) -> PathBuf {
    let killed = house.path().with_extension("killed");
    for end in ["", "-wal"] {
        std::fs::copy(format!("{}{end}", house.path().display()), format!("{}{end}", killed.display())).unwrap();
    }
    match std::fs::remove_file(format!("{}-shm", killed.display())) {
        Ok(()) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
    }
    killed
}

/// Scans the files as a kill now would leave them.
async fn kill(house: &House) {
    let killed = copy_files(house);
    let notes = house.outside.notes();
    let timelines = SqliteArchive::open(&killed).unwrap().timelines().unwrap();
    assert_eq!(timelines.len(), notes.len());
    for timeline in timelines {
        let note = notes[&timeline].as_str();
        let scan = super::look_at(house, killed.clone(), timeline.as_str(), Depth::Full, Some(note)).await;
        assert_eq!(finding_kinds(&scan), [], "{timeline}: {:#?}", scan.findings);
    }
}

/// A bit of an entry of some timeline.
#[derive(Clone, Debug)]
struct Spot {
    timeline: prop::sample::Index,
    position: prop::sample::Index,
    column: usize,
    byte: prop::sample::Index,
    bit: u8,
}

fn spots() -> impl Strategy<Value = Spot> {
    let index = any::<prop::sample::Index>;
    (index(), index(), 0_usize..3, index(), 0_u8..8).prop_map(|(timeline, position, column, byte, bit)| Spot {
        timeline,
        position,
        column,
        byte,
        bit,
    })
}

/// Flips a bit and returns the timeline and the position of its entry.
fn flip(house: &House, at: &Spot) -> (String, u64) {
    let connection = connect(house);
    connection.pragma_update(None, "synchronous", "OFF").unwrap();
    let mut select = connection.prepare("SELECT timeline, timeline_id, size FROM timelines ORDER BY timeline").unwrap();
    let timelines = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let timelines: Vec<(i64, String, u32)> = timelines.unwrap().map(Result::unwrap).collect();
    let (timeline, timeline_id, size) = at.timeline.get(&timelines);
    let position = at.position.index(*size as usize) as u64;
    let (leaf, salt, payload) = row(&connection, *timeline, position);
    let mut columns = [leaf, salt, payload];
    // Erased entries have neither salt nor payload.
    let column = if columns[at.column].is_empty() { 0 } else { at.column };
    let byte = at.byte.index(columns[column].len());
    columns[column][byte] ^= 1 << at.bit;
    let [leaf, salt, payload] = columns;
    put(&connection, *timeline, position, &(leaf, salt, payload));
    (timeline_id.clone(), position)
}

/// Environment variable with the number of random histories. A thousand take minutes.
const HISTORIES: &str = "TIMENAV_TEST_HISTORIES";
/// The default number.
const HISTORIES_FEW: u32 = 250;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_histories_have_findings_only_after_a_bit_flip() {
    let histories = variable(HISTORIES).map_or(HISTORIES_FEW, |text| text.parse().expect("a number of histories"));
    check_cases(histories, &(deeds(), spots()), async |(deeds, spot)| {
        let house = House::new();
        do_all(&house, deeds).await;
        clean(&house).await;
        let (timeline, position) = flip(&house, &spot);
        let scan = look(&house, &timeline, Depth::Full, Outside::Nothing).await;
        assert!(scan.tampering_detected(), "{spot:?}: entry {position} of {timeline}");
        let first = scan.findings.iter().filter_map(|finding| finding.position).min().unwrap();
        assert!(first <= position, "{:#?}", scan.findings);
    });
}
