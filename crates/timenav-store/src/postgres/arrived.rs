//! Timelines whose rows have arrived, and that stand from a step on.

use timenav_engine::{ArrivalCommit, StoreError};

use super::batch::{Batch, values};

const STAND: &str = "DELETE FROM arrivals WHERE arrival = $1 AND timeline = ANY($2) AND NOT is_over RETURNING timeline";

/// Takes the marks of timelines away that stand from now on. Its rows are counted by [`check_standing`].
pub(super) fn stand<'a>(batch: &mut Batch<'a>, step: &'a ArrivalCommit) {
    batch.add(STAND, values![&*step.arrival, step.timelines.iter().map(|key| key.0).collect::<Vec<_>>()]);
}

/// Makes sure that nobody has given up what is to stand.
pub(super) fn check_standing(step: &ArrivalCommit, marks_count: usize) -> Result<(), StoreError> {
    if marks_count == step.timelines.len() { Ok(()) } else { Err(given_up()) }
}

/// Says that a bundle was given up.
pub(super) fn given_up() -> StoreError {
    StoreError::Unavailable("the bundle was given up before all of it had arrived; adopt it again".to_owned())
}
