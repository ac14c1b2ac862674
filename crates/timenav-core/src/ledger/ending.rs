//! Entries about the end of a timeline, and its handover to another service.

use std::borrow::Cow;

use super::Hash;
use super::canonical::{Malformed, Scanner, Writer};
use super::checkpoint::Checkpoint;
use crate::ids::TimelineId;

#[cfg(test)]
mod tests;

/// The action of the `system` entry that records the end of a timeline.
pub const END_TIMELINE_ACTION: &str = "end_timeline";

/// The action of the last entry of a timeline that was handed over.
pub const HANDED_OVER_ACTION: &str = "handed_over";

/// The end of a timeline. Its name is never reused, so stored checkpoints can be compared with this entry forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEnded<'a> {
    /// The last checkpoint: a signed note over `size` and `root`.
    pub checkpoint: Cow<'a, str>,
    /// The user who ended it, or the service itself if the timeline expired.
    pub ended_by: Cow<'a, str>,
    pub root: Hash,
    pub size: u64,
    pub timeline_id: TimelineId,
}

impl<'a> TimelineEnded<'a> {
    /// Returns the payload of the entry: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"checkpoint\":").text(&self.checkpoint).raw(",\"ended_by\":").text(&self.ended_by);
        writer.raw(",\"root\":").hash(&self.root).raw(",\"size\":").integer(self.size);
        writer.raw(",\"timeline_id\":").text(self.timeline_id.as_str()).raw("}");
        writer.into_bytes()
    }

    /// Parses the output of [`TimelineEnded::encode`], and nothing else.
    ///
    /// # Errors
    /// The encoding differs, or the timeline id is not valid.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("{\"checkpoint\":\"")?;
        let checkpoint = scanner.text()?;
        scanner.expect(",\"ended_by\":\"")?;
        let ended_by = scanner.text()?;
        let (root, size) = scan_tree(&mut scanner)?;
        scanner.expect(",\"timeline_id\":\"")?;
        let wrong = scanner.malformed("the id of a timeline");
        let timeline_id = TimelineId::new(&scanner.text()?).map_err(|_| wrong)?;
        scanner.expect("}")?;
        scanner.end()?;
        Ok(Self { checkpoint, ended_by, root, size, timeline_id })
    }

    /// Returns whether a checkpoint of the timeline with a verified signature matches the ended ledger. `None` if it is
    /// smaller and therefore needs a consistency proof.
    #[must_use]
    pub fn fits(&self, checkpoint: &Checkpoint) -> Option<bool> {
        match checkpoint.size.cmp(&self.size) {
            std::cmp::Ordering::Less => None,
            std::cmp::Ordering::Equal => Some(checkpoint.root == self.root),
            std::cmp::Ordering::Greater => Some(false),
        }
    }
}

/// The handover of a timeline. It accepts no more entries here, and continues at the service that adopts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOver<'a> {
    pub requested_by: Cow<'a, str>,
    /// The root over the entries before this one.
    pub root: Hash,
    /// The number of entries before this one, which is its own position.
    pub size: u64,
}

impl<'a> HandedOver<'a> {
    /// Returns the payload of the entry: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"asked_by\":").text(&self.requested_by);
        writer.raw(",\"root\":").hash(&self.root).raw(",\"size\":").integer(self.size).raw("}");
        writer.into_bytes()
    }

    /// Parses the output of [`HandedOver::encode`], and nothing else.
    ///
    /// # Errors
    /// The encoding differs.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("{\"asked_by\":\"")?;
        let requested_by = scanner.text()?;
        let (root, size) = scan_tree(&mut scanner)?;
        scanner.expect("}")?;
        scanner.end()?;
        Ok(Self { requested_by, root, size })
    }
}

fn scan_tree(scanner: &mut Scanner<'_>) -> Result<(Hash, u64), Malformed> {
    scanner.expect(",\"root\":\"")?;
    let root = scanner.hash()?;
    scanner.expect(",\"size\":")?;
    Ok((root, scanner.integer()?))
}
