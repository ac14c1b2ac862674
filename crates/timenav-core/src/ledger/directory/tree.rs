use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::merkle::{empty_root, leaf_hash, node_hash};
use super::{DirectoryRow, Hash, RowName};

pub const DIRECTORY_BUCKETS: usize = 1 << BUCKET_BITS;

/// The bits of a name's digest that select the bucket.
const BUCKET_BITS: u8 = 12;

/// The digests of a row's name and of the row.
type Pair = (Hash, Hash);

/// The digests of all directory rows, and the hash over them.
///
/// Uses 64 bytes per row. Inserting, replacing or removing a row moves the pairs of one bucket. [`root`](Self::root)
/// hashes only the buckets that changed since the last call, and the nodes above them. A clone shares the buckets until
/// either side changes them; it costs 4 096 reference counts and 256 KiB of nodes.
#[derive(Clone, Debug)]
pub struct DirectoryTree {
    /// Each bucket is sorted by the digests of names.
    buckets: Vec<Arc<Vec<Pair>>>,
    /// The nodes of the tree: node 1 is the root, and nodes 2 n and 2 n + 1 are the children of node n.
    nodes: Vec<Hash>,
    changed: BTreeSet<usize>,
    rows_count: usize,
}

impl Default for DirectoryTree {
    fn default() -> Self {
        Self {
            buckets: vec![Arc::default(); DIRECTORY_BUCKETS],
            nodes: nodes_without_rows(),
            changed: BTreeSet::new(),
            rows_count: 0,
        }
    }
}

impl DirectoryTree {
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows_count
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows_count == 0
    }

    /// Inserts a row, replacing the one with the same name.
    pub fn put(&mut self, row: &DirectoryRow<'_>) {
        let pair = (row.name().digest(), row.digest());
        let bucket = self.bucket_mut(&pair.0);
        match bucket.binary_search_by_key(&pair.0, |(name, _)| *name) {
            Ok(at) => bucket[at] = pair,
            Err(at) => {
                bucket.insert(at, pair);
                self.rows_count += 1;
            }
        }
    }

    #[must_use]
    pub fn contains(&self, name: RowName<'_>) -> bool {
        let digest = name.digest();
        self.buckets[bucket_of(&digest)].binary_search_by_key(&digest, |(name, _)| *name).is_ok()
    }

    pub fn remove(&mut self, name: RowName<'_>) -> bool {
        let digest = name.digest();
        let bucket = &self.buckets[bucket_of(&digest)];
        let Ok(at) = bucket.binary_search_by_key(&digest, |(name, _)| *name) else { return false };
        self.bucket_mut(&digest).remove(at);
        self.rows_count -= 1;
        true
    }

    pub fn root(&mut self) -> Hash {
        let mut parents = BTreeSet::new();
        for bucket in std::mem::take(&mut self.changed) {
            let node = DIRECTORY_BUCKETS + bucket;
            self.nodes[node] = bucket_hash(&self.buckets[bucket]);
            parents.insert(node / 2);
        }
        // In descending order, so that the children of a node are hashed before it.
        while let Some(node) = parents.pop_last() {
            self.nodes[node] = node_hash(&self.nodes[2 * node], &self.nodes[2 * node + 1]);
            if node > 1 {
                parents.insert(node / 2);
            }
        }
        self.nodes[1]
    }

    fn bucket_mut(&mut self, name: &Hash) -> &mut Vec<Pair> {
        let bucket = bucket_of(name);
        self.changed.insert(bucket);
        Arc::make_mut(&mut self.buckets[bucket])
    }
}

impl<'a> Extend<DirectoryRow<'a>> for DirectoryTree {
    fn extend<T: IntoIterator<Item = DirectoryRow<'a>>>(&mut self, rows: T) {
        rows.into_iter().for_each(|row| self.put(&row));
    }
}

impl<'a> FromIterator<DirectoryRow<'a>> for DirectoryTree {
    fn from_iter<T: IntoIterator<Item = DirectoryRow<'a>>>(rows: T) -> Self {
        let mut tree = Self::default();
        tree.extend(rows);
        tree
    }
}

/// All nodes above empty buckets are equal on one level, so thirteen hashes suffice. Node 0 is unused.
fn nodes_without_rows() -> Vec<Hash> {
    let mut nodes = vec![empty_root(); 2 * DIRECTORY_BUCKETS];
    let (mut hash, mut first) = (bucket_hash(&[]), DIRECTORY_BUCKETS);
    while first > 0 {
        nodes[first..2 * first].fill(hash);
        (hash, first) = (node_hash(&hash, &hash), first / 2);
    }
    nodes
}

/// Returns the bucket of a name: the first twelve bits of its digest, as a number.
fn bucket_of(name: &Hash) -> usize {
    let [high, low, ..] = *name.as_bytes();
    usize::from(u16::from_be_bytes([high, low]) >> (16 - BUCKET_BITS))
}

/// Returns the hash of a bucket: the leaf hash (RFC 6962 §2.1) of its concatenated pairs.
fn bucket_hash(pairs: &[Pair]) -> Hash {
    let mut bytes = Vec::with_capacity(pairs.len() * 2 * Hash::BYTES);
    for (name, row) in pairs {
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(row.as_bytes());
    }
    leaf_hash(&bytes)
}
