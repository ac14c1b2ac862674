//! Database addresses with one or more servers, and connecting to the server that accepts writes.

use std::error::Error as _;
use std::future::poll_fn;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use timenav_engine::StoreError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::postgres::connection::servers::{one_by_one, place_of, silent};
use crate::postgres::values::Failed;

/// Connection timeout if the address has no `connect_timeout`.
pub(in crate::postgres) const CONNECT_WAIT: Duration = Duration::from_secs(5);
/// TCP keepalive: idle time, interval and number of probes, and how long data may stay unacknowledged.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(5);
const KEEPALIVE_TIMES: u32 = 3;
const UNACKNOWLEDGED_WAIT: Duration = Duration::from_secs(30);
/// A server may take this many times its `connect_timeout` to connect and authenticate.
const LET_IN_FACTOR: u32 = 2;

pub(in crate::postgres) struct Address {
    /// One configuration per server, in the order of the address.
    servers: Vec<Config>,
    /// Index of the server that was used last. It is tried first.
    used: AtomicUsize,
    attempt: Duration,
    pub(in crate::postgres) tls: Option<MakeRustlsConnect>,
}

impl Address {
    /// Parses a libpq URL. `sslrootcert` is handled here, all other parameters by the driver.
    pub(in crate::postgres) fn read(url: &str) -> Result<Self, StoreError> {
        let (url, root) = take_root(url)?;
        let (url, verified) = take_verified(&url);
        // The driver's message names the malformed parameter, but never includes the password.
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
        let connect_wait = *config.get_connect_timeout().unwrap_or(&CONNECT_WAIT);
        config
            .connect_timeout(connect_wait)
            .tcp_user_timeout(UNACKNOWLEDGED_WAIT)
            .keepalives(true)
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_EVERY)
            .keepalives_retries(KEEPALIVE_TIMES)
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        let is_local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => None,
            // Connections over a local socket are not encrypted.
            _ if is_local && root.is_none() => None,
            _ => Some(tls(root.as_deref())?),
        };
        let attempt = LET_IN_FACTOR * connect_wait;
        Ok(Self { servers: one_by_one(&config), used: AtomicUsize::new(0), attempt, tls })
    }

    pub(in crate::postgres) const fn servers_count(&self) -> usize {
        self.servers.len()
    }

    /// Returns the name of the server that was used last, and makes the next one the first to try.
    pub(in crate::postgres) fn leave_server(&self) -> String {
        let used = self.used.load(Ordering::Relaxed);
        self.used.store((used + 1) % self.servers.len().max(1), Ordering::Relaxed);
        self.servers.get(used).map(place_of).unwrap_or_default()
    }

    /// Returns how long it may take to try every server.
    pub(in crate::postgres) fn longest_attempt(&self) -> Duration {
        self.attempt.saturating_mul(u32::try_from(self.servers.len()).unwrap_or(u32::MAX))
    }

    /// Opens one connection, driven on the caller's runtime.
    pub(in crate::postgres) async fn connect_once(&self) -> Result<(Client, JoinHandle<()>), Failed> {
        self.connect(&Handle::current(), |_| {}).await
    }

    /// Returns why no server can be used now, if one may be usable soon: it does not listen, or is still starting.
    /// Returns `None` if a server can be used, or if all of them fail for other reasons.
    pub(in crate::postgres) async fn away(&self) -> Option<String> {
        let (mut away, runtime) = (None, Handle::current());
        for server in &self.servers {
            let connecting = connect(&runtime, server, self.tls.clone(), |_| {});
            match tokio::time::timeout(self.attempt, connecting).await {
                Ok(Ok(_)) => return None,
                Ok(Err(error)) if is_away(&error) => away = Some(StoreError::from(Failed::from(error)).to_string()),
                Ok(Err(_)) | Err(_) => {}
            }
        }
        away
    }

    /// Connects to the first server that accepts writes; asynchronous messages go to `receive`. The error is that of the
    /// last server. The driver can try several servers too, but waits forever for one that accepts the connection and
    /// does not respond.
    pub(in crate::postgres) async fn connect(
        &self,
        runtime: &Handle,
        receive: impl FnMut(AsyncMessage) + Clone + Send + 'static,
    ) -> Result<(Client, JoinHandle<()>), Failed> {
        let (count, used) = (self.servers.len(), self.used.load(Ordering::Relaxed));
        let mut last = None;
        for (at, server) in self.servers.iter().enumerate().cycle().skip(used).take(count) {
            let connecting = connect(runtime, server, self.tls.clone(), receive.clone());
            match tokio::time::timeout(self.attempt, connecting).await {
                Ok(Ok(connected)) => {
                    self.used.store(at, Ordering::Relaxed);
                    return Ok(connected);
                }
                Ok(Err(error)) => last = Some(Failed::from(error)),
                Err(_) => last = Some(StoreError::Unavailable(silent(server, self.attempt)).into()),
            }
        }
        let nowhere = || StoreError::Unavailable("PostgreSQL: the address names no server".to_owned()).into();
        Err(last.unwrap_or_else(nowhere))
    }
}

/// Returns whether the server cannot be reached, is starting or is stopping, so that it may be available soon.
fn is_away(error: &tokio_postgres::Error) -> bool {
    if let Some(code) = error.code() {
        let passing = [&SqlState::CANNOT_CONNECT_NOW, &SqlState::ADMIN_SHUTDOWN, &SqlState::CRASH_SHUTDOWN];
        return passing.contains(&code);
    }
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| match cause.kind() {
        io::ErrorKind::ConnectionRefused
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::TimedOut
        // The socket file of a local server.
        | io::ErrorKind::NotFound => true,
        // Name resolution failures have no error kind of their own (getaddrinfo(3), EAI_AGAIN).
        _ => cause.to_string().contains("Temporary failure in name resolution"),
    })
}

/// Opens a connection. Asynchronous messages go to `receive` before the responses that follow them.
async fn connect(
    runtime: &Handle,
    config: &Config,
    tls: Option<MakeRustlsConnect>,
    receive: impl FnMut(AsyncMessage) + Send + 'static,
) -> Result<(Client, JoinHandle<()>), tokio_postgres::Error> {
    match tls {
        None => config.connect(NoTls).await.map(|(client, connection)| (client, drive(runtime, connection, receive))),
        Some(tls) => {
            config.connect(tls).await.map(|(client, connection)| (client, drive(runtime, connection, receive)))
        }
    }
}

fn drive<S, T>(
    runtime: &Handle,
    mut connection: Connection<S, T>,
    mut receive: impl FnMut(AsyncMessage) + Send + 'static,
) -> JoinHandle<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    runtime.spawn(async move {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(message)) => receive(message),
                Some(Err(error)) => return tracing::debug!(%error, "a connection to PostgreSQL ended"),
                None => return,
            }
        }
    })
}

/// Removes `sslrootcert` from a URL, because the driver does not support it.
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

/// Removes `verify-ca` and `verify-full` from a URL. TLS connections always verify certificates in full.
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

/// Returns the TLS configuration, with the root certificates in a file or the system's.
fn tls(root: Option<&Path>) -> Result<MakeRustlsConnect, StoreError> {
    let root = root.unwrap_or(Path::new(ROOTS_OF_THE_MACHINE));
    let unusable = |why: String| StoreError::Unavailable(format!("the certificates of {}: {why}", root.display()));
    let mut roots = RootCertStore::empty();
    // Without any system roots no server is trusted, and connecting fails with that reason.
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

const ROOTS_OF_THE_MACHINE: &str = "/etc/ssl/certs/ca-certificates.crt";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_unknown_to_the_driver_are_removed_from_addresses() {
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
    fn tls_is_used_unless_disabled_or_on_a_unix_socket() {
        let read = |url: &str| Address::read(url).unwrap();
        assert!(read("postgres://a@b/c?sslmode=disable").tls.is_none());
        assert!(read("postgres:///c?host=/run/pg&user=a").tls.is_none());
        for mode in ["prefer", "require", "verify-ca", "verify-full"] {
            let address = read(&format!("postgres://a@b/c?sslmode={mode}"));
            assert!(address.tls.is_some(), "{mode}");
            let expected = if mode == "prefer" { SslMode::Prefer } else { SslMode::Require };
            assert_eq!(address.servers[0].get_ssl_mode(), expected, "{mode}");
        }
        assert_eq!(read("postgres://a@b/c").servers[0].get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
    }

    #[test]
    fn unresponsive_server_is_skipped_for_the_next_one() {
        let address = Address::read("postgres://ada@one.example,two.example:5433/time?sslmode=disable").unwrap();
        let left: Vec<String> = (0..3).map(|_| address.leave_server()).collect();
        let [one, two] = ["the server one.example, port 5432,", "the server two.example, port 5433,"];
        assert_eq!(left, [one, two, one]);
    }

    #[test]
    fn invalid_address_error_omits_the_password() {
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
