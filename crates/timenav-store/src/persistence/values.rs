use timenav_core::access::{RestrictionLevel, Role, Scope};
use timenav_core::clock::Rate;
use timenav_core::time::Instant;
use timenav_engine::StoreError;

/// Returns a count or position as databases store it. No real value is near 2^63.
pub(crate) fn sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn count(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|_| damaged("a count below zero"))
}

pub(crate) fn instant<S>(micros: i64) -> Result<Instant<S>, StoreError> {
    Instant::from_micros(micros).ok_or_else(|| damaged("an instant outside the years -9999 to 9999"))
}

pub(crate) fn rate(micros: i64) -> Result<Rate, StoreError> {
    u64::try_from(micros).ok().and_then(Rate::from_micros).ok_or_else(|| damaged("a rate outside its limits"))
}

pub(crate) fn role(word: &str) -> Result<Role, StoreError> {
    Role::ALL.into_iter().find(|role| role.as_str() == word).ok_or_else(|| damaged("an unknown role"))
}

pub(crate) fn restriction(word: &str) -> Result<RestrictionLevel, StoreError> {
    let found = RestrictionLevel::ALL.into_iter().find(|level| level.as_str() == word);
    found.ok_or_else(|| damaged("an unknown restriction level"))
}

pub(crate) fn scopes(words: &str) -> Result<Vec<Scope>, StoreError> {
    let one = |word: &str| Scope::ALL.into_iter().find(|scope| scope.as_str() == word);
    words.split_whitespace().map(|word| one(word).ok_or_else(|| damaged("an unknown scope"))).collect()
}

pub(crate) fn id<T, E>(made: Result<T, E>) -> Result<T, StoreError> {
    made.map_err(|_| damaged("not a valid id"))
}

pub(crate) fn bytes<const N: usize>(blob: &[u8]) -> Result<[u8; N], StoreError> {
    blob.try_into().map_err(|_| damaged("a digest or salt of the wrong length"))
}

pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::Damaged(what.to_owned())
}
