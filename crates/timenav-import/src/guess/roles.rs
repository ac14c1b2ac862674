//! Which column is likely to be which field.

mod times;
pub(super) use times::is_moment;

use serde_json::{Map, Value, json};
use timenav_core::ids::EventId;
use timenav_core::limits::EVENT_NAME_BYTES_MAX;

use super::{Column, Settings};
use crate::coordinates::{Axis, degrees, pair};

/// Texts that stand for nothing in the files of many programs.
const NOTHING: [&str; 12] = ["na", "n/a", "n.a.", "null", "none", "nan", "-", "--", "?", "unknown", "missing", "nil"];

/// What the names of coordinates have in them, the most telling first.
const LATITUDES: [&str; 7] = ["lat", "latitude", "latitud", "latitudine", "breite", "breitengrad", "y"];
const LONGITUDES: [&str; 9] =
    ["lon", "lng", "long", "longitude", "longitud", "longitudine", "länge", "längengrad", "x"];

/// What the columns are, as far as that can be seen.
pub(super) struct Roles<'c> {
    columns: &'c [Column],
    taken: Vec<bool>,
    members: Settings,
    missing: Map<String, Value>,
    pub(super) unsure: Vec<String>,
}

impl<'c> Roles<'c> {
    /// Looks at the names and the texts of the columns.
    ///
    /// # Errors
    /// Nothing is known to be a time.
    pub(super) fn of(columns: &'c [Column]) -> Result<Self, String> {
        let mut roles = Self {
            columns,
            taken: vec![false; columns.len()],
            members: Settings::new(),
            missing: Map::new(),
            unsure: Vec::new(),
        };
        for column in columns {
            roles.note_missing(column);
        }
        roles.time()?;
        roles.place();
        roles.event_id();
        let short = |text: &str| text.len() <= EVENT_NAME_BYTES_MAX;
        roles.text("name", &["name", "title", "headline", "event", "summary", "subject"], short);
        roles.text(
            "description",
            &["description", "message", "msg", "text", "comment", "comments", "remarks", "notes"],
            |_| true,
        );
        roles.text(
            "location",
            &["location", "place", "region", "site", "city", "locality", "ort", "lieu", "lugar", "luogo"],
            |text| text.len() <= 512,
        );
        roles.text("actors", &["actors", "actor", "country", "user", "author", "agent", "logger", "hostname"], short);
        roles.markers();
        Ok(roles)
    }

    /// Returns the words of the mapping and their values.
    pub(super) fn members(&self) -> Settings {
        let mut members = self.members.clone();
        if !self.missing.is_empty() {
            members.push(("missing", Value::Object(self.missing.clone())));
        }
        members
    }

    /// Takes a column, and returns its name as a mapping writes it.
    fn take(&mut self, place: usize) -> String {
        self.taken[place] = true;
        named(&self.columns[place].name)
    }

    /// Returns the texts of a column that stand for something.
    fn texts(&self, place: usize) -> impl Iterator<Item = &'c str> {
        let column = &self.columns[place];
        let missing: Vec<String> = self
            .missing
            .get(&column.name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect();
        column
            .texts
            .iter()
            .map(String::as_str)
            .filter(move |text| !text.is_empty() && !missing.iter().any(|one| one == text))
    }

    /// Returns whether nearly all texts of a column are such, and there is one.
    fn is(&self, place: usize, is: impl Fn(&str) -> bool) -> bool {
        let (mut count, mut right) = (0, 0);
        for text in self.texts(place) {
            count += 1;
            right += usize::from(is(text));
        }
        count > 0 && right * 10 >= count * 9
    }

    /// Returns the free column whose name has one of these words, the most telling first, and whose texts fit.
    fn find(&self, names: &[&str], fits: impl Fn(&str) -> bool) -> Option<usize> {
        let free = |place: &usize| !self.taken[*place];
        let places: Vec<usize> = (0..self.columns.len()).filter(free).collect();
        let whole =
            |name: &&str| places.iter().copied().find(|place| self.columns[*place].name.eq_ignore_ascii_case(name));
        let word = |name: &&str| {
            places.iter().copied().find(|place| words(&self.columns[*place].name).any(|word| word == *name))
        };
        let mut likely = names.iter().filter_map(whole).chain(names.iter().filter_map(word));
        likely.find(|place| self.is(*place, &fits))
    }

    /// Remembers which texts of a column stand for nothing.
    fn note_missing(&mut self, column: &Column) {
        let mut found: Vec<&str> = Vec::new();
        for text in &column.texts {
            let is_nothing = NOTHING.contains(&text.to_ascii_lowercase().as_str());
            if is_nothing && !found.contains(&text.as_str()) {
                found.push(text);
            }
        }
        if !found.is_empty() {
            self.missing.insert(column.name.clone(), json!(found));
        }
    }

    /// Says which numbers stand for nothing in the columns that are no field: a year may be -99.
    fn markers(&mut self) {
        let free = self.columns.iter().zip(&self.taken).filter(|(_, is_taken)| !**is_taken);
        for (column, _) in free {
            for (text, count) in column.markers.found() {
                if let Value::Array(texts) = self.missing.entry(&column.name).or_insert_with(|| json!([])) {
                    texts.push(Value::from(text));
                }
                let records = if count == 1 { "record" } else { "records" };
                self.unsure.push(format!(
                    "`{}` is {text} in {count} {records}, which is taken for a value that is not known",
                    column.name
                ));
            }
        }
    }

    /// Says that 0 stands for nothing in a column.
    fn zero_is_missing(&mut self, place: usize) {
        let texts = self.missing.entry(&self.columns[place].name).or_insert_with(|| json!([]));
        if let Value::Array(texts) = texts {
            texts.push(Value::from("0"));
        }
    }

    fn place(&mut self) {
        let lat = self.find(&LATITUDES, |text| degrees(text, Axis::Lat).is_some());
        let lon = self.find(&LONGITUDES, |text| degrees(text, Axis::Lon).is_some());
        if let (Some(lat), Some(lon)) = (lat, lon) {
            let texts = |place: usize| self.columns[place].texts.iter();
            let is_zero = |text: &str| text.parse() == Ok(0.0);
            let zeros = texts(lat).zip(texts(lon)).filter(|(lat, lon)| is_zero(lat) && is_zero(lon)).count();
            if zeros > 0 {
                self.zero_is_missing(lat);
                self.zero_is_missing(lon);
                let names = format!("`{}` and `{}`", self.columns[lat].name, self.columns[lon].name);
                self.unsure
                    .push(format!("{names} are 0 in {zeros} records, which is taken for a place that is not known"));
            }
            let (lat, lon) = (self.take(lat), self.take(lon));
            self.members.push(("geo", json!({ "lat": lat, "lon": lon })));
            return;
        }
        let names = ["coordinates", "coords", "position", "location", "where", "geo", "point"];
        let has_sides = |text: &str| pair(text, false).is_some() && text.contains(['N', 'S', 'E', 'W', ',']);
        if let Some(place) = self.find(&names, has_sides) {
            let name = self.take(place);
            self.unsure
                .push(format!("`{name}` is taken for a latitude and then a longitude; `|lon_lat` says the opposite"));
            self.members.push(("geo", Value::from(name)));
        }
    }

    fn event_id(&mut self) {
        let Some(place) = self.find(&["event_id", "id", "uuid", "guid"], |text| EventId::new(text).is_ok()) else {
            return;
        };
        let texts: Vec<&str> = self.texts(place).collect();
        let mut unlike = texts.clone();
        unlike.sort_unstable();
        unlike.dedup();
        if unlike.len() == texts.len() && texts.len() == self.columns[place].texts.len() {
            let name = self.take(place);
            self.members.push(("event_id", Value::from(name)));
        } else {
            let name = &self.columns[place].name;
            self.unsure.push(format!(
                "`{name}` is no id, as texts in it come again or are empty; ids are made of the content"
            ));
        }
    }

    fn text(&mut self, field: &'static str, names: &[&str], fits: impl Fn(&str) -> bool) {
        let is_text = |text: &str| text.chars().any(char::is_alphabetic) && fits(text);
        if let Some(place) = self.find(names, is_text) {
            let column = self.take(place);
            // What is called so is it by itself; a mapping that says it is easier to change.
            self.members.push((field, Value::from(column)));
        }
    }
}

/// Returns the name of a column as a mapping writes it: in braces where it has a bar.
fn named(name: &str) -> String {
    if name.contains('|') || name.starts_with('\'') { format!("{{{name}}}") } else { name.to_owned() }
}

/// Returns the words of a name in lower case, the last first: that of `Date.Year` is `year`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    for character in name.chars() {
        let begins = character.is_uppercase() && was_lower;
        if !character.is_alphanumeric() {
            words.push(String::new());
        } else if begins || words.is_empty() {
            words.push(character.to_lowercase().collect());
        } else if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase();
    }
    words.into_iter().rev().filter(|word| !word.is_empty())
}
