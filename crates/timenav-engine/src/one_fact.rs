//! Single facts of the store, for those who read.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use timenav_core::anchor::Anchor;
use timenav_core::directory::ApiKey;
use timenav_core::ids::{AnchorId, DataId, EventId, KeyId, TimelineId};

use crate::facts::{Asker, Wanted};
use crate::head::{Layer, TimelineKey};
use crate::rows::{DataRecord, KnownEvent, StoredEntry};
use crate::store::Store;
use crate::store_error::StoreError;

/// Single facts, for those who read. Nothing here is for a store to do.
#[async_trait]
pub trait OneFact: Store {
    /// Returns which of these events are known on these layers.
    ///
    /// # Errors
    /// The store does not answer.
    async fn event_versions(
        &self,
        layers: Arc<[Layer]>,
        event_ids: Vec<EventId>,
    ) -> Result<HashMap<EventId, KnownEvent>, StoreError> {
        let wanted = Wanted { events: vec![(layers, event_ids)], ..Wanted::default() };
        Ok(self.facts(wanted, Asker::Reader).await?.events.pop().unwrap_or_default())
    }

    /// Returns one ledger entry.
    ///
    /// # Errors
    /// The store does not answer.
    async fn entry(&self, timeline: TimelineKey, position: u64) -> Result<Option<StoredEntry>, StoreError> {
        let wanted = Wanted { entries: vec![(timeline, position)], ..Wanted::default() };
        Ok(self.facts(wanted, Asker::Reader).await?.entries.pop().flatten())
    }

    /// Returns one anchor.
    ///
    /// # Errors
    /// The store does not answer.
    async fn anchor(&self, timeline: TimelineKey, id: &AnchorId) -> Result<Option<Anchor>, StoreError> {
        let wanted = Wanted { anchors: vec![(timeline, id.clone())], ..Wanted::default() };
        Ok(self.facts(wanted, Asker::Reader).await?.anchors.pop().flatten())
    }

    /// Returns one API key, whether it works or not.
    ///
    /// # Errors
    /// The store does not answer.
    async fn api_key(&self, id: &KeyId) -> Result<Option<ApiKey>, StoreError> {
        let wanted = Wanted { keys: vec![id.clone()], ..Wanted::default() };
        Ok(self.facts(wanted, Asker::Reader).await?.keys.pop().flatten())
    }

    /// Returns one sealed record, and the name of its timeline.
    ///
    /// # Errors
    /// The store does not answer.
    async fn data_record(&self, id: &DataId) -> Result<Option<(TimelineId, DataRecord)>, StoreError> {
        let wanted = Wanted { data: vec![id.clone()], ..Wanted::default() };
        Ok(self.facts(wanted, Asker::Reader).await?.data.pop().flatten())
    }

    /// Returns the checkpoint that two keys have signed, whose last entry is at a position; `None` where none was kept.
    ///
    /// # Errors
    /// The store does not answer.
    async fn rotation_note(&self, timeline: TimelineKey, position: u64) -> Result<Option<String>, StoreError> {
        let wanted = Wanted { rotation_notes: vec![(timeline, position)], ..Wanted::default() };
        Ok(self.facts(wanted, Asker::Reader).await?.rotation_notes.pop().flatten())
    }
}

impl<S: Store + ?Sized> OneFact for S {}
