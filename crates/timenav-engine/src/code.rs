//! The stable words for what goes wrong.
//!
//! Clients branch on them, and entries about refusals hold them: none is ever renamed, or used for something else.

/// What went wrong, as clients and ledgers name it. `docs/errors.md` has a row for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// A required parameter is missing.
    MissingParameter,
    /// A value cannot be what its field asks for.
    InvalidParameter,
    /// There is no such parameter.
    UnknownParameter,
    /// A parameter has two values.
    ConflictingParameters,
    /// A body is not JSON.
    MalformedJson,
    /// A file cannot be read to its end.
    MalformedFile,
    /// A body did not arrive whole.
    IncompleteBody,
    /// A request does not say for which host it is.
    InvalidHost,
    /// Nothing shows who asks.
    MissingCredentials,
    /// What shows who asks is not valid.
    InvalidCredentials,
    /// A page of another site asks with a cookie.
    CrossSiteRequest,
    /// The current password is another one.
    WrongPassword,
    /// The role does not allow it.
    PermissionDenied,
    /// A restriction forbids it.
    TimeTravelRestricted,
    /// The scope of the key does not allow it.
    InsufficientScope,
    /// The key does not open the record.
    WrongEncryptionKey,
    /// The operator has switched it off.
    FeatureDisabled,
    /// It was tried too often.
    RateLimited,
    /// There is no such thing, or it is hidden.
    NotFound,
    /// The timeline has ended.
    TimelineEnded,
    /// What is to be answered was erased.
    ContentErased,
    /// The path does not take the method.
    MethodNotAllowed,
    /// It exists already.
    AlreadyExists,
    /// It would make a paradox, and the caller wants none.
    WouldCreateParadox,
    /// It is at odds with what is there.
    Conflict,
    /// What a query selects has changed since it was evaluated.
    SelectionChanged,
    /// A clock change that passes timers goes on.
    AdvanceInProgress,
    /// The same, and it waits for whoever asks.
    InsideAdvance,
    /// A clock that moves by itself is to be moved by what was spent while it stood.
    ClockRunning,
    /// There is no next moment that a clock could go to.
    NothingDue,
    /// Another one has the firing that something is said of.
    LeaseLost,
    /// More would fall due than one clock change may pass.
    TooManyFirings,
    /// A body is too large.
    ContentTooLarge,
    /// A body is of a type that is not taken.
    UnsupportedMediaType,
    /// A time lies outside of all time.
    TimeOutOfRange,
    /// A timeline would have no administrator.
    LastAdmin,
    /// What is there is not what the caller said it was.
    PreconditionFailed,
    /// An idempotency key was used for another request.
    IdempotencyKeyReused,
    /// A defect, or something in the database that cannot be.
    Internal,
    /// It cannot be done now.
    Unavailable,
    /// It may have been done or not.
    OutcomeUnknown,
    /// A ledger in the database has fewer entries than were seen of it.
    Rollback,
    /// A ledger in the database has other entries than were seen of it.
    Fork,
}

impl Code {
    /// All of them, in the order of `docs/errors.md`.
    pub const ALL: [Self; 43] = [
        Self::MissingParameter,
        Self::InvalidParameter,
        Self::UnknownParameter,
        Self::ConflictingParameters,
        Self::MalformedJson,
        Self::MalformedFile,
        Self::IncompleteBody,
        Self::InvalidHost,
        Self::MissingCredentials,
        Self::InvalidCredentials,
        Self::CrossSiteRequest,
        Self::WrongPassword,
        Self::PermissionDenied,
        Self::TimeTravelRestricted,
        Self::InsufficientScope,
        Self::WrongEncryptionKey,
        Self::FeatureDisabled,
        Self::RateLimited,
        Self::NotFound,
        Self::TimelineEnded,
        Self::ContentErased,
        Self::MethodNotAllowed,
        Self::AlreadyExists,
        Self::WouldCreateParadox,
        Self::Conflict,
        Self::SelectionChanged,
        Self::AdvanceInProgress,
        Self::InsideAdvance,
        Self::ClockRunning,
        Self::NothingDue,
        Self::LeaseLost,
        Self::TooManyFirings,
        Self::ContentTooLarge,
        Self::UnsupportedMediaType,
        Self::TimeOutOfRange,
        Self::LastAdmin,
        Self::PreconditionFailed,
        Self::IdempotencyKeyReused,
        Self::Internal,
        Self::Unavailable,
        Self::OutcomeUnknown,
        Self::Rollback,
        Self::Fork,
    ];

    /// Returns the word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingParameter => "missing_parameter",
            Self::InvalidParameter => "invalid_parameter",
            Self::UnknownParameter => "unknown_parameter",
            Self::ConflictingParameters => "conflicting_parameters",
            Self::MalformedJson => "malformed_json",
            Self::MalformedFile => "malformed_file",
            Self::IncompleteBody => "incomplete_body",
            Self::InvalidHost => "invalid_host",
            Self::MissingCredentials => "missing_credentials",
            Self::InvalidCredentials => "invalid_credentials",
            Self::CrossSiteRequest => "cross_site_request",
            Self::WrongPassword => "wrong_password",
            Self::PermissionDenied => "permission_denied",
            Self::TimeTravelRestricted => "time_travel_restricted",
            Self::InsufficientScope => "insufficient_scope",
            Self::WrongEncryptionKey => "wrong_encryption_key",
            Self::FeatureDisabled => "feature_disabled",
            Self::RateLimited => "rate_limited",
            Self::NotFound => "not_found",
            Self::TimelineEnded => "timeline_ended",
            Self::ContentErased => "content_erased",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::AlreadyExists => "already_exists",
            Self::WouldCreateParadox => "would_create_paradox",
            Self::Conflict => "conflict",
            Self::SelectionChanged => "selection_changed",
            Self::AdvanceInProgress => "advance_in_progress",
            Self::InsideAdvance => "inside_advance",
            Self::ClockRunning => "clock_running",
            Self::NothingDue => "nothing_due",
            Self::LeaseLost => "lease_lost",
            Self::TooManyFirings => "too_many_firings",
            Self::ContentTooLarge => "content_too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::TimeOutOfRange => "time_out_of_range",
            Self::LastAdmin => "last_admin",
            Self::PreconditionFailed => "precondition_failed",
            Self::IdempotencyKeyReused => "idempotency_key_reused",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Rollback => "rollback",
            Self::Fork => "fork",
        }
    }
}
