//! Use cases of timenav: authorization, decision and atomic commit.
//!
//! Each public method of [`Engine`] is one use case. It takes the [`Caller`] first, asks core whether the caller is
//! authorized, lets core decide the outcome, and returns when the outcome is durable and its ledger entry is signed.
//! Access to the outside world goes through the traits [`Store`], [`Outside`], [`WallClock`], [`Entropy`], [`Signer`],
//! [`Vault`], [`Passwords`] and [`Gazetteer`].

#![expect(clippy::must_use_candidate, reason = "a boxed future is `must_use` by itself")]

// Layered bottom up: a module may use the modules above it in this list, but not those below it.

// Traits for the outside world, and data types.
mod json;
mod caller;
mod actor;
mod entropy;
mod gazetteer;
mod signer;
mod divergence;
mod outside;
mod vault;
mod passwords;
mod wall_clock;
mod webhook_door;
mod doors;
mod head;
mod hint;
mod directory;
mod background;
mod options;
mod parties;
mod event_columns;
mod length_class;
mod event_filter;
mod rows;
mod clock_offset;
mod timer_rows;
mod timer_changes;
mod action;
mod store_error;
mod commit_times;
mod unknown_entry;
mod leasing_door;
mod seen_events;
mod archive;
mod facts;
mod faults;
mod store;
mod one_fact;
mod code;
mod refusal;
mod idempotency;

// Ledger payloads, and the rules that decide them.
mod event_content;
mod payload;
mod location;
mod permissions;
mod secrets;
mod seals;
mod becoming;
mod tree;
mod directory_rows;
mod directory_told;
mod stated;
mod statement;
mod notes;
mod heads;
mod live;
mod changes;
mod project;
mod draft;
mod deciding;
mod asked;
mod group;
mod gathering;
mod lingering;
mod locking;

// State shared by the writer and readers, and the writer.
mod turns;
mod long_work;
mod attempts;
mod refused;
mod seldom;
mod scan_places;
mod view_board;
mod witnessed;
mod published;
mod following;
mod sharing;
mod agenda;
mod observing;
mod timing;
mod roll;
mod shared;
mod comparing;
mod stats;

// Scan, startup and the engine: the path of every use case.
mod scan;
mod opening;
mod committer;
mod sealing;
mod engine;
mod accepting;

// Use cases, and shared code of the reading ones.
mod catching_up;
mod looking_back;
mod replica;
mod anchored;
mod look;
mod cursor;
mod timers_then;
mod timers_left;
mod restoring;
mod redelivering;
mod returning;
mod carrying;
mod identity;
mod sessions;
mod strangers;
mod access_control;
mod access_logs;
mod followers;
mod followers_door;
mod followers_elsewhere;
mod clocks;
mod anchors;
mod timers;
mod leasing;
mod holding;
mod handing_over;
mod receipts;
mod firings;
mod webhooks;
mod shared_timekeeping;
mod timekeeping;
mod firing_list;
mod skipped;
mod foresight;
mod pacing;
mod timelines;
mod destroying;
mod ends;
mod pace;
mod places;
mod event_search;
mod events;
mod import_rehearsal;
mod history;
mod host_clock;
mod diff;
mod proofs;
mod vouching;
mod witnessing;
mod recalling;
mod evidence;
mod shared_witnessing;
mod entries;
mod views;
mod paradoxes;
mod timeline_check;
mod aggregate;
mod scan_events;
mod expected;
mod export;
mod bundles;
mod data;
mod sweeping;
mod erasing;
mod import_id;
mod undoing;
mod detection;
mod ledger_stream;
mod rotation;

pub use access_logs::{AccessLogs, LOG_ENTRIES_READ_MAX, LogEntry, LogGap, LogGapReason, LogOrder, LogPage};
pub use action::{Action, Topic};
pub use aggregate::{AggregateEvents, AggregatedEvents, EventGroup, GroupBy, GroupKey};
pub use anchors::{AnchorPage, AnchorRequest, ReturnScope, Returning};
pub use archive::{
    ENTRY_ROWS_BYTES, EntryMarks, EntryRow, EntryRows, KeptEnd, KeptEvent, KeptOutcome, KeptRows, Orphan, ScanSource,
    ServiceRows, Snapshot,
};
pub use background::{Background, BackgroundTraces, BackgroundWork};
pub use bundles::{
    BUNDLE_FORMAT, BUNDLE_FORMAT_OF_LAYERS, BUNDLE_GONE_MAX, BUNDLE_LINE_BYTES_MAX, BundleCheck, BundleExport,
    CheckedBundle,
};
pub use caller::{AuthFailure, Caller, Credential};
pub use changes::{LedgerPosition, LetGone};
pub use clock_offset::{ClockFault, ClockOffset};
pub use clocks::{
    AdvanceSeen, ClockChange, ClockChanges, ClockNews, ClockStep, ClockStream, ClockView, DeliveryLag, KEPT_CHANGES_MAX,
};
pub use code::Code;
pub use commit_times::{CommitPart, CommitStats, Distribution, OnWritten, WRITE_WAIT_READY_SECONDS_MAX};
pub use committer::QUEUE_SUBMISSIONS_MAX;
pub use data::{Encrypted, Erased, ErasureRequest};
pub use deciding::erasing::WhichReads;
pub use deciding::retention::KeptFor;
pub use detection::{AskedScan, Detection};
pub use diff::{DiffOf, DiffPage, DiffSide, Difference, FiringDifference, TimelinesDiff, TimerDifference};
pub use directory::DirectoryChange;
pub use divergence::{Divergence, DivergenceKind, SeenTree};
pub use doors::Doors;
pub use ends::TimelineEnd;
pub use engine::Engine;
pub use entries::{ENTRIES_PAGE_BYTES_MAX, EntriesRequest, EntryContents, EntryPage, LedgerEntry};
pub use entropy::Entropy;
pub use erasing::{
    ERASE_EVENTS_BATCH_MAX, ERASE_EVENTS_SELECTED_MAX, ErasedEvents, ErasedReads, EventErasure, ForeseenErasure,
    ForkSeen, ReadErasure, WhichEvents,
};
pub use event_columns::{EventColumns, name_key};
pub use event_filter::{EventFilter, FilterError, FilterTexts};
pub use event_search::EVENTS_PAGE_BYTES_MAX;
pub use events::{EventPage, ImportBatch, MonitorEvents, Recorded, RefusedRecord};
pub use expected::Expected;
pub use export::{EventExport, ExportEvents};
pub use facts::{Asker, Facts, ToldRows, Wanted};
pub use faults::{FaultRequest, FaultStep};
pub use firing_list::{FiringFilter, FiringPage};
pub use firings::{Claim, ClaimedFiring, FiringAnswer, FiringsRequest};
pub use followers::{Confirmation, FollowAs, FollowedBy, FollowersSeen, WaitFor, WhichFollowers};
pub use followers_door::{FollowerRow, SharedFollowers};
pub use foresight::{FirstOf, ForeseenAgain, ForeseenEnd, ForeseenFiring, ForeseenTimer, Foresight};
pub use gazetteer::{Gazetteer, KnownPlace};
pub use head::{EndedTimeline, Fork, Head, Layer, Origin, TimelineKey, TimelineState};
pub use hint::{HINTED_TIMELINES_MAX, Hint};
pub use history::{CorrectedEvent, EventHistory, IntervenedEvent, InterventionRequest, ToldIntervention};
pub use holding::HoldRequest;
pub use host_clock::HostClockDoubt;
pub use idempotency::Idempotency;
pub use identity::{ApiKeyRequest, NewApiKey};
pub use import_id::{ImportId, NoImportId};
pub use import_rehearsal::{IMPORT_DRY_RUN_RECORDS_MAX, ImportRehearsal};
pub use leasing_door::{
    AtWork, AtWorkWanted, COSIGNED_BYTES_MAX, ChangeLeases, HEARD_LASTS_MICROS, Held, Keeper, LEASE_LASTS_MICROS_MAX,
    LeaseChanges, LeaseRow, LeasesFound, LeasesWanted, OFFERED_BUSY_MAX, Presence, SERVICE_LASTS_MICROS, SharedLeases,
};
pub use ledger_stream::{
    EntryMark, FiringNews, LedgerStream, News, Seen, Told, Waiting, WatchFirings, WatchLedger, WatchedParadoxes,
};
pub use length_class::{LengthClass, lasts_into};
pub use live::{AccessChanges, Growth};
pub use long_work::{COUNTS_RUNNING_MAX, LONG_WORK_RUNNING_MAX, NAME_SEARCHES_RUNNING_MAX, VIEWS_RUNNING_MAX};
pub use notes::newest_checkpoints;
pub use observing::KEPT_FIRINGS_MAX;
pub use one_fact::OneFact;
pub use opening::OpenError;
pub use options::{Acceptance, FEATURE_LEVEL, OLDEST_FEATURE_LEVEL, Options, ReadLog};
pub use outside::{KeptOutside, Outside, OutsideError};
pub use pace::Pace;
pub use paradoxes::{Consequences, MonitorParadox, OnParadox, ParadoxPage};
pub use passwords::{PasswordMatch, Passwords};
pub use payload::{Delivery, Webhook, WebhookTarget, read_timers, timers_text};
pub use permissions::{PermissionsAnswer, PermissionsChange, permissions_tag};
pub use places::Understood;
pub use proofs::{ConsistencyProof, InclusionProof, SignedCheckpoint, SignedHead, TileRequest};
pub use receipts::Receipt;
pub use refusal::Refusal;
pub use refused::{COUNTED_NAMED_MAX, COUNTED_NETWORKS_MAX};
pub use replica::{Lag, ReplicaStats, TimekeepingStats};
pub use rotation::Rotation;
pub use rows::{
    DataRecord, Described, ErasedContent, Erasure, EventEnd, EventPlace, EventRow, EventSpot, EventStretch,
    EventStretches, EventVersion, IdempotencyRecord, InterventionRow, KnownEvent, LogRow, StoredEntry, StoredEvent,
    SweepMark, SweepRow,
};
pub use scan::{
    Checked, KeptCheckpoint, Progress, ReplayedAuthority, Scan, ScanRequest, ScanStage, VerifySignature, made_before,
    scan,
};
pub use scan_events::{EventMarks, EventSummary};
pub use scan_places::{SCANS_RUNNING_MAX, SCANS_RUNNING_PER_USER_MAX};
pub use seen_events::{EventAt, SeenEvent, SeenEvents};
pub use seldom::Seldom;
pub use sessions::{CROSS_SITE_CODE, NewSession, PasswordRequest, SessionView};
pub use signer::Signer;
pub use skipped::SkippedMoments;
pub use stats::EngineStats;
pub use store::{
    CarriedSeals, Commit, ConnectionsUse, EventQuery, EventsPassing, Health, Locked, Opened, Overridden, Pattern,
    RotationNote, Store, StoredTree, StrayArrivals, TimelineCommit, Upkeep,
};
pub use store_error::StoreError;
pub use sweeping::{ForeseenSweep, Pruned, RetentionRequest, SWEEP_ENTRIES_READ_MAX, SWEEP_POSITIONS_MAX};
pub use timeline_check::{Surroundings, TimelineCheck};
pub use timelines::{MadeTimeline, NewTimeline, TimelineView};
pub use timenav_core::anchor::Anchor;
pub use timenav_core::directory::{
    ApiKey, Directory, KeptPassword, Secret, Secrets, Session, SessionSpans, Shelves, User,
};
pub use timenav_core::ledger::READ_PARAMETERS_BYTES_MAX;
pub use timer_changes::{OrderKeyChange, ScheduleChange};
pub use timer_rows::{
    AdvanceRow, FiringEnd, FiringRow, TimerMove, TimerRow, TimerRows, TimerStanding, TimersFound, TimersWanted,
};
pub use timers::{TimerChangeRequest, TimerMoments, TimerPage, TimerRequest, TimerSetStep, TimerShown, TimerView};
pub use undoing::UndoneImport;
pub use unknown_entry::UnknownEntry;
pub use vault::{RecordPlace, Vault, VaultError};
pub use view_board::VIEWS_BEHIND_MAX;
pub use wall_clock::{BootClock, OriginBoot, WallClock};
pub use webhook_door::Webhooks;
pub use witnessed::{Cosigned, Evidence, WitnessState, WitnessStatus};
pub use witnessing::{ComparedCheckpoint, WitnessedProof};
