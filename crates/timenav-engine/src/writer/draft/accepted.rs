use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use timenav_core::directory::Directory;
use timenav_core::ids::{DataId, EventId, TimelineId, UserId};
use timenav_core::ledger::{Read, ReadsDraft, Salt};
use timenav_core::timers::DueFiring;

use super::{Drafted, Known, Step};
use crate::access::directory::DirectoryChange;
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ports::all::Ports;
use crate::ports::rows::{IdempotencyRecord, KnownEvent};
use crate::ports::timer_rows::FiringRow;
use crate::ports::wall_clock::Host;
use crate::requests::options::Options;
use crate::writer::heads::Heads;

pub(crate) struct GatheredReads {
    pub(crate) host: Host,
    pub(crate) salt: Salt,
    pub(crate) reads: ReadsDraft,
}

pub(crate) struct DraftedRead {
    pub(crate) timeline: TimelineId,
    pub(crate) host: Host,
    pub(crate) read: Read<'static>,
}

/// Changes by the accepted drafts of a group, on top of the committed state.
pub(crate) struct Accepted {
    pub(crate) steps: BTreeMap<TimelineId, Step>,
    pub(crate) directory: Arc<Directory>,
    pub(crate) directory_changes: Vec<DirectoryChange>,
    /// Whether the key of the request fingerprints was removed.
    pub(crate) forget_fingerprints: bool,
    /// Reads for the next entry of their ledger. It is written before any other.
    pub(crate) reads: BTreeMap<TimelineId, GatheredReads>,
    pub(super) events: HashMap<(TimelineKey, EventId), KnownEvent>,
    settled: HashSet<(TimelineKey, DueFiring)>,
    pub(super) data_erased: HashSet<DataId>,
    pub(super) reads_left: HashMap<(TimelineKey, u64), Vec<u8>>,
    pub(crate) outcomes_of: HashMap<(TimelineId, EventId), Vec<[u8; 32]>>,
    /// Outcomes to erase. Those of earlier groups are here as they were stored.
    pub(crate) outcomes_erased: HashMap<[u8; 32], Option<IdempotencyRecord>>,
    pub(super) ended: HashSet<TimelineId>,
    pub(super) last_key: i64,
    pub(super) made_by: HashMap<UserId, usize>,
    pub(super) made: usize,
}

impl Accepted {
    pub(crate) fn nothing(heads: &Heads) -> Self {
        Self {
            steps: BTreeMap::new(),
            directory: Arc::clone(&heads.directory),
            directory_changes: Vec::new(),
            forget_fingerprints: false,
            reads: BTreeMap::new(),
            events: HashMap::new(),
            settled: HashSet::new(),
            data_erased: HashSet::new(),
            reads_left: HashMap::new(),
            outcomes_of: HashMap::new(),
            outcomes_erased: HashMap::new(),
            ended: HashSet::new(),
            last_key: heads.last_key,
            made_by: HashMap::new(),
            made: 0,
        }
    }

    pub(crate) fn has_settled(&self, timeline: TimelineKey, found: &[FiringRow]) -> bool {
        !self.settled.is_empty() && found.iter().any(|firing| self.settled.contains(&(timeline, firing.due_firing)))
    }

    pub(crate) fn accept(&mut self, draft: Drafted) {
        // A ledger that was opened without an entry is not a step.
        for step in draft.steps.into_iter().filter(|step| !step.entries.is_empty()) {
            let (id, key) = (&step.state.head.id, step.state.head.key);
            self.settled.extend(step.timers.settled.iter().map(|end| (key, end.due_firing)));
            if let Some(before) = self.steps.get_mut(id) {
                before.extend(step);
                continue;
            }
            if step.expected_size.is_none() {
                self.last_key = self.last_key.max(step.state.head.key.0);
                let counted = step.state.counted();
                *self.made_by.entry(step.state.head.created_by.clone()).or_default() += counted;
                self.made += counted;
            }
            self.steps.insert(id.clone(), step);
        }
        if !draft.directory_changes.is_empty() {
            let directory = Arc::make_mut(&mut self.directory);
            draft.directory_changes.iter().for_each(|change| directory.apply(change));
            draft.keys_expired.iter().for_each(|key_id| directory.forget_key(key_id));
        }
        let ended = draft.directory_changes.iter().filter_map(DirectoryChange::ended);
        self.ended.extend(ended.map(|ended| ended.id.clone()));
        self.directory_changes.extend(draft.directory_changes);
        self.events.extend(draft.events);
        self.data_erased.extend(draft.data_erased);
        self.reads_left.extend(draft.reads_left);
        self.outcomes_erased.extend(draft.outcomes_erased);
        self.forget_fingerprints |= draft.forget_fingerprints;
    }
}

#[derive(Clone, Copy)]
pub(crate) struct DecisionContext<'a> {
    pub(crate) heads: &'a Heads,
    pub(crate) known: &'a Known,
    pub(crate) accepted: &'a Accepted,
    pub(crate) ports: &'a Ports,
    pub(crate) options: &'a Options,
    pub(crate) level: u64,
    /// The reading of the host's clock. One instant is used for all decisions of a submission, so that a key that
    /// passes the check is still valid when the entry is recorded.
    pub(crate) now: Host,
    pub(crate) sure: Host,
    pub(crate) for_expiry: Host,
}

impl<'a> DecisionContext<'a> {
    pub(super) fn has_ended(&self, timeline: &TimelineId) -> bool {
        self.accepted.ended.contains(timeline) || self.heads.rows.has_ended(timeline)
    }

    pub(crate) fn state(&self, timeline: &TimelineId) -> Option<&'a TimelineState> {
        if self.accepted.ended.contains(timeline) {
            return None;
        }
        let accepted = self.accepted.steps.get(timeline).map(|step| &step.state);
        accepted.or_else(|| self.heads.get(timeline).map(|state| &**state))
    }
}
