//! Events by their exact description. Descriptions have no index, so a limited number of rows is scanned.

use timenav_core::ids::EventId;
use timenav_engine::{Described, Layer, StoreError};

use crate::persistence::names::described_so;
use crate::postgres::connection::sessions::Object;
use crate::postgres::events::versions::known;
use crate::postgres::transaction::batch::rows;
use crate::postgres::values::{Failed, get, id, number, sql};

/// Matches the text in its JSON form before reading the rest. The last column is the number of rows scanned.
const SELECT: &str = "WITH looked AS MATERIALIZED
        (SELECT event_id, time, content FROM events WHERE timeline = $1 AND position < $3
        ORDER BY event_id, position LIMIT $4)
    SELECT event_id, time, (SELECT count(*) FROM looked) FROM looked WHERE position($2::bytea IN content) > 0
    UNION ALL SELECT NULL, NULL, (SELECT count(*) FROM looked)";

/// Returns the earliest event with a description: one in effect, or else an ended one. Newest layer first.
pub(in crate::postgres) async fn described(
    on: &Object,
    layers: &[Layer],
    description: &str,
    searched_max: usize,
) -> Result<Described, Failed> {
    let json = serde_json::to_string(description).map_err(|error| StoreError::Damaged(error.to_string()))?;
    let needle = format!("\"description\":{json}").into_bytes();
    let (mut found, mut searched): (Vec<(i64, EventId)>, usize) = (Vec::new(), 0);
    for layer in layers.iter().rev() {
        // One more row shows whether there are more.
        let rows_max = (searched_max + 1).saturating_sub(searched) as u64;
        let values = (sql(layer.as_of), sql(rows_max));
        for row in rows(on, SELECT, &[&layer.timeline.0, &needle, &values.0, &values.1]).await? {
            match get::<Option<&str>>(&row, 0)? {
                Some(event_id) => found.push((get(&row, 1)?, id(EventId::new(event_id))?)),
                None => searched += usize::try_from(number(&row, 2)?).unwrap_or(usize::MAX),
            }
        }
    }
    found.sort();
    let ids: Vec<EventId> = found.into_iter().map(|(_, event_id)| event_id).collect();
    let known = known(on, layers, &ids).await?;
    let event_id = described_so(&ids, &known, description);
    Ok(Described { event_id, is_cut_off: searched > searched_max })
}
