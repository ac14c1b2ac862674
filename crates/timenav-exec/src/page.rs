//! The clock page: the state of a clock, for all processes that map it.
//!
//! `docs/specs/clock-page.md` specifies the layout. This module implements its arithmetic and its words, without memory
//! access: a [`Slot`] is computed here, written by the module `kernel`, and read by the image in the programs.

use std::time::Duration;

use timenav_core::clock::{Clock, ClockState};
use timenav_core::time::{Instant, Wall};

/// Magic number: `TNCLOCK` and a zero byte.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TNCLOCK\0");
pub const VERSION: u64 = 1;
pub const PAGE_BYTES: usize = 4096;
/// The last second of a clock: 9999-12-31T23:59:59Z.
pub const END_SECONDS: i64 = 253_402_300_799;
/// The last fraction of that second, in nanoseconds. The core crate counts in microseconds.
const END_NANOS: i64 = 999_999_000;
/// Host speed, in millionths.
const MILLION: u64 = 1_000_000;
const NANOS: i64 = 1_000_000_000;
/// Value for an unknown uncertainty.
const UNKNOWN: u64 = u64::MAX;

/// Offsets of the page's fields, in words of eight bytes.
pub(crate) mod words {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const VERSION: usize = 1;
    pub(crate) const CHANGES: usize = 2;
    pub(crate) const CONFIRMED: usize = 3;
    pub(crate) const UNCONFIRMED: usize = 4;
    pub(crate) const TAI: usize = 5;
    pub(crate) const END: usize = 6;
    pub(crate) const SLEEPS: usize = 7;
    pub(crate) const SLOTS: [usize; 2] = [8, 16];
    /// The monotonic clock of each slot.
    pub(crate) const MONOTONIC: [usize; 2] = [24, 28];
    pub(crate) const TIMELINE: usize = 32;
    pub(crate) const TIMELINE_WORDS: usize = 16;
    pub(crate) const SERVICE: usize = 48;
    pub(crate) const SERVICE_WORDS: usize = 32;
}

/// A time on some clock: seconds, and nanoseconds within the second. Nanoseconds alone would overflow 64 bits after 292
/// years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Whole seconds, rounded down.
    pub seconds: i64,
    /// 0 to 999 999 999.
    pub nanos: i64,
}

impl Moment {
    /// Returns the time that many nanoseconds after the origin of its clock.
    #[must_use]
    pub fn from_nanos(nanos: i128) -> Self {
        let seconds = nanos.div_euclid(i128::from(NANOS));
        let nanos = nanos.rem_euclid(i128::from(NANOS));
        // Saturates if the seconds exceed 64 bits.
        let seconds = i64::try_from(seconds).unwrap_or(if seconds < 0 { i64::MIN } else { i64::MAX });
        Self { seconds, nanos: i64::try_from(nanos).unwrap_or_default() }
    }

    /// Returns the time that many microseconds after the origin.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self::from_nanos(i128::from(micros) * 1_000)
    }

    /// Returns the nanoseconds since the origin of its clock.
    #[must_use]
    pub fn nanos_in_all(self) -> i128 {
        i128::from(self.seconds) * i128::from(NANOS) + i128::from(self.nanos)
    }
}

/// One state of a clock, as on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// What the clock shows at `origin_boot`.
    pub origin_virtual: Moment,
    /// The same moment on the boot clock of this host. It may be before the host was started.
    pub origin_boot: Moment,
    /// Millionths of host speed.
    pub rate: u64,
    /// Whether the clock is paused at `origin_virtual`.
    pub is_paused: bool,
    pub generation: u64,
    /// How late `origin_boot` may be, in nanoseconds of host time: 0 for the same boot clock, `None` if unknown.
    pub uncertainty: Option<u64>,
}

impl Slot {
    /// Returns the slot of a clock, given the difference between the service's host time and the local boot clock.
    /// `host_minus_boot` and `uncertainty` are in nanoseconds.
    #[must_use]
    pub fn of_clock(clock: &Clock, host_minus_boot: i128, uncertainty: Option<u64>) -> Self {
        let (origin_host, origin_virtual, rate, is_paused) = match clock.state {
            ClockState::Running { origin_host, origin_virtual, rate } => (origin_host, origin_virtual, rate, false),
            ClockState::Paused { since, at, rate } => (since, at, rate, true),
        };
        Self {
            origin_virtual: Moment::from_micros(origin_virtual.micros()),
            origin_boot: boot_of(origin_host, host_minus_boot),
            rate: rate.micros(),
            is_paused,
            generation: clock.generation,
            uncertainty,
        }
    }

    /// Returns what the clock shows when the boot clock shows `boot`.
    ///
    /// The formula is that of the core crate, in nanoseconds: `origin_virtual + floor((boot − origin_boot) × rate)`,
    /// limited to the last year. The image in the programs computes the same.
    #[must_use]
    pub fn at(&self, boot: Moment) -> Moment {
        if self.is_paused {
            return self.origin_virtual;
        }
        let host = (boot.nanos_in_all() - self.origin_boot.nanos_in_all()).max(0);
        let passed = host * i128::from(self.rate) / i128::from(MILLION);
        let end = i128::from(END_SECONDS) * i128::from(NANOS) + i128::from(END_NANOS);
        Moment::from_nanos((self.origin_virtual.nanos_in_all() + passed).min(end))
    }

    /// Returns the boot-clock nanoseconds at which the clock shows `displayed`; `None` if it never will.
    #[must_use]
    pub fn boot_when(&self, displayed: Moment) -> Option<i128> {
        let passed = displayed.nanos_in_all() - self.origin_virtual.nanos_in_all();
        if passed <= 0 {
            return Some(self.origin_boot.nanos_in_all());
        }
        let end = i128::from(END_SECONDS) * i128::from(NANOS) + i128::from(END_NANOS);
        if self.is_paused || displayed.nanos_in_all() > end {
            return None;
        }
        let rate = i128::from(self.rate.max(1));
        // Rounded up, so that the moment has passed when the clock is read again.
        let host = (passed * i128::from(MILLION) + rate - 1) / rate;
        Some(self.origin_boot.nanos_in_all() + host)
    }

    #[expect(clippy::cast_sign_loss, reason = "words are bit patterns; each reader knows which are signed")]
    pub(crate) const fn words(&self) -> [u64; 8] {
        [
            self.origin_virtual.seconds as u64,
            self.origin_virtual.nanos as u64,
            self.origin_boot.seconds as u64,
            self.origin_boot.nanos as u64,
            self.rate,
            self.is_paused as u64,
            self.generation,
            match self.uncertainty {
                Some(uncertainty) => uncertainty,
                None => UNKNOWN,
            },
        ]
    }
}

impl Slot {
    /// Returns how many nanoseconds of host time a length of virtual time takes; `None` if it never passes.
    pub(crate) fn host_length(&self, nanos: i128) -> Option<i128> {
        if nanos <= 0 {
            return Some(0);
        }
        let rate = i128::from(self.rate.max(1));
        (!self.is_paused).then(|| (nanos * i128::from(MILLION) + rate - 1) / rate)
    }
}

/// Which clock sleeps and timeouts use, and the monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sleeps {
    /// The host's.
    #[default]
    Native,
    /// The virtual clock, except for timeouts that are shorter than `native_below`.
    Virtual { native_below: Duration },
}

impl Sleeps {
    #[must_use]
    pub const fn are_virtual(self) -> bool {
        matches!(self, Self::Virtual { .. })
    }

    /// Returns whether a length, in nanoseconds, is host time.
    pub(crate) fn are_native_for(self, length: i128) -> bool {
        match self {
            Self::Native => true,
            Self::Virtual { native_below } => length < i128::try_from(native_below.as_nanos()).unwrap_or(i128::MAX),
        }
    }

    /// Returns the word of the page: 0, or one more than the limit in nanoseconds.
    pub(crate) fn word(self) -> u64 {
        match self {
            Self::Native => 0,
            Self::Virtual { native_below } => u64::try_from(native_below.as_nanos()).unwrap_or(u64::MAX / 2) + 1,
        }
    }
}

/// The monotonic clock of programs whose sleeps are virtual: what a slot shows plus `offset`, and at least `least`.
///
/// It moves with jumps forward, and neither with jumps back nor while the clock is paused. In nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Monotonic {
    offset: i128,
    least: i128,
}

impl Monotonic {
    /// Begins at the time of the boot clock, as on a host that was never suspended.
    pub(crate) fn begin(slot: &Slot, boot: Moment) -> Self {
        let least = boot.nanos_in_all();
        Self { offset: least - slot.at(boot).nanos_in_all(), least }
    }

    pub(crate) fn at(&self, slot: &Slot, boot: Moment) -> i128 {
        (slot.at(boot).nanos_in_all() + self.offset).max(self.least)
    }

    /// Continues with another slot, which no program has read before `boot`.
    pub(crate) fn continued(&self, before: &Slot, after: &Slot, boot: Moment) -> Self {
        let least = self.at(before, boot);
        Self { offset: self.offset.max(least - after.at(boot).nanos_in_all()), least }
    }

    pub(crate) fn words(&self) -> [u64; 4] {
        let (offset, least) = (Moment::from_nanos(self.offset), Moment::from_nanos(self.least));
        [offset.seconds, offset.nanos, least.seconds, least.nanos].map(i64::cast_unsigned)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The name of the timeline, truncated if it is too long.
    pub timeline: String,
    /// The address of the service, also truncated.
    pub service: String,
    pub slot: Slot,
    /// Whether sleeps and timeouts are virtual.
    pub has_virtual_sleeps: bool,
    /// Whether the service is reachable.
    pub is_confirmed: bool,
    /// How often the page was written. If it is written while being read, the number differs afterward.
    pub changes: u64,
}

impl Reading {
    /// Decodes a page; `None` if the bytes are not a page of this version.
    #[must_use]
    pub fn of(page: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let bytes = page.get(at * 8..at * 8 + 8)?;
            bytes.try_into().ok().map(u64::from_le_bytes)
        };
        let text = |at: usize, count: usize| {
            let bytes = page.get(at * 8..(at + count) * 8)?;
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
        };
        if page.len() < PAGE_BYTES || word(words::MAGIC)? != MAGIC || word(words::VERSION)? != VERSION {
            return None;
        }
        let changes = word(words::CHANGES)?;
        let first = words::SLOTS[usize::from(changes & 1 == 1)];
        let moment = |at: usize| {
            Some(Moment { seconds: word(first + at)?.cast_signed(), nanos: word(first + at + 1)?.cast_signed() })
        };
        let slot = Slot {
            origin_virtual: moment(0)?,
            origin_boot: moment(2)?,
            rate: word(first + 4)?,
            is_paused: word(first + 5)? != 0,
            generation: word(first + 6)?,
            uncertainty: Some(word(first + 7)?).filter(|word| *word != UNKNOWN),
        };
        let is_confirmed = word(words::UNCONFIRMED)? == 0;
        let timeline = text(words::TIMELINE, words::TIMELINE_WORDS)?;
        let service = text(words::SERVICE, words::SERVICE_WORDS)?;
        let has_virtual_sleeps = word(words::SLEEPS)? != 0;
        Some(Self { timeline, service, slot, has_virtual_sleeps, is_confirmed, changes })
    }
}

fn boot_of(host: Instant<Wall>, host_minus_boot: i128) -> Moment {
    Moment::from_nanos(i128::from(host.micros()) * 1_000 - host_minus_boot)
}

/// Returns the bytes of a text in `count` words, truncated at a character boundary. The last byte is zero.
pub(crate) fn text_words(text: &str, count: usize) -> Vec<u64> {
    let mut end = text.len().min(count * 8 - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut bytes = text.as_bytes()[..end].to_vec();
    bytes.resize(count * 8, 0);
    bytes.chunks_exact(8).map(|word| word.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))).collect()
}

#[cfg(test)]
mod tests;
