//! Server-sent events, as they arrive in pieces.

use std::collections::VecDeque;

/// Reads the data of events, whose fields stand on lines and whose end is an empty line (WHATWG
/// HTML §9.2.6).
#[derive(Debug, Default)]
pub(super) struct EventParser {
    line: Vec<u8>,
    data: Option<String>,
    events: VecDeque<String>,
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

    /// Returns the data of the next event that is complete.
    pub(super) fn next_event(&mut self) -> Option<String> {
        self.events.pop_front()
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.line);
        if line.is_empty() {
            self.events.extend(self.data.take());
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
            let events: Vec<String> = std::iter::from_fn(|| parser.next_event()).collect();
            assert_eq!(events, ["{\"a\":\n1}", "é"], "{size}");
        }
    }
}
