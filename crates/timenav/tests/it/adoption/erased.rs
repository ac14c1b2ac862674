//! A fork that came from another service, which erased something of its layer after the fork: both programs check the
//! bundle that goes on from here, and what this service keeps.

use serde_json::{Value, json};

use super::{adopt, bundle};
use crate::bundles::{Away, event, key_of};
use crate::service::{Service, run, timenav};

const NAME: &str = "what-if";
/// The numbers of a layer and of its entries in the key of an entry.
const OF_LAYER: &str = "entry >> 40 = (SELECT timeline FROM ended_timelines WHERE timeline_id = 'what-if/base')";

/// Changes the payload of the first entry of an action among some lines, without any hash over it.
fn with_payload(lines: &[Value], action: &str, change: impl Fn(&str) -> String) -> Vec<Value> {
    let mut lines = lines.to_vec();
    let is_it = |line: &&mut Value| line["entry"]["leaf"].as_str().is_some_and(|leaf| leaf.contains(action));
    let entry = lines.iter_mut().find(is_it).unwrap();
    entry["entry"]["payload"] = change(entry["entry"]["payload"].as_str().unwrap()).into();
    lines
}

#[test]
fn both_programs_follow_what_was_erased_elsewhere_and_nothing_more() {
    let (there, here, third) = (Service::start(), Service::start(), Service::start());
    let away = Away::new();
    for name in ["erase-me", "keep-me"] {
        event(&there, "base", name);
    }
    there.post("/timelines", &json!({ "timeline_id": NAME, "fork_of": "base" }));
    event(&there, NAME, "own");
    there.post("/v1/erase-data", &json!({ "timeline_id": "base", "event_id": "erase-me" }));
    away.export(&there, NAME, "first");
    adopt(&here, &key_of(&there, NAME), &bundle(&away, "first")).expect(201);

    let lines = away.export(&here, NAME, "second");
    assert_eq!(lines[0]["bundle"]["format"], "timenav-bundle/v2");
    let is_told = |line: &&Value| line["entry"]["leaf"].as_str().is_some_and(|leaf| leaf.contains("\"layer_erased\""));
    assert_eq!(lines.iter().filter(is_told).count(), 1);
    let key = key_of(&here, NAME);
    let (verifies, said) = away.verify("second", &key, &[]);
    assert!(verifies, "{said:?}");
    // It goes on from there too.
    adopt(&third, &key, &bundle(&away, "second")).expect(201);
    away.export(&third, NAME, "third");
    assert!(away.verify("third", &key_of(&third, NAME), &[]).0);

    // The quote explains what the other service erased, in its own words, and nothing else.
    let keep = with_payload(&lines, "\"keep-me\"", |_| String::new());
    let quoted = with_payload(&lines, "\"layer_erased\"", |payload| payload.replace("erase-me", "erase-it"));
    let gone = with_payload(&lines, "\"layer_erased\"", |_| String::new());
    let older: Vec<Value> = lines
        .iter()
        .cloned()
        .map(|mut line| {
            if line.get("bundle").is_some() {
                line["bundle"]["format"] = "timenav-bundle/v1".into();
            }
            line
        })
        .collect();
    for (name, changed) in [("keep", &keep), ("quoted", &quoted), ("gone", &gone), ("older", &older)] {
        away.write(name, &changed.iter().collect::<Vec<_>>());
        let (verifies, said) = away.verify(name, &key, &[]);
        assert!(!verifies, "{name}: {said:?}");
    }

    // What this service keeps is compared in the same way.
    let mut here = here;
    assert!(here.stop().success());
    let verify = |here: &Service| {
        let mut command = timenav();
        command.arg("verify").arg("--data").arg(here.data()).args(["--timeline", NAME]);
        let (code, stdout, stderr) = run(&mut command, "");
        (code, stdout + &stderr)
    };
    let (code, said) = verify(&here);
    assert_eq!(code, Some(0), "{said}");
    let database = rusqlite::Connection::open(here.data().join("timenav.db")).unwrap();
    let select = format!("SELECT entry, payload, salt FROM entries WHERE {OF_LAYER} AND payload LIKE '%keep-me%'");
    let (entry, payload, salt): (i64, Vec<u8>, Vec<u8>) =
        database.query_row(&select, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let put = "UPDATE entries SET payload = ?2, salt = ?3 WHERE entry = ?1";
    assert_eq!(database.execute(put, (entry, Vec::new(), Vec::new())).unwrap(), 1);
    let (code, said) = verify(&here);
    assert!(code == Some(7) && said.contains("payload-mismatch"), "{code:?}: {said}");
    assert_eq!(database.execute(put, (entry, payload, salt)).unwrap(), 1);
    here.start_again();
    for service in [there, here, third] {
        service.audit();
    }
}
