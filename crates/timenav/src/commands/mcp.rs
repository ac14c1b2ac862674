//! `timenav mcp`: serves operations as tools for agents, with the Model Context Protocol over stdin and stdout.

#[cfg(feature = "mcp")]
mod server;

use clap::ValueEnum;

use crate::client::{ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::wiring::surroundings::Surroundings;

/// What `--allow` grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Allowed {
    /// Read clocks, events, timers, anchors, paradoxes and proofs. Always granted.
    Read,
    /// Record, correct and change events, set anchors and timers, process firings, create timelines.
    Write,
    /// Move, pause, resume and speed up clocks, return to anchors, spend time.
    Travel,
    /// Everything that has a tool, also users, keys, permissions, retention, erasing and ending timelines.
    All,
}

/// Serves the operations of a service as tools for agents, with the Model Context Protocol.
///
/// The agent's host program starts this command and uses stdin and stdout. Without `--allow`, an agent can only read.
/// With `--timeline`, it can use only that timeline. No tool takes or shows a key, a password or a session.
#[derive(Debug, clap::Args)]
pub(crate) struct McpCommand {
    /// What the agent may do. Repeatable, or a list separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "read", value_name = "WHAT")]
    allow: Vec<Allowed>,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

/// Serves until stdin ends.
#[cfg(feature = "mcp")]
pub(crate) fn run(command: &McpCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    server::run(command, surroundings)
}

/// Fails with a hint on how to get a build with MCP.
#[cfg(not(feature = "mcp"))]
pub(crate) fn run(command: &McpCommand, _: &Surroundings) -> Result<(), Failure> {
    let McpCommand { allow: _, service: _, timeline: _ } = command;
    Err(anyhow::anyhow!(
        "this program was built without `timenav mcp`; build it with `--features mcp`, or use a released program"
    )
    .into())
}
