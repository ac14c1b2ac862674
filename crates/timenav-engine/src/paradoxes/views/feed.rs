use timenav_core::anchor::Anchor;
use timenav_core::clock::ClockMoved;
use timenav_core::event::{Cause, EventDraft};
use timenav_core::ids::EventId;
use timenav_core::ledger::LeafRecord;
use timenav_core::paradox::{AnchorSet, Cancelled, Intervention, Record, Stamp, Version, VersionOrigin};
use timenav_core::time::{Instant, Virtual, parse_timestamp};

use super::timers;
use crate::events::event_content::{CauseContent, event_draft};
use crate::ledger::action::{Action, OnEvents, Topic};
use crate::ledger::payload::{self, Corrected, DataErased, clock_in};
use crate::ports::archive::EntryRow;
use crate::requests::json::read;

pub(super) fn erases(row: &EntryRow) -> bool {
    let action = LeafRecord::decode(&row.leaf).ok().and_then(|record| Action::of(&record));
    let erases = |action: Action| action.erases_events();
    action.filter(|action| erases(*action)).is_some_and(|action| {
        // A sealed record is not an event.
        action != Action::EraseData || DataErased::may_be_of_event(&row.payload)
    })
}

/// Returns whether records change a view itself, as opposed to only its paradoxes.
pub(super) fn are_of_events(records: &[Record<'_>]) -> bool {
    let is_aside = |record: &Record<'_>| {
        matches!(record, Record::Other(_) | Record::ClockMoved { .. } | Record::AnchorSet(_) | Record::Timers(_))
    };
    !records.iter().all(is_aside)
}

/// Passes the records of an entry to `take`. An entry that cannot be parsed is ignored here, because a scan reports it.
pub(super) fn records(row: &EntryRow, offset: u64, take: &mut dyn FnMut(&[Record<'_>])) {
    let Ok(leaf) = LeafRecord::decode(&row.leaf) else { return };
    let (Ok(recorded_at), Ok(clock_at)) = (parse_timestamp(&leaf.recorded_at), parse_timestamp(&leaf.clock_time))
    else {
        return;
    };
    let stamp = Stamp { position: row.position + offset, recorded_at, clock_at };
    if feed_entry(&leaf, row, stamp, take).is_none() {
        take(&[Record::Other(stamp)]);
    }
}

/// Returns `None` if the entry contributes only its time.
fn feed_entry(leaf: &LeafRecord<'_>, row: &EntryRow, stamp: Stamp, take: &mut dyn FnMut(&[Record<'_>])) -> Option<()> {
    let text = std::str::from_utf8(&row.payload).ok().filter(|text| !text.is_empty())?;
    // An action of another version may still change the clock.
    let Some(action) = Action::of(leaf) else { return clock_moved(row, stamp, take) };
    // On `system`, an entry about another timeline contains that timeline's clock and timers.
    if action == Action::CreateTimeline && leaf.subject != leaf.timeline_id {
        return None;
    }
    if let Some(done) = timers::done(action, leaf, row) {
        let moved = moved(row, stamp);
        let first = moved.as_ref().map(|moved| Record::ClockMoved { position: stamp.position, moved });
        done.records(stamp, row.position, first.unwrap_or(Record::Other(stamp)), take);
        return Some(());
    }
    match action.on_events() {
        Some(OnEvents::Records) => version(leaf, text, stamp, VersionOrigin::Recorded, take),
        Some(OnEvents::Corrects) => {
            let corrected: Corrected<'_> = read(&row.payload)?;
            version(leaf, corrected.event.get(), stamp, VersionOrigin::Corrected, take)
        }
        Some(OnEvents::Intervenes) => intervened(leaf, text, stamp, take),
        None if action == Action::SetAnchor => anchor_set(text, stamp, take),
        // Fired timers contain the clock if an advance reached another instant.
        None if action.topic() == Some(Topic::Clock) || action == Action::FireTimers => clock_moved(row, stamp, take),
        None => None,
    }
}

fn anchor_set(text: &str, stamp: Stamp, take: &mut dyn FnMut(&[Record<'_>])) -> Option<()> {
    let Anchor { anchor_id, position, timestamp, fixed: is_fixed, .. } =
        read::<payload::AnchorSet>(text.as_bytes())?.anchor(stamp.position, stamp.recorded_at)?;
    take(&[Record::AnchorSet(AnchorSet { anchor_id: &anchor_id, position, timestamp, is_fixed })]);
    Some(())
}

fn clock_moved(row: &EntryRow, stamp: Stamp, take: &mut dyn FnMut(&[Record<'_>])) -> Option<()> {
    let moved = moved(row, stamp)?;
    take(&[Record::ClockMoved { position: stamp.position, moved: &moved }]);
    Some(())
}

fn moved(row: &EntryRow, stamp: Stamp) -> Option<ClockMoved> {
    // The origin of a paused or resumed clock may be long before this entry.
    let (host, clock) = (stamp.recorded_at, clock_in(&row.payload)?);
    Some(ClockMoved { host, moment: clock.moment(host) })
}

fn version(
    leaf: &LeafRecord<'_>,
    content: &str,
    stamp: Stamp,
    origin: VersionOrigin,
    take: &mut dyn FnMut(&[Record<'_>]),
) -> Option<()> {
    let (event_id, draft) = (EventId::new(&leaf.subject).ok()?, event_draft(content)?);
    take(&[Record::Version(Version { event_id: &event_id, stamp, draft: &draft, origin })]);
    Some(())
}

fn intervened(leaf: &LeafRecord<'_>, text: &str, stamp: Stamp, take: &mut dyn FnMut(&[Record<'_>])) -> Option<()> {
    let parsed: payload::Intervened<'_> = read(text.as_bytes())?;
    let causes: Vec<Cause> = parsed.causes.iter().map(CauseContent::cause).collect::<Option<_>>()?;
    let after = match parsed.after {
        _ if !parsed.changed => After::Same,
        Some(content) => After::Present(Box::new(event_draft(content.get())?)),
        None => After::Cancelled,
    };
    let done = Done {
        event_id: EventId::new(&leaf.subject).ok()?,
        intervention_id: EventId::new(&parsed.intervention_id).ok()?,
        time: parse_timestamp(&parsed.time).ok()?,
        causes,
        effect: &parsed.effect.kind,
        after,
    };
    done.records(stamp, take);
    Some(())
}

pub(super) struct Done<'a> {
    pub(super) event_id: EventId,
    pub(super) intervention_id: EventId,
    pub(super) time: Instant<Virtual>,
    pub(super) causes: Vec<Cause>,
    pub(super) effect: &'a str,
    pub(super) after: After,
}

pub(super) enum After {
    Same,
    Cancelled,
    Present(Box<EventDraft>),
}

impl Done<'_> {
    pub(super) fn records(&self, stamp: Stamp, take: &mut dyn FnMut(&[Record<'_>])) {
        let Self { event_id, intervention_id, time, causes, effect, after } = self;
        let negates = matches!(after, After::Cancelled);
        let intervention =
            Record::Intervention(Intervention { intervention_id, stamp, time: *time, event_id, negates, causes });
        match after {
            After::Same => take(&[intervention]),
            After::Cancelled => {
                let intervention_id = Some(intervention_id);
                take(&[intervention, Record::Cancelled(Cancelled { event_id, stamp, intervention_id })]);
            }
            After::Present(draft) => {
                let origin = if *effect == "restore" { VersionOrigin::Restored } else { VersionOrigin::Changed };
                take(&[intervention, Record::Version(Version { event_id, stamp, draft, origin })]);
            }
        }
    }
}
