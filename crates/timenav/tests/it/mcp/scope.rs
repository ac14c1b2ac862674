//! The tools of an agent are exactly what it may call.

use serde_json::json;

use super::at_new_year;
use super::session::Agent;
use crate::cli::command;
use crate::support::service::{Service, run};

#[test]
fn agent_is_read_only_by_default() {
    let service = at_new_year();
    let mut agent = Agent::begun(&service, &[]);
    let (names, tools) = agent.tools();
    assert!(names.contains(&"monitor_events".to_owned()) && names.contains(&"wait_for".to_owned()), "{names:?}");
    for tool in &tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
    }
    let waits = tools.iter().find(|tool| tool["name"] == "wait_for").unwrap();
    assert!(
        waits["inputSchema"]["properties"]["advance"].is_null()
            && waits["inputSchema"]["properties"]["queue"].is_null()
    );
    for (tool, flag) in
        [("travel", "--allow travel"), ("record_events", "--allow write"), ("erase_events", "--allow all")]
    {
        assert!(!names.contains(&tool.to_owned()), "{tool}");
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
    let (names, tools) = agent.tools();
    for tool in &tools {
        assert!(tool["inputSchema"]["properties"]["timeline_id"].is_null(), "{tool}");
    }
    for name in ["timelines", "create_timeline", "timelines_diff", "users"] {
        assert!(!names.contains(&name.to_owned()), "{name}");
    }
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
    command.env("TIMENAV_API_KEY", &reader);
    let call = |id: u8, tool: &str| {
        let params = format!(r#"{{"name":"{tool}","arguments":{{}}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    let about = r#""capabilities":{},"clientInfo":{"name":"t","version":"1"}"#;
    let begin = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-06-18",{about}}}}}"#
    );
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned();
    let lines = [begin, initialized, call(2, "clock"), call(3, "pause_time"), String::new()];
    // Requests before the end of stdin are answered.
    let (code, stdout, stderr) = run(&mut command, &lines.join("\n"));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let answer = |id: u8| {
        let mut messages = stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        messages.find(|message| message["id"] == id).unwrap_or_else(|| panic!("{id} is not answered: {stdout}"))
    };
    assert_eq!(answer(2)["result"]["isError"], false);
    let refused = answer(3);
    assert!(refused["result"]["content"][0]["text"].as_str().unwrap().contains("(permission_denied)"), "{refused}");
    service.audit();
}

#[test]
fn session_without_api_key_is_rejected() {
    let service = Service::start();
    let mut command = command(&service, &["mcp"]);
    command.env("TIMENAV_API_KEY", "");
    let (code, stdout, stderr) = run(&mut command, "");
    assert!(code == Some(4) && stdout.is_empty() && stderr.contains("TIMENAV_API_KEY"), "{stderr}");
    service.audit();
}
