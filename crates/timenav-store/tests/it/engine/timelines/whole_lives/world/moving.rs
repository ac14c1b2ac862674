//! Timelines exported at the end of a life.

use super::World;
use crate::engine::integrity::bundles::{checked_of, export_of};
use crate::engine::timelines::life::Life;
use crate::engine::*;

impl World<'_> {
    /// Exports a timeline: a verification of the file without the service finds all of its entries and no fault.
    pub(super) async fn check_bundle(&self, life: &Life) {
        let (name, home) = (&life.name, self.home());
        // Its parent has ended and is not administered any more.
        if self.ancestors(name).any(|ancestor| self.ended.contains(ancestor)) {
            let exported = home.engine.export_bundle(&home.admin, name).await.map(|_| ());
            assert!(matches!(exported, Err(Refusal::Ended { .. })), "{name}: {exported:?}");
            return;
        }
        let text = export_of(home, name).await;
        let bundle = checked_of(home, name, &text).unwrap_or_else(|what| panic!("{name}: {what}"));
        assert_eq!(bundle.layers.last().map(|(timeline, _)| timeline), Some(name));
        assert_eq!(bundle.layers.len(), 1 + self.ancestors(name).count(), "{name}");
    }
}
