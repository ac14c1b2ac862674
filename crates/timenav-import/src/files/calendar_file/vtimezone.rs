//! Time zones: those defined by a calendar, and those of the IANA database.

use std::collections::HashMap;

use timenav_core::time::{Civil, Instant, Virtual, Zone, days_in_month};

use super::content_line::ContentLine;
use super::local_time::{DAY_MICROS, Form, SECOND_MICROS, offset, written};
use super::windows_zones::zone_of;
use crate::limits::CALENDAR_ONSETS_MAX;

#[cfg(test)]
mod tests;

/// Longest name that is looked up in the IANA database, in bytes, including any prefix.
const ZONE_NAME_BYTES_MAX: usize = 256;
/// From a day in one half of the year to one in the other.
const HALF_YEAR_MICROS: i64 = 182 * DAY_MICROS;
/// 2024-01-01.
const YEAR_2024_MICROS: i64 = 1_704_067_200 * SECOND_MICROS;

#[derive(Default)]
pub(super) struct Zones {
    defined: HashMap<String, Rules>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zoned {
    pub(super) at: Instant<Virtual>,
    /// The assumed offset in seconds, if neither the calendar nor the database has one for that time.
    pub(super) assumed: Option<i64>,
}

/// The offset of a local time according to a definition, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offset {
    /// The time is between two changes listed by the definition.
    Listed(i64),
    /// It is before the first or after the last change. `literal` follows RFC 5545 §3.6.5, by which a definition that
    /// lists a few years would apply forever.
    Unlisted {
        literal: i64,
        /// An offset that occurs in the zone at some time of the year, and its start.
        listed_offsets: (i64, i64),
        /// Whether the zone has no other offset.
        is_only: bool,
    },
}

#[derive(Default)]
struct Rules {
    observances: Vec<Observance>,
    /// The end of the definition, in UTC (`TZUNTIL`, RFC 7808 §7.1).
    until: Option<i64>,
    onsets: usize,
    /// Whether part of the definition is not supported.
    is_unclear: bool,
}

/// One of the offsets of a zone, and when it starts.
#[derive(Default)]
struct Observance {
    is_daylight: bool,
    from: i64,
    to: i64,
    /// Local times before the change.
    onsets: Vec<i64>,
    yearly: Option<Yearly>,
}

/// A change on a day of each year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Yearly {
    month: i64,
    day: Day,
    /// The last onset, in UTC, if there is one.
    until: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Day {
    Number(i64),
    /// The n-th such weekday of the month, with 0 for Sunday; counted from the end if negative.
    Weekday {
        count: i64,
        weekday: i64,
    },
    /// The first such weekday on or after that day of the month.
    WeekdayFrom {
        first: i64,
        weekday: i64,
    },
}

impl Zones {
    /// Adds a definition. The first one with a name counts.
    pub(super) fn add(&mut self, text: &str) {
        let mut name = None;
        let mut rules = Rules::default();
        let mut inner: Option<(bool, Vec<ContentLine>)> = None;
        for line in text.lines().filter_map(|line| ContentLine::parse(line).ok()) {
            match line.name.as_str() {
                "BEGIN" => inner = Some((line.value.trim().eq_ignore_ascii_case("DAYLIGHT"), Vec::new())),
                "END" => {
                    if let Some((is_daylight, lines)) = inner.take() {
                        rules.add(is_daylight, &lines);
                    }
                }
                _ => match &mut inner {
                    Some((_, lines)) => lines.push(line),
                    None if line.name == "TZID" => name = Some(line.text()),
                    None if line.name == "TZUNTIL" => {
                        rules.until = written(&line.value).map(|until| until.local.micros());
                    }
                    None => {}
                },
            }
        }
        if let Some(name) = name {
            self.defined.entry(name).or_insert(rules);
        }
    }

    pub(super) fn defines(&self, name: &str) -> bool {
        self.defined.contains_key(name)
    }

    /// Returns the instant of a local time in a zone; `None` if the zone is unknown.
    ///
    /// Between the changes that the calendar lists, the calendar applies. Otherwise the database applies, if it has a
    /// zone with that name.
    pub(super) fn instant(&self, name: &str, local: Instant<Virtual>) -> Option<Zoned> {
        let at = |offset: i64| Instant::from_micros(local.micros() - offset * SECOND_MICROS);
        let known = |at: Instant<Virtual>| Zoned { at, assumed: None };
        let defined = self.defined.get(name).filter(|rules| !rules.is_unclear);
        match defined.and_then(|rules| rules.offset(local.micros())) {
            Some(Offset::Listed(offset)) => at(offset).map(known),
            Some(Offset::Unlisted { literal, listed_offsets, is_only }) => {
                // A definition with other offsets than the zone of that name means another zone.
                match database_zone(name) {
                    Some(zone) if shows(&zone, listed_offsets, local) => zone.instant_of_local(local).map(known),
                    None if is_only => at(literal).map(known),
                    Some(_) | None => Some(Zoned { at: at(literal)?, assumed: Some(literal) }),
                }
            }
            // An unsupported definition usually has the name of a database zone.
            None => database_zone(name)?.instant_of_local(local).map(known),
        }
    }
}

/// Returns the IANA zone with that name, ignoring any prefix, or with that Windows name.
fn database_zone(name: &str) -> Option<Zone> {
    if name.len() > ZONE_NAME_BYTES_MAX {
        return None;
    }
    let names = std::iter::successors(Some(name.trim()), |name| name.split_once('/').map(|(_, rest)| rest));
    let found = names.filter(|name| !name.is_empty()).find_map(Zone::named);
    found.or_else(|| Zone::named(zone_of(name)?))
}

/// Returns whether the zone has that offset in the year from `since` on, from `local` on, or in 2024: a definition may
/// start in a year for which its program had no data.
fn shows(zone: &Zone, (offset, since): (i64, i64), local: Instant<Virtual>) -> bool {
    let has_offset = |micros: i64| {
        let local: Option<Instant<Virtual>> = Instant::from_micros(micros);
        let at = local.and_then(|local| zone.instant_of_local(local));
        at.is_some_and(|at| micros - at.micros() == offset * SECOND_MICROS)
    };
    [since, local.micros(), YEAR_2024_MICROS]
        .iter()
        .any(|from| has_offset(*from) || has_offset(from.saturating_add(HALF_YEAR_MICROS)))
}

impl Rules {
    fn add(&mut self, is_daylight: bool, lines: &[ContentLine]) {
        match Observance::of(is_daylight, lines) {
            // Limited, because each event in the zone searches all of them.
            Some(observance) if self.onsets + observance.onsets.len() <= CALENDAR_ONSETS_MAX => {
                self.onsets += observance.onsets.len();
                self.observances.push(observance);
            }
            Some(_) | None => self.is_unclear = true,
        }
    }

    /// Returns the offset of a local time. Of a repeated time the first occurrence is used, and a skipped one is
    /// interpreted with the offset before the gap (RFC 5545 §3.3.5).
    fn offset(&self, local: i64) -> Option<Offset> {
        let latest =
            self.observances.iter().filter_map(|observance| Some((observance.latest_onset(local)?, observance)));
        if let Some((onset, latest)) = latest.max_by_key(|(onset, _)| *onset) {
            let is_listed = match self.until {
                Some(until) => local - latest.to * SECOND_MICROS < until,
                None => self.observances.iter().any(|next| next.to != latest.to && next.has_onset_after(local)),
            };
            if is_listed {
                return Some(Offset::Listed(latest.to));
            }
            return Some(self.unlisted(latest.to, (latest.to, onset)));
        }
        // Before all changes.
        let first = self.observances.iter().min_by_key(|observance| observance.onsets.iter().min().copied())?;
        let onset = first.onsets.iter().min().copied()?;
        Some(self.unlisted(first.from, (first.to, onset)))
    }

    fn unlisted(&self, literal: i64, listed_offsets: (i64, i64)) -> Offset {
        let is_only =
            self.until.is_none() && self.observances.iter().all(|other| !other.is_daylight && other.to == literal);
        Offset::Unlisted { literal, listed_offsets, is_only }
    }
}

impl Observance {
    fn of(is_daylight: bool, lines: &[ContentLine]) -> Option<Self> {
        let mut observance = Self { is_daylight, ..Self::default() };
        let (mut from, mut to, mut start, mut rule) = (None, None, None, None);
        for line in lines {
            match line.name.as_str() {
                "TZOFFSETFROM" => from = Some(offset(&line.value)?),
                "TZOFFSETTO" => to = Some(offset(&line.value)?),
                "DTSTART" => start = Some(written(&line.value)?.local.micros()),
                "RRULE" => rule = Some(line.value.as_str()),
                "RDATE" => {
                    for text in line.value.split(',') {
                        observance.onsets.push(written(text.split('/').next().unwrap_or_default())?.local.micros());
                    }
                }
                _ => {}
            }
        }
        let start = start?;
        observance.onsets.push(start);
        (observance.from, observance.to) = (from?, to?);
        observance.yearly = match rule {
            Some(rule) => Some(Yearly::parse(rule, start)?),
            None => None,
        };
        Some(observance)
    }

    /// Returns the last onset of this offset before or at a local time.
    fn latest_onset(&self, local: i64) -> Option<i64> {
        let listed = self.onsets.iter().copied().filter(|onset| self.has_begun(*onset, local)).max();
        let repeated = self.yearly.and_then(|yearly| {
            let last_year = yearly.until.map_or(i64::MAX, |until| year_of(until) + 1).min(year_of(local));
            let onsets = (0..3).filter_map(|back| self.onset_in(last_year - back));
            onsets.filter(|onset| self.has_begun(*onset, local)).max()
        });
        listed.max(repeated)
    }

    fn has_onset_after(&self, local: i64) -> bool {
        let is_after = |onset: i64| !self.has_begun(onset, local);
        let year = year_of(local);
        self.onsets.iter().copied().any(is_after)
            || (year..=year + 1).filter_map(|year| self.onset_in(year)).any(is_after)
    }

    fn has_begun(&self, onset: i64, local: i64) -> bool {
        // Skipped times are before the change.
        let skipped = (self.to - self.from).max(0) * SECOND_MICROS;
        onset.saturating_add(skipped) <= local
    }

    fn onset_in(&self, year: i64) -> Option<i64> {
        let yearly = self.yearly?;
        let start = self.onsets.last().copied()?;
        let onset = yearly.day_in(year)? * DAY_MICROS + start.rem_euclid(DAY_MICROS);
        let utc = onset - self.from * SECOND_MICROS;
        (onset >= start && yearly.until.is_none_or(|until| utc <= until)).then_some(onset)
    }
}

impl Yearly {
    fn parse(rule: &str, start: i64) -> Option<Self> {
        let start_day = Civil::from_days(start.div_euclid(DAY_MICROS));
        let mut yearly = Self { month: start_day.month, day: Day::Number(start_day.day), until: None };
        let (mut weekday, mut number, mut is_yearly) = (None, None, false);
        for part in rule.split(';').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=')?;
            match name.to_ascii_uppercase().as_str() {
                "FREQ" => is_yearly = value.eq_ignore_ascii_case("YEARLY"),
                "INTERVAL" if value == "1" => {}
                "WKST" => {}
                // Redundant: the same time of day as the start.
                "BYHOUR" if value.parse() == Ok(start.rem_euclid(DAY_MICROS) / (3_600 * SECOND_MICROS)) => {}
                "BYMINUTE" if value.parse() == Ok(start.rem_euclid(3_600 * SECOND_MICROS) / (60 * SECOND_MICROS)) => {}
                "BYSECOND" if value.parse() == Ok(start.rem_euclid(60 * SECOND_MICROS) / SECOND_MICROS) => {}
                "BYMONTH" => yearly.month = value.parse().ok().filter(|month| (1..=12).contains(month))?,
                "BYDAY" => weekday = Some(weekday_of(value)?),
                "BYMONTHDAY" => number = Some(month_days(value)?),
                "UNTIL" => yearly.until = Some(until(value)?),
                // COUNT, SETPOS and the like.
                _ => return None,
            }
        }
        yearly.day = match (weekday, number) {
            (None, None) => yearly.day,
            (None, Some((day, 1))) => Day::Number(day),
            (Some((Some(count), weekday)), None) => Day::Weekday { count, weekday },
            // Seven consecutive days: the weekday among them.
            (Some((None, weekday)), Some((first, 7))) => Day::WeekdayFrom { first, weekday },
            (Some(_), _) | (None, Some(_)) => return None,
        };
        is_yearly.then_some(yearly)
    }

    /// Returns the day of a year, counted from 1970.
    fn day_in(self, year: i64) -> Option<i64> {
        let first = Civil { year, month: self.month, day: 1, day_micros: 0 }.days();
        let days = days_in_month(year, self.month);
        // 1970-01-01 was a Thursday.
        let weekday_of = |day: i64| (day + 4).rem_euclid(7);
        let number = match self.day {
            Day::Number(number) => number,
            Day::WeekdayFrom { first: from, weekday } => from + (weekday - weekday_of(first + from - 1)).rem_euclid(7),
            Day::Weekday { count, weekday } if count > 0 => {
                1 + (weekday - weekday_of(first)).rem_euclid(7) + (count - 1) * 7
            }
            Day::Weekday { count, weekday } => {
                days - (weekday_of(first + days - 1) - weekday).rem_euclid(7) + (count + 1) * 7
            }
        };
        (1..=days).contains(&number).then(|| first + number - 1)
    }
}

/// Parses `-1SU` or `SU`.
fn weekday_of(text: &str) -> Option<(Option<i64>, i64)> {
    let at = text.len().checked_sub(2).filter(|at| text.is_char_boundary(*at))?;
    let (count, name) = text.split_at(at);
    let weekday =
        ["SU", "MO", "TU", "WE", "TH", "FR", "SA"].iter().position(|known| name.eq_ignore_ascii_case(known))?;
    let count = match count {
        "" => None,
        count => Some(count.parse().ok().filter(|count: &i64| *count != 0 && count.abs() <= 5)?),
    };
    Some((count, i64::try_from(weekday).ok()?))
}

/// Parses consecutive days of the month, and returns the first one and their number.
fn month_days(text: &str) -> Option<(i64, i64)> {
    let days: Vec<i64> = text.split(',').map(|day| day.parse().ok()).collect::<Option<_>>()?;
    let (first, last) = (*days.first()?, *days.last()?);
    let follow = days.windows(2).all(|pair| pair[1] == pair[0] + 1);
    (follow && first >= 1 && last <= 31).then(|| (first, last - first + 1))
}

/// Returns the last onset in UTC. For a local time a day is added, because changes are never that close.
fn until(text: &str) -> Option<i64> {
    let written = written(text)?;
    let slack = if written.form == Form::Utc { 0 } else { DAY_MICROS };
    Some(written.local.micros() + slack)
}

fn year_of(micros: i64) -> i64 {
    Civil::from_days(micros.div_euclid(DAY_MICROS)).year
}
