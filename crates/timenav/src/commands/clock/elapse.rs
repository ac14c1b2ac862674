use serde_json::{Map, Value};

use super::{clock_text, foreseen, settling};
use crate::client::Client;
use crate::commands::arguments::insert;
use crate::commands::confirmed::{FollowersOption, seconds};
use crate::exit::Failure;

#[derive(Debug, clap::Args)]
pub(super) struct ElapseOptions {
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
}

pub(super) fn run(client: &Client, options: ElapseOptions, mut body: Map<String, Value>) -> Result<(), Failure> {
    let ElapseOptions { duration, since, dry_run, wait, followers } = options;
    insert(&mut body, "duration", Some(duration));
    insert(&mut body, "since", since);
    insert(&mut body, "followers", followers.followers);
    if dry_run {
        return foreseen::run(client, "elapse", body, None, clock_text);
    }
    settling::once(client, &["v1", "elapse"], body, (wait, None), clock_text)
}
