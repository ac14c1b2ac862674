//! What an entry says was done, and what follows from that: one row for each action.

use timenav_core::access::Demand;
use timenav_core::ledger::LeafRecord;

mod facts;
#[cfg(test)]
mod tests;

pub use facts::Topic;
pub(crate) use facts::{Audience, Demanded, Erases, Nobody, OnAdvance, OnClock, OnDirectory, OnEvents, OnTimers};
use facts::{Facts, admins, readers};

const ADMINISTER: Demanded = Demanded::All(&[Demand::Administer]);
const CREATE: Demanded = Demanded::All(&[Demand::Create]);
const ERASE: Demanded = Demanded::All(&[Demand::Erase]);
/// Nobody could change the timeline here any more, so it took the right to change it too.
const HAND_OVER: Demanded = Demanded::All(&[Demand::Look, Demand::Administer, Demand::Erase]);
const INSPECT: Demanded = Demanded::All(&[Demand::Inspect]);
const INTERVENE: Demanded = Demanded::All(&[Demand::Intervene]);
const OPERATE: Demanded = Demanded::All(&[Demand::Operate]);
const RECORD: Demanded = Demanded::All(&[Demand::Record]);
const SET_RATE: Demanded = Demanded::All(&[Demand::SetRate]);
const STEER: Demanded = Demanded::All(&[Demand::Steer]);

/// Makes the enum, the list of all actions, and what is known of each.
macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident = $word:literal: $facts:expr,)+) => {
        /// What an entry says was done. `docs/logging.md` lists the actions, and on which timeline each is recorded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $($(#[$doc])* $name,)+
        }

        impl Action {
            /// Every action.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Returns the word for it in the ledger.
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

            const fn facts(self) -> Facts {
                match self {
                    $(Self::$name => $facts,)+
                }
            }
        }
    };
}

// `readers` or `admins` are shown what an entry says; in brackets is the permission that it takes to do it.
actions! {
    /// A timeline was made.
    CreateTimeline = "create_timeline": readers(CREATE).topic(Topic::Clock).by_nobody(Nobody::FirstStart),
    /// A timeline has ended.
    EndTimeline = "end_timeline": admins(Demanded::Nothing).by_nobody(Nobody::Service),
    /// The clock was set to a moment, or to a place.
    Travel = "travel": readers(STEER).clock(OnClock::Travels).advance(OnAdvance::BeginsOrEnds),
    /// The clock was paused.
    PauseTime = "pause_time": readers(STEER).clock(OnClock::Pauses).advance(OnAdvance::BeginsOrEnds),
    /// The clock was resumed.
    ResumeTime = "resume_time": readers(STEER).clock(OnClock::Resumes),
    /// The clock was put forward.
    FastForward = "fast_forward": readers(STEER).clock(OnClock::GoesOn).advance(OnAdvance::BeginsOrEnds),
    /// The clock was put back.
    Rewind = "rewind": readers(STEER).clock(OnClock::GoesBack),
    /// The clock was given another rate.
    SetRate = "set_rate": readers(SET_RATE).clock(OnClock::SetsRate),
    /// The clock was taken back to an anchor.
    ReturnToAnchor = "return_to_anchor": readers(STEER).clock(OnClock::Returns),
    /// A moment was marked.
    SetAnchor = "set_anchor": readers(STEER),
    /// An event was recorded.
    RecordEvent = "record_event": readers(RECORD).events(OnEvents::Records).by_nobody(Nobody::Timer),
    /// An event was recorded anew.
    CorrectEvent = "correct_event": readers(RECORD).events(OnEvents::Corrects),
    /// Something was done to an event.
    ManipulateEvent = "manipulate_event": readers(INTERVENE).events(OnEvents::Intervenes),
    /// Data was sealed.
    EncryptData = "encrypt_data": admins(RECORD),
    /// Sealed data was opened.
    DecryptData = "decrypt_data": admins(INSPECT),
    /// The content of an event or a sealed record was erased.
    EraseData = "erase_data": readers(ERASE).erases(Erases::Data),
    /// Events were erased, with every version of them.
    EraseEvents = "erase_events": readers(ERASE).erases(Erases::Events),
    /// Single reads were erased, of an entry that tells of many.
    EraseReads = "erase_reads": admins(ERASE).erases(Erases::Reads),
    /// It was said who may do what.
    SetAccessControl = "set_access_control": admins(ADMINISTER),
    /// Somebody looked for tampering.
    DetectTampering = "detect_tampering": admins(INSPECT),
    /// A user was made.
    CreateUser = "create_user": admins(OPERATE).directory(OnDirectory::MakesUser).by_nobody(Nobody::FirstStart),
    /// A user was removed.
    DeleteUser = "delete_user": admins(OPERATE).directory(OnDirectory::RemovesUser),
    /// A user's time travel was restricted.
    RestrictTimeTravel = "restrict_time_travel": admins(OPERATE).directory(OnDirectory::RestrictsUser),
    /// An API key was made.
    CreateApiKey = "create_api_key": admins(Demanded::Own).directory(OnDirectory::MakesKey).by_nobody(Nobody::FirstStart),
    /// An API key was stopped.
    RevokeApiKey = "revoke_api_key": admins(Demanded::Own).directory(OnDirectory::StopsKey),
    /// A session began.
    LogIn = "log_in": admins(Demanded::Nothing).directory(OnDirectory::LogsIn),
    /// Somebody ended their session, or all of them.
    LogOut = "log_out": admins(Demanded::Own).directory(OnDirectory::EndsSessions),
    /// A session went on.
    RenewSession = "renew_session": admins(Demanded::Nothing).directory(OnDirectory::RenewsSession),
    /// A session was ended.
    EndSession = "end_session": admins(Demanded::Own).directory(OnDirectory::EndsSessions).by_nobody(Nobody::Service),
    /// A password was set.
    SetPassword = "set_password": admins(Demanded::Own).directory(OnDirectory::SetsPassword),
    /// Something was read: an entry of earlier versions, which had one for each read.
    Read = "read": admins(Demanded::Reading),
    /// Things were read, each by somebody.
    Reads = "reads": admins(Demanded::Reading),
    /// Somebody was refused.
    Attempt = "unauthorized_access_attempt": admins(Demanded::Nothing).by_nobody(Nobody::Stranger),
    /// Strangers were refused, so many.
    AttemptsCounted = "unauthorized_access_attempts": admins(Demanded::Nothing).by_nobody(Nobody::Stranger),
    /// Another key began to sign.
    RotateSigningKey = "rotate_signing_key": admins(Demanded::Service).by_nobody(Nobody::Service),
    /// The service started although the database is not what was signed.
    AcceptRollback = "accept_rollback": admins(Demanded::Service).by_nobody(Nobody::Service),
    /// A timeline of another service goes on here.
    Adopt = "adopt": admins(CREATE),
    /// A timeline goes on at another service, and nothing is written to it here any more.
    HandedOver = "handed_over": admins(HAND_OVER),
    /// Something of a timeline that came with a fork was erased at the other service after it was forked.
    LayerErased = "layer_erased": admins(ADMINISTER).erases(Erases::OfLayer),
    /// It was said how long reads and refusals are kept.
    SetRetention = "set_retention": admins(ADMINISTER),
    /// It was said how the clock of somebody who follows it is wrong.
    SetFault = "set_fault": admins(RECORD),
    /// Contents of reads or refusals were let go.
    Sweep = "sweep": admins(ADMINISTER).erases(Erases::Contents).by_nobody(Nobody::Service),
    /// An operator said that the host's clock is right.
    AcceptHostClock = "accept_host_clock": admins(OPERATE),
    /// `system` was committed to the trees of other timelines, for witnesses to cosign.
    Heads = "heads": admins(Demanded::Service).by_nobody(Nobody::Service),
    /// A timer was set.
    SetTimer = "set_timer": readers(RECORD).timers(OnTimers::Sets),
    /// A timer was changed.
    ChangeTimer = "change_timer": readers(RECORD).timers(OnTimers::Changes),
    /// A timer was cancelled.
    CancelTimer = "cancel_timer": readers(RECORD).timers(OnTimers::Cancels),
    /// Moments of timers fell due; in an advance, the clock came to them.
    FireTimers = "fire_timers": readers(Demanded::Service).advance(OnAdvance::Steps).timers(OnTimers::Fires).by_nobody(Nobody::Service),
    /// Firings came to their outcomes.
    SettleFirings = "settle_firings": readers(RECORD).timers(OnTimers::Settles).by_nobody(Nobody::Service),
    /// A clock change that passed timers one by one came to its end.
    EndAdvance = "end_advance": readers(Demanded::Service).topic(Topic::Clock).advance(OnAdvance::BeginsOrEnds).by_nobody(Nobody::Service),
    /// Timers stand as they did at another moment, or on another timeline.
    RestoreTimers = "restore_timers": readers(STEER).timers(OnTimers::Restores),
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
        self.facts().topic
    }

    /// Returns whether whoever may read a timeline is shown what its entries of this action say.
    #[must_use]
    pub const fn is_shown_to_readers(self) -> bool {
        matches!(self.audience(), Audience::Readers)
    }

    /// Returns who may see what an entry says. A reader can make clock, anchors, events and erasures from what they see.
    pub(crate) const fn audience(self) -> Audience {
        self.facts().audience
    }

    /// Returns what whoever does it must be allowed to. The writer asks core for that, and so does a scan.
    pub(crate) const fn demands(self) -> Demanded {
        self.facts().demands
    }

    /// Returns who may have done it where an entry names nobody.
    pub(crate) const fn by_nobody(self) -> Nobody {
        self.facts().by_nobody
    }

    /// Returns what it does to an event; `None` where it makes no version of one and ends none.
    pub(crate) const fn on_events(self) -> Option<OnEvents> {
        self.facts().events
    }

    /// Returns whether events stand otherwise after it.
    pub(crate) const fn changes_events(self) -> bool {
        self.on_events().is_some()
    }

    /// Returns whether it may take the content of an event away.
    pub(crate) const fn erases_events(self) -> bool {
        matches!(self.erases(), Some(Erases::Data | Erases::Events))
    }

    /// Returns what was asked of a clock; `None` where an entry does not say that anything was.
    pub(crate) const fn on_clock(self) -> Option<OnClock> {
        self.facts().clock
    }

    /// Returns what it does to timers; `None` where that is nothing.
    pub(crate) const fn on_timers(self) -> Option<OnTimers> {
        self.facts().timers
    }

    /// Returns what it does to an advance.
    pub(crate) const fn on_advance(self) -> OnAdvance {
        self.facts().advance
    }

    /// Returns what it does to users, keys, sessions or passwords; `None` where that is nothing.
    pub(crate) const fn on_directory(self) -> Option<OnDirectory> {
        self.facts().directory
    }

    /// Returns what it says is gone; `None` where that is nothing.
    pub(crate) const fn erases(self) -> Option<Erases> {
        self.facts().erases
    }

    /// Returns whether it may take something from the directory that let somebody in. Permissions and timelines that end are
    /// not in it: whoever writes there waits for the same lock.
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
