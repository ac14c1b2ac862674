//! The embedded default backend: one SQLite file, one writing connection, a few reading ones.
//!
//! Commits are durable when they return (`synchronous=FULL` on a write-ahead log). A separate thread checkpoints the
//! log, so that commits do not wait for it unless it becomes too long.

mod anchors;
mod commit;
mod connection;
mod copy;
mod data;
mod ends;
mod entries;
mod events;
mod facts;
mod identity;
mod integrity;
mod migrations;
mod moving;
mod outcomes;
mod read;
mod retention;
mod text_index;
mod timers;
mod values;

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};
use timenav_engine::{StoreError, TimelineKey, TimerQuery, TimersFound};
use tokio::sync::Semaphore;

use connection::log::{Folding, LogLimit};
use connection::maintenance::Maintenance;
pub use copy::{copy, fold_log};
pub use integrity::scan::SqliteArchive;
pub(crate) use moving::{SqliteSource, SqliteTarget};
use text_index::pacing::Filling;

const IDLE_READERS_MAX: usize = 8;
/// Concurrent reads, each of which may fill the page cache of its connection. Further reads wait.
const READS_RUNNING_MAX: usize = 24;

/// Timers and firings that are read on the calling thread: reading this many is faster than waking another thread.
const TIMERS_READ_HERE_MAX: usize = 32;

pub struct SqliteStore {
    _filling: Option<Filling>,
    // Dropped first: the last connection to close must be the writer's, which folds in and removes the log.
    _maintenance: Maintenance,
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    // Before the writer, for the same reason.
    idle_readers: Mutex<Vec<Connection>>,
    reads: Arc<Semaphore>,
    writer: Mutex<Connection>,
    log: Mutex<LogLimit>,
    /// Timelines with new events.
    to_index: Mutex<BTreeSet<TimelineKey>>,
    commits_count: AtomicU64,
    /// Whether commits might not be durable.
    is_failed: AtomicBool,
}

impl SqliteStore {
    /// Opens the file, creating it if it does not exist, and migrates it.
    ///
    /// # Errors
    /// If the file cannot be read or written, was written by a newer version of the service, or has a different schema.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let store = Self::open_without_filling(path)?;
        let filling = Filling::start(Arc::clone(&store.shared));
        let filling = filling.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { _filling: Some(filling), ..store })
    }

    /// Like [`SqliteStore::open`], but does not update the index of words.
    fn open_without_filling(path: &Path) -> Result<Self, StoreError> {
        make_private(path).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let mut writer = connection::open_to_write(path)?;
        migrations::schema::check(&writer)?;
        connection::configure_writer(&writer)?;
        migrations::run(&mut writer)?;
        let folding = Folding::default();
        let log = Mutex::new(LogLimit::new(&mut writer, Arc::clone(&folding)).map_err(values::failed)?);
        let (writer, idle_readers) = (Mutex::new(writer), Mutex::default());
        let reads = Arc::new(Semaphore::new(READS_RUNNING_MAX));
        let shared = Shared {
            path: path.to_owned(),
            idle_readers,
            reads,
            writer,
            log,
            to_index: Mutex::default(),
            commits_count: AtomicU64::new(0),
            is_failed: AtomicBool::new(false),
        };
        let maintenance =
            Maintenance::start(path, folding).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { _filling: None, _maintenance: maintenance, shared: Arc::new(shared) })
    }

    /// Runs a short read on the calling thread, because waking another would take as long.
    fn read_here<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let reader = self.shared.reader()?;
        let result = work(&reader);
        self.shared.put_back(reader);
        result
    }

    /// Reads timers, on the calling thread if a few rows suffice.
    async fn read_timers(&self, key: TimelineKey, query: TimerQuery) -> Result<TimersFound, StoreError> {
        if let Some(few) = timers::few(&query, TIMERS_READ_HERE_MAX) {
            let found = self.read_here(|connection| timers::find(connection, key, &few))?;
            if few == query || found.firings.len() < TIMERS_READ_HERE_MAX {
                return Ok(found);
            }
        }
        self.read(move |connection| timers::find(connection, key, &query)).await
    }

    /// Runs a read on its own connection, off the async threads.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.shared);
        let place = Arc::clone(&shared.reads).acquire_owned().await;
        let place = place.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let done = tokio::task::spawn_blocking(move || {
            // Released when the read ends, even if its caller has been canceled.
            let _place = place;
            let reader = shared.reader()?;
            let result = work(&reader);
            shared.put_back(reader);
            result
        });
        done.await.map_err(|error| StoreError::Unavailable(error.to_string()))?
    }
}

impl SqliteStore {
    /// Runs a write outside of commits, off the async threads.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.shared);
        let done = tokio::task::spawn_blocking(move || {
            let mut writer = shared.writer.lock();
            let result = work(&mut writer);
            shared.log.lock().keep(&writer);
            result
        });
        done.await.map_err(|error| StoreError::Unavailable(error.to_string()))?
    }
}

impl Shared {
    fn reader(&self) -> Result<Connection, StoreError> {
        if let Some(idle) = self.idle_readers.lock().pop() {
            return Ok(idle);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        connection::open_to_read(&self.path, flags).map_err(values::failed)
    }

    fn put_back(&self, reader: Connection) {
        let mut idle = self.idle_readers.lock();
        if idle.len() < IDLE_READERS_MAX {
            idle.push(reader);
        }
    }
}

/// Creates the file readable and writable only by its owner. SQLite gives auxiliary files the same mode.
fn make_private(path: &Path) -> std::io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map(|_| ())
}
