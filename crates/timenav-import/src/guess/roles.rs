mod names;
mod places;
mod times;

use serde_json::{Map, Value, json};
use timenav_core::event::Precision;
use timenav_core::ids::EventId;
use timenav_core::limits::{EVENT_NAME_BYTES_MAX, LOCATION_BYTES_MAX};

use super::{Column, Settings};
use crate::mapping::field::Field;
use names::{has_word, rest_of, words};

pub(super) use times::{is_date, is_moment};

const NOTHING: [&str; 13] =
    ["na", "n/a", "n.a.", "null", "none", "nan", "-", "--", "?", "unknown", "missing", "nil", "(empty)"];
/// Names that as a whole mean an id.
const IDS: [&str; 11] =
    ["eventid", "id", "_id", "uuid", "guid", "recordid", "eventuuid", "eventguid", "gbifid", "globalid", "insertid"];
/// Words in column names that refer to something other than the event.
const OF_OTHERS: [&str; 23] = [
    "file",
    "thread",
    "host",
    "user",
    "service",
    "logger",
    "process",
    "module",
    "function",
    "field",
    "app",
    "class",
    "method",
    "device",
    "author",
    "first",
    "last",
    "server",
    "container",
    "id",
    "number",
    "code",
    "key",
];
/// A record with one of these is a line of a log. A numeric `id` in it is a message type.
const OF_LOGS: [&str; 6] = ["msg", "message", "level", "severity", "logger", "lvl"];
/// Words in column names of names, most specific first.
pub(super) const NAMES: [&str; 7] = ["name", "title", "headline", "event", "summary", "subject", "label"];
/// Words in column names of descriptions, most specific first. A summary or subject is one in addition to a name.
pub(super) const DESCRIPTIONS: [&str; 17] = [
    "description",
    "message",
    "msg",
    "text",
    "comment",
    "comments",
    "remarks",
    "remark",
    "notes",
    "note",
    "details",
    "detail",
    "what",
    "summary",
    "subject",
    "body",
    "content",
];
/// Column names of cities, and of the states or countries that qualify them.
const CITIES: [&str; 5] = ["city", "town", "municipality", "locality", "place"];
const STATES: [&str; 7] = ["state", "province", "county", "region", "country", "department", "st"];

#[derive(Default)]
pub(super) struct Shape {
    /// Whether the columns are members of records, whose names are paths.
    pub(super) is_of_records: bool,
    /// Whether the file has no column names.
    pub(super) is_unnamed: bool,
    /// The number of features with a geometry, and of all features. `None` if the records are not features.
    pub(super) geometries: Option<(usize, usize)>,
    /// Members that are lists of two numbers.
    pub(super) pairs: Vec<String>,
    pub(super) zone: Option<LocalZone>,
}

/// A time zone that the times of a file name by one of its offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalZone {
    /// As written in the file: `CEST`.
    pub(super) given: String,
    pub(super) zone: &'static str,
}

pub(super) struct Roles<'c> {
    columns: &'c [Column],
    shape: &'c Shape,
    taken: Vec<bool>,
    /// Whether a column named like an end may be the time.
    is_lenient: bool,
    /// Columns that would be the time without the chosen one.
    passed_over: Vec<usize>,
    members: Settings,
    missing: Map<String, Value>,
    pub(super) unsure: Vec<String>,
}

impl<'c> Roles<'c> {
    /// Fails if no column is a time.
    pub(super) fn of(columns: &'c [Column], shape: &'c Shape) -> Result<Self, String> {
        let mut roles = Self {
            columns,
            shape,
            taken: vec![false; columns.len()],
            is_lenient: false,
            passed_over: Vec::new(),
            members: Settings::new(),
            missing: Map::new(),
            unsure: Vec::new(),
        };
        for column in columns {
            roles.note_missing(column);
        }
        roles.times()?;
        roles.place();
        roles.event_id();
        let short = |text: &str| text.len() <= EVENT_NAME_BYTES_MAX;
        roles.text("name", &NAMES, short);
        roles.text("description", &DESCRIPTIONS, |_| true);
        roles.location();
        roles.text("actors", &["actors", "actor", "country", "user", "author", "agent", "logger", "hostname"], short);
        roles.markers();
        roles.leave_out();
        Ok(roles)
    }

    pub(super) fn members(&self) -> Settings {
        let mut members = self.members.clone();
        if !self.missing.is_empty() {
            members.push(("missing", Value::Object(self.missing.clone())));
        }
        members
    }

    /// Takes a column, and returns its name in mapping syntax.
    fn take(&mut self, place: usize) -> String {
        self.taken[place] = true;
        named(&self.columns[place].name)
    }

    /// Returns the texts of a column that are not missing.
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

    /// Returns whether almost all texts of a column satisfy the predicate, and there is at least one.
    fn is(&self, place: usize, is: impl Fn(&str) -> bool) -> bool {
        let (mut count, mut right) = (0, 0);
        for text in self.texts(place) {
            count += 1;
            right += usize::from(is(text));
        }
        count > 0 && right * 10 >= count * 9
    }

    /// Returns the columns that have no role yet.
    fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.columns.len()).filter(|place| !self.taken[*place])
    }

    /// Returns the free column whose name is or contains one of these words, most specific first, and whose texts fit.
    fn find(&self, names: &[&str], fits: impl Fn(usize, &str) -> bool) -> Option<usize> {
        let whole = |place: &usize, name: &str| self.columns[*place].name.eq_ignore_ascii_case(name);
        let word = |place: &usize, name: &str| words(&self.columns[*place].name).any(|word| word == name);
        let is = |place: &usize| self.is(*place, |text| fits(*place, text));
        let by = |has: &dyn Fn(&usize, &str) -> bool| {
            names.iter().find_map(|name| self.free().filter(|place| has(place, name)).find(is))
        };
        by(&whole).or_else(|| by(&word))
    }

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

    /// Sets the missing markers of columns that are not fields. In a time column -99 may be a year.
    fn markers(&mut self) {
        let free = self.columns.iter().zip(&self.taken).filter(|(_, is_taken)| !**is_taken);
        for (column, _) in free {
            for (text, count) in column.markers.found() {
                if let Value::Array(texts) = self.missing.entry(&column.name).or_insert_with(|| json!([])) {
                    texts.push(Value::from(text));
                }
                let records = if count == 1 { "record" } else { "records" };
                self.unsure.push(format!(
                    "`{}` is {text} in {count} {records}, which is read as an unknown value",
                    column.name
                ));
            }
        }
    }

    fn zero_is_missing(&mut self, place: usize) {
        let texts = self.missing.entry(&self.columns[place].name).or_insert_with(|| json!([]));
        if let Value::Array(texts) = texts {
            texts.push(Value::from("0"));
        }
    }

    fn event_id(&mut self) {
        let is_id = |name: &str| {
            let name: String = name.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
            let name = name.to_lowercase();
            IDS.iter().any(|id| name == *id || name.replace('_', "") == *id)
        };
        let is_log = self.shape.is_of_records
            && self.columns.iter().any(|column| OF_LOGS.iter().any(|word| column.name.eq_ignore_ascii_case(word)));
        let is_kind = |name: &str, text: &str| is_log && name == "id" && text.bytes().all(|byte| byte.is_ascii_digit());
        let fits = |place: usize| {
            let name = &self.columns[place].name;
            is_id(name) && self.is(place, |text| EventId::new(text).is_ok() && !is_kind(name, text))
        };
        let place = self.free().find(|place| fits(*place));
        let Some(place) = place else { return };
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
                "`{name}` is not used as the id, because values repeat or are empty; ids are derived from the content"
            ));
        }
    }

    fn text(&mut self, field: &'static str, names: &[&str], fits: impl Fn(&str) -> bool) {
        let is_text = |text: &str| text.chars().any(char::is_alphabetic) && !is_moment(text) && fits(text);
        // `log.origin.file.name` and `threadName` refer to something else.
        let is_of_event = |name: &str| match field {
            "name" if self.shape.is_of_records && name.contains('.') => false,
            "name" => !has_word(name, &OF_OTHERS),
            "actors" => !(has_word(name, &["user"]) && has_word(name, &["agent"])),
            _ => true,
        };
        if let Some(place) = self.find(names, |place, text| is_of_event(&self.columns[place].name) && is_text(text)) {
            let column = self.take(place);
            // A column with the name of the field is used without a mapping, but an explicit one is easier to change.
            self.members.push((field, Value::from(column)));
        }
    }

    /// Leaves fields empty that would otherwise be filled from unsuitable columns with their names.
    fn leave_out(&mut self) {
        let is_number = |text: &str| text.parse::<f64>().is_ok();
        let is_precision = |text: &str| Precision::ALL.iter().any(|precision| precision.as_str() == text);
        let is_right = |field: Field, place: usize| match field {
            Field::Precision => self.is_all(place, is_precision),
            Field::RadiusM => self.is_all(place, is_number),
            Field::Causes => self.is_all(place, |text| text.starts_with('[') || EventId::new(text).is_ok()),
            _ => false,
        };
        let mut geo = Map::new();
        let (mut empty, mut notes) = (Settings::new(), Vec::new());
        for field in
            [Field::EventId, Field::EndTime, Field::Precision, Field::Causes, Field::Lat, Field::Lon, Field::RadiusM]
        {
            let names = match (self.shape.geometries, self.shape.is_of_records) {
                (Some(_), _) => field.properties(),
                (None, true) => field.members(),
                (None, false) => field.columns(),
            };
            let is_mapped = match field {
                Field::Lat | Field::Lon => self.members.iter().any(|(word, _)| *word == "geo"),
                _ => self.members.iter().any(|(word, _)| *word == field.as_str()),
            };
            let is_same = |place: &usize| names.iter().any(|name| self.columns[*place].name.eq_ignore_ascii_case(name));
            let place = (0..self.columns.len()).find(is_same).filter(|_| !is_mapped);
            let Some(place) = place.filter(|place| !is_right(field, *place)) else { continue };
            match field {
                Field::Lat | Field::Lon => {
                    geo.insert(field.as_str().trim_start_matches("geo.").to_owned(), Value::from(""));
                }
                _ => empty.push((field.as_str(), Value::from(""))),
            }
            let column = &self.columns[place].name;
            if field != Field::EventId {
                notes.push(format!("`{column}` is not used as `{}`, because of its values", field.as_str()));
            }
        }
        if !geo.is_empty() {
            empty.push(("geo", Value::Object(geo)));
        }
        self.members.extend(empty);
        self.unsure.extend(notes);
    }

    fn is_all(&self, place: usize, is: impl Fn(&str) -> bool) -> bool {
        self.texts(place).all(is)
    }

    /// Takes the name of a place, and the state that qualifies it.
    fn location(&mut self) {
        let is_text = |text: &str| text.chars().any(char::is_alphabetic) && text.len() <= LOCATION_BYTES_MAX;
        let names =
            ["location", "place", "city", "town", "locality", "site", "region", "ort", "lieu", "lugar", "luogo"];
        let Some(place) = self.find(&names, |_, text| is_text(text)) else { return };
        let column = self.columns[place].name.clone();
        let rest = CITIES.iter().find_map(|city| rest_of(&column, city));
        let all = self.columns[place].texts.len();
        let state = rest.and_then(|rest| {
            let is_state = |place: &usize| {
                let name = &self.columns[*place].name;
                STATES.iter().any(|state| rest_of(name, state).is_some_and(|other| other == rest))
            };
            // With an empty column, a template would end with a comma.
            let is_filled = |other: usize| self.texts(other).count() == all;
            self.free()
                .find(|other| *other != place && is_state(other) && is_filled(*other) && self.is(*other, is_text))
        });
        let is_plain = |name: &str| !name.contains(['{', '}']);
        let state = state.map(|state| self.columns[state].name.clone());
        let column = if let Some(state) = state.filter(|state| is_plain(state) && is_plain(&column)) {
            // Both stay attributes, for counting events by them.
            format!("{{{column}}}, {{{state}}}")
        } else {
            self.take(place)
        };
        self.members.push(("location", Value::from(column)));
    }
}

/// Returns the name of a column in mapping syntax: in braces if it contains a bar.
fn named(name: &str) -> String {
    if name.contains('|') || name.starts_with('\'') { format!("{{{name}}}") } else { name.to_owned() }
}
