use std::fmt::{Display, Write as _};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use timenav_core::ids::TimelineId;
use timenav_core::time::Span;
use timenav_engine::{Engine, ReplicaStats, WitnessState, WitnessStatus};

use crate::connections::{ConnectionCounts, ConnectionEnd};
use crate::traces::TraceCounts;

mod commits;
mod process;

use commits::write_commits;
pub use process::ProcessStats;
use process::write_process;

pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

pub(crate) struct Process<'a> {
    pub(crate) version: &'a str,
    pub(crate) stats: ProcessStats,
    pub(crate) connections: &'a ConnectionCounts,
    pub(crate) traces: Option<TraceCounts>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("timenav");
        let requests = Family::<RequestLabels, Counter>::default();
        registry.register("http_requests", "Responses sent", requests.clone());
        let durations = Family::new_with_constructor(histogram as fn() -> Histogram);
        registry.register_with_unit(
            "http_request_duration",
            "Time until the response headers",
            Unit::Seconds,
            durations.clone(),
        );
        Self { registry, requests, durations }
    }

    pub(crate) fn record(&self, method: &'static str, route: &str, status: u16, took: Span) {
        let labels = RequestLabels { method: method.to_owned(), route: route.to_owned(), status };
        self.requests.get_or_create(&labels).inc();
        #[expect(clippy::cast_precision_loss, reason = "a duration of a request in microseconds is far below 2^53")]
        let seconds = took.micros() as f64 / 1e6;
        self.durations.get_or_create(&RouteLabels { route: route.to_owned() }).observe(seconds);
    }

    /// Returns all metrics in the `OpenMetrics` 1.0 text format. `is_ready` is the state of `/readyz`.
    pub(crate) fn text(&self, service: &Engine, is_ready: bool, process: &Process<'_>) -> String {
        let (mut text, engine) = (String::new(), service.stats());
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        let engine = [
            ("ready", "gauge", "Whether the service can read and write, as reported by /readyz", "", is_ready.into()),
            ("ledger_entries", "counter", "Ledger entries written since start", "_total", engine.entries),
            (
                "commits",
                "counter",
                "Groups of requests committed since start that wrote an entry",
                "_total",
                engine.groups,
            ),
            ("timelines", "gauge", "Number of timelines", "", engine.timelines),
            (
                "host_clock_behind_seconds",
                "gauge",
                "How far the host's clock is behind the newest entry from before the start",
                "",
                engine.host_clock_behind_seconds,
            ),
            (
                "host_clock_untrusted",
                "gauge",
                "Whether pruning waits for an operator to confirm the host's clock",
                "",
                engine.is_host_clock_untrusted.into(),
            ),
            ("scans_running", "gauge", "Scans for tampering in progress", "", engine.scans_running),
            ("scans_finished", "counter", "Scans that finished", "_total", engine.scans_finished),
            ("scans_cancelled", "counter", "Scans that were abandoned", "_total", engine.scans_cancelled),
            ("firings_pending", "gauge", "Firings without an outcome", "", engine.firings_pending),
            (
                "timelines_with_firings_pending",
                "gauge",
                "Timelines with firings without an outcome",
                "",
                engine.timelines_with_firings_pending,
            ),
            ("scheduler_polls", "counter", "Polls of timelines with timers", "_total", engine.scheduler_polls),
        ];
        let end = text.find("# EOF").unwrap_or(text.len());
        text.truncate(end);
        for (name, kind, help, suffix, value) in engine {
            write_metric(&mut text, (name, kind, help, suffix), value);
        }
        write_commits(&mut text, &service.commit_stats());
        write_connections(&mut text, process.connections);
        if let Some(TraceCounts { sent, dropped }) = process.traces {
            let to_collector = "Spans of requests accepted by the collector";
            write_metric(&mut text, ("trace_spans_sent", "counter", to_collector, "_total"), sent);
            let lost = "Spans of requests lost because the collector was unreachable or too slow";
            write_metric(&mut text, ("trace_spans_dropped", "counter", lost, "_total"), dropped);
        }
        write_witnesses(&mut text, service);
        if let Some(replica) = &service.replica() {
            write_replica(&mut text, replica);
        }
        let version = quoted(process.version);
        let _ = write!(
            text,
            "# HELP timenav_build The version of the service.\n# TYPE timenav_build info\n\
             timenav_build_info{{version={version}}} 1\n"
        );
        write_process(&mut text, &process.stats);
        text.push_str("# EOF\n");
        text
    }
}

fn write_connections(text: &mut String, connections: &ConnectionCounts) {
    let open = connections.open();
    let _ = write!(
        text,
        "# HELP timenav_connections Open connections.\n# TYPE timenav_connections gauge\ntimenav_connections {open}\n"
    );
    text.push_str("# HELP timenav_connections_closed Connections closed or rejected since start.\n");
    text.push_str("# TYPE timenav_connections_closed counter\n");
    for end in ConnectionEnd::ALL {
        let (name, count) = (end.name(), connections.ended(end));
        let _ = writeln!(text, "timenav_connections_closed_total{{reason=\"{name}\"}} {count}");
    }
}

fn write_witnesses(text: &mut String, service: &Engine) {
    let of = |timeline: &TimelineId, label: &str| {
        let label = label.to_owned();
        let statuses = service.witnesses(timeline).into_iter();
        statuses.map(move |(witness, status)| (format!("witness={}{label}", quoted(&witness)), status))
    };
    let of_system: Vec<_> = of(&TimelineId::system(), "").collect();
    write_statuses(text, ("witness", "system", "the service"), &of_system);
    let named = service.named_to_witnesses();
    let of_named: Vec<_> =
        named.flat_map(|timeline| of(timeline, &format!(",timeline={}", quoted(timeline.as_str())))).collect();
    write_statuses(text, ("witness_timeline", "the timeline", "a timeline that is sent to it"), &of_named);
}

fn write_statuses(
    text: &mut String,
    (name, entries_of, described_as): (&str, &str, &str),
    statuses: &[(String, WitnessStatus)],
) {
    if statuses.is_empty() {
        return;
    }
    let mut write_number = |what: &str, help: &str, value: fn(&WitnessStatus) -> u64| {
        let _ = write!(text, "# HELP timenav_{name}_{what} {help}.\n# TYPE timenav_{name}_{what} gauge\n");
        for (labels, status) in statuses {
            let _ = writeln!(text, "timenav_{name}_{what}{{{labels}}} {}", value(status));
        }
    };
    let entries = format!("Entries of {entries_of} that the witness last cosigned");
    write_number("cosigned_entries", &entries, |status| status.size);
    let seconds = "Time of its last cosignature by its own clock, in seconds since 1970";
    write_number("cosigned_seconds", seconds, |status| status.time);
    let _ = writeln!(text, "# HELP timenav_{name}_state State of the witness for {described_as}.");
    let _ = writeln!(text, "# TYPE timenav_{name}_state stateset");
    for (labels, status) in statuses {
        for state in WitnessState::ALL {
            let (word, is_it) = (state.as_str(), u8::from(state == status.state));
            let _ = writeln!(text, "timenav_{name}_state{{{labels},timenav_{name}_state=\"{word}\"}} {is_it}");
        }
    }
}

/// Quotes a label value (`OpenMetrics` 1.0, ABNF).
fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a few years are below 2^53")]
pub(crate) fn seconds(micros: i64) -> f64 {
    micros as f64 / 1e6
}

fn write_replica(text: &mut String, replica: &ReplicaStats) {
    let name = quoted(&replica.name);
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "# HELP timenav_replica The name of this replica.\n# TYPE timenav_replica info\n\
         timenav_replica_info{{replica={name}}} 1\n"
    );
    let connections = &replica.connections;
    let counted = [
        ("database_connections_max", "gauge", "Maximum number of connections to the database", "", connections.max),
        ("database_connections_open", "gauge", "Open connections to the database", "", connections.open),
        ("database_connections_in_use", "gauge", "Connections to the database in use", "", connections.in_use),
        ("database_connections_waiting", "gauge", "Requests waiting for a connection", "", connections.waiting),
        ("database_connections_opened", "counter", "Connections opened since start", "_total", connections.opened),
        ("replica_full_reloads", "counter", "Full reloads of all timelines", "_total", replica.loads),
        ("replica_retries", "counter", "Decisions repeated because others wrote first", "_total", replica.retries),
        (
            "replica_commit_acks_lost",
            "counter",
            "Commits without a response from the database",
            "_total",
            connections.unanswered,
        ),
        (
            "replica_outcomes_unknown",
            "counter",
            "Groups with the response outcome_unknown",
            "_total",
            replica.outcomes_unknown,
        ),
        (
            "replica_unverified",
            "gauge",
            "Whether the service started without a local checkpoint to compare the database with",
            "",
            replica.is_unseen.into(),
        ),
        (
            "database_oldest_snapshot_transactions",
            "gauge",
            "Transactions since the oldest snapshot that is still held on the server",
            "",
            replica.snapshot_age,
        ),
        (
            "replica_diverged",
            "gauge",
            "Whether a ledger in the database contradicts its earlier state",
            "",
            replica.diverged.is_some().into(),
        ),
    ];
    for (name, kind, help, suffix, value) in counted {
        write_metric(text, (name, kind, help, suffix), value);
    }
    write_replication(text, replica);
}

fn write_replication(text: &mut String, replica: &ReplicaStats) {
    if let Some(timekeeping) = replica.timekeeping {
        let timelines = "Timelines that this replica is the timekeeper of";
        write_metric(text, ("scheduler_timelines", "gauge", timelines, ""), timekeeping.timelines);
        let takeovers = "Timelines that it took over from another replica since start";
        write_metric(text, ("scheduler_failovers", "counter", takeovers, "_total"), timekeeping.takeovers);
    }
    if let Some(lag) = replica.lag {
        let seconds = seconds(i64::try_from(lag.micros).unwrap_or(i64::MAX));
        let positions = "Entries of others that were unknown at the last comparison";
        write_metric(text, ("replica_lag_positions", "gauge", positions, ""), lag.positions);
        write_metric(text, ("replica_lag_seconds", "gauge", "Seconds since the last comparison", ""), seconds);
    }
    if let Some(offset) = replica.clock_offset {
        let ahead = "How far the host's clock is ahead of the database's";
        write_metric(text, ("host_clock_offset_seconds", "gauge", ahead, ""), seconds(offset.micros));
        let uncertainty = seconds(offset.uncertainty_micros);
        let off = "Uncertainty of the offset";
        write_metric(text, ("host_clock_offset_uncertainty_seconds", "gauge", off, ""), uncertainty);
    }
}

fn write_metric(text: &mut String, (name, kind, help, suffix): (&str, &str, &str, &str), value: impl Display) {
    let _ =
        write!(text, "# HELP timenav_{name} {help}.\n# TYPE timenav_{name} {kind}\ntimenav_{name}{suffix} {value}\n");
}

/// Creates a histogram with ten buckets from 100 µs to 26 s, each four times the previous one.
fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(1e-4, 4.0, 10))
}
