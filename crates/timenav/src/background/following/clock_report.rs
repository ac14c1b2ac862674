//! Clock messages of the service, and the offset between its host time and the local boot clock.

use serde_json::Value;
use timenav_core::clock::{Clock, ClockState, Rate};
use timenav_core::time::{Instant, Virtual, Wall, parse_timestamp};

use super::Known;
use crate::boot::Kernel;

const NANOS: i128 = 1_000_000_000;
/// Microseconds per second, and the normal rate in millionths.
const MILLION: i128 = 1_000_000;

/// Identifies the host clock of a service: equal values mean the same host time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostClock {
    /// The kernel boot of its boot clock.
    boot_id: String,
    /// How far host time is ahead of that boot clock, in nanoseconds.
    ahead: i128,
}

pub(super) struct ClockReport {
    pub(super) clock: Clock,
    pub(super) host_clock: Option<HostClock>,
    /// Lower bound of the service's host time when the message was written.
    host: Instant<Wall>,
    /// Width of that bound, in nanoseconds: a clock shows whole microseconds.
    grain: i128,
}

impl ClockReport {
    pub(super) fn read(value: &Value) -> Option<Self> {
        let moment = |name: &str| parse_timestamp::<Virtual>(value[name].as_str()?).ok();
        let origin_host = Instant::<Wall>::from_micros(moment("origin_host")?.micros())?;
        let (origin_virtual, displayed) = (moment("origin_virtual")?, moment("current_time")?);
        let rate = Rate::from_factor(value["rate"].as_f64()?)?;
        let rate_micros = i128::from(rate.micros());
        let (state, host) = match value["state"].as_str()? {
            "running" => {
                // At a slow rate the clock shows the same value for a while: this is when it started to.
                let passed = i128::from(displayed.micros()) - i128::from(origin_virtual.micros());
                let passed = (passed.max(0) * MILLION + rate_micros - 1) / rate_micros;
                let host = i64::try_from(i128::from(origin_host.micros()) + passed).ok()?;
                (ClockState::Running { origin_host, origin_virtual, rate }, Instant::from_micros(host)?)
            }
            "paused" => (ClockState::Paused { since: origin_host, at: origin_virtual, rate }, origin_host),
            _ => return None,
        };
        let host_clock = value["boot_id"].as_str().zip(value["origin_boot"].as_str()).and_then(|(boot_id, origin)| {
            let ahead = i128::from(origin_host.micros()) * 1_000 - seconds(origin)?;
            Some(HostClock { boot_id: boot_id.to_owned(), ahead })
        });
        let clock = Clock { state, location: None, generation: value["generation"].as_u64()? };
        let grain = (MILLION * 1_000 + rate_micros - 1) / rate_micros + 1_000;
        Some(Self { clock, host_clock, host, grain })
    }

    /// Combines a message with what was known: `received_at` is when it arrived and `requested_at` when it was requested, both by the
    /// local boot clock in nanoseconds. For a change message only the time of writing is known, not that of a request.
    ///
    /// On the service's kernel, its boot clock is exact. Elsewhere the offset is kept unless the message contradicts
    /// it, so that the clock does not go back.
    pub(super) fn learned(
        &self,
        before: Option<&Known>,
        (requested_at, received_at): (Option<i128>, i128),
        kernel: Option<&Kernel>,
    ) -> Known {
        let host = i128::from(self.host.micros()) * 1_000;
        let low = host - received_at;
        // For a paused clock only the lower bound is known.
        let high =
            requested_at.filter(|_| self.clock.is_running()).map(|requested_at| host + self.grain - requested_at);
        let is_possible = |offset: &i128| *offset >= low && high.is_none_or(|high| *offset <= high);
        // A virtual machine that was copied while running has the boot id of the original but a different boot clock.
        if let Some(offset) = kernel.and_then(|kernel| self.offset_on(kernel)).filter(is_possible) {
            return self.known(offset, Some(0));
        }
        let Some(before) = before else { return self.known(low, high.map(|high| width(high - low))) };
        // Bounds on the host time of one service do not apply to another.
        let is_same = requested_at.is_none() || before.host_clock == self.host_clock;
        let bound = before.uncertainty.filter(|_| is_same).map(|uncertainty| before.offset + i128::from(uncertainty));
        let bound = bound.into_iter().chain(high).min();
        let offset = before.offset.max(low);
        match bound {
            None => self.known(offset, None),
            Some(bound) if offset <= bound => self.known(offset, Some(width(bound - offset))),
            // The host time of the service was set back, or the two clocks drift.
            Some(_) => match high {
                Some(high) => self.known(offset.min(high.max(low)), Some(width(high - low))),
                None => self.known(offset, None),
            },
        }
    }

    fn known(&self, offset: i128, uncertainty: Option<u64>) -> Known {
        Known { clock: self.clock.clone(), offset, uncertainty, host_clock: self.host_clock.clone() }
    }

    /// Returns how far the host time of the service is ahead of the local boot clock, if both run on one kernel.
    fn offset_on(&self, kernel: &Kernel) -> Option<i128> {
        let host_clock = self.host_clock.as_ref().filter(|host_clock| host_clock.boot_id == kernel.boot_id)?;
        Some(host_clock.ahead - kernel.shift)
    }
}

fn width(nanos: i128) -> u64 {
    u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
}

/// Parses seconds with nine decimal places into nanoseconds.
fn seconds(text: &str) -> Option<i128> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, nanos) = digits.split_once('.')?;
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(nanos) || nanos.len() != 9 {
        return None;
    }
    // Services never send more than 64 bits of seconds.
    let nanos = i128::from(whole.parse::<i64>().ok()?) * NANOS + nanos.parse::<i128>().ok()?;
    Some(if is_negative { -nanos } else { nanos })
}

#[cfg(test)]
mod tests;
