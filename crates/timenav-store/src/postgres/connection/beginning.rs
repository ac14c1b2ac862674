//! Prepares each connection: applies the session settings, and makes sure that only durable data is shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_postgres::{CancelToken, Client, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::postgres::connection::address::{Address, CONNECT_WAIT};
use crate::postgres::connection::sessions::{Hook, HookError};

/// How long it may take to prepare a new connection. The pool's timeout covers connecting but not the preparation, and
/// no server timeout covers waiting for a standby.
const BEGIN_WAIT: Duration = Duration::from_secs(10);
/// The session settings. A service that is suspended while it holds a lock would block all others, so the server ends
/// its session after two seconds. The server also checks whether the client is still connected.
const SETTINGS: &str = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
    SET synchronous_commit = on; SET idle_in_transaction_session_timeout = '2s'; SET statement_timeout = '30s';
    SET lock_timeout = '10s'; SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5;
    SET tcp_keepalives_count = 3; SET client_connection_check_interval = '2s'; SET client_min_messages = warning; SET timezone = 'UTC'; SET row_security = off;";
/// Writes to the log without changing a table. Once its commit is acknowledged, everything committed before is as
/// durable as the server's configuration provides.
pub(in crate::postgres) const WRITE_NOTHING: &str = "SELECT pg_logical_emit_message(true, 'timenav', '')::text";
pub(in crate::postgres) const SELECT_SESSION: &str = "SELECT pg_backend_pid()";
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Returns the hook that prepares each new connection of a pool. A connection is not used unless it succeeds.
pub(in crate::postgres) fn begin_with(writer: Option<Writer>, opened: Opened, address: &Arc<Address>) -> Hook {
    let (runtime, address) = (Handle::current(), Arc::clone(address));
    Hook::async_fn(move |client, _| {
        let (writer, opened, runtime) = (writer.clone(), opened.clone(), runtime.clone());
        let (address, tls) = (Arc::clone(&address), address.tls.clone());
        Box::pin(async move {
            let Ok(begun) = tokio::time::timeout(BEGIN_WAIT, begin(client, writer, &opened)).await else {
                // On the runtime that drives the network. It is awaited because the process may exit on this error.
                let _ = runtime.spawn(cancel(client.cancel_token(), tls)).await;
                return Err(HookError::message(not_safe_yet(&address.leave_server())));
            };
            begun
        })
    })
}

fn not_safe_yet(server: &str) -> String {
    format!(
        "PostgreSQL: a new connection to {server} could not be used within 10 seconds. It is stalled, or waits for a \
         synchronous standby that is unavailable (`synchronous_standby_names`)"
    )
}

/// Cancels an abandoned session: waiting for a standby has no timeout and would occupy a server session.
async fn cancel(token: CancelToken, tls: Option<MakeRustlsConnect>) {
    let canceling = async {
        match tls {
            None => token.cancel_query(NoTls).await,
            Some(tls) => token.cancel_query(tls).await,
        }
    };
    if let Ok(Err(error)) = tokio::time::timeout(CONNECT_WAIT, canceling).await {
        tracing::debug!(%error, "an abandoned query could not be canceled");
    }
}

async fn begin(client: &Client, writer: Option<Writer>, hook: &Opened) -> Result<(), HookError> {
    client.batch_execute(SETTINGS).await.map_err(backend)?;
    hook.count.fetch_add(1, Ordering::Relaxed);
    if hook.is_to_answer {
        write_something(client, &hook.warnings).await?;
    }
    let Some(Writer { lock, session }) = writer else { return Ok(()) };
    lock_alone(client, lock).await?;
    let row = client.query_one(SELECT_SESSION, &[]).await.map_err(backend)?;
    session.store(row.try_get(0).map_err(backend)?, Ordering::Release);
    Ok(())
}

#[derive(Clone)]
pub(in crate::postgres) struct Opened {
    pub(in crate::postgres) count: Arc<AtomicU64>,
    pub(in crate::postgres) warnings: Arc<AtomicU64>,
    /// Whether data read on the connection is returned to clients.
    pub(in crate::postgres) is_to_answer: bool,
}

/// Makes a durable write before a connection is used. After a crash or a failover, a server shows data that no standby
/// has yet, and may lose it again. Everything visible before the write is acknowledged is durable.
async fn write_something(client: &Client, warnings: &AtomicU64) -> Result<(), HookError> {
    let before = warnings.load(Ordering::Acquire);
    client.batch_execute(WRITE_NOTHING).await.map_err(backend)?;
    // The server warns if it did not wait for a standby.
    if warnings.load(Ordering::Acquire) == before {
        return Ok(());
    }
    Err(HookError::message("PostgreSQL: the server did not wait for its synchronous standby; retrying"))
}

#[derive(Clone)]
pub(in crate::postgres) struct Writer {
    pub(in crate::postgres) lock: &'static str,
    /// The backend process id of its session.
    pub(in crate::postgres) session: Arc<AtomicI32>,
}

async fn lock_alone(client: &Client, lock: &str) -> Result<(), HookError> {
    match client.batch_execute(lock).await {
        Ok(()) => Ok(()),
        Err(error) if error.code().is_some_and(|code| code.code() == LOCK_NOT_AVAILABLE) => Err(HookError::message(
            "another timenav uses this database; this one starts when that one has ended. To run several on a \
             database, start each with --replicas",
        )),
        Err(error) => Err(backend(error)),
    }
}

fn backend(error: tokio_postgres::Error) -> HookError {
    HookError::Backend(error.into())
}
