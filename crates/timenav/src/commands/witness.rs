//! `timenav witness`: cosigns the checkpoints of services.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::serve::{Signals, no_listener, say_listening};
use crate::config::{TlsFiles, listen_address};
use crate::exit::Failure;
use crate::output;
use crate::server::limits::{CONNECTION_IDLE_SECONDS_DEFAULT, HANDSHAKE_SECONDS_DEFAULT};
use crate::server::{self, Bounds, Server};
use crate::telemetry::{self, LogFormat};
use crate::witness::{KnownLog, KnownPrefix, Witness, WitnessFolder, router};

/// Maximum number of connections: a log needs one.
const CONNECTIONS_MAX: u32 = 1_024;
/// Maximum number of connections per address.
const CONNECTIONS_PER_ADDRESS_MAX: u32 = 64;
/// How long requests in progress may take on shutdown.
const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(10);

/// Runs a witness: it cosigns what services write, as long as nothing is taken back.
///
/// Run it on another machine than the services, under somebody else's control. It keeps the last checkpoint of each log,
/// cosigns the next one only if that continues it (C2SP tlog-witness), and so notices if a whole service is rolled back
/// to an old copy. The first start creates its key. It prints the key for `timenav serve --witness`, then where it listens.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("logs").args(["log", "log_prefix"]).required(true).multiple(true))]
pub(crate) struct WitnessCommand {
    /// The folder for the key and what was cosigned; created if it does not exist. It must not be a service's data folder.
    #[arg(long, env = "TIMENAV_WITNESS_DATA", value_name = "DIR")]
    data: PathBuf,
    /// The address to listen on; port 0 picks a free one.
    #[arg(long, env = "TIMENAV_WITNESS_LISTEN", value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8180",
        value_parser = listen_address)]
    listen: SocketAddr,
    /// A log to cosign: its public key, and its origin if that is not the key's name. Give it once for each.
    ///
    /// For a service it is the `verifier_key` that `timenav api GET /timeline/system/checkpoint -H 'Accept:
    /// application/json'` prints. After a rotation of the service's signing key, give the new one too.
    #[arg(long, value_name = "KEY[=ORIGIN]")]
    log: Vec<KnownLog>,
    /// All logs whose origin begins with this prefix, which ends in a slash, and which this key signs. Give it once for each.
    ///
    /// For a service the prefix is its name and a slash, and the key is that of any of its timelines: `clock.example.com/`
    /// is written as `clock.example.com/=clock.example.com/system+…`. A prefix brings at most 1000 logs. A log that `--log`
    /// names has the keys that are given there, and no others.
    #[arg(long, value_name = "PREFIX/=KEY")]
    log_prefix: Vec<KnownPrefix>,
    /// What the witness is called, set on the first start. [default: timenav.local/witness]
    ///
    /// Use a domain name that you own, to keep it unique, such as `witness.example.com/w1`.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A PEM file with the certificate to serve HTTPS with, and the chain above it.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// A PEM file with the private key of the certificate.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The format of the log on stderr.
    #[arg(long, value_enum, hide_possible_values = true, value_name = "text|json", default_value = "text")]
    log_format: LogFormat,
    /// What to log: a level, or levels per module.
    #[arg(long, value_name = "FILTER", default_value = "info")]
    log_filter: String,
}

/// Serves until a signal.
///
/// # Errors
/// The witness cannot be started.
pub(crate) fn run(command: WitnessCommand) -> Result<(), Failure> {
    telemetry::start(command.log_format, &command.log_filter)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("threads cannot be started")?;
    let witnessed = runtime.block_on(witness(command));
    runtime.shutdown_timeout(Duration::from_secs(1));
    witnessed
}

async fn witness(command: WitnessCommand) -> Result<(), Failure> {
    let tls = match (command.tls_cert, command.tls_key) {
        (Some(cert), Some(key)) => Some(server::acceptor(&TlsFiles { cert, key })?),
        (None, _) | (_, None) => None,
    };
    let folder = WitnessFolder::open(&command.data)?;
    let witness = Arc::new(Witness::open(folder, command.name.as_deref(), command.log, command.log_prefix)?);
    let mut signals = Signals::listen().context("signals cannot be received")?;
    let listener = TcpListener::bind(command.listen).await.map_err(|error| no_listener(command.listen, error))?;
    let address = listener.local_addr().context("the address cannot be read")?;
    let bounds = Bounds {
        connections_max: server::make_room_for(None)?.min(CONNECTIONS_MAX),
        connections_per_address_max: CONNECTIONS_PER_ADDRESS_MAX,
        idle: Duration::from_secs(CONNECTION_IDLE_SECONDS_DEFAULT.into()),
        handshake: Duration::from_secs(HANDSHAKE_SECONDS_DEFAULT.into()),
    };
    let scheme = if tls.is_some() { "https" } else { "http" };
    let mut server = Server::start(listener, tls, router(Arc::clone(&witness)), bounds, Arc::default());
    match output::write(&format!("witness key {}\n", witness.key())) {
        Err(Failure::OutputClosed) | Ok(()) => {}
        Err(failure) => return Err(failure),
    }
    say_listening(scheme, address)?;
    let (logs, prefixes) = (witness.logs_count(), witness.prefixes_count());
    tracing::info!(logs, prefixes, "witnessing {logs} logs, and what comes under {prefixes} prefixes");
    let name = signals.next().await.name();
    tracing::info!(signal = name, "{name} received; finishing requests in flight");
    server.stop().await;
    if timeout(SHUTDOWN_DEADLINE, server.ended()).await.is_err() {
        server.cut();
    }
    Ok(())
}
