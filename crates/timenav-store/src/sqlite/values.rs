//! How the engine's values stand in rows.

use rusqlite::ErrorCode;
use timenav_core::access::{RestrictionLevel, Role, Scope};
use timenav_core::clock::Rate;
use timenav_core::time::Instant;
use timenav_engine::{StoreError, TimelineKey};

/// Bits of an entry's key that hold its position.
pub(super) const POSITION_BITS: u32 = 40;
/// The highest position an entry can have. Beyond it the keys of another timeline begin.
pub(super) const POSITION_MAX: u64 = (1 << POSITION_BITS) - 1;

/// The cell of events without coordinates.
pub(super) const NO_CELL: i64 = -1;

/// Returns the key of an entry: timelines one after the other, positions inside them.
pub(super) fn entry_key(timeline: TimelineKey, position: u64) -> i64 {
    (timeline.0 << POSITION_BITS) | sql(position)
}

/// Returns the position of the entry with a key.
pub(super) fn position(timeline: TimelineKey, key: i64) -> Result<u64, StoreError> {
    count(key - entry_key(timeline, 0))
}

/// Returns a count or position as SQLite holds it. None comes near 2^63.
pub(super) fn sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a count or position as the engine holds it.
pub(super) fn count(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|_| damaged("a count below zero"))
}

pub(super) fn instant<S>(micros: i64) -> Result<Instant<S>, StoreError> {
    Instant::from_micros(micros).ok_or_else(|| damaged("an instant outside the years -9999 to 9999"))
}

pub(super) fn rate(micros: i64) -> Result<Rate, StoreError> {
    u64::try_from(micros).ok().and_then(Rate::from_micros).ok_or_else(|| damaged("a rate outside its limits"))
}

pub(super) fn role(word: &str) -> Result<Role, StoreError> {
    let all = [Role::Read, Role::Write, Role::Admin];
    all.into_iter().find(|role| role.as_str() == word).ok_or_else(|| damaged("an unknown role"))
}

pub(super) fn restriction(word: &str) -> Result<RestrictionLevel, StoreError> {
    let found = RestrictionLevel::ALL.into_iter().find(|level| level.as_str() == word);
    found.ok_or_else(|| damaged("an unknown restriction level"))
}

pub(super) fn scopes(words: &str) -> Result<Vec<Scope>, StoreError> {
    let one = |word: &str| Scope::ALL.into_iter().find(|scope| scope.as_str() == word);
    words.split_whitespace().map(|word| one(word).ok_or_else(|| damaged("an unknown scope"))).collect()
}

pub(super) fn id<T, E>(made: Result<T, E>) -> Result<T, StoreError> {
    made.map_err(|_| damaged("not a valid id"))
}

pub(super) fn bytes<const N: usize>(blob: &[u8]) -> Result<[u8; N], StoreError> {
    blob.try_into().map_err(|_| damaged("a digest or salt of the wrong length"))
}

pub(super) fn damaged(what: &str) -> StoreError {
    StoreError::Damaged(what.to_owned())
}

/// Returns what an error of SQLite means to the engine.
#[expect(clippy::needless_pass_by_value, reason = "has the shape that `map_err` asks for")]
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    let code = error.sqlite_error_code();
    if matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation)) {
        StoreError::Damaged(error.to_string())
    } else {
        StoreError::Unavailable(error.to_string())
    }
}
