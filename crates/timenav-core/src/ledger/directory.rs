//! Who there is, and what shows who they are, in one hash: the `directory_root` of `system`.
//!
//! Each user (with the restriction of their time travel), key, password and session is a row, and so is each
//! timeline that has ended. A row's name decides which of 4 096 buckets it is in, the buckets are the entries of a tree as in RFC 6962, and the
//! root of that tree is the hash of the directory. So a change hashes one bucket and the twelve nodes above
//! it, whatever the size of the directory.

use super::{Hash, sha256};

mod row;
mod tree;

#[cfg(test)]
mod tests;

pub use row::{DirectoryRow, RowName};
pub use tree::{DIRECTORY_BUCKETS, DirectoryTree};
