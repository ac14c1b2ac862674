use timenav_core::limits::{
    DATA_RECORDS_PER_TIMELINE_MAX, ENDED_GRACE_DAYS_DEFAULT, HOST_CLOCK_OFFSET_MILLIS_MAX_DEFAULT,
    LIMITED_ACCESS_WINDOW_DAYS_DEFAULT, RETENTION_FLOOR_SECONDS_DEFAULT, SESSION_IDLE_SECONDS_DEFAULT,
    SESSION_SECONDS_DEFAULT, STREAM_ENTRIES_MAX, TIMELINES_MAX, TIMELINES_PER_USER_MAX_DEFAULT, USERS_MAX,
    VIEWS_EVENTS_MAX, WITNESS_WAIT_SECONDS_DEFAULT,
};
use timenav_core::time::Span;

use timenav_core::directory::SessionSpans;

use crate::ports::outside::ExternalCheckpoint;

/// The feature level of this version. It is incremented when a version writes something that the previous one would
/// misread, or changes tables. Such a version writes according to the level of the database, so that both can run side
/// by side.
pub const FEATURE_LEVEL: u64 = 8;
pub const OLDEST_FEATURE_LEVEL: u64 = 2;
/// Level from which forks may send webhooks of inherited timers. A version of level 1 does not know this field of a
/// head and drops it when it rewrites the head.
pub(crate) const LEVEL_OF_SENDING_FORKS: u64 = 2;
/// Level from which services on one database share their followers. It adds the table for them.
pub(crate) const LEVEL_OF_SHARED_FOLLOWERS: u64 = 3;
/// Level from which a head includes injected faults. A version of level 3 drops them when it rewrites the head.
pub(crate) const LEVEL_OF_FAULTS: u64 = 4;
/// Level from which permissions may expire. It adds the column for the expiry; a version of level 4 would accept an
/// expired permission.
pub(crate) const LEVEL_OF_EXPIRING_PERMISSIONS: u64 = 5;
/// Level from which events that last into a range are found. It adds the column for their duration, which a version of
/// level 5 leaves empty.
pub(crate) const LEVEL_OF_OVERLAPPING: u64 = 6;
/// Level from which the signed head statement covers retention policies, origins, and handover. A version of level 6
/// would consider such a head to be tampered with.
pub(crate) const LEVEL_OF_HELD: u64 = 7;

/// When the entry of a successful read is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadLog {
    /// Before the response is sent.
    #[default]
    Durable,
    /// Soon after the response. A crash may lose the entries of the latest reads. Changes and refusals are durable
    /// before their response regardless, and so are reads of the ledger, so that they show the reads before them.
    Buffered,
}

/// The object of a read, which determines how the read is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOf {
    /// The position of a clock, which programs poll.
    Clock,
    Content,
    /// The ledger, including the access log.
    Ledger,
}

/// An operator's acceptance that a database was rolled back. Recorded in `accept_rollback` entries.
#[derive(Clone, Debug, Default)]
pub struct Acceptance {
    /// Who accepts it; may be empty.
    pub by: String,
    /// The reason; may be empty.
    pub reason: String,
    /// Signed checkpoints kept by other services whose loss is accepted too.
    pub checkpoints: Vec<ExternalCheckpoint>,
}

#[derive(Clone, Debug)]
pub struct Options {
    /// Prefix of the timeline's name in every checkpoint. Must never change.
    pub service_name: String,
    /// How far from host time users with `limited_access` may travel, in days.
    pub limited_access_window_days: u32,
    /// Whether the first write to an unknown timeline creates it.
    pub timelines_by_first_write: bool,
    pub read_log: ReadLog,
    /// Whether successful reads of a clock are logged too.
    pub logs_clock_reads: bool,
    /// How long after the response checkpoints are kept outside the database; zero for before it.
    pub checkpoint_lag: Span,
    /// Maximum number of timelines: the newest state of each is kept in memory.
    pub timelines_max: usize,
    /// Maximum number of timelines, including forks, that one user may create.
    pub timelines_per_user_max: usize,
    /// How long the contents of an ended timeline are kept, in days.
    pub ended_grace_days: u32,
    /// Maximum number of users: each is kept in memory.
    pub users_max: usize,
    /// Maximum number of records sealed on one timeline, including erased ones.
    pub data_records_per_timeline_max: usize,
    pub session_idle_seconds: u32,
    pub session_seconds: u32,
    /// Maximum number of events and interventions held by all cached views of timelines.
    pub views_events_max: usize,
    /// How many entries a listener may lag behind.
    pub stream_entries_max: u64,
    pub retention_floor_seconds: u32,
    /// Set if the service is to start although the database is behind the checkpoints kept outside it.
    pub accept_rollback: Option<Acceptance>,
    /// Whether another service has written the store, so that no checkpoint is kept outside here yet.
    pub joins: bool,
    /// Checkpoints kept by other services, for a service that joins.
    pub checkpoints_of_others: Vec<ExternalCheckpoint>,
    /// Maximum offset between the host's clock and the database's, in milliseconds; 0 to skip the comparison.
    pub host_clock_offset_millis_max: u32,
    /// How many witnesses must vouch for a change before the response is sent; 0 for none.
    pub witnesses_required: usize,
    pub witness_wait: Span,
    /// The name of this service among several, for operators.
    pub replica_name: String,
    pub version: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            service_name: "timenav.local".to_owned(),
            limited_access_window_days: LIMITED_ACCESS_WINDOW_DAYS_DEFAULT,
            timelines_by_first_write: true,
            read_log: ReadLog::default(),
            logs_clock_reads: false,
            checkpoint_lag: Span::ZERO,
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
            checkpoints_of_others: Vec::new(),
            host_clock_offset_millis_max: HOST_CLOCK_OFFSET_MILLIS_MAX_DEFAULT,
            witnesses_required: 0,
            witness_wait: Span::from_micros(i64::from(WITNESS_WAIT_SECONDS_DEFAULT) * 1_000_000),
            replica_name: String::new(),
            version: String::new(),
        }
    }
}

impl Options {
    /// Returns how successful reads of an object are logged; `None` if they are not.
    #[must_use]
    pub const fn read_log_of(&self, object: ReadOf) -> Option<ReadLog> {
        match object {
            ReadOf::Clock if !self.logs_clock_reads => None,
            ReadOf::Clock | ReadOf::Content => Some(self.read_log),
            ReadOf::Ledger => Some(ReadLog::Durable),
        }
    }

    #[must_use]
    pub fn ended_grace(&self) -> Span {
        Span::from_micros(i64::from(self.ended_grace_days) * 86_400_000_000)
    }

    #[must_use]
    pub fn session_spans(&self) -> SessionSpans {
        SessionSpans { idle: seconds(self.session_idle_seconds), most: seconds(self.session_seconds) }
    }
}

fn seconds(count: u32) -> Span {
    Span::from_micros(i64::from(count) * 1_000_000)
}
