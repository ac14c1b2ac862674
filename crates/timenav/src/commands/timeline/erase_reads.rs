use serde_json::Map;
use timenav_core::ids::TimelineId;

use crate::client::{Client, ServiceOptions};
use crate::commands::arguments::timeline_id;
use crate::exit::Failure;
use crate::output;
use crate::wiring::surroundings::Surroundings;

/// Erases single reads from the access log of a timeline that you administer. This cannot be undone. All proofs stay
/// valid.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").args(["index", "user"]).required(true)))]
pub(crate) struct EraseReadsCommand {
    /// The position of the entry in the access log.
    position: u64,
    /// The number of the read within the entry, counted from 0. Repeatable.
    #[arg(long, value_name = "N")]
    index: Vec<u32>,
    /// The user whose reads to erase.
    #[arg(long, value_name = "USER_ID")]
    user: Option<String>,
    /// The timeline; can be `system`. Defaults to the timeline of the API key.
    #[arg(long, env = "TIMENAV_TIMELINE", value_name = "TIMELINE_ID", value_parser = timeline_id)]
    timeline: Option<TimelineId>,
    #[command(flatten)]
    service: ServiceOptions,
}

pub(crate) fn run(command: EraseReadsCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let mut body = Map::from_iter([("position".to_owned(), command.position.into())]);
    body.extend(command.timeline.map(|timeline| ("timeline_id".to_owned(), timeline.to_string().into())));
    body.extend(command.user.map(|user| ("user_id".to_owned(), user.into())));
    if !command.index.is_empty() {
        body.insert("reads".to_owned(), command.index.into());
    }
    let answer = client.post(&["v1", "erase-reads"], body)?;
    client.show(&answer, output::status)
}
