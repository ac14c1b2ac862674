use http::StatusCode;
use timenav_core::access::Denial;
use timenav_core::clock::ClockRefusal;
use timenav_engine::{AuthFailure, Code, DivergenceKind, Refusal};

pub(super) const fn answer_of(code: Code) -> (StatusCode, &'static str) {
    match code {
        Code::MissingParameter => (StatusCode::BAD_REQUEST, "A required parameter is missing."),
        Code::InvalidParameter => (StatusCode::BAD_REQUEST, "A parameter has an invalid value."),
        Code::UnknownParameter => (StatusCode::BAD_REQUEST, "The request has an unknown parameter."),
        Code::ConflictingParameters => (StatusCode::BAD_REQUEST, "A parameter is given twice with different values."),
        Code::MalformedJson => (StatusCode::BAD_REQUEST, "The body is not JSON."),
        Code::MalformedFile => (StatusCode::BAD_REQUEST, "The file could not be fully imported."),
        Code::IncompleteBody => (StatusCode::BAD_REQUEST, "The request body is incomplete."),
        Code::InvalidHost => (StatusCode::BAD_REQUEST, "The request does not name a valid host."),
        Code::MissingCredentials => (StatusCode::UNAUTHORIZED, "The request carries no credentials."),
        Code::InvalidCredentials => (StatusCode::UNAUTHORIZED, "The API key is not valid."),
        Code::CrossSiteRequest => (StatusCode::FORBIDDEN, "The request comes from another site."),
        Code::WrongPassword => (StatusCode::FORBIDDEN, "The current password is wrong."),
        Code::PermissionDenied => (StatusCode::FORBIDDEN, "You are not allowed to do this."),
        Code::TimeTravelRestricted => (StatusCode::FORBIDDEN, "Your time travel is restricted."),
        Code::InsufficientScope => (StatusCode::FORBIDDEN, "Your API key does not have the scope for this."),
        Code::WrongEncryptionKey => (StatusCode::FORBIDDEN, "The key does not open this record."),
        Code::FeatureDisabled => (StatusCode::FORBIDDEN, "This is turned off on this service."),
        Code::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "Too many attempts."),
        Code::NotFound => (StatusCode::NOT_FOUND, "It does not exist, or you don't have access to it."),
        Code::TimelineEnded => (StatusCode::NOT_FOUND, "The timeline has ended."),
        Code::ContentErased => (StatusCode::GONE, "The response to this request has been erased."),
        Code::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "This path does not support this method."),
        Code::AlreadyExists => (StatusCode::CONFLICT, "It already exists."),
        Code::WouldCreateParadox => (StatusCode::UNPROCESSABLE_ENTITY, "The intervention would create a paradox."),
        Code::Conflict => (StatusCode::CONFLICT, "The request conflicts with the current state."),
        Code::SelectionChanged => (StatusCode::CONFLICT, "The events that the query selects have changed."),
        Code::AdvanceInProgress => (StatusCode::CONFLICT, "An advance is moving this clock."),
        Code::InsideAdvance => (StatusCode::CONFLICT, "An advance is waiting for this handler."),
        Code::ClockRunning => (StatusCode::CONFLICT, "The clock is running."),
        Code::NothingDue => (StatusCode::CONFLICT, "No timer is armed."),
        Code::LeaseLost => (StatusCode::CONFLICT, "Another worker has the lease on this firing."),
        Code::TooManyFirings => (StatusCode::UNPROCESSABLE_ENTITY, "Too many timers would fire on the way."),
        Code::ContentTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "The body is too large."),
        Code::UnsupportedMediaType => {
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body has a media type that is not supported here.")
        }
        Code::TimeOutOfRange => (StatusCode::UNPROCESSABLE_ENTITY, "The time is outside the years -9999 to 9999."),
        Code::LastAdmin => (StatusCode::CONFLICT, "A timeline must have an admin."),
        Code::PreconditionFailed => (StatusCode::PRECONDITION_FAILED, "It was changed in the meantime."),
        Code::IdempotencyKeyReused => {
            (StatusCode::UNPROCESSABLE_ENTITY, "The Idempotency-Key was used for another request.")
        }
        Code::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong inside the service."),
        Code::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "The service cannot do this right now."),
        Code::OutcomeUnknown => (StatusCode::SERVICE_UNAVAILABLE, "It is not known whether this happened."),
        Code::Rollback => (StatusCode::SERVICE_UNAVAILABLE, "The database has lost signed entries."),
        Code::Fork => (StatusCode::SERVICE_UNAVAILABLE, "The database has a different history from the signed one."),
    }
}

pub(crate) const fn of_stranger(failure: AuthFailure) -> Code {
    match failure {
        AuthFailure::Missing | AuthFailure::OtherScheme | AuthFailure::Elsewhere => Code::MissingCredentials,
        AuthFailure::Invalid
        | AuthFailure::Retired
        | AuthFailure::Malformed
        | AuthFailure::Session
        | AuthFailure::Login => Code::InvalidCredentials,
    }
}

pub(super) fn of_refusal(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::Unidentified(failure) => of_stranger(*failure),
        Refusal::Denied(Denial::Hidden) | Refusal::NotFound { .. } => Code::NotFound,
        Refusal::Denied(Denial::Permission { .. } | Denial::OperatorOnly) => Code::PermissionDenied,
        Refusal::Denied(Denial::Restricted { .. } | Denial::TooFar { .. }) => Code::TimeTravelRestricted,
        Refusal::Denied(Denial::Scope { .. }) => Code::InsufficientScope,
        Refusal::Clock(ClockRefusal::OutOfRange) | Refusal::EventOutOfRange => Code::TimeOutOfRange,
        Refusal::Clock(ClockRefusal::Running) => Code::ClockRunning,
        Refusal::Clock(ClockRefusal::NothingDue) => Code::NothingDue,
        Refusal::Clock(ClockRefusal::Location | ClockRefusal::BeganLater)
        | Refusal::Invalid { .. }
        | Refusal::Cursor => Code::InvalidParameter,
        Refusal::Ended { .. } => Code::TimelineEnded,
        Refusal::AlreadyExists { .. } | Refusal::NameEnded { .. } | Refusal::EventExists { .. } => Code::AlreadyExists,
        Refusal::LimitReached { .. }
        | Refusal::LastOperator { .. }
        | Refusal::HandedOver { .. }
        | Refusal::EventCancelled { .. }
        | Refusal::HostClockDoubted { .. }
        | Refusal::TimerNotArmed { .. }
        | Refusal::NotRedelivered { .. }
        | Refusal::TimersBehind
        | Refusal::ChangedMeanwhile => Code::Conflict,
        Refusal::AdvanceInProgress { is_inside: true, .. } => Code::InsideAdvance,
        Refusal::AdvanceInProgress { is_inside: false, .. } => Code::AdvanceInProgress,
        Refusal::LeaseLost { .. } => Code::LeaseLost,
        Refusal::TooManyFirings { .. } => Code::TooManyFirings,
        Refusal::SelectionChanged { .. } => Code::SelectionChanged,
        Refusal::AnswerErased { .. } => Code::ContentErased,
        Refusal::LastAdmin { .. } => Code::LastAdmin,
        Refusal::WouldCreateParadox { .. } => Code::WouldCreateParadox,
        Refusal::TagDiffers { .. } => Code::PreconditionFailed,
        Refusal::WrongEncryptionKey => Code::WrongEncryptionKey,
        Refusal::WrongPassword => Code::WrongPassword,
        Refusal::FeatureDisabled { .. } | Refusal::NotUpgraded { .. } => Code::FeatureDisabled,
        Refusal::RateLimited { .. } => Code::RateLimited,
        Refusal::KeyReused => Code::IdempotencyKeyReused,
        // For clients these are the same: another replica may respond.
        Refusal::Unavailable(_) | Refusal::OtherKey { .. } | Refusal::UnknownEntry(_) => Code::Unavailable,
        Refusal::OutcomeUnknown(_) => Code::OutcomeUnknown,
        Refusal::Diverged(divergence) => match divergence.kind {
            DivergenceKind::Rollback => Code::Rollback,
            DivergenceKind::Fork => Code::Fork,
        },
        Refusal::Damaged(_) => Code::Internal,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use timenav_engine::CROSS_SITE_CODE;

    use super::*;

    /// Parses the rows of `docs/errors.md`: each code with its status and sentence, in order.
    fn documented() -> Vec<(String, u16, String)> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
        let text = std::fs::read_to_string(path).unwrap();
        let row = |line: &str| {
            let (id, rest) = line.strip_prefix("| <a id=\"")?.split_once("\"></a>`").unwrap();
            let mut cells = rest.split(" | ");
            let mut cell = || cells.next().unwrap();
            assert_eq!(cell(), format!("{id}`"));
            Some((id.to_owned(), cell().parse().unwrap(), cell().to_owned()))
        };
        text.lines().filter_map(row).collect()
    }

    #[test]
    fn every_code_is_documented_with_status_and_sentence() {
        let answered = Code::ALL.iter().map(|code| {
            let (status, sentence) = answer_of(*code);
            (code.as_str().to_owned(), status.as_u16(), sentence.to_owned())
        });
        assert_eq!(documented(), answered.collect::<Vec<_>>());
    }

    #[test]
    fn problem_codes_have_distinct_words() {
        let words: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), Code::ALL.len());
    }

    #[test]
    fn log_entries_and_responses_use_the_same_codes() {
        use AuthFailure::{Invalid, Login, Malformed, Missing, Session};
        for failure in [Missing, Invalid, Malformed, Session, Login] {
            assert_eq!(of_stranger(failure).as_str(), failure.code());
        }
        assert_eq!(Code::CrossSiteRequest.as_str(), CROSS_SITE_CODE);
    }
}
