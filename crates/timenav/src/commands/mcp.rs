//! `timenav mcp`: serves the operations of a service as tools for agents, with the Model Context Protocol over stdin
//! and stdout.

#[cfg(feature = "mcp")]
mod server;

use clap::ValueEnum;

use crate::client::{ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::surroundings::Surroundings;

/// What `--allow` grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Allowed {
    /// Look at clocks, events, timers, anchors, paradoxes and proofs. Always granted.
    Read,
    /// Record, correct and manipulate events, set anchors and timers, work on firings, create timelines.
    Write,
    /// Move, pause, resume and speed up clocks, return to anchors, spend time.
    Travel,
    /// Everything that has a tool: also users, keys, permissions, retention, erasing and ending timelines.
    All,
}

/// Serves the operations of a service as tools for agents, by the Model Context Protocol.
///
/// An agent's program starts this command and talks to it by stdin and stdout. It is a client of the service like
/// others, with a key of its own. Without --allow, an agent can only look: what it may not do is not in its list of tools. With
/// --timeline, it works on that timeline and reaches no other. No tool takes or shows a key, a password or a session.
///
/// `wait_for` waits until something happens; `spend` moves a paused clock by what a step of the agent cost. docs/mcp.md
/// says how to configure an agent.
#[derive(Debug, clap::Args)]
pub(crate) struct McpCommand {
    /// What the agent may do. May be given more than once, or as a list with commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "read", value_name = "WHAT")]
    allow: Vec<Allowed>,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

/// Serves until stdin ends.
///
/// # Errors
/// See the server module.
#[cfg(feature = "mcp")]
pub(crate) fn run(command: &McpCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    server::run(command, surroundings)
}

/// Fails with a hint on how to get a build with MCP.
///
/// # Errors
/// Always.
#[cfg(not(feature = "mcp"))]
pub(crate) fn run(command: &McpCommand, _: &Surroundings) -> Result<(), Failure> {
    let McpCommand { allow: _, service: _, timeline: _ } = command;
    Err(anyhow::anyhow!(
        "this program was built without `timenav mcp`; build it with `--features mcp`, or use a released program"
    )
    .into())
}
