use timenav_core::ledger::{Checkpoint, LeafRecord, TlogProof, VerifierKey, leaf_hash, origin, verify_inclusion};

use super::BundleCheck;
use crate::ledger::payload::{LaterEntry, LayerErased, is_layer_erased};
use crate::timelines::bundles::line::BUNDLE_FORMAT_OF_LAYERS;
use crate::timelines::bundles::missing::ErasureSource;

impl BundleCheck<'_> {
    /// Verifies an `erasure` line: an entry proven with the key of the bundle.
    pub(super) fn erasure(&mut self, line: &LayerErased<'_>) -> Result<(), String> {
        if self.checkpoint.is_none() {
            return Err("an `erasure` line comes before the checkpoint".to_owned());
        }
        let name = self.keys.current.name();
        let service = name.rsplit_once('/').map_or(name, |(service, _)| service);
        let number = self.read.iter().position(|layer| layer.timeline_id.as_str() == line.timeline_id);
        let number =
            number.ok_or_else(|| format!("an erasure belongs to `{}`, which is not a layer", line.timeline_id))?;
        let proof = TlogProof::parse(line.proof.as_bytes()).map_err(|error| error.to_string())?;
        let at = |what: String| format!("the erasure at {} of `{}`: {what}", proof.index, line.timeline_id);
        // One key pair signs all ledgers of the service, with a different name for each.
        let key = VerifierKey::new(&origin(service, &line.timeline_id), *self.keys.current.public_key());
        let key = key.map_err(|error| at(error.to_string()))?;
        let signed = Checkpoint::open(proof.checkpoint.as_bytes(), &key, self.verify);
        let signed = signed.map_err(|error| at(error.to_string()))?;
        let leaf = leaf_hash(&proof.extra);
        verify_inclusion(proof.index, signed.size, &leaf, &proof.hashes, &signed.root)
            .map_err(|error| at(error.to_string()))?;
        let entry = line.entry().map_err(&at)?;
        let record = entry.record().map_err(&at)?;
        if record.seq < self.read[number].size {
            return Err(at("it is not a later entry of the layer".to_owned()));
        }
        let is_reported = if is_layer_erased(&record) {
            self.explain_earlier(number, &LaterEntry::decode_later(&entry.payload).map_err(&at)?).map_err(&at)?
        } else {
            let layer = &mut self.read[number];
            layer.missing_contents.explain(&record, &entry.payload, ErasureSource::After(layer.size)).map_err(&at)?
        };
        if is_reported { Ok(()) } else { Err(at("it lists nothing that is missing".to_owned())) }
    }

    /// Processes an entry that may explain an erasure in an earlier layer. The service that adopted the layers has
    /// verified it, and vouches for it as for its other entries.
    pub(super) fn explain_layer(&mut self, record: &LeafRecord<'_>, payload: &[u8]) -> Result<(), String> {
        if is_layer_erased(record)
            && let Ok(later_entry) = LaterEntry::decode_later(payload)
        {
            self.explain_earlier(self.read.len(), &later_entry)?;
        }
        Ok(())
    }

    fn explain_earlier(&mut self, number: usize, later_entry: &LaterEntry) -> Result<bool, String> {
        let is_known = self.header.as_ref().is_some_and(|header| header.format == BUNDLE_FORMAT_OF_LAYERS);
        let Some(record) = later_entry.record().ok().filter(|_| is_known) else { return Ok(false) };
        let mut earlier = self.read[..number].iter_mut();
        let layer = earlier.find(|layer| layer.timeline_id.as_str() == record.timeline_id && layer.size <= record.seq);
        let Some(layer) = layer else { return Ok(false) };
        layer.missing_contents.explain(&record, &later_entry.payload, ErasureSource::After(layer.size))
    }
}
