//! What the engine says no to.

use std::sync::Arc;

use timenav_core::access::Denial;
use timenav_core::anchor::AnchorRefusal;
use timenav_core::clock::ClockRefusal;
use timenav_core::directory::DirectoryRefusal;
use timenav_core::ids::{DataId, IdError, TimelineId};
use timenav_core::limits::{ANCHORS_PER_TIMELINE_MAX, KEYS_PER_USER_MAX};
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::TooMuch;
use timenav_core::timers::leases::HeldByOther;

use crate::caller::AuthFailure;
use crate::divergence::Divergence;
use crate::store_error::StoreError;
use crate::unknown_entry::UnknownEntry;

/// Why a use case did not happen. Nothing was changed, except that a denial is in the ledger.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refusal {
    /// The caller may not.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// What the caller showed is no longer good: the key was stopped or has expired, or the session has ended.
    #[error(transparent)]
    Unidentified(#[from] AuthFailure),
    /// The clock says no.
    #[error(transparent)]
    Clock(#[from] ClockRefusal),
    /// A field has a value that it cannot have.
    #[error("`{field}`: {detail}")]
    Invalid {
        /// The field, as a path of names and numbers.
        field: String,
        /// What would be right.
        detail: String,
    },
    /// What was named does not exist.
    #[error("there is no {what} `{id}`, or you don't have access to it")]
    NotFound {
        /// What kind of thing.
        what: &'static str,
        /// Its name.
        id: String,
    },
    /// What was named is a timeline that has ended.
    #[error("the timeline `{timeline_id}` has ended; it can no longer be read, and its name cannot be reused")]
    Ended {
        /// Its name.
        timeline_id: String,
    },
    /// A timeline was to be made of a name that another one had.
    #[error("there was a timeline `{timeline_id}`, which has ended, and names cannot be reused; choose another one")]
    NameEnded {
        /// Its name.
        timeline_id: String,
    },
    /// What was to be made exists already.
    #[error("the {what} `{id}` already exists")]
    AlreadyExists {
        /// What kind of thing.
        what: &'static str,
        /// Its name.
        id: String,
    },
    /// An event of that id is recorded already.
    #[error("the event `{event_id}` is already recorded{}", if *.differs { ", with different content" } else { "" })]
    EventExists {
        /// Its id.
        event_id: String,
        /// Where in the request it stands.
        index: usize,
        /// Whether what is recorded is not what was sent.
        differs: bool,
    },
    /// The event is cancelled.
    #[error("the event `{event_id}` is cancelled; restore it first")]
    EventCancelled {
        /// Its id.
        event_id: String,
    },
    /// The event would leave −9999…9999.
    #[error("the event would fall outside the years -9999 to 9999")]
    EventOutOfRange,
    /// The caller asked to be stopped.
    #[error("it would create a paradox: {explanation}")]
    WouldCreateParadox {
        /// The first paradox that it would make.
        explanation: String,
    },
    /// Others change the timeline's events faster than this can be decided.
    #[error("others are changing the timeline's events at the same time; try again")]
    ChangedMeanwhile,
    /// What a query selects is not what it selected when it was evaluated.
    #[error(
        "what the query selects has changed since the ledger had {evaluated_at} entries; do another dry run, and pass \
         its `evaluated_at`"
    )]
    SelectionChanged {
        /// The size of the ledger that the caller named.
        evaluated_at: u64,
    },
    /// The host's clock is not where it was expected, so that nothing is destroyed by it.
    #[error(
        "the host's clock says {now}, but was last known to be right at {last}; an operator can confirm it with \
         `accept_host_clock` of `prune`"
    )]
    HostClockDoubted {
        /// What it said when it was last known to be right.
        last: Instant<Wall>,
        /// What it says.
        now: Instant<Wall>,
    },
    /// The request was carried out earlier, and what it was answered was erased since.
    #[error(
        "this request was carried out, at position {position} of `{timeline_id}`, but its answer has been erased since"
    )]
    AnswerErased {
        /// On which timeline.
        timeline_id: String,
        /// The position that it was answered with.
        position: u64,
    },
    /// A count has reached its limit.
    #[error("there are already {max} {what}, which is the limit")]
    LimitReached {
        /// What is counted.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// The timeline goes on at another service.
    #[error("the timeline `{timeline_id}` was handed over to another service and is read-only here")]
    HandedOver {
        /// The timeline.
        timeline_id: String,
    },
    /// A timeline must have an admin.
    #[error("the timeline `{timeline_id}` would have no admin{}", no_admin(*.expires))]
    LastAdmin {
        /// The timeline.
        timeline_id: String,
        /// Whether it would have one until the last permission expires.
        expires: bool,
    },
    /// What is there is not what the caller said it was.
    #[error("it was changed in the meantime: its tag is now `\"{found}\"`; read it again")]
    TagDiffers {
        /// The tag that it has.
        found: String,
    },
    /// A clock change that passes timers one by one goes on.
    #[error(
        "the advance `{advance_id}` is moving this clock{}",
        if *.is_inside {
            ", and waits for the handler that sent this; acknowledge the firing first, or set a timer"
        } else {
            "; wait until it is settled, or stop it with `pause-time`"
        }
    )]
    AdvanceInProgress {
        /// Its name.
        advance_id: String,
        /// Whether a handler of a firing asks.
        is_inside: bool,
    },
    /// Timers have to fall due before the clock is moved. The engine sees to that and asks again, so it is told only where
    /// a very fast clock comes to others each time.
    #[error("timers are falling due at the same time; try again")]
    TimersBehind,
    /// More would fall due than one clock change may pass.
    #[error("{count} firings would fall due on the way, most of them of the timer `{timer_id}`; the limit is {max}")]
    TooManyFirings {
        /// The timer with the most of them.
        timer_id: String,
        /// How many there would be, as far as was counted.
        count: u64,
        /// The limit.
        max: u64,
    },
    /// The timer has no moment left.
    #[error("the timer `{timer_id}` is done or cancelled; set another one")]
    TimerNotArmed {
        /// The timer.
        timer_id: String,
    },
    /// A firing is to be delivered again that cannot be.
    #[error("the firing `{firing_id}` cannot be delivered again: {why}")]
    NotRedelivered {
        /// The firing.
        firing_id: String,
        /// Why.
        why: &'static str,
    },
    /// Somebody else has claimed a firing that the caller says something of.
    #[error(
        "`{firing_id}` was claimed by another worker, as `{holder}`, and is not yours any more{}; leave it to them, and \
         extend leases before they end",
        if *.others == 0 { String::new() } else { format!(", nor are {} more of these firings", .others) }
    )]
    LeaseLost {
        /// The first of them.
        firing_id: String,
        /// Who has it.
        holder: String,
        /// How many more there are.
        others: usize,
    },
    /// The last operator cannot be removed.
    #[error("`{user_id}` is the last operator; create another one first")]
    LastOperator {
        /// The user.
        user_id: String,
    },
    /// The key does not open the record, or the record is damaged. Which of these is not told.
    #[error("the key does not open this record")]
    WrongEncryptionKey,
    /// The password that was shown again is not the current one.
    #[error("the current password is wrong")]
    WrongPassword,
    /// It was tried too often.
    #[error("there are too many {what}; try again in {retry_after_seconds} seconds")]
    RateLimited {
        /// What there are too many of.
        what: &'static str,
        /// When to try again.
        retry_after_seconds: u64,
    },
    /// The operator switched it off.
    #[error("{what} is turned off on this service")]
    FeatureDisabled {
        /// What is off.
        what: &'static str,
    },
    /// Services of two versions may be at work on the database, and the older one would misread it.
    #[error(
        "{what} needs the feature level {level}, which the database does not have yet; once every service runs this \
         version, its operator enables it with `timenav upgrade --finish`"
    )]
    NotUpgraded {
        /// What is not there yet.
        what: &'static str,
        /// The feature level that it needs.
        level: u64,
    },
    /// The idempotency key was used for another request.
    #[error("this idempotency key was used for another request; use a new one")]
    KeyReused,
    /// A cursor that was not given out for this query and caller.
    #[error("the cursor does not belong to this query; start again without it")]
    Cursor,
    /// The ledger cannot be written, so nothing can be done.
    #[error("the ledger cannot be written, and nothing is changed without an entry: {0}")]
    Unavailable(String),
    /// What was asked for may have happened or not.
    #[error("it is not known whether this happened: {0}; ask for it again with the same idempotency key")]
    OutcomeUnknown(String),
    /// A ledger does not go on from what this service has seen of it, so nothing is done any more.
    #[error("{0}")]
    Diverged(Arc<Divergence>),
    /// The newest entries of a timeline are signed by another key than that of this service, so nothing is done any more.
    #[error(
        "timeline `{timeline_id}` is signed by another key than that of this service; if the signing key was rotated, put \
         the new `signing.key` into the data folder and restart"
    )]
    OtherKey {
        /// The timeline.
        timeline_id: String,
    },
    /// A later version has written what this one does not know, so nothing is done any more.
    #[error(transparent)]
    UnknownEntry(#[from] UnknownEntry),
    /// What is kept does not make sense.
    #[error("stored data is inconsistent: {0}")]
    Damaged(String),
}

impl Refusal {
    /// Returns the refusal of an id that is none.
    #[must_use]
    pub fn id(field: &str, error: IdError) -> Self {
        Self::invalid(field, error.to_string())
    }

    /// Names the timeline that was aimed at, where it is hidden from who asks. One that is not there is told the same.
    #[must_use]
    pub(crate) fn about(self, timeline: &TimelineId) -> Self {
        match self {
            Self::Denied(Denial::Hidden) => Self::NotFound { what: "timeline", id: timeline.to_string() },
            other => other,
        }
    }
    /// Returns the refusal of what is said of firings that others have.
    pub(crate) fn lease_lost(of_others: Vec<HeldByOther>) -> Self {
        let others = of_others.len().saturating_sub(1);
        let (firing_id, holder) =
            of_others.into_iter().next().map_or_else(Default::default, |one| (one.firing_id.to_string(), one.holder));
        Self::LeaseLost { firing_id, holder, others }
    }

    /// Returns the refusal of a field's value.
    #[must_use]
    pub fn invalid(field: &str, detail: impl Into<String>) -> Self {
        Self::Invalid { field: field.to_owned(), detail: detail.into() }
    }
}

impl From<AnchorRefusal> for Refusal {
    fn from(refusal: AnchorRefusal) -> Self {
        match refusal {
            AnchorRefusal::Description => Self::invalid("description", refusal.to_string()),
            AnchorRefusal::TooMany => {
                Self::LimitReached { what: "anchors on this timeline", max: ANCHORS_PER_TIMELINE_MAX }
            }
        }
    }
}

impl From<TooMuch> for Refusal {
    fn from(TooMuch { what, max }: TooMuch) -> Self {
        Self::LimitReached { what, max }
    }
}

impl From<DirectoryRefusal> for Refusal {
    fn from(refusal: DirectoryRefusal) -> Self {
        let detail = refusal.to_string();
        match refusal {
            DirectoryRefusal::Reserved(_) => Self::invalid("user_id", detail),
            DirectoryRefusal::UserExists(id) => Self::AlreadyExists { what: "user", id: id.to_string() },
            DirectoryRefusal::TooManyUsers { max } => Self::LimitReached { what: "users", max },
            DirectoryRefusal::NoUser(id) => Self::NotFound { what: "user", id: id.to_string() },
            DirectoryRefusal::LastOperator(user_id) => Self::LastOperator { user_id: user_id.to_string() },
            DirectoryRefusal::NoKey(id) => Self::NotFound { what: "API key", id: id.to_string() },
            DirectoryRefusal::TooManyKeys => {
                Self::LimitReached { what: "active keys of this user", max: KEYS_PER_USER_MAX }
            }
            DirectoryRefusal::KeyExpired => Self::invalid("expires_at", detail),
            DirectoryRefusal::NoSession(id) => Self::NotFound { what: "session", id: id.to_string() },
            DirectoryRefusal::WrongPassword => Self::WrongPassword,
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Moved(_) | StoreError::Unavailable(_) => Self::Unavailable(error.to_string()),
            StoreError::Unknown(reason) => Self::OutcomeUnknown(reason),
            StoreError::Damaged(detail) => Self::Damaged(detail),
        }
    }
}

/// Returns the refusal of a sealed record that is not there, or erased.
pub(crate) fn no_record(data_id: &DataId) -> Refusal {
    Refusal::NotFound { what: "data record", id: data_id.to_string() }
}

/// Returns the stable word for a denial.
pub(crate) fn denial_code(denial: Denial) -> &'static str {
    match denial {
        Denial::Hidden => "not_found",
        Denial::Permission { .. } | Denial::OperatorOnly => "permission_denied",
        Denial::Restricted { .. } | Denial::TooFar { .. } => "time_travel_restricted",
        Denial::Scope { .. } => "insufficient_scope",
    }
}

const fn no_admin(expires: bool) -> &'static str {
    if expires {
        " once these permissions expire; leave at least one user in `admin` whose permission does not"
    } else {
        "; name at least one user in `admin`"
    }
}
