//! Folds the write-ahead log into the file, off the path of commits.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use timenav_engine::StoreError;

use super::connection::open_to_write;
use super::log::{Folding, checkpoint, page_bytes};
use super::values::failed;

/// How often the log's length is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Length of what is in the log and not in the file yet, from which it is folded in.
const PENDING_BYTES_MAX: u64 = 8 << 20;
/// A thread that ends when this is dropped.
pub(super) struct Maintenance {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Maintenance {
    pub(super) fn start(path: &Path, folding: Folding) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let path = path.to_owned();
        let thread = std::thread::Builder::new().name("sqlite-log".to_owned());
        let thread = thread.spawn(move || run(&path, &stopped, &folding))?;
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

fn run(path: &Path, stopped: &mpsc::Receiver<()>, folding: &Folding) {
    let opened = open_to_write(path).and_then(|connection| {
        let page_bytes = page_bytes(&connection).map_err(failed)?;
        Ok::<_, StoreError>((connection, page_bytes))
    });
    let (connection, page_bytes) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            tracing::error!(%error, "the log of the database cannot be checkpointed");
            return;
        }
    };
    while matches!(stopped.recv_timeout(LOOK_EVERY), Err(RecvTimeoutError::Timeout)) {
        if let Err(error) = look(&connection, page_bytes, folding) {
            tracing::warn!(%error, "the log of the database could not be checkpointed; it will be tried again");
        }
    }
}

/// Folds in what has come together, if it is enough. Waits for no reader, and makes only a writer wait whose log is long.
fn look(connection: &Connection, page_bytes: u64, folding: &Folding) -> rusqlite::Result<()> {
    if checkpoint(connection, "NOOP")?.pages_pending() * page_bytes >= PENDING_BYTES_MAX {
        let _folding = folding.lock();
        checkpoint(connection, "PASSIVE")?;
    }
    Ok(())
}
