//! Where the service of a data folder listens, for the command line to find it on any port.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::DataFolder;

/// The file with the address, while the service listens.
const ADDRESS_FILE: &str = "address";
/// Longest address that is read, in bytes.
const ADDRESS_BYTES_MAX: u64 = 256;

/// The address of this process in its data folder. It is taken away when this is dropped.
///
/// The file is locked as long as the process runs, however that ends: so an address that nobody took away is known for
/// one, and no key is shown to whoever has the port by now.
#[derive(Debug)]
pub(crate) struct KeptAddress {
    path: PathBuf,
    _lock: File,
}

/// What a data folder says of its service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listening {
    /// It listens there.
    At(String),
    /// It ended without a word, and listened there.
    Ended(String),
    /// It does not run.
    No,
}

impl KeptAddress {
    /// Keeps where the service of a folder listens.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn keep(folder: &DataFolder, scheme: &str, address: SocketAddr) -> io::Result<Self> {
        let path = folder.path().join(ADDRESS_FILE);
        let beside = folder.path().join(format!("{ADDRESS_FILE}.new"));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        // Locked before it has its name: whoever finds it there finds it locked.
        file.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => io::Error::from(io::ErrorKind::WouldBlock),
        })?;
        writeln!(file, "{scheme}://{}", on_this_machine(address))?;
        std::fs::rename(&beside, &path)?;
        Ok(Self { path, _lock: file })
    }
}

impl Drop for KeptAddress {
    fn drop(&mut self) {
        // There is nobody to tell where that fails, and it is no longer locked then.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Returns whether the service of a folder listens, and where.
///
/// # Errors
/// The file is there and cannot be read.
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

/// Returns the address under which this machine reaches what listens on all of its addresses.
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
    fn an_address_is_there_as_long_as_the_service_runs() {
        let parent = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(parent.path()).unwrap();
        let now = || listening(parent.path()).unwrap();
        assert_eq!(now(), Listening::No);
        let kept = KeptAddress::keep(&folder, "http", "0.0.0.0:4711".parse().unwrap()).unwrap();
        assert!(!is_open_to_others(&parent.path().join(ADDRESS_FILE)).unwrap());
        assert_eq!(now(), Listening::At("http://127.0.0.1:4711".to_owned()));
        // Looking changes nothing.
        assert_eq!(now(), Listening::At("http://127.0.0.1:4711".to_owned()));
        drop(kept);
        assert_eq!(now(), Listening::No);
        // A service that is killed leaves its file, which nothing holds.
        std::fs::write(parent.path().join(ADDRESS_FILE), "http://127.0.0.1:1\n").unwrap();
        assert_eq!(now(), Listening::Ended("http://127.0.0.1:1".to_owned()));
        let _kept = KeptAddress::keep(&folder, "https", "[::]:1".parse().unwrap()).unwrap();
        assert_eq!(now(), Listening::At("https://[::1]:1".to_owned()));
    }
}
