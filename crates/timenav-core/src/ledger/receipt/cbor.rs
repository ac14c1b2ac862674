//! As much of CBOR (RFC 8949) as receipts are made of, in its deterministic form (§4.2.1).

/// Major types (RFC 8949 §3.1).
pub(super) const UINT: u8 = 0;
pub(super) const BYTES: u8 = 2;
pub(super) const TEXT: u8 = 3;
pub(super) const ARRAY: u8 = 4;

/// Appends a string of bytes or of text.
pub(super) fn put(to: &mut Vec<u8>, major: u8, string: &[u8]) {
    put_head(to, major, string.len() as u64);
    to.extend(string);
}

/// Appends a major type and its argument, in the fewest bytes.
pub(super) fn put_head(to: &mut Vec<u8>, major: u8, argument: u64) {
    let (first, bytes) = (major << 5, argument.to_be_bytes());
    let (form, skipped) = match argument {
        0..=23 => return to.push(first | bytes[7]),
        24..=0xff => (24, 7),
        0x100..=0xffff => (25, 6),
        0x1_0000..=0xffff_ffff => (26, 4),
        _ => (27, 0),
    };
    to.push(first | form);
    to.extend(&bytes[skipped..]);
}

/// What is left to be read.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn literal(&mut self, bytes: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(bytes)?;
        Some(())
    }

    /// Reads a major type and its argument.
    pub(super) fn head(&mut self, major: u8) -> Option<u64> {
        let first = *self.take(1)?.first()?;
        if first >> 5 != major {
            return None;
        }
        let count = match first & 0x1f {
            small @ 0..=23 => return Some(u64::from(small)),
            form @ 24..=27 => 1 << (form - 24),
            _ => return None,
        };
        Some(self.take(count)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub(super) fn string(&mut self, major: u8) -> Option<&'a [u8]> {
        let length = usize::try_from(self.head(major)?).ok()?;
        self.take(length)
    }
}
