//! Stores the last signed checkpoint of every timeline in an append-only file outside the database.
//!
//! Each record is one line of JSON: `{"timeline_id":"main","checkpoint":"…","seal":"…"}`. The seal is optional. The
//! last record of a timeline counts. The file is filled with zero bytes ahead of its end, so that an append changes no
//! metadata and is durable after one disk write. The first zero byte ends the records.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::TimelineId;
use timenav_engine::{Divergence, ExternalCheckpoint, Outside, OutsideError};

use self::evidence::EvidenceKeeper;

mod evidence;

/// Zero bytes written ahead of the end of the records at a time.
const AHEAD_BYTES: u64 = 1 << 20;
/// Length after which the file is rewritten with the last record of each timeline. Every start reads the whole file.
const FILE_BYTES_MAX: u64 = 2 << 20;

/// Readable and writable only by the owner.
const FILE_MODE: u32 = 0o600;

#[derive(Debug)]
pub struct CheckpointFile {
    log: Arc<CheckpointLog>,
    evidence: EvidenceKeeper,
}

#[derive(Debug)]
struct CheckpointLog {
    path: PathBuf,
    open: Mutex<OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    /// Offset of the end of the records.
    end: u64,
    /// Offset of the end of the zero bytes.
    filled: u64,
    bytes_max: u64,
    /// Timelines whose record describes a history that the store does not have, with that record. It is not overwritten
    /// until an operator accepts the rollback, because the next start must find it.
    diverged: BTreeMap<TimelineId, String>,
}

#[derive(Serialize)]
struct Record<'a> {
    timeline_id: &'a str,
    checkpoint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seal: Option<String>,
}

#[derive(Deserialize)]
struct ReadRecord<'a> {
    #[serde(borrow)]
    timeline_id: Cow<'a, str>,
    /// Left unparsed: only the last record of each timeline is needed.
    #[serde(borrow)]
    checkpoint: &'a RawValue,
    #[serde(borrow, default)]
    seal: Option<Cow<'a, str>>,
}

impl OpenFile {
    fn read(&self) -> io::Result<Vec<ExternalCheckpoint>> {
        read_records(&self.file, self.end)
    }
}

/// A snapshot of the records. Later records are appended after `end` or go to another file.
struct Records {
    file: File,
    end: u64,
}

fn read_records(file: &File, end: u64) -> io::Result<Vec<ExternalCheckpoint>> {
    let mut bytes = vec![0; usize::try_from(end).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, 0)?;
    last_records(&bytes)
}

impl CheckpointFile {
    /// Opens the file, or creates an empty one.
    ///
    /// # Errors
    /// If the file cannot be read or created.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let end = records_end(&bytes) as u64;
        // Cut off the unfinished record that a crash may have left.
        file.set_len(end)?;
        let open = OpenFile { file, end, filled: end, bytes_max: FILE_BYTES_MAX, diverged: BTreeMap::new() };
        let log = CheckpointLog { path: path.to_owned(), open: Mutex::new(open) };
        Ok(Self { log: Arc::new(log), evidence: EvidenceKeeper::default() })
    }

    /// Reads the last checkpoint of every timeline from a file that another process may have open.
    ///
    /// # Errors
    /// If the file cannot be read or is not a checkpoint file.
    pub fn read_only(path: &Path) -> io::Result<Vec<ExternalCheckpoint>> {
        Self::read_from(std::fs::read(path)?)
    }

    /// Like [`CheckpointFile::read_only`], for the contents of such a file.
    ///
    /// # Errors
    /// If the contents are not those of a checkpoint file.
    pub fn read_from(mut bytes: Vec<u8>) -> io::Result<Vec<ExternalCheckpoint>> {
        bytes.truncate(records_end(&bytes));
        last_records(&bytes)
    }
}

impl CheckpointLog {
    fn records(&self) -> io::Result<Records> {
        let open = self.open.lock();
        Ok(Records { file: open.file.try_clone()?, end: open.end })
    }

    /// Writes these records to a new file and renames it over the old one.
    fn rewrite<'a>(
        &self,
        open: &mut OpenFile,
        records: impl Iterator<Item = &'a ExternalCheckpoint>,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        for record in records {
            write_record(&mut bytes, record)?;
        }
        let temporary = self.path.with_extension("new");
        // An existing file was left by a crash, or is a link to someone else's file.
        match std::fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(&temporary)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, &self.path)?;
        sync_folder(&self.path)?;
        let end = bytes.len() as u64;
        let (bytes_max, diverged) = (FILE_BYTES_MAX.max(2 * end), std::mem::take(&mut open.diverged));
        *open = OpenFile { file, end, filled: end, bytes_max, diverged };
        Ok(())
    }

    fn append(&self, open: &mut OpenFile, bytes: &[u8]) -> io::Result<()> {
        if open.end + bytes.len() as u64 > open.bytes_max {
            let last = open.read()?;
            self.rewrite(open, last.iter())?;
        }
        let end = open.end + bytes.len() as u64;
        if end >= open.filled {
            let ahead = usize::try_from(end + AHEAD_BYTES - open.end).map_err(io::Error::other)?;
            open.file.write_all_at(&vec![0; ahead], open.end)?;
            open.file.sync_all()?;
            open.filled = end + AHEAD_BYTES;
        }
        open.file.write_all_at(bytes, open.end)?;
        open.file.sync_data()?;
        open.end = end;
        Ok(())
    }
}

impl Outside for CheckpointFile {
    fn keep(&self, checkpoints: &[ExternalCheckpoint]) -> Result<(), OutsideError> {
        let mut open = self.log.open.lock();
        let mut bytes = Vec::with_capacity(checkpoints.len() * 384);
        for record in checkpoints.iter().filter(|record| !open.diverged.contains_key(&record.timeline)) {
            write_record(&mut bytes, record)?;
        }
        if !bytes.is_empty() {
            self.log.append(&mut open, &bytes)?;
        }
        Ok(())
    }

    fn replace(&self, checkpoints: &[ExternalCheckpoint]) -> Result<(), OutsideError> {
        let mut open = self.log.open.lock();
        self.log.rewrite(&mut open, checkpoints.iter())?;
        open.diverged.clear();
        Ok(())
    }

    fn keep_divergence(&self, divergence: &Divergence, seen: &str) -> Result<(), OutsideError> {
        Ok(self.evidence.keep(&self.log, divergence, seen)?)
    }

    fn last(&self) -> Result<Vec<ExternalCheckpoint>, OutsideError> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}, {error}", self.log.path.display()));
        // Read outside the lock: this can be many megabytes, and commits must not wait for it.
        let Records { file, end } = self.log.records().map_err(named)?;
        Ok(read_records(&file, end).map_err(named)?)
    }
}

/// Returns the last record of each timeline. `bytes` holds complete records only.
fn last_records(bytes: &[u8]) -> io::Result<Vec<ExternalCheckpoint>> {
    let mut last = BTreeMap::new();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        let record: ReadRecord<'_> = serde_json::from_slice(line).map_err(|error| damaged(number, &error))?;
        last.insert(record.timeline_id.clone(), (number, record));
    }
    last.into_values()
        .map(|(number, record)| record.external_checkpoint().map_err(|error| damaged(number, &error)))
        .collect()
}

impl ReadRecord<'_> {
    fn external_checkpoint(&self) -> Result<ExternalCheckpoint, Box<dyn std::error::Error>> {
        let timeline = TimelineId::new(&self.timeline_id)?;
        let note: String = serde_json::from_str(self.checkpoint.get())?;
        Ok(ExternalCheckpoint { timeline, note: note.into(), seal: self.seal.as_deref().and_then(read_seal) })
    }
}

fn damaged(number: usize, error: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {error}", number + 1))
}

fn write_record(bytes: &mut Vec<u8>, checkpoint: &ExternalCheckpoint) -> io::Result<()> {
    let seal = checkpoint.seal.map(|seal| format!("{:032x}", u128::from_be_bytes(seal)));
    serde_json::to_writer(
        &mut *bytes,
        &Record { timeline_id: checkpoint.timeline.as_str(), checkpoint: &checkpoint.note, seal },
    )?;
    bytes.push(b'\n');
    Ok(())
}

/// Parses a seal. A malformed seal counts as missing, and the signature is checked instead.
fn read_seal(text: &str) -> Option<[u8; ExternalCheckpoint::SEAL_BYTES]> {
    u128::from_str_radix(text, 16).ok().map(u128::to_be_bytes)
}

/// Returns the offset after the last complete record.
fn records_end(bytes: &[u8]) -> usize {
    let written = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes[..written].iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}

#[cfg(test)]
mod tests {
    use timenav_core::ledger::Hash;
    use timenav_engine::{DivergenceKind, SeenTree};

    use super::*;

    fn id(text: &str) -> TimelineId {
        TimelineId::new(text).unwrap()
    }

    #[test]
    fn recorded_divergence_survives_reopening_until_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoints.log");
        let file = CheckpointFile::open(&path).unwrap();
        keep(&file, "main", "thirteen\n");
        let tree = |size: u64| SeenTree { size, root: Hash::from_bytes([7; Hash::BYTES]) };
        let divergence = Divergence {
            timeline: id("main"),
            kind: DivergenceKind::Rollback,
            seen: tree(18),
            found: tree(13),
            found_statement: "a statement\n".to_owned(),
        };
        file.keep_divergence(&divergence, "eighteen\n").unwrap();
        // Neither a group in flight nor a rewrite of the file hides it.
        keep(&file, "main", "fourteen\n");
        keep(&file, "other", "one\n");
        file.log.open.lock().bytes_max = 0;
        keep(&file, "other", "two\n");
        keep(&file, "main", "fifteen\n");
        let notes = |file: &CheckpointFile| -> Vec<String> {
            file.last().unwrap().iter().map(|log| log.note.to_string()).collect()
        };
        assert_eq!(notes(&CheckpointFile::open(&path).unwrap()), ["eighteen\n", "two\n"]);
        file.replace(&[external_checkpoint("main", "thirteen\n")]).unwrap();
        keep(&file, "main", "fourteen\n");
        assert_eq!(notes(&CheckpointFile::open(&path).unwrap()), ["fourteen\n"]);
    }

    fn external_checkpoint(timeline: &str, checkpoint: &str) -> ExternalCheckpoint {
        ExternalCheckpoint {
            timeline: id(timeline),
            note: checkpoint.into(),
            seal: Some([7; ExternalCheckpoint::SEAL_BYTES]),
        }
    }

    fn keep(file: &CheckpointFile, timeline: &str, checkpoint: &str) {
        file.keep(&[external_checkpoint(timeline, checkpoint)]).unwrap();
    }

    #[test]
    fn last_record_per_timeline_is_used_after_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoints.log");
        let file = CheckpointFile::open(&path).unwrap();
        keep(&file, "main", "one\n");
        keep(&file, "other", "two\n");
        keep(&file, "main", "three\n");
        let expected = vec![external_checkpoint("main", "three\n"), external_checkpoint("other", "two\n")];
        assert_eq!(file.last().unwrap(), expected);
        assert_eq!(CheckpointFile::open(&path).unwrap().last().unwrap(), expected);
    }

    #[test]
    fn open_reader_does_not_block_writes() {
        let folder = tempfile::tempdir().unwrap();
        let file = CheckpointFile::open(&folder.path().join("checkpoints.log")).unwrap();
        keep(&file, "main", "one\n");
        let Records { file: before, end } = file.log.records().unwrap();
        keep(&file, "main", "two\n");
        file.replace(&[external_checkpoint("main", "three\n")]).unwrap();
        assert_eq!(read_records(&before, end).unwrap(), [external_checkpoint("main", "one\n")]);
        assert_eq!(file.last().unwrap(), [external_checkpoint("main", "three\n")]);
    }

    #[test]
    fn torn_record_is_ignored_and_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoints.log");
        keep(&CheckpointFile::open(&path).unwrap(), "main", "one\n");
        let whole = std::fs::read(&path).unwrap();
        let end = records_end(&whole);
        for torn in 1..end {
            std::fs::write(&path, [&whole[..end], &whole[..torn]].concat()).unwrap();
            let file = CheckpointFile::open(&path).unwrap();
            let expected = if torn == end { 2 } else { 1 };
            assert_eq!(file.last().unwrap().len(), expected);
            keep(&file, "later", "two\n");
            assert_eq!(file.last().unwrap().len(), 2, "{torn}");
        }
    }

    #[test]
    fn oversized_checkpoint_file_is_rewritten_without_loss() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoints.log");
        let file = CheckpointFile::open(&path).unwrap();
        file.log.open.lock().bytes_max = 2_000;
        for round in 0..100 {
            keep(&file, &format!("t{}", round % 7), &format!("{round}\n"));
        }
        let last = CheckpointFile::open(&path).unwrap().last().unwrap();
        assert_eq!(last.len(), 7);
        assert_eq!(&*last[1].note, "99\n");
    }

    #[test]
    fn malformed_record_error_names_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoints.log");
        std::fs::write(&path, "{\"timeline_id\":\"a\",\"checkpoint\":\"x\"}\nrubbish\n").unwrap();
        let error = CheckpointFile::open(&path).unwrap().last().unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }

    #[test]
    fn records_of_former_versions_are_read_without_a_seal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoints.log");
        std::fs::write(
            &path,
            "{\"timeline_id\":\"a\",\"checkpoint\":\"x\"}\n{\"timeline_id\":\"b\",\"checkpoint\":\"y\",\"seal\":\"?\"}\n",
        )
        .unwrap();
        let last = CheckpointFile::open(&path).unwrap().last().unwrap();
        assert_eq!(
            last,
            ["a", "b"].map(|name| ExternalCheckpoint {
                seal: None,
                ..external_checkpoint(name, if name == "a" { "x" } else { "y" })
            })
        );
    }

    #[test]
    fn rewriting_checkpoint_file_does_not_follow_symlinks() {
        let folder = tempfile::tempdir().unwrap();
        let (path, precious) = (folder.path().join("checkpoints.log"), folder.path().join("precious"));
        std::fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, folder.path().join("checkpoints.new")).unwrap();
        let file = CheckpointFile::open(&path).unwrap();
        file.replace(&[external_checkpoint("main", "one\n")]).unwrap();
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
        assert_eq!(CheckpointFile::open(&path).unwrap().last().unwrap(), [external_checkpoint("main", "one\n")]);
    }
}
