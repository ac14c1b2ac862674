//! Benchmarks of reads.

pub(crate) mod counts;
pub(crate) mod forks;
pub(crate) mod many_forks;
pub(crate) mod monitor;
pub(crate) mod places;
pub(crate) mod text_search;
pub(crate) mod year;

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use timenav_core::place::LocationQuery;
use timenav_core::time::{TimeRange, Virtual};
use timenav_engine::{EventQuery, Layer, MonitorEvents, Pattern, Store, TimelineKey};

use crate::measure::rounds::Spread;
use crate::measure::wall_clock::Stopwatch;
use crate::ports::{self, Opened};

/// Events of a full page.
const ITEMS: usize = 100;

/// An engine on a stored history, and a connection of its own to the same database.
struct Subject {
    opened: Opened,
    bare: Connection,
    /// The timeline `main`.
    timeline: TimelineKey,
}

impl Subject {
    fn open(folder: &Path) -> anyhow::Result<Self> {
        let bare = ports::open_database(folder)?;
        cache_like_a_reader(&bare)?;
        let timeline = "SELECT timeline FROM timelines WHERE timeline_id = 'main'";
        let timeline = TimelineKey(bare.query_row(timeline, [], |row| row.get(0))?);
        Ok(Self { opened: Opened::new(folder)?, bare, timeline })
    }

    fn monitor_events(&self, request: MonitorEvents) -> anyhow::Result<usize> {
        let Opened { runtime, engine, caller, .. } = &self.opened;
        Ok(runtime.block_on(engine.monitor_events(caller, request))?.events.len())
    }

    /// Returns the number of events on the first page of a place from a given time on, without the engine.
    fn stored_events(&self, location: LocationQuery, range: TimeRange<Virtual>) -> anyhow::Result<usize> {
        let query = EventQuery {
            layers: [Layer { timeline: self.timeline, as_of: u64::from(u32::MAX), overrides: false }].into(),
            patterns: vec![Pattern::Location(location)],
            range,
            after: None,
            items_max: ITEMS,
            newest_first: false,
            overlapping: false,
        };
        // Like the engine does: immediately if it is fast, otherwise on another thread.
        let Opened { runtime, store, .. } = &self.opened;
        let found = store.events_at_once(&query)?;
        Ok(found.map_or_else(|| runtime.block_on(store.events(query)), Ok)?.len())
    }
}

/// Gives a connection as much cache as each of the store's readers has.
fn cache_like_a_reader(connection: &Connection) -> anyhow::Result<()> {
    Ok(connection.pragma_update(None, "cache_size", -8_192)?)
}

/// Returns a request for the first page of the caller's timeline.
fn first_page() -> MonitorEvents {
    MonitorEvents {
        timeline: None,
        location_text: "*".to_owned(),
        location: LocationQuery::Anywhere,
        range: TimeRange::everything(),
        as_of: None,
        filter: Arc::default(),
        newest_first: false,
        overlapping: false,
        items_max: ITEMS,
        cursor: None,
    }
}

/// Returns the median time of the queries in microseconds, after checking that they find more than `found_min` events.
fn median_micros<Q>(
    questions: &[Q],
    found_min: usize,
    mut ask: impl FnMut(&Q) -> anyhow::Result<usize>,
) -> anyhow::Result<f64> {
    let (mut micros, mut found) = (Vec::with_capacity(questions.len()), 0);
    for question in questions {
        let watch = Stopwatch::start();
        found += ask(question)?;
        micros.push(watch.micros());
    }
    anyhow::ensure!(found > found_min, "only {found} events were found");
    Ok(Spread::of(&micros).median)
}

/// Returns the median time of some work in microseconds, after a few runs that do not count.
fn median_of_many(mut work: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    const WARM: usize = 32;
    const COUNTED: usize = 512;
    let mut micros = Vec::with_capacity(WARM + COUNTED);
    for _ in 0..WARM + COUNTED {
        let watch = Stopwatch::start();
        work()?;
        micros.push(watch.micros());
    }
    Ok(Spread::of(&micros[WARM..]).median)
}
