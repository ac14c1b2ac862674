//! The rows of a timeline, made anew from its entries: for one that comes from elsewhere.
//!
//! They are made by the replay that a scan compares rows with. As rows are believed, what no service wrote is refused.

mod unread;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use timenav_core::anchor::Anchor;
use timenav_core::ids::{AnchorId, DataId, EventId, InterventionId, TimelineId};
use timenav_core::ledger::{EventsErased, Frontier, LeafRecord, LetGoClass, Salt, Sweep, leaf_hash};
use timenav_core::limits::{ANCHORS_PER_TIMELINE_MAX, DESCRIPTION_BYTES_MAX, LOCATION_BYTES_MAX};
use timenav_core::time::parse_timestamp;

use self::unread::{EventHash, Unread, event_hash};
use super::replay::{Beside, Made, Marked, Recorded, RecordedEvent, Replay};
use crate::action::Action;
use crate::arriving_door::ArrivingRows;
use crate::deciding::adoption::{Amended, ENTRIES_OF_ADOPTION, Ready, Told, ToldLater};
use crate::event_columns::EventColumns;
use crate::event_content::event_draft;
use crate::gazetteer::Gazetteer;
use crate::json::read;
use crate::location::columns_of;
use crate::payload::DataErased;
use crate::rows::{DataRecord, EventEnd, EventRow, InterventionRow, StoredEntry, SweepMark, SweepRow};

/// About how many bytes a row takes beside its texts.
const ROW_BYTES: usize = 512;

/// A timeline as it is being made anew. What is remembered of it does not grow with what its entries say: a few words of
/// each entry, and of each event the hash of its id.
pub(crate) struct Rebuilding {
    gazetteer: Option<Arc<dyn Gazetteer>>,
    timeline: TimelineId,
    replay: Replay,
    /// What was made and not taken yet.
    rows: ArrivingRows,
    /// About how many bytes these have.
    rows_bytes: usize,
    frontier: Frontier,
    clock_entry: u64,
    anchor_ids: HashSet<AnchorId>,
    data_count: u64,
    later: Vec<ToldLater>,
    /// How many later entries that are told again say why something is gone, and whether any does.
    erased_later: u64,
    is_erased_later: bool,
    /// What is known of the timeline once it was read to its end, where it is read again.
    amended: Amended,
    /// How many fewer events stand after the last entry, by what is known of it.
    less: i64,
    /// The newest version of each event, those among them that are inherited.
    versions: HashMap<EventHash, Newest>,
    /// Events of which a version is gone: what stands of them is not known.
    erased_events: HashSet<EventId>,
    /// How many events stand in the end; known once the entries were read.
    standing: Option<u64>,
    /// What can be told of events whose payloads are gone.
    unread: Unread,
    /// How many events stand after each entry, as far as was known there.
    counts: Vec<i64>,
    /// Sealed records that an entry erased which is told again.
    data_erased: BTreeMap<u64, u64>,
    data_ids: HashSet<DataId>,
    /// Those of the timelines that it goes on from.
    inherited_data_ids: HashSet<DataId>,
    is_fork: bool,
}

/// The newest version of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Newest {
    /// The position that made it; `None` where it is of a timeline that this one goes on from.
    position: Option<u64>,
    stands: bool,
}

/// The events that a fork begins with, and what anchors mark that its clock may be taken back to.
#[derive(Default)]
pub(crate) struct Inherited {
    versions: HashMap<EventHash, Newest>,
    erased_events: HashSet<EventId>,
    data_ids: HashSet<DataId>,
    marked: Marked,
}

impl Rebuilding {
    /// Returns a timeline without entries; a fork begins with events.
    pub(crate) fn new(
        gazetteer: Option<Arc<dyn Gazetteer>>,
        timeline: &TimelineId,
        inherited: Option<Inherited>,
    ) -> Self {
        let is_fork = inherited.is_some();
        let Inherited { versions, erased_events, data_ids, marked } = inherited.unwrap_or_default();
        Self {
            gazetteer,
            replay: Replay::new(timeline, 0, None).making_timers().with_marked(marked),
            timeline: timeline.clone(),
            rows: ArrivingRows::default(),
            rows_bytes: 0,
            frontier: Frontier::default(),
            clock_entry: 0,
            anchor_ids: HashSet::new(),
            data_count: 0,
            later: Vec::new(),
            erased_later: 0,
            is_erased_later: false,
            amended: Amended::default(),
            less: 0,
            versions,
            erased_events,
            standing: None,
            unread: Unread::default(),
            counts: Vec::new(),
            data_erased: BTreeMap::new(),
            data_ids: HashSet::new(),
            inherited_data_ids: data_ids,
            is_fork,
        }
    }

    /// Takes what the end of the timeline says of its entries, as it was read to there before.
    pub(crate) fn amended(self, amended: Amended) -> Self {
        Self { amended, ..self }
    }

    /// About how many bytes the rows have that were made and not taken.
    pub(crate) const fn rows_bytes(&self) -> usize {
        self.rows_bytes
    }

    /// Returns the rows that were made since the last time.
    pub(crate) fn take_rows(&mut self) -> ArrivingRows {
        self.rows_bytes = 0;
        mem::take(&mut self.rows)
    }

    /// Returns the ids of its own sealed records.
    pub(crate) fn take_data_ids(&mut self) -> HashSet<DataId> {
        mem::take(&mut self.data_ids)
    }

    /// Whether it is that timeline.
    pub(crate) fn is_of(&self, timeline: &str) -> bool {
        self.timeline.as_str() == timeline
    }

    /// Returns what a fork goes on from that begins after the last entry.
    pub(crate) fn hand_on(&mut self) -> Inherited {
        self.standing = Some(self.stand());
        let inherited = |(event, newest): (EventHash, Newest)| (event, Newest { position: None, ..newest });
        let versions = mem::take(&mut self.versions).into_iter().map(inherited).collect();
        let (erased_events, mut data_ids) = (mem::take(&mut self.erased_events), mem::take(&mut self.data_ids));
        data_ids.extend(self.inherited_data_ids.drain());
        Inherited { versions, erased_events, data_ids, marked: self.replay.take_marked() }
    }

    /// Returns how many events stand.
    fn stand(&self) -> u64 {
        self.versions.values().filter(|newest| newest.stands).count() as u64
    }

    /// Takes an entry that the other service wrote after those that a fork goes on from, and that says why something of
    /// these is gone.
    pub(crate) fn erased_after_fork(&mut self, record: &LeafRecord<'_>, payload: &[u8]) {
        self.replay.later_entry(record, record.seq, payload);
        self.is_erased_later = true;
    }

    /// Says that such an entry is told again here.
    pub(crate) const fn is_told_again(&mut self) {
        self.erased_later += 1;
    }

    /// Takes an entry that the other service wrote while it exported the timeline, and that says why something is gone. It
    /// is told again here, since no entry of what arrives tells it.
    ///
    /// # Errors
    /// It tells of entries too that did not arrive.
    pub(crate) fn erased_after_export(&mut self, record: &LeafRecord<'_>, payload: &[u8]) -> Result<(), String> {
        let size = self.frontier.size();
        let again = || {
            "something was erased during the export, by an entry that covers others which are not in the file: export \
             the timeline again"
                .to_owned()
        };
        let recorded_at = parse_timestamp(&record.recorded_at).map_err(|error| error.to_string())?;
        if let Ok(sweep) = Sweep::decode(payload)
            && Action::of(record) == Some(Action::Sweep)
        {
            let last = sweep.positions.as_slice().last().map_or(0, |(_, last)| *last);
            if last >= size || sweep.policy >= size {
                return Err(again());
            }
            self.later.push(ToldLater { recorded_at, told: Told::Sweep(sweep.into_owned()) });
            return Ok(());
        }
        let is_erasure = Action::of(record) == Some(Action::EraseData);
        let erased = is_erasure.then(|| read::<DataErased>(payload)).flatten().ok_or_else(again)?;
        if std::iter::once(&erased.position).chain(&erased.also).any(|position| *position >= size) {
            return Err(again());
        }
        let by = size + ENTRIES_OF_ADOPTION + self.later.len() as u64;
        if !erased.is_event() && self.replay.is_data_gone(erased.position) {
            self.data_erased.insert(erased.position, by);
            self.replay.data_is_gone(erased.position, by);
        }
        self.replay.told_again(&erased, by);
        if erased.is_event() {
            self.unread.erased_alone(&erased);
        }
        self.later.push(ToldLater { recorded_at, told: Told::Erasure(erased) });
        Ok(())
    }

    /// Takes the next entry, which is in its place and fits its payload. Both salt and payload are empty where that is gone.
    ///
    /// # Errors
    /// What keeps the timeline from being made of it, in a sentence.
    pub(crate) fn entry(&mut self, leaf: &[u8], salt: &[u8], payload: &[u8]) -> Result<(), String> {
        let record = LeafRecord::decode(leaf).map_err(|error| error.to_string())?;
        let position = record.seq;
        let at = |what: &str| format!("entry {position}: {what}");
        let Some(action) = Action::of(&record) else {
            return Err(at(&format!("this version does not know the action `{}`", record.action)));
        };
        let is_gone = payload.is_empty();
        // Where single reads were erased, the payload stays and the salt does not.
        let salt: [u8; Salt::BYTES] = match (salt.is_empty(), salt.try_into()) {
            (true, _) => [0; Salt::BYTES],
            (false, Ok(salt)) => salt,
            (false, Err(_)) => return Err(at("its salt is invalid")),
        };
        // That a sweep names it was checked before.
        let is_let_go = is_gone && LetGoClass::of(&record.action).is_some();
        let recorded = self.replay.entry(&record, Beside::of(position, payload), None, is_let_go);
        if let Some(why) = self.replay.blind() {
            return Err(at(why));
        }
        if let Some(finding) = self.replay.findings.first() {
            return Err(at(&finding.evidence));
        }
        match recorded {
            Some(Recorded::Event(event)) => self.event(action, event).map_err(|what| at(&what))?,
            // Its line comes next.
            Some(Recorded::Data(_)) | None => {}
        }
        if action == Action::EraseData
            && let Some(erased) = read::<DataErased>(payload).filter(DataErased::is_event)
        {
            self.unread.erased_alone(&erased);
        }
        if let Some(erased) = (action == Action::EraseEvents).then(|| EventsErased::decode(payload).ok()).flatten() {
            self.unread.erased_together(position, &erased);
        }
        if let Some(sweep) = (action == Action::Sweep).then(|| Sweep::decode(payload).ok()).flatten() {
            // Nothing is known to be swept, so that the next sweep looks at all of it.
            let mark = SweepMark { policy: sweep.policy, class: sweep.class, until: sweep.policy + 1 };
            self.rows.sweeps.push(SweepRow { position, mark });
        }
        if matches!(action, Action::RecordEvent | Action::ManipulateEvent) {
            self.unread.entry((action, position), &record.subject, is_gone);
        }
        if let Some(anchor) = self.replay.take_anchor() {
            self.check_anchor(&anchor).map_err(|what| at(&what))?;
            self.rows.anchors.push(anchor);
        }
        let timers = self.replay.take_timers_made(action == Action::RestoreTimers).map_err(|what| at(&what))?;
        self.rows_bytes += timers.count() * ROW_BYTES;
        self.rows.add_timers(timers);
        // Answers were kept by the other service.
        drop(self.replay.take_forgotten());
        let marks = self.replay.last_marks();
        self.counts.push(marks.events_count);
        self.less += self.amended.fewer.get(&position).copied().unwrap_or_default();
        let stand = u64::try_from(marks.events_count - self.less);
        self.clock_entry = u64::try_from(marks.clock_entry).map_err(|_| at("it has no clock"))?;
        self.frontier.push(leaf_hash(leaf));
        // The event is there twice, as an entry and as a row.
        self.rows_bytes += 2 * (leaf.len() + payload.len()) + ROW_BYTES;
        self.rows.entries.push(StoredEntry {
            seq: position,
            leaf: leaf.to_vec(),
            salt: Salt::from_bytes(salt),
            payload: payload.to_vec(),
            events_count: stand.map_err(|_| at("the count of events is below zero"))?,
            clock_entry: self.clock_entry,
        });
        Ok(())
    }

    fn check_anchor(&mut self, anchor: &Anchor) -> Result<(), String> {
        if !self.anchor_ids.insert(anchor.anchor_id.clone()) {
            return Err(format!("the anchor `{}` is set twice", anchor.anchor_id));
        }
        if self.anchor_ids.len() > ANCHORS_PER_TIMELINE_MAX {
            return Err(format!("a timeline can have at most {ANCHORS_PER_TIMELINE_MAX} anchors"));
        }
        if anchor.description.len() > DESCRIPTION_BYTES_MAX {
            return Err(format!("the description of the anchor `{}` is too long", anchor.anchor_id));
        }
        check_location(anchor.moment.location.as_deref())
    }

    /// Takes the sealed record of the last entry.
    ///
    /// # Errors
    /// What keeps the timeline from being made of it.
    pub(crate) fn data(&mut self, mut record: DataRecord) -> Result<(), String> {
        let is_inherited = self.inherited_data_ids.contains(&record.data_id);
        if is_inherited || !self.data_ids.insert(record.data_id.clone()) {
            return Err(format!("the sealed record `{}` appears twice", record.data_id));
        }
        if let Some(by) = record.erased {
            self.replay.data_is_gone(record.position, by);
        }
        if let Some(by) = self.amended.data_erased.get(&record.position) {
            record.erased = Some(*by);
        }
        self.data_count += 1;
        self.rows_bytes += record.sealed.ciphertext.len() + ROW_BYTES;
        self.rows.data.push(record);
        Ok(())
    }

    fn event(&mut self, action: Action, event: RecordedEvent) -> Result<(), String> {
        let RecordedEvent { position, event_id, made, ends, inherited, intervention_id } = event;
        let event_id = EventId::new(&event_id).map_err(|error| error.to_string())?;
        if action == Action::ManipulateEvent {
            let intervention_id = match intervention_id {
                Some(id) => InterventionId::new(&id),
                // Which one it was is gone; that there was one is not.
                None => InterventionId::new(&format!("erased_{position}")),
            };
            let intervention_id = intervention_id.map_err(|error| error.to_string())?;
            let event_id = event_id.clone();
            self.rows.interventions.push(InterventionRow { position, event_id, intervention_id });
        }
        let name = event_hash(event_id.as_str());
        let before = self.versions.get(&name).copied();
        self.check_inherited(&event_id, before, (inherited, &made))?;
        if ends {
            let Some(Newest { position: Some(version), stands: true }) = before else {
                return Err(format!("there is no version of the event `{event_id}` before it"));
            };
            self.versions.insert(name, Newest { position: Some(version), stands: false });
            self.rows.ends.push(EventEnd { event_id: event_id.clone(), position: version, until: position });
        } else if let (Some(Newest { position: Some(_), stands: true }), Made::Version(_)) = (before, &made) {
            return Err(format!("the event `{event_id}` is already recorded"));
        }
        match made {
            Made::Version(content) => self.version(position, event_id, content),
            Made::Tombstone => {
                self.versions.insert(name, Newest { position: Some(position), stands: false });
                let (columns, content) = (Arc::new(EventColumns::of_nothing()), Arc::from(""));
                self.rows.events.push(EventRow { position, is_tombstone: true, event_id, columns, content });
                Ok(())
            }
            Made::Erased => {
                self.erased_events.insert(event_id);
                Ok(())
            }
            Made::Nothing => Ok(()),
        }
    }

    /// What an entry says of where the version before it was made is what earlier entries lead to. Of an event of which
    /// something is gone that is not known.
    fn check_inherited(
        &self,
        event_id: &EventId,
        before: Option<Newest>,
        (inherited, made): (bool, &Made),
    ) -> Result<(), String> {
        let is_inherited = before.is_some_and(|newest| newest.position.is_none());
        let makes = matches!(made, Made::Version(_) | Made::Tombstone);
        if !makes || inherited == is_inherited || (self.is_fork && self.erased_events.contains(event_id)) {
            return Ok(());
        }
        if !inherited {
            return Err(format!("the event `{event_id}` belongs to a timeline this one was forked from"));
        }
        Err(format!("it is about an event `{event_id}` of a timeline this one was not forked from"))
    }

    fn version(&mut self, position: u64, event_id: EventId, content: Vec<u8>) -> Result<(), String> {
        let content = String::from_utf8(content).map_err(|_| "its event is not text".to_owned())?;
        let draft = event_draft(&content).filter(|draft| draft.event_id.as_ref() == Some(&event_id));
        let draft = draft.ok_or_else(|| format!("it does not mention the event `{event_id}`"))?;
        draft.check().map_err(|error| format!("the event `{event_id}`: {}: {}", error.field, error.detail))?;
        let columns = columns_of(self.gazetteer.as_deref(), &draft);
        self.versions.insert(event_hash(event_id.as_str()), Newest { position: Some(position), stands: true });
        let content = content.into();
        self.rows.events.push(EventRow { position, is_tombstone: false, event_id, columns, content });
        Ok(())
    }

    /// Returns what the timeline is after its last entry, and its name. `is_known`: whether all that it goes on from is there.
    ///
    /// # Errors
    /// The entries contradict each other, or tell of what no service keeps.
    pub(crate) fn finish(self, is_known: bool) -> Result<(TimelineId, Ready), String> {
        let standing = self.standing.unwrap_or_else(|| self.stand());
        let Self { mut replay, counts, unread, timeline, later, erased_later, is_erased_later, .. } = self;
        replay.compare_erasures(0);
        if let Some(finding) = replay.findings.first() {
            let at = finding.position.map_or_else(String::new, |position| format!("entry {position}: "));
            return Err(at + &finding.evidence);
        }
        let state = replay.into_carried().ok_or("its first entry does not record its creation")?;
        // What is gone on a timeline that it goes on from may have stood, and may stand here.
        let is_known = is_known && !is_erased_later;
        if is_known && i64::try_from(standing) != Ok(state.events_count) {
            return Err(format!("its entries lead to {} events, but it says {standing}", state.events_count));
        }
        let events_count = u64::try_from(state.events_count).map_err(|_| "the count of events is below zero")?;
        check_location(state.clock.location.as_deref())?;
        let fewer = unread.fewer();
        let last_count = count_events(&counts, &fewer)?;
        let stood = later.iter().filter(|later| later.took_an_event()).count() as u64;
        if is_known && last_count.is_some_and(|last| last != standing + stood) {
            return Err("what its entries say about erased events does not match what is left".to_owned());
        }
        let ready = Ready {
            frontier: self.frontier,
            clock_entry: self.clock_entry,
            anchors_count: self.anchor_ids.len() as u64,
            data_count: self.data_count,
            amended: Amended { fewer, data_erased: self.data_erased },
            clock: state.clock,
            permissions: state.permissions,
            events_count,
            created_at: state.created_at,
            recorded_at: state.recorded_at,
            origins: state.origins,
            policies: state.policies,
            overrides_count: state.overrides_count,
            timers: state.timers,
            later,
            erased_later,
            is_known: !is_erased_later,
        };
        Ok((timeline, ready))
    }
}

/// Returns how many events stand after the last entry. `fewer` is by how many fewer from an entry on.
fn count_events(counts: &[i64], fewer: &BTreeMap<u64, i64>) -> Result<Option<u64>, String> {
    let (mut less, mut last) = (0, None);
    for (position, count) in (0..).zip(counts) {
        less += fewer.get(&position).copied().unwrap_or_default();
        let stand = u64::try_from(count - less);
        last = Some(stand.map_err(|_| format!("entry {position}: the count of events is below zero"))?);
    }
    Ok(last)
}

fn check_location(location: Option<&str>) -> Result<(), String> {
    let is_one = location.is_none_or(|text| (1..=LOCATION_BYTES_MAX).contains(&text.len()));
    if is_one { Ok(()) } else { Err(format!("a clock is at a location of more than {LOCATION_BYTES_MAX} bytes")) }
}
