use super::arguments::insert;
use super::clock::{clock_text, foreseen, settling};
use super::confirmed::{FollowersOption, seconds};
use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::surroundings::Surroundings;

/// Advances a paused clock by the time that a task took, such as 20m.
///
/// It stops at each due timer until its firings are done. A running clock is rejected.
#[derive(Debug, clap::Args)]
pub(crate) struct SpendCommand {
    /// The time spent: 20m, 1.5h, 1d12h, or ISO 8601 such as P1D.
    duration: String,
    /// The virtual time when the work began. Time that others spent since then counts only once.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Show which timers would fire, without moving the clock.
    #[arg(long, conflicts_with_all = ["wait", "followers"])]
    dry_run: bool,
    /// How long to wait for earlier requests and due timers, in host time. Defaults to 30s. The advance continues after
    /// that.
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    wait: Option<i64>,
    #[command(flatten)]
    followers: FollowersOption,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

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
