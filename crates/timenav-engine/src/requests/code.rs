//! Stable error codes.
//!
//! Clients branch on them, and entries about refusals contain them. A code is never renamed or reused.

/// `docs/errors.md` has a row for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    MissingParameter,
    InvalidParameter,
    UnknownParameter,
    /// A parameter was given two values.
    ConflictingParameters,
    MalformedJson,
    /// A file cannot be read to its end.
    MalformedFile,
    IncompleteBody,
    InvalidHost,
    MissingCredentials,
    InvalidCredentials,
    /// A page of another site sent a request with a cookie.
    CrossSiteRequest,
    WrongPassword,
    PermissionDenied,
    TimeTravelRestricted,
    InsufficientScope,
    WrongEncryptionKey,
    /// The operator has disabled it.
    FeatureDisabled,
    RateLimited,
    /// It does not exist, or is hidden.
    NotFound,
    TimelineEnded,
    ContentErased,
    MethodNotAllowed,
    AlreadyExists,
    /// It would create a paradox, and the caller asked to reject that.
    WouldCreateParadox,
    Conflict,
    /// The selection of a query has changed since it was evaluated.
    SelectionChanged,
    AdvanceInProgress,
    /// The same, and that advance waits for the caller.
    InsideAdvance,
    /// A clock can be advanced by the cost of work only while it is paused.
    ClockRunning,
    NothingDue,
    /// Another worker holds the lease of the firing.
    LeaseLost,
    /// More timers would fire than one clock change may pass.
    TooManyFirings,
    ContentTooLarge,
    UnsupportedMediaType,
    TimeOutOfRange,
    /// A timeline would have no admin left.
    LastAdmin,
    PreconditionFailed,
    IdempotencyKeyReused,
    /// A defect, or invalid data in the database.
    Internal,
    Unavailable,
    OutcomeUnknown,
    /// A ledger in the database has fewer entries than were seen before.
    Rollback,
    /// A ledger in the database has other entries than were seen before.
    Fork,
}

impl Code {
    /// All codes in the order of `docs/errors.md`.
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
