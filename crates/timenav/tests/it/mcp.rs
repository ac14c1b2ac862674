//! `timenav mcp`: the operations as tools for agents, with the Model Context Protocol.

mod hostile;
mod scope;
mod session;
mod waiting;

use serde_json::{Value, json};

use crate::support::service::Service;
use crate::support::waiting::try_until;
use session::Agent;

/// Returns a service whose clock is paused at the start of a year.
fn at_new_year() -> Service {
    let service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    service.post("/v1/travel", &json!({ "destination_time": "2027-01-01T00:00:00Z" }));
    service
}

#[test]
fn session_initializes_lists_tools_and_calls_them() {
    let service = at_new_year();
    let mut agent = Agent::unbegun(&service, &["--allow", "write,travel"]);
    let begun = agent.begin("2025-06-18");
    assert_eq!((&begun["protocolVersion"], &begun["serverInfo"]["name"]), (&json!("2025-06-18"), &json!("timenav")));
    assert!(begun["instructions"].as_str().unwrap().contains("Tools work on the timeline of your key"));
    assert_eq!(begun["capabilities"], json!({ "tools": {} }));
    let clock = agent.done("clock", &json!({}));
    assert_eq!(clock, service.get("/v1/clock", &[]));
    // A result contains the response twice: structured, and as text for older clients.
    let result = agent.call("clock", &json!({}));
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&text, &result["isError"]), (&result["structuredContent"], &json!(false)));
    let event = json!({ "event_id": "launch", "time": "2027-02-01T00:00:00Z", "attributes": { "stage": 2 } });
    let recorded = agent.done("record_events", &json!({ "items": [event] }));
    assert_eq!(recorded["event_ids"], json!(["launch"]));
    let found = json!({ "location": "*", "time_range": "../..", "attribute": { "stage": "2" }, "limit": 5 });
    assert_eq!(agent.done("monitor_events", &found)["events"][0]["event_id"], "launch");
    assert_eq!(agent.done("event", &json!({ "event_id": "launch" }))["event_id"], "launch");
    let moved = agent.done("fast_forward", &json!({ "duration": "1h" }));
    assert_eq!(moved["current_time"], "2027-01-01T01:00:00Z");
    let timer = json!({ "timer_id": "renew", "at": "2027-01-31T09:00:00Z", "payload": { "invoice": 42 } });
    assert_eq!(agent.done("set_timer", &timer)["timer"]["next"], "2027-01-31T09:00:00Z");
    assert_eq!(agent.done("cancel_timer", &json!({ "timer_id": "renew" }))["timer"]["state"], "cancelled");
    agent.ended();
    service.audit();
}

/// The revision without `initialize`: each request states its protocol version.
#[test]
fn stateless_requests_work_without_initialize() {
    let service = at_new_year();
    let mut agent = Agent::unbegun(&service, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let response = agent.ask("server/discover", &json!({ "_meta": meta }));
    assert!(response["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{response}");
    let called = agent.ask("tools/call", &json!({ "name": "clock", "arguments": {}, "_meta": meta }));
    assert_eq!(called["result"]["structuredContent"]["current_time"], "2027-01-01T00:00:00Z", "{called}");
    agent.ended();
    service.audit();
}

#[test]
fn tool_errors_suggest_the_correction() {
    let service = at_new_year();
    let mut agent = Agent::begun(&service, &["--allow", "write,travel"]);
    for (tool, arguments, expected) in [
        ("travel", json!({ "destination_time": "2028-02-29" }), &["destination_time: ", "(invalid_parameter)"][..]),
        ("travel", json!({}), &["`destination_time` is missing", "(missing_parameter)"]),
        (
            "travel",
            json!({ "destination_tme": "x" }),
            &["no argument `destination_tme`; did you mean `destination_time`?"],
        ),
        ("event", json!({ "event_id": "none" }), &["(not_found)"]),
        ("event", json!({ "event_id": ".." }), &["`event_id` is a name"]),
        ("pause_time", json!({ "timeline_id": "slip" }), &["(not_found)", "`create_timeline` creates a timeline"]),
        (
            "monitor_events",
            json!({ "location": ["a", {}], "time_range": "../.." }),
            &["`location` has values that are not strings"],
        ),
        ("wait_for", json!({}), &["give one or more things to wait for", "(missing_parameter)"]),
        ("wait_for", json!({ "until": "soon" }), &["until: ", "(invalid_parameter)"]),
        (
            "wait_for",
            json!({ "until": "2027-02-01T00:00:00Z", "timeout": "11m" }),
            &["timeout: ", "the maximum wait is 600s"],
        ),
        ("wait_for", json!({ "evnt": {} }), &["unknown field `evnt`"]),
        ("wait_for", json!({ "timer_id": "none" }), &["(not_found)"]),
        ("elapse", json!({}), &["give `duration`, such as `20m`"]),
        ("elapse", json!({ "duration": "-1h" }), &["duration: "]),
        ("elapse", json!({ "measured": true, "factor": 0 }), &["`factor` must be more than 0"]),
    ] {
        let text = agent.refused(tool, &arguments);
        for piece in expected {
            assert!(text.contains(piece), "{tool} {arguments}: {text}");
        }
    }
    // The same as structured data, unchanged.
    let result = agent.call("travel", &json!({ "destination_time": "2028-02-29" }));
    let problem: Value = serde_json::from_str(result["content"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&problem["code"], &problem["http_status"]), (&json!("invalid_parameter"), &json!(400)));
    assert_eq!(problem["errors"][0]["pointer"], "#/destination_time");
    assert!(result["structuredContent"].is_null() && problem["exit_code"].is_null());
    agent.ended();
    service.audit();
}

#[test]
fn long_tool_results_are_paged() {
    let service = at_new_year();
    let text = "x".repeat(10_000);
    let events: Vec<Value> = (0..40)
        .map(|n| json!({ "event_id": format!("e{n:02}"), "time": "2027-01-01T00:00:00Z", "description": text }))
        .collect();
    for some in events.chunks(20) {
        service.post("/v1/events", &json!(some));
    }
    let mut agent = Agent::begun(&service, &[]);
    let mut arguments = json!({ "location": "*", "time_range": "../.." });
    let mut found = Vec::new();
    loop {
        let result = agent.call("monitor_events", &arguments);
        let page = &result["structuredContent"];
        found.extend(page["events"].as_array().unwrap().iter().map(|event| event["event_id"].clone()));
        // Twenty would exceed the response limit, so the page is shorter and its cursor continues after it.
        assert!(
            page.to_string().len() < 128 * 1024 && page["events"].as_array().unwrap().len() <= 10,
            "{}",
            found.len()
        );
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        assert!(result["content"][1]["text"].as_str().unwrap().contains(cursor));
        arguments["cursor"] = cursor.into();
    }
    assert_eq!(found, (0..40).map(|n| json!(format!("e{n:02}"))).collect::<Vec<_>>());
    agent.ended();
    service.audit();
}

#[test]
fn canceled_claim_call_takes_no_firing() {
    let service = at_new_year();
    let mut agent = Agent::begun(&service, &["--allow", "write"]);
    let call = json!({ "queue": "q", "wait": "60s" });
    let waits = agent
        .sent("tools/call", &json!({ "name": "claim_firings", "arguments": call, "_meta": { "progressToken": "p" } }));
    // Other calls continue meanwhile.
    assert_eq!(agent.done("clock", &json!({}))["state"], "paused");
    let progress = agent.notified("notifications/progress")["params"].clone();
    assert_eq!((&progress["progressToken"], &progress["progress"]), (&json!("p"), &json!(1.0)));
    let connections = service.metric("timenav_connections");
    agent.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": waits } }));
    // A firing that is due before the service has noticed the disconnect may still go to the canceled call.
    try_until(|| (service.metric("timenav_connections") < connections).then_some(())).expect("a connection ends");
    service.post(
        "/v1/timers",
        &json!({ "timer_id": "t", "at": "2026-12-31T00:00:00Z", "deliver": { "to": "queue", "queue": "q" } }),
    );
    // Only this caller holds the firing.
    let claimed = agent.done("claim_firings", &json!({ "queue": "q", "wait": "30s" }));
    assert_eq!(claimed["firings"][0]["timer_id"], "t");
    assert!(!agent.is_answered(&waits));
    agent.ended();
    service.audit();
}

#[test]
fn api_key_never_appears_in_mcp_output() {
    let service = at_new_year();
    let mut agent = Agent::begun(&service, &["--allow", "all"]);
    for tool in ["session", "api_keys", "users", "limits", "access_logs", "timelines"] {
        agent.call(tool, &json!({}));
    }
    let (output, stderr) = agent.ended();
    assert!(output.len() > 1_000 && !output.contains(&service.admin) && !stderr.contains(&service.admin), "{stderr}");
    service.audit();
}

#[test]
fn unreachable_service_is_a_tool_error_not_session_end() {
    let mut service = at_new_year();
    let mut agent = Agent::begun(&service, &[]);
    let address = service.address().to_string();
    service.stop();
    assert!(agent.refused("clock", &json!({})).contains("cannot reach the service"));
    service.arguments(&["--listen", &address]);
    service.start_again();
    assert_eq!(agent.done("clock", &json!({}))["state"], "paused");
    agent.ended();
    service.audit();
}
