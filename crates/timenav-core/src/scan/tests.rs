use super::*;
use crate::ledger::{Authority, Checkpoint, Leaf, LeafRecord, Salt, TrustedKeys, VerifierKey, payload_hash};
use crate::ledger::{Read, ReadParameters, ReadsDraft, ReadsEntry, RemainingReads};

const TIMELINE: &str = "main";

struct StoredCheckpoint {
    leaf: Vec<u8>,
    salt: [u8; 16],
    payload: Vec<u8>,
}

fn stored_entries(count: u64) -> Vec<StoredCheckpoint> {
    let one = |seq: u64| {
        let salt = [u8::try_from(seq % 251).unwrap(); 16];
        let payload = format!("{{\"n\":{seq}}}").into_bytes();
        let hash = payload_hash(&Salt::from_bytes(salt), &payload);
        let leaf = Leaf {
            timeline_id: TIMELINE,
            seq,
            recorded_at: "2026-01-01T00:00:00Z",
            clock_time: "2026-01-01T00:00:00Z",
            actor: "ada",
            action: "read",
            subject: "clock",
            payload_hash: hash,
        };
        StoredCheckpoint { leaf: leaf.encode(), salt, payload }
    };
    (0..count).map(one).collect()
}

fn scan(entries: &[StoredCheckpoint], tiles_of: &[StoredCheckpoint]) -> (Findings, Vec<u64>) {
    let mut truth = LedgerScan::new(TIMELINE, Vec::new());
    let mut tree = crate::ledger::Frontier::default();
    for (position, entry) in (0..).zip(tiles_of) {
        tree.push(crate::ledger::leaf_hash(&entry.leaf));
        let StoredCheckpoint { leaf, salt, payload } = entry;
        truth.entry(EntryBytes { position, leaf, salt, payload });
    }
    let signed =
        Checkpoint { origin: "t/main".to_owned(), size: tree.size(), root: tree.root(), extensions: Vec::new() };
    let stored: Vec<FilledTile> = truth.take_filled().into_iter().chain(truth.take_partial()).collect();
    let mut scan = LedgerScan::new(TIMELINE, Vec::new());
    for (position, entry) in (0..).zip(entries) {
        let StoredCheckpoint { leaf, salt, payload } = entry;
        scan.entry(EntryBytes { position, leaf, salt, payload });
    }
    let filled: Vec<FilledTile> = scan.take_filled().into_iter().chain(scan.take_partial()).collect();
    for tile in filled {
        let bytes = stored.iter().find(|stored| stored.tile == tile.tile);
        let bytes: Option<Vec<u8>> =
            bytes.map(|stored| stored.hashes.iter().flat_map(|hash| *hash.as_bytes()).collect());
        scan.compare_tile(&tile, bytes.as_deref());
    }
    scan.finish(&tree, Some(&signed))
}

#[test]
fn unaltered_ledger_has_no_findings() {
    for count in [0, 1, 2, 255, 256, 257, 1_000, 65_536 + 300] {
        let (findings, good) = scan(&stored_entries(count), &stored_entries(count));
        assert!(findings.is_empty(), "{count}: {findings:?}");
        assert_eq!(good, [count]);
    }
}

#[test]
fn entry_with_another_actor_is_located() {
    for (count, at) in [(600, 300_usize), (600, 599), (600, 520), (1, 0), (256, 0)] {
        let mut entries = stored_entries(count);
        let text = String::from_utf8(entries[at].leaf.clone()).unwrap().replace("ada", "eve");
        entries[at].leaf = text.into_bytes();
        let (findings, good) = scan(&entries, &stored_entries(count));
        assert!(good.is_empty());
        let first =
            findings.into_sorted(&[]).into_iter().find(|found| found.kind == FindingKind::LeafMismatch).unwrap();
        // Inside full tiles the position is exact; at the right edge it is that of a subtree.
        assert!(first.position.unwrap() <= at as u64, "{count} {at}: {first:?}");
        if at < usize::try_from(count / 256 * 256).unwrap() {
            assert_eq!(first.position, Some(at as u64));
        }
    }
}

#[test]
fn mismatched_payload_is_reported() {
    let mut entries = stored_entries(10);
    entries[4].payload[2] ^= 1;
    let (findings, _) = scan(&entries, &stored_entries(10));
    assert!(findings.has(FindingKind::PayloadMismatch));
    entries[4].payload.clear();
    entries[4].salt = [0; 16];
    assert!(scan(&entries, &stored_entries(10)).0.has(FindingKind::PayloadMismatch));
}

#[test]
fn scan_depths_are_read_back_and_errors_list_choices() {
    for text in ["full", "quick", "tail:1", "sample:1000"] {
        assert_eq!(text.parse::<Depth>().unwrap().to_string(), text);
    }
    for text in "|Full|deep|tail|tail:|tail:0|tail:-1|tail:+1|sample:x|sample:1:2|quick:3|sample:100001".split('|') {
        let error = text.parse::<Depth>().unwrap_err().to_string();
        for depth in ["full", "quick", "tail:<n>", "sample:<n>"] {
            assert!(error.contains(depth), "{error}");
        }
    }
}

#[test]
fn long_invalid_depth_is_quoted_in_part() {
    let quoted = |text: &str| {
        let error = text.parse::<Depth>().unwrap_err().to_string();
        error.strip_prefix("unknown depth `").unwrap().split('`').next().unwrap().to_owned()
    };
    assert_eq!(quoted(&"x".repeat(64)), "x".repeat(64));
    assert_eq!(quoted(&"x".repeat(65)), "x".repeat(64) + "…");
    assert_eq!(quoted(&("x".to_owned() + &"é".repeat(1_000_000))), "x".to_owned() + &"é".repeat(31) + "…");
}

#[test]
fn note_by_another_ledger_or_key_is_classified() {
    let key = |name: &str, byte: u8| VerifierKey::new(name, [byte; 32]).unwrap();
    let make = |origin: &str, by: &VerifierKey| {
        let checkpoint = Checkpoint {
            origin: origin.to_owned(),
            size: 3,
            root: crate::ledger::empty_root(),
            extensions: Vec::new(),
        };
        checkpoint.sign(by, |_| [7; 64]).unwrap().to_string()
    };
    let ours = key("t/main", 1);
    let trusted = TrustedKeys::from(ours.clone());
    let kind = |note: &str, good: bool| open_signed(note, &trusted, |_, _, _| good).unwrap_err().kind;
    assert_eq!(open_signed(&make("t/main", &ours), &trusted, |_, _, _| true).unwrap().size, 3);
    assert_eq!(kind(&make("t/main", &ours), false), FindingKind::BadSignature);
    assert_eq!(kind(&make("t/main", &key("t/main", 2)), true), FindingKind::UnknownKey);
    assert_eq!(kind(&make("t/other", &key("t/other", 1)), true), FindingKind::OriginMismatch);
    assert_eq!(kind("", true), FindingKind::BadSignature);
}

#[test]
fn retired_key_verifies_old_checkpoints_but_not_the_newest() {
    let key = |byte: u8| VerifierKey::new("t/main", [byte; 32]).unwrap();
    let (old, new, other) = (key(1), key(2), key(3));
    let checkpoint =
        Checkpoint { origin: "t/main".to_owned(), size: 3, root: crate::ledger::empty_root(), extensions: Vec::new() };
    // A fake signature scheme: the key's first byte.
    let sign = |by: &VerifierKey| checkpoint.sign(by, |_| [by.public_key()[0]; 64]).unwrap();
    let verify = |key: &[u8; 32], _: &[u8], signature: &[u8; 64]| key[0] == signature[0];
    let both = sign(&old).countersign(&new, |_| [2; 64]).unwrap().to_string();
    let forged = sign(&new).countersign(&old, |_| [9; 64]).unwrap().to_string();
    let (by_old, by_new) = (sign(&old).to_string(), sign(&new).to_string());
    let keys = TrustedKeys { current: new.clone(), retired: vec![other, old.clone()] };
    let newest = |note: &str| open_signed(note, &keys, verify).map_err(|unsigned| unsigned.kind);
    let opened = |note: &str| open_stored(note, &keys, verify).map_err(|unsigned| unsigned.kind);
    let good = Ok(checkpoint.clone());
    assert_eq!((newest(&by_new), opened(&by_new)), (good.clone(), good.clone()));
    assert_eq!((newest(&both), opened(&both)), (good.clone(), good.clone()));
    assert_eq!((newest(&by_old), opened(&by_old)), (Err(FindingKind::UnknownKey), good));
    // A wrong signature by a known key rejects the note, whoever else signed it.
    assert_eq!((newest(&forged), opened(&forged)), (Err(FindingKind::BadSignature), Err(FindingKind::BadSignature)));
    let error = open_signed(&by_old, &keys, verify).unwrap_err().evidence;
    let (old, new) = (old.id(), new.id());
    assert_eq!(
        error,
        format!("it is not signed by the key with the id {new}, but by the retired key `t/main` with the id {old}")
    );
}

#[test]
fn finding_kinds_have_distinct_words() {
    let words: std::collections::BTreeSet<_> = FindingKind::ALL.into_iter().map(FindingKind::as_str).collect();
    assert_eq!(words.len(), FindingKind::ALL.len());
}

#[test]
fn findings_per_kind_are_limited() {
    let mut findings = Findings::default();
    for position in 0..FINDINGS_PER_KIND_MAX as u64 {
        findings.add(FindingKind::LeafMismatch, Some(position), "wrong");
    }
    assert_eq!(findings.omitted(), 0);
    findings.add(FindingKind::LeafMismatch, Some(1_000), "one more");
    findings.add(FindingKind::SequenceGap, Some(1_001), "of another kind");
    assert_eq!(findings.omitted(), 1);
    let sorted = findings.into_sorted(&[]);
    assert_eq!(sorted.len(), FINDINGS_PER_KIND_MAX + 1);
    assert_eq!(sorted.last().map(|finding| finding.kind), Some(FindingKind::SequenceGap));
}

#[test]
fn entry_times_have_one_accepted_spelling() {
    let with_times = |recorded_at: &str, clock_time: &str| {
        let salt = [7; 16];
        let hash = payload_hash(&Salt::from_bytes(salt), b"{}");
        let leaf = Leaf {
            timeline_id: TIMELINE,
            seq: 0,
            recorded_at,
            clock_time,
            actor: "",
            action: "",
            subject: "",
            payload_hash: hash,
        };
        let entries = [StoredCheckpoint { leaf: leaf.encode(), salt, payload: b"{}".to_vec() }];
        let (findings, _) = scan(&entries, &entries);
        findings.into_sorted(&[]).iter().filter(|found| found.kind == FindingKind::LeafMismatch).count()
    };
    // A leap second may be written as second 60; it is read as the first second of the next minute.
    let right = "2017-01-01T00:00:00Z";
    assert_eq!(with_times(right, right), 0);
    assert_eq!(with_times(right, "-002150-01-01T00:00:00.25Z"), 0);
    let texts = "2016-12-31T23:59:60Z|2017-01-01T00:00:00.0Z|2017-01-01T00:00:00+00:00|2017-01-01t00:00:00Z|\
                 2017-01-01T00:00:00.1234567Z|";
    for wrong in texts.split('|') {
        assert_eq!((with_times(wrong, right), with_times(right, wrong)), (1, 1), "{wrong}");
    }
}

#[test]
fn decreasing_directory_version_is_reported() {
    let scanned = |directories: &[Option<u64>]| {
        let mut scan = LedgerScan::new(TIMELINE, Vec::new());
        for (position, (entry, directory)) in (0..).zip(stored_entries(9).iter().zip(directories)) {
            let StoredCheckpoint { leaf, salt, payload } = entry;
            let record = LeafRecord::decode(leaf).unwrap();
            let authority = directory.map(|directory| Authority { key: "key_1".into(), directory });
            let leaf = LeafRecord { authority, ..record }.encode();
            scan.entry(EntryBytes { position, leaf: &leaf, salt, payload });
        }
        let findings = scan.into_findings().into_sorted(&[]);
        findings.into_iter().map(|finding| (finding.kind, finding.position)).collect::<Vec<_>>()
    };
    let mismatch = |position| (FindingKind::LeafMismatch, Some(position));
    assert_eq!(scanned(&[None, None, Some(0), Some(3), Some(3), Some(9)]), []);
    assert_eq!(scanned(&[Some(3), Some(2), Some(3)]), [mismatch(1)]);
    assert_eq!(scanned(&[None, Some(0), None, Some(0), None]), [mismatch(2), mismatch(4)]);
}

#[test]
fn reads_are_compared_with_their_root() {
    let salt = Salt::from_bytes([7; 16]);
    let read = |user: &'static str| Read {
        action: "clock".into(),
        clock_time: crate::time::Instant::EPOCH,
        host_time: crate::time::Instant::EPOCH,
        key: "key_1".into(),
        parameters: ReadParameters::of(""),
        user: user.into(),
    };
    let mut draft = ReadsDraft::new(salt);
    for user in ["ada", "bob"] {
        draft.push(&read(user)).unwrap();
    }
    let (payload, payload_hash) = draft.finish();
    let (recorded_at, clock_time) = (crate::time::Instant::EPOCH, crate::time::Instant::EPOCH);
    let leaf = ReadsEntry { recorded_at, clock_time, payload_hash, directory: 1 }.leaf(TIMELINE, 0);
    let opened = RemainingReads::parse(salt.as_bytes(), &payload).unwrap().without(|_, read| read.user == "bob");
    let scanned = |salt: &[u8], payload: &[u8]| {
        let mut scan = LedgerScan::new(TIMELINE, Vec::new());
        scan.entry(EntryBytes { position: 0, leaf: &leaf, salt, payload });
        (scan.payloads_count(), scan.into_findings().has(FindingKind::PayloadMismatch))
    };
    assert_eq!(scanned(salt.as_bytes(), &payload), (1, false));
    assert_eq!(scanned(&[], &opened), (1, false));
    assert_eq!(scanned(&[], &[]), (0, false));
    let changed = String::from_utf8(payload).unwrap().replace("ada", "eve");
    assert_eq!(scanned(salt.as_bytes(), changed.as_bytes()), (0, true));
    assert_eq!(scanned(&[1; 16], changed.as_bytes()), (0, true));
    assert_eq!(scanned(&[], changed.as_bytes()), (0, true));
}

#[test]
fn readers_are_listed_once_in_order_of_appearance() {
    let at = crate::time::Instant::EPOCH;
    let mut draft = ReadsDraft::new(Salt::from_bytes([3; 16]));
    let by = [("k1", "ada", "clock"), ("k1", "ada", "clock"), ("k2", "bob", "clock"), ("k1", "ada", "clock")];
    for (key, user, action) in by.into_iter().chain([("k1", "ada", "event")]) {
        let parameters = ReadParameters::of("{}");
        let (key, user, action) = (key.into(), user.into(), action.into());
        let clock_time = crate::time::Instant::EPOCH;
        draft.push(&Read { action, clock_time, host_time: at, key, parameters, user }).unwrap();
    }
    let (payload, payload_hash) = draft.finish();
    let entry = ReadsEntry { recorded_at: at, clock_time: crate::time::Instant::EPOCH, payload_hash, directory: 1 };
    let leaf = entry.leaf(TIMELINE, 0);
    let (salt, payload) = ([3; 16], payload.as_slice());
    let bytes = EntryBytes { position: 0, leaf: &leaf, salt: &salt, payload };
    let hashes = EntryHashes::of(&bytes);
    let readers: Vec<_> = hashes.readers().unwrap().iter().map(|by| (&*by.key, &*by.user, &*by.action)).collect();
    assert_eq!(readers, [("k1", "ada", "clock"), ("k2", "bob", "clock"), ("k1", "ada", "event")]);
    let mut scan = LedgerScan::new(TIMELINE, Vec::new());
    assert!(scan.hashed_entry(bytes, &hashes).is_some());
    assert_eq!((scan.payloads_count(), scan.first_finding()), (1, None));
    // Unreadable payloads and entries without reads notify nobody.
    assert!(EntryHashes::of(&EntryBytes { payload: b"[", ..bytes }).readers().is_none());
    let of_others = stored_entries(1);
    let StoredCheckpoint { leaf, salt, payload } = &of_others[0];
    assert!(EntryHashes::of(&EntryBytes { position: 0, leaf, salt, payload }).readers().is_none());
}
