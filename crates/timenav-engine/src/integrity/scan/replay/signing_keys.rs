use timenav_core::ledger::{LeafRecord, VerifierKey};
use timenav_core::scan::{FindingKind, Findings};

use super::Replay;
use crate::ledger::payload::SigningKeyRotated;
use crate::requests::json::read;

#[derive(Debug)]
struct Rotated {
    position: u64,
    retired: VerifierKey,
    new: VerifierKey,
}

#[derive(Debug, Default)]
pub(super) struct SigningKeys(Option<Rotated>);

impl SigningKeys {
    /// Returns `None` if it cannot be parsed.
    pub(super) fn rotated(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        payload: &[u8],
        findings: &mut Findings,
    ) -> Option<()> {
        let rotation_record: SigningKeyRotated = read(payload)?;
        // The entry names the new key twice, so that it can be learned without the payload.
        let SigningKeyRotated { retired_verifier_key, verifier_key } =
            Some(rotation_record).filter(|rotation_record| rotation_record.verifier_key == record.subject)?;
        let retired = VerifierKey::parse(&retired_verifier_key).ok()?;
        let new = VerifierKey::parse(&verifier_key).ok()?;
        // An interrupted rotation is recorded again, by the key that was in use all the time.
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
    /// Compares the last rotation with the trusted current key, which must be the new key or, while the rotation is not
    /// finished, the previous one.
    pub(in crate::integrity::scan) fn compare_signing_key(&mut self, current: &VerifierKey) {
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
