//! What keys with a horizon see at the end of a life.

use timenav_engine::Refusal;

use super::World;
use crate::engine::life::{Life, draft, found_as, standing};

const SECOND: i64 = 1_000_000;

impl World<'_> {
    /// Has every key with a horizon look at its timeline: it finds what the model says, and changes nothing.
    pub(super) async fn check_sights(&self, life: &Life) {
        let (home, name) = (self.home(), &life.name);
        let shown = home.engine.read_clock(&home.admin, Some(name.clone())).await.unwrap().current_time;
        for (user, sight, secret) in self.household.sights(name) {
            let caller = home.engine.authenticate(secret).expect("the key works");
            let state = sight.known_at.map_or(&life.now, |position| life.at(position));
            let is_seen = |event: &(i64, String)| !sight.until_clock || event.0 * SECOND <= shown.micros();
            let expected: Vec<_> = standing(state).into_iter().filter(is_seen).collect();
            assert_eq!(found_as((home, &caller), name, None).await, expected, "{user} on {name}: {sight:?}");
            let recorded = home.engine.record_events(&caller, Some(name.clone()), vec![draft(0, 0)], None).await;
            assert!(matches!(recorded, Err(Refusal::BeyondHorizon { .. })), "{user} on {name}: {recorded:?}");
        }
    }
}
