//! A rotation of the signing key, as it happens to one ledger.

use timenav_core::ids::TimelineId;

use super::decide::{done, gone};
use super::{Group, Outcome};
use crate::action::Action;
use crate::command::{Actor, Change};
use crate::directory::KeptPassword;
use crate::json::json;
use crate::payload::SigningKeyRotated;
use crate::refusal::Refusal;
use crate::seals::password_seal;
use crate::signer::Signer;

impl Group<'_> {
    /// Appends the entry that names both keys. The checkpoint over it is signed by both.
    pub(super) fn rotate_signing_key(&mut self, actor: &Actor, timeline: &TimelineId) -> Result<Outcome, Refusal> {
        let next = self.doors.next_signer.clone();
        let next = next.ok_or(Refusal::FeatureDisabled { what: "rotating the signing key without a next one" })?;
        if !self.world.timelines.contains_key(timeline) {
            return Err(gone(timeline));
        }
        let named = |signer: &dyn Signer| {
            let key = signer.ledger_key(&self.options.service_name, timeline);
            key.map(|key| key.to_string()).map_err(|error| Refusal::Damaged(error.to_string()))
        };
        // The new key is the subject too: the entry alone, which a proof shows, is enough to learn it.
        let subject = named(&*next)?;
        let retired_verifier_key = named(&*self.doors.signer)?;
        let payload = json(&SigningKeyRotated { retired_verifier_key, verifier_key: subject.clone() });
        if timeline.is_system() {
            self.seal_passwords_anew(&*next);
            self.forget_fingerprints = true;
        }
        let host = self.host(timeline);
        let position = self.append(timeline, actor.name(), Action::RotateSigningKey, &subject, payload, host);
        if let Some(touched) = self.touched.get_mut(timeline) {
            touched.is_signed_by_next = true;
        }
        Ok(done(timeline, Change::Logged, position))
    }

    /// What is kept of passwords stays what it is; the code over each row is that of the next key from here on.
    fn seal_passwords_anew(&mut self, next: &dyn Signer) {
        let kept: Vec<KeptPassword> = self.world.directory.passwords.values().map(|one| (**one).clone()).collect();
        for password in kept {
            let seal = password_seal(next, &password);
            self.put_password(KeptPassword { seal, ..password });
        }
    }
}
