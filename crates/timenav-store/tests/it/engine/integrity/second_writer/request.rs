//! The requests sent during interference, and which decisions of the engine they cover.

use super::Meddling;
use crate::engine::*;

/// Generates the enum and the list of all requests: what each needs, its result if it is sent twice, and the entries that
/// it writes if it happens once, which are all entries with their actions.
macro_rules! requests {
    ($($(#[$doc:meta])* $name:ident: $needs:ident, $twice:ident, [$(($action:ident, $count:literal)),*];)+) => {
        /// A request, with a unique name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Request {
            $($(#[$doc])* $name,)+
        }

        impl Request {
            pub(super) const ALL: &'static [Self] = &[$(Self::$name,)+];

            pub(super) const fn needs(self) -> Needs {
                match self {
                    $(Self::$name => Needs::$needs,)+
                }
            }

            pub(super) const fn twice(self) -> Twice {
                match self {
                    $(Self::$name => Twice::$twice,)+
                }
            }

            pub(super) const fn writes(self) -> &'static [(Action, usize)] {
                match self {
                    $(Self::$name => &[$((Action::$action, $count)),*],)+
                }
            }
        }
    };
}

requests! {
    Clock: Main, Reported, [(FastForward, 1)];
    Anchor: Main, Reported, [(SetAnchor, 1)];
    Return: Return, Reported, [(ReturnToAnchor, 1), (ManipulateEvent, 1)];
    Record: Main, Reported, [(RecordEvent, 2)];
    Correct: Events, Reported, [(CorrectEvent, 1)];
    Cancel: Events, Reported, [(ManipulateEvent, 1)];
    CancelWithoutParadox: Events, Reported, [(ManipulateEvent, 1)];
    UndoImport: Events, Reported, [(ManipulateEvent, 2)];
    Erase: Events, Reported, [(EraseData, 1)];
    EraseIds: Events, Reported, [(EraseEvents, 1)];
    EraseFound: Events, Reported, [(EraseEvents, 1)];
    EraseUnchanged: Events, Reported, [(EraseEvents, 1)];
    EraseReads: Own, Reported, [(EraseReads, 1)];
    Seal: Own, Reported, [(EncryptData, 1)];
    Unseal: Sealed, Both, [(DecryptData, 1)];
    EraseRecord: Sealed, Reported, [(EraseData, 1)];
    // One on the timeline, and one on `system`.
    Create: Main, Reported, [(CreateTimeline, 2)];
    Fork: Main, Reported, [(CreateTimeline, 2)];
    End: Own, Reported, [(EndTimeline, 1)];
    Permissions: Main, Reported, [(SetAccessControl, 1)];
    Retention: Own, Reported, [(SetRetention, 1)];
    Fault: Own, Reported, [(SetFault, 1)];
    Sweep: Sweep, Reported, [(Sweep, 1)];
    User: Main, Reported, [(CreateUser, 1)];
    Restrict: User, Reported, [(RestrictTimeTravel, 1)];
    RemoveUser: User, OrRefused, [(DeleteUser, 1)];
    Key: Main, Reported, [(CreateApiKey, 1)];
    RevokeKey: User, OrRefused, [(RevokeApiKey, 1)];
    SetPassword: User, Both, [(SetPassword, 1)];
    LogIn: User, Both, [(LogIn, 1)];
    Renew: User, Once, [(RenewSession, 1)];
    LogOut: User, OrRefused, [(LogOut, 1)];
    EndSession: User, OrRefused, [(EndSession, 1)];
    SetTimer: Timers, Reported, [(SetTimer, 1)];
    ChangeTimer: Timers, Reported, [(ChangeTimer, 1)];
    CancelTimer: Timers, Reported, [(CancelTimer, 1)];
    /// Moves a clock with overdue timers, so that they fire first.
    FireTimers: Timers, Reported, [(FireTimers, 1), (FastForward, 1)];
    /// Completes an advance, instant by instant.
    Advance: Timers, Once, [(FireTimers, 2), (EndAdvance, 1)];
    /// Moves a clock whose advance is complete, but not ended.
    EndAdvance: Timers, Reported, [(EndAdvance, 1), (FastForward, 1)];
    Acknowledge: Timers, Reported, [(SettleFirings, 1)];
    // One about the timer, one about the firing.
    Redeliver: Timers, Reported, [(RestoreTimers, 2)];
    /// Holds advances, which no entry records.
    Hold: Own, Reported, [];
    Read: Main, Both, [(Reads, 1)];
    /// Reads something without permission.
    Refused: User, Both, [(Attempt, 1)];
    CountedRefusals: Main, Both, [(AttemptsCounted, 1)];
    Scan: Own, Both, [(DetectTampering, 1)];
    CommitHeads: Own, Both, [(Heads, 1)];
    /// Last, because the host clock jumps.
    AcceptHostClock: Own, Both, [(AcceptHostClock, 1)];
}

/// What a request needs before it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Main,
    /// An anchor.
    Return,
    Events,
    /// A new timeline on which only the clock was read.
    Own,
    /// A sealed record.
    Sealed,
    /// Entries to be pruned.
    Sweep,
    User,
    Timers,
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

impl Meddling {
    /// Returns the entries of the interference itself.
    pub(super) fn writes(self, request: Request) -> &'static [(Action, usize)] {
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
        _ => Covered::Here,
    }
}

/// The requests that cover each kind of decision; none if there can be no interference.
pub(super) const DECISIONS: &[(&str, &[Request])] = &[
    ("AcceptHostClock", &[Request::AcceptHostClock]),
    ("RepeatedRequest", &[Request::EraseFound, Request::UndoImport]),
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
    ("StoreResponse", &[Request::Hold]),
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
