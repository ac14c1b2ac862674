//! Commands for rarely used operations, and `api` for all.

use serde_json::{Value, json};

use super::{answered, check_output, done, line_command, rejected};
use crate::support::service::{Service, fails, run};

#[test]
fn access_commands_show_and_set_permissions() {
    let service = Service::start();
    let ada = service.user("ada");
    done(&service, "timeline create billing");
    let billing = "--timeline billing";
    check_output(&service, "cli-access-set", &format!("access set --read ada --write '' {billing}"));
    check_output(&service, "cli-access-show", &format!("access show {billing}"));
    let permissions = &service.get("/v1/access-control", &[("timeline_id", "billing")])["permissions"];
    assert_eq!(permissions, &json!({ "read": ["ada"], "write": [], "admin": ["admin"] }));
    // This user may not see the timeline.
    fails(line_command(&service, "access show").env("TIMENAV_API_KEY", &ada), 5, "");
    let log = answered(&service, &format!("access log --user admin --newest-first {billing}"));
    let actions: Vec<&Value> = log["logs"].as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
    assert!(actions.contains(&&json!("set_access_control")), "{actions:?}");
    let text = done(&service, &format!("access log --action set_access_control {billing}"));
    assert_eq!(text.lines().count(), 2, "{text}");
    rejected(&service, "access set", 2);
    service.audit();
}

#[test]
fn access_grant_gives_one_user_an_expiring_role() {
    let service = Service::start();
    done(&service, "timeline create billing");
    let billing = "--timeline billing";
    done(&service, &format!("access set --read ada {billing}"));
    done(&service, &format!("access grant bob --role write --expires-in P7D {billing}"));
    let grant = format!("access grant ada --role read --expires-at 2100-01-01T00:00:00Z {billing}");
    done(&service, &grant);
    let permissions = &service.get("/v1/access-control", &[("timeline_id", "billing")])["permissions"];
    assert_eq!((&permissions["read"], &permissions["write"]), (&json!(["ada"]), &json!(["bob"])));
    assert_eq!(permissions["expires_at"]["read"], json!({ "ada": "2100-01-01T00:00:00Z" }));
    assert!(permissions["expires_at"]["write"]["bob"].is_string());
    let text = done(&service, &format!("access show {billing}"));
    assert!(text.contains("ada (until 2100-01-01T00:00:00Z)") && text.contains("bob (until 20"), "{text}");
    rejected(&service, &format!("{grant} --expires-in 1h"), 2);
    done(&service, &format!("access grant bob --role write {billing}"));
    let permissions = &service.get("/v1/access-control", &[("timeline_id", "billing")])["permissions"];
    assert!(permissions["expires_at"]["write"].is_null(), "{permissions}");
    service.audit();
}

#[test]
fn data_commands_encrypt_decrypt_and_erase() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (secret, key) = (path("secret.json", "{\"plan\": \"B\"}"), path("key", "open sesame, twice\n"));
    let sealed = answered(&service, &format!("data encrypt {secret} --key-file {key}"));
    let id = sealed["data_id"].as_str().unwrap();
    assert_eq!(done(&service, &format!("data decrypt {id} --key-file {key}")), "{\n  \"plan\": \"B\"\n}\n");
    let text = done(&service, &format!("data encrypt {secret} --key-file {key}"));
    assert!(text.starts_with("The data is sealed; only its key opens it.\ndata        data_"), "{text}");
    let wrong = path("wrong", "close sesame, twice\n");
    rejected(&service, &format!("data decrypt {id} --key-file {wrong}"), 4);
    // Without a terminal there is no prompt.
    let (code, _, stderr) = run(&mut line_command(&service, &format!("data decrypt {id}")), "open sesame, twice\n");
    assert!(code == Some(1) && stderr.contains("--key-file"), "{stderr}");
    assert!(done(&service, &format!("data erase {id}")).contains("erased"));
    rejected(&service, &format!("data decrypt {id} --key-file {key}"), 5);
    done(&service, "events add --id a --time 2000-01-01T00:00:00Z --name gone");
    done(&service, "data erase --event a");
    assert!(!done(&service, "events find").contains("gone"));
    service.audit();
}

#[test]
fn paradoxes_scan_and_check_commands_print_expected_output() {
    let service = Service::start();
    done(&service, "clock pause");
    done(&service, "clock travel 2005-08-30T00:00:00Z");
    done(&service, "events add --id storm --time 2005-08-29T06:00:00Z --name Landfall");
    check_output(&service, "cli-paradoxes-none", "paradoxes");
    done(&service, "events add --id flood --time 2005-08-29T05:00:00Z --cause storm");
    check_output(&service, "cli-paradoxes", "paradoxes");
    assert_eq!(answered(&service, "paradoxes --kinds P02")["paradoxes"], json!([]));
    check_output(&service, "cli-events-scan", "events scan");
    assert_eq!(done(&service, "events scan --limit 1 --all").lines().count(), 3);
    check_output(&service, "cli-events-check", "events check flood");
    check_output(&service, "cli-events-check-none", "events check drought");
    check_output(&service, "cli-timeline-show", "timeline show");
    service.audit();
}

#[test]
fn user_commands_restrict_users_and_end_sessions() {
    let service = Service::start();
    service.user("ada");
    service.set_password("ada", "a long and lonely password");
    let cookie = service.log_in("ada", "a long and lonely password");
    assert!(!cookie.is_empty());
    check_output(&service, "cli-user-restrict", "user restrict ada read_only");
    check_output(&service, "cli-user-restrictions", "user restrictions");
    let sessions = answered(&service, "user sessions ada");
    let id = sessions["sessions"][0]["session_id"].as_str().unwrap();
    assert!(done(&service, "user sessions ada").contains(id));
    done(&service, &format!("user end-session {id}"));
    assert_eq!(answered(&service, "user sessions ada")["sessions"], json!([]));
    assert!(done(&service, "limits").contains("page_items_max"));
    service.audit();
}

#[test]
fn api_command_sends_any_request() {
    let service = Service::start();
    done(&service, "clock pause");
    let sent = |line: &str, input: &str| {
        let (code, stdout, stderr) = run(&mut line_command(&service, &format!("api {line}")), input);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{line}: {stdout}");
        stdout
    };
    let clock: Value = serde_json::from_str(&sent("get /v1/clock?timeline_id=main", "")).unwrap();
    assert_eq!(clock, service.get("/v1/clock", &[]));
    let travel = "{\"destination_time\": \"2028-02-28T23:59:00Z\"}";
    let traveled = sent(&format!("POST /v1/travel -d '{travel}'"), "");
    assert!(traveled.contains("\"status\": \"Traveled to 2028-02-28T23:59:00Z"), "{traveled}");
    assert!(sent("POST /v1/travel -d -", travel).contains("Traveled"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.csv");
    std::fs::write(&file, "time,name\n1969-07-20T20:17:40Z,Landing\n").unwrap();
    let import = format!("POST /v1/import-events -H 'Content-Type: text/csv' --body @{}", file.display());
    let import = sent(&import, "");
    assert!(import.contains("\"imported\": 1"), "{import}");
    let found = sent("QUERY /v1/monitor-events -d '{\"location\": \"*\", \"time_range\": \"../..\"}'", "");
    assert!(found.contains("Landing"), "{found}");
    // Output other than JSON is printed unchanged.
    assert!(sent("GET /v1/export-events?format=csv", "").contains("1969-07-20T20:17:40Z"));
    assert!(sent("GET /metrics", "").contains("timenav_"));
    rejected(&service, "api GET /v1/nothing", 5);
    rejected(&service, "api /v1/clock", 2);
    rejected(&service, "api POST /v1/set-rate -d '{\"rate\": 2}' -H 'If-Match: \"999\"'", 1);
    service.audit();
}
