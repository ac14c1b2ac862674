//! How rows of live and ended timelines are written to their tables and read from them.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use timenav_core::clock::{Clock, ClockState};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::Frontier;
use timenav_engine::{EndedTimeline, Fork, Head, StoreError, TimelineKey, read_timers, timers_text};

use super::list::{ENDED_TIMELINES, TIMELINES};
use super::{Field, Fields, Record, Table, Value};
use crate::persistence::origins;
use crate::persistence::values::{damaged, id, sql};

/// The first columns of a head never change: those up to its origins.
const FIXED_COLUMNS: usize = 8;

/// Inserts one head into SQLite. An existing one stays as it is.
pub(crate) static SQLITE_INSERT: LazyLock<String> =
    LazyLock::new(|| format!("{} ON CONFLICT DO NOTHING", TIMELINES.sqlite_insert()));

/// Inserts heads into PostgreSQL. Returns those that did not exist.
pub(crate) static POSTGRES_INSERT: LazyLock<String> =
    LazyLock::new(|| format!("{} ON CONFLICT DO NOTHING RETURNING timeline", TIMELINES.insert_rows()));

/// Updates one head in SQLite. The expected size follows the values of the head.
pub(crate) static SQLITE_UPDATE: LazyLock<String> = LazyLock::new(|| {
    let changing = TIMELINES.columns.iter().zip(1..).skip(FIXED_COLUMNS);
    let set: Vec<_> = changing.map(|(column, number)| format!("{} = ?{number}", column.name)).collect();
    let expected = TIMELINES.columns.len() + 1;
    format!("UPDATE timelines SET {} WHERE timeline = ?1 AND size = ?{expected}", set.join(", "))
});

/// Updates heads in PostgreSQL. The array of expected sizes follows those of the heads.
pub(crate) static POSTGRES_UPDATE: LazyLock<String> = LazyLock::new(|| {
    let columns: Vec<_> = TIMELINES.columns.iter().map(|column| column.name).collect();
    let set: Vec<_> = columns[FIXED_COLUMNS..].iter().map(|name| format!("{name} = n.{name}")).collect();
    let arrays = TIMELINES.arrays();
    format!(
        "UPDATE timelines t SET {} FROM unnest({arrays}, ${}::bigint[]) AS n ({}, expected)
        WHERE t.timeline = n.timeline AND t.size = n.expected RETURNING t.timeline",
        set.join(", "),
        columns.len() + 1,
        columns.join(", ")
    )
});

/// The permissions and retention policies of a head, and whether it was handed over, are read from other tables.
impl Record for Head {
    const TABLE: &'static Table = &TIMELINES;

    fn values(&self) -> Vec<Value<'_>> {
        let (host, at) = self.clock.origin();
        let [fork_of, fork_size] = fork_values(self.fork);
        vec![
            self.key.stored(),
            self.id.stored(),
            self.created_at.stored(),
            self.created_by.stored(),
            self.expires_at.stored(),
            fork_of,
            fork_size,
            Value::Word(Cow::Owned(origins::text(&self.origins))),
            Value::Whole(sql(self.frontier.size())),
            Value::Bytes(Cow::Owned(self.frontier.to_bytes())),
            self.statement.stored(),
            self.carried_note.stored(),
            self.recorded_at.stored(),
            Value::Whole(self.clock.is_running().into()),
            Value::Whole(sql(self.clock.rate().micros())),
            Value::Whole(host.micros()),
            Value::Whole(at.micros()),
            self.clock.location.stored(),
            self.clock.generation.stored(),
            self.clock_entry.stored(),
            self.events_count.stored(),
            self.anchors_count.stored(),
            self.overrides_count.stored(),
            self.data_count.stored(),
            self.directory.stored(),
            Value::Word(Cow::Owned(timers_text(&self.timers))),
        ]
    }

    fn read(row: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            key: row.get()?,
            id: row.get()?,
            created_at: row.get()?,
            created_by: row.get()?,
            expires_at: row.get()?,
            fork: fork(row)?,
            origins: origins::read(&row.get::<String>()?)?,
            frontier: Frontier::from_bytes(row.get()?, &row.get::<Vec<u8>>()?)
                .map_err(|error| damaged(&error.to_string()))?,
            statement: row.get()?,
            carried_note: row.get()?,
            recorded_at: row.get()?,
            clock: clock(row)?,
            clock_entry: row.get()?,
            events_count: row.get()?,
            anchors_count: row.get()?,
            overrides_count: row.get()?,
            data_count: row.get()?,
            directory: row.get()?,
            timers: read_timers(&row.get::<String>()?).ok_or_else(|| damaged("the timer data cannot be read"))?,
            permissions: Arc::default(),
            retention: Arc::default(),
            is_handed_over: false,
        })
    }
}

fn clock(row: &mut Fields<'_>) -> Result<Clock, StoreError> {
    let (is_running, rate, host, at) = (row.get()?, row.get()?, row.get()?, row.get()?);
    let state = if is_running {
        ClockState::Running { origin_host: host, origin_virtual: at, rate }
    } else {
        ClockState::Paused { since: host, at, rate }
    };
    Ok(Clock { state, location: row.get()?, generation: row.get()? })
}

impl Record for EndedTimeline {
    const TABLE: &'static Table = &ENDED_TIMELINES;

    fn values(&self) -> Vec<Value<'_>> {
        let [fork_of, fork_size] = fork_values(self.fork);
        vec![
            self.key.stored(),
            self.id.stored(),
            self.size.stored(),
            self.root.stored(),
            self.ended_at.stored(),
            fork_of,
            fork_size,
            self.overrides.stored(),
            self.due_at.stored(),
            self.is_pruned.stored(),
        ]
    }

    fn read(row: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            key: row.get()?,
            id: id(TimelineId::parse_stored(&row.get::<String>()?))?,
            size: row.get()?,
            root: row.get()?,
            ended_at: row.get()?,
            fork: fork(row)?,
            overrides: row.get()?,
            due_at: row.get()?,
            is_pruned: row.get()?,
        })
    }
}

fn fork_values(fork: Option<Fork>) -> [Value<'static>; 2] {
    let (of, size) = fork.map(|fork| (Value::Whole(fork.of.0), Value::Whole(sql(fork.size)))).unzip();
    [of, size].map(|value| value.unwrap_or(Value::Null))
}

/// Reads a fork from two columns.
fn fork(row: &mut Fields<'_>) -> Result<Option<Fork>, StoreError> {
    let (of, size): (Option<TimelineKey>, Option<u64>) = (row.get()?, row.get()?);
    Ok(of.zip(size).map(|(of, size)| Fork { of, size }))
}
