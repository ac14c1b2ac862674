use super::super::{Checkpoint, KeptReads, Read, ReadParameters, ReadProof, ReadsDraft, ReadsEntry};
use super::*;

fn certificate(horizon: Horizon) -> Certificate {
    let shown = |micros| Instant::from_micros(micros).unwrap();
    let mut seen = CertifiedReads { entries: 2, ..CertifiedReads::default() };
    seen.add((&Salt::from_bytes([1; 16]), b"one"), 5, shown(2_000_000), horizon);
    seen.add((&Salt::from_bytes([2; 16]), b"two"), 9, shown(1_000_000), horizon);
    Certificate {
        origin: "time.test/trial".to_owned(),
        key_id: KeyId::new("key_1").unwrap(),
        user_id: UserId::new("ada").unwrap(),
        horizon,
        from: 0,
        to: 9,
        seen,
        size: 12,
        root: Hash::from_bytes([7; 32]),
        others: 1,
    }
}

#[test]
fn the_text_is_frozen() {
    let text = certificate(Horizon { until_clock: true, known_at: Some(4) }).to_text();
    let expected = "timenav-certificate/v1
time.test/trial
key key_1
user ada
horizon clock
known-at 4
range 0 9
reads 2
streams 0
entries 2
refusals 0
gone 0
latest-time 1970-01-01T00:00:02Z
latest-position 4
reads-root ";
    assert!(text.starts_with(expected), "{text}");
    let rest = "
tree 12 BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=
others 1
not certified: what the reader knew before, or learned elsewhere
";
    assert!(text.ends_with(rest), "{text}");
}

#[test]
fn what_ends_nowhere_is_not_said_to_end() {
    let text = certificate(Horizon { until_clock: false, known_at: Some(6) }).to_text();
    assert!(text.contains("\nlatest-time -\nlatest-position 6\n"), "{text}");
    let text = certificate(Horizon { until_clock: true, known_at: None }).to_text();
    assert!(text.contains("\nknown-at -\n") && text.contains("\nlatest-position 8\n"), "{text}");
}

#[test]
fn none_is_taken_for_a_checkpoint() {
    assert!(Checkpoint::parse(&certificate(Horizon::default()).to_text()).is_err());
}

#[test]
fn each_read_counts_in_its_order() {
    let horizon = Horizon { until_clock: true, known_at: None };
    let of = |reads: &[&[u8]]| {
        let mut seen = CertifiedReads::default();
        for read in reads {
            seen.add((&Salt::from_bytes([0; 16]), *read), 1, Instant::EPOCH, horizon);
        }
        seen.root()
    };
    assert_ne!(of(&[b"a", b"b"]), of(&[b"b", b"a"]));
    assert_ne!(of(&[b"a"]), of(&[]));
}

/// The only reads of an entry, and what shows them.
fn entry(position: u64, key: &str) -> (Vec<u8>, Vec<ReadProof>) {
    let salt = Salt::from_bytes([5; 16]);
    let mut draft = ReadsDraft::new(salt);
    for action in ["clock", "clock_stream"] {
        let read = Read {
            action: action.into(),
            clock_time: Instant::from_micros(1_000_000).unwrap(),
            host_time: Instant::EPOCH,
            key: key.to_owned().into(),
            parameters: ReadParameters::of("{\"horizon\":\"clock\"}"),
            user: "ada".into(),
        };
        draft.push(&read).unwrap();
    }
    let (payload, payload_hash) = draft.finish();
    let (recorded_at, clock_time) = (Instant::EPOCH, Instant::EPOCH);
    let leaf = ReadsEntry { recorded_at, clock_time, payload_hash, directory: 1 }.leaf("trial", position);
    let kept = KeptReads::parse(salt.as_bytes(), &payload).unwrap();
    let proofs = (0..2).map(|index| kept.prove(index).unwrap()).collect();
    (leaf, proofs)
}

/// A certificate of the second one of two entries, with what shows it.
fn certified() -> (Certificate, Vec<u8>, Vec<Hash>, Vec<ReadProof>) {
    let horizon = Horizon { until_clock: true, known_at: None };
    let (leaf, proofs) = entry(1, "key_1");
    let leaves = [leaf_hash(b"another entry"), leaf_hash(&leaf)];
    let mut seen = CertifiedReads { entries: 1, streams: 1, refusals: 3, gone: 4, ..CertifiedReads::default() };
    for proof in &proofs {
        seen.add((&proof.salt, &proof.read), 1, Instant::from_micros(1_000_000).unwrap(), horizon);
    }
    let told = Certificate { seen, to: 1, size: 2, root: tree_root(&leaves), ..certificate(horizon) };
    (told, leaf, vec![leaves[0]], proofs)
}

#[test]
fn what_a_certificate_says_follows_from_its_reads() {
    let (told, leaf, hashes, proofs) = certified();
    let mut check = CertificateCheck::new(&told.to_text()).unwrap();
    check.entry(1, &leaf, &hashes, &proofs).unwrap();
    assert_eq!(check.finish().unwrap(), told);
    // No read is left out.
    let check = CertificateCheck::new(&told.to_text()).unwrap();
    let Err(CertificateError::Differs { told: signed, shown }) = check.finish() else { panic!("it is not all there") };
    assert_eq!((&*signed, &*shown), ("reads 2", "reads 0"));
}

#[test]
fn what_shows_something_else_is_refused() {
    let (told, leaf, hashes, proofs) = certified();
    let refused = |told: &Certificate, at: u64, leaf: &[u8], hashes: &[Hash], proofs: &[ReadProof]| {
        CertificateCheck::new(&told.to_text()).unwrap().entry(at, leaf, hashes, proofs).unwrap_err()
    };
    let tree = |error: CertificateError| matches!(error, CertificateError::Tree { position: 1, .. });
    assert!(tree(refused(&told, 1, b"another entry", &hashes, &proofs)));
    assert!(tree(refused(&told, 1, &leaf, &[], &proofs)));
    assert_eq!(refused(&told, 2, &leaf, &hashes, &proofs), CertificateError::Order(2));
    let later = Certificate { from: 2, to: 3, ..told.clone() };
    assert_eq!(refused(&later, 1, &leaf, &hashes, &proofs), CertificateError::Order(1));
    let elsewhere = Certificate { origin: "time.test/other".to_owned(), ..told.clone() };
    assert_eq!(refused(&elsewhere, 1, &leaf, &hashes, &proofs), CertificateError::Entry(1));
    let another = Certificate { key_id: KeyId::new("key_2").unwrap(), ..told.clone() };
    assert_eq!(refused(&another, 1, &leaf, &hashes, &proofs), CertificateError::Reader(1));
    let twice = [proofs[0].clone(), proofs[0].clone()];
    assert_eq!(refused(&told, 1, &leaf, &hashes, &twice), CertificateError::Reader(1));
    let (_, others) = entry(1, "key_2");
    let error = refused(&told, 1, &leaf, &hashes, &others);
    assert!(matches!(error, CertificateError::Read { position: 1, .. }), "{error}");
    let mut check = CertificateCheck::new(&told.to_text()).unwrap();
    check.entry(1, &leaf, &hashes, &proofs).unwrap();
    assert_eq!(check.entry(1, &leaf, &hashes, &proofs), Err(CertificateError::Order(1)), "an entry counts once");
}

#[test]
fn another_text_is_no_certificate() {
    let text = certified().0.to_text();
    for (number, line) in text.lines().enumerate() {
        let without = text.replacen(&format!("{line}\n"), "", 1);
        assert!(CertificateCheck::new(&without).is_err(), "{without}");
        let other = text.replacen(&format!("{line}\n"), &format!("{line} x\n"), 1);
        let is_refused = CertificateCheck::new(&other).is_err_and(|error| error == CertificateError::Line(number + 1));
        // What is not read is compared at the end.
        let (_, leaf, hashes, proofs) = certified();
        let is_found = CertificateCheck::new(&other).and_then(|mut check| {
            check.entry(1, &leaf, &hashes, &proofs)?;
            check.finish()
        });
        assert!(is_refused || is_found.is_err(), "{other}");
    }
    for (from, to) in [("refusals 3", "refusals 03"), ("others 1", "others +1"), ("range 0 1", "range 0 01")] {
        let (_, leaf, hashes, proofs) = certified();
        let mut check = CertificateCheck::new(&text.replacen(from, to, 1)).unwrap();
        check.entry(1, &leaf, &hashes, &proofs).unwrap();
        assert!(check.finish().is_err(), "{to}");
    }
}
