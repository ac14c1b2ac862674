use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::client::{Client, pause};
use crate::error::{Error, Problem};
use crate::transport::host::jitter;
use crate::transport::request::Request;
use crate::transport::response::EventStream;
use crate::transport::retry::delay;
use crate::transport::sse::ServerSentEvent;
use crate::virtual_clock::follower::StalenessBounds;
use crate::virtual_clock::{RESPONSE_TIMEOUT, no_data_error, read_event};

/// An event stream that reconnects and resumes.
///
/// After a lost connection, it reconnects, with 0.1 to 5 seconds between attempts, and resumes after the last message.
/// A connection without data for 30 seconds counts as lost. A few messages are read ahead. Drop the watch to end it.
#[derive(Debug)]
pub struct Watch<T> {
    messages: mpsc::Receiver<Result<ServerSentEvent, Error>>,
    task: JoinHandle<()>,
    service: String,
    last_id: String,
    read: fn(ServerSentEvent) -> Result<Option<T>, serde_json::Error>,
}

impl Client {
    /// Watches any event stream, such as `Request::get(&["v1", "stream"]).query("topics", "events")`.
    ///
    /// With [`Request::last_event_id`], it resumes after that message; otherwise it begins now. If the connection is
    /// lost before the first id, a message `reset` with an empty id reports that messages may be missing.
    ///
    /// # Errors
    /// The service does not respond, or rejects the request.
    pub async fn watch(&self, request: Request) -> Result<Watch<ServerSentEvent>, Error> {
        self.watch_as(request, |event| Ok(Some(event))).await
    }

    /// Like [`Client::watch`], for parsed messages. Messages for which `read` returns `None` are skipped.
    pub(crate) async fn watch_as<T>(
        &self,
        request: Request,
        read: fn(ServerSentEvent) -> Result<Option<T>, serde_json::Error>,
    ) -> Result<Watch<T>, Error> {
        let request = request.header("accept", "text/event-stream")?.without_timeout();
        let id = request.headers.get("last-event-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
        let opening = timeout(self.timeout(), self.send(request.clone()));
        let events = opening.await.map_err(|_| no_data_error(self))??.events();
        let (sender, messages) = mpsc::channel(1);
        let client = self.without_retries();
        let last_id = id.clone();
        let task = tokio::spawn(WatchTask { client, request, id, sender }.run(events));
        Ok(Watch { messages, task, service: self.base_url().to_owned(), last_id, read })
    }
}

impl<T> Watch<T> {
    /// Returns the next message; `None` once the watch has ended. Cancel-safe.
    ///
    /// # Errors
    /// The service no longer allows the watch, or a message has an unexpected form. Both end the watch.
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        while let Some(event) = self.messages.recv().await.transpose()? {
            self.last_id.clone_from(&event.id);
            match (self.read)(event) {
                Ok(None) => {}
                Ok(message) => return Ok(message),
                Err(error) => {
                    self.close();
                    return Err(Error::UnexpectedResponse { service: self.service.clone(), detail: error.to_string() });
                }
            }
        }
        Ok(None)
    }

    /// Returns the id of the last message returned, or an empty string: a later watch can resume after it.
    #[must_use]
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// Ends the watch and closes its connection. Later calls of [`Watch::next`] return `None`.
    pub fn close(&mut self) {
        self.task.abort();
        // Drop messages that were read ahead.
        self.messages = mpsc::channel(1).1;
    }
}

impl<T> Drop for Watch<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct WatchTask {
    client: Client,
    request: Request,
    id: String,
    sender: mpsc::Sender<Result<ServerSentEvent, Error>>,
}

impl WatchTask {
    async fn run(mut self, mut events: EventStream) {
        loop {
            while let Ok(true) = read_event(&self.client, &mut events, StalenessBounds::default()).await {
                while let Some(event) = events.next_buffered() {
                    if self.sender.send(Ok(event)).await.is_err() {
                        return;
                    }
                }
            }
            if !events.last_id().is_empty() {
                events.last_id().clone_into(&mut self.id);
            }
            events = match self.reopen().await {
                Ok(events) => events,
                Err(error) => {
                    let _ = self.sender.send(Err(error)).await;
                    return;
                }
            };
            if self.id.is_empty() {
                let (event, data) = ("reset".to_owned(), "{}".to_owned());
                let _ = self.sender.send(Ok(ServerSentEvent { event, id: String::new(), data })).await;
            }
        }
    }

    async fn reopen(&self) -> Result<EventStream, Error> {
        let mut after: Option<Duration> = None;
        for failed in 1.. {
            pause(after.unwrap_or_else(|| jitter(delay(failed)))).await;
            let request = self.request.clone();
            let request = if self.id.is_empty() { request } else { request.last_event_id(&self.id)? };
            let opened = timeout(RESPONSE_TIMEOUT, self.client.send(request)).await;
            let error = match opened.unwrap_or_else(|_| Err(no_data_error(&self.client))) {
                Ok(response) => return Ok(response.events()),
                Err(error) => error,
            };
            if error.problem().is_some_and(Problem::is_final) {
                return Err(error);
            }
            tracing::debug!(%error, "reopening a stream failed; will retry");
            after = error.problem().and_then(|problem| problem.retry_after);
        }
        Err(no_data_error(&self.client))
    }
}
