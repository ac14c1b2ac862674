use timenav_core::place::{LocationQuery, Point};

#[derive(Clone, Debug, PartialEq)]
pub struct KnownPlace {
    /// The place with its region, such as `Paris, Île-de-France, France`.
    pub name: String,
    pub location: LocationQuery,
    pub is_ambiguous: bool,
    /// A few other candidates, the most likely first.
    pub others: Vec<String>,
}

/// Resolves place names and their time zones.
///
/// Results do not change while the service runs. Implementations must not block, because the committer calls this.
pub trait Gazetteer: Send + Sync + 'static {
    /// Returns the most likely place of a name.
    fn find(&self, name: &str) -> Option<KnownPlace>;

    /// Returns up to `count` places with similarly spelled names, the most likely first.
    fn suggestions(&self, name: &str, count: usize) -> Vec<String>;

    /// For a country or region with several zones, returns that of its capital or largest city.
    fn zone_of(&self, name: &str) -> Option<&'static str>;

    fn zone_at(&self, point: Point) -> &'static str;
}
