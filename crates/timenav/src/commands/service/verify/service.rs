//! Verification through a running service: it scans, and its statements about the ledger are checked here.

use anyhow::anyhow;
use reqwest::Url;
use serde_json::{Map, Value};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, Hash, HeadError, HeadStatement, TrustedKeys, VerifierKey, verify_consistency};
use timenav_core::scan::{Finding, FindingKind, open_signed, open_stored};
use timenav_engine::{Checked, Scan};

use super::findings::{add, check_signed};
use super::{ScanBar, Trusted, VerifyCommand, contents, keys_of, service_name};
use crate::client::{Client, ServiceOptions};
use crate::exit::Failure;
use crate::output;
use crate::wiring::ports::verify_signature;
use crate::wiring::surroundings::Surroundings;

/// Requests a scan of a timeline and verifies the returned checkpoint.
pub(super) fn verify(
    command: &VerifyCommand,
    url: Url,
    trusted: &Trusted,
    surroundings: &Surroundings,
) -> Result<Vec<Scan>, Failure> {
    let client = Client::new(&ServiceOptions::at(url, command.ca.clone()), surroundings)?;
    let timeline = match command
        .timeline
        .as_ref()
        .or(trusted.user_checkpoint.as_ref().map(|user_checkpoint| &user_checkpoint.timeline))
    {
        Some(timeline) => timeline.clone(),
        None => TimelineId::main(),
    };
    let mut body = Map::new();
    body.insert("timeline_id".to_owned(), timeline.as_str().into());
    body.insert("scan_depth".to_owned(), command.depth.to_string().into());
    let bar = ScanBar::new(&timeline);
    let show = |progress: &Value| {
        let number = |name: &str| progress[name].as_u64().unwrap_or(0);
        let stage = progress["stage"].as_str().unwrap_or_default();
        bar.show(stage, number("entries"), number("entries_total"), number("bytes"));
    };
    let answer = client.post_with_progress(&["v1", "detect-tampering"], &Value::Object(body).to_string(), show);
    drop(bar);
    let answer = answer?.value;
    let mut scan = read_scan(command, timeline.clone(), &answer);
    let keys = match trusted.keys.first() {
        Some(current) => {
            let public_keys: Vec<_> = trusted.keys.iter().map(|key| *key.public_key()).collect();
            keys_of(service_name(current.name()), &timeline, &public_keys)?
        }
        None => offered_key(&client, &timeline)?.into(),
    };
    let opened = scan.checkpoint.as_deref().map(|note| open_signed(note, &keys, verify_signature));
    let newest = opened.and_then(|opened| check_signed(&mut scan, opened, "from the service"));
    let Some(newest) = newest else { return Ok(vec![scan]) };
    if let Some(user_checkpoint) = trusted.user_checkpoint(&timeline)
        && let opened = open_stored(&user_checkpoint.note, &keys, verify_signature)
        && let Some(user_checkpoint) = check_signed(&mut scan, opened, "that you kept")
    {
        continues(&client, &mut scan, &user_checkpoint, &newest, &keys)?;
    }
    compare_head(&client, &mut scan, &keys)?;
    if command.contents {
        contents::check(&client, &mut scan, &newest, &keys)?;
    }
    Ok(vec![scan])
}

/// Requests the key from the service, which proves nothing about its origin.
fn offered_key(client: &Client, timeline: &TimelineId) -> Result<VerifierKey, Failure> {
    output::note("warning: the public key is taken from the service itself; give the key that you trust with --key");
    let answer = client.get(&["timeline", timeline.as_str(), "checkpoint"], &[])?.value;
    let key = answer["verifier_key"].as_str().and_then(|text| VerifierKey::parse(text).ok());
    Ok(key.ok_or_else(|| anyhow!("the service has no public key"))?)
}

/// Verifies that the newest checkpoint continues the kept one.
fn continues(
    client: &Client,
    scan: &mut Scan,
    stored: &Checkpoint,
    newest: &Checkpoint,
    keys: &TrustedKeys,
) -> Result<(), Failure> {
    if newest.size < stored.size {
        let evidence =
            format!("the checkpoint that you kept covers {} entries, but the ledger has {}", stored.size, newest.size);
        add(scan, FindingKind::Rollback, Some(newest.size), evidence);
        return Ok(());
    }
    let (proven, hashes) = proof_from(client, scan, stored.size, keys)?;
    let Some(proven) = proven else { return Ok(()) };
    scan.checked.push(Checked { what: "consistency proofs", count: 1 });
    if let Err(error) = verify_consistency(stored.size, &stored.root, proven.size, &proven.root, &hashes) {
        let evidence =
            format!("the ledger does not continue the checkpoint that you kept, of {} entries: {error}", stored.size);
        add(scan, FindingKind::ExternalCheckpointInconsistent, Some(stored.size), evidence);
    }
    Ok(())
}

/// Verifies the head statement: its signature, and that a checkpoint continues its tree.
fn compare_head(client: &Client, scan: &mut Scan, keys: &TrustedKeys) -> Result<(), Failure> {
    let timeline = scan.timeline_id.clone();
    let answer = client.get(&["timeline", timeline.as_str(), "head"], &[])?.value;
    let text = answer["head_statement"].as_str().unwrap_or_default();
    let opened = HeadStatement::parse_signed(text).and_then(|(statement, signature)| {
        statement.verify(&signature, &keys.current, verify_signature).map(|()| statement)
    });
    let statement = match opened {
        Ok(statement) => statement,
        Err(error) => {
            let kind = match error {
                HeadError::OriginMismatch { .. } => FindingKind::OriginMismatch,
                _ => FindingKind::BadSignature,
            };
            add(scan, kind, None, format!("the head statement: {error}"));
            return Ok(());
        }
    };
    scan.checked.push(Checked { what: "head statements", count: 1 });
    scan.not_checked.push(
        "The state hash of the head statement was not compared: that requires the rows of the timeline.".to_owned(),
    );
    let (proven, hashes) = proof_from(client, scan, statement.size, keys)?;
    let Some(proven) = proven else { return Ok(()) };
    if let Err(error) = verify_consistency(statement.size, &statement.root, proven.size, &proven.root, &hashes) {
        let evidence =
            format!("the ledger does not continue the head statement over {} entries: {error}", statement.size);
        add(scan, FindingKind::CheckpointMismatch, Some(statement.size), evidence);
    }
    Ok(())
}

/// Requests the consistency proof from a size. Returns the signed checkpoint that it leads to, and the hashes.
fn proof_from(
    client: &Client,
    scan: &mut Scan,
    size: u64,
    keys: &TrustedKeys,
) -> Result<(Option<Checkpoint>, Vec<Hash>), Failure> {
    let timeline = scan.timeline_id.clone();
    let path = ["timeline", timeline.as_str(), "proof"];
    let proof = client.get(&path, &[("from", size.to_string())])?.value;
    let hashes: Option<Vec<Hash>> = proof["hashes"].as_array().and_then(|hashes| hashes.iter().map(hash).collect());
    let hashes = hashes.ok_or_else(|| anyhow!("the service did not return a proof"))?;
    // The request itself has grown the ledger; only the signed size counts.
    let note = proof["checkpoint"].as_str().unwrap_or_default();
    let opened = open_signed(note, keys, verify_signature);
    Ok((check_signed(scan, opened, "that the proof leads to"), hashes))
}

fn hash(value: &Value) -> Option<Hash> {
    value.as_str().and_then(Hash::from_hex)
}

fn read_scan(command: &VerifyCommand, timeline_id: TimelineId, answer: &Value) -> Scan {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |name: &str| answer[name].as_array().cloned().unwrap_or_default();
    let kind = |word: &Value| {
        let known = FindingKind::ALL.into_iter().find(|kind| word == kind.as_str());
        // A newer service may have kinds that this program does not know.
        known.unwrap_or(FindingKind::StateMismatch)
    };
    let finding = |finding: &Value| Finding {
        kind: kind(&finding["kind"]),
        position: finding["position"].as_u64(),
        last_good_checkpoint: finding["last_good_checkpoint"].as_u64(),
        evidence: text(&finding["evidence"]),
    };
    let stated = list("checked");
    let counted = |what: &'static str| {
        let checked = stated.iter().find(|checked| checked["what"] == what);
        Checked { what, count: checked.and_then(|checked| checked["count"].as_u64()).unwrap_or(0) }
    };
    Scan {
        timeline_id,
        depth: command.depth,
        details: text(&answer["details"]),
        findings: list("findings").iter().map(finding).collect(),
        findings_omitted: answer["findings_omitted"].as_u64().unwrap_or(0),
        checked: vec![counted("entries"), counted("pruned")],
        not_checked: list("not_checked").iter().map(text).collect(),
        checkpoint: answer["checkpoint"]["note"].as_str().map(str::to_owned),
        signed: None,
        size: answer["checkpoint"]["size"].as_u64().unwrap_or(0),
        root: hash(&answer["checkpoint"]["root"]),
    }
}
