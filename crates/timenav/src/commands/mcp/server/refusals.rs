//! Why a call of a tool did not do what it was asked, as an agent reads it.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use crate::exit::{Failure, Problem};

/// Returns a refusal that needs no service: an argument is wrong, or something is missing before it.
pub(super) fn refused(code: &str, pointer: &str, detail: &str) -> Failure {
    let body = json!({
        "status": detail, "code": code, "detail": detail,
        "errors": [{ "pointer": format!("#/{pointer}"), "code": code, "detail": detail }],
    });
    Failure::Problem(Problem::new(400, &body.to_string()))
}

/// Returns a refusal that is about no argument.
pub(super) fn unfit(code: &str, detail: &str) -> Failure {
    Failure::Problem(Problem::new(409, &json!({ "status": detail, "code": code, "detail": detail }).to_string()))
}

/// Returns a failure as the result of a call: what went wrong and what would be right, and the same as the service said
/// it. It is no structured content, which a client would compare with the schema of the answer.
pub(super) fn told(failure: &Failure, hint: Option<&str>) -> CallToolResult {
    let mut text = failure.text().unwrap_or_default();
    if let Some(hint) = hint {
        text = format!("{text}\n  {hint}");
    }
    let mut content = vec![ContentBlock::text(text)];
    content.extend(failure.json().map(|json| ContentBlock::text(without_exit_code(json).to_string())));
    CallToolResult::error(content)
}

/// Returns the words for a program without the one that only a shell needs.
fn without_exit_code(mut json: Value) -> Value {
    if let Some(members) = json.as_object_mut() {
        members.remove("exit_code");
    }
    json
}
