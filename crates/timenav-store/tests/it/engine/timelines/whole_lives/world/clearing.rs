//! The events erased by a query.

use super::World;
use crate::engine::timelines::life::Known;
use crate::engine::timelines::whole_lives::erasing::{Clearance, Clearing};
use crate::engine::*;

impl World<'_> {
    /// Turns drawn values into an erasure, unless there is nothing to erase.
    pub(super) async fn clearance(&mut self, on: &TimelineId, clearing: Clearing) -> Option<Clearance> {
        if let Some(which) = clearing.which() {
            let born = self.selected(on, &which);
            return Clearance::look(self.home(), on, (which, born)).await;
        }
        match clearing {
            // This operation leaves a fork its own versions.
            Clearing::One(_) if self.parents.contains(on) => None,
            Clearing::One(event) => {
                let born = self.born(on, event)?;
                Some(Clearance::One { event_id: format!("e{event}"), born })
            }
            Clearing::Reads(which) => Clearance::of_reads(self.home(), on, which).await,
            Clearing::Found(..) | Clearing::Unchanged(_) => None,
        }
    }

    /// Returns the selected events among those recorded on the timeline itself.
    fn selected(&mut self, on: &TimelineId, which: &WhichEvents) -> BTreeSet<usize> {
        let now = self.house.clock.now();
        let own: Vec<Known> = self.own(on);
        let is_selected = |known: &Known| match which {
            WhichEvents::Ids(_) => false,
            WhichEvents::Found { range, .. } => known.active_at.is_some_and(|time| {
                let time = moment(time * 1_000_000);
                range.first() <= time && time <= range.last()
            }),
            WhichEvents::Unchanged { span, .. } => {
                let before = now.checked_sub(*span).expect("host time is far from its ends");
                self.changed[&known.born].1 < before
            }
        };
        own.into_iter().filter(is_selected).map(|known| known.born).collect()
    }

    /// Records which of a timeline's own events have just changed.
    pub(super) fn note_changes(&mut self, on: &TimelineId) {
        let now = self.house.clock.now();
        for Known { born, version, .. } in self.own(on) {
            let noted = self.changed.entry(born).or_insert((version, now));
            if noted.0 != version {
                *noted = (version, now);
            }
        }
    }

    /// Returns the events recorded on the timeline itself.
    fn own(&mut self, on: &TimelineId) -> Vec<Known> {
        let known: Vec<Known> = self.life(on).now.values().copied().collect();
        let is_own = |known: &Known| self.recorded.get(&known.born).is_some_and(|(name, _)| name == on);
        known.into_iter().filter(is_own).collect()
    }
}
