mod listing;

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::Value;
use timenav_core::text::counted;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    /// Any other failure.
    Failed,
    /// The command line is invalid. Used by clap.
    Usage,
    /// The service rejected some records of an import.
    Refused,
    NotAllowed,
    NotFound,
    Unreachable,
    /// A ledger does not match its signatures.
    Tampered,
    /// A sweep finished, and its command failed at some dates.
    DatesFailed,
}

impl Exit {
    /// All of them, ordered by code.
    pub(crate) const ALL: [Self; 9] = [
        Self::Ok,
        Self::Failed,
        Self::Usage,
        Self::Refused,
        Self::NotAllowed,
        Self::NotFound,
        Self::Unreachable,
        Self::Tampered,
        Self::DatesFailed,
    ];

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::NotAllowed => 4,
            Self::NotFound => 5,
            Self::Unreachable => 6,
            Self::Tampered => 7,
            Self::DatesFailed => 8,
        }
    }

    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "success",
            Self::Failed => "any other error",
            Self::Usage => "invalid usage",
            Self::Refused => "an import finished, but some records were rejected",
            Self::NotAllowed => "not allowed: no key, an invalid key, or no permission (401, 403)",
            Self::NotFound => "not found, or no access to it (404)",
            Self::Unreachable => "the service cannot be reached",
            Self::Tampered => "a ledger does not match its signatures",
            Self::DatesFailed => "a sweep finished, but its command failed at some dates",
        }
    }

    const fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::NotAllowed,
            404 => Self::NotFound,
            _ => Self::Failed,
        }
    }

    pub(crate) fn help() -> String {
        let mut text = "Exit codes:\n".to_owned();
        for exit in Self::ALL {
            let _ = writeln!(text, "  {}  {}", exit.code(), exit.meaning());
        }
        text
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

const CREATE_HINT: &str = "to create a new timeline, add --create";

/// Returns a local error in the JSON format of the service.
pub(crate) fn problem_json(code: &str, status: &str, exit: Exit) -> Value {
    serde_json::json!({ "status": status, "code": code, "exit_code": exit.code() })
}

#[derive(Debug)]
pub(crate) enum Failure {
    /// The service returned an error.
    Problem(Problem),
    /// The timeline does not exist and was not to be created.
    NoTimeline(Problem),
    /// The service is unreachable, or its response did not arrive completely.
    Unreachable {
        /// Its address, as `at http://…`.
        service: String,
        /// The cause.
        detail: String,
        /// Whether the request may have reached the service.
        was_sent: bool,
    },
    /// An import finished, but this many records were rejected.
    Refused(u64),
    /// Ledgers do not match their signatures, with this many differences.
    Tampered(u64),
    /// A sweep finished, and the command failed at this many dates.
    DatesFailed(usize),
    /// There is no API key.
    NoKey(String),
    /// Stdout was closed by its reader, which is not reported.
    OutputClosed,
    Other(anyhow::Error),
}

impl Failure {
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Problem(problem) | Self::NoTimeline(problem) => Exit::of_status(problem.http_status),
            Self::Unreachable { .. } => Exit::Unreachable,
            Self::Refused(_) => Exit::Refused,
            Self::Tampered(_) => Exit::Tampered,
            Self::DatesFailed(_) => Exit::DatesFailed,
            Self::NoKey(_) => Exit::NotAllowed,
            Self::OutputClosed => Exit::Ok,
            Self::Other(_) => Exit::Failed,
        }
    }

    /// Returns the message; `None` if nothing is to be reported.
    pub(crate) fn text(&self) -> Option<String> {
        Some(match self {
            Self::Problem(problem) | Self::NoTimeline(problem) => {
                self.hint().map_or_else(|| problem.text(), |hint| format!("{}\n  {hint}", problem.text()))
            }
            Self::Unreachable { service, detail, was_sent: false } => {
                format!("cannot reach the service {service}: {detail}")
            }
            Self::Unreachable { service, detail, was_sent: true } => {
                format!("no complete response from the service {service}: {detail}")
            }
            Self::Refused(1) => "1 record was rejected".to_owned(),
            Self::Refused(count) => format!("{count} records were rejected"),
            Self::Tampered(count) => format!("tampering or damage: {}", counted(*count, "finding")),
            Self::DatesFailed(count) => format!("the command failed at {}", counted(*count, "date")),
            Self::NoKey(detail) => detail.clone(),
            Self::OutputClosed => return None,
            Self::Other(error) => format!("{error:#}"),
        })
    }

    /// The problem of the service, or a local error with the same members; `None` if nothing is to be reported.
    pub(crate) fn json(&self) -> Option<Value> {
        let text = self.text()?;
        let (Self::Problem(problem) | Self::NoTimeline(problem)) = self else {
            return Some(problem_json(self.word(), &text, self.exit()));
        };
        let mut body = match &problem.body {
            Value::Object(members) if members.contains_key("code") => problem.body.clone(),
            _ => problem_json("unexpected_answer", &text, self.exit()),
        };
        body["http_status"] = problem.http_status.into();
        body["exit_code"] = self.exit().code().into();
        if let Some(hint) = self.hint() {
            body["hint"] = hint.into();
        }
        Some(body)
    }

    /// Returns what to do if something was not found.
    fn hint(&self) -> Option<String> {
        match self {
            Self::Problem(problem) => problem.listing(),
            Self::NoTimeline(problem) => {
                let listing = problem.listing().map_or_else(String::new, |listing| format!("; {listing}"));
                Some(format!("{CREATE_HINT}{listing}"))
            }
            _ => None,
        }
    }

    const fn word(&self) -> &'static str {
        match self {
            Self::Problem(_) | Self::NoTimeline(_) => "unexpected_answer",
            Self::Unreachable { .. } => "unreachable",
            Self::Refused(_) => "records_rejected",
            Self::Tampered(_) => "ledger_mismatch",
            Self::DatesFailed(_) => "sweep_failed",
            Self::NoKey(_) => "missing_api_key",
            Self::OutputClosed | Self::Other(_) => "failed",
        }
    }

    /// Returns whether a different request may succeed: neither the caller nor the service is the cause.
    pub(crate) const fn is_about_the_request(&self) -> bool {
        match self {
            Self::Problem(problem) => matches!(problem.http_status, 400 | 409 | 413 | 415 | 422),
            Self::Other(_) => true,
            Self::NoTimeline(_)
            | Self::Unreachable { .. }
            | Self::Refused(_)
            | Self::Tampered(_)
            | Self::DatesFailed(_)
            | Self::NoKey(_)
            | Self::OutputClosed => false,
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}

impl From<timenav_client::Error> for Failure {
    fn from(error: timenav_client::Error) -> Self {
        use timenav_client::Error;
        match error {
            Error::Problem(problem) => Self::Problem(Problem::new(problem.http_status, &problem.body)),
            Error::Unreachable { service, detail, was_sent, .. } => {
                Self::Unreachable { service: format!("at {service}"), detail, was_sent }
            }
            other => Self::Other(other.into()),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Problem {
    http_status: u16,
    body: Value,
}

impl Problem {
    /// Parses an error response, which may not come from timenav: there may be a proxy in between.
    pub(crate) fn new(http_status: u16, body: &str) -> Self {
        Self { http_status, body: serde_json::from_str(body).unwrap_or_default() }
    }

    pub(crate) fn is_about_the_body(&self) -> bool {
        self.member("code") == Some("malformed_file")
    }

    /// Returns whether the error concerns this parameter, including one that the service does not know.
    pub(crate) fn is_about(&self, parameter: &str) -> bool {
        let pointer = format!("#/{parameter}");
        let errors = self.body["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.http_status == 400 && errors.iter().any(|error| error["pointer"] == *pointer)
    }

    pub(crate) fn is_not_found(&self) -> bool {
        self.member("code") == Some("not_found")
    }

    fn listing(&self) -> Option<String> {
        self.member("detail").filter(|_| self.is_not_found()).and_then(listing::hint)
    }

    /// Returns whether another worker has claimed the firing since.
    pub(crate) fn is_lease_lost(&self) -> bool {
        self.member("code") == Some("lease_lost")
    }

    /// Returns whether the same request may succeed later.
    pub(crate) const fn may_pass(&self) -> bool {
        self.http_status == 429 || self.http_status >= 500
    }

    /// Returns why access is denied, with advice; `None` for other errors.
    pub(crate) fn denial(&self) -> Option<String> {
        let advice = match self.http_status {
            401 => "start it again with a valid key (--profile or TIMENAV_API_KEY)",
            403 | 404 => "check that the timeline exists and that you may read it; timenav retries every 30 seconds",
            429 => "timenav retries every 30 seconds; if this lasts, follow fewer clocks with this key",
            _ => return None,
        };
        let reason = self.member("detail").or_else(|| self.member("status")).unwrap_or("no reason was given");
        Some(format!("{reason} (HTTP {}); {advice}", self.http_status))
    }

    /// Returns whether access is denied permanently.
    pub(crate) const fn is_refusal(&self) -> bool {
        matches!(self.http_status, 401 | 403 | 404)
    }

    /// Returns whether a condition failed because the resource has changed (RFC 9110 §15.5.13).
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only `timenav mcp` uses it"))]
    pub(crate) const fn is_outdated(&self) -> bool {
        self.http_status == 412
    }

    fn text(&self) -> String {
        let sentence = self.member("detail").or_else(|| self.member("status"));
        let sentence = match sentence {
            Some(sentence) => sentence.to_owned(),
            None => format!("the service returned HTTP status {}", self.http_status),
        };
        let errors = self.body["errors"].as_array().map_or(&[][..], Vec::as_slice);
        let code = self.member("code").map_or_else(String::new, |code| format!(" ({code})"));
        // A single fault needs no summary; the field precedes it.
        let mut text = match errors {
            [only] if only["detail"] == *sentence => fault_text(only) + &code,
            several => several.iter().fold(sentence + &code, |text, error| text + "\n  " + &fault_text(error)),
        };
        if let Some(id) = self.member("request_id") {
            let _ = write!(text, "\n  request id: {id}");
        }
        text
    }

    fn member(&self, name: &str) -> Option<&str> {
        self.body[name].as_str().filter(|text| !text.is_empty())
    }
}

fn fault_text(error: &Value) -> String {
    let field = error["pointer"].as_str().unwrap_or_default().trim_start_matches(['#', '/']);
    let detail = error["detail"].as_str().unwrap_or_default();
    if field.is_empty() { detail.to_owned() } else { format!("{field}: {detail}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_consecutive_and_documented() {
        for (index, exit) in Exit::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(exit.code()), index);
            assert!(Exit::help().contains(exit.meaning()));
        }
    }

    #[test]
    fn each_failure_has_its_exit_code() {
        let problem = |status| Failure::Problem(Problem::new(status, "{}"));
        let unreachable = Failure::Unreachable { service: String::new(), detail: String::new(), was_sent: false };
        for (failure, expected) in [
            (problem(400), Exit::Failed),
            (problem(401), Exit::NotAllowed),
            (problem(403), Exit::NotAllowed),
            (problem(404), Exit::NotFound),
            (problem(409), Exit::Failed),
            (problem(500), Exit::Failed),
            (problem(503), Exit::Failed),
            (Failure::NoTimeline(Problem::new(404, "{}")), Exit::NotFound),
            (unreachable, Exit::Unreachable),
            (Failure::Refused(2), Exit::Refused),
            (Failure::Tampered(2), Exit::Tampered),
            (Failure::DatesFailed(2), Exit::DatesFailed),
            (Failure::NoKey(String::new()), Exit::NotAllowed),
            (Failure::OutputClosed, Exit::Ok),
            (Failure::Other(anyhow::anyhow!("no")), Exit::Failed),
        ] {
            assert_eq!(failure.exit(), expected, "{failure:?}");
        }
    }

    #[test]
    fn problem_text_contains_the_field_and_request_id() {
        let body = r#"{"status": "The duration is wrong.", "code": "invalid_parameter", "detail": "",
            "errors": [{"pointer": "/duration", "code": "x", "detail": "write `30m`"},
                       {"pointer": "", "detail": "whole"}], "request_id": "req_1"}"#;
        assert_eq!(
            Problem::new(400, body).text(),
            "The duration is wrong. (invalid_parameter)\n  duration: write `30m`\n  whole\n  request id: req_1"
        );
    }

    #[test]
    fn problems_are_printed_as_json() {
        let body = r#"{"status": "No.", "code": "forbidden", "request_id": "req_1"}"#;
        let problem = |body| Failure::Problem(Problem::new(403, body)).json().unwrap();
        let expected = serde_json::json!({"status": "No.", "code": "forbidden", "request_id": "req_1",
            "http_status": 403, "exit_code": 4});
        assert_eq!(problem(body), expected);
        assert_eq!(problem("<html>")["code"], "unexpected_answer");
        let created = Failure::NoTimeline(Problem::new(404, r#"{"code": "not_found"}"#)).json().unwrap();
        assert_eq!((&created["hint"], &created["exit_code"]), (&CREATE_HINT.into(), &5.into()));
        let body = r#"{"code": "not_found", "detail": "there is no timer `x`, or you don't have access to it"}"#;
        assert_eq!(problem(body)["hint"], "to list timers: timenav timer list");
        let own = Failure::NoKey("there is no API key".to_owned()).json().unwrap();
        assert_eq!(
            own,
            serde_json::json!({"status": "there is no API key", "code": "missing_api_key", "exit_code": 4})
        );
        assert!(Failure::OutputClosed.json().is_none());
    }

    #[test]
    fn problem_matches_the_parameter_of_its_pointer() {
        let problem = |status| Problem::new(status, r##"{"errors":[{"pointer":"#/steps"},{"pointer":"#/faults"}]}"##);
        assert!(problem(400).is_about("faults") && problem(400).is_about("steps"));
        assert!(!problem(400).is_about("fault") && !problem(409).is_about("faults"));
        assert!(!Problem::new(400, "bad gateway").is_about("faults"));
    }

    #[test]
    fn single_error_detail_is_printed_once() {
        let body = r##"{"code": "c", "detail": "write `30m`", "errors": [{"pointer": "#/duration", "detail": "write `30m`"}]}"##;
        assert_eq!(Problem::new(400, body).text(), "duration: write `30m` (c)");
    }

    #[test]
    fn unparseable_response_is_reported_by_its_http_status() {
        for body in ["<html>", "", "[]", "7"] {
            assert_eq!(Problem::new(502, body).text(), "the service returned HTTP status 502");
        }
    }
}
