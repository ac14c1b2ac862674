//! How rows of timelines are written to their tables and read from them.

use std::collections::HashMap;
use std::sync::Arc;

use timenav_core::clock::Moment;
use timenav_core::data::SealedData;
use timenav_core::ledger::{PruneClass, Retention, RetentionPolicies};
use timenav_core::timers::DueFiring;
use timenav_engine::{
    AdvanceRow, Anchor, DataRecord, FiringRow, IdempotencyRecord, InterventionRow, StoreError, SweepMark, TimelineKey,
    TimerRow,
};

use super::list::{ADVANCES, ANCHORS, DATA_RECORDS, FIRINGS, INTERVENTIONS, OUTCOMES, POLICIES, TIMERS};
use super::{Field, Fields, Table, Value};

/// A row type. Its values are in the order of the table's columns, without the timeline that a row belongs to.
pub(crate) trait Record: Sized {
    const TABLE: &'static Table;

    fn values(&self) -> Vec<Value<'_>>;

    /// # Errors
    /// If a column has another type, or a value that is never stored.
    fn read(row: &mut Fields<'_>) -> Result<Self, StoreError>;
}

/// Implements [`Record`] for a type with one field per column, in the order of the columns. A field may be a struct
/// with several columns.
macro_rules! record {
    ($record:ty, $table:ident, $($field:ident $(: $inner:ident { $($part:ident),+ })?),+) => {
        impl $crate::tables::Record for $record {
            const TABLE: &'static $crate::tables::Table = &$table;

            fn values(&self) -> Vec<$crate::tables::Value<'_>> {
                let mut values = Vec::with_capacity(Self::TABLE.columns.len());
                $(record!(put self.$field, values $(, $($part),+)?);)+
                values
            }

            fn read(row: &mut $crate::tables::Fields<'_>) -> Result<Self, timenav_engine::StoreError> {
                Ok(Self { $($field: record!(get row $(, $inner { $($part),+ })?)),+ })
            }
        }
    };
    (put $this:ident.$field:ident, $values:ident) => {
        $values.push($crate::tables::Field::stored(&$this.$field))
    };
    (put $this:ident.$field:ident, $values:ident, $($part:ident),+) => {
        $($values.push($crate::tables::Field::stored(&$this.$field.$part));)+
    };
    (get $row:ident) => { $row.get()? };
    (get $row:ident, $inner:ident { $($part:ident),+ }) => { $inner { $($part: $row.get()?),+ } };
}
pub(super) use record;

/// A record followed by a column that is selected in addition.
impl<R: Record, T: Field> Record for (R, T) {
    const TABLE: &'static Table = R::TABLE;

    fn values(&self) -> Vec<Value<'_>> {
        let mut values = self.0.values();
        values.push(self.1.stored());
        values
    }

    fn read(row: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok((R::read(row)?, row.get()?))
    }
}

record!(InterventionRow, INTERVENTIONS, event_id, position, intervention_id);
record!(
    Anchor, ANCHORS, position, anchor_id, set_at, timestamp, description, fixed,
    moment: Moment { at, running, rate, location }
);
record!(
    DataRecord, DATA_RECORDS, position, data_id, erased,
    sealed: SealedData { format, kind, salt, nonce, commitment, ciphertext }
);
record!(
    TimerRow,
    TIMERS,
    position,
    timer_id,
    next,
    round,
    is_cancelled,
    schedule,
    deliver,
    queue,
    order_key,
    payload,
    set_by,
    set_at
);
record!(
    FiringRow, FIRINGS, due_firing: DueFiring { due, position, round }, firing_id, timer_id, queue, order_key, state,
    made, settled, advance, reason
);
record!(AdvanceRow, ADVANCES, position, advance_id, ended, record);

/// How long reads and rejections are kept from a position on, and the positions up to which sweeps have pruned them.
pub(crate) struct PolicyRow {
    position: u64,
    retention: Retention,
    reads_until: Option<u64>,
    refusals_until: Option<u64>,
}
record!(
    PolicyRow, POLICIES, position, retention: Retention { reads_seconds, refusals_seconds }, reads_until, refusals_until
);

impl PolicyRow {
    pub(crate) const fn new((position, retention): (u64, Retention)) -> Self {
        Self { position, retention, reads_until: None, refusals_until: None }
    }

    pub(crate) fn marks(self) -> impl Iterator<Item = SweepMark> {
        let until = [(PruneClass::Reads, self.reads_until), (PruneClass::Refusals, self.refusals_until)];
        until
            .into_iter()
            .filter_map(move |(class, until)| Some(SweepMark { policy: self.position, class, until: until? }))
    }

    /// Returns the policies of each timeline.
    pub(crate) fn by_timeline(rows: Vec<(Self, TimelineKey)>) -> HashMap<TimelineKey, Arc<RetentionPolicies>> {
        let mut all: HashMap<TimelineKey, RetentionPolicies> = HashMap::new();
        for (row, timeline) in rows {
            all.entry(timeline).or_default().set(row.position, row.retention);
        }
        all.into_iter().map(|(timeline, policies)| (timeline, Arc::new(policies))).collect()
    }
}

impl Record for IdempotencyRecord {
    const TABLE: &'static Table = &OUTCOMES;

    fn values(&self) -> Vec<Value<'_>> {
        let Self { key, fingerprint, expires_at, outcome, event } = self;
        let (timeline, event) = event.as_ref().map(|(timeline, event)| (timeline.stored(), event.stored())).unzip();
        let event = [timeline, event].map(|id| id.unwrap_or(Value::Null));
        let rest = [key.stored(), fingerprint.stored(), expires_at.stored(), outcome.stored()];
        rest.into_iter().chain(event).collect()
    }

    fn read(row: &mut Fields<'_>) -> Result<Self, StoreError> {
        let (key, fingerprint, expires_at, outcome) = (row.get()?, row.get()?, row.get()?, row.get()?);
        let (timeline, event): (Option<_>, Option<_>) = (row.get()?, row.get()?);
        Ok(Self { key, fingerprint, expires_at, outcome, event: timeline.zip(event) })
    }
}
