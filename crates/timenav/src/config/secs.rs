use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use timenav_core::limits::SESSION_SECONDS_MAX;

use crate::server::limits::CONNECTION_SECONDS_MAX;

pub(crate) type SessionSecs = Secs<SESSION_SECONDS_MAX>;
pub(crate) type ConnectionSecs = Secs<CONNECTION_SECONDS_MAX>;
pub(crate) type WitnessSecs = Secs<86_400>;

/// Seconds from 1 to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u32")]
pub(crate) struct Secs<const MAX: u32>(u32);

impl<const MAX: u32> Secs<MAX> {
    pub(crate) const fn of(seconds: u32) -> Self {
        assert!(0 < seconds && seconds <= MAX, "a default is one of the values that can be given");
        Self(seconds)
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }

    pub(crate) fn duration(self) -> Duration {
        Duration::from_secs(self.0.into())
    }
}

impl<const MAX: u32> TryFrom<u32> for Secs<MAX> {
    type Error = String;

    fn try_from(seconds: u32) -> Result<Self, String> {
        if (1..=MAX).contains(&seconds) { Ok(Self(seconds)) } else { Err(format!("give 1 to {MAX} seconds")) }
    }
}

impl<const MAX: u32> FromStr for Secs<MAX> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<u32>().map_err(|error| error.to_string())?.try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_duration_is_one_second_to_thirty_days() {
        let check =
            |text: &str, expected| assert_eq!(text.parse::<SessionSecs>().ok().map(Secs::get), expected, "{text}");
        check("0", None);
        check("1", Some(1));
        check("2592000", Some(2_592_000));
        check("2592001", None);
        check("-1", None);
    }

    #[test]
    fn connection_timeout_is_one_second_to_one_day() {
        let check = |text: &str, expected: bool| assert_eq!(text.parse::<ConnectionSecs>().is_ok(), expected, "{text}");
        check("0", false);
        check("1", true);
        check("86400", true);
        check("86401", false);
        check("-1", false);
    }
}
