//! The clock is paused while an agent thinks. The agent reports what its thinking and actions cost on that clock, and
//! everything that falls due in that span happens before the response.

use std::time::Duration;

use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::operation::TIMELINE;
use super::refusals::refused;
use super::session::Session;
use super::waiting::{ask, object};
use crate::client::ApiRequest;
use crate::exit::Failure;

pub(super) const NAME: &str = "elapse";
const WAITS_LONGER: Duration = Duration::from_mins(10);
/// Maximum factor between host time and virtual time for a measured step.
const FACTOR_MAX: f64 = 1e6;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spent {
    duration: Option<String>,
    #[serde(default)]
    measured: bool,
    factor: Option<f64>,
    wait: Option<String>,
    since: Option<String>,
    timeline_id: Option<String>,
}

/// Fails if the clock is running or advancing.
pub(super) async fn elapse(session: &Session, arguments: Map<String, Value>) -> Result<Value, Failure> {
    let wrong = |error: serde_json::Error| refused("invalid_parameter", "", &error.to_string());
    let spent: Spent = serde_json::from_value(Value::Object(arguments)).map_err(wrong)?;
    let timeline = match (&session.pinned, &spent.timeline_id) {
        (Some(timeline), Some(_)) => {
            let detail = format!("this session uses only the timeline `{timeline}`; leave out `{TIMELINE}`");
            return Err(refused("permission_denied", TIMELINE, &detail));
        }
        (pinned, named) => pinned.clone().or_else(|| named.clone()),
    };
    let duration = duration(session, &spent)?;
    let mut body = Map::new();
    body.insert("duration".to_owned(), duration.as_str().into());
    for (name, value) in [(TIMELINE, timeline.as_ref()), ("since", spent.since.as_ref()), ("wait", spent.wait.as_ref())]
    {
        body.extend(value.map(|value| (name.to_owned(), value.as_str().into())));
    }
    let api_request = ApiRequest::post(&["v1", "elapse"], &Value::Object(body)).once();
    let api_request = match session.held_firing() {
        Some(firing) => api_request.with("timenav-firing", &firing)?,
        None => api_request,
    };
    let mut answer = ask(session.caller.clone(), api_request.longer(WAITS_LONGER)).await?;
    answer["elapsed"] = duration.into();
    Ok(answer)
}

fn duration(session: &Session, spent: &Spent) -> Result<String, Failure> {
    let factor = spent.factor.unwrap_or(1.0);
    match (&spent.duration, spent.measured) {
        (Some(duration), false) if spent.factor.is_none() => Ok(duration.clone()),
        (Some(_), false) => Err(refused("invalid_parameter", "factor", "`factor` needs `measured`")),
        (None, true) if factor > 0.0 && factor <= FACTOR_MAX => {
            let micros = (session.thought().as_secs_f64() * factor * 1e6).max(1.0);
            // Six decimal places are enough: durations are whole microseconds.
            Ok(format!("{:.6}s", micros / 1e6))
        }
        (None, true) => {
            let detail = format!("`factor` must be more than 0 and at most {FACTOR_MAX}");
            Err(refused("invalid_parameter", "factor", &detail))
        }
        (Some(_), true) => {
            let detail = "give either `duration` or `measured: true`";
            Err(refused("invalid_parameter", "measured", detail))
        }
        (None, false) => {
            Err(refused("missing_parameter", "duration", "give `duration`, such as `20m`, or `measured: true`"))
        }
    }
}

pub(super) fn tool(is_pinned: bool) -> Tool {
    let mut properties = json!({
        "duration": {
            "type": "string",
            "description": "The time it took: numbers with units (`us`, `ms`, `s`, `m` for minutes, `h`, `d`, `w`), or \
                            ISO 8601.",
        },
        "measured": {
            "type": "boolean",
            "description": "Instead of `duration`: the host time since the response to your last call.",
        },
        "factor": {
            "type": "number",
            "description": "With `measured`: multiplies the measured time. Defaults to 1.",
        },
        "since": {
            "type": "string",
            "description": "The clock's time when your step began. Time that others have spent since then counts only \
                            once. Without it, the times add up.",
        },
        "wait": {
            "type": "string",
            "description": "How long to wait, in host time, for other clock changes and for due timers. Defaults to \
                            30s; at most 10m.",
        },
    });
    if !is_pinned {
        properties[TIMELINE] = json!({ "type": "string" });
    }
    let input = json!({ "type": "object", "properties": properties });
    Tool::new(
        NAME,
        "Advances a paused clock by the time that a step of your work took. Timers that fall due by then fire first; \
         the response lists them.",
        object(input),
    )
    .with_annotations(ToolAnnotations::new().destructive(false))
}
