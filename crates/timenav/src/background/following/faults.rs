use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use serde_json::Value;
use timenav_core::fault::{
    Fault, FaultWritten, FaultyClock, Leap, LeapKind, Slew, fault_drift, fault_jitter, fault_leap, fault_offset,
    fault_slew, fault_smear,
};
use timenav_core::time::{Instant, Span, Virtual};

use super::{Begun, ClockObserver, Known};

pub(crate) const WRONG_CLOCK: &str = "A wrong clock";

/// How the clock of programs is wrong.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = WRONG_CLOCK)]
pub(crate) struct FaultOptions {
    /// Show a clock that is ahead of the timeline's clock, such as by 2s, or behind it, such as by -150ms. The offset
    /// stays through jumps and pauses.
    #[arg(long, value_name = "DURATION", value_parser = fault_offset, allow_hyphen_values = true)]
    offset: Option<Span>,
    /// Show a clock that is fast, such as by 200ppm, or slow, such as by -50ppm. 1ppm is a microsecond per virtual
    /// second.
    #[arg(long, value_name = "PPM", value_parser = drift, allow_hyphen_values = true)]
    drift: Option<i32>,
    /// Show a clock that varies at random by up to this much host time, such as 5ms. It changes every second, without
    /// steps.
    #[arg(long, value_name = "DURATION", value_parser = fault_jitter)]
    jitter: Option<u32>,
    /// The random seed of the jitter.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "jitter")]
    jitter_seed: u64,
    /// Slew the clock from the right time to the offset, at this rate of virtual time, such as 500ppm.
    #[arg(long, value_name = "PPM", value_parser = slew, requires = "offset", conflicts_with = "slew_back")]
    slew: Option<u32>,
    /// Start with the offset and slew the clock back to the right time, at this rate of virtual time, such as 500ppm.
    #[arg(long, value_name = "PPM", value_parser = slew, requires = "offset")]
    slew_back: Option<u32>,
    /// Show a leap second. With insert@2028-12-31T23:59:59Z this second occurs twice; with delete@2028-12-31T23:59:59Z
    /// it is skipped. After it, the clock is a second behind or ahead.
    #[arg(long, value_name = "KIND@SECOND", value_parser = fault_leap)]
    leap: Option<(LeapKind, Instant<Virtual>)>,
    /// Smear the leap second over this much virtual time, such as 24h, half before and half after it.
    #[arg(long, value_name = "DURATION", value_parser = fault_smear, requires = "leap")]
    leap_smear: Option<Span>,
}

impl FaultOptions {
    pub(crate) fn body(&self) -> Option<Value> {
        let FaultWritten { offset, drift_ppm, jitter, jitter_seed, slew_ppm, slew_back_ppm, leap, leap_smear } =
            self.fault()?.written();
        let members = [
            ("offset", offset.map(Value::from)),
            ("drift_ppm", drift_ppm.map(Value::from)),
            ("jitter", jitter.map(Value::from)),
            ("jitter_seed", jitter_seed.map(Value::from)),
            ("slew_ppm", slew_ppm.map(Value::from)),
            ("slew_back_ppm", slew_back_ppm.map(Value::from)),
            ("leap", leap.map(Value::from)),
            ("leap_smear", leap_smear.map(Value::from)),
        ];
        Some(members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
    }

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

fn drift(text: &str) -> Result<i32, String> {
    millionths(text).and_then(fault_drift)
}

fn slew(text: &str) -> Result<u32, String> {
    millionths(text).and_then(fault_slew)
}

/// Parses parts per million, with an optional `ppm` suffix.
fn millionths(text: &str) -> Result<i64, String> {
    let ppm = text.strip_suffix("ppm").unwrap_or(text).trim_end().parse();
    ppm.map_err(|_| "write whole millionths, such as 200ppm".to_owned())
}

/// Parses the fault in a message; `None` if there is none, or it is of a kind that this version does not know.
pub(super) fn fault_in(message: &Value) -> Option<Fault> {
    let fault = &message["fault"];
    let (text, number) = (|name: &str| fault[name].as_str().map(str::to_owned), |name: &str| fault[name].as_i64());
    let written = FaultWritten {
        offset: text("offset"),
        drift_ppm: number("drift_ppm"),
        jitter: text("jitter"),
        jitter_seed: fault["jitter_seed"].as_u64(),
        slew_ppm: number("slew_ppm"),
        slew_back_ppm: number("slew_back_ppm"),
        leap: text("leap"),
        leap_smear: text("leap_smear"),
    };
    written.fault().ok().filter(|fault| !fault.is_none())
}

pub(crate) struct Wrong {
    clock: Option<FaultyClock>,
    fault: Option<Fault>,
    /// The local fault, which applies unless the service sets one.
    own: Option<Fault>,
    known: Known,
}

impl Wrong {
    pub(crate) fn new(own: Option<Fault>, begun: &Begun) -> Self {
        let known = begun.known.clone();
        let mut wrong = Self { clock: None, fault: None, own, known };
        wrong.err(own);
        wrong
    }

    fn err(&mut self, fault: Option<Fault>) {
        self.fault = fault;
        self.clock = fault.map(|fault| FaultyClock::new(fault, self.known.clock.clone(), self.known.host_now()));
    }

    pub(crate) fn displayed(&self) -> Known {
        let clock = self.clock.as_ref().map_or(&self.known.clock, FaultyClock::displayed);
        Known { clock: clock.clone(), ..self.known.clone() }
    }
}

pub(crate) struct Faulty<S> {
    inner: S,
    wrong: Mutex<Wrong>,
    changed: Condvar,
}

/// With `may_become`, the service may set a fault later.
pub(crate) fn show<S: ClockObserver>(wrong: Wrong, inner: S, may_become: bool) -> std::io::Result<Arc<Faulty<S>>> {
    let is_wrong = wrong.clock.is_some() || may_become;
    let faulty = Arc::new(Faulty { inner, wrong: Mutex::new(wrong), changed: Condvar::new() });
    if is_wrong {
        let turned = Arc::clone(&faulty);
        // The thread runs until the process ends.
        std::thread::Builder::new().name("wrong-clock".to_owned()).spawn(move || turned.turn())?;
    }
    Ok(faulty)
}

impl<S: ClockObserver> Faulty<S> {
    /// Updates an unsteady clock whenever that is due.
    fn turn(&self) {
        let mut wrong = self.wrong.lock();
        loop {
            let now = wrong.known.host_now();
            let (has_turned, next) =
                wrong.clock.as_mut().map_or((false, None), |clock| (clock.turn(now), clock.next_turn()));
            if has_turned {
                self.inner.change(&wrong.displayed());
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

impl<S: ClockObserver> ClockObserver for Faulty<S> {
    fn change(&self, known: &Known) {
        let mut wrong = self.wrong.lock();
        wrong.known = known.clone();
        let now = known.host_now();
        if let Some(clock) = &mut wrong.clock {
            clock.change(&known.clock, now);
            clock.turn(now);
        }
        self.inner.change(&wrong.displayed());
        self.changed.notify_all();
    }

    fn shows_faults(&self) -> bool {
        true
    }

    fn fault(&self, change: Option<Fault>) {
        let mut wrong = self.wrong.lock();
        let fault = change.or(wrong.own);
        if fault != wrong.fault {
            wrong.err(fault);
            self.inner.change(&wrong.displayed());
            self.changed.notify_all();
        }
    }

    fn reachable(&self) {
        self.inner.reachable();
    }

    fn lost(&self) {
        self.inner.lost();
    }

    fn refused(&self) {
        self.inner.refused();
    }

    fn settle(&self) -> bool {
        self.inner.settle()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_and_slew_accept_ppm_values() {
        assert_eq!((drift("200ppm"), drift("-50"), drift("7 ppm")), (Ok(200), Ok(-50), Ok(7)));
        assert_eq!((slew("500ppm"), slew("1")), (Ok(500), Ok(1)));
        for wrong in ["fast", "0.5ppm", "100001ppm", ""] {
            assert!(drift(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0", "-500ppm", "100001ppm", "slow"] {
            assert!(slew(wrong).is_err(), "{wrong}");
        }
    }
}
