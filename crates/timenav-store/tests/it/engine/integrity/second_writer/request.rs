//! The requests sent during interference, and which decisions of the engine they cover.

use timenav_engine::Action;

use super::Meddling;

/// Generates the enum and the list of all requests, so that the list is complete.
macro_rules! requests {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// A request, with a unique name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Request {
            $($(#[$doc])* $name,)+
        }

        impl Request {
            pub(super) const ALL: &'static [Self] = &[$(Self::$name,)+];
        }
    };
}

requests! {
    Clock,
    Anchor,
    Return,
    Record,
    Correct,
    Cancel,
    CancelWithoutParadox,
    UndoImport,
    Erase,
    EraseIds,
    EraseFound,
    EraseUnchanged,
    EraseReads,
    Seal,
    Unseal,
    EraseRecord,
    Create,
    Fork,
    End,
    Permissions,
    Retention,
    Fault,
    Sweep,
    User,
    Restrict,
    RemoveUser,
    Key,
    RevokeKey,
    SetPassword,
    LogIn,
    Renew,
    LogOut,
    EndSession,
    SetTimer,
    ChangeTimer,
    CancelTimer,
    /// Moves a clock with overdue timers, so that they fire first.
    FireTimers,
    /// Completes an advance, instant by instant.
    Advance,
    /// Moves a clock whose advance is complete, but not ended.
    EndAdvance,
    Acknowledge,
    Redeliver,
    /// Holds advances, which no entry records.
    Hold,
    Read,
    /// Reads something without permission.
    Refused,
    CountedRefusals,
    Scan,
    CommitHeads,
    /// Last, because the host clock jumps.
    AcceptHostClock,
}

/// The guaranteed result if two clients send a request concurrently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twice {
    /// It has an idempotency key: it happens once, and both get the same response.
    Reported,
    /// It happens once, and the other one finds nothing left to do.
    Once,
    /// It happens once, and the other one may be rejected because of that.
    OrRefused,
    /// It happens twice.
    Both,
}

impl Request {
    /// Returns whether it writes no entry, but stores its response for repetitions.
    pub(super) const fn keeps_an_answer_alone(self) -> bool {
        matches!(self, Self::Hold)
    }

    /// Returns whether it is about a stream, which services on a shared store know of.
    pub(super) const fn is_about_a_stream(self) -> bool {
        matches!(self, Self::Fault)
    }

    pub(super) const fn twice(self) -> Twice {
        match self {
            Self::Clock
            | Self::Anchor
            | Self::Return
            | Self::Record
            | Self::Correct
            | Self::Cancel
            | Self::CancelWithoutParadox
            | Self::UndoImport
            | Self::Erase
            | Self::EraseIds
            | Self::EraseFound
            | Self::EraseUnchanged
            | Self::EraseReads
            | Self::Seal
            | Self::EraseRecord
            | Self::Create
            | Self::Fork
            | Self::End
            | Self::Permissions
            | Self::Retention
            | Self::Fault
            | Self::Sweep
            | Self::User
            | Self::Restrict
            | Self::Key
            | Self::SetTimer
            | Self::ChangeTimer
            | Self::CancelTimer
            | Self::FireTimers
            | Self::EndAdvance
            | Self::Acknowledge
            | Self::Redeliver
            | Self::Hold => Twice::Reported,
            Self::Renew | Self::Advance => Twice::Once,
            Self::RemoveUser | Self::RevokeKey | Self::LogOut | Self::EndSession => Twice::OrRefused,
            Self::Unseal
            | Self::SetPassword
            | Self::LogIn
            | Self::Read
            | Self::Refused
            | Self::CountedRefusals
            | Self::Scan
            | Self::CommitHeads
            | Self::AcceptHostClock => Twice::Both,
        }
    }

    /// Returns the entries written if it happens once. These are all entries with their actions.
    pub(super) const fn writes(self) -> &'static [(Action, usize)] {
        match self {
            Self::Clock => &[(Action::FastForward, 1)],
            Self::Anchor => &[(Action::SetAnchor, 1)],
            Self::Return => &[(Action::ReturnToAnchor, 1), (Action::ManipulateEvent, 1)],
            Self::Record => &[(Action::RecordEvent, 2)],
            Self::Correct => &[(Action::CorrectEvent, 1)],
            Self::Cancel | Self::CancelWithoutParadox => &[(Action::ManipulateEvent, 1)],
            Self::UndoImport => &[(Action::ManipulateEvent, 2)],
            Self::Erase | Self::EraseRecord => &[(Action::EraseData, 1)],
            Self::EraseIds | Self::EraseFound | Self::EraseUnchanged => &[(Action::EraseEvents, 1)],
            Self::EraseReads => &[(Action::EraseReads, 1)],
            Self::Seal => &[(Action::EncryptData, 1)],
            Self::Unseal => &[(Action::DecryptData, 1)],
            // One on the timeline, and one on `system`.
            Self::Create | Self::Fork => &[(Action::CreateTimeline, 2)],
            Self::End => &[(Action::EndTimeline, 1)],
            Self::Permissions => &[(Action::SetAccessControl, 1)],
            Self::Retention => &[(Action::SetRetention, 1)],
            Self::Fault => &[(Action::SetFault, 1)],
            Self::Sweep => &[(Action::Sweep, 1)],
            Self::User => &[(Action::CreateUser, 1)],
            Self::Restrict => &[(Action::RestrictTimeTravel, 1)],
            Self::RemoveUser => &[(Action::DeleteUser, 1)],
            Self::Key => &[(Action::CreateApiKey, 1)],
            Self::RevokeKey => &[(Action::RevokeApiKey, 1)],
            Self::SetPassword => &[(Action::SetPassword, 1)],
            Self::LogIn => &[(Action::LogIn, 1)],
            Self::Renew => &[(Action::RenewSession, 1)],
            Self::LogOut => &[(Action::LogOut, 1)],
            Self::EndSession => &[(Action::EndSession, 1)],
            Self::SetTimer => &[(Action::SetTimer, 1)],
            Self::ChangeTimer => &[(Action::ChangeTimer, 1)],
            Self::CancelTimer => &[(Action::CancelTimer, 1)],
            Self::FireTimers => &[(Action::FireTimers, 1), (Action::FastForward, 1)],
            Self::Advance => &[(Action::FireTimers, 2), (Action::EndAdvance, 1)],
            Self::EndAdvance => &[(Action::EndAdvance, 1), (Action::FastForward, 1)],
            Self::Acknowledge => &[(Action::SettleFirings, 1)],
            // One about the timer, one about the firing.
            Self::Redeliver => &[(Action::RestoreTimers, 2)],
            Self::Hold => &[],
            Self::Read => &[(Action::Reads, 1)],
            Self::Refused => &[(Action::Attempt, 1)],
            Self::CountedRefusals => &[(Action::AttemptsCounted, 1)],
            Self::Scan => &[(Action::DetectTampering, 1)],
            Self::CommitHeads => &[(Action::Heads, 1)],
            Self::AcceptHostClock => &[(Action::AcceptHostClock, 1)],
        }
    }

    /// Returns whether nothing can happen on its timeline afterwards.
    pub(super) const fn closes_timeline(self) -> bool {
        matches!(self, Self::End)
    }

    /// Returns whether it is about timers, which a clock change would make fire.
    pub(super) const fn is_about_timers(self) -> bool {
        matches!(
            self,
            Self::SetTimer
                | Self::ChangeTimer
                | Self::CancelTimer
                | Self::FireTimers
                | Self::Advance
                | Self::EndAdvance
                | Self::Acknowledge
                | Self::Redeliver
        )
    }
}

impl Meddling {
    /// Returns the entries of the interference itself.
    pub(super) const fn writes(self, request: Request) -> &'static [(Action, usize)] {
        match self {
            Self::SameTimeline => Self::alongside(request).writes(),
            Self::System => Request::User.writes(),
            Self::NewTimeline => Request::Create.writes(),
            Self::SameRequest => &[],
        }
    }
}

/// How interference with an action is covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Covered {
    /// A request writes it.
    Here,
    /// A request writes the other action by the same decision.
    As(Action),
    /// There can be no interference, or no one writes it, for this reason.
    Never(&'static str),
}

/// Returns the coverage of every action. The compiler requires new ones to be added.
pub(super) const fn covered(action: Action) -> Covered {
    match action {
        Action::Travel | Action::PauseTime | Action::ResumeTime | Action::Rewind | Action::SetRate => {
            Covered::As(Action::FastForward)
        }
        Action::RotateSigningKey => Covered::Never("a start writes it, with a key that others do not sign by"),
        Action::AcceptRollback => Covered::Never("a start writes it, before anybody is let in"),
        Action::Read | Action::Adopt | Action::HandedOver | Action::LayerErased => {
            Covered::Never("earlier versions wrote it")
        }
        Action::CreateTimeline
        | Action::EndTimeline
        | Action::FastForward
        | Action::ReturnToAnchor
        | Action::SetAnchor
        | Action::RecordEvent
        | Action::CorrectEvent
        | Action::ManipulateEvent
        | Action::EncryptData
        | Action::DecryptData
        | Action::EraseData
        | Action::EraseEvents
        | Action::EraseReads
        | Action::SetAccessControl
        | Action::DetectTampering
        | Action::CreateUser
        | Action::DeleteUser
        | Action::RestrictTimeTravel
        | Action::CreateApiKey
        | Action::RevokeApiKey
        | Action::LogIn
        | Action::LogOut
        | Action::RenewSession
        | Action::EndSession
        | Action::SetPassword
        | Action::Reads
        | Action::Attempt
        | Action::AttemptsCounted
        | Action::SetRetention
        | Action::SetFault
        | Action::Sweep
        | Action::AcceptHostClock
        | Action::Heads
        | Action::SetTimer
        | Action::ChangeTimer
        | Action::CancelTimer
        | Action::FireTimers
        | Action::SettleFirings
        | Action::EndAdvance
        | Action::RestoreTimers => Covered::Here,
    }
}

/// The requests that cover each kind of decision; none if there can be no interference.
pub(super) const DECISIONS: &[(&str, &[Request])] = &[
    ("AcceptHostClock", &[Request::AcceptHostClock]),
    ("Again", &[Request::EraseFound, Request::UndoImport]),
    // Nothing is written, so nothing can be lost.
    ("CatchUp", &[]),
    ("ChangeClock", &[Request::Clock]),
    ("ChangeSessions", &[Request::LogIn, Request::Renew, Request::LogOut, Request::EndSession, Request::SetPassword]),
    ("ChangeTimer", &[Request::ChangeTimer, Request::CancelTimer]),
    ("ChangeUser", &[Request::User, Request::Restrict, Request::RemoveUser]),
    ("CommitHeads", &[Request::CommitHeads]),
    // A dry run.
    ("CompareEvents", &[]),
    ("CorrectEvent", &[Request::Correct]),
    ("CreateKey", &[Request::Key]),
    ("CreateTimeline", &[Request::Create, Request::Fork]),
    ("EncryptData", &[Request::Seal]),
    ("EndTimeline", &[Request::End]),
    ("EraseData", &[Request::EraseRecord]),
    ("EraseEvent", &[Request::Erase]),
    ("EraseEvents", &[Request::EraseIds, Request::EraseFound, Request::EraseUnchanged]),
    ("EraseReads", &[Request::EraseReads]),
    ("FireTimers", &[Request::FireTimers]),
    ("Intervene", &[Request::Cancel, Request::CancelWithoutParadox]),
    ("Keep", &[Request::Hold]),
    ("PrunePayloads", &[Request::Sweep]),
    ("LogDecryption", &[Request::Unseal]),
    ("LogRead", &[Request::Read]),
    ("LogRefusal", &[Request::Refused]),
    ("LogRefusals", &[Request::CountedRefusals]),
    // Written by a start, before requests are accepted.
    ("LogRollbackAccepted", &[]),
    ("LogScan", &[Request::Scan]),
    ("RecordEvents", &[Request::Record]),
    ("Redeliver", &[Request::Redeliver]),
    ("ReturnToAnchor", &[Request::Return]),
    ("RevokeKey", &[Request::RevokeKey]),
    // Written by a start, with a key that others do not use.
    ("RotateSigningKey", &[]),
    ("SetAnchor", &[Request::Anchor]),
    ("SetFault", &[Request::Fault]),
    ("SetPermissions", &[Request::Permissions]),
    ("SetRetention", &[Request::Retention]),
    ("SetTimer", &[Request::SetTimer]),
    ("SettleFirings", &[Request::Acknowledge]),
    ("StepAdvance", &[Request::Advance]),
    ("StopAdvance", &[Request::EndAdvance]),
    ("UndoImport", &[Request::UndoImport]),
];
