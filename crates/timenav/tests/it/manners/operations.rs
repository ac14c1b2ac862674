//! The operations from the service's own OpenAPI document, so that no table can omit one.

use serde_json::{Map, Value, json};

use crate::support::http::Request;
use crate::support::service::Service;

/// One operation under one of its paths.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) method: String,
    /// The path with existing ids in place of `{…}`.
    pub(super) path: String,
    /// The documented path.
    pub(super) template: String,
    pub(super) id: String,
    pub(super) takes: Takes,
    /// Whether it is documented to be carried out once per `Idempotency-Key`.
    pub(super) stores_responses: bool,
    /// Documented request headers.
    pub(super) heeded: Vec<String>,
}

/// Input of an operation.
#[derive(Clone, Debug)]
pub(super) enum Takes {
    /// Named parameters with their schemas, and the required ones.
    Parameters { properties: Map<String, Value>, required: Vec<String> },
    /// One event or an array of events.
    Events,
    /// A file.
    File,
    /// Only path parameters.
    Nothing,
}

impl Operation {
    pub(super) fn looks(&self) -> bool {
        self.method == "GET"
    }

    /// Returns a request without parameters.
    pub(super) fn request(&self) -> Request {
        Request::new(&self.method, &self.path)
    }

    /// Returns valid parameters.
    pub(super) fn parameters(&self) -> Value {
        match self.id.as_str() {
            "travel" => json!({ "destination_time": "2001-01-01T00:00:00Z" }),
            "fast_forward" | "elapse" | "rewind" => json!({ "duration": "1h" }),
            "advance_to_next" => json!({ "until": "2001-01-01T00:00:00Z" }),
            "set_rate" => json!({ "rate": 2 }),
            "return_to_anchor" => json!({ "anchor_id": "anchor_none" }),
            "monitor_events" | "scan_events" => json!({ "location": "*", "time_range": "../.." }),
            "aggregate_events" => json!({ "group_by": "actor" }),
            "set_timer" => json!({ "timer_id": "made", "at": "9000-01-01T00:00:00Z" }),
            "acknowledge_firings" | "fail_firings" | "extend_firings" => json!({ "firing_ids": ["firing_none"] }),
            "hold_advances" => json!({ "reason": "a test", "ttl": "1s" }),
            "set_fault" => json!({ "fault": { "offset": "2s" } }),
            "confirm_clock" => json!({ "follower_id": "follower_none", "generation": 0 }),
            "create_timeline" => json!({ "timeline_id": "made" }),
            // An explicit start, because the clock differs.
            "timer_preview" => json!({ "rule": "0 9 * * *", "after": "2001-01-01T00:00:00Z" }),
            "timelines_diff" => json!({ "base": "main", "compare": "main" }),
            "create_user" => json!({ "user_id": "made" }),
            "check_timeline" => json!({ "timeline_id": "main", "significant_event": "none" }),
            "correct_event" => json!({ "event": { "event_id": "none", "time": "2001-01-01T00:00:00Z" } }),
            "manipulate_event" => {
                json!({ "event_id": "none", "action": "cancel", "time": "2001-01-01T00:00:00Z" })
            }
            "record_events" => json!({ "time": "2001-01-01T00:00:00Z" }),
            "proof" => json!({ "position": 0 }),
            "entries" => json!({ "limit": 1 }),
            "set_access_control" => json!({ "timeline_id": "main", "permissions": {} }),
            "access_control" | "prune" => json!({ "timeline_id": "main" }),
            "access_logs" | "monitor_paradox" => json!({ "timeline_id": "main", "time_range": "../.." }),
            "restrict_time_travel" => json!({ "user_id": "admin", "restriction_level": "full_access" }),
            "set_retention" => json!({ "timeline_id": "main", "reads": "90d" }),
            "detect_tampering" => json!({ "timeline_id": "main", "scan_depth": "quick" }),
            "encrypt_data" => json!({ "timeline_id": "main", "data": {}, "encryption_key": "a passphrase" }),
            "decrypt_data" => json!({ "data_id": "data_none", "encryption_key": "a passphrase" }),
            "log_in" => json!({ "user_id": "admin", "password": "not this one" }),
            "log_out" => json!({ "everywhere": true }),
            "set_password" => json!({ "password": "correct horse battery staple" }),
            "erase_data" => json!({ "data_id": "data_none" }),
            "erase_events" => json!({ "event_ids": ["none"] }),
            "undo_import" => json!({ "import_id": "0-1-1" }),
            "erase_reads" => json!({ "timeline_id": "main", "position": 0, "reads": [0] }),
            _ => json!({}),
        }
    }
}

/// Returns all operations under all paths.
pub(super) fn all(service: &Service) -> Vec<Operation> {
    let document = service.send(Request::get("/openapi.json").anonymous()).expect(200);
    let mut operations = Vec::new();
    for (template, methods) in document["paths"].as_object().expect("paths") {
        for (method, described) in methods.as_object().expect("methods") {
            for template in spellings(template) {
                let path = template
                    .replace("{timeline_id}", "main")
                    .replace("{user_id}", "admin")
                    .replace("{event_id}", "none");
                operations.push(Operation {
                    method: method.to_uppercase(),
                    path: path
                        .replace("{key_id}", "key_none")
                        .replace("{session_id}", "session_none")
                        .replace("{timer_id}", "timer_none")
                        .replace("{queue}", "default")
                        .replace("{firing_id}", "firing_none")
                        .replace("{advance_id}", "advance_none")
                        .replace("{tile}", "0/000.p/1"),
                    template,
                    id: described["operationId"].as_str().expect("an id").to_owned(),
                    takes: takes(&document, method, described),
                    stores_responses: stores_responses(described),
                    heeded: heeded(described),
                });
            }
        }
    }
    assert!(operations.len() > 40, "{}", operations.len());
    operations
}

/// Returns all paths of a documented one: with both prefixes and without.
fn spellings(template: &str) -> Vec<String> {
    match template.strip_prefix("/v1") {
        Some(rest) => vec![template.to_owned(), format!("/api/v1{rest}")],
        None => vec![template.to_owned(), format!("/v1{template}"), format!("/api/v1{template}")],
    }
}

fn heeded(described: &Value) -> Vec<String> {
    let parameters = described["parameters"].as_array().expect("parameters");
    let fields = parameters.iter().filter(|parameter| parameter["in"] == "header");
    fields.map(|field| field["name"].as_str().expect("a name").to_owned()).collect()
}

fn stores_responses(described: &Value) -> bool {
    let parameters = described["parameters"].as_array().expect("parameters");
    let key = parameters.iter().find(|one| one["name"] == "Idempotency-Key");
    key.is_some_and(|key| key["description"].as_str().expect("a description").contains("is carried out once"))
}

fn takes(document: &Value, method: &str, described: &Value) -> Takes {
    let of_query = described["parameters"].as_array().expect("parameters");
    let content = &described["requestBody"]["content"];
    if ["text/csv", "application/x-ndjson"].iter().any(|kind| content.get(kind).is_some()) {
        return Takes::File;
    }
    let Some(reference) = content["application/json"]["schema"]["$ref"].as_str() else {
        if method == "delete" {
            return Takes::Nothing;
        }
        let of_query = || of_query.iter().filter(|one| one["in"] == "query");
        let name = |one: &Value| one["name"].as_str().expect("a name").to_owned();
        return Takes::Parameters {
            properties: of_query().map(|one| (name(one), one["schema"].clone())).collect(),
            required: of_query().filter(|one| one["required"] == true).map(name).collect(),
        };
    };
    let schema = document.pointer(&reference[1..]).expect("the schema is in the document");
    let Some(properties) = schema["properties"].as_object() else { return Takes::Events };
    let required = schema["required"].as_array().into_iter().flatten();
    Takes::Parameters {
        properties: properties.clone(),
        required: required.map(|name| name.as_str().expect("a name").to_owned()).collect(),
    }
}
