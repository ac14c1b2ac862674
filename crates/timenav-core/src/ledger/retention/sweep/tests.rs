use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::*;
use crate::ledger::retention::{Retention, RetentionPolicies};
use crate::ledger::{leaf_hash, sha256};
use crate::time::Span;

const DAY: u32 = 86_400;

fn day(day: i64) -> Instant<Wall> {
    Instant::from_micros(day * i64::from(DAY) * 1_000_000).unwrap()
}

fn policy(days: u32) -> Retention {
    Retention { reads_seconds: Some(days * DAY), refusals_seconds: None }
}

/// A ledger with one entry per day. The first sets a policy of `days`.
struct Ledger {
    actions: Vec<&'static str>,
    policies: RetentionPolicies,
}

fn ledger(days: u32, actions: &[&'static str]) -> Ledger {
    let mut policies = RetentionPolicies::default();
    policies.set(0, policy(days));
    Ledger { actions: [&["set_retention"], actions].concat(), policies }
}

impl Ledger {
    fn entries(&self) -> impl Iterator<Item = SweptEntry<'static>> {
        (0..).zip(&self.actions).map(|(position, action)| SweptEntry {
            position,
            action,
            recorded_at: day(i64::try_from(position).unwrap()),
            leaf_hash: leaf_hash(&position.to_be_bytes()),
        })
    }

    /// Sweeps on a day, with nothing configured.
    fn swept(&self, on: i64) -> Option<Sweep<'static>> {
        let size = self.actions.len() as u64;
        let mut draft = SweepDraft::new(PruneClass::Reads, &self.policies, size, day(on), Span::ZERO);
        self.entries().for_each(|entry| _ = draft.offer(&entry));
        draft.finish("ada").map(Sweep::into_owned)
    }

    fn audited(&self, sweep: &Sweep<'_>, on: i64, missing: &[u64]) -> (Vec<PayloadFate>, Vec<SweepFaultKind>) {
        let mut audit = SweepAudit::default();
        audit.policy(0, *self.policies.at(0).unwrap());
        audit.sweep(self.actions.len() as u64, day(on), sweep);
        let fates = self.entries().map(|entry| audit.entry(&entry, missing.contains(&entry.position))).collect();
        let (faults, omitted) = audit.finish();
        assert!(omitted == 0 && faults.iter().all(|fault| fault.sweep == self.actions.len() as u64));
        (fates, faults.into_iter().map(|fault| fault.kind).collect())
    }
}

fn runs(positions: &[u64]) -> PositionRuns {
    let mut runs = PositionRuns::default();
    for position in positions {
        runs.push(*position).unwrap();
    }
    runs
}

#[test]
fn sweep_names_only_expired_payloads() {
    let ledger = ledger(3, &["read", "travel", "reads", "unauthorized_access_attempt", "reads", "reads", "read"]);
    // Three days' retention on the ninth day: records before the sixth go.
    let sweep = ledger.swept(9).unwrap();
    assert_eq!((sweep.positions.as_slice(), sweep.cutoff, sweep.policy), (&[(1, 1), (3, 3), (5, 5)][..], day(6), 0));
    let hashes: Vec<Hash> = [1_u64, 3, 5].map(|position| leaf_hash(&position.to_be_bytes())).into();
    assert_eq!(sweep.leaf_hashes, sha256(&hashes.iter().map(|hash| &hash.as_bytes()[..]).collect::<Vec<_>>()));
    assert_eq!(Sweep::decode(&sweep.encode()), Ok(sweep.clone()));

    let (fates, faults) = ledger.audited(&sweep, 9, &[1, 3, 5]);
    let pruned = PayloadFate::Pruned { sweep: 8 };
    assert_eq!(
        fates,
        [
            PayloadFate::Retained,
            pruned,
            PayloadFate::Retained,
            pruned,
            PayloadFate::Retained,
            pruned,
            PayloadFate::Retained,
            PayloadFate::Retained
        ]
    );
    assert_eq!(faults, []);
    // An interrupted sweep leaves some payloads. A host clock that is ahead afterwards changes nothing.
    let (fates, faults) = ledger.audited(&sweep, 10, &[3]);
    assert_eq!((fates[1], fates[3], faults), (PayloadFate::Retained, pruned, vec![]));
    assert_eq!(ledger.swept(4), None);
}

#[test]
fn missing_payloads_without_a_sweep_are_unexplained() {
    let ledger = ledger(3, &["read", "travel", "reads", "reads"]);
    let sweep = ledger.swept(6).unwrap();
    assert_eq!(sweep.positions.as_slice(), [(1, 1)]);
    let (fates, faults) = ledger.audited(&sweep, 6, &[1, 2, 3]);
    assert_eq!(fates[1..4], [PayloadFate::Pruned { sweep: 5 }, PayloadFate::Unexplained, PayloadFate::Unexplained]);
    assert_eq!(faults, []);
}

#[test]
fn invalid_sweep_is_reported_as_a_fault() {
    let ledger = ledger(3, &["read", "set_access_control", "reads", "reads"]);
    let good = ledger.swept(7).unwrap();
    assert_eq!(good.positions.as_slice(), [(1, 1), (3, 3)]);
    let over = |positions: &[u64]| {
        let hashes: Vec<Hash> = positions.iter().map(|position| leaf_hash(&position.to_be_bytes())).collect();
        let leaf_hashes = sha256(&hashes.iter().map(|hash| &hash.as_bytes()[..]).collect::<Vec<_>>());
        Sweep { positions: runs(positions), leaf_hashes, ..good.clone() }
    };
    assert_eq!(over(&[1, 3]), good);
    for (sweep, expected, fate_of_1) in [
        // A change is never treated as a read.
        (over(&[1, 2]), SweepFaultKind::Class { position: 2 }, PayloadFate::Pruned { sweep: 5 }),
        (over(&[1, 4]), SweepFaultKind::TooYoung { position: 4 }, PayloadFate::Pruned { sweep: 5 }),
        (Sweep { cutoff: day(5), ..over(&[1, 4]) }, SweepFaultKind::Cutoff, PayloadFate::Unexplained),
        (Sweep { policy: 1, ..good.clone() }, SweepFaultKind::Policy, PayloadFate::Unexplained),
        (
            Sweep { leaf_hashes: sha256(&[]), ..good.clone() },
            SweepFaultKind::LeafHashes,
            PayloadFate::Pruned { sweep: 5 },
        ),
        (Sweep { class: PruneClass::Refusals, ..good.clone() }, SweepFaultKind::Policy, PayloadFate::Unexplained),
    ] {
        let (fates, faults) = ledger.audited(&sweep, 7, &[1, 2]);
        assert!(faults.contains(&expected), "{faults:?} has no {expected}");
        assert_eq!((fates[1], fates[2]), (fate_of_1, PayloadFate::Unexplained), "{expected}");
    }
    let ahead = Sweep { positions: runs(&[1, 5]), ..good };
    assert!(ledger.audited(&ahead, 7, &[1]).1.contains(&SweepFaultKind::Ahead));
}

#[test]
fn shorter_policy_does_not_sweep_earlier_reads() {
    // Recorded under a ten-day policy; an operator then sets one day and sweeps.
    let mut ledger = ledger(10, &["read", "set_retention", "read", "travel", "travel"]);
    ledger.policies.set(2, policy(1));
    let sweep = ledger.swept(6).unwrap();
    assert_eq!((sweep.positions.as_slice(), sweep.policy), (&[(3, 3)][..], 2));
    let forged = Sweep {
        positions: runs(&[1, 3]),
        leaf_hashes: sha256(&[leaf_hash(&1_u64.to_be_bytes()).as_bytes(), leaf_hash(&3_u64.to_be_bytes()).as_bytes()]),
        ..sweep
    };
    let mut audit = SweepAudit::default();
    audit.policy(0, policy(10));
    audit.policy(2, policy(1));
    audit.sweep(6, day(6), &forged);
    let fates: Vec<PayloadFate> = ledger.entries().map(|entry| audit.entry(&entry, true)).collect();
    assert_eq!((fates[1], fates[3]), (PayloadFate::Unexplained, PayloadFate::Pruned { sweep: 6 }));
    assert_eq!(audit.finish().0, [SweepFault { sweep: 6, kind: SweepFaultKind::RetainedLonger { position: 1 } }]);
}

#[test]
fn retention_floor_overrides_a_shorter_policy() {
    let ledger = ledger(1, &["read", "read", "read"]);
    let mut draft =
        SweepDraft::new(PruneClass::Reads, &ledger.policies, 4, day(5), Span::from_secs(3 * 86_400).unwrap());
    let offers: Vec<SweepOffer> = ledger.entries().map(|entry| draft.offer(&entry)).collect();
    assert_eq!(offers, [SweepOffer::Retained, SweepOffer::Named, SweepOffer::Retained, SweepOffer::Retained]);
    assert_eq!(draft.finish("system").unwrap().cutoff, day(2));
}

#[test]
fn payloads_named_by_an_erasure_may_be_missing() {
    let ledger = ledger(3, &["record_event", "correct_event", "manipulate_event", "record_event"]);
    let mut audit = SweepAudit::default();
    audit.erased(&runs(&[2, 3]));
    audit.erased(&runs(&[1]));
    let fates: Vec<PayloadFate> = ledger.entries().map(|entry| audit.entry(&entry, entry.position > 0)).collect();
    assert_eq!(
        fates,
        [
            PayloadFate::Retained,
            PayloadFate::Erased,
            PayloadFate::Erased,
            PayloadFate::Erased,
            PayloadFate::Unexplained
        ]
    );
}

#[test]
fn sweep_has_one_accepted_spelling() {
    let ledger = ledger(3, &["read", "travel", "reads", "reads"]);
    let payload = String::from_utf8(ledger.swept(7).unwrap().encode()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&payload).unwrap();
    assert_eq!(payload.as_bytes(), serde_json_canonicalizer::to_vec(&value).unwrap());
    for (old, new) in [
        ("\"count\":2", "\"count\":3"),
        ("[[1,1],[3,3]]", "[]"),
        ("[[1,1],[3,3]]", "[[3,3],[1,1]]"),
        ("\"reads\"", "\"writes\""),
        ("\"policy\":0,", ""),
        ("Z\"", "+00:00\""),
    ] {
        assert!(payload.contains(old), "{payload} has no {old}");
        let changed = payload.replace(old, new);
        assert!(Sweep::decode(changed.as_bytes()).is_err(), "{changed}");
    }
}

proptest! {
    /// Every drafted sweep is sound and removes only what it names.
    #[test]
    fn drafted_sweep_passes_the_audit(
        actions in prop::collection::vec(prop::sample::select(&["read", "reads", "travel", "set_retention"][..]), 0..40),
        periods in prop::collection::vec(0..20_u32, 41),
        after in 0..30_i64,
    ) {
        let mut ledger = ledger(periods[40], &actions);
        let mut audit = SweepAudit::default();
        audit.policy(0, policy(periods[40]));
        for (position, _) in actions.iter().enumerate().filter(|(_, action)| **action == "set_retention") {
            ledger.policies.set(position as u64 + 1, policy(periods[position]));
            audit.policy(position as u64 + 1, policy(periods[position]));
        }
        let size = ledger.actions.len() as u64;
        let on = i64::try_from(size).unwrap() + after;
        let swept = ledger.swept(on);
        if let Some(sweep) = &swept {
            let payload = sweep.encode();
            prop_assert_eq!(Sweep::decode(&payload), Ok(sweep.clone()));
            audit.sweep(size, day(on), sweep);
        }
        for entry in ledger.entries() {
            let is_named = swept.as_ref().is_some_and(|sweep| sweep.positions.contains(entry.position));
            let expected = if is_named { PayloadFate::Pruned { sweep: size } } else { PayloadFate::Unexplained };
            prop_assert_eq!(audit.entry(&entry, true), expected);
        }
        prop_assert_eq!(audit.finish(), (vec![], 0));
    }
}

/// Audits the ledger in a single pass, with one sweep recorded on a day and these payloads missing.
fn read_once(ledger: &Ledger, sweep: &Sweep<'_>, on: i64, missing: &[u64]) -> (Result<u64, SweepFaultKind>, Vec<u64>) {
    let mut left = MissingPayloads::default();
    for entry in ledger.entries() {
        if let Some(retention) = ledger.policies.at(entry.position) {
            left.policy(entry.position, *retention);
        }
        if missing.contains(&entry.position) {
            left.add(&entry);
        }
    }
    let explained = left.sweep(ledger.actions.len() as u64, day(on), sweep).map_err(|fault| fault.kind);
    (explained, left.positions().collect())
}

#[test]
fn missing_payloads_are_checked_against_a_later_sweep() {
    let ledger = ledger(10, &["read", "travel", "read", "read"]);
    let sweep = ledger.swept(20).unwrap();
    assert_eq!(sweep.positions, runs(&[1, 3, 4]));
    assert_eq!(read_once(&ledger, &sweep, 20, &[1, 3, 4]), (Ok(3), vec![]));
    // One position it does not name, and one that it does.
    assert_eq!(read_once(&ledger, &sweep, 20, &[2, 3]), (Ok(1), vec![2]));
    let forged = |change: fn(&mut Sweep<'static>)| {
        let mut forged = ledger.swept(20).unwrap();
        change(&mut forged);
        forged
    };
    let other_hash = forged(|sweep| sweep.leaf_hashes = sha256(&[b"other"]));
    assert_eq!(read_once(&ledger, &other_hash, 20, &[1, 3, 4]).0, Err(SweepFaultKind::LeafHashes));
    // Hashes of remaining payloads are unknown.
    assert_eq!(read_once(&ledger, &other_hash, 20, &[1, 3]), (Ok(2), vec![]));
    let a_change = forged(|sweep| sweep.positions = runs(&[1, 2]));
    let (found, left) = read_once(&ledger, &a_change, 20, &[1, 2]);
    assert_eq!((found, left), (Err(SweepFaultKind::Class { position: 2 }), vec![1, 2]));
    assert_eq!(read_once(&ledger, &sweep, 11, &[1]).0, Err(SweepFaultKind::Cutoff));
}

#[test]
fn erasure_explains_only_missing_events() {
    let ledger =
        ledger(3, &["record_event", "set_access_control", "manipulate_event", "adopt", "correct_event", "read"]);
    let mut missing = MissingPayloads::default();
    ledger.entries().skip(1).for_each(|entry| missing.add(&entry));
    assert!(!missing.remove(2));
    assert!(missing.remove(1) && !missing.remove(1));
    assert_eq!(missing.erased(&runs(&[1, 2, 3, 4, 5, 6])), 2);
    assert_eq!(missing.positions().collect::<Vec<_>>(), [2, 4, 6]);
    let mut audit = SweepAudit::default();
    audit.erased(&runs(&[1, 2, 3, 4, 5, 6]));
    let fates: Vec<PayloadFate> = ledger.entries().skip(1).map(|entry| audit.entry(&entry, true)).collect();
    let (erased, unexplained) = (PayloadFate::Erased, PayloadFate::Unexplained);
    assert_eq!(fates, [erased, unexplained, erased, unexplained, erased, unexplained]);
}

#[test]
fn sweep_by_an_unknown_policy_is_limited_by_known_ones() {
    let ledger = ledger(10, &["read", "travel", "read", "unauthorized_access_attempt"]);
    let explained = |sweep: &Sweep<'_>, on: i64, is_known: bool| {
        let mut missing = MissingPayloads::default();
        if is_known {
            missing.policy(0, *ledger.policies.at(0).unwrap());
        }
        ledger.entries().skip(1).for_each(|entry| missing.add(&entry));
        let found = missing.later_sweep(5, (8, day(on)), sweep).map_err(|fault| fault.kind);
        (found, missing.positions().collect::<Vec<_>>())
    };
    let named = |positions: &[u64]| {
        let sweep = ledger.swept(20).unwrap();
        Sweep { positions: runs(positions), policy: 6, cutoff: day(3), ..sweep }
    };
    // The other named position is absent here.
    assert_eq!(explained(&named(&[1, 9]), 13, true), (Ok(1), vec![2, 3, 4]));
    assert_eq!(explained(&named(&[1, 2]), 13, true), (Err(SweepFaultKind::Class { position: 2 }), vec![1, 2, 3, 4]));
    assert_eq!(explained(&named(&[1, 3]), 13, true).0, Err(SweepFaultKind::TooYoung { position: 3 }));
    // The known policy keeps them for ten days; without a policy they are kept forever.
    assert_eq!(explained(&named(&[1]), 12, true).0, Err(SweepFaultKind::RetainedLonger { position: 1 }));
    assert_eq!(explained(&named(&[1]), 13, false).0, Err(SweepFaultKind::RetainedLonger { position: 1 }));
    // A known policy is compared directly, and so are the hashes if every named entry is present.
    let relying = |policy: u64| Sweep { policy, ..ledger.swept(13).unwrap() };
    assert_eq!(explained(&Sweep { policy: 0, ..named(&[1]) }, 13, true).0, Err(SweepFaultKind::LeafHashes));
    assert_eq!(explained(&relying(0), 13, true), (Ok(1), vec![2, 3, 4]));
    assert_eq!(explained(&relying(0), 12, true).0, Err(SweepFaultKind::Cutoff));
    assert_eq!(explained(&relying(1), 13, true).0, Err(SweepFaultKind::Policy));
}

#[test]
fn audit_from_the_middle_explains_only_later_payloads() {
    let ledger = ledger(10, &["read", "travel", "read", "travel", "read"]);
    let sweep = ledger.swept(30).unwrap();
    let mut audit = SweepAudit::default();
    audit.policy(0, *ledger.policies.at(0).unwrap());
    audit.sweep(6, day(30), &sweep);
    let fates: Vec<PayloadFate> = ledger.entries().skip(4).map(|entry| audit.entry(&entry, true)).collect();
    assert_eq!(fates, [PayloadFate::Unexplained, PayloadFate::Pruned { sweep: 6 }]);
    let (faults, _) = audit.finish();
    assert_eq!(faults.into_iter().map(|fault| fault.kind).collect::<Vec<_>>(), [SweepFaultKind::LeafHashes]);
}

/// Sweeps of a long ledger in which every other entry is a read: first named position, own position, sweep.
fn many(sweeps: u64, named: u64) -> Vec<(u64, u64, Sweep<'static>)> {
    let size = 2 * sweeps * named + 1;
    let one = |number: u64| {
        let first = 2 * number * named + 1;
        let positions: Vec<u64> = (0..named).map(|at| first + 2 * at).collect();
        let mut hasher = Sha256::new();
        for position in &positions {
            hasher.update(leaf_hash(&position.to_be_bytes()).as_bytes());
        }
        let sweep = Sweep {
            requested_by: "system".into(),
            class: PruneClass::Reads,
            cutoff: day(1),
            leaf_hashes: Hash::from_bytes(hasher.finalize().into()),
            policy: 0,
            positions: runs(&positions),
        };
        (first, size + number, sweep)
    };
    (0..sweeps).map(one).collect()
}

#[test]
fn sweep_audit_memory_does_not_grow_with_the_ledger() {
    const NAMED: u64 = 500;
    let audited = |sweeps: u64, is_streamed: bool| {
        let all = many(sweeps, NAMED);
        let size = all[0].1;
        let mut audit = SweepAudit::default();
        audit.policy(0, policy(1));
        let mut waiting = all.iter().rev().collect::<Vec<_>>();
        let (mut most, mut fates) = (0, Vec::new());
        for position in 0..size {
            while let Some((_, at, sweep)) = waiting.pop_if(|(first, ..)| !is_streamed || *first <= position) {
                audit.sweep(*at, day(9), sweep);
            }
            let action = if position % 2 == 0 { "record_event" } else { "read" };
            let leaf_hash = leaf_hash(&position.to_be_bytes());
            let recorded_at = Instant::from_micros(position.cast_signed()).unwrap();
            let is_missing = position % 2 == 1 || position == 4;
            fates.push(audit.entry(&SweptEntry { position, action, recorded_at, leaf_hash }, is_missing));
            if is_streamed {
                audit.end_before(position + 1);
            }
            most = most.max(audit.remembered());
        }
        (most, fates, audit.finish())
    };
    for sweeps in [3, 40] {
        let (most, fates, faults) = audited(sweeps, true);
        let (before, as_before, faults_before) = audited(sweeps, false);
        assert_eq!((fates, &faults), (as_before, &faults_before));
        assert_eq!((faults.0.len(), faults.1), (0, 0));
        assert_eq!((most, before), (usize::try_from(NAMED).unwrap(), usize::try_from(sweeps * NAMED).unwrap()));
    }
}
