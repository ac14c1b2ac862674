use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use crate::advance::receipt::{FiringState, Receipt};
use crate::instant::{Instant, InvalidInstant};

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The key is missing, or a setting or argument is invalid. No request was sent.
    #[error("{0}")]
    Invalid(String),
    /// A text is not a timestamp with a time zone.
    #[error(transparent)]
    InvalidInstant(#[from] InvalidInstant),
    /// No complete response arrived. If the request was sent, the change may have taken effect: repeat it with the same
    /// idempotency key.
    #[error("{} at {service}: {detail}", if *.was_sent { "no complete response from the service" } else { "cannot reach the service" })]
    #[non_exhaustive]
    Unreachable {
        /// The address of the service.
        service: String,
        /// The cause.
        detail: String,
        /// Whether the request may have reached the service.
        was_sent: bool,
    },
    /// The service rejected the request.
    #[error(transparent)]
    Problem(Box<Problem>),
    /// The response is not from a timenav service, or from an incompatible version.
    #[error("unexpected response from {service}: {detail}")]
    #[non_exhaustive]
    UnexpectedResponse {
        /// The address of the service.
        service: String,
        /// How the response differs from the expected one.
        detail: String,
    },
    /// The clock cannot be read.
    #[error(transparent)]
    Clock(#[from] ClockUnavailable),
    /// An advance ended before its destination: it was stopped or is stuck, or its state is unknown to this version.
    #[error("the advance is {} at {}, before {}{}", .0.state, .0.reached, .0.to, held(.0))]
    NotSettled(Box<Receipt>),
    /// An advance reached its destination, but some of its firings failed. The receipt lists them with their reasons.
    #[error("{} of {} firings failed{}", .0.failed, .0.fired, first_failed(.0))]
    FiringsFailed(Box<Receipt>),
    /// The wait exceeded its limit.
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
    /// Returns the rejection by the service, if this is one. Branch on its `code`.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Problem(problem) => Some(problem),
            _ => None,
        }
    }
}

/// An error in one field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldError {
    /// The field, such as `destination_time` or `causes/0/kind`.
    pub field: String,
    /// The stable code of the error.
    pub code: String,
    /// An explanation of the error.
    pub detail: String,
}

/// A rejection by the service. Branch on `code` (see docs/errors.md). `status` and `detail` are sentences for people.
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
    /// An explanation of the error.
    pub detail: String,
    /// The invalid fields, if there are any.
    pub errors: Vec<FieldError>,
    /// The id of the request in the service's log.
    pub request_id: Option<String>,
    /// The wait before the next attempt, if the response has one.
    pub retry_after: Option<Duration>,
    /// The body of the response.
    pub body: String,
}

impl Problem {
    /// Parses an error response. It may come from a proxy, so its body may have any form.
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
            code: or(text(&document, "code"), "unexpected_response".to_owned()),
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
        // The detail lists all field errors in one sentence; one line for each is easier to read.
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
    /// The service has not sent the clock yet.
    #[error("the service has not sent the clock yet")]
    Unknown,
    /// The last message of the service is older than `stale_after`, so a reading may be wrong.
    #[error("the service has sent nothing for {silent:.1?} (stale_after is {bound:?}): {}", ADVICE)]
    #[non_exhaustive]
    Silent {
        /// The time since the last message.
        silent: Duration,
        /// The bound `stale_after`.
        bound: Duration,
    },
    /// The connection was lost longer ago than `lost_after`, so a reading may be wrong.
    #[error("the connection was lost {lost:.1?} ago (lost_after is {bound:?}): {}", ADVICE)]
    #[non_exhaustive]
    Lost {
        /// The time since the loss.
        lost: Duration,
        /// The bound `lost_after`.
        bound: Duration,
    },
    /// The caller may no longer watch the clock: the timeline or the API key has ended.
    #[error("the clock can no longer be watched: {0}")]
    Rejected(Box<Problem>),
    /// The clock was closed.
    #[error("the clock was closed")]
    Closed,
    /// A handler waits for an instant that the clock cannot reach before the handler finishes.
    #[error(
        "the clock stays at {due} until this handler is done, so it cannot reach {target}; set a timer for that \
         moment, and return"
    )]
    #[non_exhaustive]
    WaitPastFiring {
        /// The due time of the firing.
        due: Instant,
        /// The awaited instant.
        target: Instant,
    },
}

const ADVICE: &str = "check that the service is running and reachable; the clock keeps trying to reconnect";

impl ClockUnavailable {
    /// Returns whether the state of the clock is unknown or stale.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        matches!(self, Self::Unknown | Self::Silent { .. } | Self::Lost { .. })
    }
}
