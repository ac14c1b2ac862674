use super::super::merkle::{Frontier, leaf_hash};
use super::{Hash, READS_MAX, READS_PAYLOAD_BYTES_MAX, Read, Salt, digest};

/// The entry is full, and the read belongs in the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an entry can have at most {READS_MAX} reads in {READS_PAYLOAD_BYTES_MAX} bytes")]
pub struct ReadsFull;

#[derive(Clone, Debug)]
pub struct ReadsDraft {
    salt: Salt,
    /// The payload so far, without its closing bracket.
    payload: Vec<u8>,
    tree: Frontier,
}

impl ReadsDraft {
    /// Returns an empty draft. The salt must be fresh, and is stored next to the payload.
    #[must_use]
    pub fn new(salt: Salt) -> Self {
        Self { salt, payload: Vec::new(), tree: Frontier::default() }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.tree.size()).unwrap_or(usize::MAX)
    }

    /// Returns whether there are no reads. An entry must have at least one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.payload.is_empty()
    }

    /// Returns whether one more read fits. An empty draft fits any read of ids and kept parameters.
    #[must_use]
    pub fn has_room_for(&self, read: &Read<'_>) -> bool {
        self.has_room(&read.encode())
    }

    /// Includes a bracket or comma before the read, and a bracket after it.
    fn has_room(&self, read: &[u8]) -> bool {
        self.len() < READS_MAX && self.payload.len() + 1 + read.len() < READS_PAYLOAD_BYTES_MAX
    }

    /// Adds a read.
    ///
    /// # Errors
    /// The entry would have too many reads or bytes. The draft is unchanged.
    pub fn push(&mut self, read: &Read<'_>) -> Result<(), ReadsFull> {
        let bytes = read.encode();
        let number = u32::try_from(self.tree.size()).map_err(|_| ReadsFull)?;
        if !self.has_room(&bytes) {
            return Err(ReadsFull);
        }
        self.payload.push(if self.payload.is_empty() { b'[' } else { b',' });
        self.payload.extend_from_slice(&bytes);
        let digest = digest(&self.salt.derive(number), &bytes);
        self.tree.push(leaf_hash(digest.as_bytes()));
        Ok(())
    }

    /// Returns the payload, and the payload hash of the entry.
    #[must_use]
    pub fn finish(mut self) -> (Vec<u8>, Hash) {
        debug_assert!(!self.is_empty(), "an entry has at least one read");
        self.payload.push(b']');
        (self.payload, self.tree.root())
    }
}
