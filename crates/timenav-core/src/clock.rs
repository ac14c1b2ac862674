//! A timeline's clock: what is asked of it, what happens to it, what it refuses.

use crate::limits::{LOCATION_BYTES_MAX, RATE_MICROS_MAX, RATE_MICROS_MIN};
use crate::time::{Duration, Instant, Span, Virtual, Wall, Zone};

#[cfg(test)]
mod tests;

/// How fast virtual time passes, in millionths of host speed.
///
/// Whole millionths keep every reading exact: no two readers can round differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

impl Rate {
    /// Host speed.
    pub const NORMAL: Self = Self(1_000_000);

    /// Returns the rate of that many millionths, or `None` outside the limits.
    #[must_use]
    pub fn from_micros(micros: u64) -> Option<Self> {
        (RATE_MICROS_MIN..=RATE_MICROS_MAX).contains(&micros).then_some(Self(micros))
    }

    /// Returns the rate nearest to `factor` times host speed, or `None` outside the limits.
    #[must_use]
    pub fn from_factor(factor: f64) -> Option<Self> {
        let micros = (factor * 1e6).round();
        // 2^53 bounds what a float holds exactly; the limit lies far below it.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
        (1.0..9e15).contains(&micros).then_some(micros as u64).and_then(Self::from_micros)
    }

    /// Returns the rate in millionths of host speed.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Returns the rate as a multiple of host speed.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the largest rate is 1e12, well under 2^53")]
    pub fn factor(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// Where a clock stands, and whether it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockState {
    /// Virtual time passes at `rate` times host time, from one known pair of instants.
    Running {
        /// The host half of the pair.
        origin_host: Instant<Wall>,
        /// The virtual half of the pair.
        origin_virtual: Instant<Virtual>,
        /// How fast.
        rate: Rate,
    },
    /// Virtual time stands still.
    Paused {
        /// Since when, by the host.
        since: Instant<Wall>,
        /// Where it stands.
        at: Instant<Virtual>,
        /// How fast it will go when resumed.
        rate: Rate,
    },
}

/// One timeline's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Where it stands, and whether it moves.
    pub state: ClockState,
    /// The place last traveled to.
    pub location: Option<String>,
    /// Counts changes; 0 for a clock that was never touched.
    pub generation: u64,
}

/// What is asked of a clock.
#[derive(Clone, Debug, PartialEq)]
pub enum ClockCommand {
    /// Go to a moment, and to a place if one is named.
    Travel {
        /// The moment.
        to: Instant<Virtual>,
        /// The place; `None` stays.
        location: Option<String>,
    },
    /// Stand still.
    Pause,
    /// Go on from the exact moment of the pause.
    Resume,
    /// Jump forward.
    FastForward(Duration),
    /// Go forward by what somebody's work cost, who worked while the clock stood.
    Spend {
        /// What it cost.
        by: Duration,
        /// What the clock showed when the work began: what others spend meanwhile passes once. Otherwise it is what the
        /// clock shows now.
        since: Option<Instant<Virtual>>,
    },
    /// Go forward to the next moment of a timer, which is known where it is decided.
    ToNext {
        /// Where to go at most, and where nothing falls due until then. A clock that shows as much already stays.
        until: Option<Instant<Virtual>>,
    },
    /// Jump back.
    Rewind(Duration),
    /// Change speed, from where the clock is now.
    SetRate(Rate),
    /// Take back a state that was kept: the moment, speed, movement and place of an anchor.
    Restore(Moment),
}

/// What a command means depends on, besides the clock.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The zone of the clock's location: months and years are counted on its calendar.
    pub zone: &'a Zone,
    /// The earliest moment of an armed timer.
    pub next: Option<Instant<Virtual>>,
}

impl<'a> From<&'a Zone> for Surroundings<'a> {
    /// Returns the surroundings of a clock that has no timers.
    fn from(zone: &'a Zone) -> Self {
        Self { zone, next: None }
    }
}

/// A clock's reading with everything needed to take it up again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The virtual time.
    pub at: Instant<Virtual>,
    /// Whether the clock moves.
    pub running: bool,
    /// How fast.
    pub rate: Rate,
    /// The place.
    pub location: Option<String>,
}

/// What happened to a clock: its whole new position, true from one host instant on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockMoved {
    /// When, by the host.
    pub host: Instant<Wall>,
    /// Where the clock went, and how it goes on.
    pub moment: Moment,
}

/// What a clock says no to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClockRefusal {
    /// The clock would leave −9999…9999.
    #[error("the clock would fall outside the years -9999 to 9999")]
    OutOfRange,
    /// Time is to be spent on a clock that moves by itself.
    #[error("the clock is running, so the time that was spent has passed on it already; pause it first")]
    Running,
    /// Time is to be spent since a moment that has yet to come.
    #[error("the clock has not come to that moment; name what it showed when the work began")]
    BeganLater,
    /// No timer is armed, and no moment was named to go to. It is an error so that a loop that only checks the status
    /// ends.
    #[error("no timer is armed, so no moment is next; name one in `until`, where the clock goes if nothing is due")]
    NothingDue,
    /// The location is empty or longer than [`LOCATION_BYTES_MAX`].
    #[error("a location must have 1 to {LOCATION_BYTES_MAX} bytes")]
    Location,
}

impl Clock {
    /// Returns a new timeline's clock: running, at host time.
    #[must_use]
    pub fn new(host: Instant<Wall>) -> Self {
        let origin_virtual = Instant::from_micros(host.micros()).unwrap_or(Instant::EPOCH);
        Self {
            state: ClockState::Running { origin_host: host, origin_virtual, rate: Rate::NORMAL },
            location: None,
            generation: 0,
        }
    }

    /// Returns the virtual time at a host instant. A clock that reaches an end of −9999…9999
    /// stands there.
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

    /// Returns the first host instant at which the clock shows a virtual one or a later one; `None` if it never does.
    #[must_use]
    pub fn host_when(&self, at: Instant<Virtual>) -> Option<Instant<Wall>> {
        match self.state {
            ClockState::Paused { since, at: stands, .. } => (stands >= at).then_some(since),
            ClockState::Running { origin_host, origin_virtual, rate } => {
                let micros = i128::from(at.since(origin_virtual).micros()) * 1_000_000;
                let rate = i128::from(rate.micros());
                // Rounded up: a microsecond before, the clock shows less.
                let passed = micros.div_euclid(rate) + i128::from(micros.rem_euclid(rate) > 0);
                let host = i128::from(origin_host.micros()) + passed;
                i64::try_from(host).ok().and_then(Instant::from_micros)
            }
        }
    }

    /// Returns whether virtual time passes.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        matches!(self.state, ClockState::Running { .. })
    }

    /// Returns how fast virtual time passes, or will when resumed.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        match self.state {
            ClockState::Running { rate, .. } | ClockState::Paused { rate, .. } => rate,
        }
    }

    /// Returns the pair of instants the clock runs, or stands, from.
    #[must_use]
    pub const fn origin(&self) -> (Instant<Wall>, Instant<Virtual>) {
        match self.state {
            ClockState::Running { origin_host, origin_virtual, .. } => (origin_host, origin_virtual),
            ClockState::Paused { since, at, .. } => (since, at),
        }
    }

    /// Returns the clock as it arrives with an adopted timeline: it stands at what it showed at a host instant, by another
    /// host, and has stood there since one of this host. One that stood already is as it was.
    #[must_use]
    pub fn arrived(&self, before: Instant<Wall>, since: Instant<Wall>) -> Self {
        let state = match self.state {
            ClockState::Running { rate, .. } => ClockState::Paused { since, at: self.now(before), rate },
            paused @ ClockState::Paused { .. } => paused,
        };
        Self { state, ..self.clone() }
    }

    /// Returns the reading at a host instant, with everything needed to take it up again.
    #[must_use]
    pub fn moment(&self, host: Instant<Wall>) -> Moment {
        Moment { at: self.now(host), running: self.is_running(), rate: self.rate(), location: self.location.clone() }
    }
}

/// Decides what a command does to a clock at a host instant. Changes nothing.
///
/// `Ok(None)` means that there is nothing to do: a paused clock asked to pause, a running one to
/// resume, a rate that is the rate already, a next moment that has come.
///
/// # Errors
/// [`ClockRefusal`]; the clock stays as it is.
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
        ClockCommand::Spend { by, since } => spent(&now, (by, *since), zone)?,
        ClockCommand::ToNext { until } => {
            let to = next.into_iter().chain(*until).min().ok_or(ClockRefusal::NothingDue)?;
            // Where time has passed it meanwhile, it does not go back.
            (to > now.at).then_some(Moment { at: to, ..now })
        }
        ClockCommand::Rewind(by) => Some(shifted(by.earlier(now.at, zone)).ok_or(ClockRefusal::OutOfRange)?),
        ClockCommand::SetRate(rate) if *rate == now.rate => None,
        ClockCommand::SetRate(rate) => Some(Moment { rate: *rate, ..now }),
        ClockCommand::Restore(moment) => Some(moment.clone()),
    };
    Ok(moment.map(|moment| ClockMoved { host, moment }))
}

/// Returns where a clock that stands comes to; `None` where others have spent as much already.
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

/// Applies what happened to a clock. Cannot fail: live path, replay and audit share it.
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

/// Returns how far `to` lies from host time, as one span on the UTC axis both share.
///
/// This is the one place where the two scales are compared: `limited_access` is defined by it.
#[must_use]
pub fn distance_from_host(to: Instant<Virtual>, host: Instant<Wall>) -> Span {
    Span::from_micros((to.micros() - host.micros()).abs())
}
