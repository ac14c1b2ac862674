//! What the file of a signing key says, in one line: the key itself, or which agent holds it.
//!
//! ```text
//! PRIVATE+KEY+<name>+<id>+<base64 of the type and the seed>
//! AGENT+KEY <name>+<id>+<base64 of the type and the public key> <base64 of the seal secret> <socket>
//! ```
//!
//! An agent does nothing but sign. What the service hands out and takes back, and the passwords that it keeps, are sealed by
//! a secret that stands in the line: 32 random bytes, and the first four of what they hash to, so that a typing error is
//! not taken for another secret.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use data_encoding::BASE64;
use timenav_core::ledger::{SignerKey, VerifierKey, sha256};
use timenav_engine::{Entropy, Signer};
use zeroize::Zeroizing;

use crate::agent::AgentSigner;
use crate::doors::FileSigner;

const AGENT_START: &str = "AGENT+KEY ";
const SECRET_BYTES: usize = 32;
const CHECK_BYTES: usize = 4;

/// A signing key as its file tells it.
pub(crate) enum KeyText {
    /// The key itself.
    Seed(SignerKey),
    /// An agent holds it.
    Held {
        /// The public key, under the name of the service.
        public: VerifierKey,
        /// What seals are made with.
        seal_secret: Zeroizing<[u8; SECRET_BYTES]>,
        /// Where the agent listens.
        socket: PathBuf,
    },
}

impl KeyText {
    /// Makes a new key.
    ///
    /// # Errors
    /// The name is none that a service can have, or no key can be made of what the entropy gives.
    pub(crate) fn make(service_name: &str, entropy: &dyn Entropy) -> anyhow::Result<Self> {
        let mut seed = Zeroizing::new([0; SECRET_BYTES]);
        entropy.fill(&mut *seed);
        let signer = FileSigner::new(&seed).context("no signing key can be created")?;
        let public = named(service_name, signer.public_key())?;
        Ok(Self::Seed(SignerKey::new(*seed, &public)))
    }

    /// Returns what is written of a key that an agent holds, with a new secret for seals.
    ///
    /// # Errors
    /// The name is none that a service can have, or the path none that can be written in a line.
    pub(crate) fn hold(
        service_name: &str,
        public_key: [u8; 32],
        socket: &Path,
        entropy: &dyn Entropy,
    ) -> anyhow::Result<Self> {
        let public = named(service_name, public_key)?;
        // The service may run in another folder.
        let socket = std::path::absolute(socket).context("the path of the agent")?;
        if socket.to_str().is_none_or(|path| path.contains('\n')) {
            bail!("the path of the agent, {}, cannot be written in a line of text", socket.display());
        }
        let mut seal_secret = Zeroizing::new([0; SECRET_BYTES]);
        entropy.fill(&mut *seal_secret);
        Ok(Self::Held { public, seal_secret, socket })
    }

    /// Reads a line, without its end.
    ///
    /// # Errors
    /// It says no key, or is damaged.
    pub(crate) fn parse(line: &str) -> anyhow::Result<Self> {
        let Some(rest) = line.strip_prefix(AGENT_START) else {
            return Ok(Self::Seed(SignerKey::parse(line)?));
        };
        let mut parts = rest.splitn(3, ' ');
        let mut part =
            |what: &str| parts.next().filter(|part| !part.is_empty()).with_context(|| format!("{what} is missing"));
        let (public, sealed, socket) = (part("its public key")?, part("the seal secret")?, part("the agent's socket")?);
        let public = VerifierKey::parse(public)?;
        let decoded = Zeroizing::new(BASE64.decode(sealed.as_bytes()).ok().context("the seal secret is damaged")?);
        let (secret, check) = decoded.split_first_chunk().context("the seal secret is damaged")?;
        let seal_secret = Zeroizing::new(*secret);
        if check != check_of(&seal_secret) {
            bail!("the seal secret is damaged");
        }
        Ok(Self::Held { public, seal_secret, socket: PathBuf::from(socket) })
    }

    /// Returns the line that says it.
    pub(crate) fn to_secret_text(&self) -> Zeroizing<String> {
        Zeroizing::new(match self {
            Self::Seed(key) => key.to_secret_text(),
            Self::Held { public, seal_secret, socket } => {
                let sealed = Zeroizing::new([&seal_secret[..], &check_of(seal_secret)].concat());
                let sealed = Zeroizing::new(BASE64.encode(&sealed));
                format!("{AGENT_START}{public} {} {}", &*sealed, socket.display())
            }
        })
    }

    /// Returns the service name that it is bound to.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Seed(key) => key.name(),
            Self::Held { public, .. } => public.name(),
        }
    }

    /// Returns what signs with it. No agent is asked for anything yet.
    ///
    /// # Errors
    /// It is damaged.
    pub(crate) fn signer(&self) -> anyhow::Result<Arc<dyn Signer>> {
        match self {
            Self::Seed(key) => {
                let signer = FileSigner::new(key.seed()).context("is not accepted")?;
                key.verifier_key(signer.public_key()).context("is damaged")?;
                Ok(Arc::new(signer))
            }
            Self::Held { public, seal_secret, socket } => {
                Ok(Arc::new(AgentSigner::new(socket, *public.public_key(), seal_secret)))
            }
        }
    }

    /// Returns where the agent listens that holds the key, if one does.
    pub(crate) fn agent(&self) -> Option<&Path> {
        match self {
            Self::Seed(_) => None,
            Self::Held { socket, .. } => Some(socket),
        }
    }
}

fn named(service_name: &str, public_key: [u8; 32]) -> anyhow::Result<VerifierKey> {
    VerifierKey::new(service_name, public_key).with_context(|| format!("`{service_name}` cannot be the name in a key"))
}

fn check_of(secret: &[u8; SECRET_BYTES]) -> [u8; CHECK_BYTES] {
    let hash = sha256(&[b"timenav seal secret\n", secret]);
    let [a, b, c, d, ..] = *hash.as_bytes();
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doors::OsEntropy;

    #[test]
    fn a_key_is_what_its_line_says() {
        let made = KeyText::make("clock.example", &OsEntropy).unwrap();
        let read = KeyText::parse(&made.to_secret_text()).unwrap();
        assert_eq!((read.name(), read.agent()), ("clock.example", None));
        assert_eq!(read.signer().unwrap().public_key(), made.signer().unwrap().public_key());
        let socket = Path::new("/run/two words/agent.sock");
        let held = KeyText::hold("clock.example", [7; 32], socket, &OsEntropy).unwrap();
        let line = held.to_secret_text();
        assert!(
            line.starts_with("AGENT+KEY clock.example+") && line.ends_with(" /run/two words/agent.sock"),
            "{}",
            *line
        );
        let read = KeyText::parse(&line).unwrap();
        assert_eq!((read.name(), read.agent()), ("clock.example", Some(socket)));
        let [one, other] = [held.signer().unwrap(), read.signer().unwrap()];
        assert_eq!((one.public_key(), other.public_key()), ([7; 32], [7; 32]));
        assert_eq!(one.authenticate("cursor", b"x"), other.authenticate("cursor", b"x"));
        let next = KeyText::hold("clock.example", [7; 32], socket, &OsEntropy).unwrap().signer().unwrap();
        assert_ne!(one.authenticate("cursor", b"x"), next.authenticate("cursor", b"x"), "each has a secret of its own");
    }

    #[test]
    fn a_damaged_line_is_refused_and_not_repeated() {
        let held = KeyText::hold("clock.example", [7; 32], Path::new("/run/agent.sock"), &OsEntropy).unwrap();
        let line = held.to_secret_text();
        let parts: Vec<&str> = line.splitn(4, ' ').collect();
        let [start, public, secret, socket] = parts[..] else { panic!("{}", *line) };
        let mut flipped = BASE64.decode(secret.as_bytes()).unwrap();
        flipped[3] ^= 1;
        let flipped = BASE64.encode(&flipped);
        for (wrong, why) in [
            (format!("{start} {public} {flipped} {socket}"), "the seal secret is damaged"),
            (format!("{start} {public} {} {socket}", &secret[4..]), "the seal secret is damaged"),
            (format!("{start} {public} {secret}"), "the agent's socket is missing"),
            (format!("{start} {public}"), "the seal secret is missing"),
            (start.to_owned() + " ", "its public key is missing"),
            (format!("{start} {} {secret} {socket}", public.replace("clock", "block")), ""),
        ] {
            let refused = KeyText::parse(&wrong).err().expect(&wrong).to_string();
            assert!(refused.contains(why) && !refused.contains(secret), "{wrong}: {refused}");
        }
    }
}
