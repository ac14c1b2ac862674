use std::collections::BTreeMap;

use anyhow::Context;
use fst::MapBuilder;
use timenav_places::layout::{Meaning, Strength, Target};
use timenav_places::normalized;

use crate::sources::Sources;
use crate::world::{CONTINENTS, Region, World};

/// Names that no source has, or that mean something else there: `name<TAB>country, country.region or GeoNames id`.
const BY_HAND: &str = include_str!("by-hand.tsv");

/// People from which on the alternate names of a city are kept. Fewer would not fit.
const ALTERNATES_PEOPLE_MIN: u32 = 10_000;
/// People from which on a city is found by its names in other scripts than ours.
const OTHER_SCRIPTS_PEOPLE_MIN: u32 = 100_000;

/// Codes of continents in CLDR, in the order of their numbers.
const CONTINENT_CODES: [&str; 7] = ["002", "AQ", "142", "150", "003", "009", "005"];

/// Words that say what kind of region a region is.
const KINDS: [&str; 14] = [
    "province",
    "oblast",
    "region",
    "governorate",
    "department",
    "county",
    "district",
    "state",
    "prefecture",
    "voivodeship",
    "municipality",
    "republic",
    "canton",
    "parish",
];

/// Meanings of names, by what they mean.
#[derive(Default)]
struct Index(BTreeMap<String, BTreeMap<Target, Strength>>);

impl Index {
    fn add(&mut self, name: &str, target: Target, strength: Strength) {
        let name = normalized(name);
        // One letter names nothing.
        if name.len() < 2 {
            return;
        }
        let entry = self.0.entry(name).or_default().entry(target).or_insert(strength);
        *entry = strength.min(*entry);
    }
}

/// Returns the automaton of names and the lists of meanings of those that have several.
pub(crate) fn tables(sources: &Sources, world: &World<'_>) -> anyhow::Result<Vec<(&'static str, Vec<u8>)>> {
    let mut index = Index::default();
    add_cities(&mut index, world)?;
    add_regions(&mut index, sources, world)?;
    add_countries(&mut index, sources, world)?;
    add_by_hand(&mut index, world)?;
    let mut lists: Vec<u8> = Vec::new();
    let mut names = MapBuilder::memory();
    for (name, meanings) in &index.0 {
        let packed = |(&target, &strength): (&Target, &Strength)| Meaning { target, strength }.packed();
        if let (1, Some(meaning)) = (meanings.len(), meanings.iter().next()) {
            names.insert(name, u64::from(packed(meaning)) << 1 | 1)?;
            continue;
        }
        names.insert(name, (lists.len() as u64) << 1)?;
        lists.extend(u32::try_from(meanings.len())?.to_le_bytes());
        lists.extend(meanings.iter().flat_map(|meaning| packed(meaning).to_le_bytes()));
    }
    println!("{:>9} names", index.0.len());
    Ok(vec![("names.fst", names.into_inner()?), ("meanings.bin", lists)])
}

fn add_cities(index: &mut Index, world: &World<'_>) -> anyhow::Result<()> {
    for (number, city) in world.cities.iter().enumerate() {
        let target = Target::City(u32::try_from(number)?);
        index.add(&city.row.name, target, Strength::Primary);
        let row = city.row;
        for name in row.alternatenames.iter().filter(|name| is_kept(name, row.population)) {
            index.add(name, target, strength(name));
        }
    }
    Ok(())
}

/// Returns whether an alternate name is worth its bytes.
///
/// Names in other scripts are kept for large cities only. What machines made of those in ours, in
/// small letters, is what `normalized` makes of them, more or less.
fn is_kept(name: &str, population: u32) -> bool {
    let is_ours = |letter: char| !letter.is_alphabetic() || matches!(letter, ..'\u{250}' | '\u{1e00}'..='\u{1eff}');
    let is_latin = name.chars().all(is_ours);
    let is_machine_made = is_latin && name.starts_with(char::is_lowercase);
    let people_min = if is_latin { ALTERNATES_PEOPLE_MIN } else { OTHER_SCRIPTS_PEOPLE_MIN };
    !is_machine_made && population >= people_min
}

/// Returns how well an alternate name is one: airports have names of three capital letters.
fn strength(name: &str) -> Strength {
    let is_code = name.len() <= 4 && name.bytes().all(|byte| byte.is_ascii_uppercase());
    if is_code { Strength::Code } else { Strength::Alternate }
}

fn add_regions(index: &mut Index, sources: &Sources, world: &World<'_>) -> anyhow::Result<()> {
    for (number, region) in world.regions.iter().enumerate().filter(|(_, region)| !region.name.is_empty()) {
        let target = Target::Region(u16::try_from(number)?);
        index.add(region.name, target, Strength::Primary);
        index.add(&plain(region.name), target, Strength::Alternate);
        let country = world.countries[region.country].iso.to_lowercase();
        let Some(code) = subdivision(sources, &country, region.code, region.name) else { continue };
        let short = code.trim_start_matches(&country).to_uppercase();
        if short.bytes().any(|byte| byte.is_ascii_uppercase()) {
            index.add(&short, target, Strength::Code);
        }
        for names in sources.subdivision_names.values() {
            if let Some(name) = names.get(code) {
                index.add(name, target, Strength::Alternate);
            }
        }
    }
    Ok(())
}

/// Returns the code of ISO 3166-2, in CLDR's manner, of a region of GeoNames: the same code, or the same name.
fn subdivision<'a>(sources: &'a Sources, country: &str, code: &str, name: &str) -> Option<&'a str> {
    let english = sources.subdivision_names.get("en")?;
    let same_code = format!("{country}{}", code.to_lowercase());
    let name = plain(name);
    let of_country = || english.iter().filter(|(code, _)| code.starts_with(country));
    let named = of_country().find(|(_, subdivision)| plain(subdivision) == name);
    // GeoNames numbers most regions as nobody else does; letters are those of ISO.
    let coded =
        || of_country().find(|(code, _)| **code == same_code && !code.ends_with(|end: char| end.is_ascii_digit()));
    named.or_else(coded).map(|(code, _)| code.as_str())
}

/// Returns a name without the word for what it is a name of.
fn plain(name: &str) -> String {
    let name = normalized(name);
    let words: Vec<&str> = name.split(' ').collect();
    match words.as_slice() {
        [rest @ .., kind] if KINDS.contains(kind) && !rest.is_empty() => rest.join(" "),
        _ => name,
    }
}

fn add_countries(index: &mut Index, sources: &Sources, world: &World<'_>) -> anyhow::Result<()> {
    for (number, country) in world.countries.iter().enumerate() {
        let target = Target::Country(u8::try_from(number)?);
        index.add(&country.name, target, Strength::Primary);
        index.add(&country.iso, target, Strength::Code);
        index.add(&country.iso3, target, Strength::Code);
        for geometry in &sources.topology.objects.countries.geometries {
            if geometry.id.as_ref().and_then(|id| id.parse().ok()) == Some(country.isonumeric) {
                index.add(&geometry.properties.name, target, Strength::Alternate);
            }
        }
        add_territory(index, sources, &country.iso, target);
    }
    for (number, code) in CONTINENT_CODES.iter().enumerate().take(CONTINENTS.len()) {
        add_territory(index, sources, code, Target::Continent(u8::try_from(number)?));
    }
    Ok(())
}

fn add_territory(index: &mut Index, sources: &Sources, code: &str, target: Target) {
    for (language, names) in &sources.territory_names {
        let is_of_code =
            |key: &str| key == code || key.strip_prefix(code).is_some_and(|rest| rest.starts_with("-alt-"));
        for (_, name) in names.iter().filter(|(key, _)| is_of_code(key)) {
            let is_short = name.len() <= 3;
            let strength = match *language {
                "en" if !is_short => Strength::Primary,
                _ if is_short && name.is_ascii() => Strength::Code,
                _ => Strength::Alternate,
            };
            index.add(name, target, strength);
        }
    }
}

fn add_by_hand(index: &mut Index, world: &World<'_>) -> anyhow::Result<()> {
    for line in BY_HAND.lines().filter(|line| !line.starts_with('#')) {
        let (name, target) = line.split_once('\t').with_context(|| format!("`{line}` has no tab"))?;
        let country = world.countries.iter().position(|country| country.iso == target);
        let id: Option<u32> = target.parse().ok();
        let city = world.cities.iter().position(|city| Some(city.row.geonameid) == id);
        let region = target.split_once('.').and_then(|(country, code)| {
            let is_match = |region: &Region<'_>| world.countries[region.country].iso == country && region.code == code;
            world.regions.iter().position(is_match)
        });
        let target = match (country, region, city) {
            (Some(country), ..) => Target::Country(u8::try_from(country)?),
            (_, Some(region), _) => Target::Region(u16::try_from(region)?),
            (.., Some(city)) => Target::City(u32::try_from(city)?),
            (None, None, None) => anyhow::bail!("`{line}` means nothing"),
        };
        index.add(name, target, Strength::Primary);
    }
    Ok(())
}
