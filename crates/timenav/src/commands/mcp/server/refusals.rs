use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use crate::exit::{Failure, Problem};

/// Returns an error without calling the service: an argument is invalid, or a precondition is not met.
pub(super) fn refused(code: &str, pointer: &str, detail: &str) -> Failure {
    let body = json!({
        "status": detail, "code": code, "detail": detail,
        "errors": [{ "pointer": format!("#/{pointer}"), "code": code, "detail": detail }],
    });
    Failure::Problem(Problem::new(400, &body.to_string()))
}

/// Returns an error that concerns no argument.
pub(super) fn unfit(code: &str, detail: &str) -> Failure {
    Failure::Problem(Problem::new(409, &json!({ "status": detail, "code": code, "detail": detail }).to_string()))
}

/// Not structured content, because clients validate that against the response schema.
pub(super) fn failure_result(failure: &Failure, hint: Option<&str>) -> CallToolResult {
    let mut text = failure.text().unwrap_or_default();
    if let Some(hint) = hint {
        text = format!("{text}\n  {hint}");
    }
    let mut content = vec![ContentBlock::text(text)];
    content.extend(failure.json().map(|json| ContentBlock::text(without_exit_code(json).to_string())));
    CallToolResult::error(content)
}

/// Removes the exit code from an error: only shells need it.
fn without_exit_code(mut json: Value) -> Value {
    if let Some(members) = json.as_object_mut() {
        members.remove("exit_code");
    }
    json
}
