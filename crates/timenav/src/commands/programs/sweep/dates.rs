use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow, bail};
use timenav_core::time::{
    Duration, Instant, Span, TimestampError, Unit, Virtual, Wall, Zone, parse_duration, parse_timestamp, unit_of,
};

const DATES_MAX: usize = 20_000;
/// Default length of a range: it contains a 29 February, except around 1900 and 2100.
const RANGE_DEFAULT: &str = "P4Y";
/// A common validity of certificates, tokens and subscriptions.
const YEAR: &str = "P1Y";
/// The time of a date without one.
const NOON: &str = "T12:00:00Z";
const HALF_A_DAY: Span = Span::from_micros(12 * 3_600 * SECOND);
const DAY: Span = Span::from_micros(24 * 3_600 * SECOND);
/// A second, in microseconds.
const SECOND: i64 = 1_000_000;
/// Overflows of second counters: 32-bit NTP since 1900, and 31-bit Unix time.
const COUNTERS_END: [&str; 2] = ["2036-02-07T06:28:16Z", "2038-01-19T03:14:08Z"];

type Moment = Instant<Virtual>;

/// Which dates.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Dates")]
pub(super) struct DateOptions {
    /// A date, such as 2028-02-29, or a time, such as 2038-01-19T03:14:08Z. Repeatable. A date means noon in UTC.
    #[arg(long, value_name = "DATE", value_parser = moment, allow_hyphen_values = true)]
    date: Vec<Moment>,
    /// A file with one date per line. Lines that begin with `#` are skipped.
    #[arg(long, value_name = "FILE")]
    dates: Option<PathBuf>,
    /// The start of the range. Defaults to today.
    #[arg(long, value_name = "DATE", value_parser = moment, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// The end of the range: a date, or a length such as P1Y or 90d. Defaults to four years.
    #[arg(long, value_name = "DATE", allow_hyphen_values = true)]
    until: Option<String>,
    /// Use a date at each interval, such as 1d or P1M, instead of the notable dates.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    every: Option<Duration>,
    /// Include the daylight saving changes of this zone in the notable dates.
    #[arg(long, value_name = "ZONE", value_parser = zone)]
    zone: Option<Zone>,
}

impl DateOptions {
    /// Returns the dates, sorted and without duplicates. Fails if the list is empty or too long.
    pub(super) fn read(&self, today: Instant<Wall>) -> anyhow::Result<Vec<Moment>> {
        let mut dates: BTreeSet<Moment> = self.date.iter().copied().collect();
        if let Some(path) = &self.dates {
            let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
            for (index, line) in text.lines().map(str::trim).enumerate() {
                if !line.is_empty() && !line.starts_with('#') {
                    let place = || anyhow!("{}, line {}", path.display(), index + 1);
                    dates.insert(moment(line).map_err(|error| place().context(error))?);
                }
            }
        }
        let is_listed = !self.date.is_empty() || self.dates.is_some();
        let asks_for_range = self.from.is_some() || self.until.is_some() || self.zone.is_some();
        match &self.every {
            Some(every) => dates.extend(grid(self.range(today)?, every)?),
            None if is_listed && asks_for_range => {
                bail!("--from, --until and --zone choose dates from a range: with --date or --dates, also give --every")
            }
            None if is_listed => {}
            None => dates.extend(notable(self.range(today)?, self.zone.as_ref())),
        }
        check(dates.len())?;
        if dates.is_empty() {
            bail!("no dates: give one with --date, or a file with --dates");
        }
        Ok(dates.into_iter().collect())
    }

    fn range(&self, today: Instant<Wall>) -> anyhow::Result<(Moment, Moment)> {
        let today = Instant::from_micros(today.micros()).and_then(noon);
        let first = self.from.or(today).context("--from is missing")?;
        let until = self.until.as_deref().unwrap_or(RANGE_DEFAULT);
        let last = match moment(until) {
            Ok(last) => last,
            Err(error) => {
                let length = parse_duration(until);
                let length = length.map_err(|_| anyhow!("--until is a date or a duration such as P1Y: {error}"))?;
                length.later(first, &Zone::utc()).context("--until is after the year 9999")?
            }
        };
        if last < first {
            bail!("the range ends ({last}) before it begins ({first}): change --from or --until");
        }
        Ok((first, last))
    }
}

fn check(count: usize) -> anyhow::Result<()> {
    if count > DATES_MAX {
        bail!("a sweep has at most {DATES_MAX} dates, but these are more: choose a shorter range or a longer --every");
    }
    Ok(())
}

/// Returns the dates of a range at regular intervals. Each is computed from the first, so the 31st stays the 31st.
fn grid((first, last): (Moment, Moment), every: &Duration) -> anyhow::Result<Vec<Moment>> {
    let mut dates = vec![first];
    for count in 1_u32.. {
        let exact = every.exact().micros().checked_mul(i64::from(count)).map(Span::from_micros);
        let step =
            every.months().checked_mul(count).zip(exact).and_then(|(months, exact)| Duration::new(months, exact));
        match step.and_then(|step| step.later(first, &Zone::utc())) {
            Some(date) if date <= last => dates.push(date),
            _ => break,
        }
        check(dates.len())?;
    }
    Ok(dates)
}

/// Returns dates of a range at which programs are known to fail.
fn notable((first, last): (Moment, Moment), zone: Option<&Zone>) -> BTreeSet<Moment> {
    // The last date is the required lifetime of whatever is tested.
    let mut dates = BTreeSet::from([first, last]);
    let year = parse_duration(YEAR).ok().and_then(|year| year.later(first, &Zone::utc()));
    dates.extend(year.filter(|date| *date <= last));
    let mut month = unit_of(first, Unit::Month);
    loop {
        // The last day of the month, which is 29 February in a leap year, and the first of the year.
        dates.extend(noon(month.1).filter(|date| (first..=last).contains(date)));
        let Some(next) = month.1.checked_add(Span::from_micros(1)) else { break };
        if next > last {
            break;
        }
        if unit_of(next, Unit::Year).0 == next {
            dates.extend(noon(next).filter(|date| *date <= last));
        }
        month = unit_of(next, Unit::Month);
    }
    dates.extend(COUNTERS_END.iter().filter_map(|text| parse_timestamp(text).ok()));
    if let Some(zone) = zone {
        dates.extend(changes((first, last), zone));
    }
    dates
}

/// Returns the second before each change of a zone's UTC offset.
fn changes((first, last): (Moment, Moment), zone: &Zone) -> Vec<Moment> {
    let mut found = Vec::new();
    let mut day = unit_of(first, Unit::Second).0;
    while let Some(next) = day.checked_add(DAY).filter(|_| day <= last) {
        if offset(zone, day) != offset(zone, next) {
            let (mut before, mut after) = (day.micros() / SECOND, next.micros() / SECOND);
            while after - before > 1 {
                let middle = before + (after - before) / 2;
                let at = Instant::from_micros(middle * SECOND).unwrap_or(day);
                if offset(zone, at) == offset(zone, day) { before = middle } else { after = middle }
            }
            found.extend(Instant::from_micros(before * SECOND).filter(|at| *at <= last));
        }
        day = next;
    }
    found
}

fn offset(zone: &Zone, at: Moment) -> String {
    let local = zone.local_time(at);
    local.split_once('T').and_then(|(_, time)| time.get(8..)).unwrap_or_default().to_owned()
}

fn noon(at: Moment) -> Option<Moment> {
    unit_of(at, Unit::Day).0.checked_add(HALF_A_DAY)
}

fn moment(text: &str) -> Result<Moment, String> {
    match parse_timestamp(text) {
        Err(TimestampError::DateAlone { .. }) => parse_timestamp(&format!("{text}{NOON}")),
        read => read,
    }
    .map_err(|error| error.to_string())
}

fn zone(name: &str) -> Result<Zone, String> {
    Zone::named(name).ok_or_else(|| "unknown time zone; write its name in the IANA database".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        dates: DateOptions,
    }

    fn read(line: &str) -> anyhow::Result<Vec<String>> {
        let line = Line::try_parse_from(std::iter::once("sweep").chain(line.split_whitespace()))?;
        let today = parse_timestamp("2026-11-22T08:30:00Z").unwrap();
        line.dates.read(today).map(|dates| dates.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn dates_are_listed_or_generated_at_intervals() {
        for (line, expected) in [
            ("--date 2028-02-29", "2028-02-29T12:00:00Z"),
            ("--date 2028-02-29T23:59:59+02:00 --date 2027-01-01", "2027-01-01T12:00:00Z 2028-02-29T21:59:59Z"),
            (
                "--from 2027-01-01 --until 2d --every 1d",
                "2027-01-01T12:00:00Z 2027-01-02T12:00:00Z 2027-01-03T12:00:00Z",
            ),
            (
                "--from 2027-01-31 --until 2027-03-31 --every P1M",
                "2027-01-31T12:00:00Z 2027-02-28T12:00:00Z 2027-03-31T12:00:00Z",
            ),
            ("--every P2Y --until P3Y", "2026-11-22T12:00:00Z 2028-11-22T12:00:00Z"),
        ] {
            assert_eq!(read(line).unwrap().join(" "), expected, "{line}");
        }
    }

    #[test]
    fn default_dates_cover_month_ends_leap_days_and_overflows() {
        let found = read("--from 2028-01-15 --until 2028-04-15 --zone Europe/Paris").unwrap();
        let expected = "2028-01-15T12:00:00Z 2028-01-31T12:00:00Z 2028-02-29T12:00:00Z 2028-03-26T00:59:59Z \
                        2028-03-31T12:00:00Z 2028-04-15T12:00:00Z 2036-02-07T06:28:16Z 2038-01-19T03:14:08Z";
        assert_eq!(found.join(" "), expected);
        let found = read("").unwrap();
        assert!(found.contains(&"2028-02-29T12:00:00Z".to_owned()), "{found:?}");
        assert!(found.contains(&"2029-01-01T12:00:00Z".to_owned()), "{found:?}");
        // A year ahead, and at the end of the range.
        assert!(found.contains(&"2027-11-22T12:00:00Z".to_owned()), "{found:?}");
        assert!(found.contains(&"2030-11-22T12:00:00Z".to_owned()), "{found:?}");
        assert_eq!(found.len(), 1 + 48 + 4 + 2 + 2, "{found:?}");
    }

    #[test]
    fn invalid_dates_are_rejected_with_a_reason() {
        for (line, expected) in [
            ("--date today", "not a timestamp"),
            ("--until 2020-01-01", "before it begins"),
            ("--until soon", "--until is a date or a duration"),
            ("--every 1s", "at most 20000 dates"),
            ("--date 2028-01-01 --until P1Y", "also give --every"),
            ("--zone Mars/Base", "unknown time zone"),
            ("--dates nowhere.txt", "nowhere.txt cannot be read"),
        ] {
            let error = format!("{:#}", read(line).unwrap_err());
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn dates_file_contains_one_date_per_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("dates.txt");
        std::fs::write(&file, "# leap days\n2028-02-29\n\n 2032-02-29 \n2028-02-29\n").unwrap();
        let line = format!("--dates {}", file.display());
        assert_eq!(read(&line).unwrap(), ["2028-02-29T12:00:00Z", "2032-02-29T12:00:00Z"]);
        std::fs::write(&file, "2028-02-29\n2028-02-30\n").unwrap();
        assert!(format!("{:#}", read(&line).unwrap_err()).contains("line 2"));
    }
}
