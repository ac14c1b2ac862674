//! The column with the length class of events, which feature level 6 adds.

use timenav_engine::LengthClass;
use tokio_postgres::Transaction;

use crate::postgres::values::{Failed, get, text};

/// The migration step that adds the column.
pub(in crate::postgres) const STEP: &str = "0004-lengths";

const ROWS_MAX: i64 = 10_000;
/// Rows with `"end_time"` in their JSON, compared as bytes. A match need not be the field.
const SELECT: &str = r"SELECT timeline, event_id, position, content FROM events
    WHERE (timeline, event_id, position) > ($1, $2, $3)
    AND position('\x22656e645f74696d6522'::bytea IN content) > 0 ORDER BY timeline, event_id, position LIMIT $4";
const FILL: &str = "UPDATE events e SET length_class = w.length_class
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::smallint[]) AS w (timeline, event_id, position, length_class)
    WHERE e.timeline = w.timeline AND e.event_id = w.event_id AND e.position = w.position";

/// Fills the new column for all events.
pub(in crate::postgres) async fn fill(transaction: &Transaction<'_>) -> Result<(), Failed> {
    let (mut timeline, mut event_id, mut position) = (i64::MIN, String::new(), -1_i64);
    loop {
        let found = transaction.query(SELECT, &[&timeline, &event_id, &position, &ROWS_MAX]).await?;
        let Some(last) = found.last() else { return Ok(()) };
        (timeline, event_id, position) = (get(last, 0)?, get(last, 1)?, get(last, 2)?);
        let (mut timelines, mut event_ids, mut positions, mut classes) =
            (Vec::<i64>::new(), Vec::<&str>::new(), Vec::<i64>::new(), Vec::<i16>::new());
        for row in &found {
            let Some(class) = LengthClass::of_content(&text(row, 3)?) else { continue };
            timelines.push(get(row, 0)?);
            event_ids.push(get(row, 1)?);
            positions.push(get(row, 2)?);
            classes.push(class.number().into());
        }
        transaction.execute(FILL, &[&timelines, &event_ids, &positions, &classes]).await?;
    }
}
