//! A clock that is followed, and shown wrong on purpose.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use timenav_core::fault::{FAULT_DRIFT_PPM_MAX, FAULT_JITTER_MICROS_MAX, Fault, FaultyClock};
use timenav_core::time::{Span, parse_duration};

use super::{Begun, Known, Shown};

/// How the clock of programs is wrong.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "A wrong clock")]
pub(crate) struct FaultOptions {
    /// Show a clock that is ahead of the timeline's, such as by 2s, or behind it, such as by -150ms. It stays so
    /// through jumps and pauses.
    #[arg(long, value_name = "DURATION", value_parser = offset, allow_hyphen_values = true)]
    offset: Option<Span>,
    /// Show a clock that is too fast, such as by 200ppm, or too slow, such as by -50ppm: 200 microseconds for each
    /// second of virtual time that passes.
    #[arg(long, value_name = "PPM", value_parser = drift, allow_hyphen_values = true)]
    drift: Option<i32>,
    /// Show a clock that strays to both sides, such as by up to 5ms of host time: each second to another value, at
    /// random. It never steps.
    #[arg(long, value_name = "DURATION", value_parser = jitter)]
    jitter: Option<u32>,
    /// What the jitter is drawn from: the same number strays in the same way.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "jitter")]
    jitter_seed: u64,
}

impl FaultOptions {
    /// Returns what is wrong with the clock, if anything is.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let fault = Fault {
            offset: self.offset.unwrap_or(Span::ZERO),
            drift_ppm: self.drift.unwrap_or_default(),
            jitter_micros: self.jitter.unwrap_or_default(),
            seed: self.jitter_seed,
        };
        (!fault.is_none()).then_some(fault)
    }
}

/// Reads a length of time without months, and its sign.
fn offset(text: &str) -> Result<Span, String> {
    let (is_behind, length) = text.strip_prefix('-').map_or((false, text), |length| (true, length));
    let span = exact(length.strip_prefix('+').unwrap_or(length))?;
    Ok(if is_behind { span.checked_neg().unwrap_or(span) } else { span })
}

fn exact(text: &str) -> Result<Span, String> {
    // Durations of the API have no such units: nobody moves a clock by so little.
    for (unit, micros) in [("ms", 1_000), ("us", 1), ("µs", 1)] {
        let whole = text.strip_suffix(unit).and_then(|number| number.trim_end().parse::<u32>().ok());
        if let Some(whole) = whole {
            return Ok(Span::from_micros(i64::from(whole) * micros));
        }
    }
    let duration = parse_duration(text).map_err(|error| error.to_string())?;
    if duration.months() > 0 {
        return Err("write a length without months, such as 2s or 150ms".to_owned());
    }
    Ok(duration.exact())
}

fn drift(text: &str) -> Result<i32, String> {
    let ppm = text.strip_suffix("ppm").unwrap_or(text).trim_end().parse::<i32>().ok();
    let within = ppm.filter(|ppm| (-FAULT_DRIFT_PPM_MAX..=FAULT_DRIFT_PPM_MAX).contains(ppm));
    within.ok_or_else(|| {
        format!("write whole millionths within {FAULT_DRIFT_PPM_MAX} to either side, such as 200ppm or -50ppm")
    })
}

fn jitter(text: &str) -> Result<u32, String> {
    let micros = u32::try_from(exact(text)?.micros()).ok().filter(|micros| *micros <= FAULT_JITTER_MICROS_MAX);
    micros.ok_or_else(|| format!("write {} ms of host time or less, such as 5ms", FAULT_JITTER_MICROS_MAX / 1_000))
}

/// A clock that is followed, as it is known and as it is shown.
pub(crate) struct Wrong {
    clock: Option<FaultyClock>,
    known: Known,
    uncertainty: u64,
}

impl Wrong {
    /// Returns a clock that is wrong from now on, if anything is wrong with it.
    pub(crate) fn new(fault: Option<Fault>, begun: &Begun) -> Self {
        let Begun { known, uncertainty, .. } = begun;
        let clock = fault.map(|fault| FaultyClock::new(fault, known.clock.clone(), known.host_now()));
        Self { clock, known: known.clone(), uncertainty: *uncertainty }
    }

    /// Returns what is to be shown, as if it were known.
    pub(crate) fn shown(&self) -> Known {
        let clock = self.clock.as_ref().map_or(&self.known.clock, FaultyClock::shown);
        Known { clock: clock.clone(), offset: self.known.offset }
    }
}

/// Shows a clock wrong, by one who would show it right.
pub(crate) struct Faulty<S> {
    inner: S,
    wrong: Mutex<Wrong>,
    changed: Condvar,
}

/// Returns who shows a clock, wrong or not.
///
/// # Errors
/// There is no thread to turn a clock that is unsteady.
pub(crate) fn show<S: Shown>(wrong: Wrong, inner: S) -> std::io::Result<Arc<Faulty<S>>> {
    let is_wrong = wrong.clock.is_some();
    let faulty = Arc::new(Faulty { inner, wrong: Mutex::new(wrong), changed: Condvar::new() });
    if is_wrong {
        let turned = Arc::clone(&faulty);
        // It ends with the process.
        std::thread::Builder::new().name("wrong-clock".to_owned()).spawn(move || turned.turn())?;
    }
    Ok(faulty)
}

impl<S: Shown> Faulty<S> {
    /// Shows the clock otherwise each time that it is to be.
    fn turn(&self) {
        let mut wrong = self.wrong.lock();
        loop {
            let now = wrong.known.host_now();
            let Some(clock) = &mut wrong.clock else { return };
            let (has_turned, next) = (clock.turn(now), clock.next_turn());
            if has_turned {
                self.inner.change(&wrong.shown(), wrong.uncertainty);
            }
            match next {
                None => self.changed.wait(&mut wrong),
                Some(next) => {
                    let micros = u64::try_from(next.since(now).micros()).unwrap_or_default();
                    self.changed.wait_for(&mut wrong, Duration::from_micros(micros));
                }
            }
        }
    }
}

impl<S: Shown> Shown for Faulty<S> {
    fn change(&self, known: &Known, uncertainty: u64) {
        let mut wrong = self.wrong.lock();
        wrong.known = known.clone();
        wrong.uncertainty = uncertainty;
        let now = known.host_now();
        if let Some(clock) = &mut wrong.clock {
            clock.change(&known.clock, now);
            clock.turn(now);
        }
        self.inner.change(&wrong.shown(), uncertainty);
        self.changed.notify_all();
    }

    fn heard(&self) {
        self.inner.heard();
    }

    fn lost(&self) {
        self.inner.lost();
    }

    fn settle(&self) -> bool {
        self.inner.settle()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_as_people_write_them() {
        assert_eq!(offset("2s"), Ok(Span::from_micros(2_000_000)));
        assert_eq!(offset("+150ms"), Ok(Span::from_micros(150_000)));
        assert_eq!(offset("-7us"), Ok(Span::from_micros(-7)));
        assert_eq!(offset("-1h30m"), Ok(Span::from_micros(-5_400_000_000)));
        assert_eq!((drift("200ppm"), drift("-50"), drift("7 ppm")), (Ok(200), Ok(-50), Ok(7)));
        assert_eq!((jitter("5ms"), jitter("250ms")), (Ok(5_000), Ok(250_000)));
        for wrong in ["P1M", "soon", "--2s", "ms", "-1.5ms"] {
            assert!(offset(wrong).is_err(), "{wrong}");
        }
        for wrong in ["fast", "0.5ppm", "100001ppm", ""] {
            assert!(drift(wrong).is_err(), "{wrong}");
        }
        assert!(jitter("251ms").unwrap_err().contains("250 ms"));
    }
}
