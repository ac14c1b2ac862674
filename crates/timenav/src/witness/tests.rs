use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use timenav_core::ledger::{Checkpoint, Hash, empty_root};

use super::*;

const KEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

#[test]
fn log_argument_is_a_key_with_an_optional_origin() {
    let read = |text: &str| text.parse::<KnownLog>();
    let log = read(KEY).unwrap();
    assert_eq!((log.origin.as_str(), log.key.to_string().as_str()), ("example.com/foo", KEY));
    assert_eq!(read(&format!("{KEY}=other log=1")).unwrap().origin, "other log=1");
    for wrong in
        [String::new(), format!("{KEY}="), format!("{KEY}=a\nb"), KEY.replace("530d", "530e"), "x=y".to_owned()]
    {
        read(&wrong).unwrap_err();
    }
    let of_witness = "witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
    assert!(read(of_witness).unwrap_err().contains("0x04"), "the key of a witness is none of a log");
}

#[test]
fn keys_per_log_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let log = |number: u8| {
        let key = VerifierKey::new("log.test", [number; 32]).unwrap();
        KnownLog { key, origin: "log.test".to_owned() }
    };
    let open = |count: u8| {
        let folder = WitnessFolder::open(folder.path()).unwrap();
        // A duplicate counts once.
        let logs = (0..count).map(log).chain([log(0)]).collect();
        Witness::open(folder, None, logs, Vec::new())
            .map(|witness| witness.logs_count())
            .map_err(|error| error.to_string())
    };
    assert_eq!(open(16), Ok(1));
    assert_eq!(open(17), Err("the log `log.test` can have at most 16 keys, not 17".to_owned()));
}

fn pair() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[5; 32]).unwrap()
}

fn key_of(origin: &str, pair: &Ed25519KeyPair) -> VerifierKey {
    VerifierKey::new(origin, pair.public_key().as_ref().try_into().unwrap()).unwrap()
}

fn prefix() -> KnownPrefix {
    format!("clock.test/={}", key_of("clock.test/system", &pair())).parse().unwrap()
}

/// Returns a request for the first checkpoint of a log, without validating the origin.
fn first(origin: &str, (size, root): (u64, Hash), pair: &Ed25519KeyPair) -> AddCheckpoint {
    let text = format!("{origin}\n{size}\n{}\n", root.to_base64());
    let public = pair.public_key();
    let id = sha256(&[origin.as_bytes(), b"\n\x01", public.as_ref()]);
    let signed = [&id.as_bytes()[..4], pair.sign(text.as_bytes()).as_ref()].concat();
    let note = format!("{text}\n\u{2014} {origin} {}\n", data_encoding::BASE64.encode(&signed));
    AddCheckpoint { old_size: 0, hashes: Vec::new(), note }
}

fn grown(origin: &str) -> AddCheckpoint {
    first(origin, (7, sha256(&[b"root"])), &pair())
}

fn with_prefix(folder: &std::path::Path, limits: PrefixLimits, logs: Vec<KnownLog>) -> anyhow::Result<Witness> {
    Witness::open_within(limits, WitnessFolder::open(folder).unwrap(), None, (logs, vec![prefix()]))
}

fn few(logs_max: usize) -> PrefixLimits {
    PrefixLimits { logs_max, ..PrefixLimits::default() }
}

fn files(folder: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.contains(".checkpoint") || name.contains(".evidence")).collect();
    names.sort();
    names
}

#[test]
fn prefix_argument_is_an_origin_prefix_and_a_key() {
    let read = |text: &str| text.parse::<KnownPrefix>();
    let known = read(&format!("example.com/={KEY}")).unwrap();
    assert_eq!(
        (known.prefix.as_str(), known.public_key),
        ("example.com/", *VerifierKey::parse(KEY).unwrap().public_key())
    );
    let of_service = VerifierKey::new("example.com", known.public_key).unwrap();
    assert_eq!(read(&format!("example.com/={of_service}")), Ok(known));
    for wrong in
        ["", KEY, "example.com/=", &format!("/={KEY}"), &format!("example.com={KEY}"), &format!("exa\nmple/={KEY}")]
    {
        read(wrong).unwrap_err();
    }
    assert!(read(&format!("example.co/={KEY}")).unwrap_err().contains("is not under `example.co/`"));
    assert!(read(&format!("{}/={KEY}", "x".repeat(300))).unwrap_err().contains("255 bytes"));
}

#[test]
fn logs_per_prefix_are_limited_and_persisted() {
    let folder = tempfile::tempdir().unwrap();
    let full = |answer: Result<NoteSignature, Unwitnessed>| {
        assert!(matches!(answer, Err(Unwitnessed::PrefixFull { max: 3, .. })), "{answer:?}");
    };
    let conflict = |answer: Result<NoteSignature, Unwitnessed>| {
        let refused = matches!(answer, Err(Unwitnessed::Refused(WitnessRefusal::Conflict { recorded: 7, .. })));
        assert!(refused, "{answer:?}");
    };
    let witness = with_prefix(folder.path(), few(3), Vec::new()).unwrap();
    // Requests without a valid signature or proof take no slot and no file.
    let stranger = Ed25519KeyPair::from_seed_unchecked(&[6; 32]).unwrap();
    for number in 0..10 {
        let origin = format!("clock.test/unsigned-{number}");
        witness.add_checkpoint(&first(&origin, (0, empty_root()), &stranger)).unwrap_err();
        witness.add_checkpoint(&first(&origin, (0, sha256(&[b"root"])), &pair())).unwrap_err();
        witness.add_checkpoint(&AddCheckpoint { hashes: vec![empty_root()], ..grown(&origin) }).unwrap_err();
    }
    assert_eq!((witness.logs_count(), files(folder.path())), (0, Vec::new()));
    for name in ["system", "main", "apollo"] {
        witness.add_checkpoint(&grown(&format!("clock.test/{name}"))).unwrap();
    }
    full(witness.add_checkpoint(&grown("clock.test/fourth")));
    conflict(witness.add_checkpoint(&grown("clock.test/main")));
    drop(witness);
    // After a crash, the list may lack one of them.
    let list = folder.path().join("logs");
    let lines = std::fs::read_to_string(&list).unwrap();
    assert_eq!(lines.lines().count(), 3);
    let others: Vec<_> = lines.lines().filter(|line| *line != hash_of("clock.test/main")).collect();
    std::fs::write(&list, others.join("\n")).unwrap();
    let witness = with_prefix(folder.path(), few(3), Vec::new()).unwrap();
    conflict(witness.add_checkpoint(&grown("clock.test/main")));
    full(witness.add_checkpoint(&grown("clock.test/fourth")));
    assert!(witness.checkpoint(&hash_of("clock.test/main")).unwrap().starts_with("clock.test/main\n7\n"));
    assert_eq!(std::fs::read_to_string(&list).unwrap().lines().count(), 3);
    drop(witness);
    // A named log needs no slot, and its cosigned checkpoint stays however the log was added.
    let named = |name: &str| KnownLog { key: key_of(name, &pair()), origin: name.to_owned() };
    let logs = vec![named("clock.test/fourth"), named("clock.test/main")];
    let witness = with_prefix(folder.path(), few(3), logs).unwrap();
    witness.add_checkpoint(&grown("clock.test/fourth")).unwrap();
    conflict(witness.add_checkpoint(&grown("clock.test/main")));
    witness.add_checkpoint(&grown("clock.test/fifth")).unwrap();
    full(witness.add_checkpoint(&grown("clock.test/sixth")));
}

#[test]
fn concurrent_requests_cannot_exceed_the_log_limit() {
    let folder = tempfile::tempdir().unwrap();
    let witness = with_prefix(folder.path(), few(4), Vec::new()).unwrap();
    let cosigned: usize = std::thread::scope(|scope| {
        // Two requests per log, one of which is first.
        let ask = |number: usize| witness.add_checkpoint(&grown(&format!("clock.test/{}", number / 2))).is_ok();
        let asking: Vec<_> = (0..16).map(|number| scope.spawn(move || ask(number))).collect();
        asking.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    });
    assert_eq!((cosigned, witness.logs_count(), files(folder.path()).len()), (4, 4, 4));
}

#[test]
fn lost_checkpoint_of_a_prefixed_log_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let witness = with_prefix(folder.path(), few(3), Vec::new()).unwrap();
    witness.add_checkpoint(&grown("clock.test/main")).unwrap();
    witness.add_checkpoint(&grown("clock.test/other")).unwrap();
    drop(witness);
    let file = |name: &str| folder.path().join(format!("{}.checkpoint", hash_of(name)));
    let failed = |what: &str| {
        let error = with_prefix(folder.path(), few(3), Vec::new()).map(|_| ()).unwrap_err();
        assert!(format!("{error:#}").contains(what), "{error:#}");
    };
    let text = std::fs::read_to_string(file("clock.test/main")).unwrap();
    std::fs::remove_file(file("clock.test/main")).unwrap();
    failed("is missing, so the log could roll back cosigned entries");
    // Neither the checkpoint of another log nor one that this witness has not cosigned is accepted in its place.
    std::fs::copy(file("clock.test/other"), file("clock.test/main")).unwrap();
    failed("is not of the log in its file name");
    std::fs::write(file("clock.test/main"), grown("clock.test/main").note).unwrap();
    failed("was not written by this witness");
    std::fs::write(file("clock.test/main"), text).unwrap();
    assert_eq!(with_prefix(folder.path(), few(3), Vec::new()).unwrap().logs_count(), 2);
}

#[test]
fn logs_of_a_prefix_share_a_rate_limit() {
    let folder = tempfile::tempdir().unwrap();
    let limits = PrefixLimits { checkpoints_per_minute_max: NonZeroU32::MIN, ..few(3) };
    let named = KnownLog { key: key_of("clock.test/named", &pair()), origin: "clock.test/named".to_owned() };
    let witness = with_prefix(folder.path(), limits, vec![named]).unwrap();
    witness.add_checkpoint(&grown("clock.test/one")).unwrap();
    let refused = witness.add_checkpoint(&grown("clock.test/two"));
    assert!(matches!(refused, Err(Unwitnessed::PrefixTooOften { .. })), "{refused:?}");
    witness.add_checkpoint(&grown("clock.test/named")).unwrap();
    assert_eq!((witness.logs_count(), files(folder.path()).len()), (2, 2));
}

#[test]
fn longest_matching_prefix_takes_precedence() {
    let folder = tempfile::tempdir().unwrap();
    let inner = Ed25519KeyPair::from_seed_unchecked(&[6; 32]).unwrap();
    let within = format!("clock.test/eu/={}", key_of("clock.test/eu/system", &inner)).parse().unwrap();
    let opened = WitnessFolder::open(folder.path()).unwrap();
    let witness = Witness::open(opened, None, Vec::new(), vec![prefix(), within]).unwrap();
    let root = (7, sha256(&[b"root"]));
    witness.add_checkpoint(&grown("clock.test/eu/main")).unwrap_err();
    witness.add_checkpoint(&first("clock.test/eu/main", root, &inner)).unwrap();
    witness.add_checkpoint(&first("clock.test/main", root, &inner)).unwrap_err();
    witness.add_checkpoint(&grown("clock.test/main")).unwrap();
}

#[test]
fn malicious_origins_cannot_escape_the_witness_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("witness");
    let witness = with_prefix(&inside, few(100), Vec::new()).unwrap();
    let long = format!("clock.test/{}", "x".repeat(245));
    for wrong in [
        "clock.test/",
        "clock.test",
        "clock.testing/x",
        "",
        "CLOCK.TEST/x",
        "clock.test/a b",
        "clock.test/a+b",
        "clock.test/a\0b",
        "clock.test/a\u{7f}b",
        "clock.test/a\u{85}b",
        "clock.test/\u{202e}b",
        "clock.test/\u{e9}",
        "clock.test/a\tb",
        "clock.test/a\r",
        &long,
        &"clock.test/x".repeat(4_000),
    ] {
        witness.add_checkpoint(&grown(wrong)).map(|_| wrong.to_owned()).unwrap_err();
    }
    // The line after the origin is parsed as the size.
    witness.add_checkpoint(&grown("clock.test/a\nb")).unwrap_err();
    assert_eq!((witness.logs_count(), files(&inside)), (0, Vec::new()));
    let odd =
        ["clock.test/../../../etc/passwd", "clock.test//", "clock.test/a/b", "clock.test/%2e%2e%2f", &long[..255]];
    for origin in odd {
        witness.add_checkpoint(&grown(origin)).unwrap();
    }
    let mut expected: Vec<_> = odd.iter().map(|origin| format!("{}.checkpoint", hash_of(origin))).collect();
    expected.sort();
    assert_eq!(files(&inside), expected);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is beside the folder");
    drop(witness);
    assert_eq!(with_prefix(&inside, few(100), Vec::new()).unwrap().logs_count(), odd.len());
}

#[test]
fn overlong_checkpoint_under_a_prefix_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let witness = with_prefix(folder.path(), few(3), Vec::new()).unwrap();
    let key = key_of("clock.test/main", &pair());
    let signed = |extension: usize| {
        let extensions = vec!["x".repeat(extension)];
        let checkpoint = Checkpoint { origin: key.name().to_owned(), size: 7, root: sha256(&[b"root"]), extensions };
        let sign = |message: &[u8]| pair().sign(message).as_ref().try_into().unwrap();
        let note = checkpoint.sign(&key, sign).unwrap().to_string();
        AddCheckpoint { old_size: 0, hashes: Vec::new(), note }
    };
    let refused = witness.add_checkpoint(&signed(9_000));
    assert!(matches!(refused, Err(Unwitnessed::TooLong)), "{refused:?}");
    assert_eq!((witness.logs_count(), files(folder.path())), (0, Vec::new()));
    witness.add_checkpoint(&signed(7_000)).unwrap();
}
