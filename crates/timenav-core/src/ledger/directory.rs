//! A hash over all users and credentials: the `directory_root` of `system`.
//!
//! Each user (with the restriction), key, password, session and ended timeline is a row. The name of a row selects one
//! of 4 096 buckets. The buckets are the leaves of an RFC 6962 tree, whose root is the hash of the directory. A change
//! therefore hashes one bucket and the twelve nodes above it, regardless of the size of the directory.

use super::{Hash, sha256};

mod row;
mod tree;

#[cfg(test)]
mod tests;

pub use row::{DirectoryRow, RowName};
pub use tree::{DIRECTORY_BUCKETS, DirectoryTree};
