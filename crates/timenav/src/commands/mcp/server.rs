//! Source: Model Context Protocol, revisions 2024-11-05 to 2026-07-28, as implemented by the official Rust SDK. Tools
//! are generated from the operations table and the OpenAPI document; a [`Scope`] limits which ones an agent may call.

mod dispatcher;
mod toolbox;
mod waiting;
mod elapse;
mod calling;
mod session;
mod refusals;
mod operation;
mod schema;
mod scope;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;

use super::McpCommand;
use crate::client::Client;
use crate::exit::Failure;
use crate::wiring::surroundings::Surroundings;
use dispatcher::ToolDispatcher;
use scope::Scope;
use session::Session;
use toolbox::Toolbox;

/// Maximum length of a line, which is one message, in bytes. A longer one is dropped without a response.
const LINE_BYTES_MAX: usize = 4 << 20;

pub(super) fn run(command: &McpCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let scope = Scope::of(&command.allow);
    let toolbox = Toolbox::new(scope, command.timeline.timeline.as_deref())?;
    let (runtime, caller) = Client::new(&command.service, surroundings)?.into_caller();
    let session = Session::new(scope, caller, command.timeline.timeline.clone());
    let dispatcher = Arc::new(ToolDispatcher::new(toolbox, session));
    let ended = runtime.block_on(async {
        let transport = AsyncRwTransport::new_server(tokio::io::stdin(), tokio::io::stdout());
        match dispatcher::Served(dispatcher).serve(transport.with_max_line_length(LINE_BYTES_MAX)).await {
            Ok(session) => session.waiting().await.map(|_| ()).map_err(anyhow::Error::new),
            // The peer disconnected without a message.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(anyhow::Error::new(error).context("the session could not be started")),
        }
    });
    // A blocking read of stdin cannot be canceled, so it is not waited for.
    runtime.shutdown_background();
    Ok(ended?)
}
