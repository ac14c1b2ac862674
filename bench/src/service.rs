//! The service, run as its users run it.

use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::history::{Format, History};
use crate::http::{Connection, request};
use crate::load::{self, Outcome, Plan, Route, count};
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::running::{Memory, Running};

const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";
const READY_SECS_MAX: u64 = 60;
/// Events per file of an import.
const FILE_EVENTS: u64 = 200_000;

pub(crate) struct Service<'a> {
    setting: &'a Setting,
    running: Running,
    address: SocketAddr,
    data: PathBuf,
}

impl<'a> Service<'a> {
    /// Starts the service on a data folder, on the measured core.
    pub(crate) fn start(setting: &'a Setting, data: &Path, arguments: &[&str]) -> anyhow::Result<Self> {
        Self::start_on(setting, data, arguments, setting.cores.measured, None)
    }

    /// Like [`Service::start`], on any core, optionally with a limited number of file descriptors.
    pub(crate) fn start_anywhere(
        setting: &'a Setting,
        data: &Path,
        arguments: &[&str],
        descriptors: Option<u32>,
    ) -> anyhow::Result<Self> {
        Self::start_on(setting, data, arguments, None, descriptors)
    }

    fn start_on(
        setting: &'a Setting,
        data: &Path,
        arguments: &[&str],
        core: Option<usize>,
        descriptors: Option<u32>,
    ) -> anyhow::Result<Self> {
        if !setting.service.exists() {
            bail!("the service is not built; run this as `cargo xtask bench` or `cargo xtask attack`");
        }
        let mut command = match descriptors {
            None => Command::new(&setting.service),
            Some(descriptors) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"")).arg(&setting.service);
                shell
            }
        };
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data).args(arguments);
        // Prevent a quota from limiting the measurement.
        if !arguments.contains(&"--requests-per-minute") {
            command.args(["--requests-per-minute", "0"]);
        }
        // Several services may run concurrently.
        let log = data.with_added_extension("log");
        let running = Running::start(&mut command, core, &log)?;
        let address =
            running.wait_for_line("listening on http://").with_context(|| format!("{} tells more", log.display()))?;
        let address = address.trim().parse().context("the service listens nowhere")?;
        Ok(Self { setting, running, address, data: data.to_owned() })
    }

    pub(crate) fn load(&self, plan: Plan, connections: usize) -> anyhow::Result<Outcome> {
        send(self.setting, self.address, &self.data, plan, connections)
    }

    /// Like [`Service::load`], distributed over services on the same database, with events on this many timelines.
    pub(crate) fn load_across(
        &self,
        others: &[Self],
        (timelines, route): (u64, Route),
        connections: usize,
    ) -> anyhow::Result<Outcome> {
        let (key, timelines) = (self.key_file().display().to_string(), timelines.to_string());
        let others: Vec<String> = others.iter().map(|other| other.address.to_string()).collect();
        let mut further = vec!["--key-file", &key, "--timelines", &timelines];
        if route == Route::ByTimeline {
            further.push("--by-timeline");
        }
        further.extend(others.iter().flat_map(|address| ["--address", address]));
        let time = self.setting.measure_time;
        load::send(self.setting, self.address, &further, Plan::SpreadEvents, connections, time)
    }

    /// Returns a function that sends requests for `time` from any thread, and returns the outcome.
    pub(crate) fn loading_for(
        &self,
        plan: Plan,
        connections: usize,
        time: Duration,
    ) -> impl FnOnce() -> anyhow::Result<Outcome> + Send + use<'_, 'a> {
        let (setting, address, data) = (self.setting, self.address, self.data.as_path());
        move || send_for(setting, address, data, plan, connections, time)
    }

    pub(crate) fn import(&self, file: &Path, format: Format) -> anyhow::Result<Outcome> {
        self.import_to("main", file, format)
    }

    /// Imports events of the history to a timeline, in several files if there are many.
    pub(crate) fn import_history(&self, timeline_id: &str, numbers: Range<u64>) -> anyhow::Result<()> {
        let file = self.setting.folder.join("import-history.ndjson");
        let mut first = numbers.start;
        while first < numbers.end {
            let end = numbers.end.min(first + FILE_EVENTS);
            History::default().write_range(&file, Format::Ndjson, first..end)?;
            self.import_to(timeline_id, &file, Format::Ndjson)?.check_imported(end - first)?;
            first = end;
        }
        Ok(())
    }

    fn import_to(&self, timeline_id: &str, file: &Path, format: Format) -> anyhow::Result<Outcome> {
        let (address, key, file) = (self.address.to_string(), self.key_file(), file.display().to_string());
        let key = key.display().to_string();
        let path = format!("{}&timeline_id={timeline_id}", format.path());
        let content_type = format.content_type();
        let arguments = ["upload", "--address", &address, "--key-file", &key, "--path", &path];
        load::generate(self.setting, &[&arguments[..], &["--content-type", content_type, "--file", &file]].concat())
    }

    /// Returns a whole response, head and body.
    pub(crate) fn answer(&self, method: &str, path: &str) -> anyhow::Result<Vec<u8>> {
        let key = self.key()?;
        block_on(async {
            let mut connection = Connection::open(self.address).await?;
            let status = connection.exchange(&request(method, path, &key, None)).await?;
            connection.check(status).with_context(|| format!("{method} {path}"))?;
            Ok(connection.answer().to_vec())
        })
    }

    pub(crate) fn wait_until_ready(&self) -> anyhow::Result<()> {
        let watch = Stopwatch::start();
        block_on(async {
            let mut connection = Connection::open(self.address).await?;
            while watch.elapsed().as_secs() < READY_SECS_MAX {
                if connection.exchange(&request("GET", "/readyz", "none", None)).await? == 200 {
                    return Ok(());
                }
            }
            bail!("the service is not ready after {READY_SECS_MAX} s")
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn key(&self) -> anyhow::Result<String> {
        let key = std::fs::read_to_string(self.key_file()).context("the service made no key")?;
        Ok(key.trim().to_owned())
    }

    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn threads(&self) -> anyhow::Result<f64> {
        Ok(count(self.running.entries_of("task")?))
    }

    pub(crate) fn descriptors(&self) -> anyhow::Result<f64> {
        Ok(count(self.running.entries_of("fd")?))
    }

    pub(crate) fn entries(&self) -> anyhow::Result<f64> {
        let answer = String::from_utf8(self.answer("GET", "/metrics")?)?;
        let line = answer.lines().find_map(|line| line.strip_prefix("timenav_ledger_entries_total "));
        Ok(line.context("no metric counts entries")?.parse()?)
    }

    pub(crate) fn resident_megabytes(&self) -> anyhow::Result<f64> {
        self.memory().megabytes()
    }

    pub(crate) fn memory(&self) -> Memory {
        self.running.memory()
    }

    pub(crate) fn stop(self) -> anyhow::Result<PathBuf> {
        let status = self.running.stop()?;
        if !status.success() {
            bail!("the service ended with {status}");
        }
        Ok(self.data)
    }

    fn key_file(&self) -> PathBuf {
        self.data.join("admin.key")
    }
}

/// Sends requests to any server for the measurement time, with the key in the folder.
pub(crate) fn send(
    setting: &Setting,
    address: SocketAddr,
    data: &Path,
    plan: Plan,
    connections: usize,
) -> anyhow::Result<Outcome> {
    send_for(setting, address, data, plan, connections, setting.measure_time)
}

fn send_for(
    setting: &Setting,
    address: SocketAddr,
    data: &Path,
    plan: Plan,
    connections: usize,
    time: Duration,
) -> anyhow::Result<Outcome> {
    let key = data.join("admin.key").display().to_string();
    load::send(setting, address, &["--key-file", &key], plan, connections, time)
}

/// Finds the service's database in its data folder by its contents.
pub(crate) fn database_in(data: &Path) -> anyhow::Result<PathBuf> {
    for entry in std::fs::read_dir(data)? {
        let path = entry?.path();
        let mut start = [0; SQLITE_MAGIC.len()];
        let is_database = path.is_file() && File::open(&path)?.read_exact(&mut start).is_ok() && start == *SQLITE_MAGIC;
        if is_database {
            return Ok(path);
        }
    }
    bail!("{} holds no database", data.display())
}

pub(crate) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}
