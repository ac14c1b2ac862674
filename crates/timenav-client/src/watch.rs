//! Streams of messages that go on where they were once a lost connection is back.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::client::{Client, pause};
use crate::error::{Error, Problem};
use crate::follower::Bounds;
use crate::host::jitter;
use crate::request::Request;
use crate::response::Events;
use crate::retry::{Retries, delay};
use crate::sse::SentEvent;
use crate::virtual_clock::{ANSWER_TIMEOUT, heard, silent};

/// What a stream tells, message by message, across lost connections.
///
/// It asks for what came after the last message, waits 0.1 to 5 seconds between attempts, and counts a connection as lost
/// once the service has said nothing for 30 seconds. Nothing is read while nobody asks for the next message. Drop it to
/// end it.
#[derive(Debug)]
pub struct Watch<T> {
    told: mpsc::Receiver<Result<SentEvent, Error>>,
    task: JoinHandle<()>,
    service: String,
    last_id: String,
    read: fn(SentEvent) -> Result<Option<T>, serde_json::Error>,
}

impl Client {
    /// Reads a stream, whichever it is: `Request::get(&["v1", "stream"]).query("topics", "events")`. With
    /// [`Request::after`] it begins after that message, otherwise now. If the connection is lost before the service has
    /// told any id, a message `reset` with an empty id says that something may be missing.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub async fn watch(&self, request: Request) -> Result<Watch<SentEvent>, Error> {
        self.watch_as(request, |event| Ok(Some(event))).await
    }

    /// As [`Client::watch`], for messages that are read: those that say nothing to whoever watches are left out.
    pub(crate) async fn watch_as<T>(
        &self,
        request: Request,
        read: fn(SentEvent) -> Result<Option<T>, serde_json::Error>,
    ) -> Result<Watch<T>, Error> {
        let request = request.header("accept", "text/event-stream")?.unbounded();
        let id = request.headers.get("last-event-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
        let opening = timeout(self.timeout(), self.send(request.clone()));
        let events = opening.await.map_err(|_| silent(self))??.events();
        let (telling, told) = mpsc::channel(1);
        let client = self.with_retries(Retries { attempts: 1, ..Retries::default() });
        let last_id = id.clone();
        let task = tokio::spawn(Watching { client, request, id, telling }.run(events));
        Ok(Watch { told, task, service: self.url().to_owned(), last_id, read })
    }
}

impl<T> Watch<T> {
    /// Returns the next message; `None` once the watch has ended. Nothing is lost if the waiting is given up.
    ///
    /// # Errors
    /// The service does not let you watch any more, after which the watch has ended; or a message is not what this client
    /// knows.
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        while let Some(event) = self.told.recv().await.transpose()? {
            self.last_id.clone_from(&event.id);
            let read = (self.read)(event)
                .map_err(|error| Error::Unreadable { service: self.service.clone(), detail: error.to_string() })?;
            if read.is_some() {
                return Ok(read);
            }
        }
        Ok(None)
    }

    /// Returns the id of the message that was returned last: a later watch goes on after it. Empty if there is none yet.
    #[must_use]
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// Ends the watch, and closes its connection. [`Watch::next`] returns `None` from then on.
    pub fn close(&mut self) {
        self.task.abort();
        // What was read ahead is told no more.
        self.told = mpsc::channel(1).1;
    }
}

impl<T> Drop for Watch<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What the task that listens goes by.
struct Watching {
    client: Client,
    request: Request,
    /// The id of the newest message that was told.
    id: String,
    telling: mpsc::Sender<Result<SentEvent, Error>>,
}

impl Watching {
    /// Follows one connection after the other.
    async fn run(mut self, mut events: Events) {
        loop {
            while let Ok(true) = heard(&self.client, &mut events, Bounds::default()).await {
                while let Some(event) = events.ready() {
                    if self.telling.send(Ok(event)).await.is_err() {
                        return;
                    }
                }
            }
            if !events.last_id().is_empty() {
                events.last_id().clone_into(&mut self.id);
            }
            events = match self.open_again().await {
                Ok(events) => events,
                Err(error) => {
                    let _ = self.telling.send(Err(error)).await;
                    return;
                }
            };
            if self.id.is_empty() {
                let (event, data) = ("reset".to_owned(), "{}".to_owned());
                let _ = self.telling.send(Ok(SentEvent { event, id: String::new(), data })).await;
            }
        }
    }

    /// Waits until there is a connection again.
    async fn open_again(&self) -> Result<Events, Error> {
        let mut after: Option<Duration> = None;
        for failed in 1.. {
            pause(after.unwrap_or_else(|| jitter(delay(failed)))).await;
            let request = self.request.clone();
            let request = if self.id.is_empty() { request } else { request.after(&self.id)? };
            let opened = timeout(ANSWER_TIMEOUT, self.client.send(request)).await;
            let error = match opened.unwrap_or_else(|_| Err(silent(&self.client))) {
                Ok(response) => return Ok(response.events()),
                Err(error) => error,
            };
            if error.problem().is_some_and(Problem::is_final) {
                return Err(error);
            }
            tracing::debug!(%error, "a stream was lost, and is opened again");
            after = error.problem().and_then(|problem| problem.retry_after);
        }
        Err(silent(&self.client))
    }
}
