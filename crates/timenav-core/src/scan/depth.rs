use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

/// Most entries of a sample. Each needs its own lookup and proof, so that beyond this a full scan is faster.
pub const SAMPLE_ENTRIES_MAX: u64 = 100_000;

/// Longest part of a text that is quoted in an error, in bytes.
const QUOTED_BYTES_MAX: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// Everything: entries, payloads, tree, signatures, tables.
    #[default]
    Full,
    /// The newest checkpoint, its stored tree, and the external checkpoint.
    Quick,
    /// As [`Depth::Quick`], and that many of the last entries.
    Tail(NonZeroU64),
    /// As [`Depth::Quick`], and that many random entries.
    Sample(NonZeroU64),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown depth `{0}`; use full, quick, tail:<n> with n at least 1, or sample:<n> with n from 1 to \
     {SAMPLE_ENTRIES_MAX}, such as tail:1000"
)]
pub struct DepthError(String);

impl DepthError {
    /// Truncates the text, which can be as long as a request.
    fn quoting(text: &str) -> Self {
        let end = text.floor_char_boundary(QUOTED_BYTES_MAX);
        Self(if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() })
    }
}

impl FromStr for Depth {
    type Err = DepthError;

    fn from_str(text: &str) -> Result<Self, DepthError> {
        let count = |digits: &str| -> Result<NonZeroU64, DepthError> {
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|_| plain).ok_or_else(|| DepthError::quoting(text))
        };
        match (text, text.split_once(':')) {
            ("full", _) => Ok(Self::Full),
            ("quick", _) => Ok(Self::Quick),
            (_, Some(("tail", digits))) => Ok(Self::Tail(count(digits)?)),
            (_, Some(("sample", digits))) => {
                let count = count(digits)?;
                if count.get() <= SAMPLE_ENTRIES_MAX { Ok(Self::Sample(count)) } else { Err(DepthError::quoting(text)) }
            }
            _ => Err(DepthError::quoting(text)),
        }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Quick => f.write_str("quick"),
            Self::Tail(count) => write!(f, "tail:{count}"),
            Self::Sample(count) => write!(f, "sample:{count}"),
        }
    }
}
