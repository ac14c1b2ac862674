//! Time zones: those that a calendar defines, and those of the IANA database.

use std::collections::HashMap;

use timenav_core::time::{Instant, Virtual, Zone};

use super::content_line::ContentLine;
use super::local_time::{DAY_MICROS, Form, SECOND_MICROS, offset, written};
use super::windows_zones::zone_of;
use crate::limits::CALENDAR_ONSETS_MAX;

/// Longest name that is looked for in the IANA database, in bytes, with what may stand before it.
const ZONE_NAME_BYTES_MAX: usize = 256;
/// From a day in one half of the year to one in the other.
const HALF_YEAR_MICROS: i64 = 182 * DAY_MICROS;

/// The zones that a calendar defines, by the names that it gives them.
#[derive(Default)]
pub(super) struct Zones {
    defined: HashMap<String, Rules>,
}

/// The instant of a local time in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zoned {
    pub(super) at: Instant<Virtual>,
    /// The offset that was used, in seconds, if neither the calendar nor the database gives one for that time.
    pub(super) assumed: Option<i64>,
}

/// The offset that a definition gives a local time, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offset {
    /// The time is between two changes of clocks that the definition lists.
    Listed(i64),
    /// It is before the first change or after the last one. This is the literal reading (RFC 5545 §3.6.5), by which a
    /// definition that lists a few years would hold forever.
    Unlisted {
        literal: i64,
        /// An offset that clocks in the zone show at some time of the year, and when they began to.
        shown: (i64, i64),
        /// Whether the zone has no other offset.
        is_only: bool,
    },
}

/// When the clocks of a zone change.
#[derive(Default)]
struct Rules {
    observances: Vec<Observance>,
    /// When the definition ends, in UTC (`TZUNTIL`, RFC 7808 §7.1).
    until: Option<i64>,
    /// How many changes they list.
    onsets: usize,
    /// Whether something in the definition is not understood.
    is_unclear: bool,
}

/// One of the offsets of a zone, and when it begins to hold.
#[derive(Default)]
struct Observance {
    /// Whether it is daylight saving time.
    is_daylight: bool,
    from: i64,
    to: i64,
    /// Local times, as they are shown before the change.
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
    /// This one of the month.
    Number(i64),
    /// The weekday, 0 for Sunday, that comes so many times from the start of the month, or from its
    /// end if negative.
    Weekday { count: i64, weekday: i64 },
    /// The first such weekday on or after that day of the month.
    WeekdayFrom { first: i64, weekday: i64 },
}

impl Zones {
    /// Takes a definition. The first of several with one name counts.
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

    /// Returns whether the calendar has defined that zone so far.
    pub(super) fn defines(&self, name: &str) -> bool {
        self.defined.contains_key(name)
    }

    /// Returns the instant at which clocks in the zone of that name show a local time, or none if the zone is not known.
    ///
    /// Between the changes that the calendar lists, the calendar counts. Everywhere else the database does, if it has a
    /// zone of that name.
    pub(super) fn instant(&self, name: &str, local: Instant<Virtual>) -> Option<Zoned> {
        let at = |offset: i64| Instant::from_micros(local.micros() - offset * SECOND_MICROS);
        let known = |at: Instant<Virtual>| Zoned { at, assumed: None };
        let defined = self.defined.get(name).filter(|rules| !rules.is_unclear);
        match defined.and_then(|rules| rules.offset(local.micros())) {
            Some(Offset::Listed(offset)) => at(offset).map(known),
            Some(Offset::Unlisted { literal, shown, is_only }) => {
                // A definition with other offsets than the zone of that name is one of another zone.
                match database_zone(name) {
                    Some(zone) if shows(&zone, shown, local) => zone.instant_of_local(local).map(known),
                    None if is_only => at(literal).map(known),
                    Some(_) | None => Some(Zoned { at: at(literal)?, assumed: Some(literal) }),
                }
            }
            // A definition that is not understood names a zone of the database more often than not.
            None => database_zone(name)?.instant_of_local(local).map(known),
        }
    }
}

/// Returns the zone of the IANA database that is meant by a name of its own, perhaps with something before it, or by a
/// name of Windows.
fn database_zone(name: &str) -> Option<Zone> {
    if name.len() > ZONE_NAME_BYTES_MAX {
        return None;
    }
    let names = std::iter::successors(Some(name.trim()), |name| name.split_once('/').map(|(_, rest)| rest));
    let found = names.filter(|name| !name.is_empty()).find_map(Zone::named);
    found.or_else(|| Zone::named(zone_of(name)?))
}

/// Returns whether clocks in a zone show that offset in the year from `since` on, or in that from `local` on.
fn shows(zone: &Zone, (offset, since): (i64, i64), local: Instant<Virtual>) -> bool {
    let has_offset = |micros: i64| {
        let local: Option<Instant<Virtual>> = Instant::from_micros(micros);
        let at = local.and_then(|local| zone.instant_of_local(local));
        at.is_some_and(|at| micros - at.micros() == offset * SECOND_MICROS)
    };
    [since, local.micros()].iter().any(|from| has_offset(*from) || has_offset(from.saturating_add(HALF_YEAR_MICROS)))
}

impl Rules {
    fn add(&mut self, is_daylight: bool, lines: &[ContentLine]) {
        match Observance::of(is_daylight, lines) {
            // Each event that names the zone looks through all of them.
            Some(observance) if self.onsets + observance.onsets.len() <= CALENDAR_ONSETS_MAX => {
                self.onsets += observance.onsets.len();
                self.observances.push(observance);
            }
            Some(_) | None => self.is_unclear = true,
        }
    }

    /// Returns how far a local time is ahead of UTC. Of a time that clocks show twice the first is meant, and one that
    /// they skip is read with the offset before (RFC 5545 §3.3.5).
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

    fn unlisted(&self, literal: i64, shown: (i64, i64)) -> Offset {
        let is_only =
            self.until.is_none() && self.observances.iter().all(|other| !other.is_daylight && other.to == literal);
        Offset::Unlisted { literal, shown, is_only }
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

    /// Returns the last time before or at a local one that this offset began to hold.
    fn latest_onset(&self, local: i64) -> Option<i64> {
        let listed = self.onsets.iter().copied().filter(|onset| self.has_begun(*onset, local)).max();
        let repeated = self.yearly.and_then(|yearly| {
            let last_year = yearly.until.map_or(i64::MAX, |until| year_of(until) + 1).min(year_of(local));
            let onsets = (0..3).filter_map(|back| self.onset_in(last_year - back));
            onsets.filter(|onset| self.has_begun(*onset, local)).max()
        });
        listed.max(repeated)
    }

    /// Returns whether this offset begins to hold after a local time.
    fn has_onset_after(&self, local: i64) -> bool {
        let is_after = |onset: i64| !self.has_begun(onset, local);
        let year = year_of(local);
        self.onsets.iter().copied().any(is_after)
            || (year..=year + 1).filter_map(|year| self.onset_in(year)).any(is_after)
    }

    /// Returns whether the offset of that onset holds at a local time.
    fn has_begun(&self, onset: i64, local: i64) -> bool {
        // What clocks skip comes before the change.
        let skipped = (self.to - self.from).max(0) * SECOND_MICROS;
        onset.saturating_add(skipped) <= local
    }

    /// Returns the onset in a year, if its rule has one.
    fn onset_in(&self, year: i64) -> Option<i64> {
        let yearly = self.yearly?;
        let start = self.onsets.last().copied()?;
        let onset = yearly.day_in(year)? * DAY_MICROS + start.rem_euclid(DAY_MICROS);
        let utc = onset - self.from * SECOND_MICROS;
        (onset >= start && yearly.until.is_none_or(|until| utc <= until)).then_some(onset)
    }
}

impl Yearly {
    /// Reads the rules that calendars have for changes of clocks.
    fn parse(rule: &str, start: i64) -> Option<Self> {
        let (_, start_month, start_day) = civil(start.div_euclid(DAY_MICROS));
        let mut yearly = Self { month: start_month, day: Day::Number(start_day), until: None };
        let (mut weekday, mut number, mut is_yearly) = (None, None, false);
        for part in rule.split(';').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=')?;
            match name.to_ascii_uppercase().as_str() {
                "FREQ" => is_yearly = value.eq_ignore_ascii_case("YEARLY"),
                "INTERVAL" if value == "1" => {}
                "WKST" => {}
                // Said again: the time of day is that of the start.
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
            // A week of days: the weekday that is one of them.
            (Some((None, weekday)), Some((first, 7))) => Day::WeekdayFrom { first, weekday },
            (Some(_), _) | (None, Some(_)) => return None,
        };
        is_yearly.then_some(yearly)
    }

    /// Returns the day of a year, counted from 1970.
    fn day_in(self, year: i64) -> Option<i64> {
        let first = days_from_civil(year, self.month, 1);
        let days = days_from_civil(year + self.month / 12, self.month % 12 + 1, 1) - first;
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

/// Reads `-1SU` or `SU`.
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

/// Reads days of the month that follow one another, and returns the first and how many.
fn month_days(text: &str) -> Option<(i64, i64)> {
    let days: Vec<i64> = text.split(',').map(|day| day.parse().ok()).collect::<Option<_>>()?;
    let (first, last) = (*days.first()?, *days.last()?);
    let follow = days.windows(2).all(|pair| pair[1] == pair[0] + 1);
    (follow && first >= 1 && last <= 31).then(|| (first, last - first + 1))
}

/// Returns the last onset in UTC. A local time is a day wide: no two changes are that near.
fn until(text: &str) -> Option<i64> {
    let written = written(text)?;
    let slack = if written.form == Form::Utc { 0 } else { DAY_MICROS };
    Some(written.local.micros() + slack)
}

fn year_of(micros: i64) -> i64 {
    civil(micros.div_euclid(DAY_MICROS)).0
}

/// Returns the days from 1970-01-01 to a date of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March, so that leap days end them.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Returns the date that lies so many days after 1970-01-01: year, month, day.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use timenav_core::time::parse_timestamp;

    use super::*;

    const VIENNA: &str = "TZID:Wien\nBEGIN:DAYLIGHT\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nDTSTART:19700329T020000\n\
        RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\nEND:DAYLIGHT\nBEGIN:STANDARD\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\n\
        DTSTART:19701025T030000\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nEND:STANDARD\n";
    const ONCE: &str = "TZID:Once\nBEGIN:STANDARD\nTZOFFSETFROM:+1000\nTZOFFSETTO:+1200\nDTSTART:20240101T000000\n\
        END:STANDARD\nBEGIN:DAYLIGHT\nTZOFFSETFROM:+1200\nTZOFFSETTO:+1000\nDTSTART:20240505T080000\nEND:DAYLIGHT\n";
    const UNTIL: &str = "TZID:Until\nBEGIN:DAYLIGHT\nTZOFFSETFROM:-0500\nTZOFFSETTO:-0400\nDTSTART:19870405T020000\n\
        RRULE:FREQ=YEARLY;BYMONTHDAY=1,2,3,4,5,6,7;BYDAY=SU;BYMONTH=4;UNTIL=20060402T070000Z\nEND:DAYLIGHT\n\
        BEGIN:STANDARD\nTZOFFSETFROM:-0400\nTZOFFSETTO:-0500\nDTSTART:19861026T020000\nRDATE:19871025T020000,19881030T020000\n\
        END:STANDARD\n";

    fn check(zone: &str, local: &str, expected: Option<&str>) {
        let mut zones = Zones::default();
        for text in [VIENNA, ONCE, UNTIL, "TZID:Europe/Berlin\nBEGIN:STANDARD\nEND:STANDARD\n"] {
            zones.add(text);
        }
        let instant = zones.instant(zone, parse_timestamp(local).unwrap());
        assert_eq!(instant.map(|zoned| zoned.at.to_string()).as_deref(), expected, "{zone} {local}");
    }

    /// Checks the instant of a local time in the only zone that a calendar defines, and the offset that is assumed.
    #[track_caller]
    fn check_defined(zone: &str, parts: &[&str], local: &str, expected: &str, assumed: Option<i64>) {
        let mut zones = Zones::default();
        zones.add(&format!("TZID:{zone}\n{}", parts.concat()));
        let found = zones.instant(zone, parse_timestamp(local).unwrap()).unwrap();
        assert_eq!((found.at.to_string().as_str(), found.assumed), (expected, assumed), "{zone} {local}");
    }

    fn part(name: &str, start: &str, from: &str, to: &str, more: &str) -> String {
        format!("BEGIN:{name}\nDTSTART:{start}\nTZOFFSETFROM:{from}\nTZOFFSETTO:{to}\n{more}END:{name}\n")
    }

    #[test]
    fn unlisted_time_of_known_zone_uses_the_database() {
        // RFC 5545 §4, second example: the meeting is before the first change.
        let standard = part("STANDARD", "19981025T020000", "-0400", "-0500", "");
        let daylight = part("DAYLIGHT", "19990404T020000", "-0500", "-0400", "");
        let new_york = [standard.as_str(), &daylight];
        for zone in ["America/New_York", "Eastern Standard Time", "/example.org/America/New_York"] {
            check_defined(zone, &new_york, "1998-03-12T08:30:00Z", "1998-03-12T13:30:00Z", None);
            check_defined(zone, &new_york, "1998-07-12T08:30:00Z", "1998-07-12T12:30:00Z", None);
            check_defined(zone, &new_york, "1998-12-12T08:30:00Z", "1998-12-12T13:30:00Z", None);
            check_defined(zone, &new_york, "1999-12-12T08:30:00Z", "1999-12-12T13:30:00Z", None);
        }
        // The clocks of New York changed on 1999-10-31; the calendar does not say so.
        check_defined("Elsewhere", &new_york, "1999-12-12T08:30:00Z", "1999-12-12T12:30:00Z", Some(-4 * 3_600));
        check_defined("Elsewhere", &new_york, "1998-03-12T08:30:00Z", "1998-03-12T12:30:00Z", Some(-4 * 3_600));
        check_defined("Elsewhere", &new_york, "1998-12-12T08:30:00Z", "1998-12-12T13:30:00Z", None);
        let sydney = part("STANDARD", "20060325T160000", "+0000", "+1000", "");
        check_defined("Australia/Sydney", &[&sydney], "2003-07-31T23:00:00Z", "2003-07-31T13:00:00Z", None);
        let paris = part("DAYLIGHT", "20250330T020000", "+0100", "+0200", "");
        check_defined("Europe/Paris", &[&paris], "2025-12-01T10:00:00Z", "2025-12-01T09:00:00Z", None);
        let yearly = part("DAYLIGHT", "20070325T020000", "+0100", "+0200", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\n");
        check_defined("Europe/Paris", &[&yearly], "2025-12-01T10:00:00Z", "2025-12-01T09:00:00Z", None);
        let fixed = part("STANDARD", "19700101T000000", "+0100", "+0100", "");
        check_defined("Europe/Berlin", &[&fixed], "2024-07-20T12:00:00Z", "2024-07-20T10:00:00Z", None);
    }

    #[test]
    fn definition_ends_at_tzuntil() {
        let standard = part("STANDARD", "20221030T030000", "+0200", "+0100", "RDATE:20231029T030000\n");
        let daylight = part("DAYLIGHT", "20220327T020000", "+0100", "+0200", "RDATE:20230326T020000,20240331T020000\n");
        let listed = ["TZUNTIL:20241027T010000Z\n", &standard, &daylight];
        check_defined("Europe/Copenhagen", &listed, "2023-07-01T10:00:00Z", "2023-07-01T08:00:00Z", None);
        check_defined("Europe/Copenhagen", &listed, "2025-01-15T10:00:00Z", "2025-01-15T09:00:00Z", None);
        check_defined("Elsewhere", &listed, "2024-10-27T02:59:59Z", "2024-10-27T00:59:59Z", None);
        check_defined("Elsewhere", &listed, "2024-10-27T03:00:00Z", "2024-10-27T01:00:00Z", Some(2 * 3_600));
        // A rule without an end ends there too.
        let rule = |name: &str, start: &str, from: &str, to: &str, month: u8| {
            part(name, start, from, to, &format!("RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH={month}\n"))
        };
        let (winter, summer) = (
            rule("STANDARD", "20001029T030000", "+0200", "+0100", 10),
            rule("DAYLIGHT", "20000326T020000", "+0100", "+0200", 3),
        );
        let until = ["TZUNTIL:20300101T000000Z\n", &winter, &summer];
        check_defined("Elsewhere", &until, "2029-12-31T12:00:00Z", "2029-12-31T11:00:00Z", None);
        check_defined("Elsewhere", &until, "2030-07-01T12:00:00Z", "2030-07-01T10:00:00Z", Some(2 * 3_600));
        check_defined("Elsewhere", &until[1..], "2030-07-01T12:00:00Z", "2030-07-01T10:00:00Z", None);
    }

    #[test]
    fn listed_time_follows_the_calendar() {
        // Another zone under the name of one that has no daylight saving time.
        let standard =
            part("STANDARD", "20001029T030000", "+0100", "+0000", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\n");
        let daylight =
            part("DAYLIGHT", "20000326T020000", "+0000", "+0100", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\n");
        check_defined("GMT", &[&standard, &daylight], "2026-07-23T10:20:00Z", "2026-07-23T09:20:00Z", None);
        let fixed = part("STANDARD", "19700101T000000", "+0530", "+0530", "");
        for local in ["2012-09-04T02:00:00Z", "1960-09-04T02:00:00Z"] {
            let utc = local.replace("04T02:00", "03T20:30");
            check_defined("GMT+05:30", &[&fixed], local, &utc, None);
            // An offset that Tokyo never had.
            check_defined("Asia/Tokyo", &[&fixed], local, &utc, Some(19_800));
        }
    }

    #[test]
    fn clocks_change_as_the_calendar_says() {
        check("Wien", "2024-07-20T12:00:00Z", Some("2024-07-20T10:00:00Z"));
        check("Wien", "2024-01-20T12:00:00Z", Some("2024-01-20T11:00:00Z"));
        check("Wien", "2024-03-31T01:59:59Z", Some("2024-03-31T00:59:59Z"));
        // Skipped: read with the offset before.
        check("Wien", "2024-03-31T02:30:00Z", Some("2024-03-31T01:30:00Z"));
        check("Wien", "2024-03-31T03:00:00Z", Some("2024-03-31T01:00:00Z"));
        // Shown twice: the first is meant.
        check("Wien", "2024-10-27T02:30:00Z", Some("2024-10-27T00:30:00Z"));
        check("Wien", "2024-10-27T03:00:00Z", Some("2024-10-27T02:00:00Z"));
        check("Wien", "1960-07-01T12:00:00Z", Some("1960-07-01T11:00:00Z"));
        check("Once", "2024-05-05T07:00:01Z", Some("2024-05-04T19:00:01Z"));
        check("Once", "2024-05-05T08:00:01Z", Some("2024-05-04T22:00:01Z"));
        check("Once", "2023-05-05T08:00:00Z", Some("2023-05-04T22:00:00Z"));
        check("Until", "1988-07-01T12:00:00Z", Some("1988-07-01T16:00:00Z"));
        check("Until", "1988-12-01T12:00:00Z", Some("1988-12-01T17:00:00Z"));
        // The last change that is told of was to summer time.
        check("Until", "2030-12-01T12:00:00Z", Some("2030-12-01T16:00:00Z"));
    }

    #[test]
    fn names_of_the_database_are_known() {
        check("America/New_York", "2024-07-20T12:00:00Z", Some("2024-07-20T16:00:00Z"));
        check("/Europe/Stockholm", "2024-07-20T12:00:00Z", Some("2024-07-20T10:00:00Z"));
        check("/mozilla.org/20070129_1/America/New_York", "2024-07-20T12:00:00Z", Some("2024-07-20T16:00:00Z"));
        // A definition that says nothing.
        check("Europe/Berlin", "2024-07-20T12:00:00Z", Some("2024-07-20T10:00:00Z"));
        // Names of Windows, as Outlook writes them.
        check("W. Europe Standard Time", "2024-07-20T12:00:00Z", Some("2024-07-20T10:00:00Z"));
        check("Eastern Standard Time", "2024-01-20T12:00:00Z", Some("2024-01-20T17:00:00Z"));
        check("Middle Earth", "2024-07-20T12:00:00Z", None);
        check("", "2024-07-20T12:00:00Z", None);
    }

    #[test]
    fn a_zone_has_most_changes_and_a_longest_name() {
        let zone = |changes: usize| {
            let dates = vec!["19700101T000000"; changes - 1].join(",");
            let mut zones = Zones::default();
            zones.add(&format!(
                "TZID:X\nBEGIN:STANDARD\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0100\nDTSTART:19700101T000000\nRDATE:{dates}\nEND:STANDARD\n"
            ));
            zones.instant("X", Instant::EPOCH).is_some()
        };
        assert!(zone(CALENDAR_ONSETS_MAX));
        assert!(!zone(CALENDAR_ONSETS_MAX + 1));
        let prefixed = |bytes: usize| format!("/{}/Europe/Rome", "x".repeat(bytes - "//Europe/Rome".len()));
        let zones = Zones::default();
        assert!(zones.instant(&prefixed(ZONE_NAME_BYTES_MAX), Instant::EPOCH).is_some());
        assert!(zones.instant(&prefixed(ZONE_NAME_BYTES_MAX + 1), Instant::EPOCH).is_none());
    }

    #[test]
    fn rules_that_are_not_understood_are_not_guessed() {
        for rule in [
            "FREQ=MONTHLY",
            "FREQ=YEARLY;COUNT=3",
            "FREQ=YEARLY;BYDAY=SU",
            "FREQ=YEARLY;BYMONTH=13",
            "x",
            "FREQ=YEARLY;BYDAY=9SU",
            "FREQ=YEARLY;INTERVAL=2",
        ] {
            assert_eq!(Yearly::parse(rule, 0), None, "{rule}");
        }
        assert!(Yearly::parse("FREQ=YEARLY;INTERVAL=1;BYDAY=1SU;BYMONTH=11;WKST=MO", 0).is_some());
        let two = 2 * 3_600 * SECOND_MICROS;
        assert!(Yearly::parse("FREQ=YEARLY;BYHOUR=2;BYMINUTE=0;BYSECOND=0", two).is_some());
        assert!(Yearly::parse("FREQ=YEARLY;BYHOUR=3", two).is_none());
    }

    proptest! {
        #[test]
        fn days_are_counted_both_ways(days in -4_000_000_i64..4_000_000) {
            let (year, month, day) = civil(days);
            prop_assert_eq!(days_from_civil(year, month, day), days);
        }

        #[test]
        fn a_definition_agrees_with_the_database(micros in 1_600_000_000_000_000_i64..2_500_000_000_000_000) {
            let mut zones = Zones::default();
            zones.add(VIENNA);
            let local = Instant::from_micros(micros).unwrap();
            prop_assert_eq!(zones.instant("Wien", local), zones.instant("Europe/Vienna", local));
        }
    }
}
