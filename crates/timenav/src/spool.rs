//! Files in the data folder that are needed for a while: a bundle that is adopted is in one until it is known to be good.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use timenav_engine::Spool;

/// Makes files in a folder. They have a name for no longer than it takes to open them, so nothing is left of one when the
/// service is killed.
pub(crate) struct FolderSpool {
    folder: PathBuf,
    /// Where a file is before its name is taken away.
    path: PathBuf,
}

impl FolderSpool {
    /// Takes the folder, and the path that files have at first. What a kill has left there is removed.
    ///
    /// # Errors
    /// It cannot be removed.
    pub(crate) fn open(folder: PathBuf, path: PathBuf) -> io::Result<Self> {
        let spool = Self { folder, path };
        spool.clear()?;
        Ok(spool)
    }

    fn clear(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Spool for FolderSpool {
    fn file(&self) -> io::Result<File> {
        self.clear()?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&self.path)?;
        self.clear()?;
        Ok(file)
    }

    fn room_bytes(&self) -> io::Result<u64> {
        let room = rustix::fs::statvfs(&self.folder)?;
        Ok(room.f_bavail.saturating_mul(room.f_frsize))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _, Write as _};

    use super::*;

    #[test]
    fn a_file_has_no_name_and_what_a_kill_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("adopting");
        std::fs::write(&path, "left").unwrap();
        let spool = FolderSpool::open(folder.path().to_owned(), path.clone()).unwrap();
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names(), 0);
        std::fs::write(&path, "left").unwrap();
        let (mut first, second) = (spool.file().unwrap(), spool.file().unwrap());
        first.write_all(b"first").unwrap();
        first.rewind().unwrap();
        let mut text = String::new();
        first.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), second.metadata().unwrap().len(), names()), ("first", 0, 0));
        assert!(spool.room_bytes().unwrap() > 0);
    }
}
