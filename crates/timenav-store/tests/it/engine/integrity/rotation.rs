//! Rotation of the signing key, also if it is interrupted.

use timenav_core::ledger::{Checkpoint, Note};

use crate::engine::*;
use crate::tampering::clean;

const SEEDS: [[u8; 32]; 3] = [[7; 32], [8; 32], [9; 32]];

/// Creates users with passwords and sessions, events, a fork, and a timeline that is never written to.
async fn fill(home: &Home<'_>) {
    for name in ["one", "two"] {
        home.create_timeline(timeline_id(name)).await;
    }
    let drafts = (0..5).map(|number| EventDraft::at(moment(number), "x")).collect();
    home.record_events(None, drafts).await;
    let main = timeline_id("main");
    home.engine.fork_timeline(&home.admin, timeline_id("fork"), &main, None, None).await.unwrap();
    for name in ["ada", "bob"] {
        home.user(name, false).await;
        let request = new_password(name, SECRET);
        home.engine.set_password(&home.admin, request).await.unwrap();
        log_in(home, name).await;
    }
}

async fn log_in(home: &Home<'_>, name: &str) -> String {
    let session = home.engine.log_in(user_id(name), password(SECRET), None).await.unwrap();
    session.expect("the password is right, and its row is taken for one of this service").secret.to_string()
}

fn next(house: &mut House, seed: [u8; 32]) {
    house.next_signer = Some(Arc::new(SeedSigner::new(seed)));
}

/// Replaces the signing key by the next one.
fn take_place(house: &mut House) {
    house.signer = house.next_signer.take().expect("there is a next key");
}

/// Rotates the key of a closed house. Returns the number of rotated ledgers.
async fn rotate(house: &mut House, seed: [u8; 32]) -> u64 {
    next(house, seed);
    let home = house.open().await;
    let rotated = home.engine.rotate_signing_key().await.unwrap().rotated;
    home.close().await;
    take_place(house);
    rotated
}

/// Returns the entries about rotations.
fn rotations(lines: &[Line]) -> Vec<&Line> {
    lines.iter().filter(|line| line.action == "rotate_signing_key").collect()
}

async fn lived_in() -> House {
    let house = House::new();
    let home = house.open().await;
    fill(&home).await;
    home.close().await;
    house
}

#[tokio::test(flavor = "multi_thread")]
async fn rotation_moves_every_ledger_to_the_next_key() {
    let mut house = lived_in().await;
    next(&mut house, SEEDS[1]);
    let home = house.open().await;
    let live = home.engine.log_in(user_id("ada"), password(SECRET), None).await.unwrap().unwrap();
    let rotation = home.engine.rotate_signing_key().await.unwrap();
    assert!(home.engine.authenticate_session(&live.secret).is_err(), "it has ended with the key");
    let sizes: BTreeMap<_, _> =
        home.store.open().await.unwrap().heads.into_iter().map(|head| (head.id, head.frontier.size())).collect();
    assert_eq!((rotation.rotated, &rotation.ledgers), (5, &sizes));
    // The retired key alone proves the entry, and with it the new key.
    for timeline in sizes.keys() {
        let proof = home.engine.rotation_proof(timeline).await.unwrap();
        let signed = open_note(&house, timeline.as_str(), &proof.checkpoint.note);
        verify_inclusion(proof.position, signed.size, &leaf_hash(&proof.leaf), &proof.hashes, &signed.root).unwrap();
        let record = LeafRecord::decode(&proof.leaf).unwrap();
        let named = VerifierKey::parse(&record.subject).unwrap();
        assert_eq!(*named.public_key(), SeedSigner::new(SEEDS[1]).public_key());
    }
    let lines = home.close().await;
    let recorded = rotations(&lines);
    assert_eq!(recorded.len(), 5);
    let key = |seed: [u8; 32], timeline: &str| {
        VerifierKey::new(&origin("timenav.test", timeline), SeedSigner::new(seed).public_key()).unwrap()
    };
    for line in recorded {
        assert_eq!((line.actor.as_str(), line.subject.clone()), ("system", key(SEEDS[1], &line.timeline).to_string()));
        let size = sizes[&timeline_id(&line.timeline)];
        assert_eq!(line.seq + 1, size, "it is the last entry of {}", line.timeline);
        assert_eq!(line.payload["retired_verifier_key"], key(SEEDS[0], &line.timeline).to_string());
        assert_eq!(line.payload["verifier_key"], key(SEEDS[1], &line.timeline).to_string());
    }
    // Both keys have signed the newest checkpoints, stored internally and externally.
    for (timeline, note) in house.outside.notes() {
        let ids: Vec<_> = Note::parse(note.as_bytes()).unwrap().signatures().iter().map(NoteSignature::id).collect();
        let timeline = timeline.as_str();
        assert_eq!(ids, [key(SEEDS[0], timeline).id(), key(SEEDS[1], timeline).id()]);
        assert_eq!(open_note(&house, timeline, &note).size, sizes[&timeline_id(timeline)]);
    }
    clean(&house).await;
    take_place(&mut house);
    clean(&house).await;
    let home = house.open().await;
    assert!(home.engine.authenticate_session(&live.secret).is_err());
    for name in ["ada", "bob"] {
        log_in(&home, name).await;
    }
    // From here on the new key alone signs.
    home.read_clock(None).await;
    let note = home.engine.checkpoint(&home.admin, &timeline_id("main"), true).await.unwrap().note;
    assert_eq!(Note::parse(note.as_bytes()).unwrap().signatures().len(), 1);
    home.close().await;
    clean(&house).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn key_can_be_rotated_twice() {
    let mut house = lived_in().await;
    for seed in &SEEDS[1..] {
        assert_eq!(rotate(&mut house, *seed).await, 5);
    }
    let home = house.open().await;
    log_in(&home, "ada").await;
    let lines = home.close().await;
    assert_eq!(rotations(&lines).len(), 10);
    clean(&house).await;
    // The first two keys do not open the store any more.
    for seed in &SEEDS[..2] {
        house.signer = Arc::new(SeedSigner::new(*seed));
        let refused = house.open_error().await;
        assert!(matches!(refused, OpenError::Head { .. }), "{refused:?}");
    }
    house.signer = Arc::new(SeedSigner::new(SEEDS[2]));
    house.open().await.close().await;
}

/// Interrupts a rotation after each of its commits. The service starts with the current key, and the rotation is then
/// completed.
#[tokio::test(flavor = "multi_thread")]
async fn interrupted_rotation_can_be_completed_after_every_step() {
    let mut cuts_count = 0;
    for (commits_count, is_stored_outside) in (0..20).flat_map(|count| [(count, true), (count, false)]) {
        let mut house = lived_in().await;
        next(&mut house, SEEDS[1]);
        let (store, home) = house.open_faulty().await;
        let steps_before = house.outside.steps_count();
        store.fail_after(commits_count);
        let cut = home.engine.rotate_signing_key().await;
        home.stop().await;
        drop(store);
        if !is_stored_outside && house.outside.steps_count() > steps_before {
            // The process ended between a commit and storing its checkpoints.
            house.outside.lose_last();
        }
        cuts_count += u32::from(cut.is_err());
        // The service continues with the current key, and receives logins and writes.
        let home = house.open().await;
        let session = log_in(&home, "ada").await;
        log_in(&home, "bob").await;
        home.change_clock(None, ClockCommand::Pause).await;
        assert!(home.engine.authenticate_session(&session).is_ok());
        if is_stored_outside {
            home.close().await;
        } else {
            // The external checkpoints of ledgers without writes are still older than the internal ones.
            home.engine.close().await;
        }
        clean(&house).await;
        // The rotation is completed.
        let home = house.open().await;
        let finished = home.engine.rotate_signing_key().await.unwrap();
        assert!(finished.rotated >= 2, "`main` and `system` were written to: {finished:?}");
        let again = home.engine.rotate_signing_key().await.unwrap();
        assert_eq!((again.rotated, &again.ledgers), (0, &finished.ledgers), "there is nothing left to do");
        home.close().await;
        take_place(&mut house);
        let home = house.open().await;
        assert!(home.engine.authenticate_session(&session).is_err());
        log_in(&home, "ada").await;
        let lines = home.close().await;
        let of_one = rotations(&lines).into_iter().filter(|line| line.timeline == "one").count();
        assert_eq!(of_one, 1, "what went over stays so while nobody writes to it");
        clean(&house).await;
        if cut.is_ok() {
            break;
        }
    }
    assert!(cuts_count >= 6, "sessions end, others go over, `system` goes over: {cuts_count}");
}

#[tokio::test(flavor = "multi_thread")]
async fn outdated_external_checkpoints_block_the_key_change_until_rewritten() {
    let mut house = lived_in().await;
    next(&mut house, SEEDS[1]);
    let home = house.open().await;
    let stored = house.outside.notes();
    home.engine.rotate_signing_key().await.unwrap();
    home.engine.close().await;
    // Like a crash right after the last commit: the external checkpoints are older.
    house.outside.hold(stored.clone());
    house.signer = Arc::new(SeedSigner::new(SEEDS[1]));
    let refused = house.open_error().await;
    assert!(matches!(refused, OpenError::Checkpoint { .. }), "{refused:?}");
    house.signer = Arc::new(SeedSigner::new(SEEDS[0]));
    let home = house.open().await;
    assert_eq!(home.engine.rotate_signing_key().await.unwrap().rotated, 0);
    assert_ne!(house.outside.notes(), stored);
    home.close().await;
    take_place(&mut house);
    house.open().await.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_signature_of_the_next_key_is_ignored() {
    let mut house = lived_in().await;
    // An attacker adds a signature that claims to be by the next key.
    let (old, new) = (SeedSigner::new(SEEDS[0]), SeedSigner::new(SEEDS[1]));
    let key = VerifierKey::new("timenav.test/one", new.public_key()).unwrap();
    let connection = rusqlite::Connection::open(house.path()).unwrap();
    let select = "SELECT statement FROM timelines WHERE timeline_id = 'one'";
    let stored: Vec<u8> = connection.query_row(select, [], |row| row.get(0)).unwrap();
    let (text, _) = stored.split_at(stored.len() - 100);
    let (signature, code) = (old.sign(text), old.authenticate("head statement", text));
    let forged = [&stored, &key.id().as_bytes()[..], &signature, &code].concat();
    let update = "UPDATE timelines SET statement = ?1 WHERE timeline_id = 'one'";
    assert_eq!(connection.execute(update, [&forged]).unwrap(), 1);
    drop(connection);
    assert_eq!(rotate(&mut house, SEEDS[1]).await, 5);
    house.open().await.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_request_across_a_rotation_is_executed_once() {
    let mut house = House::new();
    let home = house.open().await;
    let repeatable = |home: &Home<'_>, key: &str, request: &str| {
        let fingerprint = home.engine.fingerprint(&digest(request));
        Some(Idempotency { key: digest(key), fingerprint })
    };
    let asking = repeatable(&home, "k", "an hour");
    let first = home.engine.change_clock(&home.admin, None, hour(), asking).await.unwrap();
    home.close().await;
    rotate(&mut house, SEEDS[1]).await;
    let home = house.open().await;
    let asking = repeatable(&home, "k", "an hour");
    let again = home.engine.change_clock(&home.admin, None, hour(), asking).await.unwrap();
    assert!(again.replayed && again.ledger == first.ledger);
    // Later requests are compared again.
    let asking = repeatable(&home, "l", "an hour");
    home.engine.change_clock(&home.admin, None, hour(), asking).await.unwrap();
    let other = home.engine.change_clock(&home.admin, None, hour(), repeatable(&home, "l", "another")).await;
    assert_eq!(outcome_text(&other), "KeyReused");
    let lines = home.close().await;
    assert_eq!(lines.iter().filter(|line| line.action == "fast_forward").count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_ledgers_are_rotated_in_few_commits() {
    let mut house = House::new();
    let home = house.open().await;
    for number in 0..600 {
        home.create_timeline(timeline_id(&format!("t{number}"))).await;
    }
    home.engine.close().await;
    next(&mut house, SEEDS[1]);
    let home = house.open().await;
    assert_eq!(home.engine.rotate_signing_key().await.unwrap().rotated, 602);
    let groups = home.engine.stats().groups;
    assert!(groups < 300, "{groups} groups");
    home.engine.close().await;
    take_place(&mut house);
    let home = house.open().await;
    home.engine.close().await;
}

#[tokio::test]
async fn rotation_without_a_next_key_is_rejected() {
    let house = lived_in().await;
    let home = house.open().await;
    let refused = home.engine.rotate_signing_key().await;
    assert!(matches!(refused, Err(Refusal::FeatureDisabled { .. })), "{refused:?}");
    let lines = home.close().await;
    assert_eq!(rotations(&lines).len(), 0);
    // A checkpoint by the current key is not valid for another key.
    let key = VerifierKey::new("timenav.test/main", SeedSigner::new(SEEDS[1]).public_key()).unwrap();
    let note = house.outside.notes()[&timeline_id("main")].clone();
    assert!(Checkpoint::open(note.as_bytes(), &key, |_, _, _| true).is_err());
}
