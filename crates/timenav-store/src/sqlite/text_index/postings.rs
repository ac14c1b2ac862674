//! The encoding of positions.

use timenav_engine::StoreError;

use crate::sqlite::values::damaged;

/// Ascending positions, encoded as they are added.
#[derive(Debug)]
pub(super) struct Postings {
    last: u64,
    is_empty: bool,
    bytes: Vec<u8>,
}

impl Postings {
    pub(super) const fn new(first: u64) -> Self {
        Self { last: first, is_empty: true, bytes: Vec::new() }
    }

    /// Adds a position. Does nothing if it is the last one.
    pub(super) fn add(&mut self, position: u64) {
        if !self.is_empty && position <= self.last {
            return;
        }
        let mut delta = position - self.last;
        while delta >= 0x80 {
            self.bytes.push(delta.to_le_bytes()[0] | 0x80);
            delta >>= 7;
        }
        self.bytes.push(delta.to_le_bytes()[0]);
        (self.last, self.is_empty) = (position, false);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Calls `take` with each position of a block that begins at `first`, until it returns `false`.
pub(super) fn each(bytes: &[u8], first: u64, mut take: impl FnMut(u64) -> bool) -> Result<(), StoreError> {
    let mut last = None;
    let mut rest = bytes;
    while !rest.is_empty() {
        let delta = number(&mut rest)?;
        let position =
            last.unwrap_or(first).checked_add(delta).filter(|position| last.is_none_or(|last| *position > last));
        let position = position.ok_or_else(|| damaged("positions of a word are out of order"))?;
        last = Some(position);
        if !take(position) {
            break;
        }
    }
    Ok(())
}

fn number(rest: &mut &[u8]) -> Result<u64, StoreError> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let Some((byte, after)) = rest.split_first() else { break };
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(damaged("the positions of a word cannot be decoded"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], first: u64) -> Result<Vec<u64>, StoreError> {
        let mut positions = Vec::new();
        each(bytes, first, |position| {
            positions.push(position);
            true
        })?;
        Ok(positions)
    }

    #[test]
    fn positions_are_decoded_as_encoded() {
        for positions in [vec![], vec![7], vec![7, 8, 135, 136, 16_520, 1 << 39], vec![1_000_000, 1_000_001]] {
            let mut postings = Postings::new(7);
            for position in &positions {
                postings.add(*position);
                postings.add(*position);
            }
            assert_eq!(decoded(postings.bytes(), 7).unwrap(), positions);
        }
    }

    #[test]
    fn invalid_positions_are_rejected() {
        for bytes in [&[0x80][..], &[1, 0], &[0xff; 11], &[1, 0xff]] {
            assert!(matches!(decoded(bytes, 0), Err(StoreError::Damaged(_))), "{bytes:?}");
        }
    }
}
