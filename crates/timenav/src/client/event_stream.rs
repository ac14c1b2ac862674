//! Server-sent events of one response, and across reconnects.

use std::time::Duration;

use timenav_client::{EventStream, ServerSentEvent, Watch};

use super::Client;
use crate::exit::Failure;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerEvent {
    /// The id to resume after; empty if none was received.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: String,
}

impl From<ServerSentEvent> for ServerEvent {
    fn from(sent: ServerSentEvent) -> Self {
        Self { id: sent.id, name: sent.event, data: sent.data }
    }
}

pub(crate) enum Sign {
    Event(ServerEvent),
    Alive,
    /// The stream has ended or timed out.
    Lost,
}

pub(crate) struct BlockingEventStream<'a> {
    pub(super) client: &'a Client,
    pub(super) events: EventStream,
}

impl BlockingEventStream<'_> {
    pub(crate) fn next_within(&mut self, patience: Duration) -> Sign {
        if let Some(event) = self.events.next_buffered() {
            return Sign::Event(event.into());
        }
        let events = &mut self.events;
        let read = self.client.runtime.block_on(async { tokio::time::timeout(patience, events.read_more()).await });
        match read {
            Ok(Ok(true)) => self.events.next_buffered().map_or(Sign::Alive, |event| Sign::Event(event.into())),
            _ => Sign::Lost,
        }
    }
}

impl Iterator for BlockingEventStream<'_> {
    type Item = Result<ServerEvent, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = self.client.runtime.block_on(self.events.next()).transpose()?;
        Some(event.map(ServerEvent::from).map_err(Failure::from))
    }
}

/// A stream of server-sent events that reconnects.
pub(crate) struct BlockingWatch<'a> {
    pub(super) client: &'a Client,
    pub(super) watch: Watch<ServerSentEvent>,
}

impl Iterator for BlockingWatch<'_> {
    type Item = Result<ServerEvent, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = self.client.runtime.block_on(self.watch.next()).transpose()?;
        Some(event.map(ServerEvent::from).map_err(Failure::from))
    }
}
