//! The embedded default: one SQLite file, one writing connection, a few reading ones.
//!
//! Commits are durable when they return (`synchronous=FULL` on a write-ahead log). The log is
//! folded into the file by a thread of its own, so that no commit waits for it unless it becomes long.

mod ahead;
mod anchors;
mod commit;
mod connection;
mod contents;
mod copy;
mod data;
mod described;
mod ends;
mod entries;
mod event_runs;
mod events;
mod examination;
mod facts;
mod identity;
mod integrity;
mod leaf;
mod log;
mod log_rows;
mod maintenance;
mod migrations;
mod moving;
mod origins;
mod orphans;
mod outcomes;
mod overriding;
mod passing;
mod read;
mod retention;
mod room;
mod scan;
mod schema;
mod sifting;
mod stretches;
mod tiles;
mod timers;
mod values;
mod versions;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};
use timenav_engine::{StoreError, TimelineKey, TimersFound, TimersWanted};
use tokio::sync::Semaphore;

pub use copy::{copy, fold_log};
use log::{Folding, LogLimit};
use maintenance::Maintenance;
pub(crate) use moving::{SqliteSource, SqliteTarget};
pub use scan::SqliteArchive;

/// Reading connections kept open while nobody uses them.
const IDLE_READERS_MAX: usize = 8;
/// Reads at the same moment, whoever asks: each may fill the memory for pages of its connection. More wait.
const READS_RUNNING_MAX: usize = 24;

/// Timers and firings that are read on the thread that asks: fewer than waking another one would take.
const TIMERS_READ_HERE_MAX: usize = 32;

/// Keeps everything in one SQLite file.
pub struct SqliteStore {
    // Dropped first: its connection must not outlive the writer's, which folds in the log and
    // removes it when it is the last to close.
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
}

impl SqliteStore {
    /// Opens the file, makes it if there is none, and brings its tables up to date.
    ///
    /// # Errors
    /// It cannot be read or written, was written by a newer version of the service, or is laid out
    /// otherwise than the service does.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        make_private(path).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let mut writer = connection::open_to_write(path)?;
        schema::check(&writer)?;
        connection::configure_writer(&writer)?;
        migrations::run(&mut writer)?;
        let folding = Folding::default();
        let log = Mutex::new(LogLimit::new(&writer, Arc::clone(&folding)).map_err(values::failed)?);
        let (writer, idle_readers) = (Mutex::new(writer), Mutex::default());
        let reads = Arc::new(Semaphore::new(READS_RUNNING_MAX));
        let shared = Shared { path: path.to_owned(), idle_readers, reads, writer, log };
        let maintenance =
            Maintenance::start(path, folding).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { shared: Arc::new(shared), _maintenance: maintenance })
    }

    /// Runs a read that is known to be short on a connection of its own, on the thread that asks:
    /// waking another one would take as long as the read.
    fn read_here<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let reader = self.shared.reader()?;
        let result = work(&reader);
        self.shared.put_back(reader);
        result
    }

    /// Returns what there is of timers, on the thread that asks where a few rows are all.
    async fn read_timers(&self, key: TimelineKey, wanted: TimersWanted) -> Result<TimersFound, StoreError> {
        if let Some(few) = timers::few(&wanted, TIMERS_READ_HERE_MAX) {
            let found = self.read_here(|connection| timers::find(connection, key, &few))?;
            if few == wanted || found.firings.len() < TIMERS_READ_HERE_MAX {
                return Ok(found);
            }
        }
        self.read(move |connection| timers::find(connection, key, &wanted)).await
    }

    /// Runs a read on a connection of its own, off the async threads.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.shared);
        let place = Arc::clone(&shared.reads).acquire_owned().await;
        let place = place.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let done = tokio::task::spawn_blocking(move || {
            // Given back when the read is over, and not when nobody waits for it any more.
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
    /// Writes something beside the commits, off the async threads.
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

/// Makes the file, if there is none, so that only its owner reads and writes it. SQLite gives the
/// files beside it the same mode.
fn make_private(path: &Path) -> std::io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map(|_| ())
}
