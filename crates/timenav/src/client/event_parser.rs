//! Server-sent events, as they arrive in pieces.

use std::collections::VecDeque;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerEvent {
    /// By which the next stream goes on after it; empty where none was ever told.
    pub(crate) id: String,
    /// What kind of event; empty where that is not said.
    pub(crate) name: String,
    /// What it says.
    pub(crate) data: String,
}

/// Reads the ids, names and data of events, whose fields stand on lines and whose end is an empty line (WHATWG
/// HTML §9.2.6).
#[derive(Debug, Default)]
pub(super) struct EventParser {
    line: Vec<u8>,
    /// Stays until another one is told.
    id: String,
    name: String,
    data: Option<String>,
    events: VecDeque<ServerEvent>,
}

impl EventParser {
    /// Takes the next bytes of the stream.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => self.end_line(),
                b'\r' => {}
                byte => self.line.push(*byte),
            }
        }
    }

    /// Returns the next event that is complete.
    pub(super) fn next_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.line);
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let id = &self.id;
            self.events.extend(self.data.take().map(|data| ServerEvent { id: id.clone(), name, data }));
        } else if let Some(name) = line.strip_prefix("event:") {
            name.strip_prefix(' ').unwrap_or(name).clone_into(&mut self.name);
        } else if let Some(id) = line.strip_prefix("id:") {
            id.strip_prefix(' ').unwrap_or(id).clone_into(&mut self.id);
        } else if let Some(more) = line.strip_prefix("data:") {
            let more = more.strip_prefix(' ').unwrap_or(more);
            self.data = Some(self.data.take().map_or_else(|| more.to_owned(), |data| format!("{data}\n{more}")));
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_however_they_are_cut() {
        let sent = ": hello\r\n\r\nid: 7\nevent: clock\ndata: {\"a\":\ndata:1}\n\n\ndata: é\n\ndata: unfinished";
        for size in 1..sent.len() {
            let mut parser = EventParser::default();
            sent.as_bytes().chunks(size).for_each(|bytes| parser.take(bytes));
            let events: Vec<ServerEvent> = std::iter::from_fn(|| parser.next_event()).collect();
            let event = |name: &str, data: &str| ServerEvent {
                id: "7".to_owned(),
                name: name.to_owned(),
                data: data.to_owned(),
            };
            assert_eq!(events, [event("clock", "{\"a\":\n1}"), event("", "é")], "{size}");
        }
    }
}
