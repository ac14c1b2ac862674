use timenav_core::ids::{DataId, TimelineId};
use timenav_engine::{DataRecord, ErasedContent, TimelineCommit, TimelineKey};

use super::values::{Failed, id, number, sql};
use crate::postgres::connection::sessions::Object;
use crate::postgres::entries::contents;
use crate::postgres::transaction::batch::{Batch, records, rows, values};

/// The first record on a live timeline. A bundle with a record of the same id is rejected, so there is only one.
const SELECT: &str = "SELECT DISTINCT ON (d.data_id) d.*, t.timeline_id FROM data_records d
    JOIN timelines t ON t.timeline = d.timeline WHERE d.data_id = ANY($1) ORDER BY d.data_id, d.timeline";
const SELECT_AT: &str = "SELECT * FROM data_records WHERE timeline = $1 AND position = ANY($2)";
/// Includes positions that no entry has yet.
const COUNT: &str = "SELECT count(*) FROM data_records WHERE timeline = $1
    AND (position < $2 OR position >= (SELECT size FROM timelines WHERE timeline = $1))";
const ERASE_RECORD: &str = "UPDATE data_records SET erased = $1, salt = '', nonce = '', commitment = '',
    ciphertext = '' WHERE data_id = $2 AND timeline = $3 AND position = $4 AND erased IS NULL";
const ERASE_EVENTS: &str = "DELETE FROM events e USING unnest($2::text[], $3::bigint[]) AS w (event_id, position)
    WHERE e.timeline = $1 AND e.event_id = w.event_id AND e.position = w.position";

/// Deletes content from the tables. Missing content is not an error.
pub(super) fn erase<'a>(batch: &mut Batch<'a>, steps: &'a [TimelineCommit]) {
    for step in steps {
        let (timeline, mut events, mut positions) = (step.head.key, Vec::new(), Vec::new());
        for erasure in &step.erasures {
            match &erasure.content {
                ErasedContent::Data(data_id) => {
                    let (by, position) = (sql(erasure.by), sql(erasure.position));
                    batch.add(ERASE_RECORD, values![by, data_id.as_str(), timeline.0, position]);
                }
                ErasedContent::Event(event_id) => {
                    events.push(event_id.as_str());
                    positions.push(erasure.position);
                }
                ErasedContent::Reads(left) => contents::leave(batch, timeline, erasure.position, left),
            }
        }
        if !events.is_empty() {
            contents::prune(batch, timeline, &positions);
            batch.add(ERASE_EVENTS, values![timeline.0, events, positions.into_iter().map(sql).collect::<Vec<_>>()]);
        }
    }
}

/// Returns each of these records, if it is on a live timeline.
pub(super) async fn named(on: &Object, data_ids: &[DataId]) -> Result<Vec<Option<(TimelineId, DataRecord)>>, Failed> {
    if data_ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<&str> = data_ids.iter().map(DataId::as_str).collect();
    let found: Vec<(DataRecord, String)> = records(on, SELECT, &[&ids]).await?;
    let one = |(record, timeline): (DataRecord, String)| Ok((id(TimelineId::parse_stored(&timeline))?, record));
    let found: Vec<(TimelineId, DataRecord)> = found.into_iter().map(one).collect::<Result<_, Failed>>()?;
    let of = |data_id: &DataId| found.iter().find(|(_, record)| record.data_id == *data_id).cloned();
    Ok(data_ids.iter().map(of).collect())
}

/// Like [`named`], for the record added by each entry. Includes records of ended timelines that a fork continues.
pub(super) async fn at(
    on: &Object,
    timeline: TimelineKey,
    positions: &[u64],
) -> Result<Vec<Option<DataRecord>>, Failed> {
    let positions_sql: Vec<i64> = positions.iter().copied().map(sql).collect();
    let found: Vec<DataRecord> = records(on, SELECT_AT, &[&timeline.0, &positions_sql]).await?;
    let of = |position: &u64| found.iter().find(|record| record.position == *position).cloned();
    Ok(positions.iter().map(of).collect())
}

pub(super) async fn count_before(on: &Object, timeline: TimelineKey, end: u64) -> Result<u64, Failed> {
    let found = rows(on, COUNT, &[&timeline.0, &sql(end)]).await?;
    found.first().map_or(Ok(0), |row| number(row, 0))
}
