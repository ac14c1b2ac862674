//! Request traces as received by a collector, and requests while it is unavailable.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use data_encoding::HEXLOWER;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value as Attribute};
use opentelemetry_proto::tonic::trace::v1::{Span, Status, span::SpanKind, status::StatusCode};
use prost::Message as _;
use serde_json::json;

use crate::support::http::Request;
use crate::support::service::Service;
use crate::support::waiting::{until, until_so};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// A trace collector that passes on what it receives.
struct Collector {
    address: SocketAddr,
    sent: Receiver<Vec<u8>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, (sender, sent)) = (listener.local_addr().unwrap(), channel());
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let sender = sender.clone();
                std::thread::spawn(move || take_all(stream, &sender));
            }
        });
        Self { address, sent }
    }
}

/// Receives everything on a connection until it ends.
fn take_all(stream: TcpStream, sender: &Sender<Vec<u8>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            (reader.read_line(&mut head).ok()? > 0).then_some(())?;
        }
        let head = head.to_lowercase();
        assert!(head.starts_with("post /team/v1/traces http/1.1"), "{head}");
        assert!(head.contains("content-type: application/x-protobuf"), "{head}");
        let length = head.split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        sender.send(body).ok()?;
        // An empty body is a valid response without fields.
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        reader.get_mut().write_all(answer.as_bytes()).ok()?;
    }
}

fn text<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a str> {
    let value = attributes.iter().find(|attribute| attribute.key == key)?.value.as_ref()?.value.as_ref()?;
    if let Attribute::StringValue(text) = value { Some(text) } else { None }
}

fn status(span: &Span) -> i64 {
    let found = span.attributes.iter().find(|attribute| attribute.key == "http.response.status_code");
    match found.and_then(|attribute| attribute.value.as_ref()?.value.as_ref()) {
        Some(Attribute::IntValue(status)) => *status,
        other => panic!("{other:?}"),
    }
}

#[test]
fn request_spans_are_exported_without_request_content() {
    let collector = Collector::start();
    let url = format!("http://{}/team", collector.address);
    let service = Service::with(&["--otlp-endpoint", &url, "--replica-name", "one"]);
    let traced = |id: &str, request: Request, sampled: &str| {
        let parent = format!("00-{TRACE}-{PARENT}-{sampled}");
        service.send(request.header("X-Request-Id", id).header("traceparent", &parent))
    };
    traced("with-parent", Request::get("/v1/clock"), "01").expect(200);
    traced("not-sampled", Request::get("/v1/clock"), "00").expect(200);
    let event = json!({ "timeline_id": "apollo", "time": "1969-07-20T20:17:40Z", "location": "Paris",
        "description": "told to nobody" });
    traced("in-body", Request::post("/v1/events").json(&event), "01").expect(201);
    let checkpoint = Request::get("/timeline/apollo/checkpoint").header("X-Request-Id", "in-path");
    assert_eq!(service.send(checkpoint).status, 200);
    let nowhere = Request::get("/no/such/secret-path?key=tn_secret").header("X-Request-Id", "nowhere");
    assert_eq!(service.send(nowhere).status, 404);
    let stranger = Request::get("/v1/clock").anonymous().header("X-Request-Id", "stranger");
    assert_eq!(service.send(stranger).status, 401);
    until_so("spans that were sent while the service runs", || service.metric("timenav_trace_spans_sent_total") > 0);
    assert_eq!(service.metric("timenav_trace_spans_dropped_total"), 0);
    let admin = service.admin.clone();
    // The last spans are exported before the service ends.
    service.audit();
    let bodies: Vec<Vec<u8>> = collector.sent.try_iter().collect();
    for secret in [admin.as_str(), "secret", "told to nobody", "Bearer"] {
        let holds = |body: &Vec<u8>| memchr::memmem::find(body, secret.as_bytes()).is_some();
        assert!(!bodies.iter().any(holds), "{secret}");
    }
    let exported = bodies.iter().flat_map(|body| ExportTraceServiceRequest::decode(&body[..]).unwrap().resource_spans);
    let mut spans = Vec::new();
    for exported in exported {
        let resource = exported.resource.unwrap().attributes;
        let of_service = ["service.name", "service.version", "service.instance.id"].map(|key| text(&resource, key));
        assert_eq!(of_service, [Some("timenav"), Some(env!("CARGO_PKG_VERSION")), Some("one")]);
        spans.extend(exported.scope_spans.into_iter().flat_map(|scope| scope.spans));
    }
    let span = |id: &str| {
        let found: Vec<&Span> =
            spans.iter().filter(|span| text(&span.attributes, "timenav.request_id") == Some(id)).collect();
        assert!(found.len() < 2, "{found:?}");
        found.first().copied()
    };
    let check = |id: &str, method: &str, route: Option<&str>, code: i64, timeline: Option<&str>| {
        let span = span(id).unwrap_or_else(|| panic!("no span of {id} among {}", spans.len()));
        assert_eq!(span.name, route.map_or(method.to_owned(), |route| format!("{method} {route}")));
        let keys = ["http.request.method", "http.route", "timenav.timeline_id"];
        assert_eq!(
            (keys.map(|key| text(&span.attributes, key)), status(span)),
            ([Some(method), route, timeline], code)
        );
        assert_eq!(span.kind(), SpanKind::Server);
        assert_eq!(span.status.as_ref().map_or(StatusCode::Unset, Status::code), StatusCode::Unset);
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano && span.start_time_unix_nano > 0, "{span:?}");
        span.clone()
    };
    let with_parent = check("with-parent", "GET", Some("/v1/clock"), 200, Some("main"));
    assert_eq!(
        (HEXLOWER.encode(&with_parent.trace_id), HEXLOWER.encode(&with_parent.parent_span_id)),
        (TRACE.to_owned(), PARENT.to_owned())
    );
    let in_body = check("in-body", "POST", Some("/v1/events"), 201, Some("apollo"));
    assert_ne!(in_body.span_id, with_parent.span_id);
    let in_path = check("in-path", "GET", Some("/timeline/{timeline_id}/checkpoint"), 200, Some("apollo"));
    assert!(in_path.parent_span_id.is_empty() && in_path.trace_id != with_parent.trace_id);
    check("nowhere", "GET", None, 404, None);
    check("stranger", "GET", Some("/v1/clock"), 401, None);
    assert_eq!(span("not-sampled"), None);
}

/// A webhook receiver. Passes on the head of each request in lower case.
fn receiver() -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, (sender, sent)) = (listener.local_addr().unwrap(), channel());
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let (mut reader, mut head) = (BufReader::new(stream), String::new());
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|read| read > 0) {}
            let head = head.to_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
            if reader.read_exact(&mut body).is_err() || reader.get_mut().write_all(answer).is_err() {
                continue;
            }
            if sender.send(head).is_err() {
                return;
            }
        }
    });
    (address, sent)
}

#[test]
fn background_work_has_spans_and_webhooks_propagate_context() {
    let (collector, (receiver, heads)) = (Collector::start(), receiver());
    let (url, to) = (format!("http://{}/team", collector.address), format!("http://{receiver}"));
    let mut service = Service::with(&["--otlp-endpoint", &url, "--webhook-allow-host", &to, "--checkpoint-lag", "0"]);
    service.post("/v1/pause-time", &json!({}));
    service.post("/v1/travel", &json!({ "destination_time": "2000-01-01T00:00:00Z" }));
    let deliver = json!({ "to": "webhook", "url": format!("{to}/secret-path") });
    service.post("/v1/timers", &json!({ "at": "2000-01-02T00:00:00Z", "deliver": deliver }));
    let settled = service.post("/v1/fast-forward", &json!({ "duration": "2d", "wait": "10m" }));
    assert_eq!(settled["receipt"]["acknowledged"], 1, "{settled}");
    let head = heads.recv().unwrap();
    // The next start has something to sweep.
    service.post("/v1/set-retention", &json!({ "timeline_id": "main", "reads": "90d" }));
    service.restart();
    let (mut bodies, mut spans) = (Vec::new(), Vec::<Span>::new());
    let mut find = |name: &str, timeline: Option<&str>| {
        until(name, || {
            for body in collector.sent.try_iter() {
                let exported = ExportTraceServiceRequest::decode(&body[..]).unwrap().resource_spans.into_iter();
                spans.extend(exported.flat_map(|exported| exported.scope_spans).flat_map(|scope| scope.spans));
                bodies.push(body);
            }
            let is_match =
                |span: &&Span| span.name == name && text(&span.attributes, "timenav.timeline_id") == timeline;
            spans.iter().find(is_match).cloned()
        })
    };
    let webhook = find("POST", Some("main"));
    let parent =
        format!("traceparent: 00-{}-{}-01\r\n", HEXLOWER.encode(&webhook.trace_id), HEXLOWER.encode(&webhook.span_id));
    assert!(head.contains(&parent), "{parent}{head}");
    let firing = text(&webhook.attributes, "timenav.firing_id").unwrap();
    assert!(head.contains(&format!("webhook-id: {}\r\n", firing.to_lowercase())), "{firing}{head}");
    assert_eq!((status(&webhook), text(&webhook.attributes, "server.address")), (204, Some("127.0.0.1")));
    assert_eq!((webhook.kind(), webhook.parent_span_id.len()), (SpanKind::Client, 0));
    for (name, timeline) in [("fire timers", Some("main")), ("sweep", Some("main")), ("keep checkpoints", None)] {
        let span = find(name, timeline);
        assert_eq!((span.kind(), span.parent_span_id.len()), (SpanKind::Internal, 0), "{name}");
        assert_eq!(span.status.as_ref().map_or(StatusCode::Unset, Status::code), StatusCode::Unset);
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano && span.trace_id != webhook.trace_id, "{span:?}");
    }
    let holds = |body: &Vec<u8>| memchr::memmem::find(body, b"secret-path").is_some();
    assert!(!bodies.iter().any(holds), "the path of a webhook is told to nobody else");
    service.audit();
}

#[test]
fn unavailable_collector_does_not_block_requests() {
    // Nothing listens there any more.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut service = Service::with(&["--otlp-endpoint", &format!("http://{address}")]);
    service.get("/v1/clock", &[]);
    until_so("spans that were dropped", || service.metric("timenav_trace_spans_dropped_total") > 0);
    assert_eq!(service.metric("timenav_trace_spans_sent_total"), 0);
    assert!(service.log_text().contains("spans of requests could not be sent, and were dropped"));
    assert!(service.stop().success());
    // It accepts connections and never responds.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    service.arguments(&["--otlp-endpoint", &format!("http://{}", silent.local_addr().unwrap())]);
    service.start_again();
    for _ in 0..100 {
        service.get("/v1/clock", &[]);
    }
    let _let_in = silent.accept().unwrap();
    assert!(service.stop().success());
    let log = service.log_text();
    assert!(log.contains("spans of requests were not sent: the collector did not accept them in time"), "{log}");
    service.arguments(&[]);
    service.start_again();
    assert!(!service.send(Request::get("/metrics").anonymous()).text().contains("timenav_trace_spans"));
    service.audit();
}
