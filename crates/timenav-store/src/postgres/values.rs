use std::error::Error;

use bytes::BytesMut;
use timenav_engine::StoreError;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::tables::{RowValues, Value};

pub(super) use crate::persistence::values::{bytes, count, damaged, id, instant, role, sql};

#[derive(Debug)]
pub(super) enum Failed {
    Database(tokio_postgres::Error),
    Store(StoreError),
    /// Entries are distributed over several servers, and the last entry of a visible head is not visible yet: the
    /// server with the entry commits after the one with the head.
    Unfinished,
}

impl From<tokio_postgres::Error> for Failed {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Failed> for StoreError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Database(error) => meaning(&error),
            Failed::Store(error) => error,
            Failed::Unfinished => StoreError::Unavailable(
                "Citus has not finished a change: a timeline has its new head, but not its last entry. Citus recovers \
                 within `citus.recover_2pc_interval`"
                    .to_owned(),
            ),
        }
    }
}

impl Failed {
    /// Returns whether a retry of the transaction may succeed, because it lost against another one.
    pub(super) fn may_be_repeated(&self) -> bool {
        let lost = [&SqlState::T_R_SERIALIZATION_FAILURE, &SqlState::T_R_DEADLOCK_DETECTED];
        matches!(self, Self::Database(error) if error.code().is_some_and(|code| lost.contains(&code)))
    }
}

pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Failed> {
    Ok(row.try_get(at)?)
}

pub(super) fn number(row: &Row, at: usize) -> Result<u64, Failed> {
    Ok(count(get(row, at)?)?)
}

/// Returns a free text, which is stored as bytes because `text` cannot contain NUL.
pub(super) fn text(row: &Row, at: usize) -> Result<String, Failed> {
    without_nul(get(row, at)?)
}

pub(super) fn text_or_none(row: &Row, at: usize) -> Result<Option<String>, Failed> {
    get::<Option<Vec<u8>>>(row, at)?.map(without_nul).transpose()
}

fn without_nul(bytes: Vec<u8>) -> Result<String, Failed> {
    Ok(String::from_utf8(bytes).map_err(|_| damaged("a text that is not UTF-8"))?)
}

impl RowValues for Row {
    fn value(&self, at: usize) -> Result<Value<'_>, StoreError> {
        Ok(get(self, at)?)
    }
}

impl<'a> FromSql<'a> for Value<'a> {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *of {
            Type::BOOL => Self::Whole(bool::from_sql(of, raw)?.into()),
            Type::INT2 => Self::Whole(i16::from_sql(of, raw)?.into()),
            Type::INT4 => Self::Whole(i32::from_sql(of, raw)?.into()),
            Type::INT8 => Self::Whole(i64::from_sql(of, raw)?),
            Type::FLOAT8 => Self::Real(f64::from_sql(of, raw)?),
            _ => Self::Bytes(raw.into()),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(of: &Type) -> bool {
        TYPES.contains(of)
    }
}

const TYPES: [Type; 7] = [Type::BOOL, Type::INT2, Type::INT4, Type::INT8, Type::FLOAT8, Type::TEXT, Type::BYTEA];

impl ToSql for Value<'_> {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self, of) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Whole(whole), &Type::BOOL) => (*whole != 0).to_sql(of, out),
            (Self::Whole(whole), &Type::INT2) => i16::try_from(*whole)?.to_sql(of, out),
            (Self::Whole(whole), &Type::INT4) => i32::try_from(*whole)?.to_sql(of, out),
            (Self::Whole(whole), &Type::INT8) => whole.to_sql(of, out),
            (Self::Real(real), &Type::FLOAT8) => real.to_sql(of, out),
            (Self::Bytes(bytes), &Type::TEXT) => std::str::from_utf8(bytes)?.to_sql(of, out),
            (Self::Bytes(bytes), &Type::BYTEA) => (&**bytes).to_sql(of, out),
            (Self::Word(word), &Type::TEXT) => (&**word).to_sql(of, out),
            (Self::Word(word), &Type::BYTEA) => word.as_bytes().to_sql(of, out),
            (other, of) => Err(format!("{other:?} is not of type {of}").into()),
        }
    }

    fn accepts(of: &Type) -> bool {
        TYPES.contains(of)
    }

    to_sql_checked!();
}

/// Returns advice for an untrusted server certificate, given the TLS error.
fn tls_advice(cause: &str) -> &'static str {
    if cause.contains("UnsupportedCertVersion") {
        "; the server has an X.509 version 1 certificate, as Citus creates it: give it a version 3 certificate, or, on \
         a private network, use `sslmode=disable` in the address"
    } else if cause.contains("invalid peer certificate") {
        "; set `sslrootcert` in the address to a file with the server's CA certificate, or, on a private network, use \
         `sslmode=disable`"
    } else {
        ""
    }
}

fn meaning(error: &tokio_postgres::Error) -> StoreError {
    let Some(without_nul) = error.as_db_error() else {
        // The cause has the details. The error itself is no more than "error connecting to server".
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        let advice = tls_advice(&cause);
        return StoreError::Unavailable(format!("PostgreSQL: {error}{cause}{advice}"));
    };
    let code = without_nul.code();
    let message = format!("PostgreSQL: {} ({})", without_nul.message(), code.code());
    let is_damage = [&SqlState::DATA_CORRUPTED, &SqlState::INDEX_CORRUPTED].contains(&code)
        // Class 23, constraint violations: the engine never causes any.
        || code.code().starts_with("23");
    if is_damage { StoreError::Damaged(message) } else { StoreError::Unavailable(message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_certificate_is_reported_with_a_remedy() {
        let unknown = tls_advice(": invalid peer certificate: UnknownIssuer");
        assert!(unknown.contains("`sslrootcert`") && unknown.contains("`sslmode=disable`"), "{unknown}");
        let old = tls_advice(": invalid peer certificate: UnsupportedCertVersion");
        assert!(old.contains("version 3") && old.contains("`sslmode=disable`"), "{old}");
        assert_eq!(tls_advice(": Connection refused (os error 111)"), "");
    }
}
