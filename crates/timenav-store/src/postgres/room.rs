//! Whether something can be written.

use super::batch::{Batch, values};
use super::connection::Connections;
use super::transaction::Writing;
use super::values::Failed;

/// Bytes that are written to see whether there is room: what some dozen groups take.
const TRIED_BYTES: usize = 256 * 1024;

/// Writes as much as that, durably, and takes it away again. A crash in between leaves a row that nothing reads, until the
/// next try.
pub(super) async fn try_writing(connections: &Connections) -> Result<(), Failed> {
    let mut batch = Batch::default();
    batch.add("DELETE FROM room", values![]);
    batch.add("INSERT INTO room (filling) VALUES ($1)", values![vec![0_u8; TRIED_BYTES]]);
    Writing::begin(connections, batch).await?.0.commit(connections, None).await?;
    let mut batch = Batch::default();
    batch.add("DELETE FROM room", values![]);
    Writing::begin(connections, batch).await?.0.commit(connections, None).await
}
