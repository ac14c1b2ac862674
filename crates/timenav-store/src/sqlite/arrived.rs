//! Timelines whose rows have arrived, and that stand from a step on.

use rusqlite::{Transaction, params};
use timenav_engine::{ArrivalCommit, StoreError};

use super::values::failed;

const STAND: &str = "DELETE FROM arrivals WHERE arrival = ?1 AND timeline = ?2 AND is_over = 0";

/// Takes the marks of timelines away that stand from now on.
pub(super) fn stand(transaction: &Transaction<'_>, step: &ArrivalCommit) -> Result<(), StoreError> {
    for timeline in &step.timelines {
        let gone = transaction.execute(STAND, params![step.arrival, timeline.0]).map_err(failed)?;
        if gone != 1 {
            return Err(given_up());
        }
    }
    Ok(())
}

/// Says that a bundle was given up.
pub(super) fn given_up() -> StoreError {
    StoreError::Unavailable("the bundle was given up before all of it had arrived; adopt it again".to_owned())
}
