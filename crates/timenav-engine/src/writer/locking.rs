use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use timenav_core::ids::TimelineId;

use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ports::store::Commit;
use crate::writer::deciding::Aim;
use crate::writer::heads::Heads;
use crate::writer::submission::Submission;

/// Returns the heads to lock for a group, and their known sizes.
pub(crate) fn to_lock(
    heads: &Heads,
    submissions: &[Submission],
    also: &BTreeSet<TimelineId>,
) -> BTreeMap<TimelineKey, u64> {
    let mut keys = BTreeMap::new();
    let mut lock = |state: &Arc<TimelineState>| _ = keys.insert(state.head.key, state.head.frontier.size());
    let system = TimelineId::system();
    let mut is_on_system = also.contains(&system);
    also.iter().filter_map(|timeline| heads.get(timeline)).for_each(&mut lock);
    for Submission { timeline, command, .. } in submissions {
        let spec = command.spec();
        if spec.catches_up.is_some() {
            // Every lock returns the state of `system` anyway.
            heads.get(timeline).filter(|_| !timeline.is_system()).into_iter().for_each(&mut lock);
            continue;
        }
        let Some(aimed) = heads.get(timeline) else {
            is_on_system = true;
            spec.relies_on.and_then(|other| heads.get(other)).into_iter().for_each(&mut lock);
            continue;
        };
        lock(aimed);
        is_on_system |= spec.aim == Aim::TimelineToEnd;
        let needs = command.needs();
        if needs.forks || needs.outcomes {
            heads.all().filter(|state| state.is_fork_of(aimed.head.key)).for_each(&mut lock);
        }
    }
    if is_on_system {
        heads.get(&system).into_iter().for_each(&mut lock);
    }
    keys
}

pub(crate) const fn is_nothing(commit: &Commit) -> bool {
    commit.timelines.is_empty() && commit.outcomes.is_empty() && commit.directory.is_empty()
}
