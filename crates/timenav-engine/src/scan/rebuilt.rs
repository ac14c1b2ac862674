//! The rows of a timeline, made anew from its entries: for one that comes from elsewhere.
//!
//! They are made by the same replay that a scan compares rows with, so that a scan finds nothing. What no service has
//! written is refused here: rows are believed by whoever reads them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use timenav_core::access::Permissions;
use timenav_core::clock::Clock;
use timenav_core::ids::{AnchorId, DataId, EventId, InterventionId, TimelineId};
use timenav_core::ledger::{EventsErased, LeafRecord, LetGoClass, RetentionPolicies, Salt, Sweep};
use timenav_core::limits::{ANCHORS_PER_TIMELINE_MAX, DESCRIPTION_BYTES_MAX, LOCATION_BYTES_MAX};
use timenav_core::time::Instant;

use super::replay::{Made, Recorded, RecordedEvent, Replay};
use crate::action::Action;
use crate::anchor::Anchor;
use crate::deciding::adoption::Ready;
use crate::doors::Doors;
use crate::event_content::event_draft;
use crate::json::read;
use crate::location::point_of;
use crate::payload::DataErased;
use crate::rows::{DataRecord, EventEnd, EventRow, InterventionRow, StoredEntry, SweepMark, SweepRow};

/// A timeline as it is being made anew.
pub(crate) struct Rebuilding<'a> {
    doors: &'a Doors,
    replay: Replay,
    rebuilt: Ready,
    /// The newest version of each event, and whether it stands.
    versions: HashMap<EventId, (u64, bool)>,
    /// Interventions whose payloads are gone.
    erased: BTreeSet<u64>,
    /// Events whose recording is gone, by the position of it.
    recorded: BTreeSet<u64>,
    /// How many events stand after each entry, as far as was known there.
    counts: Vec<i64>,
    /// By how many fewer from an entry on, as an erasure told later.
    fewer: BTreeMap<u64, i64>,
    data_ids: HashSet<DataId>,
}

impl<'a> Rebuilding<'a> {
    /// Returns a timeline without entries.
    pub(crate) fn new(doors: &'a Doors, timeline: &TimelineId) -> Self {
        let rebuilt = Ready {
            entries: Vec::new(),
            ends: Vec::new(),
            events: Vec::new(),
            interventions: Vec::new(),
            anchors: Vec::new(),
            data: Vec::new(),
            clock: Clock::new(Instant::EPOCH),
            permissions: Permissions::default(),
            events_count: 0,
            created_at: Instant::EPOCH,
            recorded_at: Instant::EPOCH,
            origins: Vec::new(),
            policies: RetentionPolicies::default(),
            sweeps: Vec::new(),
        };
        Self {
            doors,
            replay: Replay::new(timeline, 0, None),
            rebuilt,
            versions: HashMap::new(),
            erased: BTreeSet::new(),
            recorded: BTreeSet::new(),
            counts: Vec::new(),
            fewer: BTreeMap::new(),
            data_ids: HashSet::new(),
        }
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
            (false, Err(_)) => return Err(at("its salt is none")),
        };
        // That a sweep names it was checked before.
        let is_let_go = is_gone && LetGoClass::of(&record.action).is_some();
        let recorded = self.replay.entry(&record, position, (!is_gone).then_some(payload), None, is_let_go);
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
            && let Some(erased) = read::<DataErased>(payload).filter(|erased| erased.is_event() && erased.cancelled)
        {
            self.cancelled_before(&erased);
        }
        if let Some(erased) = (action == Action::EraseEvents).then(|| EventsErased::decode(payload).ok()).flatten() {
            self.erased_before(position, &erased);
        }
        if let Some(sweep) = (action == Action::Sweep).then(|| Sweep::decode(payload).ok()).flatten() {
            // Nothing is known to be swept, so that the next sweep looks at all of it.
            let mark = SweepMark { policy: sweep.policy, class: sweep.class, until: sweep.policy + 1 };
            self.rebuilt.sweeps.push(SweepRow { position, mark });
        }
        if action == Action::ManipulateEvent && is_gone {
            self.erased.insert(position);
        }
        if action == Action::RecordEvent && is_gone {
            self.recorded.insert(position);
        }
        let marks = self.replay.last_marks();
        self.counts.push(marks.events_count);
        self.rebuilt.entries.push(StoredEntry {
            seq: position,
            leaf: leaf.to_vec(),
            salt: Salt::from_bytes(salt),
            payload: payload.to_vec(),
            // Filled in when all is known.
            events_count: 0,
            clock_entry: u64::try_from(marks.clock_entry).map_err(|_| at("it tells of no clock"))?,
        });
        Ok(())
    }

    /// Takes the sealed record of the last entry.
    ///
    /// # Errors
    /// What keeps the timeline from being made of it.
    pub(crate) fn data(&mut self, record: DataRecord) -> Result<(), String> {
        if !self.data_ids.insert(record.data_id.clone()) {
            return Err(format!("the sealed record `{}` is there twice", record.data_id));
        }
        if let Some(by) = record.erased {
            self.replay.data_is_gone(record.position, by);
        }
        self.rebuilt.data.push(record);
        Ok(())
    }

    fn event(&mut self, action: Action, event: RecordedEvent) -> Result<(), String> {
        let RecordedEvent { position, event_id, made, ends, intervention_id } = event;
        let event_id = EventId::new(&event_id).map_err(|error| error.to_string())?;
        if action == Action::ManipulateEvent {
            let intervention_id = match intervention_id {
                Some(id) => InterventionId::new(&id),
                // Which one it was is gone; that there was one is not.
                None => InterventionId::new(&format!("erased_{position}")),
            };
            let intervention_id = intervention_id.map_err(|error| error.to_string())?;
            let event_id = event_id.clone();
            self.rebuilt.interventions.push(InterventionRow { position, event_id, intervention_id });
        }
        let before = self.versions.get(&event_id).copied();
        if ends {
            let Some((version, true)) = before else {
                return Err(format!("no version of the event `{event_id}` stands before it"));
            };
            self.versions.insert(event_id.clone(), (version, false));
            self.rebuilt.ends.push(EventEnd { event_id: event_id.clone(), position: version, until: position });
        } else if let (Some((_, true)), Made::Version(_)) = (before, &made) {
            return Err(format!("the event `{event_id}` is recorded already"));
        }
        match made {
            Made::Version(content) => self.version(position, event_id, content),
            Made::Tombstone => Err("it is about an event of a timeline that is not in the bundle".to_owned()),
            Made::Nothing | Made::Erased => Ok(()),
        }
    }

    fn version(&mut self, position: u64, event_id: EventId, content: Vec<u8>) -> Result<(), String> {
        let content = String::from_utf8(content).map_err(|_| "its event is no text".to_owned())?;
        let draft = event_draft(&content).filter(|draft| draft.event_id.as_ref() == Some(&event_id));
        let draft = draft.ok_or_else(|| format!("it does not tell of the event `{event_id}`"))?;
        draft.check().map_err(|error| format!("the event `{event_id}`: {}: {}", error.field, error.detail))?;
        let point = point_of(self.doors, &draft);
        self.versions.insert(event_id.clone(), (position, true));
        let (draft, content) = (Arc::new(draft), content.into());
        self.rebuilt.events.push(EventRow { position, is_tombstone: false, event_id, draft, point, content });
        Ok(())
    }

    /// The last of an event's interventions that are gone has cancelled it, if it did not stand when it was erased.
    fn cancelled_before(&mut self, erased: &DataErased) {
        let positions = std::iter::once(&erased.position).chain(&erased.also);
        if let Some(last) = positions.filter(|position| self.erased.contains(position)).max() {
            *self.fewer.entry(*last).or_default() += 1;
        }
    }

    /// Of events that were erased together, it is not told which stood. All of them are taken to have, until then.
    fn erased_before(&mut self, position: u64, erased: &EventsErased<'_>) {
        for (first, last) in erased.versions.as_slice() {
            let named: Vec<u64> = self.recorded.range(*first..=*last).copied().collect();
            for recorded in named {
                self.recorded.remove(&recorded);
                *self.fewer.entry(position).or_default() += 1;
            }
        }
    }

    /// Returns everything that is kept of the timeline.
    ///
    /// # Errors
    /// The entries contradict each other, or tell of what no service keeps.
    pub(crate) fn finish(self) -> Result<Ready, String> {
        let Self { mut replay, mut rebuilt, versions, counts, fewer, .. } = self;
        replay.compare_erasures(0);
        if let Some(finding) = replay.findings.first() {
            let at = finding.position.map_or_else(String::new, |position| format!("entry {position}: "));
            return Err(at + &finding.evidence);
        }
        let standing = versions.values().filter(|(_, stands)| *stands).count() as u64;
        let state = replay.into_carried().ok_or("its first entry does not tell of its making")?;
        if i64::try_from(standing) != Ok(state.events_count) {
            return Err(format!("{} events stand by its entries, and {standing} are told of", state.events_count));
        }
        check_anchors(&state.anchors)?;
        check_location(state.clock.location.as_deref())?;
        count_events(&mut rebuilt.entries, &counts, &fewer)?;
        if rebuilt.entries.last().is_some_and(|last| last.events_count != standing) {
            return Err("what its entries say of erased events is not what they leave".to_owned());
        }
        Ok(Ready {
            anchors: state.anchors,
            clock: state.clock,
            permissions: state.permissions,
            events_count: standing,
            created_at: state.created_at,
            recorded_at: state.recorded_at,
            origins: state.origins,
            policies: state.policies,
            ..rebuilt
        })
    }
}

/// Fills in how many events stand after each entry.
fn count_events(entries: &mut [StoredEntry], counts: &[i64], fewer: &BTreeMap<u64, i64>) -> Result<(), String> {
    let mut less = 0;
    for (entry, count) in entries.iter_mut().zip(counts) {
        less += fewer.get(&entry.seq).copied().unwrap_or_default();
        let stand = u64::try_from(count - less);
        entry.events_count = stand.map_err(|_| format!("entry {}: fewer events stand than none", entry.seq))?;
    }
    Ok(())
}

fn check_anchors(anchors: &[Anchor]) -> Result<(), String> {
    if anchors.len() > ANCHORS_PER_TIMELINE_MAX {
        return Err(format!("it has {} anchors, and a timeline has {ANCHORS_PER_TIMELINE_MAX} at most", anchors.len()));
    }
    let mut ids: HashSet<&AnchorId> = HashSet::with_capacity(anchors.len());
    for anchor in anchors {
        if !ids.insert(&anchor.anchor_id) {
            return Err(format!("the anchor `{}` is set twice", anchor.anchor_id));
        }
        if anchor.description.len() > DESCRIPTION_BYTES_MAX {
            return Err(format!("the description of the anchor `{}` is too long", anchor.anchor_id));
        }
        check_location(anchor.moment.location.as_deref())?;
    }
    Ok(())
}

fn check_location(location: Option<&str>) -> Result<(), String> {
    let is_one = location.is_none_or(|text| (1..=LOCATION_BYTES_MAX).contains(&text.len()));
    if is_one { Ok(()) } else { Err(format!("a clock is at a location of more than {LOCATION_BYTES_MAX} bytes")) }
}
