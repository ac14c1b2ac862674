//! The payload of `layer_erased`: an entry of another service about a timeline that was adopted here as a layer of a
//! fork.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use timenav_core::ledger::{LeafRecord, Salt, TlogProof, payload_hash};

use crate::ledger::action::Action;
use crate::requests::json::read;

/// A later entry of a layer that explains why content of the layer was erased. This is both an `erasure` line of a
/// bundle and the payload of `layer_erased` after that line was imported. Members are in ascending order of their
/// names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayerErased<'a> {
    pub(crate) payload: Cow<'a, str>,
    /// Proof that the entry is in a later tree of its ledger, signed by the service that wrote it.
    pub(crate) proof: Cow<'a, str>,
    /// The salt of the entry, in hexadecimal.
    pub(crate) salt: Cow<'a, str>,
    pub(crate) timeline_id: Cow<'a, str>,
}

/// An entry written after the entries of a layer that are available here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaterEntry {
    pub(crate) leaf: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

impl LayerErased<'_> {
    /// Returns the described entry, after checking its payload against the leaf. The signature is not checked.
    pub(crate) fn entry(&self) -> Result<LaterEntry, String> {
        let proof = TlogProof::parse(self.proof.as_bytes()).map_err(|error| error.to_string())?;
        let record = LeafRecord::decode(&proof.extra).map_err(|error| error.to_string())?;
        if record.seq != proof.index || *record.timeline_id != *self.timeline_id {
            return Err(format!("the entry does not match the one at {} of `{}`", proof.index, self.timeline_id));
        }
        let salt = data_encoding::HEXLOWER.decode(self.salt.as_bytes()).ok();
        let salt = salt.and_then(|salt| salt.try_into().ok()).map(Salt::from_bytes);
        let salt = salt.ok_or("a salt has 16 bytes, in lower-case hexadecimal digits")?;
        if payload_hash(&salt, self.payload.as_bytes()) != record.payload_hash {
            return Err("its payload does not match its hash".to_owned());
        }
        Ok(LaterEntry { leaf: proof.extra.clone(), payload: self.payload.as_bytes().to_vec() })
    }
}

impl LaterEntry {
    /// Returns the erasure recorded by the payload of a `layer_erased` entry, through any number of services.
    pub(crate) fn decode_later(payload: &[u8]) -> Result<Self, String> {
        let layer_erased = read::<LayerErased<'_>>(payload).ok_or("its payload does not belong to `layer_erased`")?;
        layer_erased.entry()?.innermost()
    }

    /// Returns the erasure that this entry records or is.
    pub(crate) fn innermost(mut self) -> Result<Self, String> {
        // Terminates, because each entry is smaller than the one that contains it.
        while LeafRecord::decode(&self.leaf).is_ok_and(|record| is_layer_erased(&record)) {
            let layer_erased = read::<LayerErased<'_>>(&self.payload).map(|layer_erased| layer_erased.entry());
            let inner = layer_erased.ok_or("its payload does not belong to `layer_erased`")??;
            self = inner;
        }
        Ok(self)
    }

    pub(crate) fn record(&self) -> Result<LeafRecord<'_>, String> {
        LeafRecord::decode(&self.leaf).map_err(|error| error.to_string())
    }
}

pub(crate) fn is_layer_erased(record: &LeafRecord<'_>) -> bool {
    Action::of(record) == Some(Action::LayerErased)
}
