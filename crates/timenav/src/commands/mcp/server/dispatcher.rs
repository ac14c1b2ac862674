use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::operation::PAGE_ITEMS_DEFAULT;
use super::session::Session;
use super::toolbox::{ToolKind, Toolbox};
use super::{calling, elapse, refusals, waiting};
use crate::exit::Failure;

/// Concurrent calls. Further ones wait.
const CALLS_AT_ONCE_MAX: usize = 16;
/// Interval of progress notifications for a running call, if requested.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

pub(super) struct ToolDispatcher {
    toolbox: Toolbox,
    session: Session,
    places: Semaphore,
}

#[derive(Clone)]
pub(super) struct Served(pub(super) Arc<ToolDispatcher>);

impl ToolDispatcher {
    pub(super) fn new(toolbox: Toolbox, session: Session) -> Self {
        Self { toolbox, session, places: Semaphore::new(CALLS_AT_ONCE_MAX) }
    }

    async fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<CallToolResult, ErrorData> {
        let Some(offer) = self.toolbox.get(name) else {
            return Err(ErrorData::invalid_params(self.toolbox.missing(name), None));
        };
        // The semaphore is never closed.
        let _place = self.places.acquire().await;
        let done = match &offer.does {
            ToolKind::Operation(operation) => calling::call(&self.session, operation, arguments).await,
            ToolKind::WaitFor => waiting::wait_for(&self.session, arguments).await,
            ToolKind::Elapse => elapse::elapse(&self.session, arguments).await,
        };
        self.session.answer();
        Ok(done.map_or_else(|failure| refusals::failure_result(&failure, self.hint(&failure)), result_of))
    }

    fn hint(&self, failure: &Failure) -> Option<&'static str> {
        let is_not_found = matches!(failure, Failure::Problem(problem) if problem.is_not_found());
        (is_not_found && self.session.pinned.is_none() && self.toolbox.get("create_timeline").is_some())
            .then_some("`create_timeline` creates a timeline; no other tool does")
    }
}

/// Returns a response as a tool result, with a hint if there are more pages.
fn result_of(answer: Value) -> CallToolResult {
    let cursor = answer["next_cursor"].as_str().map(str::to_owned);
    let mut result = CallToolResult::structured(answer);
    result.content.extend(cursor.map(|cursor| {
        let cursor = Value::from(cursor);
        ContentBlock::text(format!("There is more. For the next page, call this again with \"cursor\": {cursor}."))
    }));
    result
}

impl ServerHandler for Served {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("timenav", env!("CARGO_PKG_VERSION")).with_title("timenav");
        let on = match &self.0.session.pinned {
            Some(timeline) => format!("This session uses only the timeline `{timeline}`."),
            None => "Tools work on the timeline of your key unless `timeline_id` names another.".to_owned(),
        };
        let instructions = format!(
            "timenav keeps virtual clocks, and timelines of events. Times are ISO 8601 with a zone. {on} A paused \
             clock does not move while you think. `wait_for` waits until something happens; durations called `timeout` \
             or `wait` are host time, everything else is time of the timeline's clock. Lists have {PAGE_ITEMS_DEFAULT} \
             items unless `limit` says otherwise, and fewer if they are large; if a response has `next_cursor`, call \
             again with it as `cursor` for more. `dry_run` reports what would happen. With `followers`, a change of \
             the clock waits until they confirm it. Schemas are brief: the error of a rejected call says what is valid."
        );
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(about)
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.toolbox.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut call = pin!(self.0.call(&request.name, request.arguments.unwrap_or_default()));
        let mut step = 0.0;
        loop {
            tokio::select! {
                biased;
                // Dropping the call drops the request, which closes the connection to the service.
                () = context.ct.cancelled() => return Err(ErrorData::internal_error("canceled", None)),
                done = timeout(PROGRESS_EVERY, &mut call) => if let Ok(done) = done {
                    return done.map(CallToolResponse::from);
                }
            }
            if let Some(token) = context.meta.get_progress_token() {
                step += 1.0;
                let progress = ProgressNotificationParam::new(token, step).with_message("the call is still running");
                // The peer has disconnected.
                let _ = context.peer.notify_progress(progress).await;
            }
        }
    }
}
