use timenav_core::time::{Instant, Wall};

use crate::clock::clock_offset::ClockOffset;
use crate::ports::all::Ports;
use crate::ports::store::Store;
use crate::ports::store_error::StoreError;

/// Reads of the database's clock. The fastest counts, because others may have waited for a connection.
const COMPARISONS: usize = 3;

/// Compares with the newest entry by other services too. `None` if the store has no clock of its own.
pub(crate) async fn compare(
    store: &dyn Store,
    ports: &Ports,
    newest: Option<Instant<Wall>>,
    max_millis: u32,
) -> Result<Option<ClockOffset>, StoreError> {
    let max_micros = i64::from(max_millis) * 1_000;
    let mut best: Option<ClockOffset> = None;
    for _ in 0..COMPARISONS {
        let before = ports.clock.now();
        let Some(database) = store.database_clock().await? else { return Ok(None) };
        let offset = ClockOffset::of((before, database, ports.clock.now()), newest, max_micros);
        if best.is_none_or(|best| offset.uncertainty_micros < best.uncertainty_micros) {
            best = Some(offset);
        }
    }
    Ok(best)
}
