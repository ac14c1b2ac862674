//! Random timers and their firing times, computed independently of the service, in minutes since 2000-01-01T00:00:00Z.

use serde_json::{Value, json};

use crate::support::dice::Dice;

pub(super) const HOUR: i64 = 60;
pub(super) const DAY: i64 = 24 * HOUR;

/// The queue without listeners until the end.
pub(super) const UNCLAIMED_QUEUES: &str = "later";
/// The queues with listeners.
pub(super) const CLAIMED_QUEUES: [&str; 2] = ["default", "work"];

/// When a timer falls due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum When {
    Once(i64),
    /// An iCalendar rule with a first moment and a count.
    Every {
        first: i64,
        hours: i64,
        count: i64,
    },
    /// A cron expression: a minute of each day.
    Daily(i64),
}

/// The delivery of a timer's firings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Queue(&'static str),
    Timeline,
}

/// A requested timer.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) timer_id: String,
    pub(super) when: When,
    pub(super) to: To,
}

impl When {
    /// Returns a schedule that starts after `now`.
    pub(super) fn cast(dice: &mut Dice, now: i64) -> Self {
        let later = |dice: &mut Dice, most: i64| now + 1 + number(dice, most);
        match dice.below(4) {
            0 => Self::Every { first: later(dice, DAY), hours: 1 + number(dice, 20), count: 1 + number(dice, 6) },
            1 => Self::Daily(number(dice, DAY)),
            // Full hours, so that several coincide.
            2 => Self::Once((now / HOUR + 1 + number(dice, 40)) * HOUR),
            _ => Self::Once(later(dice, 3 * DAY)),
        }
    }

    /// Returns the first moment of a timer that is set at `now`.
    pub(super) fn first(&self, now: i64) -> Option<i64> {
        match self {
            Self::Once(at) => Some(*at),
            Self::Every { .. } | Self::Daily(_) => self.after(now),
        }
    }

    /// Returns the first moment after another.
    pub(super) fn after(&self, moment: i64) -> Option<i64> {
        match self {
            Self::Once(at) => (*at > moment).then_some(*at),
            Self::Every { first, hours, count } => {
                (0..*count).map(|number| first + number * hours * HOUR).find(|due| *due > moment)
            }
            Self::Daily(minute) => {
                let today = moment.div_euclid(DAY) * DAY + minute;
                Some(if today > moment { today } else { today + DAY })
            }
        }
    }

    /// Returns all moments in a range.
    pub(super) fn moments(&self, first: Option<i64>, upto: i64) -> Vec<i64> {
        std::iter::successors(first, |moment| self.after(*moment)).take_while(|moment| *moment <= upto).collect()
    }

    pub(super) fn fields(&self) -> Value {
        match self {
            Self::Once(at) => json!({ "at": stamp(*at) }),
            Self::Every { first, hours, count } => {
                let rule = format!("FREQ=HOURLY;INTERVAL={hours};COUNT={count}");
                json!({ "every": { "rule": rule, "starts": stamp(*first) } })
            }
            Self::Daily(minute) => {
                json!({ "cron": { "expression": format!("{} {} * * *", minute % HOUR, minute / HOUR) } })
            }
        }
    }
}

impl Plan {
    pub(super) fn cast(dice: &mut Dice, timer_id: String, now: i64) -> Self {
        let to = match dice.below(6) {
            0 => To::Timeline,
            1 => To::Queue(UNCLAIMED_QUEUES),
            2 | 3 => To::Queue(CLAIMED_QUEUES[0]),
            _ => To::Queue(CLAIMED_QUEUES[1]),
        };
        Self { timer_id, when: When::cast(dice, now), to }
    }

    pub(super) fn body(&self) -> Value {
        let mut body = self.when.fields();
        body["timer_id"] = json!(self.timer_id);
        body["deliver"] = match self.to {
            To::Queue(queue) => json!({ "to": "queue", "queue": queue }),
            To::Timeline => json!({ "to": "timeline", "event": { "name": self.timer_id } }),
        };
        body
    }
}

/// Returns a number from 0 to `end` - 1.
pub(super) fn number(dice: &mut Dice, end: i64) -> i64 {
    i64::try_from(dice.below(end.unsigned_abs())).expect("a small number")
}

/// Formats a moment like the service.
pub(super) fn stamp(moment: i64) -> String {
    let (mut days, minute) = (moment.div_euclid(DAY), moment.rem_euclid(DAY));
    let mut year = 2000;
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = |year: i64| 365 + i64::from(is_leap(year));
    while days < 0 {
        year -= 1;
        days += length(year);
    }
    while days >= length(year) {
        days -= length(year);
        year += 1;
    }
    let mut month = 0;
    let months = [31, 28 + i64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    while days >= months[month] {
        days -= months[month];
        month += 1;
    }
    format!("{year:04}-{:02}-{:02}T{:02}:{:02}:00Z", month + 1, days + 1, minute / HOUR, minute % HOUR)
}

pub(super) fn moment(stamp: &Value) -> i64 {
    let micros = crate::support::instant::micros(stamp.as_str().expect("a moment"));
    let start = crate::support::instant::micros("2000-01-01T00:00:00Z");
    i64::try_from((micros - start) / 60_000_000).expect("a near moment")
}

#[test]
fn planned_firing_times_are_computed() {
    for (minutes, text) in [
        (0, "2000-01-01T00:00:00Z"),
        (-1, "1999-12-31T23:59:00Z"),
        (59 * DAY + 61, "2000-02-29T01:01:00Z"),
        (366 * DAY, "2001-01-01T00:00:00Z"),
    ] {
        assert_eq!(stamp(minutes), text);
        assert_eq!(moment(&json!(text)), minutes);
    }
    let every = When::Every { first: 30, hours: 2, count: 3 };
    assert_eq!(every.moments(every.first(40), 1_000), [150, 270]);
    assert_eq!(When::Daily(5).moments(When::Daily(5).first(5), 3 * DAY), [DAY + 5, 2 * DAY + 5]);
    assert_eq!(When::Once(3).moments(When::Once(3).first(7), 10), [3]);
}
