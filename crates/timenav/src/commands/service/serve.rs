use std::future::pending;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use timenav_engine::{Engine, RateLimitedLog};
use timenav_http::{ConnectionCounts, HttpOptions};
use timenav_store::PostgresStore;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::background::replicas;
use crate::background::sweeping::sweep_when_quiet;
use crate::background::{timekeeper, webhooks, witnesses};
use crate::config::{ServeOptions, Settings};
use crate::data_folder::{AddressFile, DataFolder};
use crate::demo;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::server;
use crate::server::entrance::{Entrance, Opening};
use crate::server::metrics_server;
use crate::telemetry;
use crate::telemetry::process_stats;
use crate::traces;
use crate::wiring;
use crate::wiring::Wired;

/// How long the ledger may take to write accepted entries on shutdown.
const LEDGER_DEADLINE: Duration = Duration::from_secs(20);
const DATABASE_RETRY: Duration = Duration::from_secs(1);
/// Interval of maintenance of expiring timelines. Expired timelines cannot be read, even before that.
const TEND_EVERY: Duration = Duration::from_secs(1);
/// Threads for blocking I/O: a few more than the store's concurrent reads, so that no read waits for a thread.
const BLOCKING_THREADS_MAX: usize = 32;
/// How long abandoned reads may delay shutdown.
const THREADS_DEADLINE: Duration = Duration::from_secs(1);

/// Runs the service.
///
/// The first start creates the data folder, the operator `admin`, and their API key in `admin.key` in that folder. When
/// the service is ready, it prints `listening on http://…` to stdout. On SIGTERM it drains (`--drain-secs`); then, as
/// on Ctrl-C, it finishes open requests and exits with 0. A second signal stops it immediately.
///
/// Flags override environment variables, which override the `--config` file.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeCommand {
    #[command(flatten)]
    options: ServeOptions,
}

pub(crate) fn run(command: ServeCommand) -> Result<(), Failure> {
    process_stats::note_start();
    let settings = Settings::resolve(command.options)?;
    telemetry::start(settings.log_format, &settings.log_filter)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .enable_all()
        .build()
        .context("threads cannot be started")?;
    let served = runtime.block_on(serve(&settings));
    runtime.shutdown_timeout(THREADS_DEADLINE);
    served
}

pub(in crate::commands) fn no_listener(address: SocketAddr, error: std::io::Error) -> anyhow::Error {
    let mut what = format!("cannot listen on {address}");
    if error.kind() == std::io::ErrorKind::AddrInUse {
        what.push_str(" because another program does; choose another port, such as --listen 127.0.0.1:9090");
    }
    anyhow::Error::new(error).context(what)
}

async fn serve(settings: &Settings) -> Result<(), Failure> {
    let tls = settings.tls.as_ref().map(server::acceptor).transpose()?;
    let connections_max = server::make_room_for(settings.connections.connections_max.map(NonZeroU32::get))?;
    let bounds = settings.connections.bounds(connections_max);
    let folder = DataFolder::open_with_key(&settings.data, settings.signing_key.as_deref())?;
    let mut signals = Signals::listen().context("signals cannot be received")?;
    let listener = TcpListener::bind(settings.listen).await.map_err(|error| no_listener(settings.listen, error))?;
    let address = listener.local_addr().context("the address cannot be read")?;
    let metrics_listener = metrics_server::listen(settings.metrics_listen, no_listener).await?;
    let counts = Arc::<ConnectionCounts>::default();
    let scheme = if tls.is_some() { "https" } else { "http" };
    let entrance = Opening::Closed(Entrance { listener, tls, bounds, counts: Arc::clone(&counts) });
    let (wired, entrance) = open(&folder, settings, &mut signals, (entrance, address)).await?;
    if settings.demo
        && let Err(error) = demo::load(&wired.engine, &folder.admin_key()).await
    {
        tracing::warn!("{error:#}");
    }
    let is_encrypted = settings.tls.is_some() || settings.public_url.is_some();
    if !is_encrypted {
        warn_beyond_loopback(address);
    }
    let (draining, closing) = (CancellationToken::new(), CancellationToken::new());
    let traces = traces::start(&wired.engine, settings)?;
    let spans = traces::of_background(&wired.engine, traces.as_ref());
    let options = HttpOptions {
        draining: draining.clone(),
        closing: closing.clone(),
        version: env!("CARGO_PKG_VERSION"),
        encrypted: is_encrypted,
        public_origin: settings.public_url.as_ref().map(|url| url.origin().to_owned()),
        allow_insecure_login: settings.allow_insecure_login,
        requests_per_minute: settings.requests_per_minute,
        process: process_stats::read,
        connections: Arc::clone(&counts),
        traces: traces.as_ref().map(traces::Sending::line),
        connection_limits: bounds.named(),
    };
    let (router, metrics) = timenav_http::routers(wired.engine.clone(), options, metrics_listener.is_some());
    let _metrics = metrics_server::serve(metrics_listener, metrics);
    tokio::spawn(tend(wired.engine.clone(), closing.clone()));
    tokio::spawn(replicas::follow(wired.engine.clone(), closing.clone()));
    witnesses::start(&wired.engine, settings, (&wired.checkpoints, &spans), &closing)?;
    webhooks::start(&wired.engine, wired.webhooks.clone(), (settings, spans), &closing)?;
    tokio::spawn(replicas::compare(wired.engine.clone(), closing.clone()));
    tokio::spawn(replicas::compare_rows(wired.engine.clone(), closing.clone()));
    tokio::spawn(timekeeper::report_presence(wired.engine.clone(), closing.clone()));
    tokio::spawn(timekeeper::keep_time(wired.engine.clone(), closing.clone()));
    let mut server = entrance.open(router);
    // Before the line is printed: whoever waits for that line may read the file.
    let address_file = keep_address(&folder, scheme, address);
    say_listening(scheme, address)?;
    let stop = tokio::select! {
        stop = signals.next() => stop,
        // A sweep that is interrupted here is completed after the next start.
        never = sweep_when_quiet(&wired.engine) => match never {},
    };
    tokio::spawn(stop_at_once(signals));
    drain(stop, settings.drain, &draining).await;
    drop(address_file);
    // New connections are stopped before streams: otherwise their readers would reconnect.
    server.stop().await;
    closing.cancel();
    if timeout(settings.shutdown_deadline, server.ended()).await.is_err() {
        let connections = server.cut();
        tracing::warn!(connections, "{connections} connections were still busy at the deadline and were closed");
    }
    if let Some(traces) = traces {
        traces.stop().await;
    }
    close(&wired.engine).await;
    Ok(())
}

/// Exits immediately on the next signal.
async fn stop_at_once(mut signals: Signals) {
    let name = signals.next().await.name();
    tracing::warn!(signal = name, "{name} received again; stopping immediately");
    std::process::exit(Exit::Failed.code().into());
}

/// Gives load balancers time to notice, while requests are still accepted.
async fn drain(stop: StopSignal, drain: Duration, draining: &CancellationToken) {
    let name = stop.name();
    // Ctrl-C is interactive, so it does not drain.
    if stop == StopSignal::Terminate && !drain.is_zero() {
        let seconds = drain.as_secs();
        tracing::info!(signal = name, seconds, "{name} received; accepting requests for {seconds} more seconds");
        draining.cancel();
        let _ = timeout(drain, pending::<()>()).await;
    }
    tracing::info!(signal = name, "{name} received; finishing requests in flight");
}

/// Waits for the last entries to be written, up to the deadline.
async fn close(engine: &Engine) {
    if timeout(LEDGER_DEADLINE, engine.close()).await.is_ok() {
        tracing::info!("stopped");
        return;
    }
    tracing::error!("the last entries could not be written by the deadline; none of them was acknowledged");
    tracing::info!("stopped");
    // Writer threads still wait for the store and would lose the timers that end their wait first.
    std::process::exit(Exit::Ok.code().into());
}

/// Ends expired timelines and prunes ended ones. No request waits for either.
async fn tend(engine: Engine, closing: CancellationToken) {
    let failures = RateLimitedLog::default();
    while timeout(TEND_EVERY, closing.cancelled()).await.is_err() {
        // Remaining work is continued after the next start.
        let tended = tokio::select! {
            // Rejections during shutdown are not failures.
            biased;
            () = closing.cancelled() => return,
            tended = engine.tend() => tended,
        };
        if let Err(refusal) = tended
            && let Some(suppressed) = failures.record(engine.now())
        {
            tracing::warn!(%refusal, suppressed, "ended timelines could not be cleaned up; will retry");
        }
    }
}

/// Records the listening address for clients on this machine. Failure is not fatal.
fn keep_address(folder: &DataFolder, scheme: &str, address: SocketAddr) -> Option<AddressFile> {
    let stored = AddressFile::keep(folder, scheme, address);
    stored
        .inspect_err(|error| {
            tracing::warn!(%error, "the address cannot be stored in the data folder, so clients must give it: {error}");
        })
        .ok()
}

/// Prints the listening address. A closed stdout is not fatal.
pub(in crate::commands) fn say_listening(scheme: &str, address: SocketAddr) -> Result<(), Failure> {
    match output::write(&format!("listening on {scheme}://{address}\n")) {
        Err(Failure::OutputClosed) => Ok(()),
        written => written,
    }
}

fn warn_beyond_loopback(address: SocketAddr) {
    if !address.ip().is_loopback() {
        tracing::warn!(
            %address,
            "listening on {address}, reachable from other machines, without encryption: put a proxy that terminates TLS in front of it"
        );
    }
}

/// Opens everything unless a signal arrives first, because a database may block. While no server listens at the
/// database address, probes are answered and the connection is retried.
async fn open(
    folder: &DataFolder,
    settings: &Settings,
    signals: &mut Signals,
    (mut entrance, address): (Opening, SocketAddr),
) -> anyhow::Result<(Wired, Opening)> {
    let opening = async {
        let mut was_away = false;
        loop {
            let failure = match wiring::open(folder, settings).await {
                Ok(wired) => return Ok((wired, entrance)),
                Err(failure) => failure,
            };
            let away = database_away(settings).await;
            match &away {
                Some(reason) => entrance = entrance.wait(reason, address),
                // It became available in between.
                None if was_away => {}
                None => return Err(failure),
            }
            was_away = away.is_some();
            let _ = timeout(DATABASE_RETRY, pending::<()>()).await;
        }
    };
    tokio::select! {
        opened = opening => opened,
        stop = signals.next() => Err(anyhow!("{} was received before the service had started", stop.name())),
    }
}

/// Returns why the database is unavailable, if that may be temporary.
async fn database_away(settings: &Settings) -> Option<String> {
    PostgresStore::away(settings.store.as_ref()?.secret()).await.ok().flatten()
}

/// The signals that stop the service, and one that must not.
pub(in crate::commands) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// SIGXFSZ kills a process without a handler; with one, a write beyond the limit fails like one to a full disk.
    _file_too_long: Signal,
}

impl Signals {
    pub(in crate::commands) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _file_too_long: signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }

    pub(in crate::commands) async fn next(&mut self) -> StopSignal {
        tokio::select! {
            _ = self.terminate.recv() => StopSignal::Terminate,
            _ = self.interrupt.recv() => StopSignal::Interrupt,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum StopSignal {
    /// SIGTERM, sent by a service manager.
    Terminate,
    /// SIGINT, sent by Ctrl-C.
    Interrupt,
}

impl StopSignal {
    pub(in crate::commands) const fn name(self) -> &'static str {
        match self {
            Self::Terminate => "SIGTERM",
            Self::Interrupt => "SIGINT",
        }
    }
}
