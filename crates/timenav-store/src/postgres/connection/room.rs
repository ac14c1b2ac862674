//! Checks whether the database accepts writes.

use crate::postgres::connection::Connections;
use crate::postgres::transaction::Writing;
use crate::postgres::transaction::batch::{Batch, values};
use crate::postgres::values::Failed;

/// Bytes written as a trial: about the size of a few dozen groups.
const TRIED_BYTES: usize = 256 * 1024;

/// Writes a durable trial row and deletes it. A crash in between leaves an unused row until the next trial.
pub(in crate::postgres) async fn try_writing(connections: &Connections) -> Result<(), Failed> {
    let mut batch = Batch::default();
    batch.add("DELETE FROM room", values![]);
    batch.add("INSERT INTO room (filling) VALUES ($1)", values![vec![0_u8; TRIED_BYTES]]);
    Writing::begin(connections, batch).await?.0.commit(connections, None).await?;
    let mut batch = Batch::default();
    batch.add("DELETE FROM room", values![]);
    Writing::begin(connections, batch).await?.0.commit(connections, None).await
}
