//! The country, region and time zone of a point, and the points of a place.

use timenav_core::place::{Cell, Point, Shape};

use crate::grid::COAST_METRES;
use crate::layout::{Target, chord_squared_of_metres, metres_of_chord_squared, vector};
use crate::tables::Tables;
use crate::tree::nearest;

/// A point this near to the center of a city is in the city's country, regardless of outlines, in meters: city
/// positions are more accurate than borders.
const CITY_METRES: f64 = 2_000.0;
/// Upper bound for half the diagonal of a cell, in meters.
const CELL_REACH_METRES: f64 = 79_000.0;

impl Tables {
    pub(crate) fn country_at(&self, point: Point) -> Option<u8> {
        let mut outlined = None;
        let mut has_candidates = false;
        for candidate in self.grid.candidates(Cell::of(point)) {
            if candidate.is_whole {
                return Some(candidate.country);
            }
            has_candidates = true;
            if candidate.has_outline && self.outlines.contain(usize::from(candidate.country), point) {
                outlined = Some(candidate.country);
            }
        }
        if !has_candidates {
            return None;
        }
        let reach = if outlined.is_some() { CITY_METRES } else { COAST_METRES };
        let city = nearest(self, vector(point), chord_squared_of_metres(reach), |_| true);
        city.map(|(city, _)| self.region_of(city).country).or(outlined)
    }

    /// Returns the city that represents a point: the nearest one in its country, if it is in one.
    pub(crate) fn city_for(&self, point: Point) -> Option<u32> {
        let country = self.country_at(point)?;
        self.nearest_of_country(point, country)
    }

    fn nearest_of_country(&self, point: Point, country: u8) -> Option<u32> {
        // Otherwise the search would visit all cities.
        if !self.countries[usize::from(country)].has_cities {
            return None;
        }
        let of_country = |city| self.region_of(city).country == country;
        nearest(self, vector(point), i64::MAX - 1, of_country).map(|(city, _)| city)
    }

    /// Returns the region of a point: that of the nearest city of its country.
    pub(crate) fn region_at(&self, point: Point) -> Option<u16> {
        self.city_for(point).map(|city| self.city(city).region)
    }

    fn continent_of(&self, country: u8) -> u8 {
        self.countries[usize::from(country)].continent
    }
}

pub(crate) struct NamedShape {
    pub(crate) tables: &'static Tables,
    pub(crate) target: Target,
}

impl Shape for NamedShape {
    fn cells(&self) -> Vec<Cell> {
        let tables = self.tables;
        match self.target {
            Target::Country(country) => {
                let of_country = || tables.grid.cells(|candidate| candidate == country);
                tables.countries[usize::from(country)].cells.get_or_init(of_country).clone()
            }
            Target::Continent(continent) => tables.grid.cells(|candidate| tables.continent_of(candidate) == continent),
            Target::Region(region) => {
                tables.regions[usize::from(region)].cells.get_or_init(|| cells_of_region(tables, region)).clone()
            }
            // Cities are circles.
            Target::City(_) => Vec::new(),
        }
    }

    fn contains(&self, point: Point) -> bool {
        let tables = self.tables;
        match self.target {
            Target::Country(country) => tables.country_at(point) == Some(country),
            Target::Continent(continent) => {
                tables.country_at(point).is_some_and(|country| tables.continent_of(country) == continent)
            }
            Target::Region(region) => tables.region_at(point) == Some(region),
            Target::City(_) => false,
        }
    }
}

fn cells_of_region(tables: &Tables, region: u16) -> Vec<Cell> {
    let country = tables.regions[usize::from(region)].country;
    let mut cells = tables.grid.cells(|candidate| candidate == country);
    cells.retain(|&cell| may_have_region(tables, cell, region, country));
    cells
}

/// Returns whether some point of a cell may be nearer to a city of the region than to any other city of the country.
fn may_have_region(tables: &Tables, cell: Cell, region: u16, country: u8) -> bool {
    let middle = vector(cell.middle());
    let of_country = |city| tables.region_of(city).country == country;
    let Some((city, chord)) = nearest(tables, middle, i64::MAX - 1, of_country) else { return false };
    if tables.city(city).region == region {
        return true;
    }
    // From any point of the cell, the distance to a city differs by at most this from that at the center.
    let reach = metres_of_chord_squared(chord) + 2.0 * CELL_REACH_METRES;
    nearest(tables, middle, chord_squared_of_metres(reach), |city| tables.city(city).region == region).is_some()
}
