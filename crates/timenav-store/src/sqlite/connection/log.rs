//! Limits the length of the write-ahead log.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::Connection;

use crate::sqlite::connection::{BUSY_WAIT, beside};

/// Length from which commits wait briefly so that the log restarts. It also restarts whenever the writer pauses, but a
/// constant load leaves no pause.
const LOG_BYTES_MAX: u64 = 128 << 20;
/// How long such a wait may last for readers of the log.
const READERS_WAIT: Duration = Duration::from_secs(1);
/// After an unsuccessful wait, commits wait again once the log has grown by this fraction of its maximum.
const AGAIN_PART: u64 = 8;
/// Fraction of the first wait that later waits take. A reader that outlasted it may last for hours.
const AGAIN_WAIT_PART: u32 = 50;

/// Length of the log in pages, and how many of them are in the file.
pub(in crate::sqlite) struct LogState {
    pages: u64,
    pages_folded: u64,
    /// Whether a reader blocked the checkpoint.
    is_held: bool,
}

impl LogState {
    pub(in crate::sqlite) const fn pages_pending(&self) -> u64 {
        self.pages.saturating_sub(self.pages_folded)
    }
}

/// Runs a checkpoint with this mode and returns the state of the log.
pub(in crate::sqlite) fn checkpoint(connection: &Connection, mode: &str) -> rusqlite::Result<LogState> {
    let mut fold = connection.prepare_cached(&format!("PRAGMA wal_checkpoint({mode})"))?;
    fold.query_row([], |row| {
        // Both are -1 if there is no log yet.
        let pages = |at: usize| row.get::<_, i64>(at).map(|pages| u64::try_from(pages).unwrap_or(0));
        Ok(LogState { is_held: row.get(0)?, pages: pages(1)?, pages_folded: pages(2)? })
    })
}

pub(in crate::sqlite) fn page_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    connection.pragma_query_value(None, "page_size", |row| row.get::<_, u32>(0)).map(u64::from)
}

/// Held during a checkpoint. SQLite allows one at a time and fails the others.
pub(in crate::sqlite) type Folding = Arc<Mutex<()>>;

pub(in crate::sqlite) struct LogLimit {
    folding: Folding,
    file: PathBuf,
    bytes_max: u64,
    wait: Duration,
    page_bytes: u64,
    /// Length from which the next commit waits.
    bytes_next: u64,
    /// Length from which the next warning about a blocking reader is logged.
    bytes_told: u64,
}

impl LogLimit {
    pub(in crate::sqlite) fn new(writer: &Connection, folding: Folding) -> rusqlite::Result<Self> {
        Self::with(writer, folding, LOG_BYTES_MAX, READERS_WAIT)
    }

    /// Like [`LogLimit::new`], with other limits.
    pub(in crate::sqlite) fn with(
        writer: &Connection,
        folding: Folding,
        bytes_max: u64,
        wait: Duration,
    ) -> rusqlite::Result<Self> {
        // A log that grew beyond the limit because of a reader is truncated when it restarts.
        writer.pragma_update(None, "journal_size_limit", i64::try_from(bytes_max).unwrap_or(i64::MAX))?;
        let (page_bytes, file) = (page_bytes(writer)?, beside(Path::new(writer.path().unwrap_or_default()), "-wal"));
        Ok(Self { folding, file, bytes_max, wait, page_bytes, bytes_next: bytes_max, bytes_told: 2 * bytes_max })
    }

    /// Restarts the log after a commit that exceeded the limit, unless a reader blocks it.
    pub(in crate::sqlite) fn keep(&mut self, writer: &Connection) {
        if let Err(error) = self.try_keep(writer) {
            // Not at every commit: the cause may last for hours.
            self.bytes_next += self.bytes_max / AGAIN_PART;
            tracing::warn!(%error, "the log of the database could not be restarted; will retry");
        }
    }

    fn wait_next(&self) -> Duration {
        if self.bytes_next > self.bytes_max { self.wait / AGAIN_WAIT_PART } else { self.wait }
    }

    fn try_keep(&mut self, writer: &Connection) -> rusqlite::Result<()> {
        // The file is as long as the log has ever been, and reading its length takes a fiftieth of the time.
        if self.file.metadata().is_ok_and(|file| file.len() < self.bytes_max) {
            (self.bytes_next, self.bytes_told) = (self.bytes_max, 2 * self.bytes_max);
            return Ok(());
        }
        let bytes = checkpoint(writer, "NOOP")?.pages * self.page_bytes;
        if bytes < self.bytes_max {
            (self.bytes_next, self.bytes_told) = (self.bytes_max, 2 * self.bytes_max);
        }
        if bytes < self.bytes_next {
            return Ok(());
        }
        // A checkpoint that is running leaves less work for this one.
        let _folding = self.folding.lock();
        writer.busy_timeout(self.wait_next())?;
        let state = checkpoint(writer, "RESTART");
        writer.busy_timeout(BUSY_WAIT)?;
        if state?.is_held {
            // The reader may last for hours, so that not every commit waits for it.
            self.bytes_next = bytes + self.bytes_max / AGAIN_PART;
            if bytes >= self.bytes_told {
                self.bytes_told = bytes + self.bytes_max;
                tracing::warn!(
                    bytes,
                    "the log of the database has {bytes} bytes and keeps growing, because a reader has an old \
                     transaction open: stop whatever copies the database or has it open"
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection::{configure_writer, open_to_write};

    const BYTES_MAX: u64 = 1 << 20;
    /// More than one commit of these tests writes.
    const COMMIT_BYTES: u64 = 128 << 10;

    fn database(path: &Path) -> (Connection, LogLimit) {
        let writer = open_to_write(path).unwrap();
        configure_writer(&writer).unwrap();
        writer.execute_batch("CREATE TABLE t (a)").unwrap();
        let limit = LogLimit::with(&writer, Folding::default(), BYTES_MAX, Duration::from_millis(5)).unwrap();
        (writer, limit)
    }

    /// Writes this many commits of at least 64 KiB. Returns the greatest length of the log.
    fn write(path: &Path, writer: &Connection, limit: &mut LogLimit, commits: usize) -> u64 {
        let mut longest = 0;
        for _ in 0..commits {
            writer.execute("INSERT INTO t VALUES (zeroblob(65536))", []).unwrap();
            limit.keep(writer);
            longest = longest.max(beside(path, "-wal").metadata().unwrap().len());
        }
        longest
    }

    #[test]
    fn wal_stays_bounded_under_constant_load() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let (writer, mut limit) = database(&path);
        let longest = write(&path, &writer, &mut limit, 100);
        assert!((BYTES_MAX..BYTES_MAX + COMMIT_BYTES).contains(&longest), "{longest}");
    }

    #[test]
    fn long_reader_does_not_delay_every_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let (writer, mut limit) = database(&path);
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM t").unwrap();
        let longest = write(&path, &writer, &mut limit, 20);
        assert!(longest > BYTES_MAX, "{longest}");
        // It waited once, and waits again when the log has grown by an eighth.
        assert!(limit.bytes_next > BYTES_MAX && limit.bytes_next <= longest + BYTES_MAX / AGAIN_PART + COMMIT_BYTES);
        assert_eq!(limit.wait_next(), limit.wait / AGAIN_WAIT_PART);
        let waited_at = limit.bytes_next;
        limit.keep(&writer);
        assert_eq!(limit.bytes_next, waited_at, "a commit in between waits for nobody");
        reader.execute_batch("COMMIT").unwrap();
        // The next check is one commit or two away. Then the log restarts and is truncated.
        write(&path, &writer, &mut limit, 6);
        let length = beside(&path, "-wal").metadata().unwrap().len();
        assert!(length <= BYTES_MAX + COMMIT_BYTES, "{length}");
        assert_eq!(limit.bytes_next, BYTES_MAX);
        assert_eq!(limit.wait_next(), limit.wait);
    }

    #[test]
    fn long_reader_is_reported_when_the_wal_doubles() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let (writer, mut limit) = database(&path);
        limit.bytes_max = 1 << 17;
        (limit.bytes_next, limit.bytes_told) = (limit.bytes_max, 2 * limit.bytes_max);
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM t").unwrap();
        let told = limit.bytes_told;
        write(&path, &writer, &mut limit, 4);
        assert!(limit.bytes_told > told, "{} {told}", limit.bytes_told);
    }
}
