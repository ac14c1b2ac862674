//! The view of what a key with a horizon sees: of the versions that stand and tell of nothing later, as if nothing else
//! had been recorded.
//!
//! Nobody else has a use for such a view, so it is made for one question. Interventions, cancelled events, older versions,
//! timers and the moves of the clock are no part of it: what was meant to become of an event may be later than the clock.

use std::collections::HashMap;
use std::sync::Arc;

use timenav_core::event::EventDraft;
use timenav_core::horizon::latest_instant;
use timenav_core::ids::EventId;
use timenav_core::paradox::{Builder, Came, Record, Settings, SizeHint, Version};
use timenav_core::time::{Instant, Virtual};

use super::{feed, own, spawned};
use crate::engine::Engine;
use crate::head::Layer;
use crate::long_work::giving_way;
use crate::refusal::Refusal;
use crate::view_board::Kept;

/// Where the versions are that are seen: for each event, the position of the one that stands, if it is seen.
struct Seen {
    until: Instant<Virtual>,
    standing: HashMap<EventId, Option<u64>>,
}

impl Seen {
    fn take(&mut self, records: &[Record<'_>]) {
        for record in records {
            match record {
                Record::Version(version) => {
                    let position = self.shows(version.draft).then_some(version.stamp.position);
                    self.put(version.event_id, position);
                }
                Record::Cancelled(cancelled) => self.put(cancelled.event_id, None),
                Record::Intervention(_)
                | Record::AnchorSet(_)
                | Record::ClockMoved { .. }
                | Record::Timers(_)
                | Record::Other(_) => {}
            }
        }
    }

    fn put(&mut self, event_id: &EventId, position: Option<u64>) {
        match self.standing.get_mut(event_id) {
            Some(standing) => *standing = position,
            None => _ = self.standing.insert(event_id.clone(), position),
        }
    }

    fn shows(&self, draft: &EventDraft) -> bool {
        latest_instant(draft) <= self.until
    }

    fn has(&self, version: &Version<'_>) -> bool {
        self.standing.get(version.event_id) == Some(&Some(version.stamp.position))
    }
}

/// Tells a view what is seen.
fn tell((seen, builder): &mut (Seen, Builder), records: &[Record<'_>]) {
    for record in records {
        if let Record::Version(version) = record
            && seen.has(version)
        {
            // However it came, it is all that is seen of its event.
            builder.add(&Record::Version(Version { came: Came::Recorded, ..*version }));
        }
    }
}

impl Engine {
    /// Makes the view of what tells of nothing later than an instant.
    pub(super) async fn make_narrowed_view(
        &self,
        layers: &Arc<[Layer]>,
        settings: Settings,
        until: Instant<Virtual>,
    ) -> Result<Kept, Refusal> {
        let size = own(layers)?.as_of;
        let seen = Seen { until, standing: HashMap::new() };
        let seen = self.pass_over(layers, seen, Seen::take).await?;
        let builder = Builder::new(settings, SizeHint::default());
        let (_, builder) = self.pass_over(layers, (seen, builder), tell).await?;
        let view = spawned(move || builder.finish()).await?;
        let offset = layers.iter().rev().skip(1).map(|layer| layer.as_of).sum();
        Ok(Kept::new(view, size, offset, size))
    }

    /// Hands all that the entries of a timeline are about to `take`, in their order.
    async fn pass_over<T: Send + 'static>(
        &self,
        layers: &Arc<[Layer]>,
        mut made: T,
        take: fn(&mut T, &[Record<'_>]),
    ) -> Result<T, Refusal> {
        let mut offset = 0;
        for layer in layers.iter() {
            let mut at = 0;
            while at < layer.as_of {
                let rows = self.read_entries(layer, at).await?;
                at += rows.len() as u64;
                made = spawned(move || {
                    for row in giving_way(&rows) {
                        feed::records(row, offset, &mut |records| take(&mut made, records));
                    }
                    made
                })
                .await?;
            }
            offset += layer.as_of;
        }
        Ok(made)
    }
}
