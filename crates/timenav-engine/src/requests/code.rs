//! Stable error codes.
//!
//! Clients branch on them, and entries about refusals contain them. A code is never renamed or reused.

/// Generates the enum, the list of all codes, and their texts.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)+) => {
        /// `docs/errors.md` has a row for each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)+
        }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

// In the order of `docs/errors.md`.
codes! {
    MissingParameter = "missing_parameter",
    InvalidParameter = "invalid_parameter",
    UnknownParameter = "unknown_parameter",
    /// A parameter was given two values.
    ConflictingParameters = "conflicting_parameters",
    MalformedJson = "malformed_json",
    /// A file cannot be read to its end.
    MalformedFile = "malformed_file",
    IncompleteBody = "incomplete_body",
    InvalidHost = "invalid_host",
    MissingCredentials = "missing_credentials",
    InvalidCredentials = "invalid_credentials",
    /// A page of another site sent a request with a cookie.
    CrossSiteRequest = "cross_site_request",
    WrongPassword = "wrong_password",
    PermissionDenied = "permission_denied",
    TimeTravelRestricted = "time_travel_restricted",
    InsufficientScope = "insufficient_scope",
    WrongEncryptionKey = "wrong_encryption_key",
    FeatureDisabled = "feature_disabled",
    RateLimited = "rate_limited",
    /// It does not exist, or is hidden.
    NotFound = "not_found",
    TimelineEnded = "timeline_ended",
    ContentErased = "content_erased",
    MethodNotAllowed = "method_not_allowed",
    AlreadyExists = "already_exists",
    /// It would create a paradox, and the caller asked to reject that.
    WouldCreateParadox = "would_create_paradox",
    Conflict = "conflict",
    /// The selection of a query has changed since it was evaluated.
    SelectionChanged = "selection_changed",
    AdvanceInProgress = "advance_in_progress",
    /// The same, and that advance waits for the caller.
    InsideAdvance = "reentrant_clock_change",
    /// A clock can be advanced by the cost of work only while it is paused.
    ClockRunning = "clock_running",
    NothingDue = "no_armed_timers",
    LeaseLost = "lease_lost",
    TooManyFirings = "too_many_firings",
    ContentTooLarge = "content_too_large",
    UnsupportedMediaType = "unsupported_media_type",
    TimeOutOfRange = "time_out_of_range",
    LastAdmin = "last_admin",
    PreconditionFailed = "precondition_failed",
    IdempotencyKeyReused = "idempotency_key_reused",
    /// A defect, or invalid data in the database.
    Internal = "internal",
    Unavailable = "unavailable",
    OutcomeUnknown = "outcome_unknown",
    /// A ledger in the database has fewer entries than were seen before.
    Rollback = "ledger_rollback_detected",
    /// A ledger in the database has other entries than were seen before.
    Fork = "ledger_fork_detected",
}
