use std::fmt;
use std::sync::Arc;

use timenav_core::place::{Area, LocationQuery, Point};

use crate::areas::NamedShape;
use crate::layout::{Meaning, Strength, Target};
use crate::lookup::Ranked;
use crate::tables::{CONTINENTS, TABLES, Tables};

/// Most matches of a name. Further ones have smaller populations.
const MATCHES_MAX: usize = 32;
/// A name is ambiguous if another match has at least this fraction of the first one's population.
const AMBIGUOUS_RATIO: u64 = 10;

/// Radius of a city with one inhabitant, in meters. It grows with the square root of the population.
const RADIUS_METERS_PER_ROOT: f64 = 12.0;
/// Radius of the smallest and of the largest city, in meters.
const RADIUS_METERS: (f64, f64) = (5_000.0, 50_000.0);

/// The gazetteer. Copies are free, because all read the same tables.
#[derive(Clone, Copy)]
pub struct Gazetteer(&'static Tables);

#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The place, by its number in the tables. Numbers change with the tables.
    pub target: Target,
    pub name: &'static str,
    pub region: Option<&'static str>,
    /// Its country, or its own name if it is one.
    pub country: Option<&'static str>,
    /// The code of that country (ISO 3166-1 alpha-2).
    pub country_code: Option<&'static str>,
    /// A representative point: a city's center, a region's largest city, a country's capital.
    pub point: Option<Point>,
    pub population: u64,
    /// The IANA time zone at that point.
    pub zone: Option<&'static str>,
    /// The radius around the point, in meters, if it is a city.
    pub radius_m: Option<f64>,
    pub strength: Strength,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub best: Match,
    /// The other matches, most likely first.
    pub others: Vec<Match>,
    /// Whether one of the others is also likely, and neither contains the best match nor is contained in it.
    pub is_ambiguous: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NearestCity {
    pub city: Match,
    /// Distance from the point to its center, in meters.
    pub distance_m: f64,
}

impl Gazetteer {
    /// Returns the gazetteer embedded in the program. The first call opens the tables, which takes about a millisecond.
    #[must_use]
    pub fn baked() -> Self {
        Self(&TABLES)
    }

    /// Returns the places that a text may refer to, most likely first.
    ///
    /// A text is a name in any script, optionally followed by what contains the place: `Paris, TX`, `Paris, France`,
    /// `Springfield, Illinois, USA`. Codes of countries and regions match in capital letters, and otherwise only if
    /// there is no other match.
    #[must_use]
    pub fn find(self, text: &str) -> Vec<Match> {
        self.0
            .look_up(text)
            .into_iter()
            .take(MATCHES_MAX)
            .map(|Ranked { meaning, .. }| self.describe(meaning))
            .collect()
    }

    /// Returns the most likely place, and whether the text is ambiguous.
    #[must_use]
    pub fn look_up(self, text: &str) -> Option<Found> {
        let mut matches = self.find(text).into_iter();
        let best = matches.next()?;
        let others: Vec<Match> = matches.collect();
        let is_ambiguous = others.iter().any(|other| self.rivals(&best, other));
        Some(Found { best, others, is_ambiguous })
    }

    /// Returns the IANA time zone of the most likely place, at its point, if it has one.
    #[must_use]
    pub fn zone_of(self, text: &str) -> Option<&'static str> {
        let best = self.0.look_up(text).into_iter().next()?;
        self.describe(best.meaning).zone
    }

    fn rivals(self, best: &Match, other: &Match) -> bool {
        let is_apart = !self.0.is_within(best.target, other.target) && !self.0.is_within(other.target, best.target);
        let is_as_well_named = other.strength <= best.strength;
        is_apart && is_as_well_named && other.population.saturating_mul(AMBIGUOUS_RATIO) >= best.population
    }

    /// Returns at most `count` places whose names differ from a text by one or two letters.
    #[must_use]
    pub fn suggestions(self, text: &str, count: usize) -> Vec<Match> {
        self.0.suggestions(text, count).into_iter().map(|meaning| self.describe(meaning)).collect()
    }

    /// Returns the nearest city to a point, by its center.
    #[must_use]
    pub fn nearest(self, point: Point) -> Option<NearestCity> {
        let (number, _) = crate::tree::nearest(self.0, crate::layout::vector(point), i64::MAX - 1, |_| true)?;
        let city = self.describe(Meaning { target: Target::City(number), strength: Strength::Primary });
        let distance_m = city.point?.distance_m(point);
        Some(NearestCity { city, distance_m })
    }

    /// Returns the country of a point.
    ///
    /// Outlines are from a 1:50 000 000 map, with an accuracy of a few kilometers. A point outside all of them is in
    /// the country of the nearest city, if that is within 20 km.
    #[must_use]
    pub fn country_at(self, point: Point) -> Option<Match> {
        let country = self.0.country_at(point)?;
        Some(self.describe(Meaning { target: Target::Country(country), strength: Strength::Primary }))
    }

    /// Returns the region of a point: that of the nearest city of its country, if known.
    #[must_use]
    pub fn region_at(self, point: Point) -> Option<Match> {
        let region = self.0.region_at(point)?;
        let is_known = !self.0.regions[usize::from(region)].code.is_empty();
        is_known.then(|| self.describe(Meaning { target: Target::Region(region), strength: Strength::Primary }))
    }

    #[must_use]
    pub fn cities(self) -> impl ExactSizeIterator<Item = Match> {
        (0..self.0.cities_count()).map(move |number| {
            let target = Target::City(u32::try_from(number).unwrap_or_default());
            self.describe(Meaning { target, strength: Strength::Primary })
        })
    }

    /// Returns all countries and territories, ordered by code.
    #[must_use]
    pub fn countries(self) -> impl ExactSizeIterator<Item = Match> {
        (0..self.0.countries.len()).map(move |number| {
            let target = Target::Country(u8::try_from(number).unwrap_or_default());
            self.describe(Meaning { target, strength: Strength::Primary })
        })
    }

    /// Returns the IANA time zone at a point: that of the nearest city of its country.
    ///
    /// Where zones meet within a country, this may be the wrong one, up to about half the distance between two cities.
    /// On the high seas, and in countries without cities, it is the nautical zone of the meridian, such as `Etc/GMT+3`.
    #[must_use]
    pub fn zone_at(self, point: Point) -> &'static str {
        self.0.city_for(point).map_or_else(|| nautical_zone(point.lon()), |city| self.0.city_zone(city))
    }

    /// Returns the points of a place: a circle for a city, otherwise an area.
    #[must_use]
    pub fn location(self, place: &Match) -> LocationQuery {
        if let (Some(radius_m), Some(center)) = (place.radius_m, place.point) {
            return LocationQuery::Near { center, radius_m };
        }
        let shape = NamedShape { tables: self.0, target: place.target };
        LocationQuery::Area(Area::new(&self.id(place.target), Arc::new(shape)))
    }

    /// Returns the id of an area, which does not depend on the tables: `country:FR`, `region:US.CA`, `continent:EU`.
    fn id(self, target: Target) -> String {
        match target {
            Target::City(number) => format!("city:{number}"),
            Target::Region(number) => {
                let region = &self.0.regions[usize::from(number)];
                format!("region:{}.{}", self.0.countries[usize::from(region.country)].code, region.code)
            }
            Target::Country(number) => format!("country:{}", self.0.countries[usize::from(number)].code),
            Target::Continent(number) => format!("continent:{}", CONTINENTS[usize::from(number)].0),
        }
    }

    fn describe(self, meaning: Meaning) -> Match {
        let tables = self.0;
        let target = meaning.target;
        let (name, region, country, city) = match target {
            Target::City(number) => {
                let region = tables.region_of(number);
                let named = Some(region.name).filter(|_| !region.code.is_empty());
                (tables.city_name(number), named, Some(region.country), Some(number))
            }
            Target::Region(number) => {
                let region = &tables.regions[usize::from(number)];
                (region.name, None, Some(region.country), region.largest_city)
            }
            Target::Country(number) => {
                let country = &tables.countries[usize::from(number)];
                (country.name, None, Some(number), country.capital)
            }
            Target::Continent(number) => (CONTINENTS[usize::from(number)].1, None, None, None),
        };
        let country = country.map(|country| &tables.countries[usize::from(country)]);
        let population = tables.population(target);
        Match {
            target,
            name,
            region,
            country: country.map(|country| country.name),
            country_code: country.map(|country| country.code),
            point: city.and_then(|city| tables.city_point(city)),
            population,
            zone: city.map(|city| tables.city_zone(city)),
            radius_m: matches!(target, Target::City(_)).then(|| radius_m(population)),
            strength: meaning.strength,
        }
    }
}

impl fmt::Debug for Gazetteer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gazetteer").field("cities", &self.0.cities_count()).finish_non_exhaustive()
    }
}

impl fmt::Display for Match {
    /// Formats the place with what contains it: `Paris, Île-de-France, France`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        let wholes = [self.region, self.country].into_iter().flatten().filter(|&whole| whole != self.name);
        wholes.into_iter().try_for_each(|whole| write!(f, ", {whole}"))
    }
}

/// Returns the radius of a city, for 2 200 inhabitants per square kilometer.
#[expect(clippy::cast_precision_loss, reason = "a city has fewer than 2^52 people")]
fn radius_m(population: u64) -> f64 {
    let (least, most) = RADIUS_METERS;
    (RADIUS_METERS_PER_ROOT * (population as f64).sqrt()).clamp(least, most)
}

/// Returns the nautical zone of a meridian. The sign in its name is that of the offset added to get UTC.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 24 by then")]
fn nautical_zone(lon: f64) -> &'static str {
    const ZONES: [&str; 25] = [
        "Etc/GMT+12",
        "Etc/GMT+11",
        "Etc/GMT+10",
        "Etc/GMT+9",
        "Etc/GMT+8",
        "Etc/GMT+7",
        "Etc/GMT+6",
        "Etc/GMT+5",
        "Etc/GMT+4",
        "Etc/GMT+3",
        "Etc/GMT+2",
        "Etc/GMT+1",
        "Etc/GMT",
        "Etc/GMT-1",
        "Etc/GMT-2",
        "Etc/GMT-3",
        "Etc/GMT-4",
        "Etc/GMT-5",
        "Etc/GMT-6",
        "Etc/GMT-7",
        "Etc/GMT-8",
        "Etc/GMT-9",
        "Etc/GMT-10",
        "Etc/GMT-11",
        "Etc/GMT-12",
    ];
    let hours_east = (lon / 15.0).round().clamp(-12.0, 12.0);
    ZONES[(hours_east + 12.0) as usize]
}
