//! Ledger actions and their properties, in one table.

use timenav_core::access::Demand;
use timenav_core::ledger::LeafRecord;

mod facts;
#[cfg(test)]
mod tests;

pub use facts::Topic;
pub(crate) use facts::{Audience, Demanded, Erases, MissingActor, OnAdvance, OnClock, OnDirectory, OnEvents, OnTimers};
use facts::{Facts, admins, readers};

const ADMINISTER: Demanded = Demanded::All(&[Demand::Administer]);
const CREATE: Demanded = Demanded::All(&[Demand::Create]);
const ERASE: Demanded = Demanded::All(&[Demand::Erase]);
/// After a handover nobody can change the timeline here, so it also requires the permission to erase.
const HAND_OVER: Demanded = Demanded::All(&[Demand::Look, Demand::Administer, Demand::Erase]);
const INSPECT: Demanded = Demanded::All(&[Demand::Inspect]);
const INTERVENE: Demanded = Demanded::All(&[Demand::Intervene]);
const OPERATE: Demanded = Demanded::All(&[Demand::Operate]);
const RECORD: Demanded = Demanded::All(&[Demand::Record]);
const SET_RATE: Demanded = Demanded::All(&[Demand::SetRate]);
const STEER: Demanded = Demanded::All(&[Demand::Steer]);

/// Generates the enum, the list of all actions, and their properties.
macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident = $word:literal: $facts:expr,)+) => {
        /// `docs/logging.md` lists the actions, and the timeline on which each is recorded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $($(#[$doc])* $name,)+
        }

        impl Action {
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                }
            }

            /// `None` for an action that this version does not write.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$name),)+
                    _ => None,
                }
            }

            const fn facts(self) -> Facts {
                match self {
                    $(Self::$name => $facts,)+
                }
            }
        }
    };
}

// `readers` or `admins`: who may see the payload. In parentheses: the permission required for the action.
actions! {
    CreateTimeline = "create_timeline": readers(CREATE).topic(Topic::Clock).missing_actor(MissingActor::FirstStart),
    EndTimeline = "end_timeline": admins(Demanded::Nothing).missing_actor(MissingActor::Service),
    /// The clock was set to an instant, to a place, or both.
    Travel = "travel": readers(STEER).clock(OnClock::Travels).advance(OnAdvance::BeginsOrEnds),
    PauseTime = "pause_time": readers(STEER).clock(OnClock::Pauses).advance(OnAdvance::BeginsOrEnds),
    ResumeTime = "resume_time": readers(STEER).clock(OnClock::Resumes),
    FastForward = "fast_forward": readers(STEER).clock(OnClock::GoesOn).advance(OnAdvance::BeginsOrEnds),
    Rewind = "rewind": readers(STEER).clock(OnClock::GoesBack),
    SetRate = "set_rate": readers(SET_RATE).clock(OnClock::SetsRate),
    ReturnToAnchor = "return_to_anchor": readers(STEER).clock(OnClock::Returns),
    SetAnchor = "set_anchor": readers(STEER),
    RecordEvent = "record_event": readers(RECORD).events(OnEvents::Records).missing_actor(MissingActor::Timer),
    CorrectEvent = "correct_event": readers(RECORD).events(OnEvents::Corrects),
    /// An intervention changed, canceled or restored an event.
    ManipulateEvent = "manipulate_event": readers(INTERVENE).events(OnEvents::Intervenes),
    EncryptData = "encrypt_data": admins(RECORD),
    DecryptData = "decrypt_data": admins(INSPECT),
    /// The content of an event or a sealed record was erased.
    EraseData = "erase_data": readers(ERASE).erases(Erases::Data),
    /// All versions of events were erased.
    EraseEvents = "erase_events": readers(ERASE).erases(Erases::Events),
    EraseReads = "erase_reads": admins(ERASE).erases(Erases::Reads),
    SetAccessControl = "set_access_control": admins(ADMINISTER),
    DetectTampering = "detect_tampering": admins(INSPECT),
    CreateUser = "create_user": admins(OPERATE).directory(OnDirectory::MakesUser).missing_actor(MissingActor::FirstStart),
    DeleteUser = "delete_user": admins(OPERATE).directory(OnDirectory::RemovesUser),
    RestrictTimeTravel = "restrict_time_travel": admins(OPERATE).directory(OnDirectory::RestrictsUser),
    CreateApiKey = "create_api_key": admins(Demanded::Own).directory(OnDirectory::MakesKey).missing_actor(MissingActor::FirstStart),
    RevokeApiKey = "revoke_api_key": admins(Demanded::Own).directory(OnDirectory::StopsKey),
    LogIn = "log_in": admins(Demanded::Nothing).directory(OnDirectory::LogsIn),
    /// A user ended their session, or all of them.
    LogOut = "log_out": admins(Demanded::Own).directory(OnDirectory::EndsSessions),
    RenewSession = "renew_session": admins(Demanded::Nothing).directory(OnDirectory::RenewsSession),
    /// A session was ended from outside of it.
    EndSession = "end_session": admins(Demanded::Own).directory(OnDirectory::EndsSessions).missing_actor(MissingActor::Service),
    SetPassword = "set_password": admins(Demanded::Own).directory(OnDirectory::SetsPassword),
    /// Earlier versions wrote one entry per read.
    Read = "read": admins(Demanded::Reading),
    Reads = "reads": admins(Demanded::Reading),
    Attempt = "unauthorized_access_attempt": admins(Demanded::Nothing).missing_actor(MissingActor::Stranger),
    /// Rejected attempts without valid credentials, as a count.
    AttemptsCounted = "unauthorized_access_attempts": admins(Demanded::Nothing).missing_actor(MissingActor::Stranger),
    RotateSigningKey = "rotate_signing_key": admins(Demanded::Service).missing_actor(MissingActor::Service),
    /// An operator accepted that the database differs from what was signed.
    AcceptRollback = "accept_rollback": admins(Demanded::Service).missing_actor(MissingActor::Service),
    Adopt = "adopt": admins(CREATE),
    /// A timeline was handed over to another service. Nothing is written to it here any more.
    HandedOver = "handed_over": admins(HAND_OVER),
    /// Content of a layer that came with a fork was erased at the other service, after the fork.
    LayerErased = "layer_erased": admins(ADMINISTER).erases(Erases::OfLayer),
    SetRetention = "set_retention": admins(ADMINISTER),
    SetFault = "set_fault": admins(RECORD),
    /// Contents of reads or refusals were pruned.
    Sweep = "sweep": admins(ADMINISTER).erases(Erases::Contents).missing_actor(MissingActor::Service),
    AcceptHostClock = "accept_host_clock": admins(OPERATE),
    /// `system` was committed to the trees of other timelines, for witnesses to cosign.
    Heads = "heads": admins(Demanded::Service).missing_actor(MissingActor::Service),
    SetTimer = "set_timer": readers(RECORD).timers(OnTimers::Sets),
    ChangeTimer = "change_timer": readers(RECORD).timers(OnTimers::Changes),
    CancelTimer = "cancel_timer": readers(RECORD).timers(OnTimers::Cancels),
    /// Timers fell due. In an advance, the clock reached their instant.
    FireTimers = "fire_timers": readers(Demanded::Service).advance(OnAdvance::Steps).timers(OnTimers::Fires).missing_actor(MissingActor::Service),
    SettleFirings = "settle_firings": readers(RECORD).timers(OnTimers::Settles).missing_actor(MissingActor::Service),
    EndAdvance = "end_advance": readers(Demanded::Service).topic(Topic::Clock).advance(OnAdvance::BeginsOrEnds).missing_actor(MissingActor::Service),
    /// Timers were restored to their state at another instant, or on another timeline.
    RestoreTimers = "restore_timers": readers(STEER).timers(OnTimers::Restores),
}

impl Action {
    /// Returns the action of an entry; `None` if another version or program has written an unknown one.
    #[must_use]
    pub fn of(record: &LeafRecord<'_>) -> Option<Self> {
        Self::parse(&record.action)
    }

    /// Returns the topic of an entry, if listeners can subscribe to it. The first entry of a timeline records its
    /// clock. Messages about advances are sent in addition, and the steps of an advance count as clock changes while
    /// they are the newest.
    #[must_use]
    pub const fn topic(self) -> Option<Topic> {
        self.facts().topic
    }

    #[must_use]
    pub const fn is_visible_to_readers(self) -> bool {
        matches!(self.audience(), Audience::Readers)
    }

    /// Readers can derive the clock, anchors, events and erasures from the payloads they see.
    pub(crate) const fn audience(self) -> Audience {
        self.facts().audience
    }

    /// The required permissions. Both the writer and a scan check them.
    pub(crate) const fn demands(self) -> Demanded {
        self.facts().demands
    }

    pub(crate) const fn missing_actor(self) -> MissingActor {
        self.facts().missing_actor
    }

    /// Returns the effect on an event; `None` if it neither creates nor ends a version.
    pub(crate) const fn on_events(self) -> Option<OnEvents> {
        self.facts().events
    }

    pub(crate) const fn changes_events(self) -> bool {
        self.on_events().is_some()
    }

    pub(crate) const fn erases_events(self) -> bool {
        matches!(self.erases(), Some(Erases::Data | Erases::Events))
    }

    /// Returns the clock command; `None` if entries of the action do not record one.
    pub(crate) const fn on_clock(self) -> Option<OnClock> {
        self.facts().clock
    }

    pub(crate) const fn on_timers(self) -> Option<OnTimers> {
        self.facts().timers
    }

    pub(crate) const fn on_advance(self) -> OnAdvance {
        self.facts().advance
    }

    pub(crate) const fn on_directory(self) -> Option<OnDirectory> {
        self.facts().directory
    }

    pub(crate) const fn erases(self) -> Option<Erases> {
        self.facts().erases
    }

    /// Returns whether it may revoke credentials. Permissions and the end of a timeline are not included, because
    /// writers of that timeline wait for the same lock.
    pub(crate) const fn revokes(self) -> bool {
        match self.on_directory() {
            Some(
                OnDirectory::RemovesUser
                | OnDirectory::RestrictsUser
                | OnDirectory::StopsKey
                | OnDirectory::EndsSessions
                | OnDirectory::SetsPassword,
            ) => true,
            Some(OnDirectory::MakesUser | OnDirectory::MakesKey | OnDirectory::LogsIn | OnDirectory::RenewsSession)
            | None => false,
        }
    }
}
