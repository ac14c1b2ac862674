//! A clock that is followed, and shown wrong on purpose.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use timenav_core::fault::{
    FAULT_DRIFT_PPM_MAX, FAULT_JITTER_MICROS_MAX, FAULT_SLEW_PPM_MAX, FAULT_SMEAR_MAX, FAULT_SMEAR_MIN, Fault,
    FaultyClock, Leap, LeapKind, Slew,
};
use timenav_core::time::{Instant, Span, Virtual, parse_duration, parse_timestamp};

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
    /// Slew the clock to the offset, which it does not have when it begins: by so much, such as 500ppm, of the virtual
    /// time that passes.
    #[arg(long, value_name = "PPM", value_parser = slew, requires = "offset", conflicts_with = "slew_back")]
    slew: Option<u32>,
    /// Begin with the offset, and slew the clock back to the right time: by so much, such as 500ppm, of the virtual
    /// time that passes.
    #[arg(long, value_name = "PPM", value_parser = slew, requires = "offset")]
    slew_back: Option<u32>,
    /// Show a leap second that nobody else knows of: with insert@2028-12-31T23:59:59Z this second comes twice, with
    /// delete@2028-12-31T23:59:59Z not at all. From then on the clock is a second behind, or ahead.
    #[arg(long, value_name = "KIND@SECOND", value_parser = leap)]
    leap: Option<(LeapKind, Instant<Virtual>)>,
    /// Smear the leap second over so much virtual time, such as 24h: half of it before and half after the leap.
    #[arg(long, value_name = "DURATION", value_parser = smear, requires = "leap")]
    leap_smear: Option<Span>,
}

impl FaultOptions {
    /// Returns what is wrong with the clock, if anything is.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let fault = Fault {
            offset: self.offset.unwrap_or(Span::ZERO),
            drift_ppm: self.drift.unwrap_or_default(),
            jitter_micros: self.jitter.unwrap_or_default(),
            seed: self.jitter_seed,
            slew: self.slew.map(Slew::To).or_else(|| self.slew_back.map(Slew::From)),
            leap: self.leap.map(|(kind, second)| Leap { kind, second, smear: self.leap_smear.unwrap_or(Span::ZERO) }),
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

fn slew(text: &str) -> Result<u32, String> {
    let ppm = text.strip_suffix("ppm").unwrap_or(text).trim_end().parse::<u32>().ok();
    let within = ppm.filter(|ppm| (1..=FAULT_SLEW_PPM_MAX).contains(ppm));
    within.ok_or_else(|| format!("write whole millionths from 1 to {FAULT_SLEW_PPM_MAX}, such as 500ppm"))
}

fn leap(text: &str) -> Result<(LeapKind, Instant<Virtual>), String> {
    let (kind, second) = text.split_once('@').unwrap_or((text, ""));
    let kind = match kind {
        "insert" => LeapKind::Insert,
        "delete" => LeapKind::Delete,
        _ => return Err("write insert@SECOND or delete@SECOND, such as insert@2028-12-31T23:59:59Z".to_owned()),
    };
    parse_timestamp(second).map(|second| (kind, second)).map_err(|error| format!("the second after the `@`: {error}"))
}

fn smear(text: &str) -> Result<Span, String> {
    let within = exact(text)?;
    let is_within = (FAULT_SMEAR_MIN..=FAULT_SMEAR_MAX).contains(&within);
    is_within.then_some(within).ok_or_else(|| "write a length from 10s to 10d, such as 24h".to_owned())
}

fn jitter(text: &str) -> Result<u32, String> {
    let micros = u32::try_from(exact(text)?.micros()).ok().filter(|micros| *micros <= FAULT_JITTER_MICROS_MAX);
    micros.ok_or_else(|| format!("write {} ms of host time or less, such as 5ms", FAULT_JITTER_MICROS_MAX / 1_000))
}

/// A clock that is followed, as it is known and as it is shown.
pub(crate) struct Wrong {
    clock: Option<FaultyClock>,
    known: Known,
}

impl Wrong {
    /// Returns a clock that is wrong from now on, if anything is wrong with it.
    pub(crate) fn new(fault: Option<Fault>, begun: &Begun) -> Self {
        let known = &begun.known;
        let clock = fault.map(|fault| FaultyClock::new(fault, known.clock.clone(), known.host_now()));
        Self { clock, known: known.clone() }
    }

    /// Returns what is to be shown, as if it were known.
    pub(crate) fn shown(&self) -> Known {
        let clock = self.clock.as_ref().map_or(&self.known.clock, FaultyClock::shown);
        Known { clock: clock.clone(), ..self.known.clone() }
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
                self.inner.change(&wrong.shown());
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
    fn change(&self, known: &Known) {
        let mut wrong = self.wrong.lock();
        wrong.known = known.clone();
        let now = known.host_now();
        if let Some(clock) = &mut wrong.clock {
            clock.change(&known.clock, now);
            clock.turn(now);
        }
        self.inner.change(&wrong.shown());
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
        assert_eq!((slew("500ppm"), slew("1")), (Ok(500), Ok(1)));
        let second = parse_timestamp("2028-12-31T23:59:59Z").unwrap();
        assert_eq!(leap("insert@2028-12-31T23:59:59Z"), Ok((LeapKind::Insert, second)));
        assert_eq!(leap("delete@2028-12-31T23:59:59Z"), Ok((LeapKind::Delete, second)));
        assert_eq!(smear("24h"), Ok(Span::from_micros(86_400_000_000)));
        for wrong in ["0", "-500ppm", "100001ppm", "slow"] {
            assert!(slew(wrong).is_err(), "{wrong}");
        }
        for wrong in ["insert", "insert@", "insert@soon", "2028-12-31T23:59:59Z", "twice@2028-12-31T23:59:59Z"] {
            assert!(leap(wrong).is_err(), "{wrong}");
        }
        for wrong in ["9s", "11d", "P1M"] {
            assert!(smear(wrong).is_err(), "{wrong}");
        }
        assert!(jitter("251ms").unwrap_err().contains("250 ms"));
    }
}
