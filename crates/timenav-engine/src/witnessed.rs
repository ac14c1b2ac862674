//! What witnesses have cosigned, and what they said: shared by those who ask them and those who are shown it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, WitnessKey};
use tokio::sync::Notify;

use crate::head::TimelineKey;

/// A checkpoint with the cosignatures of witnesses: of `system`, or of a timeline that was named to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cosigned {
    /// Entries of the timeline.
    pub size: u64,
    /// The root over them.
    pub root: Hash,
    /// The note, signed by the service and by witnesses.
    pub note: Arc<str>,
    /// Which witnesses have cosigned, and when by their clocks, in seconds since 1970.
    pub by: BTreeMap<String, u64>,
}

/// How a witness stands to the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessState {
    /// It was not heard of since the start.
    Waiting,
    /// It has cosigned what it was shown last.
    Cosigning,
    /// It does not answer.
    Unreachable,
    /// It does not cosign, for a reason that tells nothing of the ledger: it does not know the log, or its answer cannot be used.
    Refusing,
    /// It has cosigned a larger tree than there is here: what is here was taken back.
    Rollback,
    /// It has cosigned another tree than the one that is here.
    Fork,
}

impl WitnessState {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Cosigning, Self::Unreachable, Self::Refusing, Self::Rollback, Self::Fork];

    /// Returns the word for it.
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

/// What is known of a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessStatus {
    /// How it stands to the service.
    pub state: WitnessState,
    /// The size that it cosigned last, as far as is known.
    pub size: u64,
    /// When it did, by its own clock, in seconds since 1970; 0 where it has not.
    pub time: u64,
    /// A sentence on what is wrong; empty where nothing is.
    pub detail: String,
    /// What the checkpoint shows that it has, where it says that what is here was taken back or is another history.
    pub evidence: Evidence,
}

/// What a witness shows of what it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evidence {
    /// Nothing.
    #[default]
    None,
    /// A checkpoint with this service's own signature that contradicts what is here.
    Proven,
    /// As [`Evidence::Proven`], and an operator has accepted that this very tree was lost.
    Accepted,
}

impl Default for WitnessStatus {
    fn default() -> Self {
        Self { state: WitnessState::Waiting, size: 0, time: 0, detail: String::new(), evidence: Evidence::None }
    }
}

/// Where an entry `heads` commits to a timeline's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadAt {
    /// The position of the entry on `system`.
    pub(crate) position: u64,
    /// Which of its heads it is.
    pub(crate) index: usize,
    /// The size of the timeline's tree.
    pub(crate) size: u64,
}

/// What entries `heads` have committed to.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The position of the newest.
    pub(crate) last: Option<u64>,
    /// How many entries of `system` were looked through for them.
    pub(crate) looked_to: u64,
    heads: HashMap<TimelineKey, (HeadAt, Option<HeadAt>)>,
}

impl Told {
    /// Takes what the newest entry says of a timeline. What the one before said is kept as long as that alone is
    /// cosigned.
    pub(crate) fn insert(&mut self, key: TimelineKey, at: HeadAt, cosigned_size: u64) {
        let (newest, before) = self.heads.entry(key).or_insert((at, None));
        if newest.position < cosigned_size {
            *before = Some(*newest);
        }
        *newest = at;
    }

    /// Takes what an entry from before those that are known says of a timeline.
    pub(crate) fn insert_earlier(&mut self, key: TimelineKey, at: HeadAt, cosigned_size: u64) {
        let (newest, before) = self.heads.entry(key).or_insert((at, None));
        if newest.position >= cosigned_size && at.position < cosigned_size {
            before.get_or_insert(at);
        }
    }

    /// Takes what an entry says of a timeline, which may be the newest that does.
    pub(crate) fn insert_walked(&mut self, key: TimelineKey, at: HeadAt, cosigned_size: u64) {
        if self.newest(key).is_some_and(|known| known.position > at.position) {
            self.insert_earlier(key, at, cosigned_size);
        } else {
            self.insert(key, at, cosigned_size);
        }
    }

    /// Returns what was committed to last of a timeline.
    pub(crate) fn newest(&self, key: TimelineKey) -> Option<HeadAt> {
        self.heads.get(&key).map(|(newest, _)| *newest)
    }

    /// Returns the newest of a timeline that is in the first entries of `system`.
    pub(crate) fn within(&self, key: TimelineKey, system_size: u64) -> Option<HeadAt> {
        let (newest, before) = self.heads.get(&key)?;
        let all = [Some(*newest), *before];
        all.into_iter().flatten().find(|at| at.position < system_size)
    }
}

/// How far back entries `heads` were looked at.
#[derive(Debug)]
pub(crate) struct HeadsWalk {
    /// The position of the next.
    pub(crate) next: Option<u64>,
    /// Timelines that none of them has named so far.
    pub(crate) missing: HashSet<TimelineKey>,
    /// Whether an operator has accepted since that the database was taken back.
    pub(crate) is_accepted: bool,
    /// Whether those that are too new to be named were taken out.
    pub(crate) has_forgotten: bool,
}

/// What was found where services on one database share what witnesses have cosigned.
#[derive(Default)]
pub(crate) struct SharedCosigned {
    /// What was read last, or written, whatever it is.
    pub(crate) read: Option<Vec<u8>>,
    /// The size of the largest checkpoint that was there and could be believed.
    pub(crate) size: u64,
    /// The size of the one that is there and who has cosigned it, if it can be believed.
    pub(crate) holds: Option<(u64, BTreeMap<String, u64>)>,
}

/// What witnesses have cosigned of one timeline, and what they said of it.
#[derive(Default)]
pub(crate) struct WitnessedLog {
    pub(crate) cosigned: ArcSwapOption<Cosigned>,
    pub(crate) board: Mutex<BTreeMap<String, WitnessStatus>>,
}

/// What witnesses have cosigned, and what they said.
#[derive(Default)]
pub(crate) struct Witnessed {
    /// Of `system`, which is committed to all others.
    pub(crate) system: WitnessedLog,
    /// Of the timelines that witnesses are shown by themselves.
    pub(crate) named: OnceLock<BTreeMap<TimelineId, WitnessedLog>>,
    /// Whose cosignatures count.
    pub(crate) trusted: OnceLock<Vec<WitnessKey>>,
    /// What services share of it. Held by who reads or writes that.
    pub(crate) shared: tokio::sync::Mutex<SharedCosigned>,
    pub(crate) told: Mutex<Told>,
    /// Held by whoever commits to heads.
    pub(crate) committing: tokio::sync::Mutex<()>,
    /// Where the comparison of the start goes on.
    pub(crate) walk: Mutex<Option<HeadsWalk>>,
    /// How what is kept here contradicts what `system` was committed to, or what was cosigned.
    pub(crate) contradiction: Mutex<Option<String>>,
    /// Trees of which an operator has accepted that they were lost, once somebody asked.
    pub(crate) accepted: tokio::sync::OnceCell<HashSet<(TimelineId, u64, Hash)>>,
    /// Somebody waits for witnesses.
    pub(crate) wanted: Notify,
    /// Those who wait look again.
    pub(crate) moved: Notify,
}

impl Witnessed {
    /// Returns what witnesses are shown of a timeline, if they are shown it by itself.
    pub(crate) fn log(&self, timeline: &TimelineId) -> Option<&WitnessedLog> {
        if timeline.is_system() { Some(&self.system) } else { self.named.get()?.get(timeline) }
    }

    /// Returns how many entries of `system` are under a cosignature.
    pub(crate) fn size(&self) -> u64 {
        self.system.cosigned.load().as_ref().map_or(0, |cosigned| cosigned.size)
    }

    /// Returns how many entries of `system` at least so many witnesses vouch for, each of which counts once. One that has
    /// seen another history vouches for nothing.
    pub(crate) fn vouched_size(&self, witnesses: usize) -> u64 {
        let board = self.system.board.lock();
        let is_good = |status: &&WitnessStatus| !matches!(status.state, WitnessState::Rollback | WitnessState::Fork);
        let mut sizes: Vec<u64> = board.values().filter(is_good).map(|status| status.size).collect();
        sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
        witnesses.checked_sub(1).and_then(|last| sizes.get(last).copied()).unwrap_or(0)
    }

    /// Returns why the service is not what it was, if so. A witness that shows no evidence is believed unless another one
    /// cosigns: one that lies could take the service down otherwise. Where there is evidence, the service has stopped. What
    /// an operator has accepted alarms nobody any more.
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
    fn the_newest_that_is_cosigned_is_found() {
        let (mut told, key) = (Told::default(), TimelineKey(1));
        let at = |position| HeadAt { position, index: 0, size: position };
        assert_eq!((told.newest(key), told.within(key, 100)), (None, None));
        told.insert(key, at(5), 0);
        assert_eq!((told.newest(key), told.within(key, 5), told.within(key, 6)), (Some(at(5)), None, Some(at(5))));
        // Cosigned up to 6: the next one does not make this one forgotten, and neither does the one after.
        told.insert(key, at(8), 6);
        told.insert(key, at(9), 6);
        assert_eq!(
            (told.newest(key), told.within(key, 6), told.within(key, 10)),
            (Some(at(9)), Some(at(5)), Some(at(9)))
        );
        let (mut told, other) = (Told::default(), TimelineKey(2));
        told.insert_earlier(other, at(9), 6);
        told.insert_earlier(other, at(7), 6);
        told.insert_earlier(other, at(4), 6);
        told.insert_earlier(other, at(2), 6);
        assert_eq!((told.newest(other), told.within(other, 6)), (Some(at(9)), Some(at(4))));
    }

    #[test]
    fn so_many_witnesses_vouch_for_what_the_last_of_them_has_cosigned() {
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
    fn a_witness_without_evidence_is_believed_unless_another_cosigns() {
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
    fn one_that_cosigns_system_does_not_outweigh_what_was_said_of_a_named_timeline() {
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
