//! `timenav fault`: injects a clock fault into a follower.

use serde_json::{Value, json};

use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::following::faults::FaultOptions;
use crate::output;
use crate::surroundings::Surroundings;

/// Has a follower show the clock wrong, while all others show it right.
///
/// It counts for all followers of that user with that name, from now on, also for those that come later and on forks of the
/// timeline. `timenav exec` and `timenav sntp` with `--follow NAME` can do that. `timenav followers` lists ids, and
/// what is wrong.
#[derive(Debug, clap::Args)]
#[command(group(
    clap::ArgGroup::new("what").args(["none", "offset", "drift", "jitter", "leap"]).required(true).multiple(true)
))]
pub(crate) struct FaultCommand {
    /// The id of the follower, as `timenav followers --output json` has it.
    #[arg(value_name = "FOLLOWER_ID")]
    follower_id: String,
    /// Have it show the clock right again.
    #[arg(long, conflicts_with_all = ["offset", "drift", "jitter", "leap"])]
    none: bool,
    #[command(flatten)]
    fault: FaultOptions,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

/// Sets or removes the fault of a follower.
///
/// # Errors
/// No fault is given, the service is unreachable, or it rejects the request.
pub(crate) fn run(command: &FaultCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let mut body = command.timeline.body();
    let fault = if command.none { Value::Null } else { command.fault.body().unwrap_or_else(|| json!({})) };
    body.insert("fault".to_owned(), fault);
    let answer = client.post(&["v1", "followers", &command.follower_id, "fault"], body)?;
    client.show(&answer, output::status)
}
