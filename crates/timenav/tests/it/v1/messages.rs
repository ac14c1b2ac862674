//! A reader of server-sent events.

use std::io::{BufRead as _, BufReader};

use serde_json::Value;

use crate::support::http::{Body, Connection, Request};
use crate::support::service::Service;

/// A server-sent event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    /// Empty if there is only an id.
    pub(crate) event: String,
    /// The numeric part of the id before a dot or `@`, if any.
    pub(crate) id: u64,
    /// The complete id.
    pub(crate) place: String,
    /// Null if there is only an id.
    pub(crate) data: Value,
}

pub(crate) struct Messages<'a>(BufReader<Body<'a>>);

impl Messages<'_> {
    /// Returns the next message, or `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<Message> {
        let (mut event, mut id, mut data) = (String::new(), None, String::new());
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("the stream ends as chunks do") == 0 {
                assert!(data.is_empty(), "a message is cut off");
                return None;
            }
            match line.trim_end_matches('\n').split_once(':') {
                None if line == "\n" && id.is_some() => break,
                None => assert_eq!(line, "\n", "a line has a field"),
                Some(("", _)) => {}
                Some(("event", text)) => text.trim_start().clone_into(&mut event),
                Some(("id", text)) => id = Some(text.trim().to_owned()),
                Some(("data", text)) => data.push_str(text.trim_start()),
                Some(other) => panic!("{other:?}"),
            }
        }
        let data = if data.is_empty() { Value::Null } else { serde_json::from_str(&data).expect("data is JSON") };
        let place = id.expect("a message has an id");
        let id =
            place.split(['.', '@', '~']).next().and_then(|id| id.parse().ok()).expect("an id begins with a number");
        Some(Message { event, id, place, data })
    }
}

pub(crate) fn open<'a>(connection: &'a mut Connection, service: &Service, request: Request) -> Messages<'a> {
    connection.send_request(&service.signed(request));
    let (status, headers) = connection.head().unwrap();
    assert_eq!(status, 200, "{headers:?}");
    let header = |name: &str| headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
    assert_eq!(header("content-type"), Some("text/event-stream"));
    assert_eq!(header("cache-control"), Some("no-store"));
    Messages(BufReader::new(connection.body(&headers)))
}
