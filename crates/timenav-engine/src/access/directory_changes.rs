//! Changes of the directory's rows according to entries of `system`. Used both by a replay and for loading new entries.

use timenav_core::directory::{Directory, DirectoryChange, PasswordRow, PasswordSummary};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Adopted, AdoptedLayer, Hash, LeafRecord, TimelineEnded};
use timenav_core::time::{Instant, Wall};

use crate::ledger::action::Action;
use crate::ledger::payload::happened_in;

#[derive(Clone, Debug)]
pub(crate) struct TimelineEndRecord {
    pub(crate) timeline_id: TimelineId,
    pub(crate) size: u64,
    pub(crate) root: Hash,
}

pub(crate) type Change = DirectoryChange<PasswordSummary, TimelineEndRecord>;

/// `None` if it cannot be parsed.
pub(crate) fn recorded_changes<P: PasswordRow>(
    directory: &Directory<P>,
    action: Action,
    record: &LeafRecord<'_>,
    recorded_at: Instant<Wall>,
    payload: Option<&[u8]>,
) -> Option<Vec<Change>> {
    Some(match action {
        Action::EndTimeline => {
            let TimelineEnded { timeline_id, size, root, .. } = TimelineEnded::decode(payload?).ok()?;
            vec![Change::EndTimeline(TimelineEndRecord { timeline_id, size, root })]
        }
        Action::Adopt => adopted_changes(&TimelineId::new(&record.subject).ok()?, payload?)?,
        action => {
            let happened = happened_in(directory, action, recorded_at, payload).ok()?;
            happened.map_or_else(Vec::new, |happened| directory.changes(&happened))
        }
    })
}

/// Returns the rows of the layers adopted with a fork, which count as ended from the start.
fn adopted_changes(fork: &TimelineId, adopted: &[u8]) -> Option<Vec<Change>> {
    let ended = |AdoptedLayer { root, size, timeline_id, .. }| {
        Change::EndTimeline(TimelineEndRecord { timeline_id: TimelineId::layer_of(fork, &timeline_id), size, root })
    };
    Some(Adopted::decode(adopted).ok()?.layers.into_iter().map(ended).collect())
}
