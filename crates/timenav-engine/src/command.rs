//! What is asked of the committer, and what it answers.

use std::sync::Arc;

use timenav_core::access::{Demand, RestrictionLevel};
use timenav_core::clock::{Clock, ClockCommand};
use timenav_core::data::{KeyKind, SealedData};
use timenav_core::event::{Cause, EventDraft};
use timenav_core::ids::{AnchorId, DataId, EventId, InterventionId, KeyId, TimelineId, UserId};
use timenav_core::intervention::Effect;
use timenav_core::ledger::{Hash, Salt};
use timenav_core::place::Point;
use timenav_core::time::{Instant, Virtual};
use tokio::sync::oneshot;

use crate::action::Action;
use crate::anchor::Anchor;
use crate::caller::Caller;
use crate::directory::ApiKey;
use crate::head::{Fork, Layer};
use crate::idempotency::Idempotency;
use crate::permissions::PermissionsChange;
use crate::refusal::Refusal;
use crate::session_command::SessionCommand;

/// One thing to be decided, on one timeline, by one actor.
pub(crate) struct Submission {
    pub(crate) actor: Actor,
    pub(crate) timeline: TimelineId,
    pub(crate) command: Command,
    pub(crate) idempotency: Option<Idempotency>,
    /// Absent where nobody waits: a read whose entry is only buffered.
    pub(crate) answer: Option<oneshot::Sender<Result<Answer, Refusal>>>,
}

/// Who acts.
pub(crate) enum Actor {
    /// A user who showed a key or a session.
    Caller(Caller),
    /// Nobody could be identified.
    Unknown,
    /// The service itself: on its first start, and where its operator does something with it while it is stopped.
    Service,
}

/// What is asked.
pub(crate) enum Command {
    /// Change the clock.
    Clock(ClockCommand),
    /// Mark a moment.
    SetAnchor { anchor_id: AnchorId, timestamp: Option<Instant<Virtual>>, description: String, fixed: bool },
    /// Take the clock back to an anchor, and history too where there are compensations.
    ReturnToAnchor { anchor: Anchor, history: Option<HistoryRestored> },
    /// Record events: all of them, or with `each` every one that can be.
    Record { events: Vec<PreparedEvent>, each: bool },
    /// Replace how an event was recorded, if the version of that tag stands.
    Correct { event: PreparedEvent, expected: Option<String> },
    /// Do something to an event.
    Intervene(Box<Intervention>),
    /// Keep a sealed record.
    Encrypt { data_id: DataId, kind: KeyKind, sealed: SealedData },
    /// Erase a sealed record.
    EraseData { data_id: DataId },
    /// Erase the content of an event.
    EraseEvent { event_id: EventId },
    /// Make a timeline, maybe as a fork of another.
    CreateTimeline { fork: Option<Box<ForkPoint>> },
    /// Say who may do what on a timeline.
    SetPermissions(PermissionsChange),
    /// Restrict a user's time travel, on `system`.
    Restrict { user_id: UserId, level: RestrictionLevel },
    /// Make a user, on `system`.
    CreateUser { user_id: UserId, operator: bool },
    /// Remove a user and their keys, on `system`.
    DeleteUser { user_id: UserId },
    /// Make a key, on `system`.
    CreateKey(ApiKey),
    /// Stop a key, on `system`. `owner` is set where the key was stopped before: memory no longer has it.
    RevokeKey { key_id: KeyId, owner: Option<UserId> },
    /// Do something about sessions or passwords, on `system`.
    Session(Box<SessionCommand>),
    /// Log that something was read. The caller has been allowed to already.
    LogRead { operation: &'static str, parameters: String },
    /// Log that a sealed record was opened.
    LogDecryption { data_id: DataId },
    /// Log that somebody looks for tampering. The caller has been allowed to already.
    LogScan { depth: String },
    /// Log that the service started although the database is not what was signed.
    LogRollbackAccepted { findings: Vec<String> },
    /// Let the next key sign beside the one whose place it takes, with an entry that names both.
    RotateSigningKey,
    /// Log that somebody was refused.
    LogRefusal { operation: String, code: &'static str, detail: String },
    /// Log how many strangers were refused without an entry each.
    LogRefusals { payload: String },
    /// Ask what an earlier request with the same key was answered, and change nothing.
    Again(Again),
}

/// What a request is for that may have been answered before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again {
    pub(crate) action: Action,
    /// What whoever asks must still be allowed to do.
    pub(crate) demands: &'static [Demand],
}

impl Command {
    /// Returns what the command needs, and `None` for what was decided before.
    pub(crate) fn demand(&self) -> Option<Demand> {
        match self {
            Self::Clock(ClockCommand::SetRate(_)) => Some(Demand::SetRate),
            Self::Clock(_) | Self::SetAnchor { .. } | Self::ReturnToAnchor { .. } => Some(Demand::Steer),
            Self::Record { .. } | Self::Correct { .. } | Self::Encrypt { .. } => Some(Demand::Record),
            Self::Intervene(_) => Some(Demand::Intervene),
            Self::CreateTimeline { .. } => Some(Demand::Create),
            Self::SetPermissions(_) => Some(Demand::Administer),
            Self::EraseData { .. } | Self::EraseEvent { .. } => Some(Demand::Erase),
            Self::CreateUser { .. } | Self::DeleteUser { .. } | Self::Restrict { .. } => Some(Demand::Operate),
            // To open a record takes a while; who asked may have lost their role meanwhile.
            Self::LogDecryption { .. } => Some(Demand::Inspect),
            // Whose key or session it is decides, in the group; reads and refusals were decided before.
            Self::CreateKey(_)
            | Self::RevokeKey { .. }
            | Self::Session(_)
            | Self::LogRead { .. }
            | Self::LogScan { .. }
            | Self::LogRollbackAccepted { .. }
            | Self::RotateSigningKey
            | Self::LogRefusal { .. }
            | Self::LogRefusals { .. } => None,
            Self::Again(again) => again.demands.first().copied(),
        }
    }

    /// Returns whether naming an unknown timeline makes it.
    pub(crate) const fn makes_timeline(&self) -> bool {
        matches!(
            self,
            Self::Clock(_)
                | Self::SetAnchor { .. }
                | Self::Record { .. }
                | Self::Encrypt { .. }
                | Self::CreateTimeline { .. }
        )
    }

    /// Returns whether the command is for timelines that belong to users, which `system` does not.
    pub(crate) const fn is_about_a_timeline(&self) -> bool {
        matches!(
            self,
            Self::Clock(_)
                | Self::SetAnchor { .. }
                | Self::ReturnToAnchor { .. }
                | Self::Record { .. }
                | Self::Correct { .. }
                | Self::Intervene(_)
                | Self::Encrypt { .. }
                | Self::EraseData { .. }
                | Self::EraseEvent { .. }
                | Self::SetPermissions(_)
        )
    }

    /// Returns what is attempted, as an entry about a refusal names it.
    pub(crate) fn operation(&self) -> &str {
        match self {
            Self::LogRead { operation, .. } => operation,
            Self::LogRefusal { operation, .. } => operation,
            other => other.action().word(),
        }
    }

    /// Returns how the command stands in the ledger.
    pub(crate) fn action(&self) -> Action {
        match self {
            Self::Clock(change) => of_clock(change),
            Self::SetAnchor { .. } => Action::SetAnchor,
            Self::ReturnToAnchor { .. } => Action::ReturnToAnchor,
            Self::Record { .. } => Action::RecordEvent,
            Self::Correct { .. } => Action::CorrectEvent,
            Self::Intervene(_) => Action::ManipulateEvent,
            Self::Encrypt { .. } => Action::EncryptData,
            Self::EraseData { .. } | Self::EraseEvent { .. } => Action::EraseData,
            Self::CreateTimeline { .. } => Action::CreateTimeline,
            Self::SetPermissions(_) => Action::SetAccessControl,
            Self::Restrict { .. } => Action::RestrictTimeTravel,
            Self::CreateUser { .. } => Action::CreateUser,
            Self::DeleteUser { .. } => Action::DeleteUser,
            Self::CreateKey(_) => Action::CreateApiKey,
            Self::RevokeKey { .. } => Action::RevokeApiKey,
            Self::Session(command) => command.action(),
            Self::LogRead { .. } => Action::Read,
            Self::LogDecryption { .. } => Action::DecryptData,
            Self::LogScan { .. } => Action::DetectTampering,
            Self::LogRollbackAccepted { .. } => Action::AcceptRollback,
            Self::RotateSigningKey => Action::RotateSigningKey,
            Self::LogRefusal { .. } => Action::Attempt,
            Self::LogRefusals { .. } => Action::AttemptsCounted,
            Self::Again(again) => again.action,
        }
    }
}

impl From<SessionCommand> for Command {
    fn from(command: SessionCommand) -> Self {
        Self::Session(Box::new(command))
    }
}

/// Returns how a change of a clock stands in the ledger.
pub(crate) const fn of_clock(change: &ClockCommand) -> Action {
    match change {
        ClockCommand::Travel { .. } => Action::Travel,
        ClockCommand::Pause => Action::PauseTime,
        ClockCommand::Resume => Action::ResumeTime,
        ClockCommand::FastForward(_) => Action::FastForward,
        ClockCommand::Rewind(_) => Action::Rewind,
        ClockCommand::SetRate(_) => Action::SetRate,
        ClockCommand::Restore(_) => Action::ReturnToAnchor,
    }
}

/// An event with everything that can be made ready before its turn comes.
pub(crate) struct PreparedEvent {
    pub(crate) event_id: EventId,
    pub(crate) draft: Arc<EventDraft>,
    /// The point that it is found by.
    pub(crate) point: Option<Point>,
    pub(crate) content: Arc<str>,
    pub(crate) salt: Salt,
    pub(crate) payload_hash: Hash,
}

/// Something to be done to an event.
pub(crate) struct Intervention {
    /// Its own name.
    pub(crate) id: InterventionId,
    pub(crate) event_id: EventId,
    /// In the words of who intervenes.
    pub(crate) action: String,
    /// Its virtual moment.
    pub(crate) time: Instant<Virtual>,
    pub(crate) effect: Effect,
    pub(crate) causes: Vec<Cause>,
    /// The ledger's size on which it was decided; refused if events changed since.
    pub(crate) guard: Option<u64>,
}

/// What is to be done so that history is what it was at an anchor.
pub(crate) struct HistoryRestored {
    pub(crate) compensations: Vec<Compensation>,
    /// The ledger's size on which they were decided.
    pub(crate) guard: u64,
}

/// One event that is otherwise now than it was at an anchor.
pub(crate) struct Compensation {
    pub(crate) intervention_id: InterventionId,
    pub(crate) event_id: EventId,
    /// The event as it stood; `None` if it did not.
    pub(crate) content: Option<Arc<str>>,
}

/// Where a timeline is to be forked from another.
pub(crate) struct ForkPoint {
    pub(crate) of: TimelineId,
    pub(crate) fork: Fork,
    /// The root over the entries that the fork goes on from.
    pub(crate) root: Hash,
    /// A checkpoint of the other timeline that covers them.
    pub(crate) checkpoint: Arc<str>,
    pub(crate) events_count: u64,
    /// The clock as it stood.
    pub(crate) clock: Clock,
    /// Where it stood; `None` where it is asked now.
    pub(crate) at: Option<Instant<Virtual>>,
    /// The layers that the fork is read with, the oldest first.
    pub(crate) ancestors: Arc<[Layer]>,
    /// The names of their timelines.
    pub(crate) lineage: Arc<[TimelineId]>,
}

/// Where a write stands in the ledger, and the signed tree that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerPosition {
    /// Position of the last entry the request wrote, from 0.
    pub position: u64,
    /// Size of the tree.
    pub size: u64,
    /// Its root.
    pub root: Hash,
}

/// The outcome of a write, durable and signed.
#[derive(Clone, Debug)]
pub struct Answer {
    /// On which timeline.
    pub timeline_id: TimelineId,
    /// What happened.
    pub change: Change,
    /// Where it stands.
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Change {
    /// The clock was asked to change.
    Clock {
        /// The clock after it.
        clock: Clock,
        /// Its reading at that moment.
        current_time: Instant<Virtual>,
        /// Whether it changed.
        changed: bool,
    },
    /// An anchor was set.
    Anchor {
        /// Its name.
        anchor_id: AnchorId,
        /// The moment it marks.
        timestamp: Instant<Virtual>,
    },
    /// Events were recorded.
    Recorded {
        /// All their ids, in the order given.
        event_ids: Vec<EventId>,
        /// How many of them are new.
        taken: u64,
        /// Those refused because another event has that id: where they stood in the request.
        differing: Vec<usize>,
    },
    /// An event was corrected.
    Corrected {
        /// Which.
        event_id: EventId,
        /// The event as it stands, as JSON.
        content: Arc<str>,
        /// Whether that is another version.
        changed: bool,
    },
    /// Something was done to an event.
    Intervened {
        /// Names the intervention.
        intervention_id: InterventionId,
        /// The event.
        event_id: EventId,
        /// What was done.
        effect: Effect,
        /// The event as it stood before, as JSON; `None` if it did not.
        before: Option<Arc<str>>,
        /// The event as it stands, as JSON; `None` if it does not.
        after: Option<Arc<str>>,
    },
    /// A sealed record was kept.
    Data {
        /// Its name.
        data_id: DataId,
    },
    /// Content was erased.
    Erased {
        /// Position of the entry that tells of it.
        position: u64,
    },
    /// A timeline was made.
    Timeline,
    /// It was said who may do what.
    Permissions {
        /// The tag of the permissions after it.
        tag: String,
    },
    /// A user was made or removed.
    User {
        /// Who.
        user_id: UserId,
    },
    /// A key was made or stopped.
    Key {
        /// Its public name.
        key_id: KeyId,
    },
    /// Something was read or refused, or sessions or a password changed.
    Logged,
}
