//! Certificates of what a key with a horizon has seen: made by the command line, and checked by two programs that share
//! no code.

use serde_json::{Value, json};

use crate::bundles::{Away, event, key_of};
use crate::cli::command;
use crate::http::{Request, target};
use crate::service::{Service, run};

const TIMELINE: &str = "trial";

type Edit = fn(&mut Value);

/// Makes a key with a horizon, reads with it, and returns its id.
fn read_with_a_key(service: &Service) -> String {
    event(service, TIMELINE, "one");
    let body = json!({ "timeline_id": TIMELINE, "horizon": "clock", "known_at": 1 });
    let made = service.post("/v1/api-keys", &body);
    let key = made["api_key"].as_str().unwrap();
    // Somebody else reads in between, and in the same entries.
    for path in ["/v1/clock", "/v1/events/one"] {
        service.send(Request::get(path).key(key)).expect(200);
        service.send(Request::get(&target("/v1/clock", &[("timeline_id", TIMELINE)]))).expect(200);
    }
    // Such parameters are not kept whole.
    let long =
        [("location", "*"), ("time_range", "../.."), ("text", &"word ".repeat(30)), ("source", &"s".repeat(300))];
    service.send(Request::get(&target("/v1/monitor-events", &long)).key(key)).expect(200);
    service.send(Request::get("/v1/stream").key(key)).refused(403, "beyond_horizon");
    made["key_id"].as_str().unwrap().to_owned()
}

fn certify(service: &Service, away: &Away, key_id: &str, more: &[&str]) -> (Option<i32>, String) {
    let file = away.path("certificate");
    let arguments = [&["key", "certify", key_id, "--save", file.to_str().unwrap()][..], more].concat();
    let (code, stdout, stderr) = run(&mut command(service, &arguments), "");
    (code, stdout + &stderr)
}

#[test]
fn a_certificate_is_saved_and_two_programs_verify_it() {
    let service = Service::start();
    let away = Away::new();
    let key_id = read_with_a_key(&service);
    let (code, said) = certify(&service, &away, &key_id, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("The key read 3 times in the entries from 0 to "), "{said}");
    for line in
        ["known at         1\n", "refusals         1\n", "latest position  1\n", "not certified: What the reader knew"]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
    let key = key_of(&service, TIMELINE);
    let (verifies, [ours, theirs]) = away.verify("certificate", &key, &[]);
    assert!(verifies, "{ours}{theirs}");
    assert!(ours.contains("  reads: 3, of these streams: 0; refusals: 1\n"), "{ours}");
    assert!(ours.contains("  not checked: whether a read of the key was left out"), "{ours}");
    assert!(theirs.is_empty() || theirs.contains("reads       3 in entries 0 to "), "{theirs}");
    let mut told = crate::service::timenav();
    told.arg("verify").arg(away.path("certificate")).args(["--verifier-key", &key, "--json"]);
    let (code, stdout, _) = run(&mut told, "");
    let told: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (code, &told["verifies"], &told["reads"], &told["known_at"]),
        (Some(0), &json!(true), &json!(3), &json!(1))
    );
    // Of another ledger's key it is nothing.
    let (verifies, said) = away.verify("certificate", &key_of(&service, "main"), &[]);
    assert!(!verifies, "{said:?}");
    let (code, said) = certify(&service, &away, "key_none", &[]);
    assert_eq!(code, Some(5), "{said}");
    service.audit();
}

#[test]
fn two_programs_find_what_was_changed_in_a_certificate() {
    let service = Service::start();
    let away = Away::new();
    let key_id = read_with_a_key(&service);
    let (code, said) = certify(&service, &away, &key_id, &["--json"]);
    assert_eq!(code, Some(0), "{said}");
    let whole: Value = serde_json::from_str(&said).unwrap();
    let key = key_of(&service, TIMELINE);
    let edits: [(&str, Edit); 9] = [
        ("a read is left out", |told| _ = told["entries"][0]["reads"].as_array_mut().unwrap().pop()),
        ("an entry is left out", |told| _ = told["entries"].as_array_mut().unwrap().remove(0)),
        ("an entry is there twice", |told| {
            let entry = told["entries"][0].clone();
            told["entries"].as_array_mut().unwrap().insert(0, entry);
        }),
        ("a read is another", |told| told["entries"][0]["reads"][0]["read"]["action"] = json!("event")),
        ("a salt is another", |told| told["entries"][0]["reads"][0]["salt"] = json!("00".repeat(16))),
        ("an entry is elsewhere", |told| {
            let position = told["entries"][0]["position"].as_u64().unwrap();
            told["entries"][0]["position"] = json!(position + 1);
        }),
        ("a hash is left out", |told| _ = told["entries"][0]["hashes"].as_array_mut().unwrap().pop()),
        ("the text is another", |told| {
            let text = told["certificate"].as_str().unwrap().replace("refusals 1", "refusals 0");
            told["certificate"] = json!(text);
        }),
        ("the checkpoint is no certificate", |told| told["certificate"] = told["checkpoint"].clone()),
    ];
    for (what, edit) in edits {
        let mut edited = whole.clone();
        edit(&mut edited);
        assert_ne!(edited, whole, "{what}");
        std::fs::write(away.path("edited"), edited.to_string()).unwrap();
        let (verifies, said) = away.verify("edited", &key, &[]);
        assert!(!verifies && said[0].contains("does not verify"), "{what}: {said:?}");
    }
    // It may be written otherwise.
    std::fs::write(away.path("edited"), whole.to_string()).unwrap();
    let (verifies, said) = away.verify("edited", &key, &[]);
    assert!(verifies, "{said:?}");
    service.audit();
}
