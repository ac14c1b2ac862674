//! Server-sent events of one answer, as they come.

use std::time::Duration;

use reqwest::Response;

use super::Client;
use super::event_parser::{EventParser, ServerEvent};
use crate::exit::Failure;

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
    pub(super) response: Response,
    pub(super) parser: EventParser,
}

impl EventStream<'_> {
    /// Waits for the next sign of the service, for so long at most.
    pub(crate) fn next_within(&mut self, patience: Duration) -> Sign {
        if let Some(event) = self.parser.next_event() {
            return Sign::Event(event);
        }
        let response = &mut self.response;
        let chunk = self.client.runtime.block_on(async { tokio::time::timeout(patience, response.chunk()).await });
        let Ok(Ok(Some(bytes))) = chunk else { return Sign::Lost };
        self.parser.take(&bytes);
        self.parser.next_event().map_or(Sign::Alive, Sign::Event)
    }
}

impl Iterator for EventStream<'_> {
    type Item = Result<ServerEvent, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.parser.next_event() {
                return Some(Ok(event));
            }
            match self.client.runtime.block_on(self.response.chunk()) {
                Ok(Some(bytes)) => self.parser.take(&bytes),
                Ok(None) => return None,
                Err(error) => return Some(Err(self.client.unreachable(&error))),
            }
        }
    }
}
