use crate::layout::{Meaning, Strength, Target};
use crate::spelled::normalized;
use crate::tables::Tables;

/// Weight of an alternate name: a village loses its name to a city that is this many times as large.
const ALTERNATE_DIVISOR: u64 = 50;
const CODE_DIVISOR: u64 = 1_000;
/// Weight of a region against a city: São Paulo is the city, while California is not a village.
const REGION_DIVISOR: u64 = 20;
/// More than any population. The name of a country, or its code in capital letters, means the country.
const COUNTRY_SCORE: u64 = 1 << 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ranked {
    pub(crate) meaning: Meaning,
    pub(crate) score: u64,
}

impl Tables {
    /// Returns the meanings of a text, most likely first, each target once.
    pub(crate) fn look_up(&self, text: &str) -> Vec<Ranked> {
        let whole = self.named(text, &[]);
        let Some((name, qualifiers)) = text.split_once(',').filter(|_| whole.is_empty()) else { return whole };
        // An unknown qualifier makes the text unknown: `Paris, Xyz`.
        self.qualifiers(qualifiers).map_or_else(Vec::new, |qualifiers| self.named(name, &qualifiers))
    }

    /// Returns the meanings of comma-separated qualifiers, or `None` if one has none.
    pub(crate) fn qualifiers(&self, text: &str) -> Option<Vec<Vec<Target>>> {
        text.split(',').map(|text| Some(self.wholes(text)).filter(|wholes| !wholes.is_empty())).collect()
    }

    /// Returns the meanings of a name within all of the qualifiers.
    fn named(&self, name: &str, qualifiers: &[Vec<Target>]) -> Vec<Ranked> {
        let Some(entry) = self.names.get(normalized(name)) else { return Vec::new() };
        let is_code = is_code(name);
        let mut ranked: Vec<Ranked> = Self::meanings(entry)
            .filter(|meaning| self.is_within_all(meaning.target, qualifiers))
            .map(|meaning| Ranked { meaning, score: self.score(meaning, is_code) })
            .collect();
        ranked.sort_by_key(|ranked| (std::cmp::Reverse(ranked.score), ranked.meaning));
        ranked
    }

    /// Returns the regions, countries and continents that a qualifier may mean.
    fn wholes(&self, text: &str) -> Vec<Target> {
        let entry = self.names.get(normalized(text));
        let targets = entry.into_iter().flat_map(Self::meanings).map(|meaning| meaning.target);
        targets.filter(|target| !matches!(target, Target::City(_))).collect()
    }

    /// Returns whether a place is part of one meaning of each qualifier.
    pub(crate) fn is_within_all(&self, part: Target, qualifiers: &[Vec<Target>]) -> bool {
        qualifiers.iter().all(|wholes| wholes.iter().any(|&whole| self.is_within(part, whole)))
    }

    pub(crate) fn is_within(&self, part: Target, whole: Target) -> bool {
        let region = match part {
            Target::City(city) => Some(self.city(city).region),
            Target::Region(region) => Some(region),
            Target::Country(_) | Target::Continent(_) => None,
        };
        let country = match part {
            Target::Country(country) => Some(country),
            _ => region.map(|region| self.regions[usize::from(region)].country),
        };
        match whole {
            Target::City(_) => false,
            Target::Region(whole) => matches!(part, Target::City(_)) && region == Some(whole),
            Target::Country(whole) => !matches!(part, Target::Country(_)) && country == Some(whole),
            Target::Continent(whole) => {
                country.is_some_and(|country| self.countries[usize::from(country)].continent == whole)
            }
        }
    }

    pub(crate) fn population(&self, target: Target) -> u64 {
        match target {
            Target::City(city) => u64::from(self.city(city).population),
            Target::Region(region) => self.regions[usize::from(region)].population,
            Target::Country(country) => self.countries[usize::from(country)].population,
            Target::Continent(continent) => {
                let of_it = self.countries.iter().filter(|country| country.continent == continent);
                of_it.map(|country| country.population).sum()
            }
        }
    }

    fn score(&self, meaning: Meaning, is_code: bool) -> u64 {
        let population = self.population(meaning.target) + 1;
        let is_whole_country = matches!(meaning.target, Target::Country(_) | Target::Continent(_));
        let population = match meaning.target {
            Target::Region(_) => population.div_ceil(REGION_DIVISOR),
            Target::City(_) | Target::Country(_) | Target::Continent(_) => population,
        };
        match meaning.strength {
            Strength::Primary if is_whole_country => COUNTRY_SCORE + population,
            Strength::Code if is_whole_country && is_code => COUNTRY_SCORE + population,
            Strength::Primary => population,
            Strength::Alternate => population.div_ceil(ALTERNATE_DIVISOR),
            // In lower case it may be an ordinary word: `in`, `us`, `ca`.
            Strength::Code if is_code => population.div_ceil(ALTERNATE_DIVISOR),
            Strength::Code => population.div_ceil(CODE_DIVISOR * CODE_DIVISOR),
        }
    }
}

/// Returns whether a text has the form of a code: two or three capital letters.
fn is_code(text: &str) -> bool {
    let text = text.trim();
    matches!(text.len(), 2 | 3) && text.bytes().all(|byte| byte.is_ascii_uppercase())
}
