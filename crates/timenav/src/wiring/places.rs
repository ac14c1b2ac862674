use std::collections::HashSet;

use timenav_core::place::Point;
use timenav_engine::KnownPlace;
use timenav_places::Match;

const OTHERS_MAX: usize = 5;

pub(crate) struct Places(timenav_places::Gazetteer);

impl Places {
    /// Opens the tables, which takes about a millisecond.
    pub(crate) fn open() -> Self {
        Self(timenav_places::Gazetteer::baked())
    }
}

/// Without duplicates and `but`: a city and its region may have the same name, which readers cannot tell apart.
fn once<'p>(places: &'p [Match], but: Option<&'p str>) -> impl Iterator<Item = String> + 'p {
    let mut listed: HashSet<String> = but.map(str::to_owned).into_iter().collect();
    places.iter().map(ToString::to_string).filter(move |name| listed.insert(name.clone()))
}

impl timenav_engine::Gazetteer for Places {
    fn find(&self, name: &str) -> Option<KnownPlace> {
        let found = self.0.look_up(name)?;
        let (name, location) = (found.best.to_string(), self.0.location(&found.best));
        let others = once(&found.others, Some(&name)).take(OTHERS_MAX).collect();
        Some(KnownPlace { name, location, is_ambiguous: found.is_ambiguous, others })
    }

    fn suggestions(&self, name: &str, count: usize) -> Vec<String> {
        once(&self.0.suggestions(name, count), None).collect()
    }

    fn zone_of(&self, name: &str) -> Option<&'static str> {
        self.0.zone_of(name)
    }

    fn zone_at(&self, point: Point) -> &'static str {
        self.0.zone_at(point)
    }
}

#[cfg(test)]
mod tests {
    use timenav_engine::Gazetteer as _;

    use super::*;

    #[test]
    fn place_search_returns_no_duplicates() {
        let places = Places::open();
        for (name, count) in
            [("Luxembourg", 1), ("San Jose", OTHERS_MAX), ("Singapore", 0), ("Springfield", OTHERS_MAX)]
        {
            let found = places.find(name).unwrap();
            let listed: HashSet<&String> = found.others.iter().chain([&found.name]).collect();
            assert_eq!((listed.len(), found.others.len()), (count + 1, count), "{}: {:?}", found.name, found.others);
        }
    }
}
