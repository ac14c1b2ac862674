//! Preloading: without a tracer or a listener, programs load a library that finds the clock page through the
//! environment.
//!
//! A run has its own folder with the library, the page, and a socket for messages to the supervisor. Only the user who
//! started the run can write there; programs of other users can read. The page is a named file instead of a sealed
//! memfd, so that programs can start others after the supervisor was killed.

mod keeper;
mod messages;

use std::ffi::{CString, OsStr, OsString};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, StatVfsMountFlags};

pub(crate) use self::keeper::{Keeper, listen};
use crate::attach::boot_shift;
use crate::board::PAGE_NAME;
use crate::image::LIBRARY;
use crate::kernel::process::{boot_now, c_string};
use crate::page::PAGE_BYTES;

const LOADED: &str = "LD_PRELOAD";
const PAGE: &str = "TIMENAV_CLOCK_PAGE";
const LIBRARY_NAME: &str = "libtimenav.so";
const SOCKET_NAME: &str = "supervisor";
/// Locations for the folder if `TMPDIR` is not suitable.
const PLACES: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// How often another name is tried if it exists already.
const NAMES_MAX: u32 = 100;
const ADDRESS_BYTES_MAX: usize = 107;

/// Returns whether this process was started by a program with the library. It loads the library only if it can.
#[expect(clippy::disallowed_methods, reason = "programs find the page by their environment")]
pub(crate) fn is_named() -> bool {
    std::env::var_os(PAGE).is_some_and(|page| Path::new(&page).exists())
}

/// Returns the possible locations for the folder of a run, in order of preference.
#[expect(clippy::disallowed_methods, reason = "`TMPDIR` is the folder for temporary files")]
pub(crate) fn places() -> Vec<PathBuf> {
    let named = std::env::temp_dir();
    let others = PLACES.into_iter().map(PathBuf::from).filter(|place| *place != named);
    std::iter::once(named.clone()).chain(others).collect()
}

/// Returns the first location that is writable and permits loading libraries, or the error of the last one.
pub(crate) fn place() -> io::Result<PathBuf> {
    first(|place| look_at(place).map(|()| place.to_owned()))
}

fn first<T>(mut attempt: impl FnMut(&Path) -> io::Result<T>) -> io::Result<T> {
    let mut last = io::Error::from_raw_os_error(libc::ENOENT);
    for place in places() {
        match attempt(&place) {
            Ok(found) => return Ok(found),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn look_at(place: &Path) -> io::Result<()> {
    // Names must be absolute, because programs change folders; colons and spaces separate libraries.
    let has_room = place.as_os_str().len() + 64 <= ADDRESS_BYTES_MAX;
    if !place.is_absolute() || !has_room || place.as_os_str().as_bytes().iter().any(|byte| b": \t\n".contains(byte)) {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    rustix::fs::access(place, Access::WRITE_OK | Access::EXEC_OK)?;
    let flags = rustix::fs::statvfs(place)?.f_flag;
    let may_execute = !flags.contains(StatVfsMountFlags::NOEXEC);
    if may_execute { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EACCES)) }
}

/// The folder of a run. Removed when the last program has ended.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates a folder with the library. Fails if no location is suitable.
    pub(crate) fn create() -> io::Result<Self> {
        let folder = Self { path: first(|place| look_at(place).and_then(|()| new_folder(place)))? };
        // The umask would remove rights that programs of other users need.
        std::fs::set_permissions(&folder.path, Permissions::from_mode(0o755))?;
        let path = folder.path.join(LIBRARY_NAME);
        new_file(&path, 0o600)?.write_all(LIBRARY)?;
        std::fs::set_permissions(path, Permissions::from_mode(0o555))?;
        Ok(folder)
    }

    /// Creates the file of the clock page, followed by settings for the library.
    pub(crate) fn page(&self, is_strict: bool) -> io::Result<File> {
        let path = self.path.join(PAGE_NAME);
        let mut file = new_file(&path, 0o600)?;
        let shift = boot_shift("self");
        let whole = i64::try_from(shift.div_euclid(1_000_000_000)).unwrap_or_default();
        let rest = i64::try_from(shift.rem_euclid(1_000_000_000)).unwrap_or_default();
        let mut bytes = vec![0; 2 * PAGE_BYTES];
        for (index, word) in [whole, rest, i64::from(is_strict)].into_iter().enumerate() {
            bytes[PAGE_BYTES + index * 8..][..8].copy_from_slice(&word.to_ne_bytes());
        }
        file.write_all(&bytes)?;
        std::fs::set_permissions(path, Permissions::from_mode(0o444))?;
        Ok(file)
    }

    pub(crate) fn page_to_read(&self) -> io::Result<File> {
        File::open(self.path.join(PAGE_NAME))
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join(SOCKET_NAME)
    }

    /// Returns the environment of this process, with the variables for the library and the page.
    #[expect(clippy::disallowed_methods, reason = "programs get the environment that timenav was given")]
    pub(crate) fn environment(&self) -> io::Result<Vec<CString>> {
        let is_ours = |name: &OsStr| name == LOADED || name == PAGE;
        let loaded = std::env::var_os(LOADED).filter(|others| !others.is_empty());
        let mut libraries = self.path.join(LIBRARY_NAME).into_os_string();
        if let Some(others) = loaded {
            libraries.push(":");
            libraries.push(others);
        }
        let own = [(LOADED.into(), libraries), (PAGE.into(), self.path.join(PAGE_NAME).into_os_string())];
        let all = std::env::vars_os().filter(|(name, _)| !is_ours(name)).chain(own);
        all.map(|(name, value)| c_string(&variable(name, &value))).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn variable(mut name: OsString, value: &OsStr) -> Vec<u8> {
    name.push("=");
    name.push(value);
    name.into_encoded_bytes()
}

fn new_folder(place: &Path) -> io::Result<PathBuf> {
    let pid = std::process::id();
    let mut last = io::Error::from_raw_os_error(libc::EEXIST);
    for _ in 0..NAMES_MAX {
        let path = place.join(format!("timenav-exec-{pid}-{}", boot_now().nanos_in_all()));
        // An existing name is left alone, whatever it is.
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn new_file(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preload_folder_has_its_files_and_is_removed() {
        let folder = Folder::create().unwrap();
        let path = folder.path.clone();
        assert_eq!(std::fs::read(path.join(LIBRARY_NAME)).unwrap(), LIBRARY);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&path.join(LIBRARY_NAME))), (0o755, 0o555));
        let page = folder.page(true).unwrap();
        assert_eq!(page.metadata().unwrap().len(), 2 * PAGE_BYTES as u64);
        assert_eq!(mode(&path.join(PAGE_NAME)), 0o444);
        let environment = folder.environment().unwrap();
        let of = |name: &str| {
            let all = environment.iter().filter(|variable| variable.as_bytes().starts_with(name.as_bytes()));
            all.map(|variable| variable.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of("TIMENAV_CLOCK_PAGE="), [format!("TIMENAV_CLOCK_PAGE={}/timenav-clock", path.display())]);
        let loaded = of("LD_PRELOAD=");
        assert!(loaded.len() == 1 && loaded[0].starts_with(&format!("LD_PRELOAD={}/", path.display())), "{loaded:?}");
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn unusable_preload_folder_is_rejected() {
        assert!(look_at(&place().unwrap()).is_ok());
        for wrong in ["relative", "/nowhere", "/tmp/a:b", "/tmp/a b", &format!("/{}", "x".repeat(100))] {
            assert!(look_at(Path::new(wrong)).is_err(), "{wrong}");
        }
    }
}
