//! The audit at the end of every test: verifies each ledger like an outside auditor.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::ledger::{self, Checkpoint, Hash};
use crate::support::http::{Request, target};
use crate::support::service::Service;

/// Maximum number of entries per ledger that are verified individually.
const POSITIONS_MAX: u64 = 12;

impl Service {
    /// Fetches and verifies the newest checkpoint of a ledger.
    pub(crate) fn checkpoint(&self, timeline: &str) -> Checkpoint {
        let path = format!("/timeline/{timeline}/checkpoint?newest=true");
        let request = Request::get(&path).header("Accept", "application/json");
        let answer = self.send(request).expect(200);
        let checkpoint = self.signed_checkpoint(&answer, timeline);
        assert_eq!(answer["origin"], checkpoint.origin.as_str());
        checkpoint
    }

    /// Verifies the checkpoint in a response, and that the other members agree with it.
    fn signed_checkpoint(&self, answer: &Value, timeline: &str) -> Checkpoint {
        let note = answer["checkpoint"].as_str().expect("a signed note");
        let checkpoint = ledger::verified(note, &self.public_key);
        let of_origin = checkpoint.origin.rsplit_once('/').expect("an origin has a slash").1;
        assert_eq!(of_origin, timeline);
        assert_eq!(answer["size"], checkpoint.size);
        assert_eq!(ledger::hash(&answer["root"]), checkpoint.root);
        let key = ledger::verifier_key(&checkpoint.origin, &self.public_key);
        assert_eq!(answer["verifier_key"], key.as_str());
        checkpoint
    }

    /// Fetches an entry and verifies that it is in the ledger. Returns it with its leaf hash.
    pub(crate) fn entry(&self, timeline: &str, position: u64) -> (Value, Hash) {
        let proof = self.get(&format!("/timeline/{timeline}/proof"), &[("position", &position.to_string())]);
        let checkpoint = self.signed_checkpoint(&proof, timeline);
        assert_eq!(proof["kind"], "inclusion");
        assert_eq!(proof["position"], position);
        let leaf = proof["leaf"].as_str().expect("a leaf");
        let hash = ledger::leaf_hash(leaf.as_bytes());
        assert_eq!(ledger::hash(&proof["leaf_hash"]), hash);
        let siblings = ledger::hashes(&proof["hashes"]);
        assert!(ledger::includes(&hash, position, checkpoint.size, &siblings, &checkpoint.root), "{proof:#}");
        let entry = ledger::entry(leaf);
        assert_eq!(entry["seq"], position);
        assert_eq!(entry["timeline_id"], timeline);
        (entry, hash)
    }

    /// Returns the reads in the access log entry at a position: user and operation of each.
    pub(crate) fn reads_at(&self, timeline: &str, position: u64) -> Vec<(String, String)> {
        let range = [("timeline_id", timeline), ("time_range", "../.."), ("action", "read"), ("limit", "1000")];
        let logs = self.get("/v1/access-logs", &range);
        assert_eq!(logs["has_more"], false, "there are more reads than fit on a page");
        let at = logs["logs"].as_array().unwrap().iter().filter(|entry| entry["position"] == position);
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        at.map(|entry| (text(&entry["user_id"]), text(&entry["subject"]))).collect()
    }

    /// Verifies that a ledger is consistent with its state at `size` entries.
    pub(crate) fn continues(&self, timeline: &str, size: u64, root: &Hash) {
        let proof = self.get(&format!("/timeline/{timeline}/proof"), &[("from", &size.to_string())]);
        let checkpoint = self.signed_checkpoint(&proof, timeline);
        assert_eq!(proof["kind"], "consistency");
        let hashes = ledger::hashes(&proof["hashes"]);
        let holds = ledger::continues(size, root, checkpoint.size, &checkpoint.root, &hashes);
        assert!(holds, "{timeline} does not continue what it was at {size}: {proof:#}");
        assert_eq!(ledger::hash(&proof["from_root"]), *root, "{timeline} had another root at {size}");
    }

    /// Returns all timeline ids.
    pub(crate) fn timelines(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut cursor = String::new();
        loop {
            let mut parameters = vec![("limit", "1000")];
            if !cursor.is_empty() {
                parameters.push(("cursor", &cursor));
            }
            let page = self.send(Request::get(&target("/timelines", &parameters))).expect(200);
            let listed = page["timelines"].as_array().expect("a list of timelines");
            names.extend(listed.iter().map(|one| one["timeline_id"].as_str().expect("a name").to_owned()));
            match page["next_cursor"].as_str() {
                Some(next) => next.clone_into(&mut cursor),
                None => return names,
            }
        }
    }
}

/// Verifies everything that is visible of every ledger.
pub(crate) fn check(service: &Service) {
    let timelines = service.timelines();
    for needed in ["main", "system"] {
        assert!(timelines.iter().any(|name| name == needed), "{needed} is not listed: {timelines:?}");
    }
    for timeline in &timelines {
        check_ledger(service, timeline);
    }
    for timeline in service.remembered.keys() {
        assert!(timelines.contains(timeline), "{timeline} is gone");
    }
}

fn check_ledger(service: &Service, timeline: &str) {
    let checkpoint = service.checkpoint(timeline);
    let mut recorded_at = String::new();
    let mut first = None;
    for position in sample(checkpoint.size) {
        let (entry, hash) = service.entry(timeline, position);
        // Host time has one format, so texts without the `Z` sort chronologically.
        let at = entry["recorded_at"].as_str().unwrap().trim_end_matches('Z').to_owned();
        assert!(at >= recorded_at, "{timeline}: host time goes down at {position}: {at} after {recorded_at}");
        recorded_at = at;
        first = first.or(Some(hash));
    }
    // The root of a tree with one entry is the hash of that entry, so growth can be verified from the start.
    service.continues(timeline, 1, &first.expect("a ledger has an entry"));
    service.continues(timeline, checkpoint.size, &checkpoint.root);
    if let Some(earlier) = service.remembered.get(timeline) {
        assert_eq!(earlier.origin, checkpoint.origin, "{timeline}");
        service.continues(timeline, earlier.size, &earlier.root);
    }
}

/// Positions to verify: both ends, and some in between that depend only on the size.
fn sample(size: u64) -> BTreeSet<u64> {
    if size <= POSITIONS_MAX {
        return (0..size).collect();
    }
    let spread = (0..POSITIONS_MAX - 2).map(|index| (index * 7_919 + size * 31) % size);
    spread.chain([0, size - 1]).collect()
}
