//! Checks whether the database accepts writes.

use super::batch::{Batch, values};
use super::connection::Connections;
use super::transaction::Writing;
use super::values::Failed;

/// Bytes written as a trial: about the size of a few dozen groups.
const TRIED_BYTES: usize = 256 * 1024;

/// Writes a durable trial row and deletes it. A crash in between leaves an unused row until the next trial.
pub(super) async fn try_writing(connections: &Connections) -> Result<(), Failed> {
    let mut batch = Batch::default();
    batch.add("DELETE FROM room", values![]);
    batch.add("INSERT INTO room (filling) VALUES ($1)", values![vec![0_u8; TRIED_BYTES]]);
    Writing::begin(connections, batch).await?.0.commit(connections, None).await?;
    let mut batch = Batch::default();
    batch.add("DELETE FROM room", values![]);
    Writing::begin(connections, batch).await?.0.commit(connections, None).await
}
