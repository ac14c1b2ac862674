//! Commitments of `system` by `heads` entries, and timelines that contradict them.

use timenav_core::ledger::{CommittedHead, CommittedHeads, WitnessKey, sha256};
use timenav_engine::{Divergence, Evidence, ExternalCheckpoint};

use super::authority::{SYSTEM, last_with};
use crate::tampering::*;

/// Returns a house whose `system` has committed to its timelines, twice.
async fn committed() -> House {
    let house = lived_in().await;
    let home = house.open().await;
    let all = home.engine.commit_heads().await.unwrap();
    assert!(all > 1, "every timeline but `system` was new");
    assert_eq!(home.engine.commit_heads().await.unwrap(), 0, "nothing has moved");
    record(&home, "main", 8_001, 1).await;
    assert_eq!(home.engine.commit_heads().await.unwrap(), 1);
    home.engine.close().await;
    house
}

/// Rewrites the newest entry `heads`, and signs everything again. Returns the findings of a scan of `system`.
async fn committed_to(house: &House, change: impl Fn(&mut CommittedHead)) -> Vec<(FindingKind, Option<u64>)> {
    let position = last_with(house, SYSTEM, "heads");
    let scan = forge(house, SYSTEM, |connection| {
        rewrite(connection, SYSTEM, position, |record, payload| {
            let heads = CommittedHeads::decode(payload).unwrap();
            let mut changed = heads.as_slice().to_vec();
            changed.iter_mut().for_each(&change);
            let changed = CommittedHeads::new(changed, heads.previous).unwrap();
            *payload = changed.encode();
            record.subject = changed.subject("timenav.test").into();
        });
    })
    .await;
    finding_kinds(&scan).into_iter().map(|(kind, at)| (kind, at.map(|at| at - position))).collect()
}

#[tokio::test]
async fn committed_heads_match_the_timelines() {
    let house = committed().await;
    let scan = look(&house, "system", Depth::Full, Outside::Stored).await;
    assert_eq!(finding_kinds(&scan), [], "{:?}", scan.findings);
    assert!(scan.checked.iter().any(|checked| checked.what == "heads" && checked.count > 2), "{:?}", scan.checked);
    // The last commitments are known after a start, and nothing is committed twice.
    let home = house.open().await;
    assert_eq!(home.engine.recall_heads().await.unwrap(), None);
    assert_eq!(home.engine.commit_heads().await.unwrap(), 0);
    home.engine.ready().await.unwrap();
    home.close().await;
}

/// The last commitment of a timeline without recent writes may be far back.
#[tokio::test]
async fn old_head_commitment_is_recalled_across_thousands_of_entries() {
    const ENTRIES: usize = 4_100;
    let house = House::new();
    let home = house.open().await;
    let quiet = timeline_id("quiet");
    home.create_timeline(quiet.clone()).await;
    assert_eq!(home.engine.commit_heads().await.unwrap(), 2);
    for number in 0..ENTRIES {
        let command = if number % 2 == 0 { ClockCommand::Pause } else { ClockCommand::Resume };
        home.change_clock(None, command).await;
        assert_eq!(home.engine.commit_heads().await.unwrap(), 1);
    }
    // It has no commitment yet, and none is searched for.
    home.create_timeline(timeline_id("new")).await;
    home.stop().await;
    let home = house.open().await;
    assert_eq!(home.engine.recall_heads().await.unwrap(), None);
    let mut pages = 1;
    while home.engine.recall_more_heads().await.unwrap() {
        pages += 1;
    }
    assert!(pages > 3, "{pages}");
    assert_eq!(home.engine.commit_heads().await.unwrap(), 1, "the new one alone");
    home.engine.ready().await.unwrap();
    home.engine.close().await;
}

#[tokio::test]
async fn rollback_or_rewrite_of_a_committed_timeline_is_reported() {
    let house = committed().await;
    assert_eq!(committed_to(&house, |_| {}).await, []);
    let found = committed_to(&house, |head| head.size += 100).await;
    assert_eq!(found, [(FindingKind::Rollback, Some(0))]);
    let found = committed_to(&house, |head| head.size -= 100).await;
    assert_eq!(found, [], "back as it was");
    let found = committed_to(&house, |head| head.root = sha256(&[])).await;
    assert_eq!(found, [(FindingKind::Fork, Some(0))]);
    let found = committed_to(&house, |head| head.timeline_id = timeline_id("never")).await;
    assert_eq!(found, [(FindingKind::Rollback, Some(0))]);
    // The subject has the commitment, whatever the payload says.
    let position = last_with(&house, SYSTEM, "heads");
    let scan = forge(&house, SYSTEM, |connection| {
        rewrite(connection, SYSTEM, position, |record, _| record.subject = record.subject.replace("1:", "2:").into());
    })
    .await;
    check_found(&scan, FindingKind::LeafMismatch, Some(position));
}

#[tokio::test]
async fn head_commitment_by_a_user_is_reported() {
    let house = committed().await;
    let position = last_with(&house, SYSTEM, "heads");
    let scan = forge(&house, SYSTEM, |connection| {
        rewrite(connection, SYSTEM, position, |record, _| record.actor = "admin".into());
    })
    .await;
    check_found(&scan, FindingKind::UnauthorizedEntry, Some(position));
}

#[tokio::test]
async fn start_detects_contradictions_to_committed_heads() {
    let house = committed().await;
    let home = house.open().await;
    // A checkpoint of another ledger, or of a larger one, signed by this service.
    let checkpoint = home.engine.witness_checkpoint(&TimelineId::system()).unwrap().unwrap();
    assert!(home.engine.compare_signed(&TimelineId::system(), "x").await.unwrap().is_none());
    let compared = home.engine.compare_signed(&TimelineId::system(), &checkpoint.note).await.unwrap().unwrap();
    assert_eq!((compared.contradiction, compared.is_accepted), (None, false));
    home.engine.close().await;
    let position = last_with(&house, SYSTEM, "heads");
    let connection = connect(&house);
    let (leaf, salt, payload) = row(&connection, SYSTEM, position);
    put(
        &connection,
        SYSTEM,
        position,
        &(leaf, salt, String::from_utf8(payload).unwrap().replace("\"size\":", "\"size\":9").into()),
    );
    drop(connection);
    let home = house.open().await;
    let contradiction = home.engine.recall_heads().await.unwrap().expect("it is another payload");
    assert!(contradiction.contains("has a payload other than the signed one"), "{contradiction}");
    assert!(home.engine.contradicts_itself());
    assert!(home.engine.ready().await.unwrap_err().to_string().contains("a payload other than the signed one"));
    home.engine.close().await;
}

#[tokio::test]
async fn witnessed_proof_uses_the_newest_covering_cosigned_checkpoint() {
    let house = committed().await;
    let home = house.open().await;
    home.engine.recall_heads().await.unwrap();
    let (engine, admin, main) = (&home.engine, &home.admin, timeline_id("main"));
    let refused = engine.witnessed_proof(admin, &main, 0).await.unwrap_err();
    assert!(refused.to_string().contains("which have not cosigned anything yet"), "{refused}");
    let signer = SeedSigner::new([3; 32]);
    let witness = WitnessKey::new("witness.test", signer.public_key()).unwrap();
    let cosign = |time: u64| {
        let checkpoint = engine.witness_checkpoint(&TimelineId::system()).unwrap().unwrap();
        let text = checkpoint.note.split_inclusive("\n\n").next().unwrap().strip_suffix('\n').unwrap().to_owned();
        let line = witness.cosign(&text, time, |message| signer.sign(message)).unwrap();
        engine
            .add_cosignature(&TimelineId::system(), &checkpoint, (&witness, line, time))
            .unwrap()
            .expect("it is newer")
    };
    let first = cosign(1_700_000_000);
    assert_eq!((first.by.len(), first.by["witness.test"]), (1, 1_700_000_000));
    let proof = engine.witnessed_proof(admin, &main, 0).await.unwrap();
    let (covered, head) = (proof.tree.size, proof.head.expect("`system` is committed to it"));
    assert!(head.position < first.size && proof.cosigned.size == first.size);
    // Later entries are not covered, even if `system` has committed to them, because that is not cosigned.
    record(&home, "main", 8_002, 1).await;
    engine.commit_heads().await.unwrap();
    let refused = engine.witnessed_proof(admin, &main, covered).await.unwrap_err();
    assert!(refused.to_string().contains(&format!("witnesses vouch for {covered} entries")), "{refused}");
    assert_eq!(engine.witnessed_proof(admin, &main, covered - 1).await.unwrap().tree.size, covered);
    let second = cosign(1_700_000_001);
    assert!(second.size > first.size);
    assert!(engine.witnessed_proof(admin, &main, covered).await.unwrap().tree.size > covered);
    // `system` itself needs no commitment.
    let of_system = engine.witnessed_proof(admin, &timeline_id("system"), 0).await.unwrap();
    assert!(of_system.head.is_none() && of_system.tree.size == second.size);
    // A newer one replaces an older one, and is found again when the service starts.
    let (stored, old) = (second.note.to_string(), first.note.to_string());
    assert_eq!(engine.checkpoint(admin, &timeline_id("system"), false).await.unwrap().note, stored);
    assert_ne!(engine.checkpoint(admin, &timeline_id("system"), true).await.unwrap().note, stored);
    home.engine.close().await;
    let home = house.open().await;
    let engine = &home.engine;
    let keys = [witness.clone()];
    assert_eq!(
        engine.recall_cosigned(&TimelineId::system(), &old, &[]).await.unwrap(),
        None,
        "nobody known has cosigned it"
    );
    assert_eq!(engine.recall_cosigned(&TimelineId::system(), &stored, &keys).await.unwrap().unwrap().size, second.size);
    assert_eq!(engine.recall_heads().await.unwrap(), None);
    assert_eq!(engine.witnessed_proof(&home.admin, &main, covered).await.unwrap().cosigned.size, second.size);
    assert!(engine.witnesses(&TimelineId::system()).is_empty());
    home.close().await;
}

#[tokio::test]
async fn witnessed_checkpoint_is_not_reported_after_accepted_rollback() {
    let mut house = lived_in().await;
    let older = house.backup();
    let home = house.open().await;
    home.engine.commit_heads().await.unwrap();
    let note = home.engine.witness_checkpoint(&TimelineId::system()).unwrap().unwrap().note;
    // The stored one is newer than the last one shown to the witness.
    home.engine.create_user(&home.admin, user_id("later"), false, None).await.unwrap();
    home.stop().await;
    house.replace_database(&older);
    for (stored, is_accepted) in [
        (Vec::new(), false),
        (vec![ExternalCheckpoint { timeline: timeline_id("system"), note: note.as_str().into(), seal: None }], true),
    ] {
        house.options.accept_rollback = Some(Acceptance { checkpoints: stored, ..Acceptance::default() });
        let home = house.open().await;
        let compared = home.engine.compare_signed(&TimelineId::system(), &note).await.unwrap().unwrap();
        assert_eq!((compared.contradiction.is_some(), compared.is_accepted), (true, is_accepted));
        // If the acceptance covers the cosigned checkpoint, it is set aside. Otherwise it raises an alarm.
        assert_eq!(home.engine.recall_cosigned(&TimelineId::system(), &note, &[]).await.is_ok(), is_accepted);
        assert_eq!(home.engine.ready().await.is_ok(), is_accepted);
        home.stop().await;
        // As evidence of a witness it stops the service: both states are signed by the same key.
        let home = house.open().await;
        let evidence = if is_accepted { Evidence::Accepted } else { Evidence::Proven };
        assert_eq!(home.engine.judge_evidence(&TimelineId::system(), "x").await.unwrap(), Evidence::None);
        let count_before = house.outside.diverged.lock().len();
        for _ in 0..2 {
            assert_eq!(home.engine.judge_evidence(&TimelineId::system(), &note).await.unwrap(), evidence);
        }
        let written = home.engine.create_user(&home.admin, user_id("late"), false, None).await;
        assert_eq!(written.is_ok(), is_accepted, "{written:?}");
        if !is_accepted {
            let Err(Refusal::Diverged(divergence)) = written else { panic!("{written:?}") };
            assert_eq!(divergence.timeline.as_str(), "system");
            let stored = house.outside.diverged.lock();
            assert_eq!(stored[count_before..], [(Divergence::clone(&divergence), note.clone())], "once");
        }
        home.engine.close().await;
    }
}
