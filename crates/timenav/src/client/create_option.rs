use clap::Args;
use timenav_client::header::{HeaderMap, HeaderValue, IF_MATCH};

use super::{Answer, Client, TimelineOptions};
use crate::exit::Failure;

/// Whether a timeline that is not there is created. A slip in a name must not do it unnoticed.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct CreateOption {
    /// Create the timeline if it does not exist.
    #[arg(long)]
    create: bool,
}

impl CreateOption {
    /// Returns `If-Match: *` unless the timeline may be created.
    pub(crate) fn if_match(self) -> HeaderMap {
        (!self.create).then(|| (IF_MATCH, HeaderValue::from_static("*"))).into_iter().collect()
    }

    /// Makes a request that creates no timeline. If it is not found, creates it, or adds a hint about `--create`.
    pub(crate) fn or_created<T>(
        self,
        client: &Client,
        timeline: &TimelineOptions,
        request: impl Fn() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match request() {
            Err(Failure::Problem(problem)) if problem.is_not_found() && self.create => {
                client.post(&["timelines"], timeline.body())?;
                request()
            }
            Err(Failure::Problem(problem)) if problem.is_not_found() => Err(Failure::NoTimeline(problem)),
            result => result,
        }
    }

    /// Adds a hint about `--create` if the timeline was not found.
    pub(crate) fn explain(self, answer: Result<Answer, Failure>) -> Result<Answer, Failure> {
        answer.map_err(|failure| match failure {
            Failure::Problem(problem) if !self.create && problem.is_not_found() => Failure::NoTimeline(problem),
            other => other,
        })
    }
}
