//! The payloads of ledger entries, and other stored JSON.
//!
//! One struct per action, or per group of actions with the same payload, is used for writing and reading. What is
//! written here is hashed and must stay readable forever: fields may be added, but none may be removed or change its
//! meaning. `docs/logging.md` lists the actions, and `test-data/payloads-v1.json` freezes the bytes.

mod access;
mod advances;
mod clock;
mod data;
mod delivery;
mod events;
mod faults;
mod happened;
mod layers;
mod parts;
mod reads;
mod restored;
mod service;
mod sessions;
mod stateful;
mod timeline;
mod timer_record;
mod timers;
mod users;
#[cfg(test)]
mod tests;

pub(crate) use access::{AttemptRecord, AttemptsCounted, NetworkCount, OperationCount};
pub(crate) use advances::{AdvanceBegun, AdvanceEnded};
pub(crate) use clock::{AnchorSet, ClockChanged, ClockPayload, ClockRecord, anchor_in_entry, clock_in};
pub(crate) use data::{DataDecrypted, DataEncrypted, DataErased, ScanPayload};
pub use delivery::{Delivery, Webhook, WebhookTarget};
pub(crate) use events::{Corrected, EffectRecord, Intervened};
pub(crate) use faults::{FaultRecord, FaultSet, faults_of, faults_record, whose};
pub(crate) use happened::{entry_of, happened_in};
pub(crate) use layers::{LaterEntry, LayerErased, is_layer_erased};
pub(crate) use reads::{EventsCounted, EventsExported, EventsFound, EventsWatched, NEWEST, Reading, demanded};
pub(crate) use restored::{FiredAgain, TimerRestored, TimersRestored, due_firing_of, due_firing_record, is_same_timer};
pub(crate) use service::{HostClockAccepted, LostTree, RollbackAccepted, SigningKeyRotated};
pub(crate) use sessions::{LoggedIn, PasswordSet, SessionRenewed, SessionsEnded};
pub(crate) use stateful::StatePayload;
pub(crate) use timeline::{ForkRecord, PermissionsPayload, PermissionsRecord, TimelineCreated};
pub(crate) use timer_record::TimerStateRecord;
pub(crate) use timers::{
    AdvanceOver, AdvancePayload, FiringsSettled, OutcomeOfFiring, ScheduleRecord, TimerCancelled, TimerSet,
    TimersFired, schedule_of,
};
pub use timers::{read_timers, timers_text};
pub(crate) use users::{KeyRecord, UserRecord};
