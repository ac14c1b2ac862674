use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use data_encoding::BASE64URL_NOPAD;
use timenav_core::access::Demand;
use timenav_core::ids::{EventId, TimelineId, TimerId};
use timenav_core::limits::DIFF_ENTRIES_MAX;
use timenav_core::time::Instant;
use timenav_core::timers::DueFiring;

use crate::engine::Engine;
use crate::ledger::head::{Layer, TimelineKey};
use crate::ledger::payload::Reading;
use crate::ports::lookups::OneFact as _;
use crate::ports::rows::{EventVersion, KnownEvent};
use crate::read::cursor::Cursor;
use crate::read::read_view::ReadView;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

mod timers;

pub use timers::{FiringDifference, TimerDifference};

/// Entries read before ids beyond this page are discarded.
const BLOCK_ENTRIES: u64 = 4_096;
/// Maximum number of changed events compared per page. If few of them differ, pages are short.
const CHANGED_EVENTS_MAX: usize = 10_000;
const BLOCK_EVENTS: usize = 500;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffOf {
    #[default]
    Events,
    Timers,
    Firings,
}

#[derive(Clone, Debug)]
pub struct TimelinesDiff {
    pub a: TimelineId,
    pub b: TimelineId,
    pub of: DiffOf,
    pub items_max: usize,
    pub cursor: Option<String>,
}

/// One page of differences: events by id, timers by name, or firings by due time.
#[derive(Clone, Debug)]
pub struct DiffPage {
    pub a: DiffSide,
    pub b: DiffSide,
    /// The timeline of the last common layer.
    pub common: TimelineId,
    /// How many of its entries both share.
    pub common_size: u64,
    pub differences: Vec<Difference>,
    pub timers: Vec<TimerDifference>,
    pub firings: Vec<FiringDifference>,
    /// A page may be short and still have a next one.
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug)]
pub struct DiffSide {
    pub timeline_id: TimelineId,
    pub as_of: Option<u64>,
    pub layers: Vec<TimelineId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub event_id: EventId,
    /// The version on timeline `a`, if it is current there.
    pub a: Option<EventVersion>,
    /// The version on timeline `b`, if it is current there.
    pub b: Option<EventVersion>,
}

/// The last common layer, by number, and how many entries of it both share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parting {
    layer: usize,
    size: u64,
}

struct Apart {
    layers_a: Arc<[Layer]>,
    layers_b: Arc<[Layer]>,
    parting: Parting,
}

#[derive(Default)]
struct Found {
    events: Vec<Difference>,
    timers: Vec<TimerDifference>,
    firings: Vec<FiringDifference>,
}

/// Changed events in id order, from some id on.
struct Changed {
    event_ids: BTreeSet<EventId>,
    /// Whether some were discarded.
    is_cut: bool,
}

impl Engine {
    /// Compares events on two timelines, one of which was forked from the other, or which have a common ancestor. Only
    /// entries since they diverged are examined. Timers and firings are compared in their current state, because
    /// earlier states are not stored.
    ///
    /// # Errors
    /// The caller may not read both, they have no common ancestor, too many entries have been written since they
    /// diverged, the cursor belongs to another query, or the ledger cannot be written.
    #[boxed]
    pub async fn timelines_diff(&self, caller: &Caller, request: TimelinesDiff) -> Result<DiffPage, Refusal> {
        let TimelinesDiff { a, b, of, items_max, cursor } = request;
        let read = Reading::TimelinesDiff { a: a.to_string(), b: b.to_string() };
        let admitted_a = self.authorize_read(caller, a.clone(), Demand::Look, read.clone()).await?;
        let admitted_b = self.authorize_read(caller, b.clone(), Demand::Look, read).await?;
        let query = match of {
            DiffOf::Events => format!("diff {a} {b}"),
            DiffOf::Timers => format!("diff timers {a} {b}"),
            DiffOf::Firings => format!("diff firings {a} {b}"),
        };
        let cursor = cursor.map(|text| self.open_diff_cursor(caller, &query, &text)).transpose()?;
        let first_page = cursor.as_ref().map(|(cursor, _)| (cursor.as_of, cursor.position));
        let admitted_a = admitted_a.with_first_page(first_page.map(|(size_a, _)| size_a));
        let admitted_b = admitted_b.with_first_page(first_page.map(|(_, size_b)| size_b));
        let (before_a, before_b) = (admitted_a.layers_before(), admitted_b.layers_before());
        let parting = parting(&before_a, &before_b).ok_or_else(|| unrelated(&a, &b))?;
        if of == DiffOf::Events {
            check_length(&stretches(&before_a, &before_b, parting))?;
        }
        let look_a = admitted_a.look().await?;
        let look_b = if a == b { look_a.clone() } else { admitted_b.look().await? };
        let (layers_a, layers_b) = (Arc::clone(&look_a.layers), Arc::clone(&look_b.layers));
        let parting = self::parting(&layers_a, &layers_b).ok_or_else(|| unrelated(&a, &b))?;
        let after = cursor.map(|(_, last)| last);
        let apart = Apart { layers_a: Arc::clone(&layers_a), layers_b: Arc::clone(&layers_b), parting };
        let engine = self.clone();
        let comparing = async move { engine.compare(&apart, of, after, items_max).await };
        let (found, last) = self.long_work().in_turn(caller, comparing).await?;
        let sizes = (look_a.size(), look_b.size());
        let next_cursor = last.map(|last| self.diff_cursor(caller, &query, sizes, &last));
        let common = look_a.state.names_of(&layers_a[..=parting.layer]).pop();
        Ok(DiffPage {
            a: DiffSide::of(&look_a),
            b: DiffSide::of(&look_b),
            common: common.ok_or_else(|| Refusal::Damaged("a timeline is missing".to_owned()))?,
            common_size: parting.size,
            differences: found.events,
            timers: found.timers,
            firings: found.firings,
            next_cursor,
        })
    }

    /// Returns the differences after a place, and the place after which the next page begins, if there is one.
    async fn compare(
        &self,
        Apart { layers_a, layers_b, parting }: &Apart,
        of: DiffOf,
        after: Option<String>,
        items_max: usize,
    ) -> Result<(Found, Option<String>), Refusal> {
        match of {
            DiffOf::Events => {
                let after = after.map(|after| EventId::new(&after)).transpose().map_err(|_| Refusal::Cursor)?;
                let stretches = stretches(layers_a, layers_b, *parting);
                let changed = self.changed_after(&stretches, after.as_ref()).await?;
                let (events, last) = self.differences(&changed, layers_a, layers_b, items_max).await?;
                Ok((Found { events, ..Found::default() }, last.map(|last| last.to_string())))
            }
            DiffOf::Timers => {
                let after = after.map(|after| TimerId::new(&after)).transpose().map_err(|_| Refusal::Cursor)?;
                let own = |layers: &[Layer]| layers.last().map_or(TimelineKey(0), |layer| layer.timeline);
                let keys = (own(layers_a), own(layers_b));
                let (timers, last) = self.timers_apart(keys, after, items_max).await?;
                Ok((Found { timers, ..Found::default() }, last.map(|last| last.to_string())))
            }
            DiffOf::Firings => {
                let after = after.map(|after| due_firing(&after).ok_or(Refusal::Cursor)).transpose()?;
                let layers = (&layers_a[..], &layers_b[..]);
                let (firings, last) = self.firings_apart(layers, *parting, after, items_max).await?;
                let last = last.map(|last| format!("{} {}", last.due.micros(), last.position));
                Ok((Found { firings, ..Found::default() }, last))
            }
        }
    }

    async fn changed_after(
        &self,
        stretches: &[(TimelineKey, u64, u64)],
        after: Option<&EventId>,
    ) -> Result<Changed, Refusal> {
        let mut changed = Changed { event_ids: BTreeSet::new(), is_cut: false };
        for &(timeline, first, end) in stretches {
            let mut at = first;
            while at < end {
                let next = at.saturating_add(BLOCK_ENTRIES).min(end);
                self.changed_events(timeline, at, next, &mut changed.event_ids).await?;
                changed.keep(after, CHANGED_EVENTS_MAX);
                at = next;
            }
        }
        Ok(changed)
    }

    async fn differences(
        &self,
        changed: &Changed,
        layers_a: &Arc<[Layer]>,
        layers_b: &Arc<[Layer]>,
        items_max: usize,
    ) -> Result<(Vec<Difference>, Option<EventId>), Refusal> {
        let mut found: Vec<Difference> = Vec::new();
        let event_ids: Vec<EventId> = changed.event_ids.iter().cloned().collect();
        for block in event_ids.chunks(BLOCK_EVENTS) {
            let known_a = self.store().event_versions(Arc::clone(layers_a), block.to_vec()).await?;
            let known_b = self.store().event_versions(Arc::clone(layers_b), block.to_vec()).await?;
            found.extend(block.iter().filter_map(|event_id| Difference::of(event_id, &known_a, &known_b)));
            // One more than the page holds means that there is a next page.
            if found.len() > items_max {
                found.truncate(items_max);
                let last = found.last().map(|last| last.event_id.clone());
                return Ok((found, last));
            }
        }
        let last = event_ids.into_iter().next_back().filter(|_| changed.is_cut);
        Ok((found, last))
    }

    fn diff_cursor(&self, caller: &Caller, query: &str, (size_a, size_b): (u64, u64), last: &str) -> String {
        let place = self.cursor(caller, &format!("{query} {last}"), size_a, 0, size_b);
        format!("{place}.{}", BASE64URL_NOPAD.encode(last.as_bytes()))
    }

    fn open_diff_cursor(&self, caller: &Caller, query: &str, text: &str) -> Result<(Cursor, String), Refusal> {
        let (place, last) = text.split_once('.').ok_or(Refusal::Cursor)?;
        let last = BASE64URL_NOPAD.decode(last.as_bytes()).ok().and_then(|last| String::from_utf8(last).ok());
        let last = last.ok_or(Refusal::Cursor)?;
        Ok((self.open_cursor(caller, &format!("{query} {last}"), place)?, last))
    }
}

impl DiffSide {
    fn of(look: &ReadView) -> Self {
        Self { timeline_id: look.timeline(), as_of: look.position(), layers: look.names() }
    }
}

impl Difference {
    fn of(
        event_id: &EventId,
        known_a: &HashMap<EventId, KnownEvent>,
        known_b: &HashMap<EventId, KnownEvent>,
    ) -> Option<Self> {
        let a = known_a.get(event_id).and_then(KnownEvent::current);
        let b = known_b.get(event_id).and_then(KnownEvent::current);
        let is_alike = a.map(|version| &version.content) == b.map(|version| &version.content);
        (!is_alike).then(|| Self { event_id: event_id.clone(), a: a.cloned(), b: b.cloned() })
    }
}

impl Changed {
    /// Discards ids up to `after`, and the last ones above a limit.
    fn keep(&mut self, after: Option<&EventId>, items_max: usize) {
        if let Some(after) = after {
            self.event_ids = self.event_ids.split_off(after);
            self.event_ids.remove(after);
        }
        while self.event_ids.len() > items_max {
            self.event_ids.pop_last();
            self.is_cut = true;
        }
    }
}

/// Returns the point up to which two timelines are the same; `None` if they have no common ancestor.
fn parting(a: &[Layer], b: &[Layer]) -> Option<Parting> {
    let shared = a.iter().zip(b).take_while(|(a, b)| a.timeline == b.timeline).count();
    // The ancestors of a layer are the same on both sides, so only the last shared layer can differ in size.
    let layer = shared.checked_sub(1)?;
    Some(Parting { layer, size: a[layer].as_of.min(b[layer].as_of) })
}

/// Returns the ranges of ledgers that only one of two timelines has.
fn stretches(a: &[Layer], b: &[Layer], parting: Parting) -> Vec<(TimelineKey, u64, u64)> {
    let of = |layers: &[Layer]| {
        let apart = layers[parting.layer..].iter().enumerate();
        let stretch = |(number, layer): (usize, &Layer)| {
            (layer.timeline, if number == 0 { parting.size } else { 0 }, layer.as_of)
        };
        apart.map(stretch).collect::<Vec<_>>()
    };
    [of(a), of(b)].concat()
}

fn due_firing(text: &str) -> Option<DueFiring> {
    let (due, position) = text.split_once(' ')?;
    let due = Instant::from_micros(due.parse().ok()?)?;
    Some(DueFiring { due, position: position.parse().ok()?, round: u32::MAX })
}

fn check_length(stretches: &[(TimelineKey, u64, u64)]) -> Result<(), Refusal> {
    let entries: u64 = stretches.iter().map(|(_, first, end)| end.saturating_sub(*first)).sum();
    if entries > DIFF_ENTRIES_MAX as u64 {
        return Err(Refusal::LimitReached { what: "entries since the timelines went apart", max: DIFF_ENTRIES_MAX });
    }
    Ok(())
}

fn unrelated(a: &TimelineId, b: &TimelineId) -> Refusal {
    let detail = format!("`{a}` and `{b}` are unrelated: they share no history");
    Refusal::invalid("compare", detail)
}

#[cfg(test)]
mod tests;
