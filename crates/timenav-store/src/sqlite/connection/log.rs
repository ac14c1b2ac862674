//! Limits the length of the write-ahead log, and reserves room in its file.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::hooks::Wal;

use crate::sqlite::connection::{BUSY_WAIT, sibling};

/// Length from which commits wait briefly so that the log restarts. It also restarts whenever the writer pauses, but a
/// constant load leaves no pause.
const LOG_BYTES_MAX: u64 = 128 << 20;
/// How long such a wait may last for readers of the log.
const READERS_WAIT: Duration = Duration::from_secs(1);
/// After an unsuccessful wait, commits wait again once the log has grown by this fraction of its maximum.
const AGAIN_PART: u64 = 8;
/// Fraction of the first wait that later waits take. A reader that outlasted it may last for hours.
const AGAIN_WAIT_PART: u32 = 50;
/// Zeros written behind the log at a time. To overwrite them takes a commit half as long as to lengthen the file.
const RESERVE_BYTES: usize = 1 << 20;
/// Commits that add more to the log get no reserve, because they would write much of it twice.
const SMALL_COMMIT_BYTES_MAX: u64 = 128 << 10;

/// Bytes of the log before each page.
const FRAME_HEADER_BYTES: u64 = 24;

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
    /// Pages in the log after the last commit of the writer.
    pages: Arc<AtomicU64>,
    /// Length of the log at the last [`LogLimit::reserve`].
    bytes_before: u64,
    /// Length that the file is known to have had since the log last restarted.
    file_bytes: u64,
    /// Length from which the next commit waits.
    bytes_next: u64,
    /// Length from which the next warning about a blocking reader is logged.
    bytes_logged: u64,
}

impl LogLimit {
    pub(in crate::sqlite) fn new(writer: &mut Connection, folding: Folding) -> rusqlite::Result<Self> {
        Self::with(writer, folding, LOG_BYTES_MAX, READERS_WAIT)
    }

    /// Like [`LogLimit::new`], with other limits.
    pub(in crate::sqlite) fn with(
        writer: &mut Connection,
        folding: Folding,
        bytes_max: u64,
        wait: Duration,
    ) -> rusqlite::Result<Self> {
        // A log that grew beyond the limit because of a reader is truncated when it restarts.
        writer.pragma_update(None, "journal_size_limit", i64::try_from(bytes_max).unwrap_or(i64::MAX))?;
        let (page_bytes, file) = (page_bytes(writer)?, sibling(Path::new(writer.path().unwrap_or_default()), "-wal"));
        let pages = Arc::new(AtomicU64::new(0));
        let committed = Arc::clone(&pages);
        writer.wal_hook(Some(move |_: &mut Wal, pages| {
            committed.store(u64::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self {
            folding,
            file,
            bytes_max,
            wait,
            page_bytes,
            pages,
            bytes_before: 0,
            file_bytes: 0,
            bytes_next: bytes_max,
            bytes_logged: 2 * bytes_max,
        })
    }

    fn bytes(&self) -> u64 {
        self.pages.load(Ordering::Relaxed) * (self.page_bytes + FRAME_HEADER_BYTES)
    }

    /// Lengthens the file with zeros if the next small commit would lengthen it. Call this in a write transaction, so
    /// that nothing else appends to the log. SQLite ignores what follows the last valid frame.
    pub(in crate::sqlite) fn reserve(&mut self) {
        let bytes = self.bytes();
        let grown = bytes.saturating_sub(self.bytes_before);
        if bytes < self.bytes_before {
            self.file_bytes = 0;
        }
        self.bytes_before = bytes;
        let needed = bytes + SMALL_COMMIT_BYTES_MAX;
        if needed <= self.file_bytes || grown > SMALL_COMMIT_BYTES_MAX || needed > self.bytes_max {
            return;
        }
        self.file_bytes = self.lengthen(needed).unwrap_or_else(|error| {
            tracing::debug!(%error, "no room was reserved for the log of the database");
            // Not at every commit.
            needed + RESERVE_BYTES as u64
        });
    }

    /// Returns the length of the file afterwards.
    fn lengthen(&self, needed: u64) -> io::Result<u64> {
        let file = OpenOptions::new().write(true).open(&self.file)?;
        let length = file.metadata()?.len();
        if length >= needed {
            return Ok(length);
        }
        if let Err(error) = file.write_all_at(&vec![0; RESERVE_BYTES], length) {
            file.set_len(length)?;
            return Err(error);
        }
        Ok(length + RESERVE_BYTES as u64)
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
        let bytes = self.bytes();
        if bytes < self.bytes_max {
            (self.bytes_next, self.bytes_logged) = (self.bytes_max, 2 * self.bytes_max);
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
            if bytes >= self.bytes_logged {
                self.bytes_logged = bytes + self.bytes_max;
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
    use rusqlite::TransactionBehavior;

    use super::*;
    use crate::sqlite::connection::{configure_writer, open_to_write};

    const BYTES_MAX: u64 = 1 << 20;
    /// More than one commit of these tests writes.
    const COMMIT_BYTES: u64 = 128 << 10;

    fn database(path: &Path) -> (Connection, LogLimit) {
        let mut writer = open_to_write(path).unwrap();
        configure_writer(&writer).unwrap();
        writer.execute_batch("CREATE TABLE t (a)").unwrap();
        let limit = LogLimit::with(&mut writer, Folding::default(), BYTES_MAX, Duration::from_millis(5)).unwrap();
        (writer, limit)
    }

    /// Writes this many commits of at least 64 KiB. Returns the greatest length of the log.
    fn write(path: &Path, writer: &Connection, limit: &mut LogLimit, commits: usize) -> u64 {
        let mut longest = 0;
        for _ in 0..commits {
            writer.execute("INSERT INTO t VALUES (zeroblob(65536))", []).unwrap();
            limit.keep(writer);
            longest = longest.max(sibling(path, "-wal").metadata().unwrap().len());
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
    fn small_commits_write_into_reserved_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let (mut writer, _) = database(&path);
        let mut limit = LogLimit::with(&mut writer, Folding::default(), 8 << 20, Duration::ZERO).unwrap();
        let length = || sibling(&path, "-wal").metadata().unwrap().len();
        let mut lengths = vec![length()];
        for number in 0..200 {
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
            limit.reserve();
            let reserved = length();
            transaction.execute("INSERT INTO t VALUES (?1)", [number]).unwrap();
            transaction.commit().unwrap();
            assert_eq!(length(), reserved, "commit {number} lengthens the file");
            if lengths.last() != Some(&reserved) {
                lengths.push(reserved);
            }
        }
        assert_eq!(lengths.len(), 3, "{lengths:?}");
        // As after a kill: what follows the last frame is ignored.
        let copied = folder.path().join("copied.db");
        for end in ["", "-wal"] {
            std::fs::copy(sibling(&path, end), sibling(&copied, end)).unwrap();
        }
        let sum = |path: &Path| -> (i64, i64) {
            let opened = Connection::open(path).unwrap();
            opened.query_row("SELECT count(*), sum(a) FROM t", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
        };
        assert_eq!((sum(&path), sum(&copied)), ((200, 19_900), (200, 19_900)));
    }

    #[test]
    fn large_commits_and_full_logs_get_no_reserve() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let (mut writer, _) = database(&path);
        let mut limit = LogLimit::with(&mut writer, Folding::default(), 4 << 20, Duration::ZERO).unwrap();
        let length = || sibling(&path, "-wal").metadata().unwrap().len();
        for _ in 0..30 {
            writer.execute("INSERT INTO t VALUES (zeroblob(200000))", []).unwrap();
            let written = length();
            limit.reserve();
            assert_eq!(length(), written);
        }
        assert!(length() > 4 << 20);
        writer.execute("INSERT INTO t VALUES (1)", []).unwrap();
        let written = length();
        limit.reserve();
        assert_eq!(length(), written);
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
        let length = sibling(&path, "-wal").metadata().unwrap().len();
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
        (limit.bytes_next, limit.bytes_logged) = (limit.bytes_max, 2 * limit.bytes_max);
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM t").unwrap();
        let bytes_before = limit.bytes_logged;
        write(&path, &writer, &mut limit, 4);
        assert!(limit.bytes_logged > bytes_before, "{} {bytes_before}", limit.bytes_logged);
    }
}
