use timenav_core::ledger::Salt;

use crate::ports::all::Ports;

/// Generates salts in blocks, so that one call to the entropy source serves many entries.
#[derive(Default)]
pub(crate) struct SaltPool {
    bytes: Vec<u8>,
}

impl SaltPool {
    const BLOCK_BYTES: usize = 4_096;

    pub(crate) fn next(&mut self, ports: &Ports) -> Salt {
        if self.bytes.len() < Salt::BYTES {
            self.bytes = vec![0; Self::BLOCK_BYTES];
            ports.entropy.fill(&mut self.bytes);
        }
        let rest = self.bytes.split_off(self.bytes.len() - Salt::BYTES);
        let mut salt = [0; Salt::BYTES];
        salt.copy_from_slice(&rest);
        Salt::from_bytes(salt)
    }
}
