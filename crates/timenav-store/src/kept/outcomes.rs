//! Fields inside stored idempotency outcomes.

use serde::Deserialize;

/// Returns the timeline that an outcome names, so that the outcome is deleted with it.
pub(crate) fn told_of(outcome: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Told {
        timeline_id: Option<String>,
    }
    let told = serde_json::from_str::<Told>(outcome).ok()?.timeline_id;
    // Timeline names cannot contain NUL, and PostgreSQL cannot store it.
    told.filter(|name| !name.contains('\0'))
}
