//! Use cases of timenav: authorization, decision and atomic commit.
//!
//! Each public method of [`Engine`] is one use case. It takes the [`Caller`] first, asks core whether the caller is
//! authorized, lets core decide the outcome, and returns when the outcome is durable and its ledger entry is signed.
//! Access to the outside world goes through the traits [`Store`], [`Outside`], [`WallClock`], [`Entropy`], [`Signer`],
//! [`Vault`], [`Passwords`] and [`Gazetteer`].

#![expect(clippy::must_use_candidate, reason = "a boxed future is already `must_use`")]

mod ports;
mod requests;
mod ledger;
mod writer;
mod clock;
mod timers;
mod anchors;
mod events;
mod paradoxes;
mod access;
mod timelines;
mod integrity;
mod replication;
mod read;
mod engine;
mod data;

pub use access::access_logs::{AccessLogs, LOG_ENTRIES_READ_MAX, LogEntry, LogGap, LogGapReason, LogOrder, LogPage};
pub use access::directory::DirectoryChange;
pub use access::identity::{ApiKeyRequest, NewApiKey};
pub use access::permissions::{PermissionsChange, permissions_tag};
pub use access::sessions::{CROSS_SITE_CODE, NewSession, PasswordRequest, SessionView};
pub use anchors::commands::{AnchorPage, AnchorRequest, AnchorReturn, ReturnScope};
pub use clock::clock_offset::{ClockFault, ClockOffset};
pub use clock::clocks::{
    AdvanceSeen, ClockChange, ClockChanges, ClockNews, ClockStep, ClockStream, ClockView, DeliveryLag,
    RETAINED_CHANGES_MAX,
};
pub use clock::faults::FaultRequest;
pub use clock::followers::{Confirmation, FollowAs, FollowedBy, FollowersSeen, WaitFor, WhichFollowers};
pub use clock::host_clock::HostClockDoubt;
pub use clock::preview::{ClockPreview, FirstOf, PreviewedEnd, PreviewedFiring, PreviewedTimer, RefirePreview};
pub use clock::receipts::Receipt;
pub use data::ErasureRequest;
pub use engine::Engine;
pub use events::aggregate::{AggregateEvents, AggregatedEvents, EventGroup, GroupBy, GroupKey};
pub use events::commands::{EventPage, ImportBatch, MonitorEvents, Recorded, RefusedRecord};
pub use events::erasing::{
    ERASE_EVENTS_BATCH_MAX, ERASE_EVENTS_SELECTED_MAX, ErasurePreview, EventErasure, ForkSeen, ReadErasure, WhichEvents,
};
pub use events::event_columns::{EventColumns, name_key};
pub use events::event_filter::{EventFilter, FilterError, FilterTexts, each_event_word};
pub use events::event_search::EVENTS_PAGE_BYTES_MAX;
pub use events::export::{EventExport, ExportEvents};
pub use events::history::{EventHistory, InterventionDetail, InterventionRequest};
pub use events::import_rehearsal::{IMPORT_DRY_RUN_RECORDS_MAX, ImportRehearsal};
pub use events::length_class::{LengthClass, lasts_into};
pub use events::places::Understood;
pub use events::scan_events::{EventMarks, EventSummary};
pub use events::timeline_check::{Surroundings, TimelineCheck};
pub use events::undoing::UndoneImport;
pub use integrity::detection::{Detection, ReservedScan};
pub use integrity::divergence::{Divergence, DivergenceKind, SeenTree};
pub use integrity::opening::OpenError;
pub use integrity::rotation::Rotation;
pub use integrity::scan::{
    Checked, Progress, ReferenceCheckpoint, ReplayedAuthority, Scan, ScanRequest, ScanStage, VerifySignature,
    made_before, scan,
};
pub use integrity::scan_places::{SCANS_RUNNING_MAX, SCANS_RUNNING_PER_USER_MAX};
pub use integrity::witnessed::{Cosigned, Evidence, WitnessState, WitnessStatus};
pub use integrity::witnessing::{ComparedCheckpoint, WitnessedProof};
pub use ledger::action::{Action, Topic};
pub use ledger::changes::{
    AnchorMarked, ContentErased, DataStored, EventCorrected, EventIntervened, EventsErasureResult, FaultOutcome,
    KeyChanged, LedgerPosition, PermissionsAfter, PrunedContents, ReadsErasureResult, RetentionSet, TimelineMade,
    UserChanged,
};
pub use ledger::entries::{ENTRIES_PAGE_BYTES_MAX, EntriesRequest, EntryContents, EntryPage, LedgerEntry};
pub use ledger::head::{EndedTimeline, Fork, Head, Layer, Origin, TimelineKey, TimelineState};
pub use ledger::import_id::{ImportId, NoImportId};
pub use ledger::notes::newest_checkpoints;
pub use ledger::payload::{Delivery, Webhook, WebhookTarget, read_timers, timers_text};
pub use ledger::proofs::{ConsistencyProof, InclusionProof, SignedCheckpoint, SignedHead, TileRequest};
pub use ledger::unknown_entry::UnknownEntry;
pub use paradoxes::listing::{Consequences, MonitorParadox, OnParadox, ParadoxPage};
pub use paradoxes::view_board::VIEWS_BEHIND_MAX;
pub use ports::all::Ports;
pub use ports::archive::{
    ENTRY_ROWS_BYTES, EntryMarks, EntryRow, EntryRows, Orphan, ScanSource, ServiceRows, Snapshot, StoredEnd,
    StoredOutcome, StoredRows, StoredVersion,
};
pub use ports::entropy::Entropy;
pub use ports::facts::{Facts, FactsQuery, QueryOrigin, UnloggedRows};
pub use ports::gazetteer::{Gazetteer, KnownPlace};
pub use ports::hint::{HINTED_TIMELINES_MAX, Hint};
pub use ports::lookups::OneFact;
pub use ports::outside::{ExternalCheckpoint, Outside, OutsideError};
pub use ports::passwords::{PasswordMatch, Passwords};
pub use ports::rows::{
    DataRecord, Described, ErasedContent, Erasure, EventEnd, EventPlace, EventRow, EventSpot, EventStretch,
    EventStretches, EventVersion, IdempotencyRecord, InterventionRow, KnownEvent, LogRow, StoredEntry, StoredEvent,
    SweepMark, SweepRow,
};
pub use ports::seen_events::{EventAt, SeenEvent, SeenEvents};
pub use ports::shared_leases::{
    ActivityQuery, AtWork, COSIGNED_BYTES_MAX, ChangeLeases, Held, Keeper, LEASE_LASTS_MICROS_MAX,
    LISTENING_LASTS_MICROS, LeaseChanges, LeaseQuery, LeaseRow, LeasesFound, OFFERED_BUSY_MAX, Presence,
    SERVICE_LASTS_MICROS, SharedLeases,
};
pub use ports::signer::Signer;
pub use ports::store::{
    CarriedSeals, Commit, ConnectionsUse, EventQuery, FilteredEvents, Health, Locked, Opened, Overridden, Pattern,
    RotationNote, Store, StoredTree, StrayArrivals, TimelineCommit, Upkeep,
};
pub use ports::store_error::StoreError;
pub use ports::timer_changes::{OrderKeyChange, ScheduleChange};
pub use ports::timer_rows::{
    AdvanceRow, FiringEnd, FiringRow, TimerMove, TimerQuery, TimerRow, TimerRows, TimerStatus, TimersFound,
};
pub use ports::vault::{RecordPlace, Vault, VaultError};
pub use ports::wall_clock::{BootClock, OriginBoot, WallClock};
pub use ports::webhooks::Webhooks;
pub use read::ledger_stream::{
    EntryMark, FiringUpdate, LedgerMessage, LedgerStream, LedgerUpdate, Seen, Waiting, WatchFirings, WatchLedger,
    WatchedParadoxes,
};
pub use read::live::{AccessChanges, Growth};
pub use read::long_work::{COUNTS_RUNNING_MAX, LONG_WORK_RUNNING_MAX, NAME_SEARCHES_RUNNING_MAX, VIEWS_RUNNING_MAX};
pub use read::pace::Pace;
pub use replication::replica::{Lag, ReplicaStats, TimekeepingStats};
pub use replication::shared_followers::{FollowerRow, SharedFollowers};
pub use requests::background::{Background, BackgroundTraces, BackgroundWork};
pub use requests::caller::{AuthFailure, Caller, Credential};
pub use requests::code::Code;
pub use requests::expected::Expected;
pub use requests::idempotency::Idempotency;
pub use requests::options::{Acceptance, FEATURE_LEVEL, OLDEST_FEATURE_LEVEL, Options, ReadLog, ReadOf};
pub use requests::rate_limited_log::RateLimitedLog;
pub use requests::refusal::Refusal;
pub use requests::refused::{COUNTED_NAMED_MAX, COUNTED_NETWORKS_MAX};
pub use requests::stats::EngineStats;
pub use timelines::bundles::{
    BUNDLE_FORMAT, BUNDLE_FORMAT_OF_LAYERS, BUNDLE_LINE_BYTES_MAX, BUNDLE_MISSING_MAX, BundleCheck, BundleExport,
    CheckedBundle,
};
pub use timelines::commands::{NewTimeline, TimelineView};
pub use timelines::diff::{DiffOf, DiffPage, DiffSide, Difference, FiringDifference, TimelinesDiff, TimerDifference};
pub use timelines::ends::TimelineEnd;
pub use timelines::sweeping::{Pruned, RetentionRequest, SWEEP_ENTRIES_READ_MAX, SWEEP_POSITIONS_MAX, SweepPreview};
pub use timenav_core::anchor::Anchor;
pub use timenav_core::directory::{
    ApiKey, Directory, PersistentMap, Secret, Secrets, Session, SessionSpans, StoredPassword, User,
};
pub use timenav_core::ledger::READ_PARAMETERS_BYTES_MAX;
pub use timers::commands::{
    TimerChangeRequest, TimerDetails, TimerMoments, TimerPage, TimerRequest, TimerSetStep, TimerView,
};
pub use timers::firing_list::{FiringFilter, FiringPage};
pub use timers::firings::{Claim, ClaimedFiring, FiringAnswer, FiringsRequest};
pub use timers::holding::HoldRequest;
pub use timers::observing::PENDING_FIRINGS_MAX;
pub use timers::skipped::SkippedMoments;
pub use writer::commit_times::{CommitPart, CommitStats, Distribution, OnWritten, WRITE_WAIT_READY_SECONDS_MAX};
pub use writer::committer::QUEUE_SUBMISSIONS_MAX;
pub use writer::deciding::erasing::WhichReads;
pub use writer::deciding::timelines::retention::RetentionPeriod;
pub use writer::submission::Answer;
