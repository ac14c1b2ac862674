use serde_json::json;

use super::stub_server::{StubServer, response};
use super::{client, header, run};
use crate::error::Error;
use crate::virtual_clock::watch_messages::{DueRange, Gap, WatchMessage};

const START: &str = "2027-01-01T00:00:00Z";

fn stream(messages: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{messages}")
}

fn description(watched: Option<&WatchMessage<DueRange>>) -> String {
    match watched {
        Some(WatchMessage::Update(DueRange { first, last, .. })) => format!("{first}/{last}"),
        Some(WatchMessage::Gap(Gap { is_reset, .. })) => (if *is_reset { "reset" } else { "gap" }).to_owned(),
        None => "end".to_owned(),
    }
}

#[test]
fn watch_resumes_after_the_newest_id_or_reports_a_reset() {
    run(async {
        let range = format!("{START}/{START}");
        let due = json!({ "from": START, "to": START, "time_range": range });
        let due = json!({ "timeline_id": "t", "position": 7, "due": due });
        let responses = vec![
            stream(""),
            response(503, &[("Retry-After", "0")], &json!({})),
            String::new(),
            stream(&format!("event: later\nid: 6\ndata: {{}}\n\nevent: due\nid: 7@1\ndata: {due}\n\nid: 9@2\n\n")),
            stream("event: reset\nid: 12\ndata: {}\n\n"),
            response(404, &[], &json!({})),
        ];
        let stub_server = StubServer::start(responses).await;
        let mut watch = client(&stub_server).watch_due().await.unwrap();
        // Without an id, changes since the loss are missing. Messages of unknown kinds are skipped.
        assert_eq!(description(watch.next().await.unwrap().as_ref()), "reset");
        assert_eq!(description(watch.next().await.unwrap().as_ref()), range);
        assert_eq!(watch.last_id(), "7@1");
        assert_eq!(description(watch.next().await.unwrap().as_ref()), "reset");
        assert_eq!(watch.next().await.unwrap_err().problem().unwrap().http_status, 404);
        assert_eq!(description(watch.next().await.unwrap().as_ref()), "end");
        let requests = stub_server.requests();
        let ids: Vec<_> = requests.iter().map(|request| header(request, "last-event-id")).collect();
        assert_eq!(ids, [None, None, None, None, Some("9@2"), Some("12")]);
        assert!(requests.iter().all(|request| request.starts_with("GET /v1/stream?timeline_id=t&topics=due ")));
    });
}

#[test]
fn invalid_watch_message_is_an_error() {
    run(async {
        let stub_server = StubServer::start(vec![stream("event: due\nid: 1\ndata: {}\n\n")]).await;
        let error = client(&stub_server).watch_due().await.unwrap().next().await.unwrap_err();
        assert!(matches!(error, Error::UnexpectedResponse { .. }), "{error:?}");
    });
}
