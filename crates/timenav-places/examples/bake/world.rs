use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use timenav_core::place::Point;
use timenav_places::layout::{Vector, tree_middle, vector};
use timenav_places::normalized;

use crate::sources::{CityRow, CountryRow, RegionRow, Sources};

/// Continents in the order of their numbers.
pub(crate) const CONTINENTS: [&str; 7] = ["AF", "AN", "AS", "EU", "NA", "OC", "SA"];

pub(crate) struct City<'a> {
    pub(crate) row: &'a CityRow,
    pub(crate) point: Point,
    pub(crate) vector: Vector,
    pub(crate) region: usize,
    pub(crate) country: usize,
}

pub(crate) struct Region<'a> {
    pub(crate) country: usize,
    pub(crate) code: &'a str,
    /// Empty where GeoNames names none.
    pub(crate) name: &'a str,
}

pub(crate) struct World<'a> {
    /// In the order of the tree.
    pub(crate) cities: Vec<City<'a>>,
    pub(crate) regions: Vec<Region<'a>>,
    pub(crate) countries: Vec<&'a CountryRow>,
    pub(crate) zones: Vec<&'a str>,
}

impl<'a> World<'a> {
    pub(crate) fn of(sources: &'a Sources) -> anyhow::Result<Self> {
        let mut countries: Vec<&CountryRow> = sources.countries.iter().collect();
        countries.sort_by_key(|country| &country.iso);
        let regions = regions(&countries, &sources.regions);
        let number = |code: &str| countries.binary_search_by_key(&code, |country| &country.iso).ok();
        let mut cities = Vec::with_capacity(sources.cities.len());
        for row in &sources.cities {
            let country = number(&row.countrycode).with_context(|| format!("there is no {}", row.countrycode))?;
            let region = |code| regions.binary_search_by_key(&(country, code), |region| (region.country, region.code));
            // A code that nobody names is that of no region.
            let region = region(row.admin1code.as_str()).or_else(|_| region("")).unwrap_or_default();
            let point = Point::new(row.latitude, row.longitude).context("a city is not on the earth")?;
            cities.push(City { row, point, vector: vector(point), region, country });
        }
        into_tree(&mut cities, 0);
        let zones: BTreeSet<&str> = sources.cities.iter().map(|city| city.timezone.as_str()).collect();
        Ok(Self { cities, regions, countries, zones: zones.into_iter().collect() })
    }

    fn largest(&self) -> BTreeMap<usize, usize> {
        let mut cities: Vec<usize> = (0..self.cities.len()).collect();
        cities
            .sort_by_key(|&city| Reverse((self.cities[city].row.population, Reverse(self.cities[city].row.geonameid))));
        let mut largest = BTreeMap::new();
        for city in cities {
            largest.entry(self.cities[city].region).or_insert(city);
        }
        largest
    }

    /// Returns the capital of a country, or else its largest city.
    pub(crate) fn capital(&self, country: usize) -> Option<usize> {
        let capital = normalized(&self.countries[country].capital);
        let of_country = || (0..self.cities.len()).filter(|&city| self.cities[city].country == country);
        let is_named = |city: &usize| {
            let row = self.cities[*city].row;
            let mut names = row.alternatenames.iter().chain([&row.name]);
            names.any(|name| normalized(name) == capital)
        };
        let size = |city: &usize| {
            (self.cities[*city].row.name == self.countries[country].capital, self.cities[*city].row.population)
        };
        let named = of_country().filter(is_named).max_by_key(size);
        named.or_else(|| of_country().max_by_key(size))
    }

    pub(crate) fn tables(&self) -> Vec<(&'static str, Vec<u8>)> {
        let mut zones = self.zones.join("\n");
        zones.push('\n');
        vec![
            ("regions.tsv", lines(self.region_rows())),
            ("countries.tsv", lines(self.country_rows())),
            ("zones.txt", zones.into_bytes()),
        ]
    }

    fn region_rows(&self) -> impl Iterator<Item = [String; 5]> {
        let largest = self.largest();
        self.regions.iter().enumerate().map(move |(number, region)| {
            let cities = self.cities.iter().filter(|city| city.region == number);
            let people: u64 = cities.map(|city| u64::from(city.row.population)).sum();
            let city = largest.get(&number).map_or_else(String::new, ToString::to_string);
            [region.country.to_string(), region.code.to_owned(), region.name.to_owned(), people.to_string(), city]
        })
    }

    fn country_rows(&self) -> impl Iterator<Item = [String; 6]> {
        self.countries.iter().enumerate().map(|(number, country)| {
            let continent = CONTINENTS.iter().position(|&code| code == country.continentcode).unwrap_or_default();
            let capital = self.capital(number).map_or_else(String::new, |city| city.to_string());
            let has_cities = u8::from(self.cities.iter().any(|city| city.country == number)).to_string();
            let (people, name) = (country.population.to_string(), country.name.trim().to_owned());
            [country.iso.clone(), name, continent.to_string(), people, capital, has_cities]
        })
    }
}

fn lines<const N: usize>(rows: impl Iterator<Item = [String; N]>) -> Vec<u8> {
    rows.flat_map(|row| (row.join("\t") + "\n").into_bytes()).collect()
}

/// Returns the regions of all countries, and one without code and name for each.
fn regions<'a>(countries: &[&CountryRow], rows: &'a [RegionRow]) -> Vec<Region<'a>> {
    let mut regions = Vec::with_capacity(rows.len() + countries.len());
    for (country, row) in countries.iter().enumerate() {
        regions.push(Region { country, code: "", name: "" });
        for region in rows {
            if let Some((of, code)) = region.code.split_once('.').filter(|(of, _)| *of == row.iso) {
                debug_assert!(!of.is_empty());
                regions.push(Region { country, code, name: &region.name });
            }
        }
    }
    regions.sort_by_key(|region| (region.country, region.code));
    regions
}

/// Puts cities into the order of a k-d tree.
fn into_tree(cities: &mut [City<'_>], axis: usize) {
    if cities.len() < 2 {
        return;
    }
    let middle = tree_middle(0, cities.len());
    cities.select_nth_unstable_by_key(middle, |city| (city.vector[axis], city.row.geonameid));
    let (before, behind) = cities.split_at_mut(middle);
    into_tree(before, (axis + 1) % 3);
    into_tree(&mut behind[1..], (axis + 1) % 3);
}
