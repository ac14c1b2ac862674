//! The backend for PostgreSQL 15 and later: one connection that writes, and a pool of connections that read.
//!
//! The modules have the same names as those of the SQLite backend. A commit is one transaction that locks the heads
//! first. A read of several statements is one snapshot. All statements are prepared, and independent statements are
//! pipelined.

pub(crate) mod sharing;
pub(crate) mod integrity;
mod anchors;
mod commit;
mod connection;
mod data;
mod ends;
mod entries;
mod events;
mod facts;
mod heads;
mod identity;
mod migrations;
mod moving;
mod outcomes;
mod read;
mod retention;
mod timers;
mod transaction;
mod values;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use timenav_core::ids::TimelineId;
use timenav_engine::StoreError;
use tokio::sync::Mutex;

use commit::locking::Held;
use connection::Connections;
use connection::address::Address;
pub use connection::guest::{GuestError, PostgresGuest};
use connection::sessions::Object;
pub use integrity::examination::ServerFacts;
pub(crate) use moving::{PostgresSource, PostgresTarget};
use sharing::hints::Hints;
pub use sharing::upgrading::{Finished, PostgresUpgrade, SeenService};
use transaction::batch::Batch;
use transaction::{Moment, Writing};
use values::Failed;

use crate::persistence::examination::Examination;

/// How long to re-read heads with invisible last entries. The server ends stalled transactions after two seconds.
const FINISHED_WAIT: Duration = Duration::from_secs(1);
const FINISHED_EVERY: Duration = Duration::from_millis(5);

/// The address of a database, and the mode of its use.
#[derive(Clone)]
pub struct PostgresOptions {
    /// The address in libpq format: `postgres://user:password@host/database?sslmode=verify-full`.
    pub url: String,
    /// Whether this service must be the only one that uses the database. If set, other services are rejected. Services
    /// that do not set it can share the database.
    pub is_alone: bool,
}

impl fmt::Debug for PostgresOptions {
    /// Omits the address, which may include a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions").field("is_alone", &self.is_alone).finish_non_exhaustive()
    }
}

pub struct PostgresStore {
    connections: Arc<Connections>,
    /// The commit in progress, with its locks.
    held: Mutex<Option<Held>>,
    hints: Hints,
}

impl PostgresStore {
    /// Connects, and creates the tables if there are none.
    ///
    /// # Errors
    /// If the database cannot be reached, is used by another service, was written by a newer version of the service, or
    /// has a different schema.
    pub async fn open(options: &PostgresOptions) -> Result<Self, StoreError> {
        let store = Self::open_to_move(options).await?;
        let reader = store.reader().await?;
        moving::check_no_move(&reader).await?;
        drop(reader);
        Ok(store)
    }

    /// Like [`PostgresStore::open`], but also opens a database that a move is in progress into.
    async fn open_to_move(options: &PostgresOptions) -> Result<Self, StoreError> {
        let connections = Arc::new(Connections::new(options, true)?);
        connections.begin().await?;
        let mut writer = connections.writer().await?;
        let prepared = async {
            let transaction = writer.transaction().await?;
            sharing::upgrading::begin(&transaction).await?;
            transaction.commit().await?;
            migrations::schema::check(&writer).await?;
            Ok::<_, Failed>(())
        };
        prepared.await?;
        drop(writer);
        let hints = if options.is_alone { Hints::none() } else { Hints::start(&connections) };
        Ok(Self { connections, held: Mutex::default(), hints })
    }

    /// Returns why the database cannot be reached, if it may be reachable soon: no server listens at its address, or it
    /// is still starting.
    ///
    /// # Errors
    /// If the address is malformed.
    pub async fn away(url: &str) -> Result<Option<String>, StoreError> {
        Ok(Address::read(url)?.away().await)
    }

    /// Connects to inspect the database as it is: nothing is created or migrated.
    ///
    /// # Errors
    /// If the database cannot be reached, or a move into it is in progress: missing rows would look like damage.
    pub async fn open_to_look(options: &PostgresOptions) -> Result<Self, StoreError> {
        let connections = Arc::new(Connections::new(options, false)?);
        let reader = connections.reader().await?;
        moving::check_no_move(&reader).await?;
        drop(reader);
        Ok(Self { connections, held: Mutex::default(), hints: Hints::none() })
    }

    /// Returns the live timelines, by name.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn timelines(&self) -> Result<Vec<TimelineId>, StoreError> {
        let mut all: Vec<_> =
            heads::select(&self.reader().await?, heads::Which::All).await?.into_iter().map(|head| head.id).collect();
        all.sort();
        Ok(all)
    }

    /// Returns the timelines that have ended, by name.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn ended_timelines(&self) -> Result<Vec<TimelineId>, StoreError> {
        let mut all: Vec<_> =
            ends::select(&self.reader().await?, None).await?.into_iter().map(|ended| ended.id).collect();
        all.sort();
        Ok(all)
    }

    /// Examines the server and the database.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn examine(&self) -> Result<(ServerFacts, Examination), StoreError> {
        let reader = self.reader().await?;
        let examined = integrity::examination::examine(&reader).await?;
        // Last, because callers compare the server's clock with their own.
        Ok((integrity::examination::look_at_server(&reader).await?, examined))
    }

    /// Returns a connection for a read of one statement.
    async fn reader(&self) -> Result<Object, Failed> {
        Ok(self.connections.reader().await?)
    }

    /// Runs several statements on one snapshot.
    async fn moment<T>(
        &self,
        read: impl for<'a> FnOnce(&'a Object) -> BoxFuture<'a, Result<T, Failed>>,
    ) -> Result<T, Failed> {
        Moment::read(self.connections.reader().await?, read).await
    }

    /// Like [`PostgresStore::moment`], for heads. Repeats the read for a short time while a last entry is not visible.
    async fn heads_of_a_moment<T>(
        &self,
        read: impl for<'a> Fn(&'a Object) -> BoxFuture<'a, Result<T, Failed>>,
    ) -> Result<T, Failed> {
        let mut ended = self.moment(&read).await;
        if let Err(Failed::Unfinished) = ended {
            let waited = tokio::spawn(transaction::pause(FINISHED_WAIT));
            while !waited.is_finished() && matches!(ended, Err(Failed::Unfinished)) {
                transaction::pause(FINISHED_EVERY).await;
                ended = self.moment(&read).await;
            }
        }
        ended
    }

    /// Writes a batch outside of commits.
    async fn write(&self, batch: Batch<'_>) -> Result<(), Failed> {
        let (writing, _) = Writing::begin(&self.connections, batch).await?;
        writing.commit(&self.connections, None).await
    }
}
