//! What can go wrong.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use crate::instant::{Instant, NotAnInstant};
use crate::receipt::{FiringState, Receipt};

/// What a call can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address or the key of the service is missing or wrong, or an argument is. Nothing was sent.
    #[error("{0}")]
    Invalid(String),
    /// A text is no timestamp with a zone.
    #[error(transparent)]
    Timestamp(#[from] NotAnInstant),
    /// No answer came. If the request was sent, a change may have happened: send it again with the same idempotency key to
    /// find out.
    #[error("cannot reach the service at {service}: {detail}")]
    #[non_exhaustive]
    Unreachable {
        /// Where the service should be.
        service: String,
        /// What happened.
        detail: String,
        /// Whether the request may have arrived.
        was_sent: bool,
    },
    /// The service refused the request, and says why.
    #[error(transparent)]
    Problem(Box<Problem>),
    /// What answers is no timenav service, or one of a version that this client does not know.
    #[error("{service} did not answer as timenav does: {detail}")]
    #[non_exhaustive]
    Unreadable {
        /// Where the answer came from.
        service: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The clock cannot say what time it is.
    #[error(transparent)]
    Clock(#[from] ClockUnavailable),
    /// An advance ended before its destination: it was stopped, or is stuck.
    #[error("the clock is {} at {}{}", .0.state, .0.reached, held(.0))]
    NotSettled(Box<Receipt>),
    /// An advance reached its destination, and firings on the way failed. The receipt lists them, each with its reason.
    #[error("{} of {} firings failed{}", .0.failed, .0.fired, first_failed(.0))]
    FiringsFailed(Box<Receipt>),
    /// Nobody waits any longer, as was asked for.
    #[error("{0}")]
    TimedOut(String),
}

fn held(receipt: &Receipt) -> String {
    receipt.held_by.as_ref().map_or_else(String::new, |held_by| format!(", held by {held_by}"))
}

fn first_failed(receipt: &Receipt) -> String {
    let failed = receipt.firings.iter().find(|firing| firing.state == FiringState::Failed);
    failed.map_or_else(String::new, |firing| {
        let reason = firing.reason.as_deref().unwrap_or("no reason");
        format!(": {} at {}: {reason}", firing.timer_id, firing.due)
    })
}

impl Error {
    /// Returns the refusal of the service, if it is one: branch on its `code`.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Problem(problem) => Some(problem),
            _ => None,
        }
    }
}

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldError {
    /// The field, such as `destination_time` or `causes/0/kind`.
    pub field: String,
    /// The stable code of the error.
    pub code: String,
    /// What would be right.
    pub detail: String,
}

/// A refusal. Branch on `code` (docs/errors.md lists them); `status` and `detail` are sentences for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
#[non_exhaustive]
pub struct Problem {
    /// The status of the answer.
    pub http_status: u16,
    /// The stable code of the error.
    pub code: String,
    /// What happened.
    pub status: String,
    /// What would be right.
    pub detail: String,
    /// What is wrong with each field, if it is about fields.
    pub errors: Vec<FieldError>,
    /// The id of the request, in the log of the service.
    pub request_id: Option<String>,
    /// After how long the service may answer otherwise.
    pub retry_after: Option<Duration>,
    /// The answer as it came.
    pub body: String,
}

impl Problem {
    /// Reads a refusal out of an answer, whoever gave it: a proxy does not know the shape of our errors.
    pub(crate) fn of(http_status: u16, body: String, request_id: Option<&str>, retry_after: Option<Duration>) -> Self {
        let told: Value = serde_json::from_str(&body).unwrap_or_default();
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let or = |text: String, otherwise: String| if text.is_empty() { otherwise } else { text };
        let fields = told["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
        let field = |error: &Value| FieldError {
            field: text(error, "pointer").trim_start_matches('#').trim_start_matches('/').to_owned(),
            code: text(error, "code"),
            detail: text(error, "detail"),
        };
        let told_id = Some(text(&told, "request_id")).filter(|id| !id.is_empty());
        Self {
            http_status,
            code: or(text(&told, "code"), format!("http_{http_status}")),
            status: or(text(&told, "status"), format!("The service answered {http_status}.")),
            detail: text(&told, "detail"),
            errors: fields.iter().map(field).collect(),
            request_id: told_id.or_else(|| request_id.map(str::to_owned)),
            retry_after,
            body,
        }
    }

    /// Returns the first field that is wrong, if the problem is about one.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.errors.first().map(|error| error.field.as_str())
    }

    /// Returns whether asking again is of no use.
    pub(crate) const fn is_final(&self) -> bool {
        matches!(self.http_status, 400 | 401 | 403 | 404 | 409 | 410)
    }

    fn text(&self) -> String {
        let mut text = format!("{} ({})", self.status, self.code);
        // A detail about fields names them all; they are easier to read one by one.
        if self.errors.is_empty() && !self.detail.is_empty() {
            let _ = write!(text, " {}", self.detail);
        }
        for error in &self.errors {
            let _ = write!(text, "\n  {}: {}", error.field, error.detail);
        }
        text
    }
}

/// Why a clock cannot say what time it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockUnavailable {
    /// The service has not told the clock yet.
    #[error("the service has not told the clock yet")]
    Unknown,
    /// The service has said nothing for too long, so what the clock shows may be wrong.
    #[error("the service has said nothing for {silent:.1?}, and this clock vouches for {bound:?}: {}", ADVICE)]
    #[non_exhaustive]
    Silent {
        /// For how long.
        silent: Duration,
        /// For how long the clock answers.
        bound: Duration,
    },
    /// The connection was lost too long ago, so what the clock shows may be wrong.
    #[error("the connection was lost {lost:.1?} ago, and this clock vouches for {bound:?}: {}", ADVICE)]
    #[non_exhaustive]
    Lost {
        /// For how long.
        lost: Duration,
        /// For how long the clock answers.
        bound: Duration,
    },
    /// The service does not let this user watch the clock any more.
    #[error("the clock can no longer be watched: {0}")]
    Refused(Box<Problem>),
    /// The clock was closed.
    #[error("the clock was closed")]
    Closed,
    /// A handler waits for a moment after that of its firing. The clock may stand until the handler is done.
    #[error(
        "the clock stands at {due} until this handler is done, so it does not come to {target}; set a timer for that \
         moment, and return"
    )]
    #[non_exhaustive]
    BeyondFiring {
        /// The moment of the firing.
        due: Instant,
        /// The moment that is waited for.
        target: Instant,
    },
}

const ADVICE: &str = "check that the service runs and can be reached; the clock keeps trying to reconnect";

impl ClockUnavailable {
    /// Returns whether the service has not confirmed the clock for too long.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        matches!(self, Self::Unknown | Self::Silent { .. } | Self::Lost { .. })
    }
}
