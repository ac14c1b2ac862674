//! Parser of server-sent events (WHATWG HTML §9.2.6) from chunks of bytes.
//!
//! Existing parsers drop comments, which are the heartbeats of a stream, and events without data, which update the id
//! of an idle stream.

use std::collections::VecDeque;

use serde::de::DeserializeOwned;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSentEvent {
    /// The name, such as `clock`.
    pub event: String,
    /// The id to send as `Last-Event-ID` to resume after this event; empty if the stream has sent none yet.
    pub id: String,
    /// The body.
    pub data: String,
}

impl ServerSentEvent {
    /// Parses the body as JSON.
    ///
    /// # Errors
    /// It has an unexpected form.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.data)
    }
}

#[derive(Debug, Default)]
pub(crate) struct EventReader {
    line: Vec<u8>,
    has_begun: bool,
    /// Whether the last byte was a carriage return, so that a following line feed belongs to it.
    after_return: bool,
    event: String,
    id: Option<String>,
    last_id: String,
    data: Option<String>,
    events: VecDeque<ServerSentEvent>,
}

impl EventReader {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let is_second = std::mem::take(&mut self.after_return) && byte == b'\n';
            match byte {
                b'\n' if is_second => {}
                b'\n' => self.end_line(),
                b'\r' => {
                    self.after_return = true;
                    self.end_line();
                }
                byte => self.line.push(byte),
            }
        }
    }

    pub(crate) fn next_event(&mut self) -> Option<ServerSentEvent> {
        self.events.pop_front()
    }

    /// Returns the newest id received, even without an event.
    pub(crate) fn last_id(&self) -> &str {
        &self.last_id
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let line = if is_first { line.strip_prefix('\u{feff}').unwrap_or(&line) } else { &line };
        if line.is_empty() {
            return self.complete();
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut self.event),
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "data" => {
                self.data = Some(self.data.take().map_or_else(|| value.to_owned(), |data| format!("{data}\n{value}")));
            }
            _ => {}
        }
    }

    fn complete(&mut self) {
        if let Some(id) = self.id.take() {
            self.last_id = id;
        }
        let event = std::mem::take(&mut self.event);
        if let Some(data) = self.data.take() {
            let event = if event.is_empty() { "message".to_owned() } else { event };
            self.events.push_back(ServerSentEvent { event, id: self.last_id.clone(), data });
        }
    }
}
