//! Requirements of every store. Each `check_…` runs on each backend. Backend-specific behavior is tested elsewhere.

mod commit;
mod data;
mod events;
mod facts;
mod picture;
mod round_trip;
mod stretches;
mod tiles;
mod timers;

use std::sync::Arc;

use timenav_core::access::RestrictionLevel;
use timenav_core::data::SealedData;
use timenav_core::event::EventDraft;
use timenav_core::ids::{AnchorId, DataId, KeyId, TimelineId};
use timenav_core::ledger::{Salt, TileId};
use timenav_core::place::LocationQuery;
use timenav_core::time::{Instant, TimeRange, Virtual};
use timenav_engine::{
    Commit, DataRecord, DirectoryChange, EventPlace, EventQuery, FactsQuery, IdempotencyRecord, OneFact as _, Pattern,
    QueryOrigin, Store, StoreError, TimelineKey, TimerQuery,
};

use crate::cases::check_cases;
use crate::sample::{
    Ledger, anchor, api_key, commit_of, digest, event, event_id, host, layer, moment, outcome, timeline_id, user,
    user_id, users,
};
