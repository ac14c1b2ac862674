//! The engine's use cases, on the SQLite store and with in-memory implementations of its other interfaces. Each test
//! ends by auditing every ledger: see `Home::close`.

mod access;
mod events;
mod integrity;
mod timelines;
mod timers;
mod alone;
mod bounds;
mod clocks;
mod failures;
mod faults;
mod idempotency;
mod long_work;
mod one_group;
mod reads;
mod shared_reads;
mod streams;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::collection::vec;
use proptest::sample::{Index, select};
use rusqlite::Connection;
use timenav_core::access::{Demand, Permissions, RestrictionLevel, Role, Scope};
use timenav_core::as_of::AsOf;
use timenav_core::clock::{Clock, ClockCommand, ClockMoved, ClockRefusal, Moment, Rate};
use timenav_core::data::{EncryptionKey, Plaintext};
use timenav_core::event::{Cause, CauseKind, EventDraft};
use timenav_core::fault::Fault;
use timenav_core::followers::FollowerPlace;
use timenav_core::ids::{
    AdvanceId, AnchorId, DataId, FiringId, FollowerName, KeyId, QueueId, SessionId, TimelineId, TimerId, UserId,
};
use timenav_core::intervention::Effect;
use timenav_core::ledger::{LeafRecord, NoteSignature, Retention, VerifierKey, leaf_hash, origin, verify_inclusion};
use timenav_core::limits::{ATTEMPTS_IN_ADVANCE_MAX, ATTEMPTS_MAX, RETURN_EVENTS_MAX};
use timenav_core::permissions::End;
use timenav_core::place::{LocationQuery, Point};
use timenav_core::scan::Depth;
use timenav_core::time::{Bucket, Duration, Instant, Span, TimeRange, Virtual, Wall, parse_duration};
use timenav_core::timers::{AdvanceState, Counts, FiringState, Misfire, Repeating, RuleSource, Schedule};
use timenav_engine::{
    AccessLogs, Action, AggregateEvents, AggregatedEvents, AnchorRequest, ApiKeyRequest, Caller, Claim, ClaimedFiring,
    ClockChange, ClockStep, ClockStream, Delivery, DiffOf, DiffPage, Engine, EntriesRequest, EntryContents,
    ErasureRequest, EventErasure, EventFilter, FaultRequest, FilterTexts, FiringRow, FiringsRequest, FollowAs, GroupBy,
    GroupKey, HoldRequest, Idempotency, ImportId, InterventionRequest, LedgerMessage, LedgerPosition, LedgerStream,
    LedgerUpdate, LogEntry, LogOrder, MonitorEvents, MonitorParadox, NewTimeline, OpenError, Options, ParadoxPage,
    PasswordRequest, PermissionsChange, ReadErasure, ReadLog, Refusal, RetentionPeriod, RetentionRequest, ReturnScope,
    ScheduleChange, Seen, Signer as _, TimelineKey, TimelinesDiff, TimerChangeRequest, TimerQuery, TimerRequest,
    TimerRow, Topic, WallClock as _, WatchLedger, WebhookTarget, WhichEvents, WhichReads,
};
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::audit::{Line, open_note};
use crate::cases::check_cases;
use crate::faulty_store::{FaultyStore, OPEN_PERMITS};
use crate::house::{Home, House, is_unavailable, on, outcome_text, watch};
use crate::ports::SeedSigner;
use crate::requests::*;
use crate::sample::{digest, event_id, every_event, hour, moment, password, timeline_id, user_id, users};

/// Generates a test of each check on SQLite and on PostgreSQL.
macro_rules! on_each_store {
    ($($check:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test]
                async fn $check() {
                    Box::pin(super::$check(crate::house::House::new())).await;
                }
            )*
        }

        mod postgres {
            $(
                #[tokio::test]
                async fn $check() {
                    Box::pin(super::$check(crate::house::House::on_postgres())).await;
                }
            )*
        }
    };
}
use on_each_store;
