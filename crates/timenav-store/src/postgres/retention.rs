//! Retention policies for reads and refusals, the sweeps that prune them, and the host time they are based on.

use std::collections::HashMap;
use std::sync::Arc;

use timenav_core::ledger::{PruneClass, Retention, RetentionPolicies};
use timenav_core::time::{Instant, Wall};
use timenav_engine::{SweepMark, SweepRow, TimelineKey};

use super::values::{Failed, get, instant, number, sql};
use crate::postgres::connection::sessions::Object;
use crate::postgres::entries::contents;
use crate::postgres::transaction::batch::{Batch, records, rows, values};
use crate::tables::PolicyRow;

const INSERT_SWEEP: &str = "INSERT INTO sweeps (timeline, position, finished) VALUES ($1, $2, false)";
const FINISH_SWEEP: &str = "UPDATE sweeps SET finished = true WHERE timeline = $1 AND position = $2";
const MARK_READS: &str = "UPDATE policies SET reads_until = $3 WHERE timeline = $1 AND position = $2";
const MARK_REFUSALS: &str = "UPDATE policies SET refusals_until = $3 WHERE timeline = $1 AND position = $2";
const SELECT_MARKS: &str = "SELECT * FROM policies WHERE timeline = $1 ORDER BY position";
/// Unfinished sweeps, not counting those of bundles that are being imported.
const SELECT_LEFT: &str = "SELECT timeline, position FROM sweeps s WHERE NOT finished
    AND (EXISTS (SELECT FROM timelines t WHERE t.timeline = s.timeline)
        OR EXISTS (SELECT FROM ended_timelines e WHERE e.timeline = s.timeline))
    ORDER BY timeline, position";
const SELECT_SWEEPS: &str = "SELECT position FROM sweeps WHERE timeline = $1 AND position < $2 ORDER BY position";
const SELECT_POLICIES: &str = "SELECT *, timeline FROM policies WHERE $1::bigint[] IS NULL OR timeline = ANY($1)
    ORDER BY timeline, position";
const SELECT_HOST_CLOCK: &str = "SELECT known_at FROM host_clock";
const KEEP_HOST_CLOCK: &str = "INSERT INTO host_clock (id, known_at) VALUES (true, $1)
    ON CONFLICT (id) DO UPDATE SET known_at = excluded.known_at";

pub(super) fn insert_policies(batch: &mut Batch<'_>, timeline: TimelineKey, policies: &[(u64, Retention)]) {
    for policy in policies {
        batch.insert(Some(timeline), &PolicyRow::new(*policy));
    }
}

pub(super) fn insert_sweeps(batch: &mut Batch<'_>, timeline: TimelineKey, sweeps: &[SweepRow]) {
    for sweep in sweeps {
        batch.add(INSERT_SWEEP, values![timeline.0, sql(sweep.position)]);
        mark(batch, timeline, sweep.mark);
    }
}

pub(super) fn mark(batch: &mut Batch<'_>, timeline: TimelineKey, mark: SweepMark) {
    let statement = match mark.class {
        PruneClass::Reads => MARK_READS,
        PruneClass::Refusals => MARK_REFUSALS,
    };
    batch.add(statement, values![timeline.0, sql(mark.policy), sql(mark.until)]);
}

pub(super) async fn marks(on: &Object, timeline: TimelineKey) -> Result<Vec<SweepMark>, Failed> {
    let policies: Vec<PolicyRow> = records(on, SELECT_MARKS, &[&timeline.0]).await?;
    Ok(policies.into_iter().flat_map(PolicyRow::marks).collect())
}

pub(super) async fn left(on: &Object) -> Result<Vec<(TimelineKey, u64)>, Failed> {
    let found = rows(on, SELECT_LEFT, &[]).await?;
    found.iter().map(|row| Ok((TimelineKey(get(row, 0)?), number(row, 1)?))).collect()
}

pub(super) async fn sweeps(on: &Object, timeline: TimelineKey, end: u64) -> Result<Vec<u64>, Failed> {
    let found = rows(on, SELECT_SWEEPS, &[&timeline.0, &sql(end)]).await?;
    found.iter().map(|row| number(row, 0)).collect()
}

pub(super) fn prune(batch: &mut Batch<'_>, timeline: TimelineKey, positions: &[u64], finished: Option<u64>) {
    contents::prune(batch, timeline, positions);
    if let Some(sweep) = finished {
        batch.add(FINISH_SWEEP, values![timeline.0, sql(sweep)]);
    }
}

pub(super) async fn policies(
    on: &Object,
    only: Option<&[i64]>,
) -> Result<HashMap<TimelineKey, Arc<RetentionPolicies>>, Failed> {
    Ok(PolicyRow::by_timeline(records(on, SELECT_POLICIES, &[&only]).await?))
}

pub(super) async fn host_clock(on: &Object) -> Result<Option<Instant<Wall>>, Failed> {
    let found = rows(on, SELECT_HOST_CLOCK, &[]).await?;
    let known = found.first().map(|row| get(row, 0)).transpose()?;
    Ok(known.map(instant).transpose()?)
}

pub(super) fn keep_host_clock(batch: &mut Batch<'_>, now: Instant<Wall>) {
    batch.add(KEEP_HOST_CLOCK, values![now.micros()]);
}
