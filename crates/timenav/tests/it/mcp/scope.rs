//! An agent calls exactly what it may. Which tools are listed is tested without a process.

use serde_json::json;

use super::at_new_year;
use super::session::Agent;
use crate::cli::command;
use crate::support::service::{Service, fails};

#[test]
fn agent_is_read_only_by_default() {
    let service = at_new_year();
    let mut agent = Agent::begun(&service, &[]);
    let tools = agent.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone();
    let waits = tools.iter().find(|tool| tool["name"] == "wait_for").unwrap();
    let properties = &waits["inputSchema"]["properties"];
    assert!(properties["advance"].is_null() && properties["queue"].is_null(), "{waits}");
    for (tool, flag) in
        [("travel", "--allow travel"), ("record_events", "--allow write"), ("erase_events", "--allow all")]
    {
        let answer = agent.ask("tools/call", &json!({ "name": tool, "arguments": {} }));
        assert_eq!(answer["error"]["code"], -32602);
        assert!(answer["error"]["message"].as_str().unwrap().contains(flag), "{answer}");
    }
    for (arguments, flag) in [
        (json!({ "queue": "q" }), "--allow write"),
        (json!({ "until": "2027-02-01T00:00:00Z", "advance": true }), "--allow travel"),
    ] {
        assert!(agent.refused("wait_for", &arguments).contains(flag), "{arguments}");
    }
    agent.ended();
    // Nothing has changed, and the reads are in the log as usual.
    assert_eq!(service.get("/v1/clock", &[])["generation"], 2);
    service.audit();
}

#[test]
fn agent_bound_to_timeline_cannot_reach_others() {
    let service = Service::start();
    for timeline in ["mine", "other"] {
        service.post("/timelines", &json!({ "timeline_id": timeline }));
        service.post("/v1/pause-time", &json!({ "timeline_id": timeline }));
    }
    service.post("/v1/events", &json!([{ "event_id": "secret", "time": "2027-01-01T00:00:00Z" }]));
    let mut agent = Agent::begun(&service, &["--allow", "all", "--timeline", "mine"]);
    assert_eq!(agent.done("clock", &json!({}))["timeline_id"], "mine");
    assert_eq!(agent.done("timeline", &json!({}))["timeline_id"], "mine");
    let recorded = agent.done("record_events", &json!({ "items": [{ "time": "2027-01-01T00:00:00Z" }] }));
    assert_eq!(recorded["timeline_id"], "mine");
    assert_eq!(agent.done("elapse", &json!({ "duration": "1h" }))["timeline_id"], "mine");
    for (tool, arguments) in [
        ("clock", json!({ "timeline_id": "other" })),
        ("timeline", json!({ "timeline_id": "other" })),
        ("travel", json!({ "timeline_id": "other", "destination_time": "2027-01-01T00:00:00Z" })),
        ("wait_for", json!({ "timeline_id": "other", "until": "2027-01-01T00:00:00Z" })),
        ("elapse", json!({ "timeline_id": "other", "duration": "1h" })),
    ] {
        let text = agent.refused(tool, &arguments);
        assert!(text.contains("uses only the timeline `mine`"), "{tool}: {text}");
    }
    assert!(agent.refused("event", &json!({ "event_id": "secret" })).contains("(not_found)"));
    assert!(agent.refused("erase_events", &json!({ "include_forks": true })).contains("there is no argument"));
    agent.ended();
    service.audit();
}

/// The flags are an upper bound: the key decides first.
#[test]
fn read_only_key_cannot_write_despite_allow_all() {
    let service = at_new_year();
    let reader = service.user("reader");
    service.post("/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": { "read": ["reader"] } }));
    let mut command = command(&service, &["mcp", "--allow", "all"]);
    let mut agent = Agent::spawn(command.env("TIMENAV_API_KEY", &reader));
    agent.begin("2025-06-18");
    assert_eq!(agent.done("clock", &json!({}))["timeline_id"], "main");
    assert!(agent.refused("pause_time", &json!({})).contains("(permission_denied)"));
    agent.ended();
    service.audit();
}

#[test]
fn session_without_api_key_is_rejected() {
    let service = Service::start();
    fails(command(&service, &["mcp"]).env("TIMENAV_API_KEY", ""), 4, "TIMENAV_API_KEY");
    service.audit();
}
