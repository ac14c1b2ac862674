//! A bundle that is read to be adopted: checked line by line, and made into what is kept of a timeline.

use timenav_core::ids::{DataId, TimelineId};
use timenav_core::ledger::{LeafRecord, TlogProof, VerifierKey};

use super::check::{BundleCheck, CheckedBundle};
use super::line::{ErasureLine, Line, hex};
use crate::deciding::adoption::{Arrived, Ready};
use crate::doors::Doors;
use crate::rows::DataRecord;
use crate::scan::{Rebuilding, VerifySignature};

/// A bundle as it is being read.
pub(crate) struct ReadBundle<'a> {
    doors: &'a Doors,
    check: BundleCheck<'a>,
    /// The timelines that are read, the oldest first; the last one is that which is read now.
    layers: Vec<Rebuilding<'a>>,
    /// The position of the next entry.
    position: u64,
}

impl<'a> ReadBundle<'a> {
    /// Returns a bundle of which nothing was read. The key is trusted, and notes of rotations come beside it.
    pub(crate) fn new(doors: &'a Doors, key: VerifierKey, notes: Vec<String>, verify: &'a VerifySignature) -> Self {
        let check = BundleCheck::new(key, Vec::new(), verify).with_notes(notes);
        Self { doors, check, layers: Vec::new(), position: 0 }
    }

    /// Takes the next line, with its line end.
    ///
    /// # Errors
    /// What is wrong with it, or why the timeline is not adopted.
    pub(crate) fn line(&mut self, bytes: &[u8]) -> Result<(), String> {
        let line = self.check.checked(bytes)?;
        match line {
            Line::Layer(layer) => {
                let timeline = TimelineId::new(&layer.timeline_id).map_err(|error| error.to_string())?;
                let inherited = self.layers.last_mut().map(Rebuilding::hand_on);
                self.layers.push(Rebuilding::new(self.doors, &timeline, inherited));
                self.position = 0;
            }
            Line::Entry(entry) => {
                self.position += 1;
                let salt = hex(&entry.salt)?;
                self.read_now()?.entry(entry.leaf.as_bytes(), &salt, entry.payload.as_bytes())?;
            }
            Line::Data(data) => {
                let data_id = DataId::new(&data.data_id).map_err(|error| error.to_string())?;
                let position = self.position.saturating_sub(1);
                let sealed = data.sealed()?;
                self.read_now()?.data(DataRecord { data_id, position, erased: data.erased_by, sealed })?;
            }
            Line::Erasure(erasure) => self.erased_later(&erasure)?,
            Line::Bundle(_) | Line::Rotation(_) | Line::Checkpoint(_) | Line::End(_) => {}
        }
        Ok(())
    }

    /// Returns the timeline whose entries are read.
    fn read_now(&mut self) -> Result<&mut Rebuilding<'a>, String> {
        self.layers.last_mut().ok_or_else(|| "an entry is in no layer".to_owned())
    }

    /// Takes a later entry that says why something is gone, which was checked.
    fn erased_later(&mut self, erasure: &ErasureLine<'_>) -> Result<(), String> {
        let proof = TlogProof::parse(erasure.proof.as_bytes()).map_err(|error| error.to_string())?;
        let record = LeafRecord::decode(&proof.extra).map_err(|error| error.to_string())?;
        let count = self.layers.len();
        let mut layers = self.layers.iter_mut().enumerate();
        let layer = layers.find(|(_, layer)| layer.is_of(&erasure.timeline_id));
        let (number, layer) = layer.ok_or_else(|| format!("an erasure is of `{}`", erasure.timeline_id))?;
        if number + 1 == count {
            layer.erased_after_export(&record, erasure.payload.as_bytes())
        } else {
            layer.erased_after_fork(&record, erasure.payload.as_bytes());
            Ok(())
        }
    }

    /// Returns what the file holds, and what is kept of it. To be called at the end of the file.
    ///
    /// # Errors
    /// It is cut off, or contradicts itself.
    pub(crate) fn finish(self) -> Result<(CheckedBundle, Arrived), String> {
        let checked = self.check.finish()?;
        let mut layers = Vec::with_capacity(self.layers.len());
        for layer in self.layers {
            // What a later erasure took away is not counted any more on what goes on from it.
            let is_known = layers.iter().all(|(_, ready): &(TimelineId, Ready)| ready.erased_later == 0);
            layers.push(layer.finish(is_known)?);
        }
        let (_, own) = layers.pop().ok_or("there is no layer in it")?;
        Ok((checked, Arrived { layers, own }))
    }
}
