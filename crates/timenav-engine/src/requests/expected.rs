//! Preconditions, which prevent callers from overwriting changes that they have not seen.

use crate::requests::refusal::Refusal;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Any,
    /// It has this tag. The tag of a clock is its generation.
    Tag(String),
}

impl Expected {
    pub(crate) fn check(expected: Option<&Self>, found: String) -> Result<(), Refusal> {
        match expected {
            Some(Self::Tag(expected)) if *expected != found => Err(Refusal::TagDiffers { found }),
            None | Some(Self::Any | Self::Tag(_)) => Ok(()),
        }
    }
}
