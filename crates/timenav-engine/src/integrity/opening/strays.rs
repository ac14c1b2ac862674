//! Rows of arriving timelines that no service has left behind.

use crate::ports::archive::Orphan;
use crate::ports::store::{StrayArrivals, Upkeep};
use crate::ports::store_error::StoreError;

/// Logs a warning for each. They are not read by anything, so the service starts anyway.
pub(crate) async fn report_strays(store: &(impl Upkeep + ?Sized)) -> Result<(), StoreError> {
    let StrayArrivals { orphans, marked } = store.stray_arrivals().await?;
    for Orphan { table, timeline } in orphans {
        tracing::error!(
            table,
            timeline,
            "table {table} has rows of timeline number {timeline}, which neither exists nor is arriving: the database was \
             modified outside timenav; keep it as evidence"
        );
    }
    for timeline in marked {
        tracing::error!(
            timeline,
            "timeline number {timeline} is marked as still arriving, but nothing arrives under that number: the database \
             was modified outside timenav; keep it as evidence"
        );
    }
    Ok(())
}
