use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// The clock of an [`Instant`]. Implemented only by [`Wall`] and [`Virtual`].
pub trait TimeScale {}

/// Host time: the real UTC clock of the machine that runs the service.
#[derive(Debug)]
pub enum Wall {}

/// Virtual time: the time of a timeline's clock and of its events.
#[derive(Debug)]
pub enum Virtual {}

impl TimeScale for Wall {}
impl TimeScale for Virtual {}

/// A point in UTC between the years −9999 and 9999, in whole microseconds since 1970.
///
/// Host time and virtual time never mix:
///
/// ```compile_fail
/// use timenav_core::time::{Instant, Virtual, Wall};
/// let host: Instant<Wall> = Instant::EPOCH;
/// let place_on_timeline: Instant<Virtual> = host;
/// ```
pub struct Instant<S> {
    micros: i64,
    scale: PhantomData<fn() -> S>,
}

/// A signed distance between two instants of one scale, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    micros: i64,
}

impl<S> Instant<S> {
    /// −9999-01-01T00:00:00Z.
    pub const MIN: Self = Self::at(-377_705_116_800_000_000);
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self::at(0);
    /// 9999-12-31T23:59:59.999999Z.
    pub const MAX: Self = Self::at(253_402_300_799_999_999);

    const fn at(micros: i64) -> Self {
        Self { micros, scale: PhantomData }
    }

    /// Returns the instant that many microseconds after 1970, or `None` outside −9999…9999.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Option<Self> {
        if micros < Self::MIN.micros || micros > Self::MAX.micros { None } else { Some(Self::at(micros)) }
    }

    /// Returns the microseconds since 1970, negative before it.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.micros
    }

    /// Returns the instant `span` later, or `None` outside −9999…9999.
    #[must_use]
    pub fn checked_add(self, span: Span) -> Option<Self> {
        self.micros.checked_add(span.micros).and_then(Self::from_micros)
    }

    /// Returns the instant `span` earlier, or `None` outside −9999…9999.
    #[must_use]
    pub fn checked_sub(self, span: Span) -> Option<Self> {
        self.micros.checked_sub(span.micros).and_then(Self::from_micros)
    }

    /// Returns the time from `earlier` to this instant; negative if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        // Both are within ±3.8e17, so the difference fits.
        Span { micros: self.micros - earlier.micros }
    }
}

impl Span {
    pub const ZERO: Self = Self { micros: 0 };

    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self { micros }
    }

    /// Returns the span of that many seconds, or `None` if it does not fit.
    #[must_use]
    pub const fn from_secs(secs: i64) -> Option<Self> {
        match secs.checked_mul(1_000_000) {
            Some(micros) => Some(Self { micros }),
            None => None,
        }
    }

    /// Returns the length in microseconds, with its sign.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.micros
    }

    /// Returns the negated span, or `None` on overflow.
    #[must_use]
    pub const fn checked_neg(self) -> Option<Self> {
        match self.micros.checked_neg() {
            Some(micros) => Some(Self { micros }),
            None => None,
        }
    }
}

// Implemented manually: a derive would add the same bound to `S`, which is never a value.
impl<S> Clone for Instant<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for Instant<S> {}
impl<S> PartialEq for Instant<S> {
    fn eq(&self, other: &Self) -> bool {
        self.micros == other.micros
    }
}
impl<S> Eq for Instant<S> {}
impl<S> PartialOrd for Instant<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<S> Ord for Instant<S> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.micros.cmp(&other.micros)
    }
}
impl<S> Hash for Instant<S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.micros.hash(state);
    }
}
impl<S> fmt::Debug for Instant<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
