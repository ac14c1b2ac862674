use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::commands::service::serve::{Signals, no_listener, say_listening};
use crate::config::{TlsFiles, listen_address};
use crate::exit::Failure;
use crate::output;
use crate::server::limits::{CONNECTION_IDLE_SECONDS_DEFAULT, HANDSHAKE_SECONDS_DEFAULT};
use crate::server::{self, Bounds, Server};
use crate::telemetry::{self, LogFormat};
use crate::witness::{KnownLog, KnownPrefix, Witness, WitnessFolder, router};

/// Maximum number of connections: a log needs one.
const CONNECTIONS_MAX: u32 = 1_024;
const CONNECTIONS_PER_ADDRESS_MAX: u32 = 64;
const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(10);

/// Runs a witness, which cosigns the checkpoints of services as long as each continues the one before.
///
/// Run it on another machine, under another party's control. It keeps the last checkpoint of each log (C2SP
/// tlog-witness), so it detects if a service is rolled back. The first start creates its key. It prints the key for
/// `timenav serve --witness`, then its address.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("logs").args(["log", "log_prefix"]).required(true).multiple(true))]
pub(crate) struct WitnessCommand {
    /// The folder for the key and the checkpoints, created if it does not exist. Not a service's data folder.
    #[arg(long, env = "TIMENAV_WITNESS_DATA", value_name = "DIR")]
    data: PathBuf,
    /// The address to listen on; port 0 picks a free port.
    #[arg(long, env = "TIMENAV_WITNESS_LISTEN", value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8180",
        value_parser = listen_address)]
    listen: SocketAddr,
    /// A log to cosign: its public key, and its origin if that is not the key's name. Repeatable.
    ///
    /// For a service, use the `verifier_key` from `timenav api GET /timeline/system/checkpoint -H 'Accept:
    /// application/json'`.
    #[arg(long, value_name = "KEY[=ORIGIN]")]
    log: Vec<KnownLog>,
    /// All logs with this origin prefix, which ends in a slash, signed by this key. Repeatable.
    ///
    /// For a service, use its name and the key of any timeline: `clock.example.com/=clock.example.com/system+…`. A
    /// prefix covers up to 1000 logs. A log that `--log` names uses only the keys given there.
    #[arg(long, value_name = "PREFIX/=KEY")]
    log_prefix: Vec<KnownPrefix>,
    /// The name of the witness, set on the first start. [default: timenav.local/witness]
    ///
    /// Use a domain name that you own.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The HTTPS certificate and its chain (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The log format on stderr.
    #[arg(long, value_enum, hide_possible_values = true, value_name = "text|json", default_value = "text")]
    log_format: LogFormat,
    /// The log level, also per module.
    #[arg(long, value_name = "FILTER", default_value = "info")]
    log_filter: String,
}

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
    tracing::info!(logs, prefixes, "witnessing {logs} logs and {prefixes} prefixes");
    let name = signals.next().await.name();
    tracing::info!(signal = name, "{name} received; finishing requests in flight");
    server.stop().await;
    if timeout(SHUTDOWN_DEADLINE, server.ended()).await.is_err() {
        server.cut();
    }
    Ok(())
}
