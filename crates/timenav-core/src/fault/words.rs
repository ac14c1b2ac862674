//! Text form of a fault, for the command line, the API and ledger entries.

use thiserror::Error;

use super::{
    FAULT_DRIFT_PPM_MAX, FAULT_JITTER_MICROS_MAX, FAULT_SLEW_PPM_MAX, FAULT_SMEAR_MAX, FAULT_SMEAR_MIN, Fault, Leap,
    LeapKind, Slew,
};
use crate::limits::FAULT_SEED_MAX;
use crate::time::{Instant, Span, Virtual, parse_duration, parse_timestamp};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultWritten {
    /// For example `2s` or `150ms`; `-2s` if the clock lags.
    pub offset: Option<String>,
    /// Parts per million; negative if the clock is slow.
    pub drift_ppm: Option<i64>,
    /// Largest deviation in each direction, such as `5ms`.
    pub jitter: Option<String>,
    pub jitter_seed: Option<u64>,
    /// Slew rate to the offset, in parts per million.
    pub slew_ppm: Option<i64>,
    /// Slew rate from the offset to the correct time, in parts per million.
    pub slew_back_ppm: Option<i64>,
    /// A leap second, such as `insert@2028-12-31T23:59:59Z`.
    pub leap: Option<String>,
    /// The virtual time over which the leap second is smeared, such as `24h`.
    pub leap_smear: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{member}`: {detail}")]
pub struct FaultError {
    pub member: &'static str,
    /// What the member must be, as a sentence.
    pub detail: String,
}

impl FaultWritten {
    /// Parses the fault. [`Fault::is_none`] holds for the result if nothing is set.
    ///
    /// # Errors
    /// A member is out of bounds, or requires another one that is missing.
    pub fn fault(&self) -> Result<Fault, FaultError> {
        let wrong = |member| move |detail: String| FaultError { member, detail };
        let offset = self.offset.as_deref().map(fault_offset).transpose().map_err(wrong("offset"))?;
        let drift_ppm = self.drift_ppm.map(fault_drift).transpose().map_err(wrong("drift_ppm"))?;
        let jitter = self.jitter.as_deref().map(fault_jitter).transpose().map_err(wrong("jitter"))?;
        let leap = self.leap.as_deref().map(fault_leap).transpose().map_err(wrong("leap"))?;
        let smear = self.leap_smear.as_deref().map(fault_smear).transpose().map_err(wrong("leap_smear"))?;
        let slew_to = self.slew_ppm.map(fault_slew).transpose().map_err(wrong("slew_ppm"))?;
        let slew_from = self.slew_back_ppm.map(fault_slew).transpose().map_err(wrong("slew_back_ppm"))?;
        if self.jitter_seed.is_some_and(|seed| seed > FAULT_SEED_MAX) {
            return Err(wrong("jitter_seed")(format!("write a whole number from 0 to {FAULT_SEED_MAX}")));
        }
        let needs = |member, other: &str| wrong(member)(format!("it needs `{other}`, which is missing"));
        match (offset, slew_to, slew_from) {
            (_, Some(_), Some(_)) => {
                return Err(wrong("slew_back_ppm")("give `slew_ppm` or this, not both".to_owned()));
            }
            (None, Some(_), None) => return Err(needs("slew_ppm", "offset")),
            (None, None, Some(_)) => return Err(needs("slew_back_ppm", "offset")),
            (_, _, _) => {}
        }
        if jitter.is_none() && self.jitter_seed.is_some() {
            return Err(needs("jitter_seed", "jitter"));
        }
        if leap.is_none() && smear.is_some() {
            return Err(needs("leap_smear", "leap"));
        }
        Ok(Fault {
            offset: offset.unwrap_or(Span::ZERO),
            drift_ppm: drift_ppm.unwrap_or_default(),
            jitter_micros: jitter.unwrap_or_default(),
            seed: self.jitter_seed.unwrap_or_default(),
            slew: slew_to.map(Slew::To).or_else(|| slew_from.map(Slew::From)),
            leap: leap.map(|(kind, second)| Leap { kind, second, smear: smear.unwrap_or(Span::ZERO) }),
        })
    }
}

impl Fault {
    /// Returns the text form, which parses to the same fault.
    #[must_use]
    pub fn written(&self) -> FaultWritten {
        let Self { offset, drift_ppm, jitter_micros, seed, slew, leap } = self;
        let (slew_ppm, slew_back_ppm) = match slew {
            None => (None, None),
            Some(Slew::To(ppm)) => (Some(i64::from(*ppm)), None),
            Some(Slew::From(ppm)) => (None, Some(i64::from(*ppm))),
        };
        let has_offset = *offset != Span::ZERO || slew.is_some();
        FaultWritten {
            offset: has_offset.then(|| length(*offset)),
            drift_ppm: (*drift_ppm != 0).then(|| i64::from(*drift_ppm)),
            jitter: (*jitter_micros > 0).then(|| length(Span::from_micros(i64::from(*jitter_micros)))),
            jitter_seed: (*jitter_micros > 0 && *seed > 0).then_some(*seed),
            slew_ppm,
            slew_back_ppm,
            leap: leap.map(|Leap { kind, second, .. }| match kind {
                LeapKind::Insert => format!("insert@{second}"),
                LeapKind::Delete => format!("delete@{second}"),
            }),
            leap_smear: leap.filter(|leap| leap.smear != Span::ZERO).map(|leap| length(leap.smear)),
        }
    }
}

/// Formats a span in the largest unit in which it is a whole number.
fn length(span: Span) -> String {
    let micros = span.micros();
    match micros {
        _ if micros % 1_000_000 == 0 => format!("{}s", micros / 1_000_000),
        _ if micros % 1_000 == 0 => format!("{}ms", micros / 1_000),
        _ => format!("{micros}us"),
    }
}

/// Parses an offset: a duration without months, negative if the clock lags.
///
/// # Errors
/// The text is not one. The error describes the expected value, as a sentence.
pub fn fault_offset(text: &str) -> Result<Span, String> {
    let (is_behind, length) = text.strip_prefix('-').map_or((false, text), |length| (true, length));
    let span = exact(length.strip_prefix('+').unwrap_or(length))?;
    Ok(if is_behind { span.checked_neg().unwrap_or(span) } else { span })
}

fn exact(text: &str) -> Result<Span, String> {
    let duration = parse_duration(text).map_err(|error| error.to_string())?;
    if duration.months() > 0 {
        return Err("write a duration without months, such as 2s or 150ms".to_owned());
    }
    Ok(duration.exact())
}

/// Checks a drift in parts per million.
///
/// # Errors
/// It is out of bounds. The error describes the expected value, as a sentence.
pub fn fault_drift(ppm: i64) -> Result<i32, String> {
    let within = i32::try_from(ppm).ok().filter(|ppm| (-FAULT_DRIFT_PPM_MAX..=FAULT_DRIFT_PPM_MAX).contains(ppm));
    within.ok_or_else(|| {
        format!("write whole parts per million, at most {FAULT_DRIFT_PPM_MAX} in either direction, such as 200 or -50")
    })
}

/// Checks a slew rate in parts per million.
///
/// # Errors
/// It is out of bounds. The error describes the expected value, as a sentence.
pub fn fault_slew(ppm: i64) -> Result<u32, String> {
    let within = u32::try_from(ppm).ok().filter(|ppm| (1..=FAULT_SLEW_PPM_MAX).contains(ppm));
    within.ok_or_else(|| format!("write whole parts per million from 1 to {FAULT_SLEW_PPM_MAX}, such as 500"))
}

/// Parses a leap second: `insert@` or `delete@`, followed by the second.
///
/// # Errors
/// The text is not one. The error describes the expected value, as a sentence.
pub fn fault_leap(text: &str) -> Result<(LeapKind, Instant<Virtual>), String> {
    let (kind, second) = text.split_once('@').unwrap_or((text, ""));
    let kind = match kind {
        "insert" => LeapKind::Insert,
        "delete" => LeapKind::Delete,
        _ => return Err("write insert@SECOND or delete@SECOND, such as insert@2028-12-31T23:59:59Z".to_owned()),
    };
    parse_timestamp(second).map(|second| (kind, second)).map_err(|error| format!("the second after the `@`: {error}"))
}

/// Parses the smear of a leap second, in virtual time.
///
/// # Errors
/// The text is not a duration, or is out of bounds. The error describes the expected value, as a sentence.
pub fn fault_smear(text: &str) -> Result<Span, String> {
    let within = exact(text)?;
    let is_within = (FAULT_SMEAR_MIN..=FAULT_SMEAR_MAX).contains(&within);
    is_within.then_some(within).ok_or_else(|| "write a duration from 10s to 10d, such as 24h".to_owned())
}

/// Parses a jitter, in microseconds.
///
/// # Errors
/// The text is not a duration, or is out of bounds. The error describes the expected value, as a sentence.
pub fn fault_jitter(text: &str) -> Result<u32, String> {
    let micros = u32::try_from(exact(text)?.micros()).ok().filter(|micros| *micros <= FAULT_JITTER_MICROS_MAX);
    micros.ok_or_else(|| format!("write {} ms of host time or less, such as 5ms", FAULT_JITTER_MICROS_MAX / 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::DURATION_BYTES_MAX;

    fn read(change: impl FnOnce(&mut FaultWritten)) -> Result<Fault, FaultError> {
        let mut written = FaultWritten::default();
        change(&mut written);
        written.fault()
    }

    #[test]
    fn fault_settings_are_parsed_from_text() {
        assert_eq!(fault_offset("2s"), Ok(Span::from_micros(2_000_000)));
        assert_eq!(fault_offset("+150ms"), Ok(Span::from_micros(150_000)));
        assert_eq!(fault_offset("-7us"), Ok(Span::from_micros(-7)));
        assert_eq!(fault_offset("-1.5ms"), Ok(Span::from_micros(-1_500)));
        assert_eq!(fault_offset("-1h30m"), Ok(Span::from_micros(-5_400_000_000)));
        assert_eq!((fault_drift(200), fault_drift(-50)), (Ok(200), Ok(-50)));
        assert_eq!((fault_jitter("5ms"), fault_jitter("250ms")), (Ok(5_000), Ok(250_000)));
        assert!(fault_offset(&format!("{}5ms", "0".repeat(DURATION_BYTES_MAX))).is_err());
        for wrong in ["P1M", "soon", "--2s", "ms", "+-2ms"] {
            assert!(fault_offset(wrong).is_err(), "{wrong}");
        }
        assert!(fault_drift(100_001).is_err() && fault_drift(-100_001).is_err());
        assert_eq!((fault_slew(500), fault_slew(1)), (Ok(500), Ok(1)));
        assert!([0, -500, 100_001].into_iter().all(|wrong| fault_slew(wrong).is_err()));
        let second = parse_timestamp("2028-12-31T23:59:59Z").unwrap();
        assert_eq!(fault_leap("insert@2028-12-31T23:59:59Z"), Ok((LeapKind::Insert, second)));
        assert_eq!(fault_leap("delete@2028-12-31T23:59:59Z"), Ok((LeapKind::Delete, second)));
        assert_eq!(fault_smear("24h"), Ok(Span::from_micros(86_400_000_000)));
        for wrong in ["insert", "insert@", "insert@soon", "2028-12-31T23:59:59Z", "twice@2028-12-31T23:59:59Z"] {
            assert!(fault_leap(wrong).is_err(), "{wrong}");
        }
        for wrong in ["9s", "11d", "P1M"] {
            assert!(fault_smear(wrong).is_err(), "{wrong}");
        }
        assert!(fault_jitter("251ms").unwrap_err().contains("250 ms"));
    }

    #[test]
    fn written_faults_are_parsed_back() {
        let second = parse_timestamp("2028-12-31T23:59:59Z").unwrap();
        let leap = |smear| Leap { kind: LeapKind::Delete, second, smear: Span::from_micros(smear) };
        let (offset, seed) = (Span::from_micros(-86_400_000_001), FAULT_SEED_MAX);
        for fault in [
            Fault { offset, ..Fault::default() },
            Fault { offset: Span::from_micros(1_500_000), slew: Some(Slew::To(500)), ..Fault::default() },
            Fault { offset: Span::from_micros(2_000_000), slew: Some(Slew::From(1)), ..Fault::default() },
            Fault { drift_ppm: -50, jitter_micros: 5_000, seed, ..Fault::default() },
            Fault { leap: Some(leap(0)), ..Fault::default() },
            Fault { leap: Some(leap(86_400_000_000)), ..Fault::default() },
        ] {
            let written = fault.written();
            assert_eq!(written.fault(), Ok(fault), "{written:?}");
        }
        assert_eq!(Fault::default().written(), FaultWritten::default());
        assert_eq!(FaultWritten::default().fault().map(|fault| fault.is_none()), Ok(true));
    }

    #[test]
    fn invalid_fault_member_is_named_with_its_requirement() {
        let text = |text: &str| Some(text.to_owned());
        let seed = FAULT_SEED_MAX + 1;
        for (member, expected, refused) in [
            ("offset", "2s", read(|one| one.offset = text("soon"))),
            ("drift_ppm", "100000", read(|one| one.drift_ppm = Some(100_001))),
            ("jitter", "250 ms", read(|one| one.jitter = text("1s"))),
            ("jitter_seed", "`jitter`", read(|one| one.jitter_seed = Some(7))),
            ("jitter_seed", "9007199254740991", read(|one| (one.jitter, one.jitter_seed) = (text("1ms"), Some(seed)))),
            ("slew_ppm", "`offset`", read(|one| one.slew_ppm = Some(500))),
            ("slew_back_ppm", "`offset`", read(|one| one.slew_back_ppm = Some(500))),
            ("slew_back_ppm", "not both", read(|one| (one.slew_ppm, one.slew_back_ppm) = (Some(5), Some(5)))),
            ("leap", "insert@", read(|one| one.leap = text("2028"))),
            ("leap_smear", "`leap`", read(|one| one.leap_smear = text("24h"))),
            ("leap_smear", "24h", read(|one| one.leap_smear = text("1s"))),
        ] {
            let error = refused.unwrap_err();
            assert_eq!(error.member, member, "{error}");
            let says = error.detail.contains(expected) || (member == "offset" && !error.detail.is_empty());
            assert!(says, "{error}");
        }
    }
}
