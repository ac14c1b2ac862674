use std::collections::BTreeSet;

use rmcp::model::Tool;
use serde_json::{Value, json};

use super::super::Allowed;
use super::operation::TIMELINE;
use super::schema;
use super::scope::Scope;
use super::toolbox::{ABOUT_THE_SERVICE, SETS, ToolKind, Toolbox};
use crate::commands::reference::operations::{Agents, OPERATIONS};

const LIST_BYTES_MAX: usize = 40_000;
const OWN: [&str; 2] = ["wait_for", "elapse"];

fn toolbox(allowed: &[Allowed], pinned: Option<&str>) -> Toolbox {
    Toolbox::new(Scope::of(allowed), pinned).unwrap()
}

fn tool_json(tool: &Tool) -> Value {
    serde_json::to_value(tool).unwrap()
}

fn names(document: &Value, value: &Value, found: &mut BTreeSet<String>) {
    if let Some(reference) = value["$ref"].as_str() {
        if found.insert(reference.to_owned()) {
            names(document, schema::resolved(document, value), found);
        }
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                found.insert(name.clone());
                names(document, value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(document, item, found)),
        _ => {}
    }
}

#[test]
fn every_agent_operation_is_a_tool() {
    let all = toolbox(&[Allowed::All], None);
    let offered = OPERATIONS.iter().filter(|row| row.agents != Agents::Never).count();
    assert_eq!(all.tools().len(), offered + OWN.len());
    for tool in all.tools() {
        let described = tool_json(&tool);
        assert_eq!(described["inputSchema"]["type"], "object");
        // Models reject a union at the root.
        for choice in ["oneOf", "anyOf", "allOf", "not"] {
            assert!(described["inputSchema"][choice].is_null(), "{}: {choice}", tool.name);
        }
        assert!(!described.to_string().contains("$ref"), "{}", tool.name);
    }
}

/// Clients put the list into the model's context at the start of a session.
#[test]
fn tool_list_size_is_limited() {
    let listed = serde_json::to_vec(&toolbox(&[Allowed::All], None).tools()).unwrap();
    assert!(listed.len() <= LIST_BYTES_MAX, "{} bytes", listed.len());
}

#[test]
fn disallowed_operations_are_not_offered() {
    let of = |allowed: &[Allowed]| {
        let tools = toolbox(allowed, None).tools();
        tools.into_iter().map(|tool| tool.name.to_string()).collect::<BTreeSet<_>>()
    };
    let (read, write, travel, all) =
        (of(&[Allowed::Read]), of(&[Allowed::Write]), of(&[Allowed::Travel]), of(&[Allowed::All]));
    assert!(read.is_subset(&write) && read.is_subset(&travel) && write.union(&travel).count() < all.len());
    for (name, is_in) in [
        ("clock", [true, true, true, true]),
        ("wait_for", [true, true, true, true]),
        ("scan_events", [true, true, true, true]),
        ("record_events", [false, true, false, true]),
        ("claim_firings", [false, true, false, true]),
        ("travel", [false, false, true, true]),
        ("elapse", [false, false, true, true]),
        ("erase_events", [false, false, false, true]),
        ("set_access_control", [false, false, false, true]),
        // Secrets and files are never offered.
        ("create_api_key", [false, false, false, false]),
        ("set_password", [false, false, false, false]),
        ("decrypt_data", [false, false, false, false]),
        ("export_events", [false, false, false, false]),
    ] {
        let found = [&read, &write, &travel, &all].map(|tools| tools.contains(name));
        assert_eq!(found, is_in, "{name}");
    }
    for tool in toolbox(&[Allowed::Read], None).tools() {
        assert_eq!(tool_json(&tool)["annotations"]["readOnlyHint"], true, "{}", tool.name);
    }
    let missing = |name: &str| toolbox(&[Allowed::Read], None).missing(name);
    assert!(missing("travel").ends_with("was started without --allow travel"), "{}", missing("travel"));
    assert!(missing("create_api_key").contains("not available to agents"));
    assert_eq!(missing("no_tool"), "there is no tool `no_tool`");
}

#[test]
fn irreversible_tools_are_marked_destructive() {
    let all = toolbox(&[Allowed::All], None);
    for (name, read_only, destructive, idempotent) in [
        ("clock", true, false, true),
        ("detect_tampering", true, false, true),
        ("users", true, false, true),
        ("record_events", false, false, false),
        ("travel", false, false, false),
        ("pause_time", false, false, true),
        ("cancel_timer", false, true, true),
        ("end_timeline", false, true, true),
        ("erase_events", false, true, false),
        ("set_access_control", false, true, true),
    ] {
        let annotations = tool_json(&all.get(name).unwrap().tool)["annotations"].clone();
        // The defaults of the protocol for absent hints. The last two only matter if a tool changes something.
        let hint = |name: &str, absent: bool| annotations[name].as_bool().unwrap_or(absent);
        let hints = [hint("readOnlyHint", false), hint("destructiveHint", true), hint("idempotentHint", false)];
        assert_eq!(hints[0], read_only, "{name}");
        assert!(read_only || hints[1..] == [destructive, idempotent], "{name}: {hints:?}");
    }
    let rows: Vec<&str> = OPERATIONS.iter().map(|row| row.name).collect();
    for name in SETS.iter().chain(&ABOUT_THE_SERVICE) {
        assert!(rows.contains(name), "there is no {name}");
    }
}

#[test]
fn agent_pinned_to_a_timeline_cannot_name_another() {
    let all = toolbox(&[Allowed::All], Some("mine"));
    let mut operations = 0;
    for tool in all.tools() {
        let properties = tool_json(&tool)["inputSchema"]["properties"].clone();
        for name in [TIMELINE, "include_forks", "fork_of", "user_id"] {
            // There, the user id only filters the access log of the pinned timeline.
            let is_about_it = name == "user_id" && ["access_logs", "erase_reads"].contains(&&*tool.name);
            assert!(properties[name].is_null() || is_about_it, "{}: {name}", tool.name);
        }
        if let ToolKind::Operation(operation) = &all.get(&tool.name).unwrap().does {
            operations += 1;
            let is_about_it = operation.goes.contains_key(TIMELINE);
            assert!(is_about_it || ["limits", "session"].contains(&&*tool.name), "{}", tool.name);
        }
    }
    assert!(operations > 30, "{operations}");
    for other in ["timelines", "create_timeline", "timelines_diff", "users", "api_keys"] {
        assert!(all.get(other).is_none(), "{other}");
        assert!(all.missing(other).contains("with a fixed timeline"), "{}", all.missing(other));
    }
}

#[test]
fn tools_neither_accept_nor_return_secrets() {
    let document: Value = serde_json::from_str(timenav_http::openapi_json()).unwrap();
    let mut found = BTreeSet::new();
    for tool in toolbox(&[Allowed::All], None).tools() {
        names(&document, &tool_json(&tool)["inputSchema"], &mut found);
    }
    for row in OPERATIONS.iter().filter(|row| row.agents != Agents::Never) {
        let (method, path) = row.name.split_once(' ').unwrap();
        for (_, response) in document["paths"][path][method.to_lowercase()]["responses"].as_object().unwrap() {
            names(&document, &response["content"]["application/json"]["schema"], &mut found);
        }
    }
    assert!(found.contains("next_cursor") && found.contains("current_time"));
    for secret in ["api_key", "password", "current_password", "encryption_key", "secret"] {
        assert!(!found.contains(secret), "{secret}");
    }
}

#[test]
fn tool_schemas_are_simplified() {
    let document = json!({ "components": { "schemas": {
        "Effect": { "oneOf": [
            { "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string", "enum": ["cancel"] } } },
            {
                "type": "object", "required": ["kind", "duration"], "properties": {
                    "kind": { "type": "string", "enum": ["delay"] },
                    "duration": { "$ref": "#/components/schemas/Duration", "description": "How much." },
                },
            },
        ] },
        "Duration": { "type": "string", "format": "duration", "example": "1h", "description": "A length of time." },
    } } });
    let properties = json!({
        "effect": { "$ref": "#/components/schemas/Effect", "description": "What it does, as `a. b` says. And more." },
        "after": { "oneOf": [{ "type": "null" }, { "$ref": "#/components/schemas/Duration" }] },
        "as_of": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
        "deep": { "type": "object", "properties": { "a": { "type": "object", "properties": {
            "b": { "type": ["object", "null"], "properties": { "c": { "type": "string" } }, "description": "Out." },
            "secret": { "type": "string", "writeOnly": true },
        } } } },
        "limit": { "type": "integer", "description": "How many." },
    });
    let simplified = schema::arguments(&document, properties.as_object().unwrap(), &["effect".to_owned()]);
    let expected = json!({
        "type": "object", "required": ["effect"], "properties": {
            "effect": {
                "type": "object", "required": ["kind"], "description": "What it does, as `a. b` says",
                "properties": {
                    "kind": { "enum": ["cancel", "delay"] },
                    "duration": { "type": "string", "description": "How much" },
                },
            },
            "after": { "type": "string", "description": "A length of time" },
            "as_of": { "type": ["string", "integer"] },
            "deep": { "type": "object", "properties": { "a": { "type": "object", "properties": {
                "b": { "type": "object" },
            } } } },
            "limit": { "type": "integer" },
        },
    });
    assert_eq!(Value::Object(simplified), expected);
}
