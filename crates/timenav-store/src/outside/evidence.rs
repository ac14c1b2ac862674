//! Stores the evidence of a diverged ledger for the next start.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use serde::Serialize;
use timenav_engine::{Divergence, ExternalCheckpoint};

use super::{CheckpointLog, FILE_MODE, sync_folder, write_record};

/// The file next to the checkpoints that has both sides of each divergence, one JSON object per line. It only grows and
/// is for operators. A start reads the checkpoint file instead.
const DIVERGED_FILE: &str = "diverged.log";

const PAUSE: Duration = Duration::from_secs(1);

/// A line of [`DIVERGED_FILE`].
#[derive(Serialize)]
struct DivergedRecord<'a> {
    timeline_id: &'a str,
    kind: &'a str,
    seen: DivergedTree<'a>,
    found: DivergedTree<'a>,
}

#[derive(Serialize)]
struct DivergedTree<'a> {
    size: u64,
    root: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head_statement: Option<&'a str>,
}

/// Stores both sides of a divergence. Failed writes, such as on a full disk, are retried until one succeeds; the last
/// attempt is made on drop.
#[derive(Debug, Default)]
pub(super) struct EvidenceKeeper {
    is_over: Arc<(Mutex<bool>, Condvar)>,
    trying: Mutex<Vec<JoinHandle<()>>>,
}

impl EvidenceKeeper {
    pub(super) fn keep(&self, log: &Arc<CheckpointLog>, divergence: &Divergence, seen: &str) -> io::Result<()> {
        let mut is_reported = false;
        let now = log.keep_both(divergence, seen, &mut is_reported);
        if now.is_err() {
            let (log, divergence, seen) = (Arc::clone(log), divergence.clone(), seen.to_owned());
            let is_over = Arc::clone(&self.is_over);
            let again = move || keep_in_the_end((&log, is_reported), &divergence, &seen, &is_over);
            self.trying.lock().push(std::thread::Builder::new().name("evidence".to_owned()).spawn(again)?);
        }
        now
    }
}

impl Drop for EvidenceKeeper {
    fn drop(&mut self) {
        *self.is_over.0.lock() = true;
        self.is_over.1.notify_all();
        for trying in self.trying.lock().drain(..) {
            // A panic was already logged by its thread.
            let _ = trying.join();
        }
    }
}

/// Retries until both sides are stored. The last attempt is made when the keeper is dropped.
fn keep_in_the_end(
    (log, mut is_reported): (&CheckpointLog, bool),
    divergence: &Divergence,
    seen: &str,
    (is_over, changed): &(Mutex<bool>, Condvar),
) {
    loop {
        let is_last = {
            let mut is_over = is_over.lock();
            if !*is_over {
                changed.wait_for(&mut is_over, PAUSE);
            }
            *is_over
        };
        match log.keep_both(divergence, seen, &mut is_reported) {
            Ok(()) => {
                tracing::warn!(timeline_id = %divergence.timeline, "both checkpoints of a divergence are stored now");
                return;
            }
            Err(error) if is_last => {
                tracing::error!(
                    %error,
                    timeline_id = %divergence.timeline,
                    "the two checkpoints of a divergence could not be stored; keep a copy of the database"
                );
                return;
            }
            Err(_) => {}
        }
    }
}

impl CheckpointLog {
    /// Stores what was seen as the timeline's last checkpoint, and both sides in the file for operators. The checkpoint
    /// goes first because the next start reads it. Each write is attempted even if the other fails. The line for
    /// operators is written once.
    fn keep_both(&self, divergence: &Divergence, seen: &str, is_reported: &mut bool) -> io::Result<()> {
        let mut open = self.open.lock();
        let timeline = &divergence.timeline;
        let is_pinned = open.diverged.get(timeline).is_some_and(|pinned| pinned == seen);
        let pinned = if is_pinned { Ok(()) } else { self.pin(&mut open, divergence, seen) };
        drop(open);
        if !*is_reported {
            let written = log_divergence(&self.path.with_file_name(DIVERGED_FILE), divergence, seen);
            *is_reported = written.is_ok();
            return pinned.and(written);
        }
        pinned
    }

    fn pin(&self, open: &mut super::OpenFile, divergence: &Divergence, seen: &str) -> io::Result<()> {
        let timeline = &divergence.timeline;
        let mut record = Vec::new();
        write_record(&mut record, &ExternalCheckpoint { timeline: timeline.clone(), note: seen.into(), seal: None })?;
        self.append(open, &record)?;
        open.diverged.insert(timeline.clone(), seen.to_owned());
        Ok(())
    }
}

/// Appends one line for operators, atomically.
fn log_divergence(path: &Path, divergence: &Divergence, seen: &str) -> io::Result<()> {
    let Divergence { timeline, kind, seen: tree, found, found_statement } = divergence;
    let record = DivergedRecord {
        timeline_id: timeline.as_str(),
        kind: kind.as_str(),
        seen: DivergedTree { size: tree.size, root: tree.root.to_hex(), checkpoint: Some(seen), head_statement: None },
        found: DivergedTree {
            size: found.size,
            root: found.root.to_hex(),
            checkpoint: None,
            head_statement: Some(found_statement),
        },
    };
    let mut line = serde_json::to_vec(&record).map_err(io::Error::other)?;
    line.push(b'\n');
    let mut file = OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(path)?;
    let before = file.metadata()?.len();
    let written = file.write_all(&line).and_then(|()| file.sync_all());
    if written.is_err() {
        file.set_len(before)?;
    }
    written.and_then(|()| sync_folder(path))
}

#[cfg(test)]
mod tests {
    use timenav_core::ids::TimelineId;
    use timenav_core::ledger::Hash;
    use timenav_engine::{DivergenceKind, Outside as _, SeenTree};

    use super::super::CheckpointFile;
    use super::*;

    fn divergence() -> Divergence {
        let tree = |size: u64| SeenTree { size, root: Hash::from_bytes([7; Hash::BYTES]) };
        Divergence {
            timeline: TimelineId::new("main").unwrap(),
            kind: DivergenceKind::Rollback,
            seen: tree(42),
            found: tree(41),
            found_statement: "a statement\n".to_owned(),
        }
    }

    fn notes(file: &Path) -> Vec<String> {
        CheckpointFile::read_only(file).unwrap().iter().map(|checkpoint| checkpoint.note.to_string()).collect()
    }

    #[test]
    fn both_sides_of_a_divergence_are_stored_as_evidence() {
        let folder = tempfile::tempdir().unwrap();
        let file = CheckpointFile::open(&folder.path().join("checkpoints.log")).unwrap();
        for _ in 0..2 {
            file.keep_divergence(&divergence(), "a note\n").unwrap();
        }
        let text = std::fs::read_to_string(folder.path().join(DIVERGED_FILE)).unwrap();
        let read: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let root = "07".repeat(Hash::BYTES);
        let expected = serde_json::json!({
            "timeline_id": "main",
            "kind": "rollback",
            "seen": { "size": 42, "root": root, "checkpoint": "a note\n" },
            "found": { "size": 41, "root": root, "head_statement": "a statement\n" },
        });
        assert_eq!(read, [expected.clone(), expected], "it only grows");
    }

    /// If one of the two files cannot be written, the other one is, and the first as soon as it is writable.
    #[test]
    fn failed_evidence_write_is_retried_on_drop() {
        let folder = tempfile::tempdir().unwrap();
        let (path, diverged_file) = (folder.path().join("checkpoints.log"), folder.path().join(DIVERGED_FILE));
        let file = CheckpointFile::open(&path).unwrap();
        std::fs::create_dir(&diverged_file).unwrap();
        file.keep_divergence(&divergence(), "a note\n").unwrap_err();
        assert_eq!(notes(&path), ["a note\n"], "what the next start compares does not depend on the other file");
        std::fs::remove_dir(&diverged_file).unwrap();
        drop(file);
        assert_eq!(std::fs::read_to_string(&diverged_file).unwrap().lines().count(), 1);
        assert_eq!(notes(&path), ["a note\n"]);
    }

    #[test]
    fn evidence_is_written_once_though_checkpoint_write_is_retried() {
        let folder = tempfile::tempdir().unwrap();
        let (path, diverged_file) = (folder.path().join("checkpoints.log"), folder.path().join(DIVERGED_FILE));
        let file = CheckpointFile::open(&path).unwrap();
        // The checkpoint file would have to be rewritten, which fails.
        let temporary = path.with_extension("new");
        std::fs::create_dir_all(temporary.join("x")).unwrap();
        file.log.open.lock().bytes_max = 0;
        file.keep_divergence(&divergence(), "a note\n").unwrap_err();
        std::fs::remove_dir_all(temporary).unwrap();
        drop(file);
        assert_eq!(notes(&path), ["a note\n"]);
        assert_eq!(std::fs::read_to_string(&diverged_file).unwrap().lines().count(), 1);
    }
}
