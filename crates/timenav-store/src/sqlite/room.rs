//! Whether there is room for what is to be written.

use rusqlite::Connection;
use timenav_engine::StoreError;

use super::values::failed;

/// Bytes that are written to see whether there is room: what some dozen groups take. A single page
/// may have room where the next group has none.
const TRIED_BYTES: u32 = 256 * 1024;

/// Writes as much as that, durably, and takes it away again. A crash in between leaves a table that
/// nothing reads, until the next try.
pub(super) fn try_writing(writer: &Connection) -> Result<(), StoreError> {
    writer.execute_batch("DROP TABLE IF EXISTS room").map_err(failed)?;
    let step = writer.unchecked_transaction().map_err(failed)?;
    step.execute_batch("CREATE TABLE room (filling BLOB NOT NULL)").map_err(failed)?;
    step.execute("INSERT INTO room VALUES (zeroblob(?1))", [TRIED_BYTES]).map_err(failed)?;
    step.commit().map_err(failed)?;
    writer.execute_batch("DROP TABLE room").map_err(failed)
}
