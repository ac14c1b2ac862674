//! Failures as clients see them. Only this module knows HTTP statuses. A test compares the codes with `docs/errors.md`.

pub(crate) mod codes;

use crate::schema::ToSchema;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use timenav_core::access::Denial;
use timenav_core::clock::ClockRefusal;
use timenav_core::text::counted;
use timenav_engine::{AuthFailure, Code, Refusal};

use crate::rate::Left;
use crate::shares::Spent;

/// Maximum length of an error detail or pointer, in bytes. Both may quote the request.
const DETAIL_BYTES_MAX: usize = 1_024;

#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// Rejected by the engine.
    Refused(Refusal),
    /// Rejected by the engine for a single event that was not sent in a list, so its index is omitted.
    OneEventExists(Refusal),
    /// Credentials are missing or invalid.
    Unidentified(AuthFailure),
    /// A page of another site sent the request with a session cookie.
    CrossSite,
    /// A password or cookie would be sent unencrypted.
    InsecureLogin,
    /// A parameter is missing, unknown, duplicate or invalid.
    Parameter(ParameterFault),
    /// Several parameter faults. The first determines the code.
    Parameters(Vec<ParameterFault>),
    /// The body is not JSON.
    MalformedJson { detail: String },
    /// The file cannot be imported completely.
    MalformedFile { detail: String },
    /// An import stopped early. Records imported before the failure stay.
    BrokenOff { because: Box<Self>, before: String },
    /// The media type of the body is not supported.
    MediaType { expected: &'static str, of_query: bool },
    /// The body is compressed, but the operation does not support that.
    Encoding,
    /// The body exceeds the limit of the operation.
    TooLarge { bytes_max: usize },
    /// The parsed body would exceed the memory limit.
    TooManyValues { bytes_max: usize },
    /// The body did not arrive completely or in time.
    BodyLost,
    /// A rate limit was reached.
    TooMany(Left),
    /// The request has no host or conflicting hosts.
    Host { detail: &'static str },
    /// A concurrency limit of the user or of the service was reached.
    Full { what: &'static str, spent: Spent, retry_after_seconds: u32 },
    /// The path has no route.
    NoRoute,
    /// The path is not a valid tile path.
    NotATile { detail: String },
    /// The path does not support the method.
    Method { allow: String },
    /// A handler panicked.
    Panicked,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParameterFault {
    pub(crate) kind: FaultKind,
    /// A JSON pointer without the leading slash.
    pub(crate) path: String,
    pub(crate) detail: String,
}

impl ParameterFault {
    fn named(&self) -> String {
        match self.kind {
            FaultKind::Invalid | FaultKind::OutOfRange => format!("`{}`: {}", self.path, self.detail),
            FaultKind::Missing | FaultKind::Unknown | FaultKind::Conflicting => self.detail.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    Missing,
    Invalid,
    Unknown,
    Conflicting,
    OutOfRange,
}

impl FaultKind {
    pub(crate) const fn code(self) -> Code {
        match self {
            Self::Missing => Code::MissingParameter,
            Self::Invalid => Code::InvalidParameter,
            Self::Unknown => Code::UnknownParameter,
            Self::Conflicting => Code::ConflictingParameters,
            Self::OutOfRange => Code::TimeOutOfRange,
        }
    }
}

/// The body of every error.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// A sentence that says what happened.
    pub(crate) status: String,
    /// A stable code for the error.
    pub(crate) code: String,
    /// An explanation of the error.
    pub(crate) detail: String,
    /// The affected fields, if any.
    pub(crate) errors: Vec<FieldError>,
    /// The id of the request, for support.
    pub(crate) request_id: String,
}

/// An error in one field.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// The field, as a JSON pointer in a URI fragment.
    pub(crate) pointer: String,
    /// A stable code for the error.
    pub(crate) code: String,
    /// An explanation of the error.
    pub(crate) detail: String,
}

/// A failure that is not rendered yet: only the outermost layer knows the request id and what the client accepts.
#[derive(Clone, Debug)]
pub(crate) struct Unwritten(pub(crate) Failure);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.http_status().into_response();
        for (name, value) in self.headers() {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
        }
        if let Self::TooMany(left) = &self {
            left.write(response.headers_mut());
        }
        response.extensions_mut().insert(Unwritten(self));
        response
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            // The credential ended while the request was processed. Clients see the same error as for an invalid one.
            Refusal::Unidentified(failure) => Self::Unidentified(failure),
            refusal => Self::Refused(refusal),
        }
    }
}

impl Failure {
    pub(crate) fn invalid(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Parameter(ParameterFault { kind: FaultKind::Invalid, path: path.into(), detail: detail.into() })
    }

    pub(crate) fn out_of_range(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Parameter(ParameterFault { kind: FaultKind::OutOfRange, path: path.into(), detail: detail.into() })
    }

    pub(crate) fn missing(path: &str) -> Self {
        Self::Parameter(ParameterFault {
            kind: FaultKind::Missing,
            path: path.to_owned(),
            detail: format!("`{path}` is required"),
        })
    }

    /// Omits the index of an event that was not sent in a list.
    pub(crate) fn about_one(self, alone: bool) -> Self {
        match self {
            Self::Refused(refusal @ Refusal::EventExists { .. }) if alone => Self::OneEventExists(refusal),
            other => other,
        }
    }

    pub(crate) fn http_status(&self) -> StatusCode {
        match self {
            // Here the request is malformed, not the caller's credentials.
            Self::Unidentified(AuthFailure::Malformed) => StatusCode::BAD_REQUEST,
            Self::BrokenOff { because, .. } => because.http_status(),
            failure => codes::answer_of(failure.code()).0,
        }
    }

    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Refused(refusal) | Self::OneEventExists(refusal) => codes::of_refusal(refusal),
            Self::Unidentified(failure) => codes::of_stranger(*failure),
            Self::BrokenOff { because, .. } => because.code(),
            Self::CrossSite => Code::CrossSiteRequest,
            Self::InsecureLogin => Code::FeatureDisabled,
            Self::Parameter(fault) => fault.kind.code(),
            Self::Parameters(faults) => match faults.as_slice() {
                [first, ..] => first.kind.code(),
                [] => Code::InvalidParameter,
            },
            Self::MalformedJson { .. } => Code::MalformedJson,
            Self::MalformedFile { .. } => Code::MalformedFile,
            Self::MediaType { .. } | Self::Encoding => Code::UnsupportedMediaType,
            Self::TooLarge { .. } | Self::TooManyValues { .. } => Code::ContentTooLarge,
            Self::BodyLost => Code::IncompleteBody,
            Self::Host { .. } => Code::InvalidHost,
            Self::NoRoute | Self::NotATile { .. } => Code::NotFound,
            Self::TooMany(_) | Self::Full { spent: Spent::Own, .. } => Code::RateLimited,
            Self::Full { spent: Spent::All, .. } => Code::Unavailable,
            Self::Method { .. } => Code::MethodNotAllowed,
            Self::Panicked => Code::Internal,
        }
    }

    pub(crate) fn problem(&self, request_id: &str) -> Problem {
        let detail = shortened(self.detail());
        let field_error = |path: &str, code: Code, detail: &str| FieldError {
            pointer: shortened(pointer(path)),
            code: code.as_str().to_owned(),
            detail: shortened(detail.to_owned()),
        };
        let errors = match self {
            Self::Parameters(faults) => {
                faults.iter().map(|fault| field_error(&fault.path, fault.kind.code(), &fault.detail)).collect()
            }
            other => other.field().map(|path| field_error(&path, self.code(), &detail)).into_iter().collect(),
        };
        Problem {
            status: self.sentence().to_owned(),
            code: self.code().as_str().to_owned(),
            detail,
            errors,
            request_id: request_id.to_owned(),
        }
    }

    fn sentence(&self) -> &'static str {
        match self {
            Self::Unidentified(AuthFailure::Session) => "The session has ended.",
            Self::Unidentified(AuthFailure::Login) => "Wrong user name or password.",
            Self::BrokenOff { because, .. } => because.sentence(),
            Self::Encoding => "The body has a content encoding that is not supported here.",
            failure => codes::answer_of(failure.code()).1,
        }
    }

    fn detail(&self) -> String {
        match self {
            // The cause is in the log under the request id.
            Self::Refused(Refusal::Damaged(_)) | Self::Panicked => {
                "quote the request_id when you ask for help".to_owned()
            }
            Self::Refused(Refusal::Invalid { detail, .. })
            | Self::MalformedJson { detail }
            | Self::MalformedFile { detail }
            | Self::NotATile { detail } => detail.clone(),
            Self::BrokenOff { because, before } => format!("{}; before that, {before}", because.detail()),
            Self::Refused(Refusal::NotFound { what: "user", id }) => {
                format!("there is no user `{id}`; POST /v1/users creates one")
            }
            Self::Refused(Refusal::KeyReused) => {
                "this Idempotency-Key was used for another request; use a new one".to_owned()
            }
            Self::Refused(Refusal::OutcomeUnknown(why)) => {
                format!(
                    "it is not known whether this happened: {why}; send it again, with the same Idempotency-Key if you sent one"
                )
            }
            Self::Refused(refusal) | Self::OneEventExists(refusal) => refusal.to_string(),
            Self::Unidentified(AuthFailure::Missing) => {
                "no API key was given; send `Authorization: Bearer <API_KEY>`".to_owned()
            }
            Self::Unidentified(AuthFailure::OtherScheme) => {
                "`Authorization` lacks the scheme Bearer: send `Authorization: Bearer <API_KEY>`".to_owned()
            }
            Self::Unidentified(AuthFailure::Elsewhere) => {
                "an API key is accepted only in the `Authorization` header: send `Authorization: Bearer <API_KEY>`"
                    .to_owned()
            }
            Self::Unidentified(AuthFailure::Malformed) => {
                "the Authorization header is malformed; send one `Authorization: Bearer <API_KEY>`".to_owned()
            }
            Self::Unidentified(failure) => failure.to_string(),
            Self::CrossSite => "cookies are accepted only from this service's own pages: send the request from there, \
                or use an API key"
                .to_owned(),
            Self::InsecureLogin => "passwords and cookies must not be sent unencrypted: the operator can set a \
                certificate (--tls-cert and --tls-key), name the address of a proxy that terminates TLS \
                (--public-url), or allow it anyway (--allow-insecure-login)"
                .to_owned(),
            Self::Parameter(fault) => fault.detail.clone(),
            Self::Parameters(faults) => faults.iter().map(ParameterFault::named).collect::<Vec<_>>().join("; "),
            Self::MediaType { expected, .. } => format!("send `Content-Type: {expected}`"),
            Self::Encoding => {
                "send the body as it is, without `Content-Encoding`; only files that are imported can be compressed"
                    .to_owned()
            }
            Self::TooLarge { bytes_max } => format!("the body can have at most {bytes_max} bytes"),
            Self::TooManyValues { bytes_max } => format!(
                "the body has so many objects, lists and values that parsing it would take more than {bytes_max} \
                 bytes of memory; send it in several requests"
            ),
            Self::BodyLost => "the body did not arrive in time, or the connection closed first".to_owned(),
            Self::Full { what, spent, retry_after_seconds } => full(what, *spent, *retry_after_seconds),
            Self::TooMany(left) => {
                format!("the quota `{}` is used up; try again in {}", left.policy(), counted(left.seconds(), "second"))
            }
            Self::Host { detail } => (*detail).to_owned(),
            Self::NoRoute => "there is nothing at this path; GET /openapi.json lists all paths".to_owned(),
            Self::Method { allow } => format!("this path supports {allow}"),
        }
    }

    fn field(&self) -> Option<String> {
        match self {
            Self::Parameter(fault) => Some(fault.path.clone()),
            Self::BrokenOff { because, .. } => because.field(),
            Self::Refused(Refusal::Invalid { field, .. }) => Some(field.clone()),
            Self::Refused(Refusal::EventExists { index, .. }) => Some(format!("{index}/event_id")),
            Self::OneEventExists(_) => Some("event_id".to_owned()),
            Self::Refused(Refusal::Cursor) => Some("cursor".to_owned()),
            Self::Refused(Refusal::WouldCreateParadox { .. }) => Some("on_paradox".to_owned()),
            Self::Refused(Refusal::LastAdmin { expires: false, .. }) => Some("permissions/admin".to_owned()),
            Self::Refused(Refusal::LastAdmin { expires: true, .. }) => Some("permissions/expires_at/admin".to_owned()),
            Self::Refused(Refusal::Clock(ClockRefusal::Location)) => Some("location".to_owned()),
            Self::Refused(Refusal::Clock(ClockRefusal::BeganLater)) => Some("since".to_owned()),
            Self::Refused(_)
            | Self::Unidentified(_)
            | Self::Parameters(_)
            | Self::CrossSite
            | Self::InsecureLogin
            | Self::MalformedJson { .. }
            | Self::MalformedFile { .. }
            | Self::MediaType { .. }
            | Self::Encoding
            | Self::TooLarge { .. }
            | Self::TooManyValues { .. }
            | Self::BodyLost
            | Self::Host { .. }
            | Self::NoRoute
            | Self::NotATile { .. }
            | Self::TooMany(_)
            | Self::Full { .. }
            | Self::Method { .. }
            | Self::Panicked => None,
        }
    }

    fn headers(&self) -> Vec<(HeaderName, String)> {
        match self {
            Self::Unidentified(
                AuthFailure::Missing | AuthFailure::OtherScheme | AuthFailure::Elsewhere | AuthFailure::Login,
            ) => {
                vec![(header::WWW_AUTHENTICATE, "Bearer realm=\"timenav\"".to_owned())]
            }
            Self::Unidentified(AuthFailure::Invalid | AuthFailure::Retired) => {
                let challenge =
                    "Bearer realm=\"timenav\", error=\"invalid_token\", error_description=\"the API key is not valid\"";
                vec![(header::WWW_AUTHENTICATE, challenge.to_owned())]
            }
            Self::Unidentified(AuthFailure::Session) => {
                let challenge = "Bearer realm=\"timenav\", error=\"invalid_token\", \
                    error_description=\"the session has ended\"";
                vec![(header::WWW_AUTHENTICATE, challenge.to_owned())]
            }
            Self::Unidentified(AuthFailure::Malformed) => {
                vec![(header::WWW_AUTHENTICATE, "Bearer realm=\"timenav\", error=\"invalid_request\"".to_owned())]
            }
            Self::Refused(Refusal::Denied(Denial::Scope { needs })) => {
                let challenge =
                    format!("Bearer realm=\"timenav\", error=\"insufficient_scope\", scope=\"{}\"", needs.as_str());
                vec![(header::WWW_AUTHENTICATE, challenge)]
            }
            Self::BrokenOff { because, .. } => because.headers(),
            Self::TooMany(left) => vec![(header::RETRY_AFTER, left.seconds().to_string())],
            Self::Full { retry_after_seconds, .. } => vec![(header::RETRY_AFTER, retry_after_seconds.to_string())],
            Self::Refused(Refusal::Unavailable(_) | Refusal::OutcomeUnknown(_)) => vec![(header::RETRY_AFTER, "1".to_owned())],
            Self::Refused(Refusal::RateLimited { retry_after_seconds, .. }) => {
                vec![(header::RETRY_AFTER, retry_after_seconds.to_string())]
            }
            Self::MediaType { of_query: true, .. } => {
                vec![(HeaderName::from_static("accept-query"), "\"application/json\"".to_owned())]
            }
            // RFC 9110 §12.5.3.
            Self::Encoding => vec![(header::ACCEPT_ENCODING, "identity".to_owned())],
            Self::Refused(_)
            | Self::OneEventExists(_)
            | Self::CrossSite
            | Self::InsecureLogin
            | Self::Parameter(_)
            | Self::Parameters(_)
            | Self::MalformedJson { .. }
            | Self::MalformedFile { .. }
            | Self::MediaType { .. }
            | Self::TooLarge { .. }
            | Self::TooManyValues { .. }
            | Self::BodyLost
            | Self::Host { .. }
            | Self::NoRoute
            | Self::NotATile { .. }
            // The router knows the methods of the path and has set `Allow`; the outermost layer completes it.
            | Self::Method { .. }
            | Self::Panicked => Vec::new(),
        }
    }
}

/// Shortens a text in the middle, so that the advice around a quoted value survives.
fn shortened(text: String) -> String {
    if text.len() <= DETAIL_BYTES_MAX {
        return text;
    }
    let half = (DETAIL_BYTES_MAX - '…'.len_utf8()) / 2;
    let (head, tail) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    format!("{}…{}", &text[..head], &text[tail..])
}

/// Returns a JSON pointer as a URI fragment (RFC 6901 §6).
fn pointer(path: &str) -> String {
    if path.is_empty() { "#".to_owned() } else { format!("#/{path}") }
}

fn full(what: &str, spent: Spent, retry_after_seconds: u32) -> String {
    let wait = counted(retry_after_seconds, "second");
    match spent {
        Spent::Own => format!(
            "you already have the maximum number of {what} for one user; wait for some to finish, and try again in {wait}"
        ),
        Spent::All => format!("the service already has the maximum number of {what}; try again in {wait}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_shortened_in_the_middle() {
        let check = |text: String, expected: &str| assert_eq!(shortened(text), expected);
        check("x".repeat(1_024), &"x".repeat(1_024));
        check("x".repeat(1_025), &format!("{}…{}", "x".repeat(510), "x".repeat(510)));
        check(
            format!("head {} tail", "é".repeat(1_000_000)),
            &format!("head {}…{} tail", "é".repeat(252), "é".repeat(252)),
        );
    }
}
