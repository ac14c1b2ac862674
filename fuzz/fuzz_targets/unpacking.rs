//! Files that were packed: nothing in them panics, and little comes out of little. The first byte chooses how.

#![no_main]

use std::io::copy;

use libfuzzer_sys::fuzz_target;
use timenav_import::limits::{UNPACKED_BYTES_FREE, UNPACKED_RATIO_MAX};
use timenav_import::{Packing, unpacked};

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, file)) = bytes.split_first() else { return };
    let packing = Packing::ALL[usize::from(*choice) % Packing::ALL.len()];
    if let Ok(unpacked) = copy(&mut unpacked(packing, file), &mut std::io::sink()) {
        assert!(unpacked <= UNPACKED_BYTES_FREE + UNPACKED_RATIO_MAX * file.len() as u64);
    }
});
