//! The listening address in a data folder, with which the command line finds the service on any port.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::DataFolder;

const ADDRESS_FILE: &str = "address";
const ADDRESS_BYTES_MAX: u64 = 256;

/// Removed on drop. The file is locked while the process runs, however it ends: a stale address can be recognized, and
/// no key is sent to another process that uses the port now.
#[derive(Debug)]
pub(crate) struct AddressFile {
    path: PathBuf,
    _lock: File,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listening {
    At(String),
    /// It was killed while it listened at this address.
    Ended(String),
    No,
}

impl AddressFile {
    pub(crate) fn keep(folder: &DataFolder, scheme: &str, address: SocketAddr) -> io::Result<Self> {
        let path = folder.path().join(ADDRESS_FILE);
        let temporary = folder.path().join(format!("{ADDRESS_FILE}.new"));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        // Locked before it gets its name, so that it is always locked when it is found.
        file.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => io::Error::from(io::ErrorKind::WouldBlock),
        })?;
        writeln!(file, "{scheme}://{}", on_this_machine(address))?;
        std::fs::rename(&temporary, &path)?;
        Ok(Self { path, _lock: file })
    }
}

impl Drop for AddressFile {
    fn drop(&mut self) {
        // There is no other place to report a failure, and the file is unlocked then.
        let _ = std::fs::remove_file(&self.path);
    }
}

pub(crate) fn listening(folder: &Path) -> io::Result<Listening> {
    let file = match File::open(folder.join(ADDRESS_FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Listening::No),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    (&file).take(ADDRESS_BYTES_MAX).read_to_string(&mut text)?;
    let address = text.trim().to_owned();
    match file.try_lock_shared() {
        Ok(()) => Ok(Listening::Ended(address)),
        Err(TryLockError::WouldBlock) => Ok(Listening::At(address)),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Returns a local address for a service that listens on all addresses.
fn on_this_machine(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_folder::is_open_to_others;

    #[test]
    fn address_file_exists_while_the_service_runs() {
        let parent = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(parent.path()).unwrap();
        let now = || listening(parent.path()).unwrap();
        assert_eq!(now(), Listening::No);
        let stored = AddressFile::keep(&folder, "http", "0.0.0.0:4711".parse().unwrap()).unwrap();
        assert!(!is_open_to_others(&parent.path().join(ADDRESS_FILE)).unwrap());
        assert_eq!(now(), Listening::At("http://127.0.0.1:4711".to_owned()));
        // Reading the state does not change it.
        assert_eq!(now(), Listening::At("http://127.0.0.1:4711".to_owned()));
        drop(stored);
        assert_eq!(now(), Listening::No);
        // A killed service leaves its file unlocked.
        std::fs::write(parent.path().join(ADDRESS_FILE), "http://127.0.0.1:1\n").unwrap();
        assert_eq!(now(), Listening::Ended("http://127.0.0.1:1".to_owned()));
        let _kept = AddressFile::keep(&folder, "https", "[::]:1".parse().unwrap()).unwrap();
        assert_eq!(now(), Listening::At("https://[::1]:1".to_owned()));
    }
}
