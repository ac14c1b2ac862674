//! How values of core, which knows no serde, are written in stored JSON.

use std::sync::Arc;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use timenav_core::ids::{
    AdvanceId, AnchorId, DataId, EventId, FiringId, FollowerName, InterventionId, KeyId, LeaseId, QueueId, TimerId,
    UserId,
};
use timenav_core::ledger::{Hash, PruneClass, Retention};
use timenav_core::time::Instant;
use timenav_core::timers::FiringState;
use timenav_core::timers::holds::Hold;

/// A value with a stored form, for `#[serde(with = "stored")]`.
pub(crate) trait Stored: Sized {
    type Form: Serialize + DeserializeOwned;

    fn form(&self) -> Self::Form;
    /// `None` if it is invalid.
    fn of(form: Self::Form) -> Option<Self>;
}

pub(crate) fn serialize<S: Serializer>(value: &impl Stored, serializer: S) -> Result<S::Ok, S::Error> {
    value.form().serialize(serializer)
}

pub(crate) fn deserialize<'de, T: Stored, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::of(T::Form::deserialize(deserializer)?).ok_or_else(|| D::Error::custom("a stored value is invalid"))
}

impl<T: Stored> Stored for Option<T> {
    type Form = Option<T::Form>;

    fn form(&self) -> Self::Form {
        self.as_ref().map(T::form)
    }

    fn of(form: Self::Form) -> Option<Self> {
        try_map(form, T::of)
    }
}

impl<T: Stored> Stored for Vec<T> {
    type Form = Vec<T::Form>;

    fn form(&self) -> Self::Form {
        self.iter().map(T::form).collect()
    }

    fn of(form: Self::Form) -> Option<Self> {
        form.into_iter().map(T::of).collect()
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    type Form = (A::Form, B::Form);

    fn form(&self) -> Self::Form {
        (self.0.form(), self.1.form())
    }

    fn of((first, second): Self::Form) -> Option<Self> {
        Some((A::of(first)?, B::of(second)?))
    }
}

/// In microseconds since 1970. Payloads, which others read, have instants as text.
impl<S> Stored for Instant<S> {
    type Form = i64;

    fn form(&self) -> i64 {
        self.micros()
    }

    fn of(micros: i64) -> Option<Self> {
        Self::from_micros(micros)
    }
}

impl Stored for Arc<str> {
    type Form = String;

    fn form(&self) -> String {
        self.to_string()
    }

    fn of(text: String) -> Option<Self> {
        Some(text.into())
    }
}

impl Stored for Hash {
    type Form = String;

    fn form(&self) -> String {
        self.to_hex()
    }

    fn of(text: String) -> Option<Self> {
        Self::from_hex(&text)
    }
}

impl Stored for FiringState {
    type Form = String;

    fn form(&self) -> String {
        self.as_str().to_owned()
    }

    fn of(text: String) -> Option<Self> {
        Self::parse(&text)
    }
}

impl Stored for PruneClass {
    type Form = String;

    fn form(&self) -> String {
        self.as_str().to_owned()
    }

    fn of(text: String) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == text)
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct RetentionForm {
    reads_seconds: Option<u32>,
    refusals_seconds: Option<u32>,
}

impl Stored for Retention {
    type Form = RetentionForm;

    fn form(&self) -> RetentionForm {
        RetentionForm { reads_seconds: self.reads_seconds, refusals_seconds: self.refusals_seconds }
    }

    fn of(RetentionForm { reads_seconds, refusals_seconds }: RetentionForm) -> Option<Self> {
        Some(Self { reads_seconds, refusals_seconds })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct HoldForm {
    lease_id: String,
    owner: String,
    reason: String,
    until: i64,
}

impl Stored for Hold {
    type Form = HoldForm;

    fn form(&self) -> HoldForm {
        let Self { lease_id, owner, reason, until } = self.clone();
        HoldForm { lease_id: lease_id.form(), owner, reason, until: until.form() }
    }

    fn of(HoldForm { lease_id, owner, reason, until }: HoldForm) -> Option<Self> {
        Some(Self { lease_id: Stored::of(lease_id)?, owner, reason, until: Stored::of(until)? })
    }
}

macro_rules! stored_ids {
    ($($id:ident),+) => {$(
        impl Stored for $id {
            type Form = String;

            fn form(&self) -> String {
                self.to_string()
            }

            fn of(text: String) -> Option<Self> {
                Self::new(&text).ok()
            }
        }
    )+};
}

stored_ids!(
    AdvanceId,
    AnchorId,
    DataId,
    EventId,
    FiringId,
    FollowerName,
    InterventionId,
    KeyId,
    LeaseId,
    QueueId,
    TimerId,
    UserId
);

/// Converts a value, if there is one. `None` if that fails.
#[expect(clippy::option_option, reason = "the outer one is a failure")]
pub(crate) fn try_map<T, U>(value: Option<T>, convert: impl FnOnce(T) -> Option<U>) -> Option<Option<U>> {
    value.map_or(Some(None), |value| convert(value).map(Some))
}
