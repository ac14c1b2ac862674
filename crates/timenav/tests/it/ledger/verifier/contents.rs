//! `examples/verify.py --contents` on entry contents and returned events: of an intact service, and of copies with
//! modified databases.

use std::path::Path;
use std::process::Command;

use data_encoding::HEXLOWER;
use rusqlite::Connection as Database;
use serde_json::{Value, json};

use super::{examples, has_python, verify_at};
use crate::ledger;
use crate::process::copy_folder;
use crate::support::service::{self, Process, Service};

const AT: &str = "2001-01-01T00:00:00Z";

fn event(name: &str) -> Value {
    json!({ "event_id": name, "time": AT, "description": format!("about {name}"), "attributes": { "x": [1.50, "é"] } })
}

/// Performs all kinds of event changes on `main` and on its fork `fork`.
fn lived_in(service: &Service) {
    let on = |timeline: &str, mut body: Value| {
        body["timeline_id"] = json!(timeline);
        body
    };
    let deed = |event_id: &str, action: &str| json!({ "event_id": event_id, "action": action, "time": AT });
    let names = ["plain", "corrected", "delayed", "cancelled", "restored", "noted", "erased"];
    service.post("/v1/events", &names.map(event).as_slice().into());
    let corrected = json!({ "event_id": "corrected", "time": AT, "description": "as it was" });
    service.post("/v1/correct-event", &json!({ "event": corrected }));
    for (event_id, action) in [
        ("delayed", "delay 2h"),
        ("cancelled", "cancel"),
        ("restored", "cancel"),
        ("restored", "restore"),
        ("noted", "look at it"),
        ("erased", "rename to something"),
    ] {
        service.post("/v1/manipulate-event", &deed(event_id, action));
    }
    let anchor = service.post("/v1/set-anchor", &json!({}))["anchor_id"].clone();
    service.post("/v1/events", &event("undone"));
    service.post("/v1/return-to-anchor", &json!({ "anchor_id": anchor, "scope": "all" }));
    service.post("/v1/encrypt-data", &json!({ "timeline_id": "main", "data": {}, "encryption_key": "a passphrase" }));
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    service.post("/v1/erase-data", &json!({ "event_id": "erased" }));
    service.post("/v1/events", &event("erased"));
    service.post("/v1/manipulate-event", &on("fork", deed("plain", "cancel")));
    service.post("/v1/manipulate-event", &on("fork", deed("cancelled", "restore")));
    service.post("/v1/manipulate-event", &on("fork", deed("delayed", "advance 1h")));
    service.post("/v1/events", &on("fork", event("own")));
}

/// Runs the script on a timeline with its public key. Returns its output.
#[track_caller]
fn check(service: &Service, url: &str, timeline: &str, api_key: &str, expected: i32) -> String {
    let key = ledger::verifier_key(&format!("timenav.local/{timeline}"), &service.public_key);
    verify_at(url, timeline, api_key, &["--contents", "--verifier-key", &key], expected)
}

#[test]
fn script_verifies_jointly_erased_events() {
    if !has_python() {
        return;
    }
    let service = Service::start();
    lived_in(&service);
    let ids = ["delayed", "cancelled", "restored", "noted"];
    service.post("/v1/erase-events", &json!({ "event_ids": ids, "include_forks": true }));
    service.get("/v1/clock", &[]);
    let request = [("timeline_id", "main"), ("time_range", "../.."), ("action", "read")];
    let read = service.get("/v1/access-logs", &request)["logs"][0].clone();
    let reads = json!({ "timeline_id": "main", "position": read["position"], "reads": [read["index"]] });
    service.post("/v1/erase-reads", &reads);
    service.post("/v1/events", &event("noted"));
    for (timeline, events) in [("main", 4), ("fork", 2)] {
        let output = check(&service, &service.url(), timeline, &service.admin, 0);
        let expected = format!("\nevents      monitor-events answers the {events} events that stand after entry ");
        assert!(output.contains(&expected), "{output}");
    }
    service.audit();
}

#[test]
fn script_verifies_entry_contents() {
    if !has_python() {
        return;
    }
    let service = Service::start();
    lived_in(&service);
    let reader = service.user("reader");
    let lists = json!({ "timeline_id": "main", "permissions": { "read": ["reader"] } });
    service.post("/v1/set-access-control", &lists);
    for (timeline, events) in [("main", 6), ("fork", 6), ("system", 0)] {
        let output = check(&service, &service.url(), timeline, &service.admin, 0);
        let expected = format!("\nevents      monitor-events answers the {events} events that stand after entry ");
        assert!(output.contains(&expected), "{output}");
        assert!(output.ends_with(&format!("{timeline} verifies.\n")), "{output}");
        // Erased contents are listed with the erasing entry, even on a fork that inherited them.
        assert_eq!(output.contains("(record_event), erased by entry 22\n"), timeline != "system", "{output}");
        assert!(!output.contains("may not see"), "{output}");
    }
    // A reader is told which contents are hidden, and how many.
    let output = check(&service, &service.url(), "main", &reader, 0);
    let hidden = "\nNOT CHECKED what this API key may not see: 1 encrypt_data, ";
    assert!(output.contains(hidden) && output.contains(" reads, 1 set_access_control\n"), "{output}");
    assert!(output.contains("answers the 6 events that stand"), "{output}");
    // A reader of the fork but not of its parent is told so, and the fork's own entries are compared.
    let lists = json!({ "timeline_id": "fork", "permissions": { "read": ["reader"] } });
    service.post("/v1/set-access-control", &lists);
    service.post("/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": { "read": [] } }));
    let output = check(&service, &service.url(), "fork", &reader, 0);
    assert!(output.contains("\nNOT CHECKED events of main, which fork was forked from"), "{output}");
    // Nothing is reported about an unreadable ledger.
    check(&service, &service.url(), "main", &reader, 2);
    service.audit();
}

/// Selects an entry by a text in its leaf.
const ENTRY: &str = "instr(CAST(leaf AS TEXT), '\"seq\":2,') AND instr(CAST(leaf AS TEXT), '\"timeline_id\":\"main\"')";
const EDITED_PAYLOAD: &str = "payload = CAST(replace(CAST(payload AS TEXT), 'about', 'above') AS BLOB)";
const ON_MAIN: &str = "timeline = (SELECT timeline FROM events WHERE event_id = 'noted')";

/// Modifications, as statements that change a row each; the timeline; and the expected report.
#[expect(clippy::too_many_lines, reason = "a table with a row for each attack")]
fn attacks() -> Vec<(Vec<String>, &'static str, &'static str)> {
    let entry = |change: &str| format!("UPDATE entries SET {change} WHERE {ENTRY}");
    let row = |change: &str, event_id: &str| {
        format!("UPDATE events SET {change} WHERE {ON_MAIN} AND event_id = '{event_id}' AND until IS NULL")
    };
    let edited = "content = replace(content, 'about', 'above')";
    let columns = "timeline, cell, time, position, until, lat, lon, place, content";
    let copied = format!(
        "INSERT INTO events ({columns}, event_id) SELECT timeline, cell, time + 1, position, until, lat, lon, place, \
         replace(content, 'plain', 'made-up'), 'made-up' FROM events WHERE event_id = 'plain' AND content <> ''"
    );
    let payload = "WRONG       entry 2 of main: the payload hashes to ";
    vec![
        (vec![entry(EDITED_PAYLOAD)], "main", payload),
        (vec![entry("salt = zeroblob(16)")], "main", payload),
        (vec![entry("salt = x''")], "main", "WRONG       entry 2 of main: a salt has 16 bytes\n"),
        (vec![entry(EDITED_PAYLOAD), row(edited, "plain")], "main", payload),
        (vec![entry(EDITED_PAYLOAD)], "fork", payload),
        (
            vec![
                entry("salt = x'', payload = x''"),
                format!("DELETE FROM events WHERE {ON_MAIN} AND event_id = 'plain'"),
            ],
            "main",
            "WRONG       entry 2 of main (record_event): salt and payload are missing, and no entry erased them\n",
        ),
        (
            vec![row(edited, "plain")],
            "main",
            "WRONG       event plain: monitor-events answers another description than entry 2 of main says\n",
        ),
        (
            vec![row(edited, "noted")],
            "fork",
            "WRONG       event noted: monitor-events answers another description than entry 7 of main says\n",
        ),
        // An event that was erased and recorded again must have its content.
        (
            vec![row(edited, "erased")],
            "main",
            "WRONG       event erased: monitor-events answers another description than ",
        ),
        (
            vec![row("content = '{\"event_id\":\"plain\",' || substr(content, 2)", "plain")],
            "main",
            "WRONG       an object has a member twice\n",
        ),
        (
            vec![row("until = 10", "plain")],
            "main",
            "WRONG       event plain: monitor-events leaves it out, and by entry 2 of main it stands\n",
        ),
        (
            vec![format!("DELETE FROM events WHERE {ON_MAIN} AND event_id = 'plain'")],
            "main",
            "WRONG       event plain: monitor-events leaves it out, and by entry 2 of main it stands\n",
        ),
        (
            vec![format!("UPDATE events SET until = NULL WHERE {ON_MAIN} AND event_id = 'cancelled'")],
            "main",
            "WRONG       event cancelled: monitor-events answers it, and by the ledger it does not stand\n",
        ),
        (
            vec![copied],
            "main",
            "WRONG       event made-up: monitor-events answers it, and by the ledger it does not stand\n",
        ),
        (
            vec![
                row("until = 10", "delayed"),
                format!("UPDATE events SET until = NULL WHERE {ON_MAIN} AND event_id = 'delayed' AND position = 4"),
            ],
            "main",
            "WRONG       event delayed: monitor-events answers the version of entry 4 of main, and by the ledger that of \
             entry 10 of main stands\n",
        ),
    ]
}

/// Limits the retention of reads to a second and prunes some. Returns their number.
pub(crate) fn prune_some_reads(service: &mut Service) -> u64 {
    assert!(service.stop().success());
    service.arguments(&["--retention-floor-secs", "0"]);
    service.start_again();
    service.post("/v1/set-retention", &json!({ "timeline_id": "main", "reads": "1s" }));
    service.get("/v1/clock", &[]);
    loop {
        let count = service.post("/v1/prune", &json!({ "timeline_id": "main" }))["pruned"].as_u64().unwrap();
        if count > 0 {
            service.post("/v1/set-retention", &json!({ "timeline_id": "main", "reads": null }));
            return pruned(service);
        }
    }
}

/// Returns the number of contents pruned on `main`, including by the service's own sweeps.
fn pruned(service: &Service) -> u64 {
    let page = service.get("/timeline/main/entries", &[("limit", "1000")]);
    assert_eq!(page["has_more"], json!(false));
    let entries = page["entries"].as_array().unwrap().iter();
    let sweeps = entries.filter(|entry| entry["leaf"].as_str().unwrap().contains("\"sweep\""));
    let payloads = sweeps.map(|entry| serde_json::from_str::<Value>(entry["payload"].as_str().unwrap()).unwrap());
    payloads.map(|payload| payload["count"].as_u64().unwrap()).sum()
}

#[test]
fn script_reports_pruned_and_detects_removed_payloads() {
    if !has_python() {
        return;
    }
    let mut service = Service::start();
    lived_in(&service);
    let pruned = prune_some_reads(&mut service);
    let output = check(&service, &service.url(), "main", &service.admin, 0);
    assert!(output.contains(&format!("as the retention of the timeline allows: {pruned}\n")), "{output}");
    let ours = |option: &str| {
        let mut command = service::timenav();
        command.args(["verify", option, "--timeline", "main", "--url", &service.url()]);
        let (code, output, complaint) = service::run(command.env("TIMENAV_API_KEY", &service.admin), "");
        assert_eq!(code, Some(0), "{output}{complaint}");
        output
    };
    let output = ours("--contents");
    assert!(output.contains(&format!("as the retention of the timeline allows: {pruned}.")), "{output}");
    let counted = [format!(", {pruned} pruned, "), format!(", {pruned} pruned payload")];
    assert!(counted.iter().all(|counted| output.contains(counted)), "{output}");
    let output: Value = serde_json::from_str(&ours("--json")).unwrap();
    assert_eq!(output["timelines"][0]["pruned"], pruned);
    assert!(service.stop().success());
    // A read from before any retention was set.
    let empty = "DELETE FROM contents WHERE entry = (SELECT min(entry) FROM contents WHERE entry >> 40 = 2)";
    let output = after(&service, |database| execute(database, empty), "main", 1);
    assert!(output.contains("salt and payload are missing, and no entry erased them"), "{output}");
    service.start_again();
    service.audit();
}

/// Modifies the database of a copy, starts a service on it, and returns the result of the script.
fn after(service: &Service, change: impl Fn(&Database), timeline: &str, expected: i32) -> String {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    copy_folder(&service.data(), &data);
    let database = Database::open(data.join("timenav.db")).unwrap();
    change(&database);
    drop(database);
    let process = Process::start(&data, &folder.path().join("log"), &[]);
    check(service, &format!("http://{}", process.address), timeline, &service.admin, expected)
}

/// The same, but modifies the database while the service runs, because it would not start otherwise.
fn meanwhile(service: &Service, change: impl Fn(&Database), timeline: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    copy_folder(&service.data(), &data);
    let process = Process::start(&data, &folder.path().join("log"), &[]);
    change(&Database::open(data.join("timenav.db")).unwrap());
    check(service, &format!("http://{}", process.address), timeline, &service.admin, 1)
}

fn execute(database: &Database, statement: &str) {
    assert_eq!(database.execute(statement, []).expect(statement), 1, "{statement}");
}

/// Edits a payload, changes its salt, and updates the hash in its entry.
fn rewrite(database: &Database) {
    let select = format!("SELECT CAST(leaf AS TEXT), CAST(payload AS TEXT) FROM entries WHERE {ENTRY}");
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    let (leaf, payload): (String, String) = database.query_row(&select, [], row).unwrap();
    let (salt, payload) = ([7; 16], payload.replace("about", "above"));
    let was = ledger::entry(&leaf)["payload_hash"].as_str().unwrap().to_owned();
    let hash = HEXLOWER.encode(&ledger::sha256(&[&salt, payload.as_bytes()]));
    let update = format!("UPDATE entries SET leaf = ?1, salt = ?2, payload = ?3 WHERE {ENTRY}");
    let leaf = leaf.replace(&was, &hash);
    let changed = database.execute(&update, (leaf.as_bytes(), &salt[..], payload.as_bytes())).unwrap();
    assert_eq!(changed, 1);
    execute(database, &format!("UPDATE events SET content = '{payload}' WHERE {ON_MAIN} AND event_id = 'plain'"));
}

#[test]
fn script_detects_database_modifications() {
    if !has_python() {
        return;
    }
    let mut service = Service::start();
    lived_in(&service);
    assert!(service.stop().success());
    for timeline in ["main", "fork"] {
        after(&service, |_| (), timeline, 0);
    }
    for (statements, timeline, named) in attacks() {
        let change = |database: &Database| statements.iter().for_each(|statement| execute(database, statement));
        let output = after(&service, change, timeline, 1);
        assert!(output.contains(named), "{statements:?}: {output}");
        // One line for the entry, and the summary.
        assert_eq!(output.matches("WRONG").count(), 1, "{output}");
        assert!(output.ends_with(&format!("{timeline} does NOT verify, findings: 1.\n")), "{output}");
    }
    // The modified entry does not match the signed tree.
    let output = meanwhile(&service, rewrite, "main");
    assert!(output.contains("WRONG       entries 0 to ") && output.contains("are not what was signed"), "{output}");
    // For a fork, the same is reported about its parent.
    let output = meanwhile(&service, rewrite, "fork");
    assert!(
        output.contains("WRONG       entry 0 of fork: the first ") && output.contains("are not those of the fork\n"),
        "{output}"
    );
    service.start_again();
    service.audit();
}

/// Runs the script on `main` and erases an event meanwhile: after the checkpoint was verified, or after the entries
/// were read.
const ERASING: &str = r#"
import json, os, sys, urllib.request
sys.path.insert(0, sys.argv[1])
import verify
url, event_id, step = sys.argv[2:5]
original = getattr(verify, step)

def erase():
    headers = {"Authorization": f"Bearer {os.environ['TIMENAV_API_KEY']}", "Content-Type": "application/json"}
    body = json.dumps({"timeline_id": "main", "event_id": event_id}).encode()
    urllib.request.urlopen(urllib.request.Request(f"{url}/v1/erase-data", data=body, headers=headers)).read()

def verifying(*arguments):
    result = original(*arguments)
    erase()
    return result

def comparing(*arguments):
    erase()
    return original(*arguments)

setattr(verify, step, {"verify": verifying, "compare_events": comparing}[step])
sys.argv = ["verify.py", url, "main", "--contents"]
sys.exit(verify.main())
"#;

#[test]
fn erasure_during_verification_is_not_a_finding() {
    if !has_python() {
        return;
    }
    let service = Service::start();
    lived_in(&service);
    for (event_id, step, expected) in [
        ("plain", "verify", "NOT CHECKED entry 2 of main (record_event), erased by entry "),
        ("noted", "compare_events", "NOT CHECKED events that were erased while this script looked: 1\n"),
    ] {
        let mut command = Command::new("python3");
        command.args(["-B", "-c", ERASING]).arg(examples()).args([&service.url(), event_id, step]);
        command.env("TIMENAV_API_KEY", &service.admin).env("no_proxy", "*");
        let (code, stdout, stderr) = service::run(&mut command, "");
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        assert!(stdout.contains(expected), "{stdout}");
        // `plain` is no longer expected; `noted` is, and is reported separately.
        assert!(stdout.contains(&format!("answers the {} events", if step == "verify" { 5 } else { 4 })), "{stdout}");
    }
    service.audit();
}

/// Runs the content comparison of the script on the vectors of version 2. One more entry records the erasure of a read.
const VERSION_2: &str = r#"
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
import verify
vectors = json.loads(pathlib.Path(sys.argv[2]).read_text())
reads = vectors["reads"]

class Answers:
    timeline = "apollo-11"
    def __init__(self, entries):
        self.all = entries
    def entries(self, first, count):
        return self.all[first:first + count]

def entry(leaf, salt, payload):
    return {"leaf": leaf, "contents": "visible", "salt": salt, "payload": payload}

def check(salt, payload, *more):
    entries = [entry(leaf["entry"], leaf["salt"], leaf["payload"]) for leaf in vectors["leaves"]]
    entries += [entry(reads["entry"]["entry"], salt, payload), *more]
    entries = [{**one, "position": ("number", str(position))} for position, one in enumerate(entries)]
    tree, problems = verify.Tree(), []
    for one in entries:
        tree.append(verify.leaf_hash(one["leaf"].encode()))
    contents = verify.Contents(Answers(entries), [verify.read_key(vectors["key"]["verifier_key"])], problems)
    contents.read_on(verify.Checkpoint(tree.size, tree.root()))
    # What the vectors record is no event of this service.
    assert problems.pop(0).startswith("entry 2 of apollo-11: no such entry says this: KeyError")
    return problems, contents.erasures()

erasure = json.dumps({"asked_by": "ada", "position": 3, "reads": [[1, 1]]}, separators=(",", ":"))
hashed = verify.hashlib.sha256(bytes(16) + erasure.encode()).hexdigest()
told = {**json.loads(reads["entry"]["entry"]), "action": "erase_reads", "actor": "ada", "payload_hash": hashed, "seq": 4}
told = entry(verify.canonical(told).decode(), "00" * 16, erasure)
for found in (
    check(reads["salt"], reads["payload"]),
    check("", reads["without_read_1"]),
    check("", reads["without_read_1"], told),
    check("00" * 16, reads["payload"]),
    check("", reads["without_read_1"].replace("zo", "zu")),
):
    print(json.dumps(found))
"#;

#[test]
fn version_2_reads_verify_with_and_without_erasures() {
    if !has_python() {
        return;
    }
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/ledger-format-v2.json");
    let mut command = Command::new("python3");
    command.args(["-B", "-c", VERSION_2]).arg(examples()).arg(vectors);
    let (code, stdout, stderr) = service::run(&mut command, "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let all: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [whole, unnamed, named, salted, edited] = &all[..] else { panic!("{stdout}") };
    assert_eq!(*whole, json!([[], []]));
    let what = "entry 3 of apollo-11 (some reads of reads)";
    assert_eq!(*unnamed, json!([[], [[what, null]]]));
    assert_eq!(*named, json!([[], [[what, 4]]]));
    for wrong in [salted, edited] {
        let problem = wrong[0][0].as_str().unwrap();
        assert!(problem.starts_with("entry 3 of apollo-11: the payload hashes to "), "{problem}");
    }
}
