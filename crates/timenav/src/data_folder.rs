//! The data folder of a service, locked by one process at a time.

mod address;

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use timenav_core::ids::TimelineId;

pub(crate) use self::address::{AddressFile, Listening, listening};

pub(crate) const DATA_DEFAULT: &str = "./timenav-data";
/// The file with the first operator's API key.
pub(crate) const ADMIN_KEY_FILE: &str = "admin.key";

/// Locked by the process that uses the folder.
pub(crate) const LOCK_FILE: &str = "lock";
pub(crate) const DATABASE_FILE: &str = "timenav.db";
pub(crate) const SIGNING_KEY_FILE: &str = "signing.key";
/// The next signing key, during a rotation.
pub(crate) const NEXT_SIGNING_KEY_FILE: &str = "signing.key.next";
/// The checkpoints outside the database.
pub(crate) const CHECKPOINTS_FILE: &str = "checkpoints.log";
/// The newest checkpoint of `system` with cosignatures of witnesses.
const COSIGNED_FILE: &str = "cosigned.checkpoint";
/// The same for a timeline shown to witnesses individually: this prefix, its id, and [`COSIGNED_OF_ENDS`].
const COSIGNED_OF_BEGINS: &str = "cosigned.";
const COSIGNED_OF_ENDS: &str = ".checkpoint";
/// Locked by the process that writes checkpoints into the folder.
pub(crate) const CHECKPOINTS_LOCK_FILE: &str = "checkpoints.lock";

/// The temporary folder of a restore. While it exists, the data folder is incomplete.
pub(crate) const RESTORING_FOLDER: &str = "restoring";

/// The name of a database whose contents were moved elsewhere.
pub(crate) const MOVED_FILE: &str = "timenav.db.moved";

/// The temporary file of a move from PostgreSQL.
const MOVING_FILE: &str = "timenav.db.moving";

/// Returns a message about an interrupted restore and how to continue it.
pub(crate) fn unfinished_restore_in(folder: &Path) -> Option<String> {
    folder.join(RESTORING_FOLDER).exists().then(|| {
        let folder = folder.display();
        format!(
            "a restore of the data folder {folder} was interrupted: empty the folder, and run timenav restore again"
        )
    })
}

/// Returns a message about an interrupted command and how to continue it.
pub(crate) fn unfinished_in(folder: &Path) -> Option<String> {
    let is_there = |name: &str| folder.join(name).exists();
    unfinished_restore_in(folder).or_else(|| {
        // Right before a move ends, both names exist.
        (is_there(MOVING_FILE) && !is_there(DATABASE_FILE)).then(|| {
            let folder = folder.display();
            format!("a move into the data folder {folder} was not finished: run the same `timenav migrate` again")
        })
    })
}

/// A data folder locked by this process until the value is dropped.
#[derive(Debug)]
pub(crate) struct DataFolder {
    path: PathBuf,
    /// The signing key, if it is not in the folder.
    signing_key: Option<PathBuf>,
    _lock: File,
}

/// The folder of external checkpoints, locked by this process.
#[derive(Debug)]
pub(crate) struct CheckpointPlace {
    pub(crate) file: PathBuf,
    _lock: File,
}

impl CheckpointPlace {
    pub(crate) fn cosigned_file(&self, timeline: &TimelineId) -> PathBuf {
        let name = if timeline.is_system() {
            COSIGNED_FILE.to_owned()
        } else {
            format!("{COSIGNED_OF_BEGINS}{timeline}{COSIGNED_OF_ENDS}")
        };
        self.file.with_file_name(name)
    }
}

pub(crate) fn cosigned_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let unreadable = || format!("{} cannot be read", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let of_named = || name.strip_prefix(COSIGNED_OF_BEGINS)?.strip_suffix(COSIGNED_OF_ENDS);
        if name == COSIGNED_FILE || of_named().is_some_and(|id| TimelineId::new(id).is_ok()) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl DataFolder {
    /// Locks a folder, creating it if necessary. Fails if another process holds it.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let lock = hold(path, LOCK_FILE).map_err(|error| anyhow!("the data folder {} {error:#}", path.display()))?;
        Ok(Self { path: path.to_owned(), signing_key: None, _lock: lock })
    }

    /// Like [`DataFolder::open`], with a signing key that may be elsewhere.
    pub(crate) fn open_with_key(path: &Path, signing_key: Option<&Path>) -> anyhow::Result<Self> {
        Ok(Self { signing_key: signing_key.map(Path::to_owned), ..Self::open(path)? })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE_FILE)
    }

    pub(crate) fn signing_key(&self) -> PathBuf {
        self.signing_key.clone().unwrap_or_else(|| self.path.join(SIGNING_KEY_FILE))
    }

    pub(crate) fn next_signing_key(&self) -> PathBuf {
        self.path.join(NEXT_SIGNING_KEY_FILE)
    }

    pub(crate) fn admin_key(&self) -> PathBuf {
        self.path.join(ADMIN_KEY_FILE)
    }

    /// Locks the checkpoint folder, which may be this one. Fails if another process holds it.
    pub(crate) fn checkpoints(&self, folder: Option<&Path>) -> anyhow::Result<CheckpointPlace> {
        let folder = folder.unwrap_or(&self.path);
        let lock = hold(folder, CHECKPOINTS_LOCK_FILE)
            .map_err(|error| anyhow!("the folder of checkpoints {} {error:#}", folder.display()))?;
        Ok(CheckpointPlace { file: folder.join(CHECKPOINTS_FILE), _lock: lock })
    }
}

/// Creates a folder that only its owner can enter, and locks a file in it. The lock ends with the process in any case.
pub(crate) fn hold(folder: &Path, name: &str) -> anyhow::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).context("cannot be created")?;
    let path = folder.join(name);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(&path).with_context(|| format!("has a file {name} that cannot be opened"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!("is in use by another timenav process; stop that one, or give another folder")
        }
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("has a file {name} that cannot be locked"))
        }
    }
}

/// Creates an empty file that only its owner can read, unless it exists. SQLite gives its auxiliary files the same
/// permissions.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map(|_| ())
}

/// Writes a new file that only its owner can read, atomically. Never overwrites a file.
pub(crate) fn write_secret(path: &Path, text: &str) -> io::Result<()> {
    if path.try_exists()? {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} already exists", path.display())));
    }
    replace_secret(path, text)
}

/// Replaces a file by one that only its owner can read, atomically.
pub(crate) fn replace_secret(path: &Path, text: &str) -> io::Result<()> {
    let sibling = sibling(path, ".new");
    let mut file = open_new(&sibling)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&sibling, path)?;
    sync_folder_of(path)
}

/// Syncs the folder of a file, so that its directory entry is durable.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Checks that a secret can be replaced before anything depends on it: a mounted one cannot.
pub(crate) fn check_replaceable(path: &Path) -> io::Result<()> {
    let tried = sibling(path, ".try");
    open_new(&tried)?;
    std::fs::remove_file(&tried)
}

/// Creates a file for its owner only. A leftover link is removed, and its target is not written.
fn open_new(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn sibling(path: &Path, ending: &str) -> PathBuf {
    let mut sibling = path.as_os_str().to_owned();
    sibling.push(ending);
    PathBuf::from(sibling)
}

/// Returns whether a file can be read by users other than its owner, or the group of a secret that root has mounted
/// into a container.
pub(crate) fn is_open_to_others(path: &Path) -> io::Result<bool> {
    let metadata = std::fs::metadata(path)?;
    Ok(is_open(metadata.mode(), metadata.uid(), rustix::process::geteuid().as_raw()))
}

const fn is_open(mode: u32, owner: u32, asker: u32) -> bool {
    let is_lent = owner == 0 && asker != 0;
    mode & if is_lent { 0o037 } else { 0o077 } != 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn data_folder_is_private_and_locked() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        let held = DataFolder::open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        let refused = format!("{:#}", DataFolder::open(&path).unwrap_err());
        assert!(refused.contains("is in use by another timenav process"), "{refused}");
        assert!(refused.contains("a/b"), "{refused}");
        drop(held);
        DataFolder::open(&path).unwrap();
    }

    #[test]
    fn checkpoint_folder_cannot_be_shared_by_two_services() {
        let parent = tempfile::tempdir().unwrap();
        let shared = parent.path().join("shared");
        let one = DataFolder::open(&parent.path().join("one")).unwrap();
        let two = DataFolder::open(&parent.path().join("two")).unwrap();
        let held = one.checkpoints(Some(&shared)).unwrap();
        assert_eq!(held.file, shared.join("checkpoints.log"));
        assert!(two.checkpoints(Some(&shared)).is_err());
        two.checkpoints(None).unwrap();
    }

    #[test]
    fn secrets_are_private_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(folder.path().join("secret.new"), "left by a crash").unwrap();
        write_secret(&path, "one").unwrap();
        assert!(!is_open_to_others(&path).unwrap());
        assert_eq!(write_secret(&path, "two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        replace_secret(&path, "two").unwrap();
        assert!(!is_open_to_others(&path).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn secret_file_allows_group_access_only_if_root_owned() {
        for (mode, owner, asker, expected) in [
            (0o600, 7, 7, false),
            (0o640, 7, 7, true),
            (0o440, 0, 7, false),
            (0o444, 0, 7, true),
            (0o460, 0, 7, true),
            // Owned by root itself, and by another user.
            (0o440, 0, 0, true),
            (0o640, 8, 7, true),
        ] {
            assert_eq!(is_open(mode, owner, asker), expected, "{mode:o} {owner} {asker}");
        }
    }

    #[test]
    fn secret_write_check_does_not_follow_symlinks() {
        let parent = tempfile::tempdir().unwrap();
        let (key, other) = (parent.path().join("signing.key"), parent.path().join("other"));
        std::fs::write(&other, "kept").unwrap();
        std::os::unix::fs::symlink(&other, parent.path().join("signing.key.try")).unwrap();
        check_replaceable(&key).unwrap();
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "kept");
        assert!(!key.exists() && !parent.path().join("signing.key.try").exists());
    }
}
