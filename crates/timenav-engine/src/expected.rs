//! What whoever changes something says that it is, so that nobody takes back what they have not seen.

use crate::refusal::Refusal;

/// What is there, in the words of whoever changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It is there, whatever it is.
    Any,
    /// It has this tag. That of a clock is its generation.
    Tag(String),
}

impl Expected {
    /// Compares it with the tag of what is there.
    ///
    /// # Errors
    /// It has another.
    pub(crate) fn check(expected: Option<&Self>, found: String) -> Result<(), Refusal> {
        match expected {
            Some(Self::Tag(expected)) if *expected != found => Err(Refusal::TagDiffers { found }),
            None | Some(Self::Any | Self::Tag(_)) => Ok(()),
        }
    }
}
