//! Folds the write-ahead log into the file, off the path of commits.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

/// How often the log's length is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Length of what is in the log and not in the file yet, from which it is folded in.
const PENDING_BYTES_MAX: u64 = 8 << 20;
/// Length of the log from which commits are made to wait for a moment, so that it starts anew. It
/// does so by itself whenever the writer pauses, but not under a load that never does.
const LOG_BYTES_MAX: u64 = 128 << 20;

/// How long a fold that makes commits wait may itself wait for readers.
const BUSY_WAIT: Duration = Duration::from_secs(1);

/// A thread that ends when this is dropped.
pub(super) struct Maintenance {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Maintenance {
    pub(super) fn start(path: &Path) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let path = path.to_owned();
        let thread = std::thread::Builder::new().name("sqlite-log".to_owned()).spawn(move || run(&path, &stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Maintenance {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of that thread was logged where it happened; there is nothing to add here.
            let _ = thread.join();
        }
    }
}

fn run(path: &Path, stopped: &mpsc::Receiver<()>) {
    let opened = Connection::open(path).and_then(|connection| {
        connection.busy_timeout(BUSY_WAIT)?;
        let page_bytes: u64 = connection.pragma_query_value(None, "page_size", |row| row.get::<_, u32>(0))?.into();
        Ok((connection, page_bytes))
    });
    let (connection, page_bytes) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            tracing::error!(%error, "the log of the database cannot be folded in");
            return;
        }
    };
    while matches!(stopped.recv_timeout(LOOK_EVERY), Err(RecvTimeoutError::Timeout)) {
        if let Err(error) = look(&connection, page_bytes) {
            tracing::warn!(%error, "the log of the database could not be folded in; it will be tried again");
        }
    }
}

/// Folds in what has come together, if it is enough.
fn look(connection: &Connection, page_bytes: u64) -> rusqlite::Result<()> {
    let log = checkpoint(connection, "NOOP")?;
    if log.pending_pages() * page_bytes < PENDING_BYTES_MAX {
        return Ok(());
    }
    // Waits for nobody and makes nobody wait.
    let log = checkpoint(connection, "PASSIVE")?;
    if log.pages * page_bytes >= LOG_BYTES_MAX {
        // Little is left to do, so little waiting is left.
        checkpoint(connection, "RESTART")?;
    }
    Ok(())
}

/// The write-ahead log: how long it is, and how much of it is in the file.
struct Log {
    pages: u64,
    pages_folded: u64,
}

impl Log {
    const fn pending_pages(&self) -> u64 {
        self.pages.saturating_sub(self.pages_folded)
    }
}

fn checkpoint(connection: &Connection, mode: &str) -> rusqlite::Result<Log> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        // Both are -1 where there is no log yet.
        let pages = |at: usize| row.get::<_, i64>(at).map(|pages| u64::try_from(pages).unwrap_or(0));
        Ok(Log { pages: pages(1)?, pages_folded: pages(2)? })
    })
}
