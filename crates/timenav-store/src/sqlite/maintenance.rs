//! Folds the write-ahead log into the file, off the path of commits.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

/// How often the log's length is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Length from which the log is folded in.
const LOG_BYTES_MAX: u64 = 8 << 20;

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
    let connection = match Connection::open(path) {
        Ok(connection) => connection,
        Err(error) => {
            tracing::error!(%error, "the log of the database cannot be folded in");
            return;
        }
    };
    let log = log_path(path);
    let mut folded_bytes = 0;
    loop {
        let ended = matches!(stopped.recv_timeout(LOOK_EVERY), Ok(()) | Err(RecvTimeoutError::Disconnected));
        if ended {
            return;
        }
        let log_bytes = std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
        // The file of the log never shrinks by itself: look at what came since the last time.
        if log_bytes >= LOG_BYTES_MAX && (log_bytes != folded_bytes || has_frames(&connection)) {
            if let Err(error) = fold(&connection) {
                tracing::warn!(%error, "the log of the database could not be folded in; it will be tried again");
            }
            folded_bytes = log_bytes;
        }
    }
}

/// Returns whether the log holds pages that are not in the file yet.
fn has_frames(connection: &Connection) -> bool {
    let pending = connection
        .query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| Ok(row.get::<_, i64>(1)? > row.get::<_, i64>(2)?));
    pending.unwrap_or(true)
}

/// Never waits for a writer or a reader, and never makes one wait.
fn fold(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

fn log_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}
