//! A bundle that is read to be adopted: checked line by line, and made into what is kept of a timeline.
//!
//! It is read twice. The first time every line is checked, and kept in a file; rows are made to see that they can be, and
//! dropped. The second time, when nothing can be wrong with it any more, they are made again for the store, which takes
//! them in batches.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _};
use std::sync::Arc;

use timenav_core::ids::{DataId, TimelineId};
use timenav_core::ledger::{Hash, LeafRecord, RunningHash, VerifierKey};

use super::check::{BundleCheck, CheckedBundle};
use super::line::{BUNDLE_LINE_BYTES_MAX, EntryLine, Line, hex};
use crate::arriving_door::ArrivingRows;
use crate::deciding::adoption::{Amended, Arrived, Ready};
use crate::gazetteer::Gazetteer;
use crate::long_work::give_way_after;
use crate::payload::{LaterEntry, LayerErased, is_layer_erased};
use crate::rows::DataRecord;
use crate::scan::{Rebuilding, VerifySignature};
use crate::store_error::StoreError;

/// From how many bytes on rows are handed over to the store. One row more may have as many as a line.
/// Others write between two batches, and wait while one is written.
pub const ADOPT_BATCH_BYTES_MAX: usize = 512 * 1024;

/// Room for a leaf and what else is in a line beside the payload.
const LEAF_BYTES_MAX: usize = 64 * 1024;
/// Most that later entries may say of what is gone, in bytes: it is told again, with the timeline itself, at once.
pub const ADOPT_ERASURES_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A bundle as it is being read.
pub(crate) struct ReadBundle<'a> {
    check: BundleCheck<'a>,
    made: Making,
}

/// What was made of lines.
struct Making {
    gazetteer: Option<Arc<dyn Gazetteer>>,
    /// What is known of the timelines, where they are read again.
    amended: Vec<Amended>,
    /// The timelines that are read, the oldest first; the last one is that which is read now.
    layers: Vec<Rebuilding>,
    /// The position of the next entry.
    position: u64,
    /// What later entries say of layers, as it is told again.
    erasures: Vec<(TimelineId, String)>,
    /// How many bytes lines of later entries had.
    erasures_bytes: usize,
}

impl Making {
    const fn new(gazetteer: Option<Arc<dyn Gazetteer>>, amended: Vec<Amended>) -> Self {
        Self { gazetteer, amended, layers: Vec::new(), position: 0, erasures: Vec::new(), erasures_bytes: 0 }
    }

    fn line(&mut self, line: Line<'_>) -> Result<(), String> {
        match line {
            Line::Layer(layer) => {
                let timeline = TimelineId::new(&layer.timeline_id).map_err(|error| error.to_string())?;
                let inherited = self.layers.last_mut().map(Rebuilding::hand_on);
                let amended = self.amended.get(self.layers.len()).cloned().unwrap_or_default();
                let begun = Rebuilding::new(self.gazetteer.clone(), &timeline, inherited);
                self.layers.push(begun.amended(amended));
                self.position = 0;
            }
            Line::Entry(entry) => {
                self.position += 1;
                let salt = hex(&entry.salt)?;
                self.read_now()?.entry(entry.leaf.as_bytes(), &salt, entry.payload.as_bytes())?;
                self.told_of_layer(&entry)?;
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
    fn read_now(&mut self) -> Result<&mut Rebuilding, String> {
        self.layers.last_mut().ok_or_else(|| "an entry is in no layer".to_owned())
    }

    /// Returns rows that were made, and the number of their timeline, if they have so many bytes.
    fn take_rows(&mut self, bytes_min: usize) -> Option<(usize, ArrivingRows)> {
        let number = self.layers.len().checked_sub(1)?;
        let layer = self.layers.last_mut().filter(|layer| layer.rows_bytes() >= bytes_min)?;
        Some((number, layer.take_rows()))
    }

    /// Takes a later entry that says why something is gone, which was checked.
    fn erased_later(&mut self, erasure: &LayerErased<'_>) -> Result<(), String> {
        let text = erasure.to_text();
        self.erasures_bytes += text.len();
        if self.erasures_bytes > ADOPT_ERASURES_BYTES_MAX {
            return Err(format!("its lines `erasure` have more than {ADOPT_ERASURES_BYTES_MAX} bytes"));
        }
        let entry = erasure.entry()?;
        let record = entry.record()?;
        let is_own = self.layers.last().is_some_and(|layer| layer.is_of(&erasure.timeline_id));
        if is_own && !is_layer_erased(&record) {
            return self.read_now()?.erased_after_export(&record, &entry.payload);
        }
        let told = entry.innermost()?;
        let layer = self.layer_of(&told.record()?)?;
        layer.erased_after_fork(&told.record()?, &told.payload);
        layer.is_told_again();
        check_exportable(&text)?;
        let of = TimelineId::new(&told.record()?.timeline_id).map_err(|error| error.to_string())?;
        self.erasures.push((of, text));
        Ok(())
    }

    /// Takes what an entry may say of an earlier layer: it came with an earlier adoption, and stays where it is.
    fn told_of_layer(&mut self, entry: &EntryLine<'_>) -> Result<(), String> {
        let record = LeafRecord::decode(entry.leaf.as_bytes()).map_err(|error| error.to_string())?;
        if entry.payload.is_empty() || !is_layer_erased(&record) {
            return Ok(());
        }
        let told = LaterEntry::told_in(entry.payload.as_bytes())?;
        let record = told.record()?;
        self.layer_of(&record)?.erased_after_fork(&record, &told.payload);
        Ok(())
    }

    /// Returns the layer that an entry is of.
    fn layer_of(&mut self, record: &LeafRecord<'_>) -> Result<&mut Rebuilding, String> {
        let mut earlier = self.layers.iter_mut().rev().skip(1);
        let layer = earlier.find(|layer| layer.is_of(&record.timeline_id));
        layer.ok_or_else(|| format!("an erasure belongs to `{}`, which is not a layer", record.timeline_id))
    }
}

/// What is told again has a line in the bundles of this service.
fn check_exportable(payload: &str) -> Result<(), String> {
    let line = Line::Entry(EntryLine { leaf: "".into(), payload: payload.into(), salt: "".into() }).to_text();
    if line.len() + LEAF_BYTES_MAX <= BUNDLE_LINE_BYTES_MAX {
        return Ok(());
    }
    Err(format!("a line `erasure` has {} bytes, which is too many to be told again", payload.len()))
}

impl<'a> ReadBundle<'a> {
    /// Returns a bundle of which nothing was read. The key is trusted, and notes of rotations come beside it.
    pub(crate) fn new(
        gazetteer: Option<Arc<dyn Gazetteer>>,
        key: VerifierKey,
        notes: Vec<String>,
        verify: &'a VerifySignature,
    ) -> Self {
        let check = BundleCheck::new(key, Vec::new(), verify).with_notes(notes);
        Self { check, made: Making::new(gazetteer, Vec::new()) }
    }

    /// Takes the next line, with its line end.
    ///
    /// # Errors
    /// What is wrong with it, or why the timeline is not adopted.
    pub(crate) fn line(&mut self, bytes: &[u8]) -> Result<(), String> {
        let line = self.check.checked(bytes)?;
        self.made.line(line)?;
        // They are made again once all of it is known to be good.
        drop(self.made.take_rows(0));
        Ok(())
    }

    /// Returns what the file holds, what is kept of it, its rows, and the ids of its own sealed records. To be called at the
    /// end of the file, which was kept in `file`.
    ///
    /// # Errors
    /// It is cut off, or contradicts itself.
    pub(crate) fn finish(self, file: File) -> Result<(CheckedBundle, Arrived, Spooled, HashSet<DataId>), String> {
        let Self { check, made: Making { gazetteer, layers: mut made, erasures, .. } } = self;
        let checked = check.finish()?;
        let data_ids = made.last_mut().map(Rebuilding::take_data_ids).unwrap_or_default();
        let mut layers = Vec::with_capacity(made.len());
        for layer in made {
            // What a later erasure took away is not counted any more on what goes on from it.
            let is_known = layers.iter().all(|(_, ready): &(TimelineId, Ready)| ready.is_known);
            layers.push(layer.finish(is_known)?);
        }
        let amended = layers.iter_mut().map(|(_, ready)| std::mem::take(&mut ready.amended)).collect();
        let (_, own) = layers.pop().ok_or("there is no layer in it")?;
        let rows = Spooled { file, gazetteer, amended, sha256: checked.sha256 };
        Ok((checked, Arrived { layers, own, erasures }, rows, data_ids))
    }
}

/// A bundle that was checked, in a file.
pub(crate) struct Spooled {
    file: File,
    gazetteer: Option<Arc<dyn Gazetteer>>,
    /// What the end of each timeline says of its rows.
    amended: Vec<Amended>,
    /// Of the whole file.
    sha256: Hash,
}

impl Spooled {
    /// Hands over all rows, a batch at a time: those of one timeline after those of the one before, in the order of their
    /// entries. `take` is given the number of the timeline, counted from 0. Waits where `take` does.
    ///
    /// # Errors
    /// They cannot be read again, or are not what was checked; or `take` fails.
    pub(crate) fn hand_over(
        &mut self,
        mut take: impl FnMut(usize, ArrivingRows) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.file.rewind().map_err(|error| unread(&error))?;
        let mut lines = BufReader::new(&mut self.file);
        let (mut hash, mut bytes) = (RunningHash::default(), Vec::new());
        let mut made = Making::new(self.gazetteer.clone(), self.amended.clone());
        let mut hand_over = |made: &mut Making, bytes_min: usize| {
            let Some((number, mut rows)) = made.take_rows(bytes_min) else { return Ok(()) };
            if number + 1 < self.amended.len() {
                // Nothing of a layer is swept here.
                rows.sweeps.clear();
            }
            take(number, rows)
        };
        for number in 1.. {
            give_way_after(number);
            bytes.clear();
            if lines.read_until(b'\n', &mut bytes).map_err(|error| unread(&error))? == 0 {
                break;
            }
            hash.update(&bytes);
            let line = Line::read_again(&bytes).map_err(|_| another())?;
            match line {
                Line::Layer(_) => hand_over(&mut made, 0)?,
                Line::Entry(_) | Line::Data(_) => {}
                // What these say is known.
                Line::Bundle(_) | Line::Rotation(_) | Line::Checkpoint(_) | Line::Erasure(_) | Line::End(_) => continue,
            }
            made.line(line).map_err(|_| another())?;
            hand_over(&mut made, ADOPT_BATCH_BYTES_MAX)?;
        }
        hand_over(&mut made, 0)?;
        if hash.hash() == self.sha256 { Ok(()) } else { Err(another()) }
    }
}

fn unread(error: &io::Error) -> StoreError {
    StoreError::Unavailable(format!("the bundle that was checked cannot be read again: {error}"))
}

/// Somebody writes to files that are nobody else's.
fn another() -> StoreError {
    StoreError::Unavailable("the bundle changed after it was checked".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_much_is_recorded_again_and_no_more() {
        let line = |bytes: usize| LayerErased {
            payload: "x".repeat(bytes).into(),
            proof: "".into(),
            salt: "".into(),
            timeline_id: "p".into(),
        };
        let beside = line(0).to_text().len();
        let refused = |bytes: usize| Making::new(None, Vec::new()).erased_later(&line(bytes)).unwrap_err();
        let largest = refused(ADOPT_ERASURES_BYTES_MAX - beside);
        assert!(!largest.contains("have more than"), "the limit itself passes: {largest}");
        assert!(refused(ADOPT_ERASURES_BYTES_MAX - beside + 1).contains("have more than"));
        // Of all lines together.
        let mut making = Making::new(None, Vec::new());
        let half = line(ADOPT_ERASURES_BYTES_MAX / 2);
        assert!(!making.erased_later(&half).unwrap_err().contains("have more than"));
        assert!(making.erased_later(&half).unwrap_err().contains("have more than"));
    }

    #[test]
    fn what_is_recorded_again_has_a_line_in_a_bundle() {
        // Each quote becomes two characters.
        let quotes = "\"".repeat(BUNDLE_LINE_BYTES_MAX / 2 - LEAF_BYTES_MAX);
        check_exportable(&quotes).unwrap();
        let refused = check_exportable(&"\"".repeat(BUNDLE_LINE_BYTES_MAX / 2)).unwrap_err();
        assert!(refused.contains("too many to be told again"), "{refused}");
    }
}
