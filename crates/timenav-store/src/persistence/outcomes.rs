//! Fields inside stored idempotency outcomes.

use serde::Deserialize;

/// Returns the timeline that an outcome names, so that the outcome is deleted with it.
pub(crate) fn named_timeline(outcome: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct TimelineField {
        timeline_id: Option<String>,
    }
    let named = serde_json::from_str::<TimelineField>(outcome).ok()?.timeline_id;
    // Timeline names cannot contain NUL, and PostgreSQL cannot store it.
    named.filter(|name| !name.contains('\0'))
}
