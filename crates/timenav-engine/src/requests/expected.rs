//! Preconditions, which prevent callers from overwriting changes that they have not seen.

use crate::requests::refusal::Refusal;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It exists.
    Any,
    /// It has this tag. The tag of a clock is its generation.
    Tag(String),
}

impl Expected {
    /// Compares the precondition with the current tag.
    pub(crate) fn check(expected: Option<&Self>, found: String) -> Result<(), Refusal> {
        match expected {
            Some(Self::Tag(expected)) if *expected != found => Err(Refusal::TagDiffers { found }),
            None | Some(Self::Any | Self::Tag(_)) => Ok(()),
        }
    }
}
