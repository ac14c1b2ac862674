use std::sync::Arc;

use timenav_core::access::Denial;
use timenav_core::anchor::AnchorRefusal;
use timenav_core::clock::ClockRefusal;
use timenav_core::directory::DirectoryRefusal;
use timenav_core::ids::{DataId, IdError, TimelineId};
use timenav_core::limits::{ANCHORS_PER_TIMELINE_MAX, KEYS_PER_USER_MAX};
use timenav_core::text::counted;
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::TooMuch;
use timenav_core::timers::leases::HeldByOther;

use crate::integrity::divergence::Divergence;
use crate::ledger::unknown_entry::UnknownEntry;
use crate::ports::store_error::StoreError;
use crate::requests::caller::AuthFailure;

/// The reason why a use case was rejected. Nothing was changed, except that a denial is recorded in the ledger.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Denied(#[from] Denial),
    /// The credentials are no longer valid: the key was revoked or has expired, or the session has ended.
    #[error(transparent)]
    Unidentified(#[from] AuthFailure),
    #[error(transparent)]
    Clock(#[from] ClockRefusal),
    #[error("`{field}`: {detail}")]
    Invalid {
        /// The path of the field, as names and indexes.
        field: String,
        /// What would be valid.
        detail: String,
    },
    #[error("there is no {what} `{id}`, or you don't have access to it")]
    NotFound {
        /// The kind of resource.
        what: &'static str,
        id: String,
    },
    #[error("the timeline `{timeline_id}` has ended; it can no longer be read, and its name cannot be reused")]
    Ended { timeline_id: String },
    /// The name of a new timeline was used by one that has ended.
    #[error("there was a timeline `{timeline_id}`, which has ended, and names cannot be reused; choose another one")]
    NameEnded { timeline_id: String },
    #[error("the {what} `{id}` already exists")]
    AlreadyExists {
        /// The kind of resource.
        what: &'static str,
        id: String,
    },
    #[error("the event `{event_id}` is already recorded{}", if *.differs { ", with different content" } else { "" })]
    EventExists {
        event_id: String,
        /// Its index in the request.
        index: usize,
        /// Whether the recorded event differs from the one in the request.
        differs: bool,
    },
    #[error("the event `{event_id}` is canceled; restore it first")]
    EventCancelled { event_id: String },
    /// The event would leave the range of years −9999 to 9999.
    #[error("the event would fall outside the years -9999 to 9999")]
    EventOutOfRange,
    #[error("it would create a paradox: {explanation}")]
    WouldCreateParadox {
        /// The first paradox that it would create.
        explanation: String,
    },
    #[error("others are changing the timeline's events at the same time; try again")]
    ChangedMeanwhile,
    #[error(
        "the query selects other events than when the ledger had {evaluated_at} entries; do another dry run, and send \
         its `as_of_size`"
    )]
    SelectionChanged {
        /// The ledger size in the request.
        evaluated_at: u64,
    },
    /// The host's clock does not show the expected time, so nothing is destroyed based on it.
    #[error(
        "the host's clock says {now}, but was last known to be right at {last}; an operator can confirm it with \
         `trust_host_clock` of `prune`"
    )]
    HostClockDoubted {
        /// The reading when it was last known to be right.
        last: Instant<Wall>,
        now: Instant<Wall>,
    },
    /// The request was carried out earlier, and its response has been erased since.
    #[error(
        "this request was carried out, at position {position} of `{timeline_id}`, but its response has been erased \
         since"
    )]
    AnswerErased {
        timeline_id: String,
        /// The position of the request's entry.
        position: u64,
    },
    #[error("there are already {max} {what}, which is the limit")]
    LimitReached {
        /// The counted objects.
        what: &'static str,
        max: usize,
    },
    #[error("the timeline `{timeline_id}` was handed over to another service and is read-only here")]
    HandedOver { timeline_id: String },
    #[error("the timeline `{timeline_id}` would have no admin{}", no_admin(*.expires))]
    LastAdmin {
        timeline_id: String,
        /// Whether it would have one until the last permission expires.
        expires: bool,
    },
    #[error("it was changed in the meantime: its tag is now `\"{found}\"`; read it again")]
    TagDiffers {
        /// The current tag.
        found: String,
    },
    #[error(
        "the advance `{advance_id}` is moving this clock{}",
        if *.is_inside {
            ", and waits for the handler that sent this; acknowledge the firing first, or set a timer"
        } else {
            "; wait until it is settled, or stop it with `pause-time`"
        }
    )]
    AdvanceInProgress {
        advance_id: String,
        /// Whether the request comes from the handler of a firing.
        is_inside: bool,
    },
    /// Timers have to fire before the clock is moved. The engine fires them and retries, so callers only see this on a
    /// very fast clock on which more timers become due each time.
    #[error("timers became due at the same time; try again")]
    TimersBehind,
    #[error(
        "{count} firings would become due on the way, most of them from the timer `{timer_id}`; the limit is {max}"
    )]
    TooManyFirings {
        /// The timer with the most firings.
        timer_id: String,
        /// The number of firings, as far as they were counted.
        count: u64,
        max: u64,
    },
    #[error("the timer `{timer_id}` is done or canceled; set another one")]
    TimerNotArmed { timer_id: String },
    #[error("the firing `{firing_id}` cannot be delivered again: {why}")]
    NotRedelivered {
        firing_id: String,
        /// The reason.
        why: &'static str,
    },
    #[error(
        "`{firing_id}` is leased to another worker, `{holder}`{}; leave it to that worker, and extend leases before \
         they end",
        if *.others == 0 {
            String::new()
        } else {
            format!(", and {} more of these firings are leased to others", .others)
        }
    )]
    LeaseLost {
        /// The first such firing.
        firing_id: String,
        holder: String,
        /// How many more there are.
        others: usize,
    },
    #[error("`{user_id}` is the last operator; create another one first")]
    LastOperator { user_id: String },
    /// The key does not decrypt the record, or the record is damaged. The error does not reveal which.
    #[error("the key does not open this record")]
    WrongEncryptionKey,
    #[error("the current password is wrong")]
    WrongPassword,
    #[error("there are too many {what}; try again in {}", counted(*retry_after_seconds, "second"))]
    RateLimited {
        /// The limited attempts.
        what: &'static str,
        retry_after_seconds: u64,
    },
    #[error("{what} is turned off on this service")]
    FeatureDisabled { what: &'static str },
    /// Services of two versions may run on the database, and the older one would misread the result.
    #[error(
        "{what} needs the feature level {level}, which the database does not have yet; once every service runs this \
         version, its operator enables it with `timenav upgrade --finish`"
    )]
    NotUpgraded {
        what: &'static str,
        /// The feature level that it needs.
        level: u64,
    },
    #[error("this idempotency key was used for another request; use a new one")]
    KeyReused,
    #[error("the cursor does not belong to this query; start again without it")]
    Cursor,
    /// The ledger cannot be written, so no request can be served.
    #[error("the ledger cannot be written, and nothing is changed without an entry: {0}")]
    Unavailable(String),
    #[error("it is not known whether this happened: {0}; send it again with the same idempotency key")]
    OutcomeUnknown(String),
    /// A ledger does not continue what this service has seen of it, so all requests are rejected.
    #[error("{0}")]
    Diverged(Arc<Divergence>),
    /// The newest entries of a timeline are signed by another key than this service's, so all requests are rejected.
    #[error(
        "timeline `{timeline_id}` is not signed with the key of this service; if the signing key was rotated, put \
         the new `signing.key` into the data folder and restart"
    )]
    OtherKey { timeline_id: String },
    /// A later version wrote an entry that this version does not know, so all requests are rejected.
    #[error(transparent)]
    UnknownEntry(#[from] UnknownEntry),
    #[error("stored data is inconsistent: {0}")]
    Damaged(String),
}

impl Refusal {
    #[must_use]
    pub fn id(field: &str, error: IdError) -> Self {
        Self::invalid(field, error.to_string())
    }

    /// Turns a hidden timeline into one that is not found, so that callers cannot distinguish the two.
    #[must_use]
    pub(crate) fn about(self, timeline: &TimelineId) -> Self {
        match self {
            Self::Denied(Denial::Hidden) => Self::NotFound { what: "timeline", id: timeline.to_string() },
            other => other,
        }
    }
    pub(crate) fn lease_lost(of_others: Vec<HeldByOther>) -> Self {
        let others = of_others.len().saturating_sub(1);
        let (firing_id, holder) =
            of_others.into_iter().next().map_or_else(Default::default, |one| (one.firing_id.to_string(), one.holder));
        Self::LeaseLost { firing_id, holder, others }
    }

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

pub(crate) fn no_record(data_id: &DataId) -> Refusal {
    Refusal::NotFound { what: "data record", id: data_id.to_string() }
}

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
        " once these permissions expire; leave at least one user in `admin` without an expiry"
    } else {
        "; name at least one user in `admin`"
    }
}
