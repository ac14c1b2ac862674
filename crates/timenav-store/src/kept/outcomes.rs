//! What an outcome says of itself.

use serde::Deserialize;

/// Returns the timeline that an outcome itself names, so that it goes with that timeline.
pub(crate) fn told_of(outcome: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Told {
        timeline_id: Option<String>,
    }
    let told = serde_json::from_str::<Told>(outcome).ok()?.timeline_id;
    // No timeline has such a name, and no column takes it.
    told.filter(|name| !name.contains('\0'))
}
