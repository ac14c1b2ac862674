//! Peers that do not speak the protocol.

use serde_json::json;

use super::at_new_year;
use super::session::Agent;
use crate::cli::command;
use crate::support::service::run;

#[test]
fn malformed_messages_do_not_end_the_session() {
    let service = at_new_year();
    let mut agent = Agent::begun(&service, &[]);
    for garbage in [
        &b"\n"[..],
        b"not json\n",
        b"{\n",
        b"\xff\xfe\x00\n",
        b"[]\n",
        b"[1,2,3]\n",
        b"null\n",
        b"{}\n",
        b"{\"jsonrpc\":\"2.0\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"tools/list\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":4711}}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nothing\"}\n",
    ] {
        agent.write_bytes(garbage);
        assert_eq!(agent.done("clock", &json!({}))["state"], "paused", "{}", String::from_utf8_lossy(garbage));
    }
    // Nested as deeply as a parser can be asked to go, and longer than a message may be.
    agent.write_bytes(&[b"[".repeat(100_000), b"\n".to_vec()].concat());
    let huge =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"huge\",\"method\":\"ping\",\"x\":\"{}\"}}\n", "x".repeat(5 << 20));
    agent.write_bytes(huge.as_bytes());
    assert_eq!(agent.done("clock", &json!({}))["state"], "paused");
    assert!(!agent.is_answered(&json!("huge")));
    agent.ended();
    service.audit();
}

#[test]
fn unknown_methods_and_tools_return_protocol_error_codes() {
    let service = at_new_year();
    let mut agent = Agent::begun(&service, &[]);
    for (method, params, code) in [
        ("no/method", json!({}), -32601),
        ("resources/read", json!({ "uri": "file:///etc/passwd" }), -32601),
        ("tools/call", json!({ "name": "no_tool", "arguments": {} }), -32602),
        ("tools/call", json!({ "name": "../clock", "arguments": {} }), -32602),
    ] {
        assert_eq!(agent.ask(method, &params)["error"]["code"], code, "{method} {params}");
    }
    // Arguments other than an object are invalid.
    let answer = agent.ask("tools/call", &json!({ "name": "clock", "arguments": [1] }));
    assert!(answer["error"]["code"].is_number(), "{answer}");
    for (tool, arguments) in [
        ("timeline", json!({ "timeline_id": "../v1/users" })),
        ("timeline", json!({ "timeline_id": "main/head" })),
        ("event", json!({ "event_id": "a?timeline_id=system" })),
        ("receipt", json!({ "advance_id": "\r\nX: y" })),
        ("clock", json!({ "timeline_id": { "$ne": "x" } })),
        ("wait_for", json!({ "until": "2027-02-01T00:00:00Z", "after": "1\r\nX: y" })),
        ("wait_for", json!({ "timer_id": "..", "timeout": "1s" })),
    ] {
        let text = agent.refused(tool, &arguments);
        assert!(!text.contains("panicked"), "{tool} {arguments}: {text}");
    }
    assert_eq!(agent.done("clock", &json!({}))["state"], "paused");
    agent.ended();
    service.audit();
}

#[test]
fn uninitialized_client_gets_no_data() {
    let service = at_new_year();
    for (lines, is_silent) in [
        ("", true),
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", true),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"clock\"}}\n", false),
    ] {
        let (code, stdout, stderr) = run(&mut command(&service, &["mcp"]), lines);
        assert_eq!((code, stderr.as_str(), stdout.is_empty()), (Some(0), "", is_silent), "{lines}: {stdout}");
        assert!(!stdout.contains("current_time"), "{stdout}");
    }
    service.audit();
}

#[test]
fn excess_concurrent_calls_all_get_responses() {
    let service = at_new_year();
    let mut agent = Agent::begun(&service, &[]);
    let call = json!({ "name": "clock", "arguments": {} });
    let ids: Vec<_> = (0..100).map(|_| agent.sent("tools/call", &call)).collect();
    for id in &ids {
        assert_eq!(agent.answer(id)["result"]["structuredContent"]["state"], "paused");
    }
    agent.ended();
    service.audit();
}
