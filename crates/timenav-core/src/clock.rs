use crate::limits::{LOCATION_BYTES_MAX, RATE_MICROS_MAX, RATE_MICROS_MIN};
use crate::time::{Duration, Instant, Span, Virtual, Wall, Zone};

#[cfg(test)]
mod tests;

/// The rate at which virtual time passes, in millionths of host speed. Whole millionths make every reading exact: two
/// readers never round differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

impl Rate {
    pub const NORMAL: Self = Self(1_000_000);

    /// Returns the rate of `micros` millionths, or `None` if it is outside the limits.
    #[must_use]
    pub fn from_micros(micros: u64) -> Option<Self> {
        (RATE_MICROS_MIN..=RATE_MICROS_MAX).contains(&micros).then_some(Self(micros))
    }

    /// Returns the rate nearest to `factor` times host speed, or `None` if it is outside the limits.
    #[must_use]
    pub fn from_factor(factor: f64) -> Option<Self> {
        let micros = (factor * 1e6).round();
        // A float is exact up to 2^53, which is far above the limit.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
        (1.0..9e15).contains(&micros).then_some(micros as u64).and_then(Self::from_micros)
    }

    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0
    }

    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the largest rate is 1e12, well under 2^53")]
    pub fn factor(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockState {
    /// Virtual time passes at `rate` times host time, counted from a known pair of instants.
    Running { origin_host: Instant<Wall>, origin_virtual: Instant<Virtual>, rate: Rate },
    Paused {
        since: Instant<Wall>,
        /// The virtual time that it shows.
        at: Instant<Virtual>,
        /// The rate at which it will run when resumed.
        rate: Rate,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    pub state: ClockState,
    /// The place last traveled to.
    pub location: Option<String>,
    /// Number of changes; 0 for a new clock.
    pub generation: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ClockCommand {
    /// Travel to a moment, and to a place if one is given.
    Travel {
        to: Instant<Virtual>,
        /// The place; `None` keeps the current one.
        location: Option<String>,
    },
    Pause,
    /// Continue from the exact moment of the pause.
    Resume,
    FastForward(Duration),
    /// Move a paused clock forward by the cost of work that was done during the pause.
    Elapse {
        by: Duration,
        /// What the clock showed when the work began, so that concurrent work counts once. `None` for now.
        since: Option<Instant<Virtual>>,
    },
    /// Move forward to the next timer. Its moment is known when the command is decided.
    ToNext {
        /// The latest moment to go to, also used if no timer is due before it. A clock that is already there stays.
        until: Option<Instant<Virtual>>,
    },
    Rewind(Duration),
    SetRate(Rate),
    /// Restore a saved state: the moment, rate, movement and place of an anchor.
    Restore(Moment),
}

/// Inputs of a decision other than the clock.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The zone of the clock's location. Months and years are counted on its calendar.
    pub zone: &'a Zone,
    /// The earliest moment of an armed timer.
    pub next: Option<Instant<Virtual>>,
}

impl<'a> From<&'a Zone> for Surroundings<'a> {
    /// For a clock without timers.
    fn from(zone: &'a Zone) -> Self {
        Self { zone, next: None }
    }
}

/// A clock's reading with everything needed to continue from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    pub at: Instant<Virtual>,
    pub running: bool,
    pub rate: Rate,
    pub location: Option<String>,
}

/// A change to a clock: its complete new state, valid from one host instant on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockMoved {
    pub host: Instant<Wall>,
    pub moment: Moment,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClockRefusal {
    #[error("the clock would fall outside the years -9999 to 9999")]
    OutOfRange,
    #[error("the clock is running, so that time has already passed on it; pause it first")]
    Running,
    #[error("the clock has not reached that time; give its reading from when the work began")]
    BeganLater,
    /// No armed timer and no `until`. An error, so that a loop that only checks the status terminates.
    #[error("no timer is armed; give `until`, the time to move to if nothing is due")]
    NothingDue,
    #[error("a location must have 1 to {LOCATION_BYTES_MAX} bytes")]
    Location,
}

impl Clock {
    /// Returns the clock of a new timeline: running, at host time.
    #[must_use]
    pub fn new(host: Instant<Wall>) -> Self {
        let origin_virtual = Instant::from_micros(host.micros()).unwrap_or(Instant::EPOCH);
        Self {
            state: ClockState::Running { origin_host: host, origin_virtual, rate: Rate::NORMAL },
            location: None,
            generation: 0,
        }
    }

    /// Returns the virtual time at a host instant. A clock that reaches either end of −9999…9999 stops there.
    #[must_use]
    pub fn now(&self, host: Instant<Wall>) -> Instant<Virtual> {
        match self.state {
            ClockState::Paused { at, .. } => at,
            ClockState::Running { origin_host, origin_virtual, rate } => {
                let passed = i128::from(host.since(origin_host).micros()) * i128::from(rate.micros());
                let micros = i128::from(origin_virtual.micros()) + passed.div_euclid(1_000_000);
                let within = micros
                    .clamp(i128::from(Instant::<Virtual>::MIN.micros()), i128::from(Instant::<Virtual>::MAX.micros()));
                i64::try_from(within).ok().and_then(Instant::from_micros).unwrap_or(Instant::MAX)
            }
        }
    }

    /// Returns the first host instant at which the clock shows `at` or later; `None` if it never does.
    #[must_use]
    pub fn host_when(&self, at: Instant<Virtual>) -> Option<Instant<Wall>> {
        match self.state {
            ClockState::Paused { since, at: paused_at, .. } => (paused_at >= at).then_some(since),
            ClockState::Running { origin_host, origin_virtual, rate } => {
                let micros = i128::from(at.since(origin_virtual).micros()) * 1_000_000;
                let rate = i128::from(rate.micros());
                // Rounded up: one microsecond earlier the clock shows less.
                let passed = micros.div_euclid(rate) + i128::from(micros.rem_euclid(rate) > 0);
                let host = i128::from(origin_host.micros()) + passed;
                i64::try_from(host).ok().and_then(Instant::from_micros)
            }
        }
    }

    #[must_use]
    pub const fn is_running(&self) -> bool {
        matches!(self.state, ClockState::Running { .. })
    }

    /// Returns the current rate, or for a paused clock the rate at which it will run.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        match self.state {
            ClockState::Running { rate, .. } | ClockState::Paused { rate, .. } => rate,
        }
    }

    /// Returns the pair of instants that the clock runs from or is paused at.
    #[must_use]
    pub const fn origin(&self) -> (Instant<Wall>, Instant<Virtual>) {
        match self.state {
            ClockState::Running { origin_host, origin_virtual, .. } => (origin_host, origin_virtual),
            ClockState::Paused { since, at, .. } => (since, at),
        }
    }

    /// Returns the clock of an adopted timeline: paused at what it showed at `before`, an instant of the previous host,
    /// since the instant `since` of this host. A clock that was already paused is unchanged.
    #[must_use]
    pub fn arrived(&self, before: Instant<Wall>, since: Instant<Wall>) -> Self {
        let state = match self.state {
            ClockState::Running { rate, .. } => ClockState::Paused { since, at: self.now(before), rate },
            paused @ ClockState::Paused { .. } => paused,
        };
        Self { state, ..self.clone() }
    }

    #[must_use]
    pub fn moment(&self, host: Instant<Wall>) -> Moment {
        Moment { at: self.now(host), running: self.is_running(), rate: self.rate(), location: self.location.clone() }
    }
}

/// Decides what a command does to a clock at a host instant. Has no side effects.
///
/// `Ok(None)` means that there is nothing to do: pausing a paused clock, resuming a running one, setting the current
/// rate, or a next moment that has already passed.
///
/// # Errors
/// [`ClockRefusal`]; the clock is unchanged.
pub fn decide<'a>(
    clock: &Clock,
    command: &ClockCommand,
    surroundings: impl Into<Surroundings<'a>>,
    host: Instant<Wall>,
) -> Result<Option<ClockMoved>, ClockRefusal> {
    let Surroundings { zone, next } = surroundings.into();
    let now = clock.moment(host);
    let shifted = |at: Option<Instant<Virtual>>| at.map(|at| Moment { at, ..now.clone() });
    let moment = match command {
        ClockCommand::Travel { to, location } => Some(travelled(&now, *to, location.as_deref())?),
        ClockCommand::Pause if !now.running => None,
        ClockCommand::Pause => Some(Moment { running: false, ..now }),
        ClockCommand::Resume if now.running => None,
        ClockCommand::Resume => Some(Moment { running: true, ..now }),
        ClockCommand::FastForward(by) => Some(shifted(by.later(now.at, zone)).ok_or(ClockRefusal::OutOfRange)?),
        ClockCommand::Elapse { by, since } => spent(&now, (by, *since), zone)?,
        ClockCommand::ToNext { until } => {
            let to = next.into_iter().chain(*until).min().ok_or(ClockRefusal::NothingDue)?;
            // The clock may have passed it already. It never moves back.
            (to > now.at).then_some(Moment { at: to, ..now })
        }
        ClockCommand::Rewind(by) => Some(shifted(by.earlier(now.at, zone)).ok_or(ClockRefusal::OutOfRange)?),
        ClockCommand::SetRate(rate) if *rate == now.rate => None,
        ClockCommand::SetRate(rate) => Some(Moment { rate: *rate, ..now }),
        ClockCommand::Restore(moment) => Some(moment.clone()),
    };
    Ok(moment.map(|moment| ClockMoved { host, moment }))
}

/// Returns the new moment of a paused clock, or `None` if concurrent work has already spent as much.
fn spent(
    now: &Moment,
    (by, since): (&Duration, Option<Instant<Virtual>>),
    zone: &Zone,
) -> Result<Option<Moment>, ClockRefusal> {
    if now.running {
        return Err(ClockRefusal::Running);
    }
    let began = since.unwrap_or(now.at);
    if began > now.at {
        return Err(ClockRefusal::BeganLater);
    }
    let at = by.later(began, zone).ok_or(ClockRefusal::OutOfRange)?;
    Ok((at > now.at).then(|| Moment { at, ..now.clone() }))
}

fn travelled(now: &Moment, at: Instant<Virtual>, location: Option<&str>) -> Result<Moment, ClockRefusal> {
    let location = match location {
        Some(text) if text.is_empty() || text.len() > LOCATION_BYTES_MAX => return Err(ClockRefusal::Location),
        Some(text) => Some(text.to_owned()),
        None => now.location.clone(),
    };
    Ok(Moment { at, location, ..now.clone() })
}

/// Applies a change to a clock. Infallible: the live path, replay and audit share it.
#[must_use]
pub fn apply(clock: &Clock, moved: &ClockMoved) -> Clock {
    let ClockMoved { host, moment } = moved;
    let rate = moment.rate;
    let state = if moment.running {
        ClockState::Running { origin_host: *host, origin_virtual: moment.at, rate }
    } else {
        ClockState::Paused { since: *host, at: moment.at, rate }
    };
    Clock { state, location: moment.location.clone(), generation: clock.generation + 1 }
}

/// Returns the distance of `to` from host time, on the UTC axis that both share. This is the only place where the two
/// scales are compared: `limited_access` is defined by it.
#[must_use]
pub fn distance_from_host(to: Instant<Virtual>, host: Instant<Wall>) -> Span {
    Span::from_micros((to.micros() - host.micros()).abs())
}
