use serde_json::{Map, Value, json};
use timenav_core::time::Zone;

use super::super::lines::zone_in_name;
use super::names::{has_word, rest_of, words};
use super::{LocalZone, Roles, named};
use crate::mapping::TimePart;
use crate::time::time_format::number_alone;
pub(in crate::guess) use readings::{is_date, is_moment};
use readings::{is_local_timestamp, is_timestamp};
use vocabulary::{BETWEEN, CREATED, ENDS, NAMES, OF_EVENT, OTHERS, PARTS, PARTS_OF_YEAR, STARTED, UTC, ZONES};

mod readings;
mod vocabulary;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Start,
    End,
}

#[derive(Clone, Debug, Default)]
struct Reading {
    /// The mapping suffix after the bar, if one is needed.
    suffix: Option<String>,
    /// The assumptions to report.
    notes: Vec<String>,
}

struct Found {
    value: Value,
    places: Vec<usize>,
    notes: Vec<String>,
}

impl Roles<'_> {
    /// Finds the time and the end, each in one column or in parts.
    pub(super) fn times(&mut self) -> Result<(), String> {
        let mut start = self.moment(Moment::Start);
        if start.is_none() {
            // The time of a change, or of an end, is better than none.
            self.is_lenient = true;
            start = self.moment(Moment::Start);
            self.is_lenient = false;
        }
        let Some(start) = start else { return Err(crate::item::clipped(self.no_time())) };
        let date = start.value.get("date").filter(|_| start.value.get("time_of_day").is_some()).cloned();
        self.add("time", start);
        if let Some(mut end) = self.moment(Moment::End).or_else(|| self.end_of_day(date.as_ref()?)) {
            let name = &self.columns[end.places[0]].name;
            end.notes.insert(
                0,
                format!(
                    "`{name}` is used as the end (`end_time`); a date without a time ends an event when that day begins"
                ),
            );
            self.add("end_time", end);
        }
        let is_time = |text: &str| is_timestamp(text) || is_local_timestamp(text) || is_date(text);
        let is_other = |place: &usize| self.is(*place, is_time) || self.passed_over.contains(place);
        let others: Vec<&str> = self.free().filter(is_other).map(|place| self.columns[place].name.as_str()).collect();
        let notes = match others.as_slice() {
            [] => return Ok(()),
            [other] => format!("`{other}` holds times too, and stays an attribute"),
            others => format!("`{}` hold times too, and stay attributes", others.join("`, `")),
        };
        self.unsure.push(crate::item::clipped(notes));
        Ok(())
    }

    fn add(&mut self, field: &'static str, found: Found) {
        for place in found.places {
            self.taken[place] = true;
        }
        for note in found.notes {
            if !self.unsure.contains(&note) {
                self.unsure.push(note);
            }
        }
        self.members.push((field, found.value));
    }

    /// Returns an end that is a time of day, on the start date.
    fn end_of_day(&mut self, date: &Value) -> Option<Found> {
        let (place, format) = self.time_of_day(Moment::End)?;
        let name = self.name(place);
        let mut notes = vec![format!(
            "`{name}` is read as a time on the same day; an event past midnight would end before it begins"
        )];
        let value = format.map_or_else(|| name.clone(), |format| format!("{name}|{format}"));
        let zone = self.zone(&name, &mut notes);
        Some(Found { value: json!({ "date": date, "time_of_day": value, "zone": zone }), places: vec![place], notes })
    }

    fn moment(&mut self, moment: Moment) -> Option<Found> {
        if let Some((place, reading)) = self.whole_time(moment) {
            return Some(self.in_one(place, reading));
        }
        // A year next to a date repeats it.
        let parts = self.in_parts(moment);
        let is_month = |found: &Found| found.value.get("month").is_some();
        let date = if parts.as_ref().is_some_and(is_month) { None } else { self.date_and_time(moment) };
        if let Some(found) = date.or(parts) {
            return Some(found);
        }
        let (place, reading) = (moment == Moment::Start).then(|| self.unmistakable())??;
        if self.has_clock(place, &reading) {
            return Some(self.in_one(place, reading));
        }
        let date = reading.suffix.map_or_else(|| self.name(place), |format| format!("{}|{format}", self.name(place)));
        let mut found = Found { value: json!({ "date": date }), places: vec![place], notes: reading.notes };
        self.add_time_of_day(Moment::Start, &mut found);
        Some(found)
    }

    /// Returns the name of a column in mapping syntax.
    fn name(&self, place: usize) -> String {
        named(&self.columns[place].name)
    }

    /// Returns whether a column may be the start or the end, by its name.
    fn is_of(&self, moment: Moment, place: usize) -> bool {
        let name = &self.columns[place].name;
        match moment {
            Moment::Start => self.is_lenient || (!has_word(name, &ENDS) && !has_word(name, &OTHERS)),
            Moment::End => has_word(name, &ENDS) && !has_word(name, &OTHERS),
        }
    }

    fn in_one(&self, place: usize, reading: Reading) -> Found {
        let (name, mut notes) = (self.name(place), reading.notes);
        let value = reading.suffix.map_or_else(|| name.clone(), |suffix| format!("{name}|{suffix}"));
        let value = if self.needs_zone(place, &value) {
            if let Some(template) = self.with_zone_column(place).filter(|_| value == name) {
                return Found { value: Value::from(template), places: vec![place], notes };
            }
            json!({ "column": value, "zone": self.zone(&name, &mut notes) })
        } else {
            Value::from(value)
        };
        if let Some(year) = self.texts(place).find(|text| text.starts_with('-') && !has_word(&name, &["offset"])) {
            notes.push(format!("`{name}` has years before 1 CE, such as {year}; check how they are read"));
        }
        Found { value, places: vec![place], notes }
    }

    /// Returns a template of a local time and the zone or offset in another column, if there is one.
    fn with_zone_column(&self, place: usize) -> Option<String> {
        let is_offset =
            |text: &str| text.starts_with(['+', '-']) && is_timestamp(&format!("2000-01-01T00:00:00{text}"));
        let is_zone = |text: &str| Zone::named(text).is_some();
        let column = |place: usize| Some(&self.columns[place].name).filter(|name| !name.contains(['{', '}']));
        let time = column(place)?;
        // Of several, the one whose name has the most words of that of the time.
        let shared = |zone: &usize| {
            let count = words(&self.columns[*zone].name).filter(|word| has_word(time, &[word])).count();
            (count, std::cmp::Reverse(*zone))
        };
        let named = |place: &usize| has_word(&self.columns[*place].name, &ZONES);
        let zone = self.free().filter(named).max_by_key(shared)?;
        let name = column(zone)?;
        match (self.is(zone, is_offset), self.is(zone, is_zone)) {
            (true, _) => Some(format!("{{{time}}}{{{name}}}")),
            (false, true) => Some(format!("{{{time}}}[{{{name}}}]")),
            (false, false) => None,
        }
    }

    /// Returns the zone for times without one, and reports it.
    fn zone(&self, name: &str, notes: &mut Vec<String>) -> &'static str {
        if let Some(LocalZone { given, zone }) = self.shape.zone.clone().or_else(|| zone_in_name(name)) {
            notes.push(format!("the times have the zone `{given}`; `{zone}` is used"));
            return zone;
        }
        notes.push(format!("`{name}` has no zone, so UTC is assumed; set another in `zone`"));
        UTC
    }

    /// Returns the column with complete times, and how to parse it.
    fn whole_time(&mut self, moment: Moment) -> Option<(usize, Reading)> {
        let rank = |place: usize| -> Option<usize> {
            let name = &self.columns[place].name;
            let whole = NAMES.iter().position(|known| name.eq_ignore_ascii_case(known));
            let by_word = || NAMES.iter().position(|known| words(name).any(|word| word == *known));
            let lower = name.to_lowercase();
            // `eventdate`, `Buchungstag`.
            let inner = || NAMES.iter().position(|known| known.len() >= 3 && lower.ends_with(known));
            let of_event = || by_word().filter(|_| has_word(name, &OF_EVENT));
            let whole = whole.map(|rank| rank + NAMES.len());
            let by_word = || Some(by_word()? + NAMES.len());
            let rank = of_event()
                .or(whole)
                .or_else(|| Some(by_word()? + NAMES.len()))
                .or_else(|| Some(inner()? + 2 * NAMES.len()));
            // The name of an end column may consist of that word alone.
            rank.or((moment == Moment::End || self.shape.is_unnamed).then_some(3 * NAMES.len()))
        };
        let filled = |place: usize| self.texts(place).count();
        let mut found: Vec<(usize, usize, Reading)> = Vec::new();
        for place in self.free().filter(|place| self.is_of(moment, *place)) {
            if let Some(rank) = rank(place)
                && let Some(reading) = self.reading_of(moment, place)
            {
                found.push((rank, place, reading));
            }
        }
        // A timestamp is a time, whatever its name.
        if found.is_empty() && moment == Moment::Start {
            let is_timestamp = |place: &usize| self.is_written_out(moment, *place) == Some(true);
            let of = |is_right: &dyn Fn(usize) -> bool| {
                let places = self.free().filter(|place| is_right(*place)).filter(is_timestamp);
                places.max_by_key(|place| (filled(*place), std::cmp::Reverse(*place)))
            };
            let place = of(&|place| self.is_of(moment, place))?;
            return Some((place, Reading::default()));
        }
        let most = found.iter().map(|(_, place, _)| filled(*place)).max()?;
        // Among several, one that most records have.
        found.retain(|(_, place, _)| moment == Moment::End || filled(*place) * 10 >= most * 9);
        let has = |place: usize, these: &[&str]| has_word(&self.columns[place].name, these);
        if found.iter().any(|(_, place, _)| has(*place, &STARTED)) {
            // When a record was created is then not when its event was.
            found.retain(|(_, place, _)| !has(*place, &CREATED));
        }
        let (_, place, reading) = found.iter().min_by_key(|(rank, place, _)| (*rank, *place))?.clone();
        self.passed_over.extend(found.iter().map(|(_, place, _)| *place));
        Some((place, reading))
    }

    /// Returns a column that can only contain times or dates, whatever its name.
    fn unmistakable(&self) -> Option<(usize, Reading)> {
        let is_right = |reading: &Reading| {
            reading.suffix.as_deref().is_some_and(|suffix| {
                let has_year = suffix.contains("YYYY") || suffix.contains("%Y");
                has_year
                    && (suffix.contains(BETWEEN) || suffix.contains(['m', 'M', ' ']) && suffix != "YYYYMMDD")
                    && !suffix.starts_with("YYYYMMDDHH")
            })
        };
        let found = self.free().filter(|place| self.is_of(Moment::Start, *place)).find_map(|place| {
            let reading = self.reading_of(Moment::Start, place).or_else(|| self.short_date(place));
            Some((place, reading.filter(is_right)?))
        });
        found.or_else(|| {
            let date = self.free().find(|place| self.is(*place, is_date))?;
            Some((date, Reading::default())).filter(|(place, _)| self.is_of(Moment::Start, *place))
        })
    }

    fn no_time(&self) -> String {
        let names: Vec<&str> =
            self.columns.iter().map(|column| column.name.as_str()).filter(|name| !name.is_empty()).collect();
        let note = "no time was recognized";
        if names.is_empty() {
            return format!("{note}, and no columns have names. If these are text lines, describe them with `pattern`");
        }
        let mut note = format!("{note}; the names are `{}`", names.join("`, `"));
        if names.iter().any(|name| name.starts_with(|c: char| c.is_ascii_digit())) {
            note.push_str(". If the first row is a record, name the columns with `columns`");
        }
        let count = |place: usize| self.texts(place).filter(|text| is_moment(text)).count();
        let most = (0..self.columns.len()).map(|place| (count(place), place)).max_by_key(|(count, _)| *count);
        let Some((count, place)) = most.filter(|(count, _)| *count > 0) else { return note };
        let name = &self.columns[place].name;
        let all = self.texts(place).count();
        format!(
            "{note}. `{name}` is a time in {count} of {all} records: `time={name}` imports those and rejects the others"
        )
    }

    /// Returns a time in separate columns for its parts.
    fn in_parts(&mut self, moment: Moment) -> Option<Found> {
        let (year, word) = self.part(moment, TimePart::Year, PARTS[0].1, None)?;
        let rest = rest_of(&self.columns[year].name, word).unwrap_or_default();
        let mut found = Found { value: json!({}), places: vec![year], notes: Vec::new() };
        let mut parts = Map::new();
        self.years(year, &mut parts, &mut found.notes);
        for (part, names) in PARTS.into_iter().skip(1) {
            let Some((place, _)) = self.part(moment, part, names, Some(&rest)) else {
                found.notes.extend(self.doubted(moment, part, names));
                found.notes.extend((part == TimePart::Month).then(|| self.unused_part()).flatten());
                break;
            };
            found.places.push(place);
            parts.insert(part.as_str().to_owned(), Value::from(self.name(place)));
        }
        let hour = parts.get("hour").and_then(Value::as_str).map(str::to_owned);
        found.value = Value::Object(parts);
        match hour {
            Some(hour) => found.value["zone"] = Value::from(self.zone(&hour, &mut found.notes)),
            None => self.add_time_of_day(moment, &mut found),
        }
        Some(found)
    }

    fn date_and_time(&mut self, moment: Moment) -> Option<Found> {
        let (place, reading) = self.date(moment)?;
        let name = self.name(place);
        let date = reading.suffix.map_or_else(|| name.clone(), |format| format!("{name}|{format}"));
        let mut found = Found { value: json!({ "date": date }), places: vec![place], notes: reading.notes };
        self.add_time_of_day(moment, &mut found);
        Some(found)
    }

    fn add_time_of_day(&mut self, moment: Moment, found: &mut Found) {
        let Some((place, format)) = self.time_of_day(moment).filter(|(place, _)| !found.places.contains(place)) else {
            return self.add_clock_parts(moment, found);
        };
        self.doubt_zeros(place, &mut found.notes);
        let name = self.name(place);
        let value = format.map_or_else(|| name.clone(), |format| format!("{name}|{format}"));
        found.value["time_of_day"] = Value::from(value);
        found.places.push(place);
        let has_offset = |text: &str| text.ends_with(['Z', 'z']) || text.contains('+') || text.contains('-');
        if !self.is(place, has_offset) {
            found.value["zone"] = Value::from(self.zone(&name, &mut found.notes));
        }
    }

    /// Adds the hour, minute and second to a date, if they have columns of their own.
    fn add_clock_parts(&self, moment: Moment, found: &mut Found) {
        let Some(date) = found.value.get("date").cloned() else { return };
        for (part, names) in PARTS.into_iter().skip(3) {
            let place = self.part(moment, part, names, Some(&[])).map(|(place, _)| place);
            let Some(place) = place.filter(|place| !found.places.contains(place)) else { break };
            found.value[part.as_str()] = Value::from(self.name(place));
            found.places.push(place);
        }
        if found.value.get("hour").is_some() {
            let date = date.as_str().unwrap_or_default();
            found.value["zone"] = Value::from(self.zone(date, &mut found.notes));
        }
    }

    /// Reports a column with the day, week or quarter of the year, which a mapping cannot use.
    fn unused_part(&self) -> Option<String> {
        let is_part = |place: &usize| {
            let name = &self.columns[*place].name;
            let is_day_of_year = has_word(name, &["day"]) && has_word(name, &["year"]);
            is_day_of_year || has_word(name, &PARTS_OF_YEAR)
        };
        let place = self.free().filter(is_part).find(|place| self.is(*place, |text| number_alone(text).is_some()))?;
        let name = &self.columns[place].name;
        Some(format!("`{name}` may be a part of the time, but no mapping reads it; it stays an attribute"))
    }

    /// Reports a column that is named like a part of a time, but does not always contain one.
    fn doubted(&self, moment: Moment, part: TimePart, names: &[&str]) -> Option<String> {
        let place = self.find(names, |place, text| self.is_of(moment, place) && number_alone(text).is_some())?;
        let (name, part) = (&self.columns[place].name, part.as_str());
        Some(format!("`{name}` is not used as the {part}, because some values are not valid"))
    }
}
