//! Retention: the policies of a timeline, and how long each entry is kept.
//!
//! Only payloads and salts of reads and refusals are pruned after a time, never a leaf. Entries that affect state
//! belong to no class, and neither do actions that this code does not know.

use super::canonical::{Malformed, Scanner, Writer};
use crate::time::{Instant, Span, Wall};

pub(crate) mod sweep;
#[cfg(test)]
mod tests;

pub const SET_RETENTION_ACTION: &str = "set_retention";

named! {
    /// Entries that can be pruned after a time.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum PruneClass {
        Reads = "reads",
        Refusals = "refusals",
    }
}

impl PruneClass {
    /// Returns the class of an action; `None` if its entries are kept forever.
    #[must_use]
    pub fn of(action: &str) -> Option<Self> {
        match action {
            "read" | super::READS_ACTION => Some(Self::Reads),
            "unauthorized_access_attempt" | "unauthorized_access_attempts" => Some(Self::Refusals),
            _ => None,
        }
    }

    /// Returns the name in the API.
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Refusals => "rejections",
        }
    }
}

/// A policy: how long each class is kept, in whole seconds of host time. `None` is forever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    pub reads_seconds: Option<u32>,
    pub refusals_seconds: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this service is configured to keep {} for at least {floor_seconds} seconds", .class.field())]
pub struct BelowFloor {
    pub class: PruneClass,
    pub floor_seconds: u32,
}

impl Retention {
    /// Returns how long a class is kept; `None` is forever.
    #[must_use]
    pub fn period(&self, class: PruneClass) -> Option<Span> {
        let seconds = match class {
            PruneClass::Reads => self.reads_seconds,
            PruneClass::Refusals => self.refusals_seconds,
        };
        seconds.and_then(|seconds| Span::from_secs(seconds.into()))
    }

    /// Checks the policy against the configured minimum. The API cannot lower it: otherwise an operator could prune the
    /// evidence of their own actions.
    ///
    /// # Errors
    /// A class is kept for less than the minimum.
    pub fn check_floor(&self, floor_seconds: u32) -> Result<(), BelowFloor> {
        let of_class = |class| (class, self.period(class));
        let floor = Span::from_secs(floor_seconds.into());
        let below = PruneClass::ALL.map(of_class).into_iter().find(|(_, period)| period.is_some() && *period < floor);
        below.map_or(Ok(()), |(class, _)| Err(BelowFloor { class, floor_seconds }))
    }

    /// Returns the payload of the entry: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        let mut member = |name: &str, seconds: Option<u32>| match seconds {
            Some(seconds) => _ = writer.raw(name).integer(seconds.into()),
            None => _ = writer.raw(name).raw("null"),
        };
        member("{\"reads_seconds\":", self.reads_seconds);
        member(",\"refusals_seconds\":", self.refusals_seconds);
        writer.raw("}");
        writer.into_bytes()
    }

    /// Parses the output of [`Retention::encode`], and nothing else.
    ///
    /// # Errors
    /// The encoding differs.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("{\"reads_seconds\":")?;
        let reads_seconds = scan_seconds(&mut scanner)?;
        scanner.expect(",\"refusals_seconds\":")?;
        let refusals_seconds = scan_seconds(&mut scanner)?;
        scanner.expect("}")?;
        scanner.end()?;
        Ok(Self { reads_seconds, refusals_seconds })
    }
}

fn scan_seconds(scanner: &mut Scanner<'_>) -> Result<Option<u32>, Malformed> {
    if scanner.skip("null") {
        return Ok(None);
    }
    let wrong = scanner.malformed("a number of seconds below 2^32");
    u32::try_from(scanner.integer()?).map(Some).map_err(|_| wrong)
}

/// The policies of a timeline, ordered by position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionPolicies {
    all: Vec<(u64, Retention)>,
}

impl RetentionPolicies {
    pub const EMPTY: Self = Self { all: Vec::new() };

    /// Adds the policy that the entry at a position sets. Positions must be ascending.
    pub fn set(&mut self, position: u64, retention: Retention) {
        debug_assert!(self.all.last().is_none_or(|(last, _)| *last < position), "policies come in order");
        self.all.push((position, retention));
    }

    #[must_use]
    pub fn at(&self, position: u64) -> Option<&Retention> {
        let at = self.all.binary_search_by_key(&position, |(position, _)| *position).ok()?;
        Some(&self.all[at].1)
    }

    /// Returns the policies with the positions of their entries, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[(u64, Retention)] {
        &self.all
    }

    /// Writes the form that is hashed: for each policy its position, and the periods of reads and refusals in seconds.
    pub(super) fn write(&self, writer: &mut Writer) {
        writer.array(&self.all, |writer, (position, retention)| {
            writer.raw("[").integer(*position);
            for seconds in [retention.reads_seconds, retention.refusals_seconds] {
                match seconds {
                    Some(seconds) => writer.raw(",").integer(seconds.into()),
                    None => writer.raw(",null"),
                };
            }
            writer.raw("]");
        });
    }

    /// Returns the current policy: the last one, or by default that everything is kept forever.
    #[must_use]
    pub fn in_force(&self) -> Retention {
        self.all.last().map(|(_, retention)| *retention).unwrap_or_default()
    }

    /// Returns the policy in force at an entry, with the policy's own position; `None` before the first one.
    #[must_use]
    pub fn in_force_at(&self, position: u64) -> Option<(u64, &Retention)> {
        let before = self.all.partition_point(|(policy, _)| *policy < position);
        before.checked_sub(1).map(|at| (self.all[at].0, &self.all[at].1))
    }

    /// Returns the position and period of the policy that decides how long an entry is kept; `None` if it is kept
    /// forever. Considers the policies of the first `size` entries.
    ///
    /// The longest period applies, among the policy in force at the entry and all later ones; of equal ones, the first.
    /// A shorter policy therefore only applies to entries recorded after it. Before the first policy everything is kept
    /// forever.
    #[must_use]
    pub fn deciding(&self, class: PruneClass, position: u64, size: u64) -> Option<(u64, Span)> {
        let in_force = self.all.partition_point(|(policy, _)| *policy < position).checked_sub(1)?;
        let candidates = self.all[in_force..].iter().take_while(|(policy, _)| *policy < size);
        let mut longest: Option<(u64, Span)> = None;
        for (policy, retention) in candidates {
            let period = retention.period(class)?;
            if longest.is_none_or(|(_, before)| before < period) {
                longest = Some((*policy, period));
            }
        }
        longest
    }
}

/// How far the host clock moved since the last sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockStep {
    /// Within the expected interval: due payloads may be destroyed.
    Usual,
    /// There is no previous instant to compare with. Nothing is destroyed this time, and the instant is stored.
    First,
    /// The clock moved backward. Nothing is destroyed until an operator confirms.
    Back,
    /// The clock moved further than it does between two sweeps. Nothing is destroyed until an operator confirms: a
    /// clock that is a year ahead would empty everything.
    Leap,
}

/// Decides whether the host clock can be trusted for destructive work: sweeps, ends of timelines, forgetting of
/// outcomes. `last` is the previous instant at which it was trusted; `usual` is the longest expected interval.
#[must_use]
pub fn clock_step(last: Option<Instant<Wall>>, now: Instant<Wall>, usual: Span) -> ClockStep {
    match last {
        None => ClockStep::First,
        Some(last) if now < last => ClockStep::Back,
        Some(last) if now.since(last) > usual => ClockStep::Leap,
        Some(_) => ClockStep::Usual,
    }
}
