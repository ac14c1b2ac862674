//! A bundle that is read to be adopted: checked line by line, and made into what is kept of a timeline.

use timenav_core::ids::{DataId, TimelineId};
use timenav_core::ledger::VerifierKey;

use super::check::{BundleCheck, CheckedBundle};
use super::line::{Line, hex};
use crate::deciding::adoption::Ready;
use crate::doors::Doors;
use crate::rows::DataRecord;
use crate::scan::{Rebuilding, VerifySignature};

/// A bundle as it is being read.
pub(crate) struct ReadBundle<'a> {
    check: BundleCheck<'a>,
    rebuilding: Rebuilding<'a>,
    /// The position of the next entry.
    position: u64,
}

impl<'a> ReadBundle<'a> {
    /// Returns a bundle of a timeline of which nothing was read. The key is trusted, and notes of rotations come beside it.
    pub(crate) fn new(
        doors: &'a Doors,
        timeline: &TimelineId,
        key: VerifierKey,
        notes: Vec<String>,
        verify: &'a VerifySignature,
    ) -> Self {
        let check = BundleCheck::new(key, Vec::new(), verify).with_notes(notes);
        Self { check, rebuilding: Rebuilding::new(doors, timeline), position: 0 }
    }

    /// Takes the next line, with its line end.
    ///
    /// # Errors
    /// What is wrong with it, or why the timeline is not adopted.
    pub(crate) fn line(&mut self, bytes: &[u8]) -> Result<(), String> {
        match self.check.checked(bytes)? {
            Line::Bundle(header) if header.layers.len() > 1 => Err(format!(
                "`{}` is a fork, and goes on from `{}`: only a timeline that goes on from no other is adopted",
                header.timeline_id, header.layers[0].timeline_id
            )),
            Line::Entry(entry) => {
                self.position += 1;
                let salt = hex(&entry.salt)?;
                self.rebuilding.entry(entry.leaf.as_bytes(), &salt, entry.payload.as_bytes())
            }
            Line::Data(data) => {
                let data_id = DataId::new(&data.data_id).map_err(|error| error.to_string())?;
                let position = self.position.saturating_sub(1);
                let sealed = data.sealed()?;
                self.rebuilding.data(DataRecord { data_id, position, erased: data.erased_by, sealed })
            }
            Line::Erasure(_) => {
                Err("something of it was erased while it was exported, by an entry that is not in it: \
                                     export the timeline again"
                    .to_owned())
            }
            Line::Bundle(_) | Line::Layer(_) | Line::Rotation(_) | Line::Checkpoint(_) | Line::End(_) => Ok(()),
        }
    }

    /// Returns what the file holds, and what is kept of it. To be called at the end of the file.
    ///
    /// # Errors
    /// It is cut off, or contradicts itself.
    pub(crate) fn finish(self) -> Result<(CheckedBundle, Ready), String> {
        let checked = self.check.finish()?;
        Ok((checked, self.rebuilding.finish()?))
    }
}
