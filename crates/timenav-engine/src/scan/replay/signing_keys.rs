//! What entries say of the keys that sign.

use timenav_core::ledger::{LeafRecord, VerifierKey};
use timenav_core::scan::{FindingKind, Findings};

use super::Replay;
use crate::json::read;
use crate::payload::SigningKeyRotated;

/// That one key took the place of another.
#[derive(Debug)]
struct Rotated {
    position: u64,
    retired: VerifierKey,
    new: VerifierKey,
}

/// The last such entry, as far as entries are read.
#[derive(Debug, Default)]
pub(super) struct SigningKeys(Option<Rotated>);

impl SigningKeys {
    /// Takes an entry that one key took the place of another. Returns `None` where it cannot be read.
    pub(super) fn rotated(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        payload: &[u8],
        findings: &mut Findings,
    ) -> Option<()> {
        let told: SigningKeyRotated = read(payload)?;
        // The entry names the new key twice, so that it can be learned without the payload.
        let SigningKeyRotated { retired_verifier_key, verifier_key } =
            Some(told).filter(|told| told.verifier_key == record.subject)?;
        let retired = VerifierKey::parse(&retired_verifier_key).ok()?;
        let new = VerifierKey::parse(&verifier_key).ok()?;
        // A rotation that was cut off is told again, by the key that signed all the while.
        if let Some(before) = self.0.as_ref().filter(|before| retired != before.retired && retired != before.new) {
            let evidence = format!(
                "the entry says that the key with the id {} was retired, but the entry at {} says that the one with \
                 the id {} signs",
                retired.id(),
                before.position,
                before.new.id()
            );
            findings.add(FindingKind::UnknownKey, Some(position), evidence);
        }
        self.0 = Some(Rotated { position, retired, new });
        Some(())
    }
}

impl Replay {
    /// Compares the last rotation that entries tell of with the key that is trusted to sign today: it is the new one,
    /// or, while the rotation is not finished, the one that is to be retired.
    pub(in crate::scan) fn compare_signing_key(&mut self, current: &VerifierKey) {
        let Some(Rotated { position, retired, new }) = &self.signing_keys.0 else { return };
        if self.blind.is_none() && current != new && current != retired {
            let evidence = format!(
                "the entry says that the key `{}` with the id {} signs from here on, but the one trusted to sign \
                 today is `{}` with the id {}",
                new.name(),
                new.id(),
                current.name(),
                current.id()
            );
            self.findings.add(FindingKind::UnknownKey, Some(*position), evidence);
        }
    }
}
