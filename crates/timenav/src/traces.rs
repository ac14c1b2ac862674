//! Request traces, exported by OTLP over HTTP.
//!
//! Requests put their spans into a bounded queue without waiting. The exporter sends them in batches. If the queue is
//! full or the collector does not accept them, spans are dropped and counted: nothing ever waits for a collector.
//!
//! `tracing-opentelemetry` is not used: it would send whatever any crate logs, which may contain parts of requests. The
//! SDK's batch processor is not used: it does not report how many spans it drops.

mod spans;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use opentelemetry::InstrumentationScope;
pub(crate) use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks};
use reqwest::Client;
use timenav_core::time::{Instant, Wall};
use timenav_engine::{Engine, Entropy as _, RateLimitedLog};
use timenav_http::{TraceCounts, TraceParent, TracedRequest, Traces};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::client::{built, is_this_machine};
use crate::config::{OtlpUrl, Settings};
use crate::wiring::ports::OsEntropy;

pub(crate) use self::spans::Spans;

/// Queue length in spans; about half a kilobyte each.
const SPANS_WAITING_MAX: usize = 4_096;
const SPANS_PER_EXPORT_MAX: usize = 512;
/// How long a span waits for a batch to fill.
const GATHER: Duration = Duration::from_secs(1);
/// Timeout of an export, including retries.
const EXPORT_DEADLINE: Duration = Duration::from_secs(10);
/// How long shutdown waits for the remaining spans.
const FLUSH_DEADLINE: Duration = Duration::from_secs(3);

pub(crate) struct Sending {
    line: Arc<Line>,
    stopping: CancellationToken,
    task: JoinHandle<()>,
}

/// Fails if the endpoint uses TLS and there are no CA certificates, or an exporter variable is invalid.
pub(crate) fn start(engine: &Engine, settings: &Settings) -> anyhow::Result<Option<Sending>> {
    let Some(url) = &settings.otlp_endpoint else { return Ok(None) };
    let mut exporter = exporter(url)?;
    exporter.set_resource(&resource(settings));
    let (waiting, spans) = mpsc::channel(SPANS_WAITING_MAX);
    let counts = Arc::<Counts>::default();
    let stopping = CancellationToken::new();
    let sender =
        Sender { exporter, counts: Arc::clone(&counts), failures: RateLimitedLog::default(), engine: engine.clone() };
    let task = tokio::spawn(sender.send_all(spans, stopping.clone()));
    let scope = InstrumentationScope::builder("timenav").with_version(env!("CARGO_PKG_VERSION")).build();
    let line = Arc::new(Line { entropy: OsEntropy, scope, waiting, counts });
    Ok(Some(Sending { line, stopping, task }))
}

/// Lets the engine record spans of background work, and returns the recorder for other background work.
pub(crate) fn of_background(engine: &Engine, traces: Option<&Sending>) -> Spans {
    let Some(spans) = traces.map(Sending::spans) else { return Spans::default() };
    engine.trace_background(Arc::new(spans.clone()));
    spans
}

impl Sending {
    pub(crate) fn line(&self) -> Arc<dyn Traces> {
        Arc::clone(&self.line) as _
    }

    fn spans(&self) -> Spans {
        Spans::to(Arc::clone(&self.line))
    }

    /// Exports the remaining spans, up to a deadline.
    pub(crate) async fn stop(mut self) {
        self.stopping.cancel();
        if timeout(FLUSH_DEADLINE, &mut self.task).await.is_err() {
            self.task.abort();
            let TraceCounts { sent, dropped } = self.line.counts();
            let spans = self.line.counts.taken.load(Ordering::Relaxed).saturating_sub(sent + dropped);
            tracing::warn!(spans, "{spans} spans of requests were not sent: the collector did not accept them in time");
        }
    }
}

fn exporter(url: &OtlpUrl) -> anyhow::Result<SpanExporter> {
    let url = url.traces();
    let named = || format!("traces cannot be sent to {url}");
    let made = || {
        let builder = Client::builder()
            .user_agent(concat!("timenav/", env!("CARGO_PKG_VERSION")))
            .timeout(EXPORT_DEADLINE)
            .redirect(reqwest::redirect::Policy::none());
        if is_this_machine(&url) { builder.no_proxy() } else { builder }
    };
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(built(&url, made).with_context(named)?)
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(url.as_str())
        .with_timeout(EXPORT_DEADLINE);
    exporter.build().with_context(named)
}

/// Returns the resource attributes of the service (OpenTelemetry semantic conventions, "Service").
fn resource(settings: &Settings) -> Resource {
    Resource::builder_empty()
        .with_service_name("timenav")
        .with_attributes([
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("service.instance.id", settings.replica_name.clone()),
        ])
        .build()
}

#[derive(Debug, Default)]
struct Counts {
    taken: AtomicU64,
    sent: AtomicU64,
    dropped: AtomicU64,
}

#[derive(Debug)]
struct Line {
    entropy: OsEntropy,
    scope: InstrumentationScope,
    waiting: mpsc::Sender<SpanData>,
    counts: Arc<Counts>,
}

impl Traces for Line {
    fn answered(&self, request: TracedRequest) {
        self.counts.taken.fetch_add(1, Ordering::Relaxed);
        if let Ok(place) = self.waiting.try_reserve() {
            place.send(self.span(request));
        } else {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counts(&self) -> TraceCounts {
        let Counts { sent, dropped, .. } = &*self.counts;
        TraceCounts { sent: sent.load(Ordering::Relaxed), dropped: dropped.load(Ordering::Relaxed) }
    }
}

#[derive(Clone, Copy, Default)]
struct Ids {
    trace: [u8; 16],
    span: [u8; 8],
}

struct SpanRecord {
    kind: SpanKind,
    name: Cow<'static, str>,
    attributes: Vec<KeyValue>,
    began: Instant<Wall>,
    ended: Instant<Wall>,
    has_failed: bool,
}

impl Line {
    /// Queues the span of background work. Half of the queue is reserved for requests.
    fn leave_behind(&self, span: impl FnOnce() -> SpanData) {
        self.counts.taken.fetch_add(1, Ordering::Relaxed);
        let has_room = self.waiting.capacity() > self.waiting.max_capacity() / 2;
        match self.waiting.try_reserve() {
            Ok(place) if has_room => place.send(span()),
            Ok(_) | Err(_) => _ = self.counts.dropped.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Returns the span of a request (OpenTelemetry semantic conventions, "HTTP server").
    fn span(&self, request: TracedRequest) -> SpanData {
        let TracedRequest { parent, method, route, status, timeline_id, request_id, began, ended } = request;
        let mut ids = Ids::default();
        self.entropy.fill(&mut ids.span);
        if let Some(parent) = parent {
            ids.trace = parent.trace_id.to_be_bytes();
        } else {
            self.entropy.fill(&mut ids.trace);
        }
        let name = route.as_ref().map_or(Cow::Borrowed(method), |route| format!("{method} {route}").into());
        let mut attributes = vec![
            KeyValue::new("http.request.method", method),
            KeyValue::new("http.response.status_code", i64::from(status)),
            KeyValue::new("timenav.request_id", request_id),
        ];
        attributes.extend(route.map(|route| KeyValue::new("http.route", route)));
        attributes.extend(timeline_id.map(|id| KeyValue::new("timenav.timeline_id", id.as_str().to_owned())));
        // Client errors are not server failures.
        let has_failed = status >= 500;
        self.data(ids, parent, SpanRecord { kind: SpanKind::Server, name, attributes, began, ended, has_failed })
    }

    fn data(&self, ids: Ids, parent: Option<TraceParent>, record: SpanRecord) -> SpanData {
        let SpanRecord { kind, name, attributes, began, ended, has_failed } = record;
        SpanData {
            span_context: SpanContext::new(
                TraceId::from_bytes(ids.trace),
                SpanId::from_bytes(ids.span),
                TraceFlags::SAMPLED,
                false,
                TraceState::NONE,
            ),
            parent_span_id: parent.map_or(SpanId::INVALID, |parent| SpanId::from_bytes(parent.span_id.to_be_bytes())),
            parent_span_is_remote: parent.is_some(),
            span_kind: kind,
            name,
            start_time: system_time(began),
            end_time: system_time(ended),
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: if has_failed { Status::error("") } else { Status::Unset },
            instrumentation_scope: self.scope.clone(),
        }
    }
}

fn system_time(instant: Instant<Wall>) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_micros(u64::try_from(instant.micros()).unwrap_or(0))
}

struct Sender {
    exporter: SpanExporter,
    counts: Arc<Counts>,
    failures: RateLimitedLog,
    engine: Engine,
}

impl Sender {
    /// Exports spans until shutdown, then the remaining ones.
    async fn send_all(self, mut spans: mpsc::Receiver<SpanData>, stopping: CancellationToken) {
        while let Some(batch) = next_batch(&mut spans, &stopping).await {
            self.send(batch).await;
        }
    }

    async fn send(&self, batch: Vec<SpanData>) {
        let spans = batch.len() as u64;
        let error = match timeout(EXPORT_DEADLINE, self.exporter.export(batch)).await {
            Ok(Ok(())) => {
                self.counts.sent.fetch_add(spans, Ordering::Relaxed);
                return;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the collector took too long".to_owned(),
        };
        self.counts.dropped.fetch_add(spans, Ordering::Relaxed);
        if let Some(suppressed) = self.failures.record(self.engine.now()) {
            tracing::warn!(spans, error, suppressed, "spans of requests could not be sent, and were dropped: {error}");
        }
    }
}

/// Spans that arrive within a while of the first. `None` after shutdown once the queue is empty.
async fn next_batch(spans: &mut mpsc::Receiver<SpanData>, stopping: &CancellationToken) -> Option<Vec<SpanData>> {
    let mut batch = Vec::with_capacity(SPANS_PER_EXPORT_MAX);
    let gather = async {
        spans.recv_many(&mut batch, SPANS_PER_EXPORT_MAX).await;
        let _ = timeout(GATHER, fill(spans, &mut batch)).await;
    };
    let is_stopping = tokio::select! {
        biased;
        () = stopping.cancelled() => true,
        () = gather => false,
    };
    if is_stopping {
        spans.close();
        fill(spans, &mut batch).await;
    }
    (!batch.is_empty()).then_some(batch)
}

async fn fill(spans: &mut mpsc::Receiver<SpanData>, batch: &mut Vec<SpanData>) {
    loop {
        let room = SPANS_PER_EXPORT_MAX.saturating_sub(batch.len());
        if room == 0 || spans.recv_many(batch, room).await == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(status: u16) -> TracedRequest {
        TracedRequest {
            parent: None,
            method: "GET",
            route: None,
            status,
            timeline_id: None,
            request_id: "req_1".to_owned(),
            began: Instant::EPOCH,
            ended: Instant::EPOCH,
        }
    }

    fn line(room: usize) -> (Line, mpsc::Receiver<SpanData>) {
        let (waiting, spans) = mpsc::channel(room);
        let scope = InstrumentationScope::builder("timenav").build();
        (Line { entropy: OsEntropy, scope, waiting, counts: Arc::default() }, spans)
    }

    #[test]
    fn spans_are_dropped_if_the_queue_is_full() {
        let (line, mut spans) = line(2);
        for _ in 0..5 {
            line.answered(request(200));
        }
        assert_eq!(line.counts(), TraceCounts { sent: 0, dropped: 3 });
        assert_eq!(line.counts.taken.load(Ordering::Relaxed), 5);
        spans.try_recv().unwrap();
        line.answered(request(200));
        assert_eq!(line.counts().dropped, 3);
        drop(spans);
        line.answered(request(200));
        assert_eq!(line.counts().dropped, 4);
    }

    #[test]
    fn background_spans_use_at_most_half_of_the_queue() {
        let (line, mut spans) = line(4);
        let line = Arc::new(line);
        let work = Spans::to(Arc::clone(&line));
        for _ in 0..3 {
            work.begin(Instant::EPOCH).sent("POST", Vec::new, Instant::EPOCH, false);
        }
        assert_eq!((line.counts().dropped, line.waiting.capacity()), (1, 2));
        line.answered(request(200));
        line.answered(request(200));
        assert_eq!(line.counts().dropped, 1);
        let begun = work.begin(Instant::EPOCH);
        let context = spans.try_recv().unwrap().span_context;
        assert_ne!(begun.traceparent().unwrap()[3..35], context.trace_id().to_string());
        // A span that is not exported has no `traceparent`.
        assert_eq!(Spans::default().begin(Instant::EPOCH).traceparent(), None);
    }

    #[test]
    fn only_server_errors_set_the_error_status() {
        let (line, _spans) = line(1);
        for (status, expected) in [(200, false), (404, false), (499, false), (500, true), (503, true)] {
            assert_eq!(line.span(request(status)).status != Status::Unset, expected, "{status}");
        }
    }

    #[tokio::test]
    async fn remaining_spans_are_exported_in_batches_at_shutdown() {
        let (line, mut spans) = line(SPANS_WAITING_MAX);
        let stopping = CancellationToken::new();
        for _ in 0..SPANS_PER_EXPORT_MAX + 7 {
            line.answered(request(200));
        }
        stopping.cancel();
        let mut sizes = Vec::new();
        while let Some(batch) = next_batch(&mut spans, &stopping).await {
            sizes.push(batch.len());
        }
        assert_eq!(sizes, [SPANS_PER_EXPORT_MAX, 7]);
        line.answered(request(200));
        assert_eq!(line.counts().dropped, 1);
    }
}
