//! The entry of an adopted timeline, as written by versions up to 0.1.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Hash;
use super::canonical::{Malformed, Scanner, Writer};
use crate::ids::{TimelineId, UserId};
use crate::limits::{FORK_DEPTH_MAX, PERMISSION_USERS_MAX};

#[cfg(test)]
mod tests;

pub const ADOPT_ACTION: &str = "adopt";

/// The adoption of another service's timeline. The entries before this one are signed by that service, and those from
/// this one on by this service.
///
/// Authority is replayed from this entry on. Users in earlier entries are those of the origin, even if a local user has
/// the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopted<'a> {
    pub bundle_sha256: Hash,
    /// The other service's checkpoint: a signed note over `size` and `root`.
    pub checkpoint: Cow<'a, str>,
    /// The parent timelines if it is a fork, oldest first. Not encoded if empty.
    pub layers: Vec<AdoptedLayer>,
    /// Local users by the names of origin users. Empty unless the adopter specified it.
    pub map: BTreeMap<UserId, UserId>,
    pub origin: Cow<'a, str>,
    /// The root over the entries before this one.
    pub root: Hash,
    /// The number of entries before this one, which is its own position.
    pub size: u64,
}

/// A parent timeline of an adopted fork, imported with it. It is read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdoptedLayer {
    /// How many of its payloads were erased by entries after those that the fork inherits.
    pub erased_later: u64,
    pub root: Hash,
    pub size: u64,
    /// The timeline's name at the other service.
    pub timeline_id: TimelineId,
}

impl<'a> Adopted<'a> {
    /// Returns the payload of the entry: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"bundle_sha256\":").hash(&self.bundle_sha256);
        writer.raw(",\"checkpoint\":").text(&self.checkpoint);
        for (number, layer) in self.layers.iter().enumerate() {
            writer.raw(if number > 0 { "," } else { ",\"layers\":[" }).raw("{\"erased_later\":");
            writer.integer(layer.erased_later).raw(",\"root\":").hash(&layer.root);
            writer.raw(",\"size\":").integer(layer.size);
            writer.raw(",\"timeline_id\":").text(layer.timeline_id.as_str()).raw("}");
        }
        writer.raw(if self.layers.is_empty() { "" } else { "]" }).raw(",\"map\":{");
        for (number, (theirs, ours)) in self.map.iter().enumerate() {
            writer.raw(if number > 0 { "," } else { "" }).text(theirs.as_str()).raw(":").text(ours.as_str());
        }
        writer.raw("},\"origin\":").text(&self.origin);
        writer.raw(",\"root\":").hash(&self.root).raw(",\"size\":").integer(self.size).raw("}");
        writer.into_bytes()
    }

    /// Parses the output of [`Adopted::encode`], and nothing else.
    ///
    /// # Errors
    /// The encoding differs, there are too many users, or a name is not valid.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("{\"bundle_sha256\":\"")?;
        let bundle_sha256 = scanner.hash()?;
        scanner.expect(",\"checkpoint\":\"")?;
        let checkpoint = scanner.text()?;
        let layers = if scanner.skip(",\"layers\":[") { scan_layers(&mut scanner)? } else { Vec::new() };
        scanner.expect(",\"map\":{")?;
        let map = scan_map(&mut scanner)?;
        scanner.expect(",\"origin\":\"")?;
        let origin = scanner.text()?;
        scanner.expect(",\"root\":\"")?;
        let root = scanner.hash()?;
        scanner.expect(",\"size\":")?;
        let size = scanner.integer()?;
        scanner.expect("}")?;
        scanner.end()?;
        Ok(Self { bundle_sha256, checkpoint, layers, map, origin, root, size })
    }
}

/// Parses the layers up to the closing bracket: from 1 to [`FORK_DEPTH_MAX`].
fn scan_layers(scanner: &mut Scanner<'_>) -> Result<Vec<AdoptedLayer>, Malformed> {
    let mut layers = Vec::new();
    loop {
        let wrong = scanner.malformed("a layer, within the limit");
        scanner.expect("{\"erased_later\":")?;
        let erased_later = scanner.integer()?;
        scanner.expect(",\"root\":\"")?;
        let root = scanner.hash()?;
        scanner.expect(",\"size\":")?;
        let size = scanner.integer()?;
        scanner.expect(",\"timeline_id\":\"")?;
        let timeline_id = TimelineId::new(&scanner.text()?).map_err(|_| wrong)?;
        scanner.expect("}")?;
        if layers.len() == FORK_DEPTH_MAX {
            return Err(wrong);
        }
        layers.push(AdoptedLayer { erased_later, root, size, timeline_id });
        if !scanner.skip(",") {
            return scanner.expect("]").map(|()| layers);
        }
    }
}

/// Parses the users up to the closing brace. Origin names are in ascending order, so there are no duplicates.
fn scan_map(scanner: &mut Scanner<'_>) -> Result<BTreeMap<UserId, UserId>, Malformed> {
    let mut map = BTreeMap::new();
    if scanner.skip("}") {
        return Ok(map);
    }
    loop {
        let wrong = scanner.malformed("a user, in ascending order and within the limit");
        scanner.expect("\"")?;
        let theirs = UserId::new(&scanner.text()?).map_err(|_| wrong)?;
        scanner.expect(":\"")?;
        let ours = UserId::new(&scanner.text()?).map_err(|_| wrong)?;
        let is_after = map.last_key_value().is_none_or(|(last, _)| *last < theirs);
        if !is_after || map.len() == PERMISSION_USERS_MAX {
            return Err(wrong);
        }
        map.insert(theirs, ours);
        if !scanner.skip(",") {
            return scanner.expect("}").map(|()| map);
        }
    }
}
