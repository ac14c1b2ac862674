use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use timenav_core::access::RestrictionLevel;
use timenav_core::clock::Rate;
use timenav_core::ids::{
    AdvanceId, AnchorId, DataId, EventId, FiringId, InterventionId, KeyId, QueueId, SessionId, TimelineId, TimerId,
    UserId,
};
use timenav_core::ledger::Hash;
use timenav_core::time::Instant;
use timenav_core::timers::FiringState;
use timenav_engine::{StoreError, TimelineKey};

use crate::persistence::values::{bytes, count, damaged, id, instant, rate, restriction, sql};

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Value<'a> {
    Null,
    /// Integers and booleans.
    Whole(i64),
    Real(f64),
    /// Bytes, and texts that are read.
    Bytes(Cow<'a, [u8]>),
    /// Text. SQLite sorts text and bytes differently.
    Word(Cow<'a, str>),
}

impl<'a> Value<'a> {
    pub(crate) const fn word(text: &'a str) -> Self {
        Self::Word(Cow::Borrowed(text))
    }

    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Whole(whole) => Value::Whole(whole),
            Self::Real(real) => Value::Real(real),
            Self::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.into_owned())),
            Self::Word(word) => Value::Word(Cow::Owned(word.into_owned())),
        }
    }

    fn whole(self) -> Result<i64, StoreError> {
        if let Self::Whole(whole) = self { Ok(whole) } else { Err(damaged("a value that is not an integer")) }
    }

    fn bytes(self) -> Result<Cow<'a, [u8]>, StoreError> {
        if let Self::Bytes(bytes) = self { Ok(bytes) } else { Err(damaged("a value that is neither bytes nor text")) }
    }

    fn text(self) -> Result<Cow<'a, str>, StoreError> {
        let not_text = "a text that is not UTF-8";
        match self.bytes()? {
            Cow::Borrowed(bytes) => str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| damaged(not_text)),
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|_| damaged(not_text)),
        }
    }
}

/// A type whose values each fit one column.
pub(crate) trait Field: Sized {
    fn stored(&self) -> Value<'_>;

    /// # Errors
    /// If the column has another type, or a value that is never stored.
    fn read(value: Value<'_>) -> Result<Self, StoreError>;
}

/// Implements [`Field`] for types, each by an expression for the stored value and one for the value that is read.
macro_rules! fields {
    ($($type:ty: |$this:ident| $stored:expr, |$value:ident| $read:expr;)+) => {$(
        impl Field for $type {
            fn stored(&self) -> Value<'_> {
                let $this = self;
                $stored
            }

            fn read($value: Value<'_>) -> Result<Self, StoreError> {
                $read
            }
        }
    )+};
}

fields! {
    i64: |this| Value::Whole(*this), |value| value.whole();
    u64: |this| Value::Whole(sql(*this)), |value| count(value.whole()?);
    u32: |this| Value::Whole((*this).into()), |value| within(value);
    u8: |this| Value::Whole((*this).into()), |value| within(value);
    bool: |this| Value::Whole((*this).into()), |value| Ok(value.whole()? != 0);
    String: |this| Value::word(this), |value| Ok(value.text()?.into_owned());
    Arc<str>: |this| Value::word(this), |value| Ok(value.text()?.into());
    Vec<u8>: |this| Value::Bytes(this.into()), |value| Ok(value.bytes()?.into_owned());
    Arc<[u8]>: |this| Value::Bytes((&**this).into()), |value| Ok(value.bytes()?.into());
    [u8; 32]: |this| Value::Bytes(this.as_slice().into()), |value| bytes(&value.bytes()?);
    Hash: |this| Value::Bytes(this.as_bytes().as_slice().into()), |value| Ok(Self::from_bytes(Field::read(value)?));
    TimelineKey: |this| Value::Whole(this.0), |value| value.whole().map(Self);
    Rate: |this| Value::Whole(sql(this.micros())), |value| rate(value.whole()?);
    RestrictionLevel: |this| Value::word(this.as_str()), |value| restriction(&value.text()?);
    FiringState: |this| Value::Whole(number_of(*this)), |value| state(value.whole()?);
}

macro_rules! ids {
    ($($id:ident),+) => {
        fields! {$(
            $id: |this| Value::word(this.as_str()), |value| id(Self::new(&value.text()?));
        )+}
    };
}
ids!(
    AdvanceId,
    AnchorId,
    DataId,
    EventId,
    FiringId,
    InterventionId,
    KeyId,
    QueueId,
    SessionId,
    TimelineId,
    TimerId,
    UserId
);

impl<S> Field for Instant<S> {
    fn stored(&self) -> Value<'_> {
        Value::Whole(self.micros())
    }

    fn read(value: Value<'_>) -> Result<Self, StoreError> {
        instant(value.whole()?)
    }
}

impl<T: Field> Field for Option<T> {
    fn stored(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, Field::stored)
    }

    fn read(value: Value<'_>) -> Result<Self, StoreError> {
        if value == Value::Null { Ok(None) } else { T::read(value).map(Some) }
    }
}

fn within<T: TryFrom<i64>>(value: Value<'_>) -> Result<T, StoreError> {
    value.whole()?.try_into().map_err(|_| damaged("a number that is out of range"))
}

fn number_of(state: FiringState) -> i64 {
    let at = FiringState::ALL.iter().position(|one| *one == state);
    at.and_then(|at| i64::try_from(at).ok()).unwrap_or(0)
}

fn state(number: i64) -> Result<FiringState, StoreError> {
    let state = usize::try_from(number).ok().and_then(|at| FiringState::ALL.get(at).copied());
    state.ok_or_else(|| damaged("a firing in an unknown state"))
}

/// A row that a statement returned. Texts are returned as bytes.
pub(crate) trait RowValues {
    fn value(&self, at: usize) -> Result<Value<'_>, StoreError>;
}

/// Reads the columns of a row one after the other.
pub(crate) struct Fields<'r> {
    row: &'r dyn RowValues,
    next: usize,
}

impl<'r> Fields<'r> {
    pub(crate) fn of(row: &'r dyn RowValues) -> Self {
        Self { row, next: 0 }
    }

    pub(crate) fn get<T: Field>(&mut self) -> Result<T, StoreError> {
        let value = self.row.value(self.next)?;
        self.next += 1;
        T::read(value)
    }
}
