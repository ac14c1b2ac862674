//! Bundles of a service that signs whatever it likes: what is taken over is what a scan finds to be right.

use serde_json::{Value, json};
use timenav_core::data::{EncryptionKey, Plaintext};
use timenav_core::event::EventDraft;
use timenav_core::ledger::{Checkpoint, Frontier, Salt, VerifierKey, leaf_hash, payload_hash, sha256};
use timenav_core::scan::Depth;
use timenav_engine::{Action, ErasureRequest, Signer as _};
use zeroize::Zeroizing;

use super::{NAME, adopt, another_house, export, make};
use crate::engine::timers_again::{Line, every, once};
use crate::house::{Home, House};
use crate::sample::{event_id, moment, timeline_id};
use crate::tampering::{Outside, look};

const ROUNDS: u64 = 60;

/// Numbers that look like chance, and are the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        // xorshift64 (Marsaglia 2003).
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).unwrap()
    }
}

/// Has happen what leaves rows behind.
async fn live(home: &Home<'_>) {
    make(home, NAME).await;
    let line = Line::of(home, timeline_id(NAME)).await;
    line.set("single", once(3)).await.unwrap();
    line.set("rule", every(4)).await.unwrap();
    line.set("changed", once(70)).await.unwrap();
    line.go(5, false).await;
    line.patch("changed", Some(once(20))).await;
    line.work_off().await;
    line.set("cancelled", once(80)).await.unwrap();
    line.cancel("cancelled").await;
    line.go(9, false).await;
    line.go(2, true).await;
    let (engine, admin, named) = (&home.engine, &home.admin, Some(timeline_id(NAME)));
    let drafts = (0..4).map(|number| EventDraft {
        event_id: Some(event_id(&format!("e{number}"))),
        name: Some(format!("n{number}")),
        ..EventDraft::at(moment(number), "d")
    });
    engine.record_events(admin, named.clone(), drafts.collect(), None).await.unwrap();
    let corrected = EventDraft { event_id: Some(event_id("e1")), ..EventDraft::at(moment(9), "corrected") };
    engine.correct_event(admin, named.clone(), corrected, None, None).await.unwrap();
    engine.erase_data(admin, ErasureRequest::Event(named, event_id("e2")), None).await.unwrap();
    let (data, key) = (Plaintext::new(Zeroizing::new("{}".to_owned())), Zeroizing::new("k".to_owned()));
    engine.encrypt_data(admin, timeline_id(NAME), data, EncryptionKey::new(key).unwrap(), None).await.unwrap();
}

/// Changes a payload as text, so that it is still JSON most of the time.
fn changed(payload: &str, others: &[String], chance: &mut Chance) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(payload) else { return others[0].clone() };
    if chance.below(4) == 0 {
        return others[chance.below(others.len())].clone();
    }
    change(&mut value, chance);
    value.to_string()
}

fn change(value: &mut Value, chance: &mut Chance) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let name = members.keys().nth(chance.below(members.len())).unwrap().clone();
            match chance.below(5) {
                0 => {
                    members.remove(&name);
                }
                1 => {
                    members.insert(name, Value::Null);
                }
                _ => change(&mut members[&name], chance),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let at = chance.below(items.len());
            change(&mut items[at], chance);
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(_) => {
            *value =
                [json!(0), json!(1), json!(7), json!(-1), json!(u64::MAX), json!(1_000_000)][chance.below(6)].take();
        }
        Value::String(text) => match chance.below(4) {
            0 => *text = String::new(),
            1 => "e1".clone_into(text),
            2 => "9999-12-31T23:59:59Z".clone_into(text),
            _ => *text = "x".repeat(70_000),
        },
        Value::Null | Value::Object(_) | Value::Array(_) => *value = json!(true),
    }
}

pub(super) fn salt(hex: &str) -> Salt {
    let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap();
    Salt::from_bytes(std::array::from_fn(byte))
}

/// Changes some entries of a bundle, and has its service sign that.
fn forged(text: &str, there: &House, chance: &mut Chance) -> String {
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let entries: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].get("entry").is_some()).collect();
    let payload = |line: &Value| line["entry"]["payload"].as_str().unwrap().to_owned();
    let others: Vec<String> = entries.iter().map(|at| payload(&lines[*at])).collect();
    for _ in 0..=chance.below(3) {
        let entry = &mut lines[entries[chance.below(entries.len())]]["entry"];
        let leaf = entry["leaf"].as_str().unwrap().to_owned();
        if chance.below(5) == 0 {
            let word = Action::ALL[chance.below(Action::ALL.len())].word();
            let before = leaf.split('"').nth(3).unwrap();
            entry["leaf"] = leaf.replacen(before, word, 1).into();
        } else if !entry["salt"].as_str().unwrap().is_empty() {
            let payload = changed(entry["payload"].as_str().unwrap(), &others, chance);
            let hash = payload_hash(&salt(entry["salt"].as_str().unwrap()), payload.as_bytes()).to_hex();
            let (before, after) = leaf.split_once("\"payload_hash\":\"").unwrap();
            entry["leaf"] = format!("{before}\"payload_hash\":\"{hash}{}", &after[64..]).into();
            entry["payload"] = payload.into();
        }
    }
    resigned(lines, there)
}

/// Has a service sign the entries of a bundle as they are.
pub(super) fn resigned(mut lines: Vec<Value>, there: &House) -> String {
    let frontier = chained(&mut lines);
    let origin = format!("timenav.test/{NAME}");
    let key = VerifierKey::new(&origin, there.signer.public_key()).unwrap();
    let checkpoint = Checkpoint { origin, size: frontier.size(), root: frontier.root(), extensions: Vec::new() };
    let note = checkpoint.sign(&key, |message| there.signer.sign(message)).unwrap();
    let end = lines.len() - 1;
    lines[end - 1]["checkpoint"]["note"] = note.to_string().into();
    let text: String = lines[..end].iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
    lines[end]["end"]["sha256"] = sha256(&[text.as_bytes()]).to_hex().into();
    text + &format!("{}\n", lines[end])
}

/// Lets each layer go on from the one before as that is now, and returns the edge of the last tree.
fn chained(lines: &mut [Value]) -> Frontier {
    let mut frontier = Frontier::default();
    for line in lines {
        if line.get("entry").is_none() {
            continue;
        }
        let begins = line["entry"]["leaf"].as_str().unwrap().contains("\"seq\":0,");
        let before = if begins { std::mem::take(&mut frontier) } else { Frontier::default() };
        if before.size() > 0 {
            let entry = &mut line["entry"];
            let payload = entry["payload"].as_str().unwrap();
            let Some((front, rest)) = payload.split_once("\"root\":\"") else { continue };
            let payload = format!("{front}\"root\":\"{}{}", before.root().to_hex(), &rest[64.min(rest.len())..]);
            let hash = payload_hash(&salt(entry["salt"].as_str().unwrap()), payload.as_bytes()).to_hex();
            let leaf = entry["leaf"].as_str().unwrap().to_owned();
            let (front, rest) = leaf.split_once("\"payload_hash\":\"").unwrap();
            entry["leaf"] = format!("{front}\"payload_hash\":\"{hash}{}", &rest[64..]).into();
            entry["payload"] = payload.into();
        }
        frontier.push(leaf_hash(line["entry"]["leaf"].as_str().unwrap().as_bytes()));
    }
    frontier
}

#[tokio::test]
async fn what_is_taken_over_is_what_a_scan_finds_right() {
    let there = House::off_disk();
    let far = there.open().await;
    live(&far).await;
    Box::pin(try_forgeries(&there, far)).await;
}

#[tokio::test]
async fn what_comes_with_a_fork_is_what_a_scan_finds_right() {
    let there = House::off_disk();
    let far = there.open().await;
    super::forks::chain(&far).await;
    Box::pin(try_forgeries(&there, far)).await;
}

/// Takes over forgeries of what a house holds: each is refused, or is as a scan would have it, and can be exported.
async fn try_forgeries(there: &House, far: Home<'_>) {
    let text = export(&far).await;
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
    let (mut taken, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let forged = forged(&text, there, &mut chance);
        let here = another_house();
        let home = here.open().await;
        let adopted = adopt(&home, there, &forged).await;
        home.engine.close().await;
        if let Err(refusal) = adopted {
            refused += 1;
            assert!(refusal.to_string().len() < 2_000, "{refusal}");
            assert!(home.store.open().await.unwrap().heads.iter().all(|head| head.id.as_str() != NAME));
            continue;
        }
        taken += 1;
        drop(home);
        let scan = look(&here, NAME, Depth::Full, Outside::Kept).await;
        assert!(scan.findings.is_empty(), "{round}: {:#?}\n{forged}", scan.findings);
        let home = here.open().await;
        export(&home).await;
        home.engine.close().await;
    }
    println!("{taken} were taken over, and {refused} refused");
    assert!(taken > ROUNDS / 20 && refused > ROUNDS / 20, "{taken} {refused}");
    far.close().await;
}
