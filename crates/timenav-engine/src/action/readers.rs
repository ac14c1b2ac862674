//! What those who read entries make of an action, as far as several of them ask the same.
//!
//! Each match lists every action, so that a new one is asked for here, and nobody who reads takes it for nothing.

use super::Action;

/// What an action does to timers and firings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnTimers {
    /// A timer is there.
    Sets,
    /// A timer is another one.
    Changes,
    /// A timer does not fall due any more.
    Cancels,
    /// Moments fell due.
    Fires,
    /// Firings have their outcomes.
    Settles,
    /// Timers stand as they did elsewhere.
    Restores,
}

/// What was asked of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnClock {
    /// To go to a moment, and maybe to a place.
    Travels,
    /// To stand still, or its advance to end where it is.
    Pauses,
    /// To go on.
    Resumes,
    /// To go forward by a length of time.
    GoesOn,
    /// To go back by a length of time.
    GoesBack,
    /// To go faster, or slower.
    SetsRate,
    /// To go back to an anchor.
    Returns,
}

/// What an action does to a clock change that passes timers one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnAdvance {
    /// It comes to another instant, if one goes on.
    Steps,
    /// It may begin or end, which the payload tells.
    BeginsOrEnds,
    /// Nothing.
    Nothing,
}

/// What an action says is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erases {
    /// The content of an event or a sealed record.
    Data,
    /// Events, with every version.
    Events,
    /// Single reads.
    Reads,
    /// Contents of reads or refusals.
    Contents,
    /// Something of a layer that came with a fork.
    OfLayer,
}

/// Who may have done it where an entry names nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nobody {
    /// A stranger, who was refused.
    Stranger,
    /// The service by itself.
    Service,
    /// A timer of the service, on a timeline of users.
    Timer,
    /// The first start, before there is anybody.
    FirstStart,
    /// Somebody has to be named.
    Never,
}

impl Action {
    /// Returns what was asked of a clock; `None` where an entry does not say that anything was.
    pub(crate) const fn on_clock(self) -> Option<OnClock> {
        match self {
            Self::Travel => Some(OnClock::Travels),
            Self::PauseTime => Some(OnClock::Pauses),
            Self::ResumeTime => Some(OnClock::Resumes),
            Self::FastForward => Some(OnClock::GoesOn),
            Self::Rewind => Some(OnClock::GoesBack),
            Self::SetRate => Some(OnClock::SetsRate),
            Self::ReturnToAnchor => Some(OnClock::Returns),
            Self::CreateTimeline
            | Self::EndTimeline
            | Self::SetAnchor
            | Self::RecordEvent
            | Self::CorrectEvent
            | Self::ManipulateEvent
            | Self::EncryptData
            | Self::DecryptData
            | Self::EraseData
            | Self::EraseEvents
            | Self::EraseReads
            | Self::SetAccessControl
            | Self::DetectTampering
            | Self::CreateUser
            | Self::DeleteUser
            | Self::RestrictTimeTravel
            | Self::CreateApiKey
            | Self::RevokeApiKey
            | Self::LogIn
            | Self::LogOut
            | Self::RenewSession
            | Self::EndSession
            | Self::SetPassword
            | Self::Read
            | Self::Reads
            | Self::Attempt
            | Self::AttemptsCounted
            | Self::RotateSigningKey
            | Self::AcceptRollback
            | Self::Adopt
            | Self::HandedOver
            | Self::LayerErased
            | Self::SetRetention
            | Self::SetFault
            | Self::Sweep
            | Self::AcceptHostClock
            | Self::Heads
            | Self::EndAdvance
            | Self::SetTimer
            | Self::ChangeTimer
            | Self::CancelTimer
            | Self::FireTimers
            | Self::SettleFirings
            | Self::RestoreTimers => None,
        }
    }

    /// Returns what it does to timers; `None` where that is nothing.
    pub(crate) const fn on_timers(self) -> Option<OnTimers> {
        match self {
            Self::SetTimer => Some(OnTimers::Sets),
            Self::ChangeTimer => Some(OnTimers::Changes),
            Self::CancelTimer => Some(OnTimers::Cancels),
            Self::FireTimers => Some(OnTimers::Fires),
            Self::SettleFirings => Some(OnTimers::Settles),
            Self::RestoreTimers => Some(OnTimers::Restores),
            Self::CreateTimeline
            | Self::EndTimeline
            | Self::Travel
            | Self::PauseTime
            | Self::ResumeTime
            | Self::FastForward
            | Self::Rewind
            | Self::SetRate
            | Self::ReturnToAnchor
            | Self::SetAnchor
            | Self::RecordEvent
            | Self::CorrectEvent
            | Self::ManipulateEvent
            | Self::EncryptData
            | Self::DecryptData
            | Self::EraseData
            | Self::EraseEvents
            | Self::EraseReads
            | Self::SetAccessControl
            | Self::DetectTampering
            | Self::CreateUser
            | Self::DeleteUser
            | Self::RestrictTimeTravel
            | Self::CreateApiKey
            | Self::RevokeApiKey
            | Self::LogIn
            | Self::LogOut
            | Self::RenewSession
            | Self::EndSession
            | Self::SetPassword
            | Self::Read
            | Self::Reads
            | Self::Attempt
            | Self::AttemptsCounted
            | Self::RotateSigningKey
            | Self::AcceptRollback
            | Self::Adopt
            | Self::HandedOver
            | Self::LayerErased
            | Self::SetRetention
            | Self::SetFault
            | Self::Sweep
            | Self::AcceptHostClock
            | Self::Heads
            | Self::EndAdvance => None,
        }
    }

    /// Returns what it does to an advance.
    pub(crate) const fn on_advance(self) -> OnAdvance {
        match self {
            Self::FireTimers => OnAdvance::Steps,
            Self::Travel | Self::FastForward | Self::PauseTime | Self::EndAdvance => OnAdvance::BeginsOrEnds,
            Self::CreateTimeline
            | Self::EndTimeline
            | Self::ResumeTime
            | Self::Rewind
            | Self::SetRate
            | Self::ReturnToAnchor
            | Self::SetAnchor
            | Self::RecordEvent
            | Self::CorrectEvent
            | Self::ManipulateEvent
            | Self::EncryptData
            | Self::DecryptData
            | Self::EraseData
            | Self::EraseEvents
            | Self::EraseReads
            | Self::SetAccessControl
            | Self::DetectTampering
            | Self::CreateUser
            | Self::DeleteUser
            | Self::RestrictTimeTravel
            | Self::CreateApiKey
            | Self::RevokeApiKey
            | Self::LogIn
            | Self::LogOut
            | Self::RenewSession
            | Self::EndSession
            | Self::SetPassword
            | Self::Read
            | Self::Reads
            | Self::Attempt
            | Self::AttemptsCounted
            | Self::RotateSigningKey
            | Self::AcceptRollback
            | Self::Adopt
            | Self::HandedOver
            | Self::LayerErased
            | Self::SetRetention
            | Self::SetFault
            | Self::Sweep
            | Self::AcceptHostClock
            | Self::Heads
            | Self::SetTimer
            | Self::ChangeTimer
            | Self::CancelTimer
            | Self::SettleFirings
            | Self::RestoreTimers => OnAdvance::Nothing,
        }
    }

    /// Returns what it says is gone; `None` where that is nothing.
    pub(crate) const fn erases(self) -> Option<Erases> {
        match self {
            Self::EraseData => Some(Erases::Data),
            Self::EraseEvents => Some(Erases::Events),
            Self::EraseReads => Some(Erases::Reads),
            Self::Sweep => Some(Erases::Contents),
            Self::LayerErased => Some(Erases::OfLayer),
            Self::CreateTimeline
            | Self::EndTimeline
            | Self::Travel
            | Self::PauseTime
            | Self::ResumeTime
            | Self::FastForward
            | Self::Rewind
            | Self::SetRate
            | Self::ReturnToAnchor
            | Self::SetAnchor
            | Self::RecordEvent
            | Self::CorrectEvent
            | Self::ManipulateEvent
            | Self::EncryptData
            | Self::DecryptData
            | Self::SetAccessControl
            | Self::DetectTampering
            | Self::CreateUser
            | Self::DeleteUser
            | Self::RestrictTimeTravel
            | Self::CreateApiKey
            | Self::RevokeApiKey
            | Self::LogIn
            | Self::LogOut
            | Self::RenewSession
            | Self::EndSession
            | Self::SetPassword
            | Self::Read
            | Self::Reads
            | Self::Attempt
            | Self::AttemptsCounted
            | Self::RotateSigningKey
            | Self::AcceptRollback
            | Self::Adopt
            | Self::HandedOver
            | Self::SetRetention
            | Self::SetFault
            | Self::AcceptHostClock
            | Self::Heads
            | Self::SetTimer
            | Self::ChangeTimer
            | Self::CancelTimer
            | Self::FireTimers
            | Self::SettleFirings
            | Self::EndAdvance
            | Self::RestoreTimers => None,
        }
    }

    /// Returns who may have done it where an entry names nobody.
    pub(crate) const fn by_nobody(self) -> Nobody {
        match self {
            Self::Attempt | Self::AttemptsCounted => Nobody::Stranger,
            // `EndTimeline` and `Sweep`: one that was made to end by itself, and what nobody asked to be let go.
            Self::RotateSigningKey
            | Self::AcceptRollback
            | Self::EndSession
            | Self::EndTimeline
            | Self::Sweep
            | Self::FireTimers
            | Self::SettleFirings
            | Self::EndAdvance
            | Self::Heads => Nobody::Service,
            Self::RecordEvent => Nobody::Timer,
            Self::CreateTimeline | Self::CreateUser | Self::CreateApiKey => Nobody::FirstStart,
            Self::Travel
            | Self::PauseTime
            | Self::ResumeTime
            | Self::FastForward
            | Self::Rewind
            | Self::SetRate
            | Self::ReturnToAnchor
            | Self::SetAnchor
            | Self::CorrectEvent
            | Self::ManipulateEvent
            | Self::EncryptData
            | Self::DecryptData
            | Self::EraseData
            | Self::EraseEvents
            | Self::EraseReads
            | Self::SetAccessControl
            | Self::DetectTampering
            | Self::DeleteUser
            | Self::RestrictTimeTravel
            | Self::RevokeApiKey
            | Self::LogIn
            | Self::LogOut
            | Self::RenewSession
            | Self::SetPassword
            | Self::Read
            | Self::Reads
            | Self::Adopt
            | Self::HandedOver
            | Self::LayerErased
            | Self::SetRetention
            | Self::SetFault
            | Self::AcceptHostClock
            | Self::SetTimer
            | Self::ChangeTimer
            | Self::CancelTimer
            | Self::RestoreTimers => Nobody::Never,
        }
    }

    /// Returns whether it may take something from the directory that let somebody in. Permissions and timelines that end are
    /// not in it: whoever writes there waits for the same lock.
    pub(crate) const fn revokes(self) -> bool {
        match self {
            Self::DeleteUser
            | Self::RestrictTimeTravel
            | Self::RevokeApiKey
            | Self::LogOut
            | Self::EndSession
            | Self::SetPassword => true,
            Self::CreateTimeline
            | Self::EndTimeline
            | Self::Travel
            | Self::PauseTime
            | Self::ResumeTime
            | Self::FastForward
            | Self::Rewind
            | Self::SetRate
            | Self::ReturnToAnchor
            | Self::SetAnchor
            | Self::RecordEvent
            | Self::CorrectEvent
            | Self::ManipulateEvent
            | Self::EncryptData
            | Self::DecryptData
            | Self::EraseData
            | Self::EraseEvents
            | Self::EraseReads
            | Self::SetAccessControl
            | Self::DetectTampering
            | Self::CreateUser
            | Self::CreateApiKey
            | Self::LogIn
            | Self::RenewSession
            | Self::Read
            | Self::Reads
            | Self::Attempt
            | Self::AttemptsCounted
            | Self::RotateSigningKey
            | Self::AcceptRollback
            | Self::Adopt
            | Self::HandedOver
            | Self::LayerErased
            | Self::SetRetention
            | Self::SetFault
            | Self::Sweep
            | Self::AcceptHostClock
            | Self::Heads
            | Self::SetTimer
            | Self::ChangeTimer
            | Self::CancelTimer
            | Self::FireTimers
            | Self::SettleFirings
            | Self::EndAdvance
            | Self::RestoreTimers => false,
        }
    }
}
