//! Flags override environment variables, which override the configuration file. clap reads flags and the environment,
//! this module the file, both into [`ServeOptions`]. [`Settings`] has the result, with defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use clap::builder::BoolishValueParser;
use serde::Deserialize;
use timenav_core::limits::{
    ENDED_GRACE_DAYS_DEFAULT, ENDED_GRACE_DAYS_MAX, HOST_CLOCK_OFFSET_MILLIS_MAX_DEFAULT,
    LIMITED_ACCESS_WINDOW_DAYS_DEFAULT, RETENTION_FLOOR_SECONDS_DEFAULT, SESSION_IDLE_SECONDS_DEFAULT,
    SESSION_SECONDS_DEFAULT, TIMELINES_PER_USER_MAX_DEFAULT,
};

use crate::data_folder::DATA_DEFAULT;
use crate::telemetry::LogFormat;

#[cfg(test)]
mod tests;
mod connections;
mod file;
mod trusted_checkpoint;
mod lag_millis;
mod listen;
mod otlp_url;
mod public_url;
mod recording;
mod secs;
mod shared;
mod store_url;
mod unknown_key;
mod webhook_allow_host;
mod witness_url;
mod witnesses;

pub(crate) use connections::ConnectionSettings;
pub(crate) use lag_millis::LagMillis;
pub(crate) use listen::listen_address;
pub(crate) use otlp_url::OtlpUrl;
pub(crate) use public_url::PublicUrl;
pub(crate) use recording::{ReadLogChoice, RecordingSettings};
use secs::{ConnectionSecs, Secs, SessionSecs, WitnessSecs};
use shared::Shared;
pub(crate) use store_url::{StoreUrl, named as named_store};
pub(crate) use trusted_checkpoint::CheckpointSource;
pub(crate) use webhook_allow_host::WebhookTo;
pub(crate) use witness_url::WitnessUrl;
pub(crate) use witnesses::{WitnessSettings, WitnessTimeline};

/// Reads a setting in the file as on the command line.
macro_rules! deserialize_from_text {
    ($($setting:ty)*) => {
        $(impl<'de> Deserialize<'de> for $setting {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        })*
    };
}
deserialize_from_text! { OtlpUrl PublicUrl StoreUrl WebhookTo WitnessTimeline WitnessUrl }

const LISTEN_DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
/// Default requests per user and minute: a thousand a second, more than a client that waits for its responses can make.
const REQUESTS_PER_MINUTE_DEFAULT: u32 = 60_000;
/// How long a replica accepts requests after SIGTERM, in seconds. Proxies poll `/readyz` every few seconds.
const DRAIN_SECS_DEFAULT: u32 = 5;
const SHUTDOWN_DEADLINE_SECS_DEFAULT: u64 = 10;
const LOG_FILTER_DEFAULT: &str = "info";
/// What flags and the environment say, and what the file says.
///
/// Each setting is written here, and how it is settled in [`Settings::layer`].
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServeOptions {
    /// The address to listen on; port 0 picks a free port. [default: 127.0.0.1:8080]
    ///
    /// Other addresses need a certificate, or a proxy that terminates TLS.
    #[arg(long, env = "TIMENAV_LISTEN", value_name = "ADDRESS:PORT", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
    /// The HTTPS certificate and its chain (PEM).
    #[arg(long, env = "TIMENAV_TLS_CERT", value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM).
    #[arg(long, env = "TIMENAV_TLS_KEY", value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A separate address for `/metrics`, over plain HTTP. [default: `/metrics` at the address of the service]
    ///
    /// `/metrics` needs no key. Only your monitoring should reach it.
    #[arg(long, env = "TIMENAV_METRICS_LISTEN", value_name = "ADDRESS:PORT", value_parser = listen_address)]
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// The folder for all data, created if it does not exist. [default: ./timenav-data]
    #[arg(long, env = "TIMENAV_DATA", value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// A PostgreSQL database for all data, instead of a file in the data folder: `postgres://…`
    ///
    /// Put a URL with a password in the environment or in the file, not in the process list.
    #[arg(long, env = "TIMENAV_STORE", hide_env_values = true, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
    /// A file with the URL for `--store`, such as a mounted secret.
    #[arg(long, env = "TIMENAV_STORE_FILE", value_name = "FILE")]
    pub(crate) store_file: Option<PathBuf>,
    /// The signing key file, with `--store`. [default: `signing.key` in the data folder]
    #[arg(long, env = "TIMENAV_SIGNING_KEY", value_name = "FILE")]
    pub(crate) signing_key: Option<PathBuf>,
    /// Whether several services share the database in `--store`. [default: false]
    ///
    /// Each needs its own data folder, and all need the same signing key.
    #[arg(long, env = "TIMENAV_REPLICAS", value_parser = BoolishValueParser::new(), num_args = 0..=1,
        require_equals = true, default_missing_value = "true", hide_possible_values = true, value_name = "BOOL")]
    pub(crate) replicas: Option<bool>,
    /// Start with a data folder that has no checkpoints of the database yet.
    ///
    /// For the first start of an additional replica, which trusts the database as found. Not for the file.
    #[arg(long, env = "TIMENAV_JOIN", value_parser = BoolishValueParser::new(), num_args = 0..=1,
        require_equals = true, default_missing_value = "true", hide_possible_values = true, value_name = "BOOL")]
    #[serde(skip)]
    pub(crate) join: Option<bool>,
    /// With `--join`, a file or URL of checkpoints that the database must continue, such as `checkpoints.log` of a
    /// replica.
    ///
    /// Repeatable; in the environment, separate them by commas.
    #[arg(
        long,
        env = "TIMENAV_TRUSTED_CHECKPOINT",
        hide_env_values = true,
        value_name = "FILE|URL",
        value_delimiter = ','
    )]
    #[serde(skip)]
    pub(crate) trusted_checkpoint: Vec<CheckpointSource>,
    /// The name of this replica in `/metrics` and `/v1/limits`. [default: the host name]
    #[arg(long, env = "TIMENAV_REPLICA_NAME", value_name = "NAME")]
    pub(crate) replica_name: Option<String>,
    /// With `--store`, the maximum offset between host and database clock, in milliseconds; 0 for no check. [default:
    /// 2000]
    ///
    /// Beyond it, the service is not ready and deletes nothing. With `--replicas` it does not write either.
    #[arg(long, env = "TIMENAV_HOST_CLOCK_OFFSET_MAX_MILLIS", value_name = "MILLISECONDS")]
    pub(crate) host_clock_offset_max_millis: Option<u32>,
    /// A TOML file with settings, named like these flags with `_` for `-`.
    ///
    /// Relative paths start at the working directory.
    #[arg(long, env = "TIMENAV_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,
    /// The service name, part of every signed checkpoint. Cannot be changed later. [default: timenav.local, or as
    /// before]
    ///
    /// Use a domain name that you own.
    #[arg(long, env = "TIMENAV_SERVICE_NAME", value_name = "NAME")]
    pub(crate) service_name: Option<String>,
    /// How far from host time users with `limited_access` can travel, in days. [default: 30]
    #[arg(long, env = "TIMENAV_LIMITED_ACCESS_WINDOW_DAYS", value_name = "DAYS")]
    pub(crate) limited_access_window_days: Option<u32>,
    /// When the ledger entry of a successful read is durable. [default: buffered]
    ///
    /// `buffered`: about 20 ms after the response, so a crash can lose the entries of the last reads. `durable`: before
    /// the response, which is slower. Changes, rejected requests, decryptions and reads of the ledger are always
    /// durable before their response.
    #[arg(long, env = "TIMENAV_READ_LOG", value_enum, hide_possible_values = true, value_name = "durable|buffered")]
    pub(crate) read_log: Option<ReadLogChoice>,
    /// Whether reads of a clock have ledger entries too. [default: false]
    ///
    /// Programs poll clocks, so this can fill the disk. Rejected reads are always recorded.
    #[arg(long, env = "TIMENAV_LOG_CLOCK_READS", value_name = "BOOL", value_parser = BoolishValueParser::new(),
        hide_possible_values = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) log_clock_reads: Option<bool>,
    /// How long after a response its checkpoint may be written outside the database, in milliseconds; up to 1000.
    /// [default: 50]
    ///
    /// `0`: before the response, which costs another disk write for each change. The change itself is always durable
    /// before the response.
    #[arg(long, env = "TIMENAV_CHECKPOINT_LAG", value_name = "MILLIS")]
    pub(crate) checkpoint_lag: Option<LagMillis>,
    /// Whether the first write to an unknown timeline creates it. [default: true]
    #[arg(long, env = "TIMENAV_TIMELINES_BY_FIRST_WRITE", value_name = "BOOL", value_parser = BoolishValueParser::new(),
        hide_possible_values = true)]
    pub(crate) timelines_by_first_write: Option<bool>,
    /// Reject writes to unknown timelines; short for `--timelines-by-first-write false`.
    #[arg(long)]
    #[serde(skip)]
    pub(crate) no_timelines_by_first_write: bool,
    /// Whether callers can seal and open data with their own keys. [default: true]
    #[arg(long, env = "TIMENAV_ENCRYPTION", value_name = "BOOL", value_parser = BoolishValueParser::new(),
        hide_possible_values = true)]
    pub(crate) encryption: Option<bool>,
    /// Do not seal or open data; short for `--encryption false`.
    #[arg(long)]
    #[serde(skip)]
    pub(crate) no_encryption: bool,
    /// Requests per minute and user, across keys and sessions; 0 for no limit. [default: 60000]
    ///
    /// Every 100 further records of an import or a batch count as one request.
    #[arg(long, env = "TIMENAV_REQUESTS_PER_MINUTE", value_name = "COUNT")]
    pub(crate) requests_per_minute: Option<u32>,
    /// The maximum number of connections. [default: 10000, or fewer if file descriptors are limited]
    ///
    /// At the limit, a new connection replaces the one that has been idle longest. If none is idle, the new one is
    /// closed.
    #[arg(long, env = "TIMENAV_CONNECTIONS_MAX", value_name = "COUNT")]
    pub(crate) connections_max: Option<NonZeroU32>,
    /// The maximum number of connections per address. [default: 1024, or half of all]
    ///
    /// A /64 network counts as one IPv6 address, and a proxy as one address.
    #[arg(long, env = "TIMENAV_CONNECTIONS_PER_ADDRESS_MAX", value_name = "COUNT")]
    pub(crate) connections_per_address_max: Option<NonZeroU32>,
    /// How long a connection can be idle, in seconds. [default: 60]
    ///
    /// Also the timeout for request headers, and for reading a response.
    #[arg(long, env = "TIMENAV_CONNECTION_IDLE_SECS", value_name = "SECONDS")]
    pub(crate) connection_idle_secs: Option<ConnectionSecs>,
    /// The timeout for a TLS handshake and the first bytes of a request, in seconds. [default: 10]
    #[arg(long, env = "TIMENAV_HANDSHAKE_SECS", value_name = "SECONDS")]
    pub(crate) handshake_secs: Option<ConnectionSecs>,
    /// The number of timelines that a user can create, including forks. [default: 25000]
    #[arg(long, env = "TIMENAV_TIMELINES_PER_USER", value_name = "COUNT")]
    pub(crate) timelines_per_user: Option<NonZeroUsize>,
    /// How long to keep the contents of an ended timeline, in days, up to 3650; 0 deletes them at once. [default: 7]
    #[arg(long, env = "TIMENAV_ENDED_GRACE_DAYS", value_name = "DAYS",
        value_parser = clap::value_parser!(u32).range(..=i64::from(ENDED_GRACE_DAYS_MAX)))]
    pub(crate) ended_grace_days: Option<u32>,
    /// The address for browsers, if a proxy terminates TLS: `https://…`
    ///
    /// Without it, a login through such a proxy is rejected.
    #[arg(long, env = "TIMENAV_PUBLIC_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) public_url: Option<PublicUrl>,
    /// Whether users can log in over plain HTTP from other machines. [default: false]
    #[arg(long, env = "TIMENAV_ALLOW_INSECURE_LOGIN", value_parser = BoolishValueParser::new(), num_args = 0..=1,
        require_equals = true, default_missing_value = "true", hide_possible_values = true, value_name = "BOOL")]
    pub(crate) allow_insecure_login: Option<bool>,
    /// The idle timeout of sessions, in seconds. [default: 1800]
    #[arg(long, env = "TIMENAV_SESSION_IDLE_SECS", value_name = "SECONDS")]
    pub(crate) session_idle_secs: Option<SessionSecs>,
    /// The maximum duration of a session, in seconds. [default: 43200]
    #[arg(long, env = "TIMENAV_SESSION_MAX_SECS", value_name = "SECONDS")]
    pub(crate) session_max_secs: Option<SessionSecs>,
    /// The minimum retention of reads and rejected requests, in seconds; 0 for none. [default: 86400]
    #[arg(long, env = "TIMENAV_RETENTION_FLOOR_SECS", value_name = "SECONDS")]
    pub(crate) retention_floor_secs: Option<u32>,
    /// The folder for signed checkpoints outside the database. [default: the data folder]
    ///
    /// On another disk, it lets the next start detect a database that was rolled back or rewritten.
    #[arg(long, env = "TIMENAV_CHECKPOINTS", value_name = "DIR")]
    pub(crate) checkpoints: Option<PathBuf>,
    /// A witness that cosigns the checkpoints, as `<key>=<URL>`. Repeatable.
    ///
    /// `timenav witness` prints the key. In the environment, separate witnesses by commas.
    #[arg(long, env = "TIMENAV_WITNESS", hide_env_values = true, value_name = "KEY=URL", value_delimiter = ',')]
    #[serde(default)]
    pub(crate) witness: Vec<WitnessUrl>,
    /// A timeline to show to witnesses in addition to `system`, which covers every timeline. Repeatable.
    ///
    /// In the environment, separate timelines by commas.
    #[arg(long, env = "TIMENAV_WITNESS_TIMELINE", value_name = "TIMELINE", value_delimiter = ',')]
    #[serde(default)]
    pub(crate) witness_timeline: Vec<WitnessTimeline>,
    /// The interval between requests to witnesses, in seconds. [default: 60]
    #[arg(long, env = "TIMENAV_WITNESS_INTERVAL_SECS", value_name = "SECONDS")]
    pub(crate) witness_interval_secs: Option<WitnessSecs>,
    /// The number of witnesses that must cosign a change before the response. [default: 0]
    ///
    /// Otherwise the change stays, and the response is 503 `outcome_unknown`.
    #[arg(long, env = "TIMENAV_WITNESS_QUORUM", value_name = "COUNT")]
    pub(crate) witness_quorum: Option<usize>,
    /// How long the response to a change waits for witnesses, in seconds. [default: 30]
    #[arg(long, env = "TIMENAV_WITNESS_TIMEOUT_SECS", value_name = "SECONDS")]
    pub(crate) witness_timeout_secs: Option<WitnessSecs>,
    /// A host that timers can send webhooks to, with its port if that is not 443. Repeatable.
    ///
    /// Requests use TLS, except with the prefix `http://`. In the environment, separate hosts by commas. This machine
    /// is allowed only if the service listens on loopback.
    #[arg(long, env = "TIMENAV_WEBHOOK_ALLOW_HOST", value_name = "HOST[:PORT]", value_delimiter = ',')]
    #[serde(default)]
    pub(crate) webhook_allow_host: Vec<WebhookTo>,
    /// Whether the names of these hosts can resolve to private addresses. [default: false]
    #[arg(long, env = "TIMENAV_WEBHOOK_ALLOW_PRIVATE", value_parser = BoolishValueParser::new(), num_args = 0..=1,
        require_equals = true, default_missing_value = "true", hide_possible_values = true, value_name = "BOOL")]
    pub(crate) webhook_allow_private: Option<bool>,
    /// Further certificate authorities for these hosts (PEM).
    #[arg(long, env = "TIMENAV_WEBHOOK_CA", value_name = "FILE")]
    pub(crate) webhook_ca: Option<PathBuf>,
    /// Start even if the database has fewer entries than were signed, or others.
    ///
    /// Use it for one start, after you restored a backup. Not for the file. `timenav accept-rollback` also records the
    /// person and the reason, and is required with `--replicas`.
    #[arg(long, env = "TIMENAV_ACCEPT_ROLLBACK", value_parser = BoolishValueParser::new(), num_args = 0..=1,
        require_equals = true, default_missing_value = "true", hide_possible_values = true, value_name = "BOOL")]
    #[serde(skip)]
    pub(crate) accept_rollback: Option<bool>,
    /// How long to accept requests after SIGTERM, in seconds, while `/readyz` is 503. [default: 5 with `--replicas`,
    /// else 0]
    ///
    /// Load balancers use this time to switch to other replicas.
    #[arg(long, env = "TIMENAV_DRAIN_SECS", value_name = "SECONDS")]
    pub(crate) drain_secs: Option<u32>,
    /// How long open requests can take after SIGTERM or Ctrl-C, in seconds. [default: 10]
    #[arg(long, env = "TIMENAV_SHUTDOWN_DEADLINE_SECS", value_name = "SECONDS")]
    pub(crate) shutdown_deadline_secs: Option<u64>,
    /// The log format on stderr. [default: text]
    #[arg(long, env = "TIMENAV_LOG_FORMAT", value_enum, hide_possible_values = true, value_name = "text|json")]
    pub(crate) log_format: Option<LogFormat>,
    /// The log level, also per module: `warn,timenav_engine=debug`. [default: info]
    #[arg(long, env = "TIMENAV_LOG_FILTER", value_name = "FILTER")]
    pub(crate) log_filter: Option<String>,
    /// The OTLP endpoint for traces over HTTP: `http://…`, to which `/v1/traces` is appended. [default: none]
    ///
    /// `OTEL_EXPORTER_OTLP_HEADERS` sets request headers, such as a token.
    #[arg(long, env = "TIMENAV_OTLP_ENDPOINT", hide_env_values = true, value_name = "URL")]
    pub(crate) otlp_endpoint: Option<OtlpUrl>,
    /// Create a timeline `demo` with sample history, unless it exists.
    #[arg(long, env = "TIMENAV_DEMO", value_parser = BoolishValueParser::new(), num_args = 0..=1,
        require_equals = true, default_missing_value = "true", hide_possible_values = true, value_name = "BOOL")]
    pub(crate) demo: Option<bool>,
}

impl ServeOptions {
    /// Completes the options of the command line and the environment with those of the file.
    fn or(self, file: Self) -> Self {
        // A URL replaces a file with one, and the other way around.
        let is_store_named = self.store.is_some() || self.store_file.is_some();
        let (store, store_file) =
            if is_store_named { (self.store, self.store_file) } else { (file.store, file.store_file) };
        macro_rules! layered {
            ($($option:ident)*; $($list:ident)*) => {
                Self {
                    store,
                    store_file,
                    $($option: self.$option.or(file.$option),)*
                    $($list: if self.$list.is_empty() { file.$list } else { self.$list },)*
                    // The file cannot have these.
                    config: self.config,
                    no_timelines_by_first_write: self.no_timelines_by_first_write,
                    no_encryption: self.no_encryption,
                    accept_rollback: self.accept_rollback,
                    join: self.join,
                    trusted_checkpoint: self.trusted_checkpoint,
                }
            };
        }
        layered! {
            listen tls_cert tls_key metrics_listen data signing_key replicas replica_name
            host_clock_offset_max_millis service_name limited_access_window_days read_log
            log_clock_reads checkpoint_lag timelines_by_first_write encryption requests_per_minute
            connections_max connections_per_address_max connection_idle_secs handshake_secs
            timelines_per_user ended_grace_days public_url allow_insecure_login session_idle_secs
            session_max_secs retention_floor_secs checkpoints witness_interval_secs witness_quorum
            witness_timeout_secs webhook_allow_private webhook_ca drain_secs shutdown_deadline_secs
            log_format log_filter otlp_endpoint demo;
            witness witness_timeline webhook_allow_host
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// The certificate with its chain.
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is an independent setting")]
pub(crate) struct Settings {
    pub(crate) listen: SocketAddr,
    pub(crate) metrics_listen: Option<SocketAddr>,
    pub(crate) tls: Option<TlsFiles>,
    pub(crate) data: PathBuf,
    /// The PostgreSQL database; `None` for a SQLite file in the data folder.
    pub(crate) store: Option<StoreUrl>,
    /// The signing key file, if it is not in the data folder.
    pub(crate) signing_key: Option<PathBuf>,
    /// Whether the database is shared with other services.
    pub(crate) replicas: bool,
    /// Whether the folder may have no checkpoints of an existing database yet.
    pub(crate) join: bool,
    pub(crate) trusted_checkpoint: Vec<CheckpointSource>,
    pub(crate) replica_name: String,
    /// Maximum offset between the clocks of the host and the database, in milliseconds.
    pub(crate) host_clock_offset_max_millis: u32,
    pub(crate) service_name: Option<String>,
    /// How far from host time users with `limited_access` may travel, in days.
    pub(crate) limited_access_window_days: u32,
    pub(crate) recording: RecordingSettings,
    /// Whether the first write to an unknown timeline creates it.
    pub(crate) timelines_by_first_write: bool,
    /// Whether sealing and opening data is enabled.
    pub(crate) encryption: bool,
    pub(crate) requests_per_minute: Option<NonZeroU32>,
    pub(crate) connections: ConnectionSettings,
    pub(crate) timelines_per_user: usize,
    pub(crate) ended_grace_days: u32,
    /// The public URL, if a proxy terminates TLS.
    pub(crate) public_url: Option<PublicUrl>,
    /// Whether users can log in over plain HTTP from other machines.
    pub(crate) allow_insecure_login: bool,
    pub(crate) session_idle_secs: SessionSecs,
    pub(crate) session_max_secs: SessionSecs,
    /// Minimum retention of reads and rejected requests, in seconds.
    pub(crate) retention_floor_secs: u32,
    /// The checkpoint folder, if it is not the data folder.
    pub(crate) checkpoints: Option<PathBuf>,
    pub(crate) witnesses: WitnessSettings,
    pub(crate) webhook_allow_host: Vec<WebhookTo>,
    /// Whether their names may resolve to private addresses.
    pub(crate) webhook_allow_private: bool,
    pub(crate) webhook_ca: Option<PathBuf>,
    /// Whether to start even if the database does not match its signatures.
    pub(crate) accept_rollback: bool,
    /// How long requests are accepted after SIGTERM.
    pub(crate) drain: Duration,
    pub(crate) shutdown_deadline: Duration,
    pub(crate) log_format: LogFormat,
    pub(crate) log_filter: String,
    pub(crate) otlp_endpoint: Option<OtlpUrl>,
    pub(crate) demo: bool,
}

impl Settings {
    pub(crate) fn resolve(options: ServeOptions) -> anyhow::Result<Self> {
        let file = options.config.as_deref().map(ServeOptions::read).transpose()?;
        Self::layer(options, file.unwrap_or_default())
    }

    /// Resolves each setting: from the options, else the file, else the default.
    fn layer(options: ServeOptions, file: ServeOptions) -> anyhow::Result<Self> {
        let options = options.or(file);
        let witnesses = WitnessSettings::of(&options)?;
        let (connections, recording) = (ConnectionSettings::of(&options), RecordingSettings::of(&options));
        let store = store_url::named(options.store.as_ref(), options.store_file.as_deref())?;
        let Shared { replicas, join, trusted_checkpoint, accept_rollback, signing_key } =
            Shared::of(&options, store.is_some())?;
        let tls = match (options.tls_cert, options.tls_key) {
            (Some(cert), Some(key)) => Some(TlsFiles { cert, key }),
            (None, None) => None,
            (Some(_), None) => bail!("--tls-cert needs --tls-key, the private key of the certificate"),
            (None, Some(_)) => bail!("--tls-key needs --tls-cert, the certificate that the key is for"),
        };
        let by_first_write = options.timelines_by_first_write.unwrap_or(true);
        let deadline_secs = options.shutdown_deadline_secs.unwrap_or(SHUTDOWN_DEADLINE_SECS_DEFAULT);
        let drain_secs = options.drain_secs.unwrap_or(if replicas { DRAIN_SECS_DEFAULT } else { 0 });
        let requests_per_minute = options.requests_per_minute.unwrap_or(REQUESTS_PER_MINUTE_DEFAULT);
        let listen = options.listen.unwrap_or(LISTEN_DEFAULT);
        Ok(Self {
            recording,
            tls,
            listen,
            metrics_listen: options.metrics_listen,
            data: options.data.unwrap_or_else(|| DATA_DEFAULT.into()),
            store,
            signing_key,
            replicas,
            join,
            trusted_checkpoint,
            replica_name: options.replica_name.unwrap_or_else(host_name),
            host_clock_offset_max_millis: options
                .host_clock_offset_max_millis
                .unwrap_or(HOST_CLOCK_OFFSET_MILLIS_MAX_DEFAULT),
            service_name: options.service_name,
            limited_access_window_days: options
                .limited_access_window_days
                .unwrap_or(LIMITED_ACCESS_WINDOW_DAYS_DEFAULT),
            timelines_by_first_write: by_first_write && !options.no_timelines_by_first_write,
            encryption: options.encryption.unwrap_or(true) && !options.no_encryption,
            requests_per_minute: NonZeroU32::new(requests_per_minute),
            connections,
            timelines_per_user: options.timelines_per_user.map_or(TIMELINES_PER_USER_MAX_DEFAULT, NonZeroUsize::get),
            ended_grace_days: options.ended_grace_days.unwrap_or(ENDED_GRACE_DAYS_DEFAULT),
            public_url: options.public_url,
            allow_insecure_login: options.allow_insecure_login.unwrap_or(false),
            session_idle_secs: options.session_idle_secs.unwrap_or(Secs::of(SESSION_IDLE_SECONDS_DEFAULT)),
            session_max_secs: options.session_max_secs.unwrap_or(Secs::of(SESSION_SECONDS_DEFAULT)),
            retention_floor_secs: options.retention_floor_secs.unwrap_or(RETENTION_FLOOR_SECONDS_DEFAULT),
            checkpoints: options.checkpoints,
            witnesses,
            webhook_allow_host: webhook_allow_host::settled(options.webhook_allow_host, listen)?,
            webhook_allow_private: options.webhook_allow_private.unwrap_or(false),
            webhook_ca: options.webhook_ca,
            accept_rollback,
            drain: Duration::from_secs(drain_secs.into()),
            shutdown_deadline: Duration::from_secs(deadline_secs),
            log_format: options.log_format.unwrap_or_default(),
            log_filter: options.log_filter.unwrap_or_else(|| LOG_FILTER_DEFAULT.to_owned()),
            otlp_endpoint: options.otlp_endpoint,
            demo: options.demo.unwrap_or(false),
        })
    }
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
