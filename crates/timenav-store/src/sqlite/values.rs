use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, Params, Row, ffi, params_from_iter};
use timenav_engine::{StoreError, TimelineKey};

pub(super) use crate::persistence::values::{bytes, count, damaged, id, instant, role, sql};

use crate::tables::{Fields, Record, RowValues, Value};

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

impl RowValues for Row<'_> {
    fn value(&self, at: usize) -> Result<Value<'_>, StoreError> {
        self.get_ref(at).map(value_of).map_err(failed)
    }
}

pub(super) fn value_of(value: ValueRef<'_>) -> Value<'_> {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(whole) => Value::Whole(whole),
        ValueRef::Real(real) => Value::Real(real),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Value::Bytes(bytes.into()),
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Whole(whole) => ValueRef::Integer(*whole),
            Self::Real(real) => ValueRef::Real(*real),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::Word(word) => ValueRef::Text(word.as_bytes()),
        }))
    }
}

/// Inserts a row of a timeline, or a row that belongs to none.
pub(super) fn insert<R: Record>(on: &Connection, timeline: Option<TimelineKey>, record: &R) -> rusqlite::Result<()> {
    let timeline = timeline.map(|timeline| Value::Whole(timeline.0));
    let mut insert = on.prepare_cached(R::TABLE.sqlite_insert())?;
    insert.execute(params_from_iter(timeline.into_iter().chain(record.values())))?;
    Ok(())
}

/// Returns the records that a statement selects. `*` stands for their columns.
pub(super) fn records<R: Record>(on: &Connection, select: &str, values: impl Params) -> Result<Vec<R>, StoreError> {
    let mut records = Vec::new();
    each(on, select, values, |record| records.push(record))?;
    Ok(records)
}

/// Like [`records`], but keeps none of them.
pub(super) fn each<R: Record>(
    on: &Connection,
    select: &str,
    values: impl Params,
    mut take: impl FnMut(R),
) -> Result<(), StoreError> {
    let mut select = on.prepare_cached(&R::TABLE.select(select)).map_err(failed)?;
    let mut rows = select.query(values).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        take(R::read(&mut Fields::of(row))?);
    }
    Ok(())
}

/// SQLite reports these as "disk I/O error" when a file cannot grow, unless it detects a full disk itself.
const NEEDS_ROOM: [i32; 3] = [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_SHMSIZE];

#[expect(clippy::needless_pass_by_value, reason = "`map_err` requires this signature")]
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
        let meaning_of = |code: i32| failed(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)).to_string();
        for code in NEEDS_ROOM {
            assert!(meaning_of(code).ends_with("the disk is full or failing"), "{}", meaning_of(code));
        }
        assert!(!meaning_of(ffi::SQLITE_IOERR_READ).contains("full"), "{}", meaning_of(ffi::SQLITE_IOERR_READ));
    }
}
