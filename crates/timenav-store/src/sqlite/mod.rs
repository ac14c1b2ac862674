//! The embedded default: one SQLite file, one writing connection, a few reading ones.
//!
//! Commits are durable when they return (`synchronous=FULL` on a write-ahead log). The log is
//! folded into the file by a thread of its own, so that no commit waits for it.

mod commit;
mod data;
mod events;
mod examination;
mod identity;
mod maintenance;
mod migrations;
mod orphans;
mod read;
mod room;
mod scan;
mod tiles;
mod values;
mod versions;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};
use timenav_engine::StoreError;
use tokio::sync::Semaphore;

pub use examination::{Examination, ExaminedKey};
use maintenance::Maintenance;
pub use scan::SqliteArchive;

/// Reading connections kept open while nobody uses them.
const IDLE_READERS_MAX: usize = 8;
/// Memory for pages of the writing connection, in KiB.
const WRITER_CACHE_KIB: i64 = 65_536;
/// Memory for pages of each reading connection, in KiB.
const READER_CACHE_KIB: i64 = 8_192;
/// How long a connection waits for others.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// Reads at the same moment, whoever asks: each may fill the memory for pages of its connection. More wait.
const READS_RUNNING_MAX: usize = 24;
/// Statements kept prepared on a connection.
const STATEMENTS_MAX: usize = 64;

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
}

impl SqliteStore {
    /// Opens the file, makes it if there is none, and brings its tables up to date.
    ///
    /// # Errors
    /// It cannot be read or written, or was written by a newer version of the service.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        make_private(path).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let mut writer = Connection::open(path).map_err(values::failed)?;
        configure(&writer, WRITER_CACHE_KIB).map_err(values::failed)?;
        writer.pragma_update(None, "synchronous", "FULL").map_err(values::failed)?;
        // Folding the log is the maintenance thread's work.
        writer.pragma_update(None, "wal_autocheckpoint", 0).map_err(values::failed)?;
        migrations::run(&mut writer)?;
        let reads = Arc::new(Semaphore::new(READS_RUNNING_MAX));
        let (writer, idle_readers) = (Mutex::new(writer), Mutex::default());
        let shared = Shared { path: path.to_owned(), idle_readers, reads, writer };
        let maintenance = Maintenance::start(path).map_err(|error| StoreError::Unavailable(error.to_string()))?;
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

impl Shared {
    fn reader(&self) -> Result<Connection, StoreError> {
        if let Some(idle) = self.idle_readers.lock().pop() {
            return Ok(idle);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let reader = Connection::open_with_flags(&self.path, flags).map_err(values::failed)?;
        configure(&reader, READER_CACHE_KIB).map_err(values::failed)?;
        Ok(reader)
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

fn configure(connection: &Connection, cache_kib: i64) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_WAIT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    if !connection.is_readonly("main")? {
        // Only a new file takes the page size; rows of a few hundred bytes sit better in 8 KiB.
        connection.pragma_update(None, "page_size", 8_192)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
    }
    connection.pragma_update(None, "cache_size", -cache_kib)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "foreign_keys", "OFF")
}
