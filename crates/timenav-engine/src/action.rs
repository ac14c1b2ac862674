//! What an entry says was done.
//!
//! No match on an [`Action`] has an arm for all others: who adds one is told by the compiler who reads it.

use timenav_core::access::Demand;
use timenav_core::ledger::LeafRecord;

mod audience;
mod readers;
#[cfg(test)]
mod tests;

pub(crate) use readers::{Erases, Nobody, OnAdvance, OnClock, OnTimers};

/// Makes the enum, the list of all, and both ways between an action and its word of one list.
macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)+) => {
        /// What an entry says was done. `docs/logging.md` tells of what and on which timeline.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $($(#[$doc])* $name,)+
        }

        impl Action {
            /// Every action.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Returns the word that stands in the ledger.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                }
            }

            /// Returns the action of a word; `None` for one that this version does not write.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$name),)+
                    _ => None,
                }
            }
        }
    };
}

actions! {
    /// A timeline was made.
    CreateTimeline = "create_timeline",
    /// A timeline has ended.
    EndTimeline = "end_timeline",
    /// The clock was set to a moment, or to a place.
    Travel = "travel",
    /// The clock was paused.
    PauseTime = "pause_time",
    /// The clock was resumed.
    ResumeTime = "resume_time",
    /// The clock was put forward.
    FastForward = "fast_forward",
    /// The clock was put back.
    Rewind = "rewind",
    /// The clock was given another rate.
    SetRate = "set_rate",
    /// The clock was taken back to an anchor.
    ReturnToAnchor = "return_to_anchor",
    /// A moment was marked.
    SetAnchor = "set_anchor",
    /// An event was recorded.
    RecordEvent = "record_event",
    /// An event was recorded anew.
    CorrectEvent = "correct_event",
    /// Something was done to an event.
    ManipulateEvent = "manipulate_event",
    /// Data was sealed.
    EncryptData = "encrypt_data",
    /// Sealed data was opened.
    DecryptData = "decrypt_data",
    /// The content of an event or a sealed record was erased.
    EraseData = "erase_data",
    /// Events were erased, with every version of them.
    EraseEvents = "erase_events",
    /// Single reads were erased, of an entry that tells of many.
    EraseReads = "erase_reads",
    /// It was said who may do what.
    SetAccessControl = "set_access_control",
    /// Somebody looked for tampering.
    DetectTampering = "detect_tampering",
    /// A user was made.
    CreateUser = "create_user",
    /// A user was removed.
    DeleteUser = "delete_user",
    /// A user's time travel was restricted.
    RestrictTimeTravel = "restrict_time_travel",
    /// An API key was made.
    CreateApiKey = "create_api_key",
    /// An API key was stopped.
    RevokeApiKey = "revoke_api_key",
    /// A session began.
    LogIn = "log_in",
    /// Somebody ended their session, or all of them.
    LogOut = "log_out",
    /// A session went on.
    RenewSession = "renew_session",
    /// A session was ended.
    EndSession = "end_session",
    /// A password was set.
    SetPassword = "set_password",
    /// Something was read: an entry of earlier versions, which had one for each read.
    Read = "read",
    /// Things were read, each by somebody.
    Reads = "reads",
    /// Somebody was refused.
    Attempt = "unauthorized_access_attempt",
    /// Strangers were refused, so many.
    AttemptsCounted = "unauthorized_access_attempts",
    /// Another key began to sign.
    RotateSigningKey = "rotate_signing_key",
    /// The service started although the database is not what was signed.
    AcceptRollback = "accept_rollback",
    /// A timeline of another service goes on here.
    Adopt = "adopt",
    /// A timeline goes on at another service, and nothing is written to it here any more.
    HandedOver = "handed_over",
    /// Something of a timeline that came with a fork was erased at the other service after it was forked.
    LayerErased = "layer_erased",
    /// It was said how long reads and refusals are kept.
    SetRetention = "set_retention",
    /// It was said how the clock of somebody who follows it is wrong.
    SetFault = "set_fault",
    /// Contents of reads or refusals were let go.
    Sweep = "sweep",
    /// An operator said that the host's clock is right.
    AcceptHostClock = "accept_host_clock",
    /// `system` was committed to the trees of other timelines, for witnesses to cosign.
    Heads = "heads",
    /// A timer was set.
    SetTimer = "set_timer",
    /// A timer was changed.
    ChangeTimer = "change_timer",
    /// A timer was cancelled.
    CancelTimer = "cancel_timer",
    /// Moments of timers fell due; in an advance, the clock came to them.
    FireTimers = "fire_timers",
    /// Firings came to their outcomes.
    SettleFirings = "settle_firings",
    /// A clock change that passed timers one by one came to its end.
    EndAdvance = "end_advance",
    /// Timers stand as they did at another moment, or on another timeline.
    RestoreTimers = "restore_timers",
}

/// What a listener may ask to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Changes of the clock.
    Clock,
    /// Events that are recorded or corrected.
    Events,
    /// Interventions on events.
    Interventions,
    /// Paradoxes that are made and healed.
    Paradoxes,
    /// Clock changes that pass timers one by one: begun, at another instant, ended.
    Advances,
    /// Which stretches of time with events in them the clock has passed.
    Due,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 6] =
        [Self::Clock, Self::Events, Self::Interventions, Self::Paradoxes, Self::Advances, Self::Due];
    /// The topics of a stream that asks for none: what entries tell, and not what a clock does by itself.
    pub const OF_ENTRIES: [Self; 5] = [Self::Clock, Self::Events, Self::Interventions, Self::Paradoxes, Self::Advances];

    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Events => "events",
            Self::Interventions => "interventions",
            Self::Paradoxes => "paradoxes",
            Self::Advances => "advances",
            Self::Due => "due",
        }
    }
}

/// What an action does to events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnEvents {
    /// Another version stands after it, or none.
    Changes,
    /// It may take the content of one away.
    Erases,
    /// Nothing.
    Nothing,
}

/// Who may see what an entry says beside its leaf, which every reader of the timeline is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Whoever may look at the timeline's clock, anchors and events, which these entries make.
    Readers,
    /// Those who administer the timeline.
    Admins,
}

/// What whoever does something must be allowed to, where it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demanded {
    /// All of these.
    All(&'static [Demand]),
    /// To manage what is one's own, or to administer the service where it is somebody else's.
    Own,
    /// What is read says it.
    Reading,
    /// To show who one is.
    Nothing,
    /// To be the service itself.
    Service,
}

impl Action {
    /// Returns what an entry says was done; `None` where another version, or another program, has written another word.
    #[must_use]
    pub fn of(record: &LeafRecord<'_>) -> Option<Self> {
        Self::parse(&record.action)
    }

    /// Returns the topic of an entry, if listeners can ask for it. The first entry of a timeline tells of its clock. What is
    /// told of advances is told beside it, and the steps of one count as changes of the clock while they are the newest.
    #[must_use]
    pub const fn topic(self) -> Option<Topic> {
        match self {
            Self::CreateTimeline
            | Self::Travel
            | Self::PauseTime
            | Self::ResumeTime
            | Self::FastForward
            | Self::Rewind
            | Self::SetRate
            | Self::ReturnToAnchor
            | Self::EndAdvance => Some(Topic::Clock),
            Self::RecordEvent | Self::CorrectEvent => Some(Topic::Events),
            Self::ManipulateEvent => Some(Topic::Interventions),
            Self::SetAnchor
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
            | Self::EndTimeline
            | Self::SetRetention
            | Self::SetFault
            | Self::Sweep
            | Self::AcceptHostClock
            | Self::SetTimer
            | Self::ChangeTimer
            | Self::CancelTimer
            | Self::FireTimers
            | Self::SettleFirings
            | Self::RestoreTimers
            | Self::Heads => None,
        }
    }

    /// Returns what whoever does it must be allowed to. The writer asks core for that, and so does a scan.
    pub(crate) const fn demands(self) -> Demanded {
        match self {
            Self::CreateTimeline | Self::Adopt => Demanded::All(&[Demand::Create]),
            // Nobody can change the timeline here any more, so it takes the right to change it too.
            Self::HandedOver => Demanded::All(&[Demand::Look, Demand::Administer, Demand::Erase]),
            // Who takes history back too must be allowed to intervene; each event that was changed has its entry.
            Self::Travel
            | Self::PauseTime
            | Self::ResumeTime
            | Self::FastForward
            | Self::Rewind
            | Self::ReturnToAnchor
            | Self::SetAnchor
            // It comes with a clock that goes back, or with a fork.
            | Self::RestoreTimers => Demanded::All(&[Demand::Steer]),
            Self::SetRate => Demanded::All(&[Demand::SetRate]),
            Self::RecordEvent | Self::CorrectEvent | Self::EncryptData => Demanded::All(&[Demand::Record]),
            Self::SetTimer | Self::ChangeTimer | Self::CancelTimer | Self::SettleFirings | Self::SetFault => {
                Demanded::All(&[Demand::Record])
            }
            Self::ManipulateEvent => Demanded::All(&[Demand::Intervene]),
            Self::DecryptData | Self::DetectTampering => Demanded::All(&[Demand::Inspect]),
            Self::EraseData | Self::EraseEvents | Self::EraseReads => Demanded::All(&[Demand::Erase]),
            // The service settles firings and sweeps too, and is named by no key then.
            Self::SetAccessControl | Self::LayerErased | Self::SetRetention | Self::Sweep => {
                Demanded::All(&[Demand::Administer])
            }
            Self::CreateUser | Self::DeleteUser | Self::RestrictTimeTravel | Self::AcceptHostClock => {
                Demanded::All(&[Demand::Operate])
            }
            Self::CreateApiKey | Self::RevokeApiKey | Self::LogOut | Self::EndSession | Self::SetPassword => {
                Demanded::Own
            }
            Self::Read | Self::Reads => Demanded::Reading,
            // Who might do what on a timeline that has ended is not told on `system`.
            Self::EndTimeline | Self::LogIn | Self::RenewSession | Self::Attempt | Self::AttemptsCounted => {
                Demanded::Nothing
            }
            Self::RotateSigningKey | Self::AcceptRollback | Self::FireTimers | Self::EndAdvance | Self::Heads => {
                Demanded::Service
            }
        }
    }

    /// Returns what the action does to events.
    pub(crate) const fn on_events(self) -> OnEvents {
        match self {
            Self::RecordEvent | Self::CorrectEvent | Self::ManipulateEvent => OnEvents::Changes,
            Self::EraseData | Self::EraseEvents => OnEvents::Erases,
            Self::CreateTimeline
            | Self::Travel
            | Self::PauseTime
            | Self::ResumeTime
            | Self::FastForward
            | Self::Rewind
            | Self::SetRate
            | Self::ReturnToAnchor
            | Self::SetAnchor
            | Self::EncryptData
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
            | Self::SetFault
            | Self::Sweep
            | Self::AcceptHostClock
            | Self::SetTimer
            | Self::ChangeTimer
            | Self::CancelTimer
            | Self::FireTimers
            | Self::SettleFirings
            | Self::EndAdvance
            | Self::RestoreTimers
            | Self::Heads => OnEvents::Nothing,
        }
    }
}
