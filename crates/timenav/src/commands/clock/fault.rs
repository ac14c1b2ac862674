use serde_json::{Value, json};

use crate::background::following::faults::FaultOptions;
use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::output;
use crate::wiring::surroundings::Surroundings;

/// Sets a clock fault for a follower.
///
/// It applies to all followers of the same user and name, including later ones and those on forks. `timenav exec` and
/// `timenav sntp` with `--follow NAME` support faults.
#[derive(Debug, clap::Args)]
#[command(group(
    clap::ArgGroup::new("what").args(["none", "offset", "drift", "jitter", "leap"]).required(true).multiple(true)
))]
pub(crate) struct FaultCommand {
    /// The follower id, from `timenav followers --output json`.
    #[arg(value_name = "FOLLOWER_ID")]
    follower_id: String,
    /// Remove the fault.
    #[arg(long, conflicts_with_all = ["offset", "drift", "jitter", "leap"])]
    none: bool,
    #[command(flatten)]
    fault: FaultOptions,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

pub(crate) fn run(command: &FaultCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let mut body = command.timeline.body();
    let fault = if command.none { Value::Null } else { command.fault.body().unwrap_or_else(|| json!({})) };
    body.insert("fault".to_owned(), fault);
    let answer = client.post(&["v1", "followers", &command.follower_id, "fault"], body)?;
    client.show(&answer, output::status)
}
