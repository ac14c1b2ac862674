//! The payloads of what the service logs of itself.

use serde::{Deserialize, Serialize};

/// Payload of `accept_rollback`. Entries of earlier versions have `findings` alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RollbackAccepted {
    /// Who accepted it, as they named themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) accepted_by: Option<String>,
    pub(crate) findings: Vec<String>,
    /// The signed trees that were lost: on `system` those of all timelines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lost: Vec<LostTree>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// A signed tree that a timeline had, and the one that it has instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LostTree {
    /// The signed note, whole: size and root of what was lost.
    pub(crate) checkpoint: String,
    /// The root of the tree that is there instead, in hexadecimal digits.
    pub(crate) root: String,
    /// How many entries are there instead; 0 where the timeline is gone.
    pub(crate) size: u64,
    pub(crate) timeline_id: String,
}

impl RollbackAccepted {
    /// Returns what the entry at a position says, for whoever looks at the ledger: a sentence for each loss.
    pub(crate) fn sentences(&self, position: u64) -> Vec<String> {
        let by = self.accepted_by.as_deref().map_or_else(|| "an operator".to_owned(), |by| format!("`{by}`"));
        let why = self.reason.as_deref().map_or_else(String::new, |reason| format!(" ({reason})"));
        if self.lost.is_empty() {
            return vec![format!(
                "What was there before entry {position} was not compared: {by} accepted a database that is not what was \
                 signed{why}."
            )];
        }
        let sentence = |lost: &LostTree| {
            let LostTree { checkpoint, size, timeline_id, .. } = lost;
            let signed = checkpoint.lines().nth(1).unwrap_or("?");
            format!(
                "What was lost before entry {position} was not compared: {by} accepted a rollback{why}: {signed} entries \
                 of `{timeline_id}` were signed, and it went on from {size}. Whoever kept a checkpoint of what was lost \
                 can prove that."
            )
        };
        self.lost.iter().map(sentence).collect()
    }
}

/// Payload of `accept_host_clock`: what the host's clock said when it was last known to be right, and what it says.
#[derive(Serialize, Deserialize)]
pub(crate) struct HostClockAccepted {
    pub(crate) last: String,
    pub(crate) now: String,
}

/// Payload of `rotate_signing_key`: two public keys of the ledger, as they are handed around.
#[derive(Serialize, Deserialize)]
pub(crate) struct SigningKeyRotated {
    /// The one that signed.
    pub(crate) retired_verifier_key: String,
    /// The one that takes its place.
    pub(crate) verifier_key: String,
}
