//! The line in a signing key file:
//!
//! ```text
//! PRIVATE+KEY+<name>+<id>+<base64 of the type and the seed>
//! ```

use std::sync::Arc;

use anyhow::{Context as _, bail};
use timenav_core::ledger::{SignerKey, VerifierKey};
use timenav_engine::{Entropy, Signer};
use zeroize::Zeroizing;

use crate::wiring::ports::FileSigner;

/// Prefix of a line that named an SSH agent, which early versions supported.
const AGENT_START: &str = "AGENT+KEY ";

pub(crate) struct KeyText(SignerKey);

impl KeyText {
    pub(crate) fn make(service_name: &str, entropy: &dyn Entropy) -> anyhow::Result<Self> {
        let mut seed = Zeroizing::new([0; 32]);
        entropy.fill(&mut *seed);
        let signer = FileSigner::new(&seed).context("no signing key can be created")?;
        let public = VerifierKey::new(service_name, signer.public_key())
            .with_context(|| format!("`{service_name}` cannot be the name in a key"))?;
        Ok(Self(SignerKey::new(*seed, &public)))
    }

    /// Parses a line without its line end. Fails if it is damaged or names an SSH agent.
    pub(crate) fn parse(line: &str) -> anyhow::Result<Self> {
        if line.starts_with(AGENT_START) {
            bail!(
                "an SSH agent holds this key, and such keys are no longer supported: run `timenav rotate-signing-key \
                 --in-file` with the version of timenav that created the file, then upgrade again"
            );
        }
        Ok(Self(SignerKey::parse(line)?))
    }

    pub(crate) fn to_secret_text(&self) -> Zeroizing<String> {
        Zeroizing::new(self.0.to_secret_text())
    }

    pub(crate) fn name(&self) -> &str {
        self.0.name()
    }

    pub(crate) fn signer(&self) -> anyhow::Result<Arc<dyn Signer>> {
        let signer = FileSigner::new(self.0.seed()).context("is not accepted")?;
        self.0.verifier_key(signer.public_key()).context("is damaged")?;
        Ok(Arc::new(signer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::ports::OsEntropy;

    #[test]
    fn key_text_of_new_key_reads_back() {
        let made = KeyText::make("clock.example", &OsEntropy).unwrap();
        let read = KeyText::parse(&made.to_secret_text()).unwrap();
        assert_eq!(read.name(), "clock.example");
        assert_eq!(read.signer().unwrap().public_key(), made.signer().unwrap().public_key());
    }

    #[test]
    fn key_text_of_agent_line_says_how_to_upgrade() {
        let line = "AGENT+KEY clock.example+1234abcd+AQIDBA== c2VjcmV0 /run/signer/agent.sock";
        let error = KeyText::parse(line).err().unwrap().to_string();
        assert!(error.contains("`timenav rotate-signing-key --in-file`"), "{error}");
        assert!(!error.contains("c2VjcmV0"), "{error}");
    }
}
