use std::sync::{LazyLock, OnceLock};

use fst::Map;
use timenav_core::place::{Cell, Point};

use crate::grid::Grid;
use crate::layout::{CITY_BYTES, City, Meaning, point};
use crate::outlines::Outlines;

pub(crate) static TABLES: LazyLock<Tables> = LazyLock::new(Tables::open);

const CITIES: &[u8] = include_bytes!("../data/cities.bin");
const CITY_NAMES: &str = include_str!("../data/cities.txt");
const REGIONS: &str = include_str!("../data/regions.tsv");
const COUNTRIES: &str = include_str!("../data/countries.tsv");
const ZONES: &str = include_str!("../data/zones.txt");
const NAMES: &[u8] = include_bytes!("../data/names.fst");
const MEANINGS: &[u8] = include_bytes!("../data/meanings.bin");
const OUTLINES: &[u8] = include_bytes!("../data/outlines.bin");
const CELLS: &[u8] = include_bytes!("../data/cells.bin");

pub(crate) const CONTINENTS: [(&str, &str); 7] = [
    ("AF", "Africa"),
    ("AN", "Antarctica"),
    ("AS", "Asia"),
    ("EU", "Europe"),
    ("NA", "North America"),
    ("OC", "Oceania"),
    ("SA", "South America"),
];

pub(crate) struct Tables {
    cities: &'static [[u8; CITY_BYTES]],
    pub(crate) regions: Vec<Region>,
    pub(crate) countries: Vec<Country>,
    zones: Vec<&'static str>,
    /// From each normalized name to its meaning, or to the offset of its meanings.
    pub(crate) names: Map<&'static [u8]>,
    pub(crate) outlines: Outlines<'static>,
    pub(crate) grid: Grid<'static>,
}

/// The first-level division of a country: a state, a province.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) country: u8,
    /// The GeoNames code within the country. Empty for cities without a known region.
    pub(crate) code: &'static str,
    pub(crate) name: &'static str,
    pub(crate) population: u64,
    pub(crate) largest_city: Option<u32>,
    /// The cells that may contain its points, computed on first use.
    pub(crate) cells: OnceLock<Vec<Cell>>,
}

/// A country or territory of ISO 3166-1, or Kosovo.
#[derive(Debug)]
pub(crate) struct Country {
    pub(crate) code: &'static str,
    pub(crate) name: &'static str,
    pub(crate) continent: u8,
    pub(crate) population: u64,
    pub(crate) capital: Option<u32>,
    pub(crate) has_cities: bool,
    pub(crate) cells: OnceLock<Vec<Cell>>,
}

impl Tables {
    fn open() -> Self {
        let regions = REGIONS.lines().filter_map(Region::read).collect();
        let countries = COUNTRIES.lines().filter_map(Country::read).collect();
        let zones = ZONES.lines().collect();
        let names = Map::new(NAMES).expect("every test of this crate needs the built-in names");
        let outlines = Outlines::decode(OUTLINES);
        Self { cities: CITIES.as_chunks().0, regions, countries, zones, names, outlines, grid: Grid::new(CELLS) }
    }

    pub(crate) fn cities_count(&self) -> usize {
        self.cities.len()
    }

    pub(crate) fn city(&self, number: u32) -> City {
        City::unpacked(self.cities.get(number as usize).unwrap_or(&[0; CITY_BYTES]))
    }
}

impl Tables {
    pub(crate) fn city_name(&self, number: u32) -> &'static str {
        let from = self.city(number).name_at as usize;
        let until = if (number as usize + 1) < self.cities_count() {
            self.city(number + 1).name_at as usize
        } else {
            CITY_NAMES.len()
        };
        CITY_NAMES.get(from..until).unwrap_or_default()
    }

    pub(crate) fn city_zone(&self, number: u32) -> &'static str {
        self.zones.get(usize::from(self.city(number).zone)).copied().unwrap_or("Etc/UTC")
    }

    pub(crate) fn city_point(&self, number: u32) -> Option<Point> {
        point(self.city(number).vector)
    }

    pub(crate) fn region_of(&self, city: u32) -> &Region {
        &self.regions[usize::from(self.city(city).region)]
    }

    pub(crate) fn meanings(entry: u64) -> impl Iterator<Item = Meaning> {
        // An odd entry is a single meaning, an even one is the offset of a list.
        let only = (entry & 1 == 1).then(|| Meaning::unpacked(u32::try_from(entry >> 1).unwrap_or_default()));
        let list = usize::try_from(entry >> 1).ok().filter(|_| only.is_none());
        let words = list.into_iter().flat_map(|at| {
            let mut words = MEANINGS.get(at..).unwrap_or_default().chunks_exact(4);
            let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let count = words.next().map_or(0, word) as usize;
            words.take(count).map(word)
        });
        only.into_iter().chain(words.map(Meaning::unpacked))
    }
}

impl Region {
    fn read(line: &'static str) -> Option<Self> {
        let mut fields = line.split('\t');
        let country = fields.next()?.parse().ok()?;
        let (code, name) = (fields.next()?, fields.next()?);
        let population = fields.next()?.parse().ok()?;
        let largest_city = fields.next()?.parse().ok();
        Some(Self { country, code, name, population, largest_city, cells: OnceLock::new() })
    }
}

impl Country {
    fn read(line: &'static str) -> Option<Self> {
        let mut fields = line.split('\t');
        let (code, name) = (fields.next()?, fields.next()?);
        let continent = fields.next()?.parse().ok()?;
        let population = fields.next()?.parse().ok()?;
        let capital = fields.next()?.parse().ok();
        let has_cities = fields.next()? == "1";
        Some(Self { code, name, continent, population, capital, has_cities, cells: OnceLock::new() })
    }
}
