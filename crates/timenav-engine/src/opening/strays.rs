//! What another hand has made of timelines that arrive.

use crate::archive::Orphan;
use crate::store::{StrayArrivals, Upkeep};
use crate::store_error::StoreError;

/// Says what there is. Nobody reads any of it, so it is no reason not to start.
///
/// # Errors
/// The store does not answer.
pub(crate) async fn tell(store: &(impl Upkeep + ?Sized)) -> Result<(), StoreError> {
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
