//! Server-sent events of one answer, as they come; and of one answer after the other.

use std::time::Duration;

use timenav_client::{Events, SentEvent, Watch};

use super::Client;
use crate::exit::Failure;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerEvent {
    /// By which the next stream goes on after it; empty where none was ever told.
    pub(crate) id: String,
    /// What kind of event.
    pub(crate) name: String,
    /// What it says.
    pub(crate) data: String,
}

impl From<SentEvent> for ServerEvent {
    fn from(sent: SentEvent) -> Self {
        Self { id: sent.id, name: sent.event, data: sent.data }
    }
}

/// What comes of a stream within some time.
pub(crate) enum Sign {
    /// An event.
    Event(ServerEvent),
    /// The stream is alive, and nothing has happened.
    Alive,
    /// The stream has ended, or nothing came at all.
    Lost,
}

/// Server-sent events, as they come.
pub(crate) struct EventStream<'a> {
    pub(super) client: &'a Client,
    pub(super) events: Events,
}

impl EventStream<'_> {
    /// Waits for the next sign of the service, for so long at most.
    pub(crate) fn next_within(&mut self, patience: Duration) -> Sign {
        if let Some(event) = self.events.ready() {
            return Sign::Event(event.into());
        }
        let events = &mut self.events;
        let read = self.client.runtime.block_on(async { tokio::time::timeout(patience, events.more()).await });
        match read {
            Ok(Ok(true)) => self.events.ready().map_or(Sign::Alive, |event| Sign::Event(event.into())),
            _ => Sign::Lost,
        }
    }
}

impl Iterator for EventStream<'_> {
    type Item = Result<ServerEvent, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = self.client.runtime.block_on(self.events.next()).transpose()?;
        Some(event.map(ServerEvent::from).map_err(Failure::from))
    }
}

/// Server-sent events, as they come, across lost connections.
pub(crate) struct Watching<'a> {
    pub(super) client: &'a Client,
    pub(super) watch: Watch<SentEvent>,
}

impl Iterator for Watching<'_> {
    type Item = Result<ServerEvent, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = self.client.runtime.block_on(self.watch.next()).transpose()?;
        Some(event.map(ServerEvent::from).map_err(Failure::from))
    }
}
