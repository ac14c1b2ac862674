//! The door to what knows places by their names.

use timenav_core::place::{LocationQuery, Point};

/// A place that a name means.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownPlace {
    /// The place and what it is in, such as `Paris, Île-de-France, France`.
    pub name: String,
    /// Its points: a circle or an area.
    pub location: LocationQuery,
    /// Whether the name may mean another place.
    pub is_ambiguous: bool,
    /// Other places that the name may mean, the likeliest first, a few of them.
    pub others: Vec<String>,
}

/// Knows places: which one a name means, and what the clocks there show.
///
/// The same question always gets the same answer while the service runs. Nothing here waits: the
/// committer asks while others wait for it.
pub trait Gazetteer: Send + Sync + 'static {
    /// Returns the likeliest place of a name.
    fn find(&self, name: &str) -> Option<KnownPlace>;

    /// Returns at most `count` places whose names are spelled nearly so, the likeliest first.
    fn near_spellings(&self, name: &str, count: usize) -> Vec<String>;

    /// Returns the IANA time zone of the likeliest place of a name: of a country or a region with
    /// several, that of its capital or its largest city.
    fn zone_of(&self, name: &str) -> Option<&'static str>;

    /// Returns the IANA time zone at a point.
    fn zone_at(&self, point: Point) -> &'static str;
}
