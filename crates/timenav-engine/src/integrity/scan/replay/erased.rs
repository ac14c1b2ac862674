//! Erasures according to entries, including those written during the scan.

use timenav_core::ledger::{EventsErased, LeafRecord, ReadsErased};

use super::{Erased, Replay};
use crate::ledger::action::{Action, Erases};
use crate::ledger::payload::DataErased;
use crate::requests::json::read;

impl Replay {
    pub(in crate::integrity::scan) fn events_erased_later(&self) -> u64 {
        let later = self.erased_later.values().filter(|erased| erased.is_event).count() as u64;
        later + self.missing.positions_erased_later()
    }

    pub(in crate::integrity::scan) fn is_erased_later(&self, position: u64) -> bool {
        self.erased_later.contains_key(&position) || self.missing.is_erased_later(position)
    }

    pub(in crate::integrity::scan) fn later_entry(&mut self, record: &LeafRecord<'_>, position: u64, payload: &[u8]) {
        match Action::of(record).and_then(Action::erases) {
            Some(Erases::Data) => {
                let erased = read::<DataErased>(payload);
                self.erased_later.extend(erased.into_iter().flat_map(|payload| erasures(&payload, position)));
            }
            Some(Erases::Events) => self.missing.events_erased_later(EventsErased::decode(payload).ok()),
            Some(Erases::Reads) => {
                if let Ok(erased) = ReadsErased::decode(payload) {
                    self.missing.reads_erased_later(&erased);
                }
            }
            // Pruned contents are not events, and erasures in a layer happened earlier.
            Some(Erases::Contents | Erases::OfLayer) | None => {}
        }
    }
}

pub(super) fn erasures(payload: &DataErased, by: u64) -> impl Iterator<Item = (u64, Erased)> + use<> {
    let is_event = payload.is_event();
    let DataErased { position, also, cancelled, .. } = payload;
    let first = (*position, Erased { by, is_event, was_active: is_event && !cancelled });
    let also = also.clone();
    std::iter::once(first).chain(also.into_iter().map(move |also| (also, Erased { by, is_event, was_active: false })))
}
