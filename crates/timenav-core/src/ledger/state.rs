//! A hash over the part of a timeline's state that affects access, movement and retention.
//!
//! A head statement signs it. At startup all rows are therefore hashed and compared, which takes time proportional to
//! their number. Rows have no individual signatures, because an old row could be restored together with its signature.

use super::canonical::Writer;
use super::{Hash, RetentionPolicies, sha256};
use crate::access::{Ends, Permissions};
use crate::clock::Clock;
use crate::ids::{TimelineId, UserId};

#[cfg(test)]
mod tests;

/// Prefix of the hashed bytes, for domain separation.
const CONTEXT: &[u8] = b"timenav-state/v1\n";

/// The state of a timeline after some entry, as far as access, movement and retention are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineFacts<'a> {
    pub clock: &'a Clock,
    pub counts: TimelineCounts,
    /// For `system`, the result of [`DirectoryTree::root`](super::DirectoryTree::root); `None` for other timelines.
    pub directory_root: Option<Hash>,
    pub fork: Option<ForkedFrom<'a>>,
    pub held: Held<'a>,
    pub permissions: &'a Permissions,
    /// The stored summary of its timers; empty if there have never been any.
    pub timers: &'a str,
}

/// The quantities of a timeline that are subject to limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimelineCounts {
    pub anchors: u64,
    /// Sealed records, including erased ones.
    pub data: u64,
    /// Events that are not canceled.
    pub events: u64,
    /// Inherited events that were changed on the fork.
    pub overrides: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkedFrom<'a> {
    pub timeline_id: &'a TimelineId,
    /// The number of the parent's entries that the fork inherits.
    pub size: u64,
    /// The root over these entries.
    pub root: Hash,
}

/// Handover, adoption and retention. A timeline without any encodes nothing, so that existing hashes remain valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held<'a> {
    pub is_handed_over: bool,
    /// The adoptions: the position of each `adopt` entry and the origin, in ascending order.
    pub origins: &'a [(u64, &'a str)],
    pub retention: &'a RetentionPolicies,
}

static RETAINED_FOREVER: RetentionPolicies = RetentionPolicies::EMPTY;

impl Held<'_> {
    /// Neither adopted nor handed over, and everything is kept forever.
    pub const NOTHING: Self = Held { is_handed_over: false, origins: &[], retention: &RETAINED_FOREVER };

    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Held::NOTHING
    }
}

impl TimelineFacts<'_> {
    /// Returns the bytes that are hashed, without the prefix: RFC 8785 JSON with sorted keys. `lease` is always `null`;
    /// it is reserved for an exclusive right to move the timeline.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"clock\":");
        write_clock(&mut writer, self.clock);
        let TimelineCounts { anchors, data, events, overrides } = self.counts;
        writer.raw(",\"counts\":{\"anchors\":").integer(anchors).raw(",\"data\":").integer(data);
        writer.raw(",\"events\":").integer(events).raw(",\"overrides\":").integer(overrides);
        writer.raw("},\"directory_root\":");
        match &self.directory_root {
            Some(root) => writer.hash(root),
            None => writer.raw("null"),
        };
        writer.raw(",\"fork\":");
        match &self.fork {
            Some(ForkedFrom { timeline_id, size, root }) => {
                writer.raw("{\"fork_of\":").text(timeline_id.as_str()).raw(",\"root\":").hash(root);
                writer.raw(",\"size\":").integer(*size).raw("}")
            }
            None => writer.raw("null"),
        };
        let Held { is_handed_over, origins, retention } = self.held;
        if is_handed_over {
            writer.raw(",\"handed_over\":true");
        }
        writer.raw(",\"lease\":null");
        if !origins.is_empty() {
            writer.raw(",\"origins\":").array(origins, |writer, (end, origin)| {
                writer.raw("[").integer(*end).raw(",").text(origin).raw("]");
            });
        }
        writer.raw(",\"permissions\":{\"admin\":");
        write_users(&mut writer, &self.permissions.admin);
        write_ends(&mut writer, &self.permissions.ends);
        writer.raw(",\"read\":");
        write_users(&mut writer, &self.permissions.read).raw(",\"write\":");
        write_users(&mut writer, &self.permissions.write).raw("}");
        if !retention.as_slice().is_empty() {
            writer.raw(",\"retention\":");
            retention.write(&mut writer);
        }
        if !self.timers.is_empty() {
            writer.raw(",\"timers\":").text(self.timers);
        }
        writer.raw("}");
        writer.into_bytes()
    }

    /// Returns SHA-256(`timenav-state/v1` ‖ 0x0A ‖ [`encode`](Self::encode)): the `state_hash` of a head statement.
    #[must_use]
    pub fn hash(&self) -> Hash {
        sha256(&[CONTEXT, &self.encode()])
    }
}

fn write_clock(writer: &mut Writer, clock: &Clock) {
    let (origin_host, origin_virtual) = clock.origin();
    writer.raw("{\"generation\":").integer(clock.generation);
    writer.raw(",\"location\":").text_or_null(clock.location.as_deref());
    writer.raw(",\"origin_host\":").instant(origin_host).raw(",\"origin_virtual\":").instant(origin_virtual);
    writer.raw(",\"rate_micros\":").integer(clock.rate().micros());
    writer.raw(",\"running\":").boolean(clock.is_running()).raw("}");
}

fn write_users<'w>(writer: &'w mut Writer, users: &std::collections::BTreeSet<UserId>) -> &'w mut Writer {
    writer.array(users, |writer, user| _ = writer.text(user.as_str()))
}

/// Writes the expiry times of grants, if any. Permissions without them keep their original encoding.
fn write_ends(writer: &mut Writer, ends: &Ends) {
    if ends.is_empty() {
        return;
    }
    let mut before = ",\"expires_at\":{";
    for (name, ends) in [("admin", &ends.admin), ("read", &ends.read), ("write", &ends.write)] {
        if ends.is_empty() {
            continue;
        }
        writer.raw(before).text(name).raw(":{");
        for (number, (user, end)) in ends.iter().enumerate() {
            writer.raw(if number == 0 { "" } else { "," }).text(user.as_str()).raw(":").instant(*end);
        }
        writer.raw("}");
        before = ",";
    }
    writer.raw("}");
}
