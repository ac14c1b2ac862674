//! How connections are made and kept: one that writes, and some that read.

use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use deadpool_postgres::{
    Connect, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, Timeouts,
};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use timenav_engine::{ConnectionsUse, StoreError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::PostgresOptions;
use super::beginning::{CONNECT_WAIT, Opened, SELECT_SESSION, Writer, begin_with};
use super::lengths::Lengths;
use super::values::Failed;

/// Connections that read at the same moment. More wait.
const READERS_MAX: usize = 16;
/// How long somebody waits for a connection.
const POOL_WAIT: Duration = Duration::from_secs(10);
/// How long a connection may be idle until the other side is asked whether it is still there, how often, and how long
/// what was sent may stay unacknowledged.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(5);
const KEEPALIVE_TIMES: u32 = 3;
const UNACKNOWLEDGED_WAIT: Duration = Duration::from_secs(30);

/// Holds as long as the session: the server gives it back when the service is gone.
const LOCK_ALONE: &str = "SET lock_timeout = '5s'; SELECT pg_advisory_lock(1414414678, 2); SET lock_timeout = '10s'";
/// The same lock, as several have it that let each other in: none of them is there while one is alone.
const LOCK_SHARED: &str =
    "SET lock_timeout = '5s'; SELECT pg_advisory_lock_shared(1414414678, 2); SET lock_timeout = '10s'";

/// Where a database is, and how it is spoken to.
pub(super) struct Address {
    config: Config,
    tls: Option<MakeRustlsConnect>,
}

impl Address {
    /// Reads a URL as libpq writes it. `sslrootcert` is read here; everything else is the driver's.
    pub(super) fn read(url: &str) -> Result<Self, StoreError> {
        let (url, root) = take_root(url)?;
        let (url, verified) = take_verified(&url);
        // What the driver says of a wrong URL names the parameter, and never the password.
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            StoreError::Unavailable(format!("the address of the database cannot be read: {cause}"))
        })?;
        if verified {
            config.ssl_mode(SslMode::Require);
        }
        if config.get_application_name().is_none() {
            config.application_name("timenav");
        }
        config
            .connect_timeout(*config.get_connect_timeout().unwrap_or(&CONNECT_WAIT))
            .tcp_user_timeout(UNACKNOWLEDGED_WAIT)
            .keepalives(true)
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_EVERY)
            .keepalives_retries(KEEPALIVE_TIMES)
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        let is_local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => None,
            // Nothing is encrypted on a socket of the same machine.
            _ if is_local && root.is_none() => None,
            _ => Some(tls(root.as_deref())?),
        };
        Ok(Self { config, tls })
    }

    /// Makes one connection, and drives it on the runtime of the caller.
    pub(super) async fn connect_once(&self) -> Result<(Client, JoinHandle<()>), Failed> {
        Ok(connect(&Handle::current(), &self.config, self.tls.clone(), |_| {}).await?)
    }

    /// Makes a pool of connections. That of the writer takes a lock, and its session is taken down.
    fn pool(&self, size: usize, writer: Option<Writer>, opened: Opened) -> Result<Pool, StoreError> {
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let (runtime, tls, warnings) = (Handle::current(), self.tls.clone(), Arc::clone(&opened.warnings));
        let connector = Connector { runtime, tls, warnings };
        let manager = Manager::from_connect(self.config.clone(), connector, manager);
        let begin = begin_with(writer, opened, self.tls.clone());
        let timeouts = Timeouts { wait: Some(POOL_WAIT), create: Some(2 * POOL_WAIT), recycle: Some(CONNECT_WAIT) };
        let pool = Pool::builder(manager).max_size(size).timeouts(timeouts).runtime(Runtime::Tokio1).post_create(begin);
        pool.build().map_err(|error| StoreError::Unavailable(error.to_string()))
    }
}

/// Makes connections on one runtime, whichever asks for them: others may be there for work that takes long, and know no
/// network.
struct Connector {
    runtime: Handle,
    tls: Option<MakeRustlsConnect>,
    /// Counts what the server warned of.
    warnings: Arc<AtomicU64>,
}

impl Connect for Connector {
    fn connect(&self, config: &Config) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), tokio_postgres::Error>> {
        let (config, tls, runtime) = (config.clone(), self.tls.clone(), self.runtime.clone());
        let warnings = Arc::clone(&self.warnings);
        let hear = move |told: AsyncMessage| {
            if let AsyncMessage::Notice(notice) = told {
                tracing::warn!(code = notice.code().code(), "PostgreSQL: {}", notice.message());
                warnings.fetch_add(1, Ordering::AcqRel);
            }
        };
        let connecting = self.runtime.spawn(async move { connect(&runtime, &config, tls, hear).await });
        async move {
            match connecting.await {
                Ok(connected) => connected,
                // The runtime ends, and with it everything that could wait for this.
                Err(_) => std::future::pending().await,
            }
        }
        .boxed()
    }
}

/// Makes a connection. What the server says by itself is given to `hear`, before the answers that come after it.
async fn connect(
    runtime: &Handle,
    config: &Config,
    tls: Option<MakeRustlsConnect>,
    hear: impl FnMut(AsyncMessage) + Send + 'static,
) -> Result<(Client, JoinHandle<()>), tokio_postgres::Error> {
    match tls {
        None => config.connect(NoTls).await.map(|(client, connection)| (client, drive(runtime, connection, hear))),
        Some(tls) => config.connect(tls).await.map(|(client, connection)| (client, drive(runtime, connection, hear))),
    }
}

/// Lets a connection do its work until it ends.
fn drive<S, T>(
    runtime: &Handle,
    mut connection: Connection<S, T>,
    mut hear: impl FnMut(AsyncMessage) + Send + 'static,
) -> JoinHandle<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    runtime.spawn(async move {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(told)) => hear(told),
                Some(Err(error)) => return tracing::debug!(%error, "a connection to PostgreSQL ended"),
                None => return,
            }
        }
    })
}

/// The connections of one service.
pub(super) struct Connections {
    writer: Pool,
    readers: Pool,
    address: Address,
    is_alone: bool,
    /// How often the server warned the connection that writes.
    warnings: Arc<AtomicU64>,
    /// The session of the connection that writes.
    session: Arc<AtomicI32>,
    /// Whether events have a column for how long they last.
    pub(super) lengths: Arc<Lengths>,
    /// How many connections were made.
    made: Arc<AtomicU64>,
    /// How many transactions began anew, because they lost against others.
    pub(super) retries: AtomicU64,
    /// How many commits there were whose answer was lost.
    pub(super) unanswered: AtomicU64,
}

impl Connections {
    /// Returns those of a service, or of somebody who only looks (`is_to_answer`).
    pub(super) fn new(options: &PostgresOptions, is_to_answer: bool) -> Result<Self, StoreError> {
        let address = Address::read(&options.url)?;
        let (warnings, made) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let session = Arc::<AtomicI32>::default();
        let lock = if options.is_alone { LOCK_ALONE } else { LOCK_SHARED };
        let opened = |warnings: &Arc<AtomicU64>| Opened {
            made: Arc::clone(&made),
            warnings: Arc::clone(warnings),
            is_to_answer,
        };
        let writer = address.pool(1, Some(Writer { lock, session: Arc::clone(&session) }), opened(&warnings))?;
        let readers = address.pool(READERS_MAX, None, opened(&Arc::default()))?;
        let (is_alone, retries, unanswered) = (options.is_alone, AtomicU64::new(0), AtomicU64::new(0));
        let lengths = Arc::default();
        Ok(Self { writer, readers, address, is_alone, warnings, session, lengths, made, retries, unanswered })
    }

    /// Returns how they are used.
    pub(super) fn use_now(&self) -> ConnectionsUse {
        let (writer, readers) = (self.writer.status(), self.readers.status());
        let open = writer.size + readers.size;
        ConnectionsUse {
            max: (writer.max_size + readers.max_size) as u64,
            open: open as u64,
            in_use: open.saturating_sub(writer.available + readers.available) as u64,
            waiting: (writer.waiting + readers.waiting) as u64,
            made: self.made.load(Ordering::Relaxed),
            retries: self.retries.load(Ordering::Relaxed),
            unanswered: self.unanswered.load(Ordering::Relaxed),
        }
    }

    /// Returns whether no other service uses the database.
    pub(super) const fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Makes sure that each connection has a session of its own. A pooler that gives each transaction any session gives that
    /// of the writer, which does nothing, to the next one that begins, and another one to the writer.
    ///
    /// # Errors
    /// The writer has another session than before, or waits for one.
    pub(super) async fn check_no_pooler(&self) -> Result<(), StoreError> {
        let (writer, other) = (self.writer().await?, Object::take(self.reader().await?));
        other.batch_execute("BEGIN; SELECT 1").await.map_err(Failed::from)?;
        let asked = tokio::time::timeout(CONNECT_WAIT, writer.simple_query(SELECT_SESSION)).await;
        let Ok(asked) = asked else { return Err(pooled()) };
        let found = asked.map_err(Failed::from)?.iter().find_map(|told| match told {
            SimpleQueryMessage::Row(row) => row.get(0).and_then(|pid| pid.parse().ok()),
            _ => None,
        });
        self.check_session(found.unwrap_or_default())
    }

    /// Makes sure that what is written goes to the session that has the lock and the settings.
    ///
    /// # Errors
    /// It goes to another one.
    pub(super) fn check_session(&self, found: i32) -> Result<(), StoreError> {
        if found == self.session.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(pooled())
    }

    /// Returns how often the server has warned of something where it is written.
    pub(super) fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Acquire)
    }

    /// Makes a connection beside the pools, for what the server says by itself.
    pub(super) async fn listen(
        &self,
        hear: impl FnMut(AsyncMessage) + Send + 'static,
    ) -> Result<(Client, JoinHandle<()>), StoreError> {
        let Address { config, tls } = &self.address;
        let made = connect(&Handle::current(), config, tls.clone(), hear).await;
        Ok(made.map_err(Failed::from)?)
    }

    /// Returns the connection that writes. Whoever has it is alone with it.
    pub(super) async fn writer(&self) -> Result<Object, StoreError> {
        self.writer.get().await.map_err(not_connected)
    }

    /// Returns a connection that reads.
    pub(super) async fn reader(&self) -> Result<Object, StoreError> {
        self.readers.get().await.map_err(not_connected)
    }
}

fn pooled() -> StoreError {
    let what = "PostgreSQL: a pooler gives each transaction another session; connect to the server itself, or through a \
                pooler in session mode";
    StoreError::Unavailable(what.to_owned())
}

fn not_connected(error: PoolError) -> StoreError {
    match error {
        PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => Failed::from(error).into(),
        PoolError::PostCreateHook(HookError::Message(message)) => StoreError::Unavailable(message.into_owned()),
        PoolError::Timeout(_) => StoreError::Unavailable("PostgreSQL: no connection became free in time".to_owned()),
        error @ (PoolError::Closed | PoolError::NoRuntimeSpecified) => {
            StoreError::Unavailable(format!("PostgreSQL: {error}"))
        }
    }
}

/// Takes `sslrootcert` out of a URL: the driver does not know it.
fn take_root(url: &str) -> Result<(String, Option<PathBuf>), StoreError> {
    let (url, root) = take_parameter(url, "sslrootcert");
    let Some(root) = root else { return Ok((url, None)) };
    if root.contains('%') {
        return Err(StoreError::Unavailable(
            "`sslrootcert` in the address of the database names a file without percent signs".to_owned(),
        ));
    }
    Ok((url, Some(root.into())))
}

/// Takes `verify-ca` and `verify-full` out of a URL. Certificates are verified in full wherever TLS is spoken.
fn take_verified(url: &str) -> (String, bool) {
    match take_parameter(url, "sslmode") {
        (url, Some(mode)) if mode == "verify-full" || mode == "verify-ca" => (url, true),
        _ => (url.to_owned(), false),
    }
}

fn take_parameter(url: &str, name: &str) -> (String, Option<String>) {
    let Some((address, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let (mut found, mut rest) = (None, Vec::new());
    for parameter in query.split('&') {
        match parameter.split_once('=') {
            Some((key, value)) if key == name => found = Some(value.to_owned()),
            _ => rest.push(parameter),
        }
    }
    let rest = rest.join("&");
    (if rest.is_empty() { address.to_owned() } else { format!("{address}?{rest}") }, found)
}

/// Returns how TLS is spoken: with the certificates of a file, or those that the machine trusts.
fn tls(root: Option<&Path>) -> Result<MakeRustlsConnect, StoreError> {
    let root = root.unwrap_or(Path::new(ROOTS_OF_THE_MACHINE));
    let unusable = |why: String| StoreError::Unavailable(format!("the certificates of {}: {why}", root.display()));
    let mut roots = RootCertStore::empty();
    // A machine without any has no server that it trusts: connecting says so.
    if root.exists() || root != Path::new(ROOTS_OF_THE_MACHINE) {
        for certificate in CertificateDer::pem_file_iter(root).map_err(|error| unusable(error.to_string()))? {
            let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
            roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
        }
    }
    let provider = Arc::new(tokio_rustls::rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| unusable(error.to_string()))?;
    Ok(MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth()))
}

/// Where Debian and those that follow it keep the certificates that a machine trusts.
const ROOTS_OF_THE_MACHINE: &str = "/etc/ssl/certs/ca-certificates.crt";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_does_not_know_is_taken_out_of_an_address() {
        let check = |url: &str, name: &str, rest: &str, found: Option<&str>| {
            assert_eq!(take_parameter(url, name), (rest.to_owned(), found.map(str::to_owned)), "{url}");
        };
        check("postgres://a/b", "sslmode", "postgres://a/b", None);
        check("postgres://a/b?sslmode=require", "sslmode", "postgres://a/b", Some("require"));
        check("postgres://a/b?x=1&sslmode=a&y=2", "sslmode", "postgres://a/b?x=1&y=2", Some("a"));
        assert!(take_verified("postgres://a/b?sslmode=verify-full").1);
        assert_eq!(
            take_verified("postgres://a/b?sslmode=require"),
            ("postgres://a/b?sslmode=require".to_owned(), false)
        );
        assert!(take_root("postgres://a/b?sslrootcert=%2Fx").is_err());
    }

    #[test]
    fn tls_is_spoken_unless_it_is_off_or_nobody_could_listen() {
        let read = |url: &str| Address::read(url).unwrap();
        assert!(read("postgres://a@b/c?sslmode=disable").tls.is_none());
        assert!(read("postgres:///c?host=/run/pg&user=a").tls.is_none());
        for mode in ["prefer", "require", "verify-ca", "verify-full"] {
            let address = read(&format!("postgres://a@b/c?sslmode={mode}"));
            assert!(address.tls.is_some(), "{mode}");
            let expected = if mode == "prefer" { SslMode::Prefer } else { SslMode::Require };
            assert_eq!(address.config.get_ssl_mode(), expected, "{mode}");
        }
        assert_eq!(read("postgres://a@b/c").config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
    }

    #[test]
    fn a_wrong_address_is_refused_without_its_password() {
        for wrong in ["postgres://ada:secret@b/c?sslmode=perhaps", "postgres://ada:secret@b:port/c", "none"] {
            let refused = Address::read(wrong).err().expect("it is wrong").to_string();
            assert!(refused.contains("the address of the database cannot be read"), "{refused}");
            assert!(!refused.contains("secret"), "{refused}");
        }
        let refused =
            Address::read("postgres://a/b?sslrootcert=/none.pem").err().expect("there is no file").to_string();
        assert!(refused.contains("the certificates of /none.pem"), "{refused}");
    }
}
