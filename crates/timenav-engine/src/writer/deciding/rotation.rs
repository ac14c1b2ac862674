use super::{Aim, Command, CommandSpec};
use crate::ledger::action::Action;
use crate::ledger::changes::Logged;
use crate::ledger::payload::SigningKeyRotated;
use crate::ports::signer::Signer;
use crate::requests::json::json;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft};

/// Begin to sign with the next key in addition to the current one, with an entry that names both.
pub(crate) struct RotateSigningKey;

impl Command for RotateSigningKey {
    type Output = Logged;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::RotateSigningKey, Aim::Ledger)
    }

    /// Both keys sign the checkpoint over the entry.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        let next = draft.ports().next_signer.clone();
        let next = next.ok_or(Refusal::FeatureDisabled { what: "rotating the signing key without a new one" })?;
        let ledger = draft.ledger_of_service(draft.timeline())?;
        let timeline = draft.timeline();
        let named = |signer: &dyn Signer| {
            let key = signer.ledger_key(&draft.options().service_name, timeline);
            key.map(|key| key.to_string()).map_err(|error| Refusal::Damaged(error.to_string()))
        };
        // The new key is also the subject, so that a proof of this entry is enough to learn it.
        let subject = named(&*next)?;
        let retired_verifier_key = named(&*draft.ports().signer)?;
        let payload = json(&SigningKeyRotated { retired_verifier_key, verifier_key: subject.clone() });
        if timeline.is_system() {
            draft.forget_fingerprints();
        }
        let host = draft.host(ledger);
        let position = draft.append(ledger, Action::RotateSigningKey, &subject, payload, host);
        draft.step_mut(ledger).is_signed_by_next = true;
        Ok(draft.done(ledger, position, Logged {}))
    }
}
