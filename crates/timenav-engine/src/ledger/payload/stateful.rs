use timenav_core::ledger::Retention;

use super::{
    AdvanceOver, AnchorSet, ClockChanged, DataEncrypted, FaultSet, FiringsSettled, PermissionsPayload, TimelineCreated,
    TimerCancelled, TimerSet, TimersFired, TimersRestored,
};
use crate::ledger::action::Action;
use crate::requests::json::{json, read};

/// The payload of an entry that changes the state of its timeline, apart from events, erasures and the directory.
pub(crate) enum StatePayload<'a> {
    Created(TimelineCreated),
    Clock(ClockChanged),
    AdvanceEnded(AdvanceOver),
    Anchor(AnchorSet),
    Permissions(PermissionsPayload),
    Retention(Retention),
    Sealed(DataEncrypted),
    Fault(FaultSet),
    TimerSet(TimerSet<'a>),
    TimerChanged(TimerSet<'a>),
    TimerCancelled(TimerCancelled),
    TimersFired(TimersFired),
    FiringsSettled(FiringsSettled),
    TimersRestored(TimersRestored<'a>),
}

impl<'a> StatePayload<'a> {
    /// `None` if the payload is invalid, or if the action has none of this kind.
    pub(crate) fn read(action: Action, payload: &'a [u8]) -> Option<Self> {
        Some(match action {
            Action::CreateTimeline => Self::Created(read(payload)?),
            Action::Travel
            | Action::PauseTime
            | Action::ResumeTime
            | Action::FastForward
            | Action::Rewind
            | Action::SetRate
            | Action::ReturnToAnchor => Self::Clock(read(payload)?),
            Action::EndAdvance => Self::AdvanceEnded(read(payload)?),
            Action::SetAnchor => Self::Anchor(read(payload)?),
            Action::SetAccessControl => Self::Permissions(read(payload)?),
            Action::SetRetention => Self::Retention(Retention::decode(payload).ok()?),
            Action::EncryptData => Self::Sealed(read(payload)?),
            Action::SetFault => Self::Fault(read(payload)?),
            Action::SetTimer => Self::TimerSet(read(payload)?),
            Action::ChangeTimer => Self::TimerChanged(read(payload)?),
            Action::CancelTimer => Self::TimerCancelled(read(payload)?),
            Action::FireTimers => Self::TimersFired(read(payload)?),
            Action::SettleFirings => Self::FiringsSettled(read(payload)?),
            Action::RestoreTimers => Self::TimersRestored(read(payload)?),
            // Events, and what is erased of them: `EventChange` and `Erasure`.
            Action::RecordEvent
            | Action::CorrectEvent
            | Action::ManipulateEvent
            | Action::EraseData
            | Action::EraseEvents
            | Action::EraseReads
            | Action::LayerErased
            | Action::Sweep
            // Users, credentials, and the list of timelines: `DirectoryChange`.
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
            | Action::EndTimeline
            // No rows but the entry itself.
            | Action::DecryptData
            | Action::DetectTampering
            | Action::Read
            | Action::Reads
            | Action::Attempt
            | Action::AttemptsCounted
            | Action::RotateSigningKey
            | Action::AcceptRollback
            | Action::AcceptHostClock
            | Action::Heads
            // Written by earlier versions only.
            | Action::Adopt
            | Action::HandedOver => return None,
        })
    }

    pub(crate) fn written(&self) -> String {
        match self {
            Self::Created(created) => json(created),
            Self::Clock(changed) => json(changed),
            Self::AdvanceEnded(ended) => json(ended),
            Self::Anchor(set) => json(set),
            Self::Permissions(set) => json(set),
            Self::Retention(retention) => String::from_utf8_lossy(&retention.encode()).into_owned(),
            Self::Sealed(sealed) => json(sealed),
            Self::Fault(set) => json(set),
            Self::TimerSet(set) | Self::TimerChanged(set) => json(set),
            Self::TimerCancelled(cancelled) => json(cancelled),
            Self::TimersFired(fired) => json(fired),
            Self::FiringsSettled(settled) => json(settled),
            Self::TimersRestored(restored) => json(restored),
        }
    }
}
