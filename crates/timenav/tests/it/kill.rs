//! kill -9 under write load: acknowledged writes are durable, others are there completely or not at all, and a retry
//! does not duplicate them.

mod erasing;
mod sweeping;
mod writers;

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde_json::Value;

use crate::ledger;
use crate::support::dice::Dice;
use crate::support::http::{Connection, Request};
use crate::support::service::Service;
use writers::{Kind, Load, Outcome, TIMELINES, Write};

/// Number of kills in the tests, and with `cargo xtask soak`.
const ROUNDS: (u64, u64) = (12, 100);
/// Maximum number of steps of the writers (a request sent, a response read) before the kill.
const STEPS_MAX: u64 = 80;

/// Length of the database's log, and when it was last written: a small commit fits into what was reserved.
fn log_state(service: &Service) -> (u64, Option<SystemTime>) {
    let log = service.data().join("timenav.db-wal").metadata();
    log.map_or((0, None), |log| (log.len(), log.modified().ok()))
}

#[test]
fn acknowledged_writes_survive_kills() {
    let rounds = if crate::support::service::is_soak() { ROUNDS.1 } else { ROUNDS.0 };
    let mut service = Service::start();
    for timeline in TIMELINES {
        service.post("/v1/pause-time", &serde_json::json!({ "timeline_id": timeline }));
        service.remember(timeline);
    }
    let mut dice = Dice::new(11);
    let mut writes_count = 0;
    let mut unanswered_count = 0;
    for round in 0..rounds {
        let steps = 1 + dice.below(STEPS_MAX);
        let load = Load::start(&service, round);
        load.wait_for(steps);
        service.kill();
        let outcomes = load.end();
        // Checkpoints outside the database are written before or after the responses.
        service.arguments(&["--checkpoint-lag", ["0", "50", "1000"][usize::try_from(round % 3).unwrap()]]);
        service.start_again();
        check_round(&service, round, &outcomes);
        for timeline in TIMELINES {
            service.remember(timeline);
        }
        unanswered_count += outcomes.iter().filter(|outcome| outcome.answer.is_none()).count();
        writes_count += outcomes.len();
    }
    println!("{writes_count} writes in {rounds} rounds, {unanswered_count} without an answer");
    // Otherwise the kills came while nothing was in progress, and nothing was tested.
    assert!(unanswered_count as u64 > rounds, "only {unanswered_count} writes were cut off");
    for timeline in TIMELINES {
        let events = service.find_all(timeline, "*", "../..", "1000").len();
        assert_eq!(service.get(&format!("/timeline/{timeline}"), &[])["events"], events, "{timeline}");
    }
    service.audit();
}

fn check_round(service: &Service, round: u64, outcomes: &[Outcome]) {
    for timeline in TIMELINES {
        let earlier = &service.remembered[timeline];
        service.continues(timeline, earlier.size, &earlier.root);
        let here: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.write.timeline == timeline).collect();
        check_acknowledged(service, &here);
        check_clock(service, timeline, &here);
        let stored = names(service, timeline, round);
        for outcome in &here {
            check_events(outcome, &stored);
        }
        for outcome in here.iter().filter(|outcome| outcome.answer.is_none()) {
            check_retry(service, &outcome.write, &stored);
        }
        check_once(&here, &names(service, timeline, round));
    }
}

/// Every response matches the ledger.
fn check_acknowledged(service: &Service, outcomes: &[&Outcome]) {
    let ledgers = outcomes.iter().filter_map(|outcome| Some(&outcome.answer.as_ref()?["ledger"]));
    if let Some(largest) = ledgers.max_by_key(|ledger| ledger["size"].as_u64()) {
        let size = largest["size"].as_u64().expect("a size");
        service.continues(outcomes[0].write.timeline, size, &ledger::hash(&largest["root"]));
    }
    let mut connection = service.connect();
    for outcome in outcomes {
        let Some(answer) = &outcome.answer else { continue };
        let position = answer["ledger"]["position"].as_u64().expect("a position");
        let (entry, _) = entry_on(service, &mut connection, outcome.write.timeline, position);
        match outcome.write.kind {
            Kind::Events(_) => {
                assert_eq!(entry["action"], "record_event", "{entry}");
                let ids = answer["event_ids"].as_array().expect("ids");
                assert_eq!(Some(&entry["subject"]), ids.last(), "{entry}");
            }
            Kind::Travel(_) => assert_eq!(entry["action"], "travel", "{entry}"),
        }
    }
}

/// Fetches an entry over an open connection and verifies its inclusion.
fn entry_on(service: &Service, connection: &mut Connection, timeline: &str, position: u64) -> (Value, Value) {
    let request = Request::get(&format!("/timeline/{timeline}/proof?position={position}"));
    let proof = connection.exchange(&service.signed(request)).expect("an answer").expect(200);
    let checkpoint = ledger::verified(proof["checkpoint"].as_str().expect("a note"), &service.public_key);
    let leaf = proof["leaf"].as_str().expect("a leaf");
    let hash = ledger::leaf_hash(leaf.as_bytes());
    let siblings = ledger::hashes(&proof["hashes"]);
    assert!(ledger::includes(&hash, position, checkpoint.size, &siblings, &checkpoint.root), "{proof:#}");
    (ledger::entry(leaf), proof)
}

/// The clock is where the last acknowledged travel moved it, or where an unanswered one did.
fn check_clock(service: &Service, timeline: &str, outcomes: &[&Outcome]) {
    let travels: Vec<(&Outcome, &String)> = outcomes
        .iter()
        .filter_map(|outcome| match &outcome.write.kind {
            Kind::Travel(to) => Some((*outcome, to)),
            Kind::Events(_) => None,
        })
        .collect();
    let Some((last, _)) = travels.last() else { return };
    let clock = service.get("/v1/clock", &[("timeline_id", timeline)]);
    let acknowledged = travels.iter().rev().find(|(outcome, _)| outcome.answer.is_some());
    let mut allowed: Vec<&str> = acknowledged.iter().map(|(_, to)| to.as_str()).collect();
    if last.answer.is_none() {
        allowed.push(travels[travels.len() - 1].1);
    }
    if acknowledged.is_some() {
        let now = clock["current_time"].as_str().expect("a time");
        assert!(allowed.contains(&now), "{timeline}: {now} is none of {allowed:?}");
    }
    if let Some((outcome, _)) = acknowledged {
        let generation = outcome.answer.as_ref().and_then(|answer| answer["generation"].as_u64());
        assert!(clock["generation"].as_u64() >= generation, "{clock}");
    }
}

/// Returns how often each event name of this round is recorded.
fn names(service: &Service, timeline: &str, round: u64) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for event in service.find_all(timeline, &format!("round {round}"), "../..", "1000") {
        *names.entry(event["name"].as_str().expect("a name").to_owned()).or_default() += 1;
    }
    names
}

/// All events of an acknowledged request are recorded; of others, all or none.
fn check_events(outcome: &Outcome, stored: &BTreeMap<String, usize>) {
    let Kind::Events(names) = &outcome.write.kind else { return };
    let found = names.iter().filter(|name| stored.contains_key(*name)).count();
    if outcome.answer.is_some() {
        assert_eq!(found, names.len(), "an acknowledged write is gone: {:?}", outcome.write);
    } else {
        assert!(found == 0 || found == names.len(), "{found} of {:?}", outcome.write);
    }
}

/// An interrupted request is carried out on retry if it was not before, and otherwise replayed.
fn check_retry(service: &Service, write: &Write, stored: &BTreeMap<String, usize>) {
    let answer = service.send(write.request());
    let replayed = answer.header("idempotency-replayed").is_some();
    if let Kind::Events(names) = &write.kind {
        assert_eq!(replayed, stored.contains_key(&names[0]), "{write:?}: {answer}");
    }
    assert!(matches!(answer.status, 200 | 201), "{write:?}: {answer}");
}

/// After the retries, everything has happened once.
fn check_once(outcomes: &[&Outcome], stored: &BTreeMap<String, usize>) {
    let mut names: Vec<&String> = Vec::new();
    for outcome in outcomes {
        if let Kind::Events(of_write) = &outcome.write.kind {
            names.extend(of_write);
        }
    }
    assert_eq!(stored.len(), names.len(), "{stored:?} {names:?}");
    for name in names {
        assert_eq!(stored.get(name), Some(&1), "{name}");
    }
}
