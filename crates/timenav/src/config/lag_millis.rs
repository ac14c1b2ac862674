use std::str::FromStr;

use serde::Deserialize;
use timenav_core::limits::CHECKPOINT_LAG_MILLIS_MAX;
use timenav_core::time::Span;

/// Milliseconds from 0 to [`CHECKPOINT_LAG_MILLIS_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u32")]
pub(crate) struct LagMillis(u32);

impl LagMillis {
    pub(crate) const fn get(self) -> u32 {
        self.0
    }

    pub(crate) const fn span(self) -> Span {
        Span::from_micros(self.0 as i64 * 1_000)
    }
}

impl Default for LagMillis {
    fn default() -> Self {
        Self(50)
    }
}

impl TryFrom<u32> for LagMillis {
    type Error = String;

    fn try_from(millis: u32) -> Result<Self, String> {
        if millis <= CHECKPOINT_LAG_MILLIS_MAX {
            Ok(Self(millis))
        } else {
            Err(format!("give 0 to {CHECKPOINT_LAG_MILLIS_MAX} milliseconds"))
        }
    }
}

impl FromStr for LagMillis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<u32>().map_err(|error| error.to_string())?.try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_is_at_most_one_second() {
        let check = |text: &str, expected| {
            assert_eq!(text.parse::<LagMillis>().ok().map(LagMillis::get), expected, "{text}");
        };
        check("0", Some(0));
        check("1000", Some(1_000));
        check("1001", None);
        check("-1", None);
        check("50ms", None);
    }
}
