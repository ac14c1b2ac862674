use proptest::prelude::*;

use super::super::leaf::LeafRecord;
use super::*;
use crate::time::parse_timestamp;

const SALT: Salt = Salt::from_bytes([5; 16]);

fn read(number: usize) -> Read<'static> {
    Read {
        action: "c".into(),
        clock_time: parse_timestamp("1969-07-20T20:17:40Z").unwrap(),
        host_time: parse_timestamp("2026-11-20T08:00:00Z").unwrap(),
        key: "k".into(),
        parameters: ReadParameters::Whole(number.to_string().into()),
        user: if number.is_multiple_of(2) { "ada".into() } else { "bob".into() },
    }
}

fn written(count: usize) -> (Vec<u8>, Hash) {
    let mut draft = ReadsDraft::new(SALT);
    (0..count).for_each(|number| draft.push(&read(number)).unwrap());
    assert_eq!((draft.len(), draft.is_empty()), (count, count == 0));
    draft.finish()
}

#[test]
fn each_read_is_proven_without_the_others() {
    for count in [1, 2, 3, 7, 8, READS_MAX] {
        let (payload, root) = written(count);
        let remaining = RemainingReads::parse(SALT.as_bytes(), &payload).unwrap();
        assert_eq!((remaining.root(), remaining.len()), (root, count));
        for index in (0..count).step_by(1 + count / 9) {
            let proof = remaining.prove(index).unwrap();
            assert_eq!(proof.verify(&root), Ok(read(index)));
            assert_eq!(ReadProof::decode(&proof.encode()), Ok(proof.clone()));
            let other = ReadProof { read: read(index + 1).encode(), ..proof.clone() };
            assert_eq!(other.verify(&root), Err(ReadProofError::Proof(super::super::ProofError::RootMismatch)));
            let unsalted = ReadProof { salt: Salt::from_bytes([0; 16]), ..proof.clone() };
            assert!(unsalted.verify(&root).is_err());
            let spaced = ReadProof { read: [&proof.read[..], b" "].concat(), ..proof };
            assert!(matches!(spaced.verify(&root), Err(ReadProofError::Malformed(_))));
        }
        assert!(remaining.prove(count).is_none());
    }
}

#[test]
fn erasing_a_read_keeps_the_others_and_the_root() {
    let (payload, root) = written(7);
    let remaining = RemainingReads::parse(SALT.as_bytes(), &payload).unwrap();
    let once = remaining.without(|number, _| number == 4);
    let once = RemainingReads::parse(&[], &once).unwrap();
    assert_eq!(once.root(), root);
    assert_eq!(once.iter().filter(Option::is_none).count(), 1);
    assert!(once.prove(4).is_none());
    assert_eq!(once.prove(5).unwrap(), remaining.prove(5).unwrap());

    let twice = once.without(|_, read| read.user == "bob");
    let text = std::str::from_utf8(&twice).unwrap();
    assert!(!text.contains("bob") && text.contains("ada"), "{text}");
    // Neither the master salt nor the salt of an erased read remains.
    for salt in [SALT, SALT.derive(1), SALT.derive(4)] {
        assert!(!text.contains(&data_encoding::HEXLOWER.encode(salt.as_bytes())), "{text}");
    }
    let twice = RemainingReads::parse(&[], &twice).unwrap();
    assert_eq!(twice.root(), root);
    assert_eq!(twice.iter().flatten().map(|read| &read.user).collect::<Vec<_>>(), ["ada"; 3]);
}

#[test]
fn reads_entry_is_full_at_its_limits() {
    let mut draft = ReadsDraft::new(SALT);
    (0..READS_MAX).for_each(|number| draft.push(&read(number % 10)).unwrap());
    assert_eq!(draft.push(&read(0)), Err(ReadsFull));
    assert_eq!(draft.len(), READS_MAX);

    let long = Read { parameters: ReadParameters::Whole("\u{1}".repeat(READ_PARAMETERS_BYTES_MAX).into()), ..read(0) };
    let mut draft = ReadsDraft::new(SALT);
    while draft.push(&long).is_ok() {}
    let (payload, root) = draft.finish();
    assert!((READS_PAYLOAD_BYTES_MAX - 2_048..=READS_PAYLOAD_BYTES_MAX).contains(&payload.len()), "{}", payload.len());
    let remaining = RemainingReads::parse(SALT.as_bytes(), &payload).unwrap();
    assert_eq!(remaining.root(), root);

    let (payload, root) = written(READS_MAX);
    let opened = RemainingReads::parse(SALT.as_bytes(), &payload).unwrap().without(|number, _| number == 0);
    assert_eq!(RemainingReads::parse(&[], &opened).unwrap().root(), root);
}

#[test]
fn malformed_kept_reads_are_rejected() {
    let (payload, _) = written(2);
    let text = std::str::from_utf8(&payload).unwrap();
    let opened = RemainingReads::parse(SALT.as_bytes(), &payload).unwrap().without(|number, _| number == 0);
    assert_eq!(RemainingReads::parse(&[0; 8], &payload).err(), Some(ReadsError::Salt { found: 8 }));
    assert!(matches!(RemainingReads::parse(&[], &payload), Err(ReadsError::Malformed(_))));
    assert!(matches!(RemainingReads::parse(SALT.as_bytes(), &opened), Err(ReadsError::Malformed(_))));
    assert_eq!(RemainingReads::parse(SALT.as_bytes(), b"[]").err(), Some(ReadsError::Count));
    for (old, new) in [
        ("[{", "[ {"),
        ("},{", "}{"),
        ("\"user\":\"ada\"}", "\"user\":\"ada\",\"x\":1}"),
        ("\"host_time\":\"2026-11-20T08:00:00Z\"", "\"host_time\":\"2026-11-20T08:00:00.0Z\""),
        ("\"key\":\"k\",", ""),
    ] {
        assert!(text.contains(old), "{text} has no {old}");
        let changed = text.replace(old, new);
        assert!(
            matches!(RemainingReads::parse(SALT.as_bytes(), changed.as_bytes()), Err(ReadsError::Malformed(_))),
            "{new}"
        );
    }
    let too_long = vec![b' '; READS_OPENED_BYTES_MAX + 1];
    assert_eq!(RemainingReads::parse(&[], &too_long).err(), Some(ReadsError::TooLong { max: READS_OPENED_BYTES_MAX }));
    let many = format!("[{}]", vec!["{\"erased\":\"".to_owned() + &root_hex() + "\"}"; READS_MAX + 1].join(","));
    assert_eq!(RemainingReads::parse(&[], many.as_bytes()).err(), Some(ReadsError::Count));
}

fn root_hex() -> String {
    written(1).1.to_hex()
}

#[test]
fn long_parameters_are_cut_between_characters() {
    for (text, expected_length) in
        [("x".repeat(257), 256), ("é".repeat(200), 256), ("€".repeat(100), 255), ("🜨".repeat(65), 256)]
    {
        let ReadParameters::Cut { begin, bytes, sha256: hash } = ReadParameters::of(&text) else {
            panic!("{text} is not cut");
        };
        assert_eq!((begin.len(), bytes), (expected_length, text.len() as u64));
        assert!(text.starts_with(&*begin));
        assert_eq!(hash, sha256(&[text.as_bytes()]));
        let read = Read { parameters: ReadParameters::of(&text), ..read(0) };
        assert_eq!(Read::decode(&read.encode()), Ok(read.clone()));
        // Any other cut would make a second spelling of the same read.
        let ReadParameters::Cut { begin, .. } = &read.parameters else { unreachable!() };
        let begin = begin.chars().skip(4).collect::<String>();
        let parameters = ReadParameters::Cut { begin: begin.into(), bytes, sha256: hash };
        assert!(Read::decode(&Read { parameters, ..read.clone() }.encode()).is_err());
        let parameters = ReadParameters::Whole(text.clone().into());
        assert!(Read::decode(&Read { parameters, ..read }.encode()).is_err());
    }
    assert_eq!(ReadParameters::of(""), ReadParameters::Whole("".into()));
}

fn entry() -> ReadsEntry {
    ReadsEntry {
        recorded_at: parse_timestamp("2026-11-20T08:00:00.25Z").unwrap(),
        clock_time: parse_timestamp("-002150-01-01T00:00:00Z").unwrap(),
        payload_hash: Hash::from_bytes([0xab; 32]),
        directory: 300,
    }
}

#[test]
fn entry_with_more_than_reads_is_not_compacted() {
    let bytes = entry().leaf("main", 7);
    let record = LeafRecord::decode(&bytes).unwrap();
    assert_eq!(ReadsEntry::of(&record), Some(entry()));
    let text = std::str::from_utf8(&bytes).unwrap();
    for (old, new) in [
        ("\"actor\":\"\"", "\"actor\":\"ada\""),
        ("\"subject\":\"\"", "\"subject\":\"clock\""),
        ("\"key\":\"\"", "\"key\":\"key_1\""),
        ("\"reads\"", "\"read\""),
        ("00.25Z", "00.250Z"),
        ("\"directory\":300,\"key\":\"\",", ""),
    ] {
        let changed = text
            .replace(old, new)
            .replace("\"v\":2}", if old.starts_with("\"directory") { "\"v\":1}" } else { "\"v\":2}" });
        assert_ne!(changed, text);
        assert_eq!(ReadsEntry::of(&LeafRecord::decode(changed.as_bytes()).unwrap()), None, "{changed}");
        assert_eq!(rebuilt_leaf(changed.as_bytes(), "main", 7).unwrap(), changed.as_bytes());
    }
}

#[test]
fn compact_reads_entry_has_one_spelling() {
    let bytes = entry().to_bytes();
    assert_eq!(bytes.len(), 50);
    assert_eq!(ReadsEntry::from_bytes(&[&bytes[..48], &[0, 1, 44]].concat()), None);
    assert_eq!(ReadsEntry::from_bytes(&[&bytes[..48], &[0]].concat()), None);
    assert_eq!(ReadsEntry::from_bytes(&[&bytes[..48], &[1; 8]].concat()), None);
    assert_eq!(ReadsEntry::from_bytes(&bytes[..47]), None);
    assert_eq!(ReadsEntry::from_bytes(&bytes[..48]).unwrap().directory, 0);
    assert_eq!(rebuilt_leaf(&[0x7f; 50], "main", 7), None);
}

proptest! {
    #[test]
    fn reads_are_canonical_json_and_read_back(
        texts in prop::array::uniform3(any::<String>()),
        parameters in prop_oneof![any::<String>(), "[a-zé€🜨\"]{80,400}"],
        micros in prop::array::uniform2(-100_000_000_000_000_000_i64..200_000_000_000_000_000),
    ) {
        let [action, key, user] = &texts;
        let read = Read {
            action: action.into(),
            clock_time: Instant::from_micros(micros[0]).unwrap(),
            host_time: Instant::from_micros(micros[1]).unwrap(),
            key: key.into(),
            parameters: ReadParameters::of(&parameters),
            user: user.into(),
        };
        let bytes = read.encode();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        prop_assert_eq!(&bytes, &serde_json_canonicalizer::to_vec(&value).unwrap());
        prop_assert_eq!(Read::decode(&bytes).unwrap().into_owned(), read);
    }

    #[test]
    fn compact_entry_is_rebuilt_byte_for_byte(
        recorded_at in -377_705_116_800_000_000..=253_402_300_799_999_999_i64,
        clock_time in -377_705_116_800_000_000..=253_402_300_799_999_999_i64,
        payload_hash in any::<[u8; 32]>(),
        directory in prop_oneof![0..1_000_000_u64, 0..=super::super::SEQ_MAX],
        seq in 0..=super::super::SEQ_MAX,
    ) {
        let entry = ReadsEntry {
            recorded_at: Instant::from_micros(recorded_at).unwrap(),
            clock_time: Instant::from_micros(clock_time).unwrap(),
            payload_hash: Hash::from_bytes(payload_hash),
            directory,
        };
        let compact = entry.to_bytes();
        prop_assert!((48..=55).contains(&compact.len()));
        prop_assert_eq!(ReadsEntry::from_bytes(&compact), Some(entry));
        let leaf = rebuilt_leaf(&compact, "apollo-11", seq).unwrap();
        let record = LeafRecord::decode(&leaf).unwrap();
        prop_assert_eq!((record.seq, ReadsEntry::of(&record)), (seq, Some(entry)));
    }

    #[test]
    fn parsing_arbitrary_bytes_does_not_panic(
        salt in any::<bool>(),
        mut payload in any::<Vec<u8>>(),
        at in any::<prop::sample::Index>(),
    ) {
        let salt = if salt { SALT.as_bytes().as_slice() } else { &[] };
        prop_assert!(RemainingReads::parse(salt, &payload).is_err());
        let (mut whole, root) = written(3);
        let at = at.index(whole.len());
        payload.truncate(3);
        whole.splice(at..at, payload.iter().copied());
        if let Ok(remaining) = RemainingReads::parse(SALT.as_bytes(), &whole) {
            prop_assert_eq!(payload.is_empty(), remaining.root() == root);
        }
    }
}
