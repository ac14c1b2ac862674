//! `timenav spend`: advances a paused clock by the cost of work.

use super::arguments::insert;
use super::clock::{clock_text, foreseen, settling};
use super::confirmed::{FollowersOption, seconds};
use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::surroundings::Surroundings;

/// Moves a paused clock by what work cost that was done while it stood, such as 20m.
///
/// Timers on the way fire one after the other: the clock stands at each moment until its firings are done. A clock that
/// runs is refused, because the time has passed there already.
#[derive(Debug, clap::Args)]
pub(crate) struct SpendCommand {
    /// What it cost: 20m, 1.5h, 1d12h, or ISO 8601 such as P1D.
    duration: String,
    /// What the clock showed when the work began. What others spend meanwhile passes only once; otherwise it adds up.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Show what would fire, and leave the clock where it is.
    #[arg(long, conflicts_with_all = ["wait", "followers"])]
    dry_run: bool,
    /// Wait so long at most, in host time, for those who spend before, and until all that falls due is done, such as 30s
    /// or 5m. Defaults to 30 seconds. The clock goes on by itself after that.
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    wait: Option<i64>,
    #[command(flatten)]
    followers: FollowersOption,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

/// Advances the clock and prints what fired on the way.
///
/// # Errors
/// The clock is running, the service is unreachable, or it rejects the request.
pub(crate) fn run(command: SpendCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let SpendCommand { duration, since, dry_run, wait, followers, service, timeline } = command;
    let client = Client::new(&service, surroundings)?;
    let mut body = timeline.body();
    insert(&mut body, "duration", Some(duration));
    insert(&mut body, "since", since);
    insert(&mut body, "followers", followers.followers);
    if dry_run {
        return foreseen::run(&client, "spend", body, None, clock_text);
    }
    settling::once(&client, &["v1", "spend"], body, (wait, None), clock_text)
}
