use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use crate::advancing::receipt::{FiringState, Receipt};
use crate::instant::{Instant, NotAnInstant};

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address, the key or an argument is missing or invalid. Nothing was sent.
    #[error("{0}")]
    Invalid(String),
    /// A text is not a timestamp with a zone.
    #[error(transparent)]
    Timestamp(#[from] NotAnInstant),
    /// There was no response. If the request was sent, the change may have happened: repeat it with the same
    /// idempotency key to find out.
    #[error("cannot reach the service at {service}: {detail}")]
    #[non_exhaustive]
    Unreachable {
        /// The address of the service.
        service: String,
        /// A description.
        detail: String,
        /// Whether the request may have arrived.
        was_sent: bool,
    },
    /// The service rejected the request.
    #[error(transparent)]
    Problem(Box<Problem>),
    /// The response is not from a timenav service, or from an incompatible version.
    #[error("{service} did not respond as timenav does: {detail}")]
    #[non_exhaustive]
    Unreadable {
        /// The address of the service.
        service: String,
        /// What is wrong with the response.
        detail: String,
    },
    /// The clock cannot be read.
    #[error(transparent)]
    Clock(#[from] ClockUnavailable),
    /// An advance ended before its target: it was stopped, or is stuck.
    #[error("the clock is {} at {}{}", .0.state, .0.reached, held(.0))]
    NotSettled(Box<Receipt>),
    /// An advance reached its target, and firings on the way failed. The receipt lists them with their reasons.
    #[error("{} of {} firings failed{}", .0.failed, .0.fired, first_failed(.0))]
    FiringsFailed(Box<Receipt>),
    /// The requested limit of the wait was reached.
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
    /// Returns the service's rejection, if it is one: branch on its `code`.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Problem(problem) => Some(problem),
            _ => None,
        }
    }
}

/// An invalid field of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldError {
    /// The field, such as `destination_time` or `causes/0/kind`.
    pub field: String,
    /// The stable code of the error.
    pub code: String,
    /// What would be valid.
    pub detail: String,
}

/// A rejection by the service. Branch on `code` (see docs/errors.md); `status` and `detail` are sentences for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
#[non_exhaustive]
pub struct Problem {
    /// The HTTP status.
    pub http_status: u16,
    /// The stable code of the error.
    pub code: String,
    /// A sentence about what happened.
    pub status: String,
    /// A sentence about what would be valid.
    pub detail: String,
    /// The invalid fields, if there are any.
    pub errors: Vec<FieldError>,
    /// The id of the request in the service's log.
    pub request_id: Option<String>,
    /// When to try again, if the service says so.
    pub retry_after: Option<Duration>,
    /// The body of the response.
    pub body: String,
}

impl Problem {
    /// Parses a rejection. It may come from a proxy, so the body may have any form.
    pub(crate) fn of(http_status: u16, body: String, request_id: Option<&str>, retry_after: Option<Duration>) -> Self {
        let document: Value = serde_json::from_str(&body).unwrap_or_default();
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let or = |text: String, otherwise: String| if text.is_empty() { otherwise } else { text };
        let fields = document["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
        let field = |error: &Value| FieldError {
            field: text(error, "pointer").trim_start_matches('#').trim_start_matches('/').to_owned(),
            code: text(error, "code"),
            detail: text(error, "detail"),
        };
        let body_id = Some(text(&document, "request_id")).filter(|id| !id.is_empty());
        Self {
            http_status,
            code: or(text(&document, "code"), format!("http_{http_status}")),
            status: or(text(&document, "status"), format!("The service returned {http_status}.")),
            detail: text(&document, "detail"),
            errors: fields.iter().map(field).collect(),
            request_id: body_id.or_else(|| request_id.map(str::to_owned)),
            retry_after,
            body,
        }
    }

    /// Returns the first invalid field, if there is one.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.errors.first().map(|error| error.field.as_str())
    }

    pub(crate) const fn is_final(&self) -> bool {
        matches!(self.http_status, 400 | 401 | 403 | 404 | 409 | 410)
    }

    fn text(&self) -> String {
        let mut text = format!("{} ({})", self.status, self.code);
        // The detail of an error about fields lists them all; print them individually instead.
        if self.errors.is_empty() && !self.detail.is_empty() {
            let _ = write!(text, " {}", self.detail);
        }
        for error in &self.errors {
            let _ = write!(text, "\n  {}: {}", error.field, error.detail);
        }
        text
    }
}

/// Why a clock cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockUnavailable {
    /// The state of the clock has not arrived yet.
    #[error("the service has not sent the clock yet")]
    Unknown,
    /// The service has been silent for too long, so the reading may be wrong.
    #[error("the service has sent nothing for {silent:.1?}, but this clock is valid for only {bound:?}: {}", ADVICE)]
    #[non_exhaustive]
    Silent {
        /// The duration of the silence.
        silent: Duration,
        /// The limit.
        bound: Duration,
    },
    /// The connection was lost too long ago, so the reading may be wrong.
    #[error("the connection was lost {lost:.1?} ago, but this clock is valid for only {bound:?}: {}", ADVICE)]
    #[non_exhaustive]
    Lost {
        /// How long ago it was lost.
        lost: Duration,
        /// The limit.
        bound: Duration,
    },
    /// The service no longer allows this user to watch the clock.
    #[error("the clock can no longer be watched: {0}")]
    Rejected(Box<Problem>),
    /// The clock was closed.
    #[error("the clock was closed")]
    Closed,
    /// A handler waits for an instant after the due time of its firing. The clock may be paused until the handler is
    /// done.
    #[error(
        "the clock stays at {due} until this handler is done, so it cannot reach {target}; set a timer for that \
         moment, and return"
    )]
    #[non_exhaustive]
    BeyondFiring {
        /// The due time of the firing.
        due: Instant,
        /// The awaited instant.
        target: Instant,
    },
}

const ADVICE: &str = "check that the service runs and can be reached; the clock keeps trying to reconnect";

impl ClockUnavailable {
    /// Returns whether the service has not confirmed the state of the clock for too long.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        matches!(self, Self::Unknown | Self::Silent { .. } | Self::Lost { .. })
    }
}
