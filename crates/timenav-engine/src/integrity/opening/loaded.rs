//! Startup: load the store and compare it with the signed and kept state, or initialize an empty store.

use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Wall};

use super::accepted::Accepted;
use super::later::{first_unseen, later_entry};
use super::signed::{compare_with_signed, joins_unseen};
use super::{OpenError, bootstrap, heads_of, strays, warn_of_host_clock};
use crate::clock::clock_offset::ClockOffset;
use crate::ledger::head::EndedTimeline;
use crate::ports::all::Ports;
use crate::ports::store::Store;
use crate::ports::store_error::StoreError;
use crate::replication::comparing::compare;
use crate::requests::options::Options;
use crate::writer::heads::Heads;

pub(crate) struct Loaded {
    pub(crate) heads: Heads,
    pub(crate) ended: Vec<EndedTimeline>,
    pub(crate) findings: Accepted,
    pub(crate) newest_at_start: Instant<Wall>,
    pub(crate) clock_offset: Option<ClockOffset>,
    /// Whether no checkpoint was available outside to compare the store with.
    pub(crate) is_unseen: bool,
}

/// Loads the store, or initializes an empty one. If several services start at once, one initializes it and the others
/// join.
pub(crate) async fn load_or_begin(
    store: &dyn Store,
    ports: &Ports,
    options: &Options,
    keep_first_key: impl FnOnce(&str) -> std::io::Result<()>,
) -> Result<Loaded, OpenError> {
    let mut loaded = load(store, ports, options).await?;
    loaded.clock_offset = compare_at_start(store, &loaded.heads, ports, options).await?;
    if loaded.heads.len() > 0 {
        return Ok(loaded);
    }
    if let Some(offset) = loaded.clock_offset.filter(|offset| store.has_others() && offset.fault().is_some()) {
        return Err(OpenError::Bootstrap(offset.to_string()));
    }
    match bootstrap(store, &mut loaded.heads, ports, options, keep_first_key).await {
        // Another service initialized the store first. Nothing of it is kept outside here.
        Err(OpenError::Store(StoreError::Moved(_))) if store.has_others() => {
            let joined = load(store, ports, &Options { joins: true, ..options.clone() }).await?;
            Ok(Loaded { clock_offset: loaded.clock_offset, ..joined })
        }
        made => made.map(|()| loaded),
    }
}

pub(crate) async fn load(store: &dyn Store, ports: &Ports, options: &Options) -> Result<Loaded, OpenError> {
    // Both take long if there are many timelines, so run them in parallel.
    let outside = Arc::clone(&ports.outside);
    let stored = tokio::task::spawn_blocking(move || outside.last());
    let opened = store.open().await?;
    let stored = stored.await.map_err(|error| StoreError::Unavailable(error.to_string()))??;
    let is_anything_stored = !stored.is_empty();
    let (heads, ended) = heads_of(store, opened, ports).await?;
    // Check this first, so that an unknown entry is not reported as tampering.
    if let Some(system) = heads.get(&TimelineId::system())
        && let Some(later) = later_entry(store, &system.head, first_unseen(&stored, &system.head)).await?
    {
        return Err(later.into());
    }
    let findings = compare_with_signed(store, (&heads, &ended), stored, ports, options).await?;
    let newest_at_start = warn_of_host_clock(&heads, ports);
    let is_unseen = joins_unseen(is_anything_stored, &heads, options);
    strays::report_strays(store).await?;
    Ok(Loaded { heads, ended, findings, newest_at_start, clock_offset: None, is_unseen })
}

/// Compares the host's clock with the database's, before anything depends on it.
async fn compare_at_start(
    store: &dyn Store,
    heads: &Heads,
    ports: &Ports,
    options: &Options,
) -> Result<Option<ClockOffset>, OpenError> {
    if options.host_clock_offset_millis_max == 0 {
        return Ok(None);
    }
    let newest = heads.get(&TimelineId::system()).filter(|_| store.has_others()).map(|system| system.head.recorded_at);
    let offset = compare(store, ports, newest, options.host_clock_offset_millis_max).await?;
    if let Some(offset) = offset.filter(|offset| offset.fault().is_some()) {
        tracing::error!("{offset}; the service is not ready until they agree");
    }
    Ok(offset)
}
