//! Whether there is room for what is to be written.

use rusqlite::Connection;
use timenav_engine::StoreError;

use super::values::failed;

/// Bytes that are written to see whether there is room: what some dozen groups take. A single page
/// may have room where the next group has none.
const TRIED_BYTES: u32 = 256 * 1024;

/// Writes as much as that, durably, and takes it away again. A crash in between leaves a row that
/// nothing reads, until the next try.
pub(super) fn try_writing(writer: &Connection) -> Result<(), StoreError> {
    writer.execute("DELETE FROM room", []).map_err(failed)?;
    writer.execute("INSERT INTO room VALUES (zeroblob(?1))", [TRIED_BYTES]).map_err(failed)?;
    writer.execute("DELETE FROM room", []).map(drop).map_err(failed)
}
