use rusqlite::{ErrorCode, ffi};
use timenav_engine::{StoreError, TimelineKey};

pub(super) use crate::kept::values::{bytes, count, damaged, id, instant, rate, restriction, role, scopes, sql};

/// Bits of an entry key that hold the position.
pub(super) const POSITION_BITS: u32 = 40;
/// The highest position of an entry. The next key belongs to another timeline.
pub(super) const POSITION_MAX: u64 = (1 << POSITION_BITS) - 1;

/// The cell of events without coordinates.
pub(super) const NO_CELL: i64 = -1;

/// Returns the key of an entry. Keys are sorted by timeline, then position.
pub(super) fn entry_key(timeline: TimelineKey, position: u64) -> i64 {
    (timeline.0 << POSITION_BITS) | sql(position)
}

pub(super) fn position(timeline: TimelineKey, key: i64) -> Result<u64, StoreError> {
    count(key - entry_key(timeline, 0))
}

/// SQLite reports these as "disk I/O error" when a file cannot grow, unless it detects a full disk itself.
const NEEDS_ROOM: [i32; 3] = [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_SHMSIZE];

#[expect(clippy::needless_pass_by_value, reason = "has the shape that `map_err` asks for")]
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    let code = error.sqlite_error_code();
    if matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation)) {
        StoreError::Damaged(error.to_string())
    } else if matches!(error.sqlite_error().map(|error| error.extended_code), Some(code) if NEEDS_ROOM.contains(&code))
    {
        StoreError::Unavailable(format!("{error}: the disk is full or failing"))
    } else {
        StoreError::Unavailable(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_errors_for_lack_of_space_report_a_full_disk() {
        let told = |code: i32| failed(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)).to_string();
        for code in NEEDS_ROOM {
            assert!(told(code).ends_with("the disk is full or failing"), "{}", told(code));
        }
        assert!(!told(ffi::SQLITE_IOERR_READ).contains("full"), "{}", told(ffi::SQLITE_IOERR_READ));
    }
}
