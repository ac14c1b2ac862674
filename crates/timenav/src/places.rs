//! The engine's door to the gazetteer that is part of the program.

use timenav_core::place::Point;
use timenav_engine::KnownPlace;

/// Most other meanings of a name that are told.
const OTHERS_MAX: usize = 5;

/// The gazetteer that is part of the program.
pub(crate) struct Places(timenav_places::Gazetteer);

impl Places {
    /// Opens the tables, which takes about a millisecond.
    pub(crate) fn open() -> Self {
        Self(timenav_places::Gazetteer::baked())
    }
}

impl timenav_engine::Gazetteer for Places {
    fn find(&self, name: &str) -> Option<KnownPlace> {
        let found = self.0.look_up(name)?;
        let others = found.others.iter().take(OTHERS_MAX).map(ToString::to_string).collect();
        let (name, location) = (found.best.to_string(), self.0.location(&found.best));
        Some(KnownPlace { name, location, is_ambiguous: found.is_ambiguous, others })
    }

    fn near_spellings(&self, name: &str, count: usize) -> Vec<String> {
        self.0.near_spellings(name, count).iter().map(ToString::to_string).collect()
    }

    fn zone_of(&self, name: &str) -> Option<&'static str> {
        self.0.zone_of(name)
    }

    fn zone_at(&self, point: Point) -> &'static str {
        self.0.zone_at(point)
    }
}
