use super::super::Checkpoint;
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
