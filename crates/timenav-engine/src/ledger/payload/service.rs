use serde::{Deserialize, Serialize};

/// Payload of `accept_rollback`. Entries of earlier versions have only `findings`.
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LostTree {
    /// The complete signed note with size and root of the lost tree.
    pub(crate) checkpoint: String,
    /// The root of the current tree, in hexadecimal digits.
    pub(crate) root: String,
    /// The number of current entries; 0 if the timeline does not exist.
    pub(crate) size: u64,
    pub(crate) timeline_id: String,
}

impl RollbackAccepted {
    /// Describes the entry at a position for readers of the ledger, with a sentence for each loss.
    pub(crate) fn sentences(&self, position: u64) -> Vec<String> {
        let by = self.accepted_by.as_deref().map_or_else(|| "an operator".to_owned(), |by| format!("`{by}`"));
        let why = self.reason.as_deref().map_or_else(String::new, |reason| format!(" ({reason})"));
        if self.lost.is_empty() {
            return vec![format!(
                "The state before entry {position} was not compared: {by} accepted a database that does not match what \
                 was signed{why}."
            )];
        }
        let sentence = |lost: &LostTree| {
            let LostTree { checkpoint, size, timeline_id, .. } = lost;
            let signed = checkpoint.lines().nth(1).unwrap_or("?");
            format!(
                "Entries lost before entry {position} were not compared: {by} accepted a rollback{why}: {signed} \
                 entries of `{timeline_id}` were signed, and it continued from {size}. An earlier checkpoint can prove \
                 the loss."
            )
        };
        self.lost.iter().map(sentence).collect()
    }
}

/// Payload of `accept_host_clock`: the reading of the host's clock when it was last known to be right, and its new one.
#[derive(Serialize, Deserialize)]
pub(crate) struct HostClockAccepted {
    pub(crate) last: String,
    pub(crate) now: String,
}

/// Payload of `rotate_signing_key`: two public keys of the ledger, in their text form.
#[derive(Serialize, Deserialize)]
pub(crate) struct SigningKeyRotated {
    pub(crate) retired_verifier_key: String,
    pub(crate) verifier_key: String,
}
