//! What can be done with timenav, by whom, atomically.
//!
//! One method of [`Engine`] is one use case: it takes the [`Caller`] first, asks core whether the
//! caller may, lets core decide what happens, and returns when the outcome is durable and its
//! ledger entry is signed. The doors to the world outside are the traits [`Store`], [`Outside`],
//! [`WallClock`], [`Entropy`], [`Signer`], [`Vault`], [`Passwords`] and [`Gazetteer`].

mod engine;
mod options;
mod opening;
mod caller;
mod clocks;
mod access_control;
mod access_logs;
mod anchors;
mod events;
mod history;
mod diff;
mod places;
mod views;
mod paradoxes;
mod scan_events;
mod export;
mod data;
mod attempts;
mod identity;
mod sessions;
mod timelines;
mod long_work;
mod turns;
mod proofs;
mod rotation;
mod scan;
mod cursor;
mod refusal;
mod refused;
mod read_parameters;
mod idempotency;

mod committer;
mod group;
mod command;
mod outcome;
mod payload;
mod event_content;
mod world;
mod json;
mod location;
mod permissions;
mod seals;
mod secrets;
mod session_command;
mod tree;
mod head;
mod anchor;
mod rows;
mod directory;
mod published;
mod live;
mod ledger_stream;
mod seldom;

mod doors;
mod entropy;
mod gazetteer;
mod outside;
mod passwords;
mod signer;
mod archive;
mod store;
mod store_error;
mod vault;
mod wall_clock;

pub use access_logs::{AccessLogs, LOG_ENTRIES_READ_MAX, LogEntry, LogOrder, LogPage};
pub use anchor::Anchor;
pub use anchors::{AnchorPage, AnchorRequest, ReturnScope};
pub use archive::{EntryMarks, EntryRow, KeptEvent, KeptRows, Orphan, ScanSource, Snapshot};
pub use caller::{AuthFailure, Caller, Credential};
pub use clocks::{ClockStep, ClockView};
pub use command::{Answer, Change, LedgerPosition};
pub use committer::QUEUE_SUBMISSIONS_MAX;
pub use data::{Encrypted, Erased, ErasureRequest};
pub use diff::{DiffPage, DiffSide, Difference, TimelinesDiff};
pub use directory::{ApiKey, Directory, KeptPassword, Secret, Secrets, Session, SessionSpans, User};
pub use doors::Doors;
pub use engine::{Engine, EngineStats};
pub use entropy::Entropy;
pub use events::{EventPage, ImportBatch, MonitorEvents, Recorded, RefusedRecord};
pub use export::{EventExport, ExportEvents};
pub use gazetteer::{Gazetteer, KnownPlace};
pub use head::{Fork, Head, Layer, TimelineKey, TimelineState};
pub use history::{CorrectedEvent, EventHistory, IntervenedEvent, InterventionRequest};
pub use idempotency::Idempotency;
pub use identity::{ApiKeyRequest, NewApiKey};
pub use ledger_stream::{LedgerStream, News, Seen, Told, Topic, WatchLedger, WatchedParadoxes};
pub use live::{ClockChanges, ClockStream, Growth, KEPT_CHANGES_MAX};
pub use location::name_key;
pub use long_work::{LONG_WORK_RUNNING_MAX, VIEWS_RUNNING_MAX};
pub use opening::OpenError;
pub use options::{Options, ReadLog};
pub use outside::{KeptOutside, Outside, OutsideError};
pub use paradoxes::{Consequences, MonitorParadox, OnParadox, ParadoxPage, Surroundings, TimelineCheck};
pub use passwords::{PasswordMatch, Passwords};
pub use permissions::{PermissionsChange, permissions_tag};
pub use places::Understood;
pub use proofs::{ConsistencyProof, InclusionProof, SignedCheckpoint, TileRequest};
pub use read_parameters::READ_PARAMETERS_BYTES_MAX;
pub use refusal::Refusal;
pub use refused::{COUNTED_NAMED_MAX, COUNTED_NETWORKS_MAX};
pub use rotation::Rotation;
pub use rows::{
    DataRecord, DirectoryChange, ErasedContent, Erasure, EventEnd, EventRow, EventVersion, IdempotencyRecord,
    InterventionRow, KnownEvent, StoredEntry, StoredEvent,
};
pub use scan::{
    AskedScan, Checked, Detection, KeptCheckpoint, Progress, SCANS_RUNNING_MAX, SCANS_RUNNING_PER_USER_MAX, Scan,
    ScanRequest, ScanStage, VerifySignature, made_before, scan,
};
pub use scan_events::{EventMarks, EventSummary};
pub use seldom::Seldom;
pub use sessions::{CROSS_SITE_CODE, NewSession, PasswordRequest, SessionView};
pub use signer::Signer;
pub use store::{Commit, EventQuery, Opened, Pattern, Store, TimelineCommit};
pub use store_error::StoreError;
pub use timelines::TimelineView;
pub use vault::{RecordPlace, Vault, VaultError};
pub use wall_clock::WallClock;
