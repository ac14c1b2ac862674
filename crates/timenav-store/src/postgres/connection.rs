//! Connection pools: one connection that writes, and several that read.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{TimeoutType, Timeouts};
use timenav_engine::{ConnectionsUse, StoreError};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client, SimpleQueryMessage};

use self::address::{Address, CONNECT_WAIT};
use self::beginning::{Opened, SELECT_SESSION, Writer, begin_with};
use self::sessions::{HookError, Object, Pool, PoolError, Sessions};
use super::PostgresOptions;
use super::migrations::Spread;
use super::values::Failed;
use crate::postgres::events::features::FeaturesCache;

pub(crate) mod address;
pub(crate) mod beginning;
pub(crate) mod guest;
pub(crate) mod room;
pub(crate) mod servers;
pub(crate) mod sessions;

/// Concurrent reading connections. Further reads wait.
const READERS_MAX: usize = 16;
const POOL_WAIT: Duration = Duration::from_secs(10);

/// Lasts as long as the session: the server releases it when the service disconnects.
const LOCK_ALONE: &str = "SET lock_timeout = '5s'; SELECT pg_advisory_lock(1414414678, 2); SET lock_timeout = '10s'";
/// The same lock in shared mode, for services that share a database. It conflicts with exclusive use.
const LOCK_SHARED: &str =
    "SET lock_timeout = '5s'; SELECT pg_advisory_lock_shared(1414414678, 2); SET lock_timeout = '10s'";

/// Creates a pool. The writer's connection takes a lock and records its session.
fn pool(
    to: &Arc<Address>,
    size: usize,
    writer: Option<Writer>,
    (opened, unanswered): (Opened, &Arc<AtomicU64>),
) -> Result<Pool, StoreError> {
    let (address, runtime) = (Arc::clone(to), Handle::current());
    let (warnings, unanswered) = (Arc::clone(&opened.warnings), Arc::clone(unanswered));
    let begin = begin_with(writer, opened, to);
    let create = to.longest_attempt().saturating_add(CONNECT_WAIT).max(2 * POOL_WAIT);
    let timeouts = Timeouts { wait: Some(POOL_WAIT), create: Some(create), recycle: Some(CONNECT_WAIT) };
    let sessions = Sessions { address, runtime, warnings, unanswered };
    let pool = Pool::builder(sessions).max_size(size).timeouts(timeouts).runtime(Runtime::Tokio1).post_create(begin);
    pool.build().map_err(|error| StoreError::Unavailable(error.to_string()))
}

pub(super) struct Connections {
    writer: Pool,
    readers: Pool,
    address: Arc<Address>,
    is_alone: bool,
    /// Number of warnings that the server sent to the writing connection.
    warnings: Arc<AtomicU64>,
    session: Arc<AtomicI32>,
    pub(super) features: Arc<FeaturesCache>,
    pub(super) spread: Arc<Spread>,
    opened: Arc<AtomicU64>,
    /// Number of transactions retried after losing against another one.
    pub(super) retries: AtomicU64,
    /// Number of commits whose response was lost.
    pub(super) unanswered: AtomicU64,
}

impl Connections {
    /// Creates the pools of a service (`is_to_answer`), or of a command that only inspects the database.
    pub(super) fn new(options: &PostgresOptions, is_to_answer: bool) -> Result<Self, StoreError> {
        let address = Arc::new(Address::read(&options.url)?);
        let (warnings, opened) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let session = Arc::<AtomicI32>::default();
        let lock = if options.is_alone { LOCK_ALONE } else { LOCK_SHARED };
        let hook = |warnings: &Arc<AtomicU64>| Opened {
            count: Arc::clone(&opened),
            warnings: Arc::clone(warnings),
            is_to_answer,
        };
        let of_writer = Writer { lock, session: Arc::clone(&session) };
        let silence = Arc::default();
        let writer = pool(&address, 1, Some(of_writer), (hook(&warnings), &silence))?;
        let readers = pool(&address, READERS_MAX, None, (hook(&Arc::default()), &silence))?;
        let (is_alone, retries, unanswered) = (options.is_alone, AtomicU64::new(0), AtomicU64::new(0));
        let (features, spread) = Default::default();
        Ok(Self {
            writer,
            readers,
            address,
            is_alone,
            warnings,
            session,
            features,
            spread,
            opened,
            retries,
            unanswered,
        })
    }

    /// Opens the first connections and checks them with [`Connections::check_no_pooler`]. If a server accepts a
    /// connection and then hangs, the next one is tried. The error is that of the last one.
    pub(super) async fn begin(&self) -> Result<(), StoreError> {
        for _ in 1..self.address.servers_count() {
            if self.check_no_pooler().await.is_ok() {
                return Ok(());
            }
        }
        self.check_no_pooler().await
    }

    pub(super) fn use_now(&self) -> ConnectionsUse {
        let (writer, readers) = (self.writer.status(), self.readers.status());
        let open = writer.size + readers.size;
        ConnectionsUse {
            max: (writer.max_size + readers.max_size) as u64,
            open: open as u64,
            in_use: open.saturating_sub(writer.available + readers.available) as u64,
            waiting: (writer.waiting + readers.waiting) as u64,
            opened: self.opened.load(Ordering::Relaxed),
            retries: self.retries.load(Ordering::Relaxed),
            unanswered: self.unanswered.load(Ordering::Relaxed),
        }
    }

    pub(super) const fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Checks that each connection has a session of its own. A transaction pooler gives the idle writer's session to
    /// the next transaction that begins, and another session to the writer.
    pub(super) async fn check_no_pooler(&self) -> Result<(), StoreError> {
        let (writer, other) = (self.writer().await?, Object::take(self.reader().await?));
        other.batch_execute("BEGIN; SELECT 1").await.map_err(Failed::from)?;
        let reply = tokio::time::timeout(CONNECT_WAIT, writer.simple_query(SELECT_SESSION)).await;
        let Ok(reply) = reply else { return Err(pooled()) };
        let found = reply.map_err(Failed::from)?.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).and_then(|pid| pid.parse().ok()),
            _ => None,
        });
        self.check_session(found.unwrap_or_default())
    }

    /// Fails if writes do not go to the session that has the lock and the settings.
    pub(super) fn check_session(&self, found: i32) -> Result<(), StoreError> {
        if found == self.session.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(pooled())
    }

    pub(super) fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Acquire)
    }

    /// Opens a connection outside the pools for the server's notifications.
    pub(super) async fn listen(
        &self,
        receive: impl FnMut(AsyncMessage) + Clone + Send + 'static,
    ) -> Result<(Client, JoinHandle<()>), StoreError> {
        Ok(self.address.connect(&Handle::current(), receive).await?)
    }

    /// Returns the writing connection, for exclusive use.
    pub(super) async fn writer(&self) -> Result<Object, StoreError> {
        self.writer.get().await.map_err(not_connected)
    }

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
        PoolError::Backend(failed) | PoolError::PostCreateHook(HookError::Backend(failed)) => failed.into(),
        PoolError::PostCreateHook(HookError::Message(message)) => StoreError::Unavailable(message.into_owned()),
        PoolError::Timeout(TimeoutType::Create) => {
            StoreError::Unavailable("PostgreSQL: no connection could be opened in time".to_owned())
        }
        PoolError::Timeout(TimeoutType::Wait | TimeoutType::Recycle) => {
            StoreError::Unavailable("PostgreSQL: no connection became free in time".to_owned())
        }
        PoolError::Closed | PoolError::NoRuntimeSpecified => {
            StoreError::Unavailable("PostgreSQL: no new connection can be opened".to_owned())
        }
    }
}
