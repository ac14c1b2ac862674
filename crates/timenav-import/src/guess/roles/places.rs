use serde_json::{Value, json};

use super::Roles;
use super::names::{has_word, rest_of, start_of, words};
use crate::coordinates::{Axis, degrees, pair};

/// Words for coordinates, most specific first.
const AXES: [(&str, &str); 9] = [
    ("lat", "lon"),
    ("lat", "lng"),
    ("lat", "long"),
    ("latitude", "longitude"),
    ("latitud", "longitud"),
    ("latitudine", "longitudine"),
    ("breite", "länge"),
    ("breitengrad", "längengrad"),
    // These are ambiguous, so the assumption is reported.
    ("y", "x"),
];
const ENDS: [&str; 9] = ["end", "stop", "dropoff", "dest", "destination", "target", "arrival", "to", "last"];
/// Columns that may contain both coordinates.
const BOTH: [&str; 13] = [
    "coordinates",
    "coords",
    "coord",
    "position",
    "location",
    "where",
    "geo",
    "point",
    "geolocation",
    "latlon",
    "latlng",
    "lonlat",
    "gps",
];
const NOWHERE: &str = "0,0";
/// Words in the names of columns with the degrees, minutes and seconds of a coordinate.
const UNITS: [[&str; 3]; 3] =
    [["deg", "degree", "degrees"], ["min", "minute", "minutes"], ["sec", "second", "seconds"]];
/// Words in the names of columns with the sides of coordinates, such as `S`, other than those of the axis.
const SIDES: [&str; 4] = ["hemisphere", "hem", "ns", "ew"];

impl Roles<'_> {
    pub(super) fn place(&mut self) {
        if let Some((with, all)) = self.shape.geometries
            && with == all
        {
            return;
        }
        let is_found = self.in_two() || self.in_one_text();
        if let (Some((with, all)), true) = (self.shape.geometries, is_found) {
            self.unsure.push(format!("{} of {all} features have no geometry; `geo` gives their place", all - with));
        }
        if !is_found && let Some(name) = self.likely_place() {
            self.unsure.push(format!("no place was found; `{name}` may contain one"));
        }
    }

    /// Takes a latitude and a longitude whose names differ only in these words.
    fn in_two(&mut self) -> bool {
        let Some((lat, lon, is_doubtful)) = self.both_axes() else { return false };
        let texts = |place: usize| self.columns[place].texts.iter();
        let is_zero = |text: &str| text.parse() == Ok(0.0);
        let zeros = texts(lat).zip(texts(lon)).filter(|(lat, lon)| is_zero(lat) && is_zero(lon)).count();
        let templates = (self.in_columns(lat, Axis::Lat), self.in_columns(lon, Axis::Lon));
        let (lat, lon) = (self.take(lat), self.take(lon));
        let mut geo =
            json!({ "lat": templates.0.as_ref().unwrap_or(&lat), "lon": templates.1.as_ref().unwrap_or(&lon) });
        if is_doubtful {
            self.unsure.push(format!("`{lat}` and `{lon}` are read as a latitude and a longitude"));
        }
        if zeros > 0 {
            self.note_nowhere(&format!("`{lat}`, `{lon}`"), zeros, &mut geo);
        }
        self.members.push(("geo", geo));
        true
    }

    /// Returns the columns of a latitude and a longitude, and whether they are ambiguous.
    fn both_axes(&self) -> Option<(usize, usize, bool)> {
        let fits = |place: usize, axis: Axis, max: f64| {
            self.is(place, |text| degrees(text, axis).is_some_and(|degrees| degrees.abs() <= max))
        };
        let mut found: Vec<(bool, usize, usize, usize)> = Vec::new();
        for (number, (lat_word, lon_word)) in AXES.into_iter().enumerate() {
            let has = |word: &'static str| {
                let has = move |name: &str| rest_of(name, word).is_some() || start_of(name, word).is_some();
                self.free().filter(move |place| has(&self.columns[*place].name)).collect::<Vec<usize>>()
            };
            let lons = has(lon_word);
            for lat in has(lat_word) {
                for lon in lons.iter().copied().filter(|lon| *lon != lat) {
                    let (lat_name, lon_name) = (&self.columns[lat].name, &self.columns[lon].name);
                    if are_alike(lat_name, lat_word, lon_name, lon_word)
                        && fits(lat, Axis::Lat, 90.0)
                        && fits(lon, Axis::Lon, 180.0)
                    {
                        found.push((has_word(lat_name, &ENDS), number, lat, lon));
                    }
                }
            }
        }
        // A GeoJSON point in a member: longitude first.
        for lat in self.free() {
            let start = self.columns[lat].name.strip_suffix(".coordinates.1");
            let lon = start.and_then(|start| {
                let name = format!("{start}.coordinates.0");
                self.free().find(|lon| self.columns[*lon].name == name)
            });
            if let Some(lon) = lon.filter(|lon| fits(lat, Axis::Lat, 90.0) && fits(*lon, Axis::Lon, 180.0)) {
                found.push((false, 0, lat, lon));
            }
        }
        let (_, number, lat, lon) = found.into_iter().min()?;
        let is_doubtful = number + 1 == AXES.len();
        // Degrees have fractions; pixel positions do not.
        let has_fractions = |place| self.is(place, |text| text.contains(['.', ',']));
        (!is_doubtful || (has_fractions(lat) && has_fractions(lon))).then_some((lat, lon, is_doubtful))
    }

    /// Returns the template of a coordinate with its minutes, its seconds or its side in columns of their own.
    fn in_columns(&self, place: usize, axis: Axis) -> Option<String> {
        let name = &self.columns[place].name;
        let is_unit = |word: &String| UNITS.as_flattened().contains(&word.as_str());
        let rest = |name: &str| -> Vec<String> { words(name).filter(|word| !is_unit(word)).collect() };
        let unit = |number: usize| {
            let is_part = |text: &str| text.parse().is_ok_and(|part: f64| (0.0..60.0).contains(&part));
            self.free().filter(|other| *other != place).find(|other| {
                let other_name = &self.columns[*other].name;
                has_word(other_name, &UNITS[number]) && rest(other_name) == rest(name) && self.is_all(*other, is_part)
            })
        };
        let mut places = vec![place];
        // With a maximum, `min` is the minimum.
        let has_maximum = self.columns.iter().any(|column| has_word(&column.name, &["max"]));
        if !has_maximum && self.is_all(place, |text| text.parse::<i16>().is_ok()) {
            places.extend(unit(1));
            places.extend(unit(2).filter(|_| places.len() > 1));
        }
        let (letters, number) = if axis == Axis::Lat { (["N", "S"], 0) } else { (["E", "W"], 1) };
        let is_side = |other: &usize| {
            let name = &self.columns[*other].name;
            let is_of_axis = AXES.into_iter().any(|(lat, lon)| has_word(name, &[[lat, lon][number]]));
            let is_named = is_of_axis || has_word(name, &SIDES);
            is_named && self.is(*other, |text| letters.iter().any(|letter| text.eq_ignore_ascii_case(letter)))
        };
        let has_digits_alone = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if self.is_all(place, has_digits_alone) {
            places.extend(self.free().find(is_side));
        }
        let names: Vec<&str> = places.iter().map(|place| self.columns[*place].name.as_str()).collect();
        let is_plain = names.iter().all(|name| !name.contains(['{', '}']));
        (is_plain && names.len() > 1).then(|| format!("{{{}}}", names.join("} {")))
    }

    fn in_one_text(&mut self) -> bool {
        let is_point = |text: &str| text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("POINT"));
        let is_place = |text: &str, is_lon_first: bool| {
            pair(text, is_lon_first).is_some_and(|(lat, lon)| lat.abs() <= 90.0 && lon.abs() <= 180.0)
        };
        let point = self.free().find(|place| self.is(*place, |text| is_point(text) && is_place(text, true)));
        let has_sides = |text: &str| text.contains(['N', 'S', 'E', 'W']) && !is_point(text);
        let named = || self.find(&BOTH, |_, text| (has_sides(text) || text.contains(',')) && is_place(text, false));
        let named_lon_first = || self.find(&BOTH, |_, text| text.contains(',') && is_place(text, true));
        let Some((place, is_lon_first)) =
            point.map(|place| (place, true)).or_else(|| named().map(|place| (place, false))).or_else(|| {
                // Some of the first numbers exceed the range of latitudes.
                named_lon_first().map(|place| (place, true))
            })
        else {
            return false;
        };
        let is_reported = point.is_some() || self.is(place, has_sides);
        let is_lon_first = is_lon_first || words(&self.columns[place].name).any(|word| word == "lonlat");
        let zeros = self.texts(place).filter(|text| pair(text, is_lon_first) == Some((0.0, 0.0))).count();
        let name = self.take(place);
        if !is_reported {
            let (order, other) = if is_lon_first {
                ("a longitude and then a latitude", "lat_lon")
            } else {
                ("a latitude and then a longitude", "lon_lat")
            };
            self.unsure.push(format!("`{name}` is read as {order}; `|{other}` reverses it"));
        }
        let column = if is_lon_first { format!("{name}|lon_lat") } else { name.clone() };
        let mut geo = Value::from(column.as_str());
        if zeros > 0 {
            geo = json!({ "column": column });
            self.note_nowhere(&format!("`{name}`"), zeros, &mut geo);
        }
        self.members.push(("geo", geo));
        true
    }

    /// Sets 0,0 as missing: it is in the ocean, and often written for unknown places.
    fn note_nowhere(&mut self, columns: &str, zeros: usize, geo: &mut Value) {
        geo["missing"] = Value::from(NOWHERE);
        let records = if zeros == 1 { "record" } else { "records" };
        self.unsure
            .push(format!("{columns}: {NOWHERE} in {zeros} {records} is read as an unknown place (`geo.missing`)"));
    }

    /// Returns a column that may be related to a place, by its name.
    fn likely_place(&self) -> Option<String> {
        let axes = || AXES.into_iter().take(AXES.len() - 1).flat_map(|(lat, lon)| [lat, lon]);
        let is_axis = |name: &str| axes().any(|axis| rest_of(name, axis).is_some() || start_of(name, axis).is_some());
        let has_digits = |text: &str| text.contains(|c: char| c.is_ascii_digit());
        let named = self.free().find(|place| {
            let name = &self.columns[*place].name;
            let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || "-+[(".contains(c));
            (is_axis(name) || has_word(name, &BOTH)) && self.is(*place, |text| has_digits(text) && is_number(text))
        });
        let pair = self.shape.pairs.first().cloned();
        named.map(|place| self.columns[place].name.clone()).or(pair)
    }
}

/// Returns whether two names differ only in the words of the axes.
fn are_alike(lat: &str, lat_word: &str, lon: &str, lon_word: &str) -> bool {
    let same = |one: Option<Vec<String>>, other: Option<Vec<String>>| one.is_some() && one == other;
    let same_start = || {
        let (lat, lon) = (start_of(lat, lat_word), start_of(lon, lon_word));
        lat.is_some() && lat == lon
    };
    same(rest_of(lat, lat_word), rest_of(lon, lon_word)) || same_start()
}
