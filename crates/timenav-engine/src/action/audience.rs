//! Who may see what entries say.

use super::{Action, Audience};

impl Action {
    /// Returns whether whoever may read a timeline is shown what its entries of this action say.
    #[must_use]
    pub const fn is_shown_to_readers(self) -> bool {
        matches!(self.audience(), Audience::Readers)
    }

    /// Returns who may see what an entry says. A reader can make clock, anchors, events and erasures from what they see.
    pub(crate) const fn audience(self) -> Audience {
        match self {
            Self::CreateTimeline
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
            | Self::EraseData
            | Self::EraseEvents
            | Self::SetTimer
            | Self::ChangeTimer
            | Self::CancelTimer
            | Self::FireTimers
            | Self::SettleFirings
            | Self::EndAdvance
            | Self::RestoreTimers => Audience::Readers,
            Self::EncryptData
            | Self::DecryptData
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
            | Self::EndTimeline
            | Self::SetRetention
            // Readers know of no other's followers.
            | Self::SetFault
            | Self::Sweep
            | Self::AcceptHostClock
            | Self::Heads => Audience::Admins,
        }
    }
}
