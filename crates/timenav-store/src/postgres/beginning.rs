//! How each connection begins, before anybody has it: with the settings of the session, and sure that what the server shows
//! is safe.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_postgres::{CancelToken, Client, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{Address, CONNECT_WAIT};
use super::sessions::{Hook, HookError};

/// How long a new connection may take until it can be used. The pool limits how long it takes to be made, but not what is
/// done with it then, and no limit of the server covers a wait for a standby.
const BEGIN_WAIT: Duration = Duration::from_secs(10);
/// What every session begins with. A service that is paused with a lock in its hand would stop everybody: the server
/// takes it back after two seconds, and it looks for itself whether the service is still there.
const SETTINGS: &str = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
    SET synchronous_commit = on; SET idle_in_transaction_session_timeout = '2s'; SET statement_timeout = '30s';
    SET lock_timeout = '10s'; SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5;
    SET tcp_keepalives_count = 3; SET client_connection_check_interval = '2s'; SET client_min_messages = warning; SET timezone = 'UTC'; SET row_security = off;";
/// Something that is written and leaves nothing: once its commit is acknowledged, all that was committed before it is as
/// safe as it will be.
pub(super) const WRITE_NOTHING: &str = "SELECT pg_logical_emit_message(true, 'timenav', '')::text";
pub(super) const SELECT_SESSION: &str = "SELECT pg_backend_pid()";
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Returns what each new connection of a pool begins with: it is used once that is done, or not at all.
pub(super) fn begin_with(writer: Option<Writer>, opened: Opened, address: &Arc<Address>) -> Hook {
    let (runtime, address) = (Handle::current(), Arc::clone(address));
    Hook::async_fn(move |client, _| {
        let (writer, opened, runtime) = (writer.clone(), opened.clone(), runtime.clone());
        let (address, tls) = (Arc::clone(&address), address.tls.clone());
        Box::pin(async move {
            let Ok(begun) = tokio::time::timeout(BEGIN_WAIT, begin(client, writer, &opened)).await else {
                // On the runtime that knows the network; waited for, as the process may end with what comes of this.
                let _ = runtime.spawn(cancel(client.cancel_token(), tls)).await;
                return Err(HookError::message(not_safe_yet(&address.leave_server())));
            };
            begun
        })
    })
}

/// Says why a new connection to a server cannot be used.
fn not_safe_yet(server: &str) -> String {
    format!(
        "PostgreSQL: a new connection to {server} could not be used within 10 seconds. It stands still, or waits for a \
         synchronous standby that is away (`synchronous_standby_names`)"
    )
}

/// Ends what a session does that nobody waits for any more: a wait for a standby has no other end, and each would keep a
/// session of the server.
async fn cancel(token: CancelToken, tls: Option<MakeRustlsConnect>) {
    let canceling = async {
        match tls {
            None => token.cancel_query(NoTls).await,
            Some(tls) => token.cancel_query(tls).await,
        }
    };
    if let Ok(Err(error)) = tokio::time::timeout(CONNECT_WAIT, canceling).await {
        tracing::debug!(%error, "a session that nobody waits for any more could not be told");
    }
}

/// Prepares a new connection.
async fn begin(client: &Client, writer: Option<Writer>, opened: &Opened) -> Result<(), HookError> {
    client.batch_execute(SETTINGS).await.map_err(backend)?;
    opened.made.fetch_add(1, Ordering::Relaxed);
    if opened.is_to_answer {
        write_something(client, &opened.warnings).await?;
    }
    let Some(Writer { lock, session }) = writer else { return Ok(()) };
    lock_alone(client, lock).await?;
    let row = client.query_one(SELECT_SESSION, &[]).await.map_err(backend)?;
    session.store(row.try_get(0).map_err(backend)?, Ordering::Release);
    Ok(())
}

/// What becomes of the connections of a pool once they are made.
#[derive(Clone)]
pub(super) struct Opened {
    /// How many were made.
    pub(super) made: Arc<AtomicU64>,
    /// Counts what the server warns of.
    pub(super) warnings: Arc<AtomicU64>,
    /// Whether somebody is answered with what they read.
    pub(super) is_to_answer: bool,
}

/// Writes something that leaves nothing, durably, before a connection is used. After a crash or a change of the server it
/// shows what no standby has yet, and may lose it again; what it shows before the write is acknowledged is there for good.
async fn write_something(client: &Client, warnings: &AtomicU64) -> Result<(), HookError> {
    let before = warnings.load(Ordering::Acquire);
    client.batch_execute(WRITE_NOTHING).await.map_err(backend)?;
    // It warns where it has not waited for a standby.
    if warnings.load(Ordering::Acquire) == before {
        return Ok(());
    }
    Err(HookError::message("PostgreSQL: the server does not say that what it shows is safe; it is asked again"))
}

/// How the connection that writes begins.
#[derive(Clone)]
pub(super) struct Writer {
    pub(super) lock: &'static str,
    /// By which the server knows its session.
    pub(super) session: Arc<AtomicI32>,
}

async fn lock_alone(client: &Client, lock: &str) -> Result<(), HookError> {
    match client.batch_execute(lock).await {
        Ok(()) => Ok(()),
        Err(error) if error.code().is_some_and(|code| code.code() == LOCK_NOT_AVAILABLE) => Err(HookError::message(
            "another timenav uses this database; one at a time may, and the next one starts when that one has ended. \
             Several may where each is started with --replicas",
        )),
        Err(error) => Err(backend(error)),
    }
}

fn backend(error: tokio_postgres::Error) -> HookError {
    HookError::Backend(error.into())
}
