//! Cosigned checkpoints of witnesses, shared between two services: one of them requests them, both show them, and the
//! shared row is trusted only as far as its signatures go.

use timenav_core::ledger::{Checkpoint, Note, VerifierKey, WitnessKey};
use timenav_engine::{Cosigned, Evidence, SignedCheckpoint, WitnessState};

use crate::ports::SeedSigner;
use crate::replicas::*;

/// A witness that cosigns anything.
struct Witness {
    signer: SeedSigner,
    key: WitnessKey,
}

impl Witness {
    fn new(name: &str) -> Self {
        let signer = SeedSigner::new([3; 32]);
        let key = WitnessKey::new(name, signer.public_key()).unwrap();
        Self { signer, key }
    }

    /// Cosigns a checkpoint for a service, which shares it.
    async fn cosign(&self, engine: &Engine, checkpoint: &SignedCheckpoint, time: u64) {
        let note = Note::parse(checkpoint.note.as_bytes()).unwrap();
        let line = self.key.cosign(note.text(), time, |message| self.signer.sign(message)).unwrap();
        engine
            .add_cosignature(&TimelineId::system(), checkpoint, (&self.key, line, time))
            .unwrap()
            .expect("it is newer");
        engine.share_cosigned().await.unwrap();
    }

    /// Like at an interval, if the service is the one that asks.
    async fn ask(&self, engine: &Engine, time: u64) -> Cosigned {
        engine.commit_heads().await.unwrap();
        let checkpoint = engine.witness_checkpoint(&TimelineId::system()).unwrap().unwrap();
        self.cosign(engine, &checkpoint, time).await;
        Cosigned::clone(&engine.cosigned(&TimelineId::system()).unwrap())
    }
}

async fn row(home: &Home<'_>) -> Option<String> {
    home.store.cosigned_note().await.unwrap().map(|note| String::from_utf8_lossy(&note).into_owned())
}

/// Returns the size of `main` for which an entry is proven, and the cosigned checkpoint.
async fn proven(home: &Home<'_>, position: u64) -> (u64, String) {
    let proof = home.engine.witnessed_proof(&home.admin, &timeline_id("main"), position).await.unwrap();
    (proof.tree.size, proof.cosigned.note.to_string())
}

async fn state_of(home: &Home<'_>) -> String {
    home.engine.checkpoint(&home.admin, &timeline_id("system"), false).await.unwrap().note
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cosigned_checkpoint_is_shared_and_forged_rows_are_ignored() {
    let (left, right) = pair().await;
    let witness = Witness::new("witness.test");
    for home in [&left, &right] {
        home.engine.trust_witnesses(vec![witness.key.clone()]);
        home.engine.recall_heads().await.unwrap();
        home.engine.report_presence().await.unwrap();
    }
    // Only one service asks at a time, and continues to do so.
    for _ in 0..2 {
        assert!(left.engine.asks_witnesses().await.unwrap());
        assert!(!right.engine.asks_witnesses().await.unwrap());
    }
    right.change_clock(None, hour()).await;
    let first = witness.ask(&left.engine, 1_700_000_000).await;
    let (size, note) = proven(&right, 0).await;
    assert_eq!((note.as_str(), state_of(&right).await.as_str()), (&*first.note, &*first.note));
    let status = right.engine.witnesses(&TimelineId::system())["witness.test"].clone();
    assert_eq!((status.state, status.size, status.time), (WitnessState::Cosigning, first.size, 1_700_000_000));
    // Heads committed there are not committed again here. New ones are, and are found there.
    right.engine.commit_heads().await.unwrap();
    assert_eq!(right.engine.commit_heads().await.unwrap(), 0);
    right.change_clock(None, hour()).await;
    left.engine.catch_up_all().await.unwrap();
    let (second, before) = (witness.ask(&left.engine, 1_700_000_001).await, row(&left).await.unwrap());
    let (grown, note) = proven(&right, size).await;
    assert!(grown > size && note == *second.note && before == note);

    // Whatever an attacker writes into the row, the shown checkpoint stays, and a service with a better one repairs the
    // row.
    let old = first.note.replace('\'', "''");
    let unsigned = second.note.lines().filter(|line| !line.contains("witness.test"));
    let unsigned = unsigned.collect::<Vec<_>>().join("\n").replace('\'', "''") + "\n";
    let other_tree = second.note.replacen(&format!("\n{}\n", second.size), &format!("\n{}\n", second.size + 1), 1);
    let spoiled = [
        "DELETE FROM cosigned".to_owned(),
        "UPDATE cosigned SET note = 'no note'".to_owned(),
        "UPDATE cosigned SET note = '\\x00ff'::bytea".to_owned(),
        "UPDATE cosigned SET note = convert_to(repeat('x', 10000000), 'UTF8')".to_owned(),
        format!("UPDATE cosigned SET note = convert_to('{old}', 'UTF8')"),
        format!("UPDATE cosigned SET note = convert_to('{unsigned}', 'UTF8')"),
        format!("UPDATE cosigned SET note = convert_to('{other_tree}', 'UTF8')"),
    ];
    for (number, statement) in spoiled.iter().enumerate() {
        execute(&left.house.database(), statement);
        assert_ne!(row(&left).await.as_deref(), Some(before.as_str()), "{statement}");
        assert_eq!(proven(&right, size).await.1, before, "{statement}");
        assert_eq!(state_of(&left).await, before, "{statement}");
        let heals = if number % 2 == 0 { &left } else { &right };
        heals.engine.share_cosigned().await.unwrap();
        assert_eq!(row(&left).await.as_deref(), Some(before.as_str()), "{statement}");
        right.engine.ready().await.unwrap();
    }
    // Signature lines of others are not forwarded.
    let stranger = Witness::new("stranger.test");
    let line = stranger.key.cosign(&second.note, 1, |message| stranger.signer.sign(message)).unwrap();
    let more = Note::parse(second.note.as_bytes()).unwrap().with_signature(line).unwrap().to_string();
    execute(&left.house.database(), &format!("UPDATE cosigned SET note = convert_to('{more}', 'UTF8')"));
    assert_eq!(proven(&right, size).await.1, before);
    end([left, right]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn witness_requests_fail_over_and_cosigned_checkpoints_expose_rollback() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    let witness = Witness::new("witness.test");
    for home in [&left, &right] {
        home.engine.trust_witnesses(vec![witness.key.clone()]);
        home.engine.report_presence().await.unwrap();
    }
    assert!(left.engine.asks_witnesses().await.unwrap());
    let cosigned = witness.ask(&left.engine, 1_700_000_000).await;
    // It is not evidence that this one does not know of it yet.
    left.engine.create_user(&left.admin, user_id("ada"), false, None).await.unwrap();
    let newer = left.engine.witness_checkpoint(&TimelineId::system()).unwrap().unwrap();
    assert!(right.engine.witness_checkpoint(&TimelineId::system()).unwrap().unwrap().size < newer.size);
    assert_eq!(right.engine.judge_evidence(&TimelineId::system(), &newer.note).await.unwrap(), Evidence::None);
    left.engine.close().await;
    assert!(right.engine.asks_witnesses().await.unwrap());
    assert_eq!(state_of(&right).await, *cosigned.note);
    // The service has signed it, so there once were more entries than now.
    let system = right.engine.witness_checkpoint(&TimelineId::system()).unwrap().unwrap();
    let key = VerifierKey::new(&system.origin, house.signer.public_key()).unwrap();
    let tree =
        Checkpoint { origin: system.origin.clone(), size: system.size + 10, root: system.root, extensions: Vec::new() };
    let note = tree.sign(&key, |message| house.signer.sign(message)).unwrap();
    let line = witness.key.cosign(note.text(), 1_700_000_002, |message| witness.signer.sign(message)).unwrap();
    let note = note.with_signature(line).unwrap().to_string();
    execute(&house.database(), &format!("UPDATE cosigned SET note = convert_to('{note}', 'UTF8')"));
    right.engine.ready().await.unwrap();
    right.engine.learn_cosigned().await.unwrap();
    let refused = right.engine.ready().await;
    assert!(matches!(&refused, Err(Refusal::Diverged(_))), "{refused:?}");
    let refused = right.engine.change_clock(&right.admin, None, hour(), None).await;
    assert!(matches!(&refused, Err(Refusal::Diverged(_))), "{refused:?}");
    assert_eq!(right.engine.cosigned(&TimelineId::system()).unwrap().note, cosigned.note);
    right.engine.close().await;
}
