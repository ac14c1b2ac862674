//! Checks whether the disk has free space.

use rusqlite::Connection;
use timenav_engine::StoreError;

use crate::sqlite::values::failed;

/// About the size of a few dozen groups. A single page could still fit where the next group does not.
const TRIED_BYTES: u32 = 256 * 1024;

/// Writes a durable trial row and deletes it. A crash in between leaves an unused row until the next trial.
pub(in crate::sqlite) fn try_writing(writer: &Connection) -> Result<(), StoreError> {
    writer.execute("DELETE FROM room", []).map_err(failed)?;
    writer.execute("INSERT INTO room VALUES (zeroblob(?1))", [TRIED_BYTES]).map_err(failed)?;
    writer.execute("DELETE FROM room", []).map(drop).map_err(failed)
}
