//! Remains of a commit that was aborted after its writes: in the tables of a server until they are vacuumed, and in its
//! log.

use std::collections::BTreeSet;

use timenav_core::ledger::{Checkpoint, HeadStatement, Note, VerifierKey};
use timenav_engine::Signer as _;

use crate::house::Home;
use crate::ports::SeedSigner;
use crate::postgres::*;
use crate::sample::hour;

const SEEDS: [[u8; 32]; 2] = [[7; 32], [8; 32]];
/// Prefixes of head statements, and of checkpoints of the house.
const STATEMENT: &[u8] = b"timenav-head/v1\n";
const CHECKPOINT: &[u8] = b"timenav.test/";
/// None of these statements and notes is longer.
const LENGTH_MAX: usize = 1_000;

/// Returns the contents of each file in a server's tables and log.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let (mut all, mut open) = (Vec::new(), vec![folder.join("base"), folder.join("pg_wal")]);
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                all.push(std::fs::read(path).unwrap());
            }
        }
    }
    all
}

fn places<'a>(file: &'a [u8], mark: &'static [u8]) -> impl Iterator<Item = &'a [u8]> {
    let starts = file.windows(mark.len()).enumerate().filter(move |(_, some)| *some == mark);
    starts.map(|(at, _)| &file[at..(at + LENGTH_MAX).min(file.len())])
}

fn statements(file: &[u8]) -> Vec<HeadStatement> {
    let text_of = |place: &[u8]| {
        let end = place.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(5)?.0;
        HeadStatement::parse(std::str::from_utf8(&place[..=end]).ok()?).ok()
    };
    places(file, STATEMENT).filter_map(text_of).collect()
}

/// Returns the checkpoints in a file that verify with one of the keys.
fn checkpoints(file: &[u8], signers: &[SeedSigner]) -> Vec<Checkpoint> {
    let verified = |note: &[u8]| {
        let origin = std::str::from_utf8(note.split(|byte| *byte == b'\n').next()?).ok()?;
        let opened = |signer: &SeedSigner| {
            let key = VerifierKey::new(origin, signer.public_key()).ok()?;
            let verify =
                |public: &[u8; 32], message: &[u8], signature: &[u8; 64]| signer.verify(public, message, signature);
            Checkpoint::open(note, &key, verify).ok()
        };
        signers.iter().find_map(opened)
    };
    // A note ends with a signature line, and the number of these is unknown.
    let notes = |place: &'_ [u8]| {
        let ends = place.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).take(12);
        ends.filter_map(|end| verified(&place[..end])).collect::<Vec<_>>()
    };
    places(file, CHECKPOINT).flat_map(notes).collect()
}

/// Returns whether a file has the signature of a checkpoint, in binary form or as in a note. Signatures are
/// deterministic.
fn has_signature(file: &[u8], checkpoint: &Checkpoint, signer: &SeedSigner) -> bool {
    let key = VerifierKey::new(&checkpoint.origin, signer.public_key()).unwrap();
    let note: Note = checkpoint.sign(&key, |message| signer.sign(message)).unwrap();
    let text = note.to_string();
    let encoded = text.split_whitespace().next_back().unwrap();
    let has = |some: &[u8]| memchr::memmem::find(file, some).is_some();
    has(note.signatures()[0].signature()) || has(encoded.as_bytes())
}

async fn rotated(house: &mut House) -> Vec<Checkpoint> {
    house.next_signer = Some(Arc::new(SeedSigner::new(SEEDS[1])));
    let home = house.open().await;
    home.engine.rotate_signing_key().await.unwrap();
    home.stop().await;
    house.signer = house.next_signer.take().unwrap();
    let notes = house.outside.notes();
    notes.values().map(|note| Checkpoint::parse(Note::parse(note.as_bytes()).unwrap().text()).unwrap()).collect()
}

/// A deferred check that aborts the transaction at its commit.
const ABORT: &str = "CREATE FUNCTION abort() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'aborted'; END $$;
    CREATE CONSTRAINT TRIGGER abort AFTER INSERT ON entries DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION abort()";

/// Moves the clock forward. Returns whether that succeeded.
async fn moved(home: &Home<'_>) -> bool {
    home.engine.change_clock(&home.admin, None, hour(), None).await.is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn aborted_commit_leaves_no_verifiable_checkpoint() {
    if is_spread() {
        return println!("not tried: entries are on other servers");
    }
    let own = Cluster::start();
    let mut house = House::new();
    house.database = Some(own.url.clone());
    // The checkpoints signed by both keys are stored in the database, so that the search has something to find.
    let first_signer = Arc::clone(&house.signer);
    let stored = rotated(&mut house).await;
    let home = house.open().await;
    assert!(moved(&home).await);
    let before = home.size("main").await;
    // Everything is written, and the server rolls back at the commit.
    execute(&own.url, ABORT);
    assert!(!moved(&home).await);
    execute(&own.url, "DROP TRIGGER abort ON entries");
    assert_eq!(home.size("main").await, before);
    home.close().await;
    execute(&own.url, "CHECKPOINT");

    let folder = own.url.split_once("host=").unwrap().1.split('&').next().unwrap();
    let files = files(&Path::new(folder).join("data0"));
    let signers = SEEDS.map(SeedSigner::new);
    let tree = |one: &HeadStatement| (one.origin.clone(), one.size, one.root.to_hex());
    let committed = [first_signer.checkpoints(), house.signer.checkpoints()].concat();
    let committed: BTreeSet<_> = committed.iter().map(tree_of).collect();
    let stated: Vec<HeadStatement> = files.iter().flat_map(|file| statements(file)).collect();
    let aborted: Vec<&HeadStatement> = stated.iter().filter(|one| !committed.contains(&tree(one))).collect();
    assert!(
        aborted.iter().any(|one| one.origin == "timenav.test/main" && one.size > before),
        "nothing of the aborted step is there: {stated:?}"
    );
    let found: BTreeSet<_> =
        files.iter().flat_map(|file| checkpoints(file, &signers)).map(|one| tree_of(&one)).collect();
    for one in &stored {
        assert!(found.contains(&tree_of(one)), "the search did not find {one:?}: {found:?}");
        assert!(files.iter().any(|file| has_signature(file, one, &signers[0])), "{one:?}");
    }
    for one in aborted {
        assert!(!found.contains(&tree(one)), "{one:?}");
        let checkpoint = one.checkpoint();
        for signer in &signers {
            assert!(!files.iter().any(|file| has_signature(file, &checkpoint, signer)), "{one:?}");
        }
    }
}

fn tree_of(checkpoint: &Checkpoint) -> (String, u64, String) {
    (checkpoint.origin.clone(), checkpoint.size, checkpoint.root.to_hex())
}
