//! The options that name an agent which holds a key.

use std::path::PathBuf;

use anyhow::bail;
use timenav_engine::Entropy;

use crate::agent::{Agent, Identity};
use crate::key_files::KeyText;

/// Which agent holds a key, if one does.
#[derive(Debug, Default, clap::Args)]
pub(super) struct AgentArguments {
    /// Use a key that an SSH agent holds, which listens on this socket. The file then says where the agent is, and no key.
    ///
    /// The key must be an Ed25519 key. It never leaves the agent, or the hardware behind it.
    #[arg(long, value_name = "SOCKET")]
    agent: Option<PathBuf>,
    /// Which key of the agent, by its fingerprint or comment as `ssh-add -l` shows them, if it holds several.
    #[arg(long, value_name = "KEY", requires = "agent")]
    agent_key: Option<String>,
}

impl AgentArguments {
    /// Returns the key that is meant, with a new secret for what the service seals; `None` where no agent is named.
    ///
    /// # Errors
    /// The agent does not answer, or does not hold that key.
    pub(super) fn held(&self, service_name: &str, entropy: &dyn Entropy) -> anyhow::Result<Option<KeyText>> {
        let Some(socket) = &self.agent else { return Ok(None) };
        let identities = Agent::at(socket).identities()?;
        let is_meant = |one: &&Identity| {
            self.agent_key.as_ref().is_none_or(|meant| *meant == one.comment || *meant == one.fingerprint())
        };
        let meant: Vec<&Identity> = identities.iter().filter(is_meant).collect();
        let [one] = meant[..] else {
            let listed: Vec<String> =
                identities.iter().map(|one| format!("{} {}", one.fingerprint(), one.comment)).collect();
            if listed.is_empty() {
                bail!("the agent at {} holds no Ed25519 key: add one with ssh-add", socket.display());
            }
            let (socket, listed) = (socket.display(), listed.join(", "));
            bail!("name one of the Ed25519 keys of the agent at {socket} with --agent-key: {listed}");
        };
        Ok(Some(KeyText::hold(service_name, one.public_key, socket, entropy)?))
    }
}
