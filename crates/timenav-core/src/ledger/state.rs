//! What of a timeline lets somebody in, moves something or lets something go, in one hash.
//!
//! A head statement signs it. So at a start the rows are hashed and compared, which costs as much as there
//! are rows; and no seal stands on a single row, because an old row put back would still fit its seal.

use super::canonical::Writer;
use super::{Hash, RetentionPolicies, sha256};
use crate::access::{Ends, Permissions};
use crate::clock::Clock;
use crate::ids::{TimelineId, UserId};

#[cfg(test)]
mod tests;

/// Before the bytes that are hashed, so that no other hash is this one.
const CONTEXT: &[u8] = b"timenav-state/v1\n";

/// A timeline as it is after some entry, as far as access, movement and retention are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineFacts<'a> {
    /// Its clock.
    pub clock: &'a Clock,
    /// How many there are of what is counted against limits.
    pub counts: TimelineCounts,
    /// For `system`, what [`DirectoryTree::root`](super::DirectoryTree::root) returned; `None` for every other.
    pub directory_root: Option<Hash>,
    /// Where it was forked from, if it was.
    pub fork: Option<ForkedFrom<'a>>,
    /// What of its ledger is not of this service, and what of it may be let go.
    pub held: Held<'a>,
    /// Who may do what.
    pub permissions: &'a Permissions,
    /// What is known of its timers without looking at any, as it is kept; empty if there were never any.
    pub timers: &'a str,
}

/// How many there are on a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimelineCounts {
    /// Anchors that are set.
    pub anchors: u64,
    /// Records that were sealed, erased ones too.
    pub data: u64,
    /// Events that stand.
    pub events: u64,
    /// Inherited events that were changed on it.
    pub overrides: u64,
}

/// Where a timeline was forked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkedFrom<'a> {
    /// The other timeline.
    pub timeline_id: &'a TimelineId,
    /// How many of its entries the fork goes on from.
    pub size: u64,
    /// The root over these entries.
    pub root: Hash,
}

/// What of a ledger is not of this service, and what of it may be let go. Of a timeline that was neither adopted nor handed
/// over, and has no policy, nothing is written: its bytes are those that they always were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held<'a> {
    /// Whether it was handed over to another service.
    pub is_handed_over: bool,
    /// Whose entries it begins with, where it was adopted: the position of each entry `adopt`, and the origin there, in
    /// rising order.
    pub origins: &'a [(u64, &'a str)],
    /// How long reads and refusals are kept.
    pub retention: &'a RetentionPolicies,
}

/// No policy.
static KEPT_FOREVER: RetentionPolicies = RetentionPolicies::EMPTY;

impl Held<'_> {
    /// Of a timeline that was neither adopted nor handed over, and that keeps everything forever.
    pub const NOTHING: Self = Held { is_handed_over: false, origins: &[], retention: &KEPT_FOREVER };

    /// Returns whether there is nothing to write.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Held::NOTHING
    }
}

impl TimelineFacts<'_> {
    /// Returns the bytes that are hashed, without what stands before them: RFC 8785 JSON with sorted keys.
    /// `lease` is always `null`; it is reserved for who may move the timeline by itself.
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

    /// Returns SHA-256(`timenav-state/v1` ‖ 0x0A ‖ [`encode`](Self::encode)): the `state_hash` of a head
    /// statement.
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

/// Writes when permissions expire, where any does: what nobody ever gave an end has the bytes that it always had.
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
