//! The door to files that are needed for a while.

use std::fs::File;
use std::io;

/// Makes files for what is too large to be in memory until it is known to be good.
pub trait Spool: Send + Sync {
    /// Returns an empty file to write, and to read again. Nobody else finds it by a name, and it is gone with the value,
    /// or with the process, however that ends.
    ///
    /// # Errors
    /// It cannot be made.
    fn file(&self) -> io::Result<File>;

    /// Returns how many bytes there is room for where the files are, and where everything else is that is kept.
    ///
    /// # Errors
    /// It cannot be told.
    fn room_bytes(&self) -> io::Result<u64>;
}
