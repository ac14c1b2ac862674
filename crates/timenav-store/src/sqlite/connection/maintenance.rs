//! Checkpoints the write-ahead log in a thread of its own, so that commits do not have to.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use timenav_engine::StoreError;

use crate::sqlite::connection::log::{Folding, checkpoint, page_bytes};
use crate::sqlite::connection::open_to_write;
use crate::sqlite::values::failed;

const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Length of the log that is not in the file yet from which a checkpoint runs.
const PENDING_BYTES_MAX: u64 = 8 << 20;
/// Checks per log line about failed checkpoints: on a full disk every check fails.
const LOG_EVERY: u32 = 240;

/// The maintenance thread. It stops when this is dropped.
pub(in crate::sqlite) struct Maintenance {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Maintenance {
    pub(in crate::sqlite) fn start(path: &Path, folding: Folding) -> std::io::Result<Self> {
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
            // A panic of that thread was already logged by its hook.
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
    let mut failures = Failures::default();
    while matches!(stopped.recv_timeout(LOOK_EVERY), Err(RecvTimeoutError::Timeout)) {
        match look(&connection, page_bytes, folding) {
            Err(error) if failures.may_log() => {
                tracing::warn!(%error, "the log of the database could not be checkpointed; will retry");
            }
            Err(_) => {}
            Ok(()) => failures.end(),
        }
    }
}

/// Limits log lines about failing checks to one per minute.
#[derive(Default)]
struct Failures {
    /// Failed checks until the next log line.
    suppressed: u32,
}

impl Failures {
    const fn may_log(&mut self) -> bool {
        if self.suppressed > 0 {
            self.suppressed -= 1;
            return false;
        }
        self.suppressed = LOG_EVERY - 1;
        true
    }

    /// Records a successful check. A single success does not end the failure: a full disk has free space now and then.
    const fn end(&mut self) {
        self.suppressed = self.suppressed.saturating_sub(1);
    }
}

/// Runs a checkpoint if the log is long. Does not wait for readers, and blocks a writer only if it is too long.
fn look(connection: &Connection, page_bytes: u64, folding: &Folding) -> rusqlite::Result<()> {
    if checkpoint(connection, "NOOP")?.pages_pending() * page_bytes >= PENDING_BYTES_MAX {
        let _folding = folding.lock();
        checkpoint(connection, "PASSIVE")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_failures_are_reported_once_a_minute() {
        assert_eq!(LOOK_EVERY * LOG_EVERY, Duration::from_mins(1));
        let mut failures = Failures::default();
        let logged: Vec<u32> = (0..500).filter(|_| failures.may_log()).collect();
        assert_eq!(logged, [0, 240, 480]);
        let mut failures = Failures::default();
        let logged = (0..480).filter(|look| {
            if look % 2 == 0 {
                failures.may_log()
            } else {
                failures.end();
                false
            }
        });
        assert_eq!(logged.collect::<Vec<u32>>(), [0, 240]);
    }
}
