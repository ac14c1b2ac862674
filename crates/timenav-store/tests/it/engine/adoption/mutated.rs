//! Bundles of which lines were dropped, repeated, put elsewhere or changed: they are refused, or make the ledger that they
//! were made of.

use std::collections::BTreeMap;

use serde_json::Value;
use timenav_core::ledger::VerifierKey;
use timenav_engine::{AdoptRequest, ErasureRequest, Signer as _};

use super::forks::{bundle, chain, lines};
use super::{NAME, adopt, another_house, export, seal};
use crate::house::{Home, House, on};
use crate::sample::event_id;

/// Bundles that are tried.
const CASES: u64 = 3_000;
/// Bundles of those that are taken that are adopted: each needs a house.
const ADOPTED_MAX: usize = 40;

/// Numbers that follow from the one before (Knuth's MMIX).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % end as u64).unwrap()
    }
}

/// Changes one thing, or two.
fn mutate(all: &[String], numbers: &mut Numbers) -> String {
    let mut lines = all.to_vec();
    for _ in 0..=numbers.below(2) {
        let (at, other) = (numbers.below(lines.len()), numbers.below(lines.len()));
        match numbers.below(6) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            3 => {
                let line = lines.remove(at);
                lines.insert(other.min(lines.len()), line);
            }
            _ => {
                let at_byte = numbers.below(lines[at].len());
                let byte = b' ' + u8::try_from(numbers.below(95)).unwrap();
                let mut bytes = lines[at].clone().into_bytes();
                bytes[at_byte] = byte;
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
        }
    }
    // The end is no signature: whoever changes a file makes a new one. Sometimes they forget.
    let is_end =
        lines.last().is_some_and(|line| serde_json::from_str::<Value>(line).is_ok_and(|end| end["end"].is_object()));
    if is_end && numbers.below(16) > 0 { bundle(&lines) } else { lines.join("\n") + "\n" }
}

/// Returns what a bundle says happened, with its payloads and records.
fn told(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("{\"entry\"") || line.starts_with("{\"data\"")).collect()
}

/// Makes a fork with all kinds of lines: sealed records, one of which is erased, and what was erased after the fork.
async fn make_all(home: &Home<'_>) {
    chain(home).await;
    seal(home, NAME).await;
    let erase = |id: &str, timeline: &str| ErasureRequest::Event(on(timeline), event_id(id));
    home.engine.erase_data(&home.admin, erase("d", NAME), None).await.unwrap();
    home.engine.erase_data(&home.admin, erase("e", "p"), None).await.unwrap();
}

#[tokio::test]
async fn a_bundle_that_was_changed_is_refused_or_makes_the_same_ledger() {
    let there = House::off_disk();
    let reader = another_house();
    let (far, home) = (there.open().await, reader.open().await);
    make_all(&far).await;
    let text = export(&far).await;
    let all = lines(&text);
    for kind in ["bundle", "layer", "entry", "data", "checkpoint", "erasure", "end"] {
        assert!(all.iter().any(|line| line.starts_with(&format!("{{\"{kind}\""))), "{kind}");
    }
    let key = VerifierKey::new(&format!("timenav.test/{NAME}"), there.signer.public_key()).unwrap();
    let request = || AdoptRequest { key: key.clone(), map: BTreeMap::new(), rotations: Vec::new(), bytes_min: 0 };
    home.engine.read_arrival(request(), text.as_bytes()).unwrap();
    let mut numbers = Numbers(17);
    let mut taken: Vec<String> = Vec::new();
    for _ in 0..CASES {
        let changed = mutate(&all, &mut numbers);
        if home.engine.read_arrival(request(), changed.as_bytes()).is_ok() {
            assert_eq!(told(&changed), told(&text), "{changed}");
            taken.extend((changed != text).then_some(changed));
        }
    }
    // What stands in the first line for people is nobody's word, so something is taken.
    assert!(!taken.is_empty() && taken.len() < 200, "{} of {CASES} are taken", taken.len());
    for changed in taken.iter().take(ADOPTED_MAX) {
        let house = House::off_disk();
        house.doors().entropy.fill(&mut vec![0; 32 * 100_000]);
        let other = house.open().await;
        adopt(&other, &there, changed).await.unwrap();
        let ours = other.lines().await;
        let theirs = far.lines().await;
        let of = |lines: &[crate::audit::Line]| -> Vec<String> {
            let of_it = lines.iter().filter(|line| line.timeline == NAME);
            of_it.map(|line| format!("{} {} {}", line.seq, line.action, line.subject)).collect()
        };
        let (ours, theirs) = (of(&ours), of(&theirs));
        assert_eq!(ours[..theirs.len()], theirs, "{changed}");
        other.close().await;
    }
    home.close().await;
    far.close().await;
}
