use std::time::Duration;

use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use timenav_core::time::{Instant, Virtual, parse_duration, parse_timestamp};

use super::moving::body_for;
use crate::commands::mcp::server::operation::TIMELINE;
use crate::commands::mcp::server::refusals::refused;
use crate::commands::mcp::server::scope::Scope;
use crate::commands::mcp::server::session::Session;
use crate::exit::Failure;

const NAME: &str = "wait_for";
/// Default wait, in host time: less than the timeout of clients.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
/// Maximum wait per call, in host time.
const TIMEOUT_MAX: Duration = Duration::from_mins(10);
const NO_CONDITION: &str = "give one or more things to wait for: `event`, `timer_id`, `queue` or `until`";

/// The conditions. The first one that is met ends the wait.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitConditions {
    pub(super) event: Option<EventCondition>,
    pub(super) timer_id: Option<String>,
    pub(super) queue: Option<String>,
    pub(super) until: Option<String>,
    timeout: Option<String>,
    #[serde(default)]
    pub(super) advance: bool,
    pub(super) after: Option<String>,
    timeline_id: Option<String>,
}

/// A recorded event that matches all given members.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventCondition {
    event_id: Option<String>,
    text: Option<String>,
    actor: Option<String>,
    source: Option<String>,
    #[serde(default)]
    attribute: Map<String, Value>,
}

impl WaitConditions {
    pub(super) fn read(
        session: &Session,
        arguments: Map<String, Value>,
    ) -> Result<(Self, Option<Instant<Virtual>>, Duration), Failure> {
        let wrong = |error: serde_json::Error| refused("invalid_parameter", "", &error.to_string());
        let mut conditions: Self = serde_json::from_value(Value::Object(arguments)).map_err(wrong)?;
        for (is_given, is_allowed, name, flag) in [
            (conditions.queue.is_some(), session.scope.write, "queue", "--allow write"),
            (conditions.advance, session.scope.travel, "advance", "--allow travel"),
        ] {
            if is_given && !is_allowed {
                let detail = format!("`{name}` is not allowed: `timenav mcp` was started without {flag}");
                return Err(refused("permission_denied", name, &detail));
            }
        }
        if let Some(timeline) = &session.pinned {
            if conditions.timeline_id.is_some() {
                let detail = format!("this session uses only the timeline `{timeline}`; leave out `{TIMELINE}`");
                return Err(refused("permission_denied", TIMELINE, &detail));
            }
            conditions.timeline_id = Some(timeline.clone());
        }
        let is_nothing = conditions.event.is_none()
            && conditions.timer_id.is_none()
            && conditions.queue.is_none()
            && conditions.until.is_none();
        if is_nothing {
            return Err(refused("missing_parameter", "", NO_CONDITION));
        }
        let is_place = |after: &String| after.chars().all(|c| c.is_ascii_hexdigit() || c == '.' || c == '~');
        if !conditions.after.as_ref().is_none_or(is_place) {
            return Err(refused(
                "invalid_parameter",
                "after",
                "`after` must be the `after` of an earlier response, such as `17~5f3c9a0e1d2b4c68`",
            ));
        }
        let until = conditions.until.as_deref().map(|text| {
            parse_timestamp(text).map_err(|error| refused("invalid_parameter", "until", &error.to_string()))
        });
        let patience = conditions.timeout.as_deref().map_or(Ok(TIMEOUT_DEFAULT), host_time)?;
        let until = until.transpose()?;
        Ok((conditions, until, patience))
    }

    pub(super) fn query(&self) -> Vec<(String, String)> {
        self.timeline_id.iter().map(|timeline| (TIMELINE.to_owned(), timeline.clone())).collect()
    }

    pub(super) fn body(&self) -> Map<String, Value> {
        body_for(self.timeline_id.as_deref())
    }

    pub(super) fn stream_query(&self) -> Vec<(String, String)> {
        let mut query = self.query();
        let Some(event) = &self.event else {
            query.push(("topics".to_owned(), "clock".to_owned()));
            return query;
        };
        query.push(("topics".to_owned(), "clock,events".to_owned()));
        for (name, value) in [("text", &event.text), ("actor", &event.actor), ("source", &event.source)] {
            query.extend(value.as_ref().map(|value| (name.to_owned(), value.clone())));
        }
        for (key, value) in &event.attribute {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            query.push((format!("attribute.{key}"), value));
        }
        query
    }

    /// Returns whether a message is the requested event. The service has filtered everything but the id.
    pub(super) fn is_event(&self, data: &Value) -> bool {
        let Some(event) = &self.event else { return false };
        event.event_id.as_deref().is_none_or(|event_id| data["event_id"] == event_id)
    }
}

fn host_time(text: &str) -> Result<Duration, Failure> {
    let seconds = TIMEOUT_MAX.as_secs();
    let wrong = |detail: String| refused("invalid_parameter", "timeout", &detail);
    let duration = parse_duration(text).map_err(|error| wrong(error.to_string()))?;
    let micros = u64::try_from(duration.exact().micros()).unwrap_or_default();
    let duration = Some(Duration::from_micros(micros)).filter(|span| duration.months() == 0 && *span <= TIMEOUT_MAX);
    duration.ok_or_else(|| wrong(format!("the maximum wait is {seconds}s per call; after that, call again")))
}

pub(in crate::commands::mcp) fn tool(scope: Scope, is_pinned: bool) -> Tool {
    let mut properties = json!({
        "event": {
            "type": "object",
            "description": "A new event that matches all given fields. `{}` matches any event.",
            "properties": {
                "event_id": { "type": "string" },
                "text": { "type": "string", "description": "Words or word prefixes in any of its texts." },
                "actor": { "type": "string" },
                "source": { "type": "string" },
                "attribute": { "type": "object" },
            },
        },
        "timer_id": { "type": "string", "description": "A timer that fires." },
        "until": {
            "type": "string", "description": "A moment that the clock reaches: an ISO 8601 timestamp with a zone.",
        },
        "timeout": {
            "type": "string",
            "description": "How long to wait, in host time. Defaults to 30s; at most 10m.",
        },
        "after": {
            "type": "string",
            "description": "The `after` of an earlier response: only events recorded since then match. Defaults to \
                            now.",
        },
    });
    if scope.write {
        properties["queue"] = json!({
            "type": "string",
            "description": "A queue with a firing. Its firings are leased to you for ten minutes; call \
                            `acknowledge_firings` when their work is done. The clock does not advance before.",
        });
    }
    if scope.travel {
        properties["advance"] = json!({
            "type": "boolean",
            "description": "Whether to advance a paused clock from one armed timer to the next until one of these \
                            happens, at most to `until`. It waits for other workers' firings.",
        });
    }
    if !is_pinned {
        properties[TIMELINE] = json!({ "type": "string" });
    }
    let input = json!({ "type": "object", "properties": properties });
    let is_read_only = !scope.write && !scope.travel;
    Tool::new(
        NAME,
        "Waits until an event is recorded, a timer fires, a queue has a firing, the clock reaches a moment, or the \
         timeout expires.",
        object(input),
    )
    .with_annotations(if is_read_only {
        ToolAnnotations::new().read_only(true)
    } else {
        ToolAnnotations::new().destructive(false)
    })
}

pub(in crate::commands::mcp) fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
