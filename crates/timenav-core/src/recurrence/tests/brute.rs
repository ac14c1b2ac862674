//! Properties of every rule, and a day-by-day reference on jiff's calendar.

use std::fmt::Write as _;

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Weekday, date};
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::{Instant, Rule, second, zone};
use crate::time::{Virtual, Zone};

const ZONES: [&str; 7] = [
    "UTC",
    "America/New_York",
    "Europe/Paris",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Monrovia",
    "America/Sao_Paulo",
];
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("MO", Weekday::Monday),
    ("TU", Weekday::Tuesday),
    ("WE", Weekday::Wednesday),
    ("TH", Weekday::Thursday),
    ("FR", Weekday::Friday),
    ("SA", Weekday::Saturday),
    ("SU", Weekday::Sunday),
];

/// A rule in parts, for the day-by-day reference.
#[derive(Clone, Debug)]
struct Simple {
    frequency: &'static str,
    interval: i64,
    months: Vec<i8>,
    month_days: Vec<i8>,
    weekdays: Vec<usize>,
    skip: &'static str,
    starts: DateTime,
    zone: &'static str,
}

fn simple() -> impl Strategy<Value = Simple> {
    let frequency = prop::sample::select(vec!["YEARLY", "MONTHLY", "WEEKLY", "DAILY"]);
    let month_day = prop_oneof![1_i8..=31, -28_i8..=-1];
    let starts = (1880_i16..2200, 1_i8..=12, 1_i8..=28, 0_i8..24, 0_i8..60);
    (
        frequency,
        1_i64..8,
        prop::collection::vec(1_i8..=12, 0..4),
        prop::collection::vec(month_day, 0..4),
        prop::collection::vec(0_usize..7, 0..4),
        prop::sample::select(vec!["OMIT", "BACKWARD", "FORWARD"]),
        starts,
        prop::sample::select(ZONES.to_vec()),
    )
        .prop_map(|(frequency, interval, months, month_days, weekdays, skip, start, zone)| Simple {
            frequency,
            interval,
            months,
            month_days: if frequency == "WEEKLY" { Vec::new() } else { month_days },
            weekdays,
            skip,
            starts: local_of(date(start.0, start.1, start.2).at(start.3, start.4, 0, 0), zone),
            zone,
        })
}

/// The local time of an instant; later if clocks skip it. A rule starts at an instant, so its time of day cannot be a
/// skipped local time.
fn local_of(local: DateTime, zone: &str) -> DateTime {
    local.to_zoned(TimeZone::get(zone).unwrap()).unwrap().datetime()
}

impl Simple {
    fn text(&self) -> String {
        let mut text = format!("FREQ={};INTERVAL={};SKIP={}", self.frequency, self.interval, self.skip);
        let join = |values: Vec<String>| values.join(",");
        if !self.months.is_empty() {
            let _ = write!(text, ";BYMONTH={}", join(self.months.iter().map(i8::to_string).collect()));
        }
        if !self.month_days.is_empty() {
            let _ = write!(text, ";BYMONTHDAY={}", join(self.month_days.iter().map(i8::to_string).collect()));
        }
        if !self.weekdays.is_empty() {
            let _ =
                write!(text, ";BYDAY={}", join(self.weekdays.iter().map(|day| WEEKDAYS[*day].0.to_owned()).collect()));
        }
        text
    }

    fn instant(&self, day: Date) -> Option<i64> {
        let tz = TimeZone::get(self.zone).unwrap();
        let at = tz.to_ambiguous_timestamp(day.to_datetime(self.starts.time())).compatible().ok()?;
        Some(at.as_second())
    }

    /// The sorted moments of this many days from the start.
    fn moments(&self, days: i64) -> Vec<i64> {
        let start = self.starts.date();
        let mut found: Vec<i64> = (-40..days)
            .map(|day| start.checked_add(day.days()).unwrap())
            .filter_map(|day| self.candidate_for(day))
            .filter_map(|day| self.instant(day))
            .collect();
        let first = self.instant(start).unwrap();
        let last = self.instant(start.checked_add((days - 3).days()).unwrap()).unwrap();
        found.sort_unstable();
        found.dedup();
        found.retain(|moment| (first..=last).contains(moment));
        found
    }

    /// The day itself, or none if it is not included. For short months see `moved`.
    fn candidate_for(&self, day: Date) -> Option<Date> {
        let moved = self.skip != "OMIT" && matches!(self.frequency, "YEARLY" | "MONTHLY");
        let is_weekday = self.fits_weekday(day);
        let by_month_day = if moved { self.is_named_or_moved_to(day) } else { self.is_named(day, day.day()) };
        (is_weekday && by_month_day).then_some(day)
    }

    /// Whether a day number is included in the month of `day`, even if that month is too short for it.
    fn is_named(&self, day: Date, number: i8) -> bool {
        let start = self.starts.date();
        let says_no_day = self.month_days.is_empty() && self.weekdays.is_empty();
        let in_period = match self.frequency {
            "YEARLY" => i64::from(day.year() - start.year()) % self.interval == 0,
            "MONTHLY" => {
                let months = i64::from(day.year() - start.year()) * 12 + i64::from(day.month() - start.month());
                months % self.interval == 0
            }
            "WEEKLY" => {
                let monday =
                    |day: Date| day.checked_sub(i64::from(day.weekday().to_monday_zero_offset()).days()).unwrap();
                let days = i64::from(monday(start).until(monday(day)).unwrap().get_days());
                days / 7 % self.interval == 0
            }
            _ => i64::from(start.until(day).unwrap().get_days()) % self.interval == 0,
        };
        let in_month = if self.months.is_empty() {
            self.frequency != "YEARLY" || !says_no_day || day.month() == start.month()
        } else {
            self.months.contains(&day.month())
        };
        let last = day.days_in_month();
        let by_day = if self.month_days.is_empty() {
            !matches!(self.frequency, "YEARLY" | "MONTHLY") || !self.weekdays.is_empty() || number == start.day()
        } else {
            self.month_days
                .iter()
                .any(|day_number| number == if *day_number < 0 { last + 1 + day_number } else { *day_number })
        };
        in_period && in_month && by_day
    }

    /// Whether a day is included, or is the replacement for a day missing from its month or the month before.
    fn is_named_or_moved_to(&self, day: Date) -> bool {
        if self.is_named(day, day.day()) {
            return true;
        }
        // Without day-of-month rules, no day is moved.
        if self.month_days.is_empty() && !self.weekdays.is_empty() {
            return false;
        }
        if self.skip == "BACKWARD" {
            day.day() == day.days_in_month() && (day.day() + 1..=31).any(|number| self.is_named(day, number))
        } else {
            let before = day.yesterday().unwrap();
            day.day() == 1 && (before.day() + 1..=31).any(|number| self.is_named(before, number))
        }
    }

    fn fits_weekday(&self, day: Date) -> bool {
        match (self.weekdays.is_empty(), self.frequency) {
            (true, "WEEKLY") => day.weekday() == self.starts.date().weekday(),
            (true, _) => true,
            (false, _) => self.weekdays.iter().any(|day_number| WEEKDAYS[*day_number].1 == day.weekday()),
        }
    }
}

fn seconds_of(rule: &Rule, from: i64, through: i64) -> Vec<i64> {
    rule.after(second(from - 1))
        .map(|moment| moment.micros() / 1_000_000)
        .take_while(|moment| *moment <= through)
        .collect()
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let texts = vec![
        "FREQ=YEARLY;BYWEEKNO=1,53,-1;BYDAY=MO,SU;WKST=SU",
        "FREQ=YEARLY;INTERVAL=3;BYDAY=-1SU,20MO,53FR",
        "FREQ=YEARLY;BYMONTH=2,3;BYMONTHDAY=29,31;SKIP=FORWARD",
        "FREQ=YEARLY;BYYEARDAY=1,366,-366;SKIP=BACKWARD",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=2;BYMINUTE=30",
        "FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=31;SKIP=BACKWARD",
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU",
        "FREQ=DAILY;INTERVAL=11;BYHOUR=0,2,3;BYMINUTE=0,30",
        "FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=15,45;BYSETPOS=2,-1",
        "FREQ=HOURLY;INTERVAL=7;BYDAY=MO,FR",
        "FREQ=HOURLY;INTERVAL=5;BYMINUTE=7,59;BYHOUR=1,2,3,14",
        "FREQ=MINUTELY;INTERVAL=1441",
        "FREQ=MINUTELY;INTERVAL=13;BYSECOND=1,59;BYMONTH=10",
        "FREQ=SECONDLY;INTERVAL=7919;BYHOUR=2",
        "FREQ=SECONDLY;INTERVAL=100000",
        "30 2 * * *",
        "*/7 * * * *",
        "0 1-3 29 2 *",
        "*/45 2 13 * FRI",
        "5 4 */9 */3 */2",
    ];
    let starts = Instant::<Virtual>::MIN.micros()..Instant::<Virtual>::MAX.micros() / 2;
    (prop::sample::select(texts), starts, prop::sample::select(ZONES.to_vec())).prop_map(|(text, starts, name)| {
        let made = if text.starts_with("FREQ") {
            Rule::rrule(text, Instant::from_micros(starts).unwrap(), zone(name))
        } else {
            Rule::cron(text, zone(name))
        };
        made.unwrap_or_else(|error| panic!("{text}: {error}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn rule_moments_match_a_day_by_day_calendar(simple in simple()) {
        let expected = simple.moments(1_600);
        let start = simple.instant(simple.starts.date()).unwrap();
        let rule = match Rule::rrule(&simple.text(), second(start), Zone::named(simple.zone).unwrap()) {
            Ok(rule) => rule,
            Err(error) => {
                prop_assert!(expected.is_empty(), "{error}: {expected:?}");
                return Ok(());
            }
        };
        let last = simple.instant(simple.starts.date().checked_add(1_597.days()).unwrap()).unwrap();
        prop_assert_eq!(seconds_of(&rule, start, last), expected, "{}", simple.text());
    }

    #[test]
    fn next_moment_is_later_with_none_between(
        rule in any_rule(),
        at in Instant::<Virtual>::MIN.micros()..=Instant::<Virtual>::MAX.micros(),
        part in 0.0..1.0_f64,
    ) {
        let at = Instant::from_micros(at).unwrap();
        let Some(next) = rule.next_after(at) else { return Ok(()) };
        prop_assert!(next > at);
        // From any point in between, up to just before it, the next moment is the same.
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "any place between them will do")]
        let between = at.micros() + ((next.micros() - 1 - at.micros()) as f64 * part) as i64;
        let between = between.clamp(at.micros(), next.micros() - 1);
        prop_assert_eq!(rule.next_after(Instant::from_micros(between).unwrap()), Some(next));
        prop_assert_eq!(rule.next_after(Instant::from_micros(next.micros() - 1).unwrap()), Some(next));
        if let Some(then) = rule.next_after(next) {
            prop_assert!(then > next);
        }
        prop_assert!(rule.first().is_some_and(|first| first <= next));
    }

    #[test]
    fn parsing_arbitrary_rule_text_does_not_panic(
        text in "[A-Z0-9=;,@*/ :TZé-]{0,60}",
        prefix in prop::sample::select(vec!["", "FREQ=DAILY;", "0 0 "]),
    ) {
        let text = format!("{prefix}{text}");
        let _ = Rule::rrule(&text, Instant::EPOCH, Zone::utc());
        let _ = Rule::cron(&text, Zone::utc());
    }
}
