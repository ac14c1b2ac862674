//! Whether a write may create the timeline that it names.

use clap::Args;
use reqwest::header::HeaderValue;

use super::Answer;
use crate::exit::Failure;

/// Whether a timeline that is not there is created. A slip in a name must not do it unnoticed.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct CreateOption {
    /// Create the timeline if it does not exist. Without this flag, that is an error.
    #[arg(long)]
    create: bool,
}

impl CreateOption {
    /// Returns what `If-Match` says: `*`, that the timeline must be there; `None` where it need not.
    pub(crate) fn if_match(self) -> Option<HeaderValue> {
        (!self.create).then(|| HeaderValue::from_static("*"))
    }

    /// Says of a timeline that was not found what would create it.
    ///
    /// # Errors
    /// The request failed.
    pub(crate) fn explain(self, answer: Result<Answer, Failure>) -> Result<Answer, Failure> {
        answer.map_err(|failure| match failure {
            Failure::Problem(problem) if !self.create && problem.is_not_found() => Failure::NoTimeline(problem),
            other => other,
        })
    }
}
