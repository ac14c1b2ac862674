//! What an operator may choose.

use timenav_core::limits::{
    DATA_RECORDS_PER_TIMELINE_MAX, ENDED_GRACE_DAYS_DEFAULT, HOST_CLOCK_OFFSET_MILLIS_MAX_DEFAULT,
    LIMITED_ACCESS_WINDOW_DAYS_DEFAULT, RETENTION_FLOOR_SECONDS_DEFAULT, SESSION_IDLE_SECONDS_DEFAULT,
    SESSION_SECONDS_DEFAULT, STREAM_ENTRIES_MAX, TIMELINES_MAX, TIMELINES_PER_USER_MAX_DEFAULT, USERS_MAX,
    VIEWS_EVENTS_MAX, WITNESS_WAIT_SECONDS_DEFAULT,
};
use timenav_core::time::Span;

use timenav_core::directory::SessionSpans;

use crate::outside::KeptOutside;

/// The feature level that this version knows. It goes up by one in a version that writes something which the one before
/// would misread, or changes tables. Such a version writes as the level of the database says, so that both can run side by
/// side.
pub const FEATURE_LEVEL: u64 = 7;
/// The oldest feature level that this version works with.
pub const OLDEST_FEATURE_LEVEL: u64 = 2;
/// From which feature level on a fork may send webhooks of the timers that it took along. A version of level 1 does not know
/// what a head says of that, and leaves it out when it writes the head anew.
pub(crate) const LEVEL_OF_SENDING_FORKS: u64 = 2;
/// From which feature level on services on one database tell each other who follows clocks. It brings their table.
pub(crate) const LEVEL_OF_SHARED_FOLLOWERS: u64 = 3;
/// From which feature level on a head says whose clock is shown wrong. A version of level 3 leaves that out when it writes the
/// head anew.
pub(crate) const LEVEL_OF_FAULTS: u64 = 4;
/// From which feature level on permissions may expire. It brings the column that says when; a version of level 4 would let
/// somebody in whose permission has expired.
pub(crate) const LEVEL_OF_EXPIRING_PERMISSIONS: u64 = 5;
/// From which feature level on events are found that last into a range. It brings the column that says how long they last,
/// which a version of level 5 leaves empty.
pub(crate) const LEVEL_OF_OVERLAPPING: u64 = 6;
/// From which feature level on what is signed with a head covers how long reads and refusals are kept, whose entries the
/// ledger begins with, and whether it was handed over. A version of level 6 would take such a head for one that was changed.
pub(crate) const LEVEL_OF_HELD: u64 = 7;

/// When the entry of a successful read is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadLog {
    /// Before the read is answered.
    #[default]
    Durable,
    /// Soon after. A crash may lose the entries of reads that were answered in the last moments;
    /// changes and refusals are durable before they are answered all the same.
    Buffered,
}

/// What an operator says who accepts that a database was taken back. The entries `accept_rollback` have it.
#[derive(Clone, Debug, Default)]
pub struct Acceptance {
    /// Who accepts it; empty where nobody was named.
    pub by: String,
    /// Why; empty where no reason was given.
    pub reason: String,
    /// Signed checkpoints that others have kept, whose loss is accepted with those kept here.
    pub kept: Vec<KeptOutside>,
}

/// What an operator may choose.
#[derive(Clone, Debug)]
pub struct Options {
    /// Stands before the timeline's name in every checkpoint. Never to be changed.
    pub service_name: String,
    /// How far from host time users with `limited_access` may go, in days.
    pub limited_access_window_days: u32,
    /// Whether the first write to an unknown timeline creates it.
    pub timelines_by_first_write: bool,
    /// When the entry of a successful read is durable.
    pub read_log: ReadLog,
    /// How many timelines there may be: the newest state of each is kept in memory.
    pub timelines_max: usize,
    /// How many timelines one user may make, forks among them.
    pub timelines_per_user_max: usize,
    /// For how long the contents of a timeline that has ended stay, in days.
    pub ended_grace_days: u32,
    /// How many users there may be: each is kept in memory.
    pub users_max: usize,
    /// How many records may be sealed on one timeline, erased ones too.
    pub data_records_per_timeline_max: usize,
    /// How long a session lasts that nobody uses, in seconds.
    pub session_idle_seconds: u32,
    /// The maximum length of a session, in seconds.
    pub session_seconds: u32,
    /// How many events and interventions all views of timelines may hold that are kept.
    pub views_events_max: usize,
    /// How many entries a listener may be behind.
    pub stream_entries_max: u64,
    /// The least that reads and refusals are kept where a timeline lets them go, in seconds.
    pub retention_floor_seconds: u32,
    /// What is told where the service starts although the database is behind the checkpoints kept outside it; `None`
    /// where it does not.
    pub accept_rollback: Option<Acceptance>,
    /// Whether nothing has to be kept outside yet of what the store holds: another service has written it.
    pub joins: bool,
    /// What others have kept of it, for one that joins.
    pub kept_by_others: Vec<KeptOutside>,
    /// How far the host's clock may be from the database's, in milliseconds; 0 where they are not compared.
    pub host_clock_offset_millis_max: u32,
    /// How many witnesses must vouch for a change before it is answered; 0 where answers wait for none.
    pub witnesses_required: usize,
    /// How long such an answer waits.
    pub witness_wait: Span,
    /// By which the operator knows this one of several services.
    pub replica_name: String,
    /// The version of the program, for operators.
    pub version: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            service_name: "timenav.local".to_owned(),
            limited_access_window_days: LIMITED_ACCESS_WINDOW_DAYS_DEFAULT,
            timelines_by_first_write: true,
            read_log: ReadLog::default(),
            timelines_max: TIMELINES_MAX,
            timelines_per_user_max: TIMELINES_PER_USER_MAX_DEFAULT,
            ended_grace_days: ENDED_GRACE_DAYS_DEFAULT,
            users_max: USERS_MAX,
            data_records_per_timeline_max: DATA_RECORDS_PER_TIMELINE_MAX,
            session_idle_seconds: SESSION_IDLE_SECONDS_DEFAULT,
            session_seconds: SESSION_SECONDS_DEFAULT,
            views_events_max: VIEWS_EVENTS_MAX,
            stream_entries_max: STREAM_ENTRIES_MAX,
            retention_floor_seconds: RETENTION_FLOOR_SECONDS_DEFAULT,
            accept_rollback: None,
            joins: false,
            kept_by_others: Vec::new(),
            host_clock_offset_millis_max: HOST_CLOCK_OFFSET_MILLIS_MAX_DEFAULT,
            witnesses_required: 0,
            witness_wait: Span::from_micros(i64::from(WITNESS_WAIT_SECONDS_DEFAULT) * 1_000_000),
            replica_name: String::new(),
            version: String::new(),
        }
    }
}

impl Options {
    /// Returns for how long the contents of a timeline that has ended stay.
    #[must_use]
    pub fn ended_grace(&self) -> Span {
        Span::from_micros(i64::from(self.ended_grace_days) * 86_400_000_000)
    }

    /// Returns how long sessions last.
    #[must_use]
    pub fn session_spans(&self) -> SessionSpans {
        SessionSpans { idle: seconds(self.session_idle_seconds), most: seconds(self.session_seconds) }
    }
}

fn seconds(count: u32) -> Span {
    Span::from_micros(i64::from(count) * 1_000_000)
}
