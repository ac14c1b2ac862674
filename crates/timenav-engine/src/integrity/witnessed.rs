//! Cosigned checkpoints and witness status, shared by the code that contacts witnesses and the one that reports them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, WitnessKey};
use tokio::sync::Notify;

use crate::ledger::head::TimelineKey;

/// A checkpoint with cosignatures of witnesses: of `system`, or of a timeline that is shown to witnesses individually.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cosigned {
    pub size: u64,
    pub root: Hash,
    pub note: Arc<str>,
    /// Time of each witness's cosignature by its own clock, in seconds since 1970.
    pub by: BTreeMap<String, u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessState {
    /// No contact since startup.
    Waiting,
    /// It has cosigned the last checkpoint that it was shown.
    Cosigning,
    Unreachable,
    /// It does not cosign for a reason unrelated to the ledger: it does not know the log, or its response is invalid.
    Refusing,
    /// It has cosigned a larger tree than the current one: the database was rolled back.
    Rollback,
    /// It has cosigned a tree that contradicts the current one.
    Fork,
}

impl WitnessState {
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Cosigning, Self::Unreachable, Self::Refusing, Self::Rollback, Self::Fork];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Cosigning => "cosigning",
            Self::Unreachable => "unreachable",
            Self::Refusing => "refusing",
            Self::Rollback => "rollback",
            Self::Fork => "fork",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessStatus {
    pub state: WitnessState,
    /// The size that it cosigned last, if known.
    pub size: u64,
    /// The time of that by its own clock, in seconds since 1970; 0 if it has not cosigned.
    pub time: u64,
    /// A sentence describing the problem; empty if there is none.
    pub detail: String,
    pub evidence: Evidence,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evidence {
    #[default]
    None,
    /// A checkpoint signed by this service that contradicts the database.
    Proven,
    /// Like [`Evidence::Proven`], and an operator has accepted the loss of this very tree.
    Accepted,
}

impl Default for WitnessStatus {
    fn default() -> Self {
        Self { state: WitnessState::Waiting, size: 0, time: 0, detail: String::new(), evidence: Evidence::None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadAt {
    pub(crate) position: u64,
    pub(crate) index: usize,
    pub(crate) size: u64,
}

#[derive(Debug, Default)]
pub(crate) struct HeadCommitments {
    pub(crate) last: Option<u64>,
    /// How many entries of `system` were searched.
    pub(crate) searched_to: u64,
    heads: HashMap<TimelineKey, (HeadAt, Option<HeadAt>)>,
}

impl HeadCommitments {
    /// Adds a commitment of the newest entry. The previous one is kept as long as only that one is cosigned.
    pub(crate) fn insert(&mut self, key: TimelineKey, at: HeadAt, cosigned_size: u64) {
        let (newest, before) = self.heads.entry(key).or_insert((at, None));
        if newest.position < cosigned_size {
            *before = Some(*newest);
        }
        *newest = at;
    }

    pub(crate) fn insert_earlier(&mut self, key: TimelineKey, at: HeadAt, cosigned_size: u64) {
        let (newest, before) = self.heads.entry(key).or_insert((at, None));
        if newest.position >= cosigned_size && at.position < cosigned_size {
            before.get_or_insert(at);
        }
    }

    /// Adds a commitment of an entry that may be the newest for its timeline.
    pub(crate) fn insert_walked(&mut self, key: TimelineKey, at: HeadAt, cosigned_size: u64) {
        if self.newest(key).is_some_and(|known| known.position > at.position) {
            self.insert_earlier(key, at, cosigned_size);
        } else {
            self.insert(key, at, cosigned_size);
        }
    }

    pub(crate) fn newest(&self, key: TimelineKey) -> Option<HeadAt> {
        self.heads.get(&key).map(|(newest, _)| *newest)
    }

    /// Returns the newest commitment to a timeline within the first entries of `system`.
    pub(crate) fn within(&self, key: TimelineKey, system_size: u64) -> Option<HeadAt> {
        let (newest, before) = self.heads.get(&key)?;
        let all = [Some(*newest), *before];
        all.into_iter().flatten().find(|at| at.position < system_size)
    }
}

/// The progress of the backward search for `heads` entries.
#[derive(Debug)]
pub(crate) struct HeadsWalk {
    pub(crate) next: Option<u64>,
    pub(crate) missing: HashSet<TimelineKey>,
    /// Whether an operator has accepted a rollback of the database since.
    pub(crate) is_accepted: bool,
    /// Whether timelines too new to be found were removed from `missing`.
    pub(crate) has_forgotten: bool,
}

/// The cosigned checkpoint that services share through the database.
#[derive(Default)]
pub(crate) struct SharedCosigned {
    /// The bytes that were last read or written, valid or not.
    pub(crate) read: Option<Vec<u8>>,
    /// The size of the largest valid checkpoint seen there.
    pub(crate) size: u64,
    /// The size and cosigners of the current one, if it is valid.
    pub(crate) holds: Option<(u64, BTreeMap<String, u64>)>,
}

#[derive(Default)]
pub(crate) struct WitnessedLog {
    pub(crate) cosigned: ArcSwapOption<Cosigned>,
    pub(crate) board: Mutex<BTreeMap<String, WitnessStatus>>,
}

#[derive(Default)]
pub(crate) struct Witnessed {
    /// For `system`, which commits to all other timelines.
    pub(crate) system: WitnessedLog,
    /// For the timelines that are shown to witnesses individually.
    pub(crate) named: OnceLock<BTreeMap<TimelineId, WitnessedLog>>,
    /// The witnesses whose cosignatures count.
    pub(crate) trusted: OnceLock<Vec<WitnessKey>>,
    /// Locked while the shared checkpoint is read or written.
    pub(crate) shared: tokio::sync::Mutex<SharedCosigned>,
    pub(crate) commitments: Mutex<HeadCommitments>,
    /// Locked while commitments are made.
    pub(crate) committing: tokio::sync::Mutex<()>,
    /// The progress of the comparison that continues after startup.
    pub(crate) walk: Mutex<Option<HeadsWalk>>,
    /// How the database contradicts a commitment of `system` or a cosigned checkpoint.
    pub(crate) contradiction: Mutex<Option<String>>,
    /// Trees whose loss an operator has accepted. Loaded on first use.
    pub(crate) accepted: tokio::sync::OnceCell<HashSet<(TimelineId, u64, Hash)>>,
    /// Signals that a caller waits for witnesses.
    pub(crate) requested: Notify,
    /// Signals waiting callers to check again.
    pub(crate) moved: Notify,
}

impl Witnessed {
    pub(crate) fn log(&self, timeline: &TimelineId) -> Option<&WitnessedLog> {
        if timeline.is_system() { Some(&self.system) } else { self.named.get()?.get(timeline) }
    }

    /// Returns how many entries of `system` are covered by a cosignature.
    pub(crate) fn size(&self) -> u64 {
        self.system.cosigned.load().as_ref().map_or(0, |cosigned| cosigned.size)
    }

    /// Returns how many entries of `system` are cosigned by at least `witnesses` distinct witnesses. A witness that
    /// reports a rollback or a fork does not count.
    pub(crate) fn vouched_size(&self, witnesses: usize) -> u64 {
        let board = self.system.board.lock();
        let is_good = |status: &&WitnessStatus| !matches!(status.state, WitnessState::Rollback | WitnessState::Fork);
        let mut sizes: Vec<u64> = board.values().filter(is_good).map(|status| status.size).collect();
        sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
        witnesses.checked_sub(1).and_then(|last| sizes.get(last).copied()).unwrap_or(0)
    }

    /// Returns the reason for an alarm, if there is one. A witness that reports a rollback or a fork without evidence
    /// raises an alarm only if no other witness cosigns, because a lying witness could otherwise take the service down.
    /// With evidence, the service has stopped. A loss that an operator has accepted raises no alarm.
    pub(crate) fn alarm(&self) -> Option<String> {
        if let Some(contradiction) = self.contradiction.lock().clone() {
            return Some(contradiction);
        }
        let named = self.named.get().into_iter().flat_map(BTreeMap::values);
        std::iter::once(&self.system).chain(named).find_map(WitnessedLog::alarm)
    }
}

impl WitnessedLog {
    fn alarm(&self) -> Option<String> {
        let board = self.board.lock();
        let is_vouched_for = board.values().any(|status| status.state == WitnessState::Cosigning);
        let is_believed = |evidence| match evidence {
            Evidence::None => !is_vouched_for,
            Evidence::Proven => true,
            Evidence::Accepted => false,
        };
        let is_alarm = |status: &&WitnessStatus| {
            matches!(status.state, WitnessState::Rollback | WitnessState::Fork) && is_believed(status.evidence)
        };
        board.values().find(is_alarm).map(|status| status.detail.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_cosigned_head_is_found() {
        let (mut commitments, key) = (HeadCommitments::default(), TimelineKey(1));
        let at = |position| HeadAt { position, index: 0, size: position };
        assert_eq!((commitments.newest(key), commitments.within(key, 100)), (None, None));
        commitments.insert(key, at(5), 0);
        assert_eq!(
            (commitments.newest(key), commitments.within(key, 5), commitments.within(key, 6)),
            (Some(at(5)), None, Some(at(5)))
        );
        // The newest commitments at 8 and 9 are not cosigned yet, so this one is kept.
        commitments.insert(key, at(8), 6);
        commitments.insert(key, at(9), 6);
        assert_eq!(
            (commitments.newest(key), commitments.within(key, 6), commitments.within(key, 10)),
            (Some(at(9)), Some(at(5)), Some(at(9)))
        );
        let (mut commitments, other) = (HeadCommitments::default(), TimelineKey(2));
        commitments.insert_earlier(other, at(9), 6);
        commitments.insert_earlier(other, at(7), 6);
        commitments.insert_earlier(other, at(4), 6);
        commitments.insert_earlier(other, at(2), 6);
        assert_eq!((commitments.newest(other), commitments.within(other, 6)), (Some(at(9)), Some(at(4))));
    }

    #[test]
    fn vouched_size_is_the_size_reached_by_enough_witnesses() {
        let witnessed = Witnessed::default();
        let put = |name: &str, state, size| {
            let status = WitnessStatus { state, size, ..WitnessStatus::default() };
            witnessed.system.board.lock().insert(name.to_owned(), status);
        };
        assert_eq!(witnessed.vouched_size(1), 0);
        put("one", WitnessState::Cosigning, 7);
        put("two", WitnessState::Unreachable, 9);
        put("three", WitnessState::Cosigning, 5);
        assert_eq!([1, 2, 3, 4].map(|witnesses| witnessed.vouched_size(witnesses)), [9, 7, 5, 0]);
        put("two", WitnessState::Fork, 9);
        assert_eq!([1, 2, 3].map(|witnesses| witnessed.vouched_size(witnesses)), [7, 5, 0]);
    }

    #[test]
    fn unproven_alarm_is_overridden_by_a_cosigning_witness() {
        let witnessed = Witnessed::default();
        let put = |name: &str, state, evidence| {
            let status = WitnessStatus { state, evidence, detail: name.to_owned(), ..WitnessStatus::default() };
            witnessed.system.board.lock().insert(name.to_owned(), status);
        };
        put("one", WitnessState::Rollback, Evidence::None);
        assert_eq!(witnessed.alarm().as_deref(), Some("one"));
        put("two", WitnessState::Cosigning, Evidence::None);
        assert_eq!(witnessed.alarm(), None);
        put("one", WitnessState::Fork, Evidence::Proven);
        assert_eq!(witnessed.alarm().as_deref(), Some("one"));
        put("one", WitnessState::Rollback, Evidence::Accepted);
        assert_eq!(witnessed.alarm(), None);
        for state in [WitnessState::Waiting, WitnessState::Unreachable, WitnessState::Refusing] {
            put("one", state, Evidence::None);
            assert_eq!(witnessed.alarm(), None, "{state:?}");
        }
        *witnessed.contradiction.lock() = Some("here".to_owned());
        assert_eq!(witnessed.alarm().as_deref(), Some("here"));
    }

    #[test]
    fn cosigning_system_keeps_the_alarm_of_a_named_timeline() {
        let (witnessed, named) = (Witnessed::default(), TimelineId::new("books").unwrap());
        assert!(witnessed.named.set(BTreeMap::from([(named.clone(), WitnessedLog::default())])).is_ok());
        let status = |state| WitnessStatus { state, detail: "of books".to_owned(), ..WitnessStatus::default() };
        let put = |timeline: &TimelineId, state| {
            let log = witnessed.log(timeline).unwrap();
            log.board.lock().insert("one".to_owned(), status(state));
        };
        put(&TimelineId::system(), WitnessState::Cosigning);
        assert_eq!(witnessed.alarm(), None);
        put(&named, WitnessState::Rollback);
        assert_eq!(witnessed.alarm().as_deref(), Some("of books"));
        put(&named, WitnessState::Cosigning);
        assert_eq!(witnessed.alarm(), None);
        assert!(witnessed.log(&TimelineId::main()).is_none(), "nobody named it");
    }
}
