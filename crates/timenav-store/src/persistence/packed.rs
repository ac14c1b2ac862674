//! Deflate compression (RFC 1951) of stored payloads. Entries with many reads repeat themselves.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// Shorter payloads are not compressed: a single read has no repetition.
const BYTES_MIN: usize = 512;
/// Maximum ratio of payload length to stored length. Deflate reaches 1032.
const TIMES_MAX: usize = 1_100;

// Reused per thread: each has tables of many kilobytes, and allocating them takes longer than resetting them.
thread_local! {
    static DEFLATE: RefCell<Compress> = RefCell::new(Compress::new(Compression::new(1), false));
    static INFLATE: RefCell<Decompress> = RefCell::new(Decompress::new(false));
}

/// Compresses a payload. Returns `None` if that saves less than a quarter.
pub(crate) fn pack(payload: &[u8]) -> Option<Vec<u8>> {
    if payload.len() < BYTES_MIN {
        return None;
    }
    let mut packed = Vec::with_capacity(payload.len() / 4 * 3);
    let status = DEFLATE.with_borrow_mut(|deflate| {
        deflate.reset();
        deflate.compress_vec(payload, &mut packed, FlushCompress::Finish)
    });
    // If the buffer is full, compression does not pay off.
    matches!(status, Ok(Status::StreamEnd)).then_some(packed)
}

/// Decompresses a payload of `bytes` bytes. Returns `None` if the input is not valid or has another length.
pub(crate) fn unpack(packed: &[u8], bytes: usize) -> Option<Vec<u8>> {
    if bytes > packed.len().saturating_mul(TIMES_MAX) {
        return None;
    }
    // One byte more, to detect output that is too long.
    let mut payload = Vec::with_capacity(bytes + 1);
    let (status, read) = INFLATE.with_borrow_mut(|inflate| {
        inflate.reset(false);
        let status = inflate.decompress_vec(packed, &mut payload, FlushDecompress::Finish);
        (status, inflate.total_in())
    });
    let is_whole = matches!(status, Ok(Status::StreamEnd)) && read == packed.len() as u64 && payload.len() == bytes;
    is_whole.then_some(payload)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of_reads(reads: usize) -> Vec<u8> {
        let read = |at| format!(r#"{{"actor":"ada","clock_time":"2026-01-01T00:00:00.{at:06}Z","operation":"clock"}}"#);
        (0..reads).map(read).collect::<Vec<_>>().join(",").into_bytes()
    }

    #[test]
    fn many_reads_are_compressed_and_a_single_one_is_not() {
        assert_eq!(pack(&of_reads(1)), None);
        let payload = of_reads(32);
        let packed = pack(&payload).unwrap();
        assert!(packed.len() * 8 < payload.len(), "{} of {}", packed.len(), payload.len());
        assert_eq!(unpack(&packed, payload.len()), Some(payload));
    }

    #[test]
    fn incompressible_payload_is_not_packed() {
        let noise: Vec<u8> = (0_u32..4_096).flat_map(|at| at.wrapping_mul(0x9E37_79B9).to_be_bytes()).collect();
        assert_eq!(pack(&noise), None);
    }

    #[test]
    fn unpacking_rejects_wrong_length_and_altered_bytes() {
        let payload = of_reads(32);
        let packed = pack(&payload).unwrap();
        for bytes in [0, 1, payload.len() - 1, payload.len() + 1, usize::MAX] {
            assert_eq!(unpack(&packed, bytes), None, "{bytes}");
        }
        assert_eq!(unpack(&packed[..packed.len() - 1], payload.len()), None);
        assert_eq!(unpack(&[&packed[..], b" "].concat(), payload.len()), None);
        assert_eq!(unpack(b"", 0), None);
    }

    proptest! {
        #[test]
        fn packed_payload_round_trips(seed in proptest::collection::vec(any::<u8>(), 1..64), times in 1_usize..200) {
            let payload = seed.repeat(times);
            if let Some(packed) = pack(&payload) {
                prop_assert!(packed.len() * 4 <= payload.len() * 3);
                prop_assert_eq!(unpack(&packed, payload.len()), Some(payload));
            }
        }

        #[test]
        fn unpacked_length_matches(bytes in proptest::collection::vec(any::<u8>(), 0..300), claimed_length in 0_usize..400_000) {
            if let Some(payload) = unpack(&bytes, claimed_length) {
                prop_assert_eq!(payload.len(), claimed_length);
            }
        }
    }
}
