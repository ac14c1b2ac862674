use async_recursion::async_recursion as boxed;
use timenav_core::access::{Demand, Denial};
use timenav_core::data::{EncryptionKey, Plaintext};
use timenav_core::ids::{DataId, EventId, TimelineId, type_id};
use timenav_core::limits::DATA_BYTES_MAX;

use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::changes::{ContentErased, DataStored};
use crate::ports::lookups::OneFact as _;
use crate::ports::rows::DataRecord;
use crate::ports::vault::{RecordPlace, Vault, VaultError};
use crate::requests::caller::Caller;
use crate::requests::code::Code;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::{Refusal, no_record};
use crate::writer::deciding::data::{EncryptData, EraseData, EraseEvent, LogDecryption};
use crate::writer::deciding::logged::LogRefusal;
use crate::writer::submission::Answer;

/// Suggested delay before a retry, in seconds, if too many requests wait.
const BUSY_SECONDS: u64 = 1;

#[derive(Clone, Debug)]
pub enum ErasureRequest {
    /// A sealed record, and optionally the timeline it is expected on.
    Data(Option<TimelineId>, DataId),
    /// An event of a timeline, which defaults to the key's own.
    Event(Option<TimelineId>, EventId),
}

impl Engine {
    /// Seals a JSON object under the caller's key and stores the result. Neither the object nor the key is stored.
    ///
    /// # Errors
    /// The data is too large, sealing is disabled, the caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn encrypt_data(
        &self,
        caller: &Caller,
        timeline: TimelineId,
        data: Plaintext,
        key: EncryptionKey,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<DataStored>, Refusal> {
        let vault = self.vault()?;
        let length = data.as_str().len();
        if length > DATA_BYTES_MAX {
            return Err(Refusal::invalid(
                "data",
                format!("data can have at most {DATA_BYTES_MAX} bytes, not {length}"),
            ));
        }
        // A missing timeline may be created by this, so only check an existing one before the expensive encryption.
        if self.state(&timeline).is_some() {
            self.admit(caller, &timeline, Demand::Record, Action::EncryptData.word()).await?;
        }
        let data_id = DataId::new(&type_id("data", self.uuid())).map_err(|error| Refusal::id("data_id", error))?;
        let place = RecordPlace { timeline_id: timeline.clone(), data_id: data_id.clone() };
        let kind = key.kind();
        let sealed = vault.seal(&caller.user_id, place, data, key).await.map_err(refusal)?;
        let encryption = EncryptData { data_id, kind, sealed };
        self.submit(caller, timeline, encryption, idempotency).await
    }

    /// Opens a sealed record.
    ///
    /// # Errors
    /// There is no such record, the key does not open it, the caller is not authorized, too many wrong keys were tried,
    /// sealing is disabled, or the ledger cannot be written.
    #[boxed]
    pub async fn decrypt_data(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        data_id: DataId,
        key: EncryptionKey,
    ) -> Result<Plaintext, Refusal> {
        let vault = self.vault()?;
        let access =
            DataAccess { timeline, data_id: &data_id, demand: Demand::Inspect, operation: Action::DecryptData.word() };
        let (timeline_id, record) = self.data_record(caller, access).await?;
        if record.erased.is_some() {
            return Err(no_record(&data_id));
        }
        let tried = self.shared().attempts.reserve(&data_id, || self.now()).await;
        let tried = tried.map_err(|retry_after_seconds| Refusal::RateLimited {
            what: "wrong keys for this record",
            retry_after_seconds,
        })?;
        let place = RecordPlace { timeline_id: timeline_id.clone(), data_id: data_id.clone() };
        match vault.open(&caller.user_id, place, record.sealed, key).await {
            Ok(data) => {
                tried.give_back();
                // Unlike other reads, this one is always durable before the response is sent.
                self.submit(caller, timeline_id, LogDecryption { data_id }, None).await?;
                Ok(data)
            }
            Err(VaultError::Closed) => {
                tried.wrong(self.now());
                let reason = format!("the key does not open {data_id}");
                let log = LogRefusal::new(Action::DecryptData.word(), Code::WrongEncryptionKey.as_str(), &reason);
                self.submit(caller, timeline_id, log, None).await?;
                Err(Refusal::WrongEncryptionKey)
            }
            Err(error @ (VaultError::Busy | VaultError::Failed)) => {
                tried.give_back();
                Err(refusal(error))
            }
        }
    }

    /// Erases a sealed record, or the content of an event. The leaves stay, and so does every proof.
    ///
    /// # Errors
    /// It no longer exists, the caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn erase_data(
        &self,
        caller: &Caller,
        erasure: ErasureRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<ContentErased>, Refusal> {
        match erasure {
            ErasureRequest::Data(timeline, data_id) => {
                let demand = Demand::Erase;
                let access = DataAccess { timeline, data_id: &data_id, demand, operation: Action::EraseData.word() };
                // The writer decides whether it is erased already, because the request may be a repetition.
                let (timeline, _) = self.data_record(caller, access).await?;
                self.submit(caller, timeline, EraseData { data_id }, idempotency).await
            }
            ErasureRequest::Event(timeline, event_id) => {
                let timeline = caller.timeline(timeline);
                let answer = self.submit(caller, timeline, EraseEvent { event_id }, idempotency).await?;
                self.drop_views_of_forks(&answer.timeline_id);
                Ok(answer)
            }
        }
    }

    /// Without access to the timeline, an existing record looks like a missing one.
    async fn data_record(&self, caller: &Caller, access: DataAccess<'_>) -> Result<(TimelineId, DataRecord), Refusal> {
        let DataAccess { timeline, data_id, demand, operation } = access;
        let unseen = |refused: Refusal| match refused {
            Refusal::Denied(Denial::Hidden) | Refusal::NotFound { .. } => no_record(data_id),
            refused => refused,
        };
        let found = self.store().data_record(data_id).await?;
        let found = found.filter(|(on, _)| timeline.as_ref().is_none_or(|named| named == on));
        let Some((on, record)) = found else {
            let refused = no_record(data_id);
            if let Some(named) = &timeline {
                // The record may have been deleted with its timeline, whose end is public.
                self.admit(caller, named, demand, operation).await.map_err(unseen)?;
            }
            let aimed = timeline.unwrap_or_else(TimelineId::system);
            let log = LogRefusal::new(operation, Code::NotFound.as_str(), &refused);
            self.submit(caller, aimed, log, None).await?;
            return Err(refused);
        };
        self.admit(caller, &on, demand, operation).await.map_err(unseen)?;
        Ok((on, record))
    }

    fn vault(&self) -> Result<&dyn Vault, Refusal> {
        self.ports().vault.as_deref().ok_or(Refusal::FeatureDisabled { what: "encryption" })
    }
}

struct DataAccess<'a> {
    timeline: Option<TimelineId>,
    data_id: &'a DataId,
    demand: Demand,
    operation: &'static str,
}

fn refusal(error: VaultError) -> Refusal {
    match error {
        VaultError::Closed => Refusal::WrongEncryptionKey,
        VaultError::Busy => {
            Refusal::RateLimited { what: "requests that seal or open data", retry_after_seconds: BUSY_SECONDS }
        }
        VaultError::Failed => Refusal::Damaged(error.to_string()),
    }
}
