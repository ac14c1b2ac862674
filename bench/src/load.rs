//! The load generator, which runs in a separate process on its own core.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::grpc::{self, Channel};
use crate::history::History;
use crate::http::{Connection, request};
use crate::measure::cores::on_core;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;

const REQUESTS_MAX: usize = 20_000_000;
const REQUESTS_PREPARED: u64 = 4_096;
pub(crate) const SPREAD_TIMELINES: u64 = 16;
const WARM_TIME: Duration = Duration::from_millis(300);
const LATE_TIME_MAX: Duration = Duration::from_secs(20);
const UPLOAD_TIME_MAX: Duration = Duration::from_hours(1);

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Plan {
    /// `GET /v1/clock`.
    Clock,
    /// `POST /v1/travel`, each time to another moment.
    Travel,
    /// `POST /v1/events`, one event each.
    Event,
    /// The same, each on the next of so many timelines.
    SpreadEvents,
    /// `POST /v1/encrypt-data`, with a passphrase.
    Passphrase,
    /// `GET /v1/monitor-events`, ten events of one place.
    Monitor,
    /// etcd's `Put`: the event as a value under a key of its own.
    EtcdPut,
    /// UmaDB's `Append`: the event, with its place as a tag.
    UmadbAppend,
}

/// Which service a request is sent to if there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Any,
    /// All requests of a timeline go to the same service.
    ByTimeline,
}

enum Wire {
    Http(Connection),
    Grpc(Channel),
}

/// Sends requests for a while.
#[derive(Args)]
pub(crate) struct Load {
    /// Where to. Where there are several, connections are divided evenly among them.
    #[arg(long, required = true)]
    address: Vec<SocketAddr>,
    /// The API key. Other servers than the service take none here.
    #[arg(long)]
    key_file: Option<PathBuf>,
    /// What is sent.
    #[arg(long, value_enum)]
    plan: Plan,
    /// Among how many timelines writes are spread.
    #[arg(long, default_value_t = SPREAD_TIMELINES)]
    timelines: u64,
    /// Sends all writes of a timeline to the same address.
    #[arg(long)]
    by_timeline: bool,
    /// How many connections send, each one request at a time.
    #[arg(long)]
    connections: usize,
    /// For how long, in milliseconds.
    #[arg(long)]
    millis: u64,
}

/// Sends one file.
#[derive(Args)]
pub(crate) struct Upload {
    /// Where to.
    #[arg(long)]
    address: SocketAddr,
    /// The API key.
    #[arg(long)]
    key_file: PathBuf,
    /// The path, with its query.
    #[arg(long)]
    path: String,
    /// What the file is.
    #[arg(long)]
    content_type: String,
    /// The file.
    #[arg(long)]
    file: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Successful requests during the measurement.
    pub(crate) requests: usize,
    pub(crate) seconds: f64,
    pub(crate) p50_micros: f64,
    pub(crate) p99_micros: f64,
    /// The body of the last response, only for uploads.
    pub(crate) answer: String,
}

impl Outcome {
    pub(crate) fn rate(&self) -> f64 {
        count(self.requests) / self.seconds
    }

    /// Fails if the response to an import reports another number of events.
    pub(crate) fn check_imported(&self, events_count: u64) -> anyhow::Result<()> {
        let answer: Value = serde_json::from_str(&self.answer)?;
        if answer["imported"] != events_count {
            bail!("not every event was imported: {}", self.answer);
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts here stay far below 2^52")]
pub(crate) fn count(number: usize) -> f64 {
    number as f64
}

impl Load {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(tokio::task::LocalSet::new().run_until(self.send()))?;
        println!("{}", serde_json::to_string(&outcome)?);
        Ok(())
    }

    async fn send(self) -> anyhow::Result<Outcome> {
        let key = self.key_file.as_deref().map(read_key).transpose()?.unwrap_or_default();
        let routes = if self.by_timeline { self.address.len() as u64 } else { 1 };
        let routes = (0..routes).map(|route| {
            let of_route = (0..REQUESTS_PREPARED).filter(|number| number % self.timelines % routes == route);
            let requests = of_route.map(|number| self.plan.request(number, &key, self.timelines)).collect();
            Prepared { requests, next: Cell::new(0) }
        });
        let time = Duration::from_millis(self.millis);
        let shared = Rc::new(Shared {
            routes: routes.collect(),
            start: Stopwatch::start(),
            end: WARM_TIME + time,
            micros: RefCell::default(),
        });
        let addresses = self.address.iter().copied().enumerate().cycle().take(self.connections);
        let senders: Vec<_> =
            addresses.map(|to| tokio::task::spawn_local(send_until_end(Rc::clone(&shared), self.plan, to))).collect();
        let all = async {
            for sender in senders {
                sender.await??;
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(shared.end + LATE_TIME_MAX, all).await.context("answers take too long")??;
        let mut micros = shared.micros.take();
        micros.sort_unstable_by(f32::total_cmp);
        let at = |share: f64| quantile(&micros, share);
        Ok(Outcome {
            requests: micros.len(),
            seconds: time.as_secs_f64(),
            p50_micros: at(0.5),
            p99_micros: at(0.99),
            answer: String::new(),
        })
    }
}

/// Requests that are sent in turn.
struct Prepared {
    requests: Vec<Bytes>,
    next: Cell<usize>,
}

struct Shared {
    /// One for each address, or one for all of them.
    routes: Vec<Prepared>,
    start: Stopwatch,
    end: Duration,
    /// Latencies of all measured requests.
    micros: RefCell<Vec<f32>>,
}

async fn send_until_end(shared: Rc<Shared>, plan: Plan, (number, address): (usize, SocketAddr)) -> anyhow::Result<()> {
    let mut wire = plan.connect(address).await?;
    let Prepared { requests, next } = &shared.routes[number % shared.routes.len()];
    while shared.start.elapsed() < shared.end && shared.micros.borrow().len() < REQUESTS_MAX {
        let number = next.get();
        next.set(number + 1);
        let watch = Stopwatch::start();
        wire.exchange(&requests[number % requests.len()]).await?;
        #[expect(clippy::cast_possible_truncation, reason = "a third of a microsecond in an hour is exact enough")]
        let micros = watch.micros() as f32;
        // Requests that end outside of the measured time do not count.
        let at = shared.start.elapsed();
        if (WARM_TIME..shared.end).contains(&at) {
            shared.micros.borrow_mut().push(micros);
        }
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length is a place in it")]
fn quantile(sorted: &[f32], share: f64) -> f64 {
    let place = (count(sorted.len().saturating_sub(1)) * share).round() as usize;
    sorted.get(place).map_or(f64::NAN, |micros| f64::from(*micros))
}

impl Wire {
    async fn exchange(&mut self, request: &Bytes) -> anyhow::Result<()> {
        match self {
            Self::Http(connection) => {
                let status = connection.exchange(request).await?;
                connection.check(status)
            }
            Self::Grpc(channel) => channel.call(request.clone()).await,
        }
    }
}

impl Plan {
    async fn connect(self, address: SocketAddr) -> anyhow::Result<Wire> {
        Ok(match self {
            Self::EtcdPut => Wire::Grpc(Channel::open(address, "/etcdserverpb.KV/Put").await?),
            Self::UmadbAppend => Wire::Grpc(Channel::open(address, "/umadb.v1.DCB/Append").await?),
            Self::Clock | Self::Travel | Self::Event | Self::SpreadEvents | Self::Passphrase | Self::Monitor => {
                Wire::Http(Connection::open(address).await?)
            }
        })
    }

    fn request(self, number: u64, key: &str, timelines: u64) -> Bytes {
        Bytes::from(match self {
            Self::EtcdPut => grpc::etcd_put(&event_key(number), &History { named: false }.json(number)),
            Self::UmadbAppend => {
                grpc::umadb_append("event", &event_key(number), &History { named: false }.json(number))
            }

            Self::Clock => request("GET", "/v1/clock", key, None),
            Self::Travel => {
                let body = format!(r#"{{"destination_time":"{}"}}"#, History::default().draft(number).time);
                request("POST", "/v1/travel", key, Some(&body))
            }
            Self::Event => {
                let event = History { named: false }.json(number);
                request("POST", "/v1/events", key, Some(&event))
            }
            Self::SpreadEvents => {
                let event = History { named: false }.json(number);
                let path = format!("/v1/events?timeline_id=spread-{}", number % timelines);
                request("POST", &path, key, Some(&event))
            }
            Self::Passphrase => {
                let data = format!(r#"{{"number":{number}}}"#);
                let key_text = "correct horse battery staple";
                let body = format!(r#"{{"timeline_id":"main","data":{data},"encryption_key":"{key_text}"}}"#);
                request("POST", "/v1/encrypt-data", key, Some(&body))
            }
            Self::Monitor => {
                let place = History::default().box_of_place(number);
                let path = format!("/v1/monitor-events?location={place}&time_range=../..&limit=10");
                request("GET", &path, key, None)
            }
        })
    }
}

fn event_key(number: u64) -> String {
    format!("event-{number:026}")
}

impl Upload {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(async { tokio::time::timeout(UPLOAD_TIME_MAX, self.send()).await })?;
        println!("{}", serde_json::to_string(&outcome?)?);
        Ok(())
    }

    async fn send(self) -> anyhow::Result<Outcome> {
        let key = read_key(&self.key_file)?;
        let mut file = tokio::fs::File::open(&self.file).await?;
        let length = file.metadata().await?.len();
        let mut connection = Connection::open(self.address).await?;
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nContent-Type: {}\r\nContent-Length: {length}\r\n\r\n",
            self.path, self.content_type
        );
        let watch = Stopwatch::start();
        let status = connection.exchange_file(head.as_bytes(), &mut file).await?;
        let micros = watch.micros();
        connection.check(status)?;
        let answer = String::from_utf8_lossy(connection.body()).into_owned();
        Ok(Outcome { requests: 1, seconds: micros / 1e6, p50_micros: micros, p99_micros: micros, answer })
    }
}

fn read_key(path: &std::path::Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(text.trim().to_owned())
}

/// Sends requests to any server from a separate process, which gets the further arguments.
pub(crate) fn send(
    setting: &Setting,
    address: SocketAddr,
    further: &[&str],
    plan: Plan,
    connections: usize,
    time: Duration,
) -> anyhow::Result<Outcome> {
    let plan = plan.to_possible_value().context("a plan has no name")?;
    let (address, connections, millis) = (address.to_string(), connections.to_string(), time.as_millis().to_string());
    let counts = ["--connections", &connections, "--millis", &millis];
    let arguments = [&["load", "--address", &address, "--plan", plan.get_name()], further, &counts].concat();
    generate(setting, &arguments)
}

/// Runs this program as a load generator on the core for it, and returns its outcome.
pub(crate) fn generate(setting: &Setting, arguments: &[&str]) -> anyhow::Result<Outcome> {
    let mut command = Command::new(&setting.program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = on_core(setting.cores.load, || command.output()).context("the load generator cannot be started")?;
    if !output.status.success() {
        bail!("the load generator ended with {}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("the load generator printed something else")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_read_from_sorted_values() {
        let sorted: Vec<f32> = (0..101_u8).map(f32::from).collect();
        for (share, expected) in [(0.0, 0.0), (0.5, 50.0), (0.99, 99.0), (1.0, 100.0)] {
            assert!((quantile(&sorted, share) - expected).abs() < 1e-9, "{share}");
        }
        assert!(quantile(&[], 0.5).is_nan());
    }
}
