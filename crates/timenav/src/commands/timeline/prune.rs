use serde_json::{Map, Value};
use timenav_core::ids::TimelineId;

use crate::client::{Client, ServiceOptions};
use crate::commands::arguments::timeline_id;
use crate::exit::Failure;
use crate::output::{self, Unshown};
use crate::wiring::surroundings::Surroundings;

/// Prunes the contents of reads and rejected requests after their retention.
///
/// The service does this automatically when it is idle.
#[derive(Debug, clap::Args)]
pub(crate) struct PruneCommand {
    /// The timeline. Defaults to all timelines that you administer.
    #[arg(long, env = "TIMENAV_TIMELINE", value_name = "TIMELINE_ID", value_parser = timeline_id)]
    timeline: Option<TimelineId>,
    /// Confirm that the host clock is right, if the service doubts it because it went back or jumped by more than a
    /// week. For operators.
    #[arg(long)]
    trust_host_clock: bool,
    /// Show what the next sweep of each timeline would prune.
    #[arg(long, conflicts_with = "trust_host_clock")]
    dry_run: bool,
    #[command(flatten)]
    service: ServiceOptions,
}

pub(crate) fn run(command: PruneCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let timelines = match command.timeline {
        Some(timeline) => vec![timeline.to_string()],
        None => administered(&client)?,
    };
    let mut unshown = Unshown::default();
    for timeline in timelines {
        loop {
            let mut body = Map::new();
            body.insert("timeline_id".to_owned(), timeline.as_str().into());
            if command.trust_host_clock {
                body.insert("trust_host_clock".to_owned(), true.into());
            }
            if command.dry_run {
                body.insert("dry_run".to_owned(), true.into());
            }
            let answer = client.post(&["v1", "prune"], body)?;
            unshown.after(client.show(&answer, output::status));
            // A dry run previews one sweep; the next would be the same.
            if answer.value["has_more"] != true || command.dry_run {
                break;
            }
        }
    }
    unshown.end()
}

fn administered(client: &Client) -> Result<Vec<String>, Failure> {
    let (mut names, mut query) = (Vec::new(), Vec::new());
    loop {
        let page = client.get(&["timelines"], &query)?;
        names.extend(names_of(&page.value));
        let Some(cursor) = page.value["next_cursor"].as_str() else { return Ok(names) };
        query = vec![("cursor", cursor.to_owned())];
    }
}

/// Returns the timelines of a page that the caller administers and that have a limited retention.
fn names_of(page: &Value) -> Vec<String> {
    let timelines = page["timelines"].as_array().map_or(&[][..], Vec::as_slice);
    let is_administered = |timeline: &&Value| matches!(timeline["role"].as_str(), Some("admin" | "operator"));
    let timelines = timelines.iter().filter(is_administered).filter(|timeline| timeline["retention"].is_object());
    timelines.filter_map(|timeline| timeline["timeline_id"].as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prune_skips_timelines_without_retention_or_admin_role() {
        let page = serde_json::json!({ "timelines": [
            { "timeline_id": "a", "role": "admin", "retention": { "reads": "P1D", "rejections": null } },
            { "timeline_id": "b", "role": "admin" },
            { "timeline_id": "c", "role": "read", "retention": { "reads": "P1D", "rejections": null } },
            { "timeline_id": "d", "role": "operator", "retention": { "reads": null, "rejections": "P1D" } },
        ] });
        assert_eq!(names_of(&page), ["a", "d"]);
    }
}
