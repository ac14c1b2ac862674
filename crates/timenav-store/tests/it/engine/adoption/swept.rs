//! Bundles with sweeps: what went is compared with the policies that are in the file.

use serde_json::Value;
use timenav_core::ledger::{LetGoClass, PositionRuns, Retention, Sweep, payload_hash};
use timenav_core::time::{Instant, parse_timestamp};
use timenav_engine::{KeptFor, Refusal, RetentionRequest};

use super::hostile::{resigned, salt};
use super::{NAME, adopt, another_house, export, make};
use crate::house::{Home, House};
use crate::sample::timeline_id;

const DAY_MICROS: i64 = 86_400_000_000;

/// Makes a timeline whose reads are kept for ten days, lets eleven pass, and prunes. Returns its bundle.
async fn pruned(there: &House) -> Vec<Value> {
    let far = there.open().await;
    make(&far, NAME).await;
    keep(&far, 10).await;
    let read = || far.engine.read_clock(&far.admin, Some(timeline_id(NAME)));
    for _ in 0..3 {
        read().await.unwrap();
    }
    for _ in 0..11 {
        there.clock.advance(DAY_MICROS);
        far.engine.prune(&far.admin, timeline_id("main"), false, None).await.unwrap();
    }
    let let_go = far.engine.prune(&far.admin, timeline_id(NAME), false, None).await.unwrap().let_go.unwrap();
    assert!(let_go.count > 0);
    let text = export(&far).await;
    far.engine.close().await;
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn keep(home: &Home<'_>, days: u32) {
    let request = RetentionRequest { reads: KeptFor::Seconds(days * 86_400), refusals: KeptFor::Ever };
    home.engine.set_retention(&home.admin, timeline_id(NAME), request, None).await.unwrap();
}

/// Returns the line of an entry of an action.
fn entry_of<'a>(lines: &'a mut [Value], action: &str) -> &'a mut Value {
    let is_it = |line: &&mut Value| line["entry"]["leaf"].as_str().is_some_and(|leaf| leaf.contains(action));
    let line = lines.iter_mut().find(is_it);
    &mut line.unwrap()["entry"]
}

/// Has an entry say something else, which its leaf fits.
fn say(entry: &mut Value, payload: Vec<u8>) {
    let payload = String::from_utf8(payload).unwrap();
    let hash = payload_hash(&salt(entry["salt"].as_str().unwrap()), payload.as_bytes()).to_hex();
    let leaf = entry["leaf"].as_str().unwrap().to_owned();
    let (front, rest) = leaf.split_once("\"payload_hash\":\"").unwrap();
    entry["leaf"] = format!("{front}\"payload_hash\":\"{hash}{}", &rest[64..]).into();
    entry["payload"] = payload.into();
}

fn sweep(lines: &mut [Value], change: impl FnOnce(&mut Sweep<'static>)) {
    let entry = entry_of(lines, "\"action\":\"sweep\"");
    let mut sweep = Sweep::decode(entry["payload"].as_str().unwrap().as_bytes()).unwrap().into_owned();
    change(&mut sweep);
    say(entry, sweep.encode());
}

async fn arrives(there: &House, lines: Vec<Value>) -> Result<(), Refusal> {
    let here = another_house();
    here.clock.advance(20 * DAY_MICROS);
    let home = here.open().await;
    let adopted = adopt(&home, there, &resigned(lines, there)).await;
    home.engine.close().await;
    adopted.map(|_| ())
}

#[tokio::test]
async fn a_sweep_that_no_policy_in_the_bundle_allows_is_refused() {
    let there = House::off_disk();
    let lines = pruned(&there).await;
    arrives(&there, lines.clone()).await.unwrap();
    let is_refused = async |change: &dyn Fn(&mut Vec<Value>), expected: &str| {
        let mut lines = lines.clone();
        change(&mut lines);
        let refusal = arrives(&there, lines).await.unwrap_err().to_string();
        assert!(refusal.contains(expected), "{expected}: {refusal}");
    };
    is_refused(&|lines| sweep(lines, |sweep| sweep.policy = 0), "no earlier policy allows what it pruned").await;
    is_refused(&|lines| sweep(lines, |sweep| sweep.cutoff = Instant::MAX), "its cutoff is later").await;
    is_refused(&|lines| sweep(lines, |sweep| sweep.class = LetGoClass::Refusals), "no earlier policy").await;
    let early = parse_timestamp("1970-01-01T00:00:00Z").unwrap();
    is_refused(&|lines| sweep(lines, |sweep| sweep.cutoff = early), "was not recorded before its cutoff").await;
    let ever = Retention { reads_seconds: None, refusals_seconds: None };
    let keep_forever = |lines: &mut Vec<Value>| say(entry_of(lines, "set_retention"), ever.encode());
    is_refused(&keep_forever, "no earlier policy allows what it pruned").await;
    let longer = Retention { reads_seconds: Some(30 * 86_400), refusals_seconds: None };
    let keep_longer = |lines: &mut Vec<Value>| say(entry_of(lines, "set_retention"), longer.encode());
    is_refused(&keep_longer, "its cutoff is later than its policy allows").await;
    // A change is let go by nobody.
    let name_a_change = |lines: &mut Vec<Value>| {
        let entry = entry_of(lines, "record_event");
        (entry["salt"], entry["payload"]) = ("".into(), "".into());
        let mut positions = PositionRuns::default();
        positions.push(1).unwrap();
        sweep(lines, |sweep| sweep.positions = positions);
    };
    is_refused(&name_a_change, "it lists entry 1, which belongs to another class").await;
}
