//! Timelines that another service adopts at the end of a life.

use std::sync::Arc;

use timenav_core::as_of::AsOf;
use timenav_core::ids::{AnchorId, TimelineId};
use timenav_engine::Refusal;

use super::World;
use crate::engine::adoption::{adopt_named, another_house_off_disk, export_named};
use crate::engine::life::{Life, found, listed, standing};

impl World<'_> {
    /// Has another service adopt a timeline: it finds there what it had here, now and at every moment that it can be asked
    /// for, and its ledger goes on.
    pub(super) async fn check_bundle(&self, life: &Life) {
        let name = &life.name;
        // Every service has a timeline of that name.
        if *name == TimelineId::main() {
            return;
        }
        let home = self.home();
        // Nobody administers any more what it was forked from.
        if self.ancestors(name).any(|ancestor| self.ended.contains(ancestor)) {
            let exported = home.engine.export_bundle(&home.admin, name).await.map(|_| ());
            assert!(matches!(exported, Err(Refusal::Ended { .. })), "{name}: {exported:?}");
            return;
        }
        let text = export_named(home, name.as_str()).await;
        let mut there = another_house_off_disk();
        there.clock = Arc::clone(&self.house.clock);
        let far = there.open().await;
        adopt_named(&far, self.house, name.as_str(), &text).await.unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        assert_eq!(found(&far, name, None).await, standing(&life.now), "{name}");
        for (position, state) in &life.past {
            let events = found(&far, name, Some(AsOf::Position(*position))).await;
            assert_eq!(events, standing(state), "{name} {position}");
        }
        let marks: Vec<AnchorId> = life.anchors.iter().map(|mark| mark.anchor_id.clone()).collect();
        assert_eq!(listed(&far, name).await, marks, "{name}");
        self.timings.check(&far, name).await;
        far.close().await;
    }
}
