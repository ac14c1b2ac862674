use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use timenav_core::anchor::Anchor;
use timenav_core::directory::ApiKey;
use timenav_core::ids::{AnchorId, DataId, EventId, KeyId, TimelineId};

use crate::ledger::head::{Layer, TimelineKey};
use crate::ports::facts::{FactsQuery, QueryOrigin};
use crate::ports::rows::{DataRecord, KnownEvent, StoredEntry};
use crate::ports::store::Store;
use crate::ports::store_error::StoreError;

/// Convenience queries for single facts, implemented for all stores.
#[async_trait]
pub trait OneFact: Store {
    /// Returns those of the events that exist on these layers.
    ///
    /// # Errors
    /// The store does not respond.
    async fn event_versions(
        &self,
        layers: Arc<[Layer]>,
        event_ids: Vec<EventId>,
    ) -> Result<HashMap<EventId, KnownEvent>, StoreError> {
        let query = FactsQuery { events: vec![(layers, event_ids)], ..FactsQuery::default() };
        Ok(self.facts(query, QueryOrigin::Reader).await?.events.pop().unwrap_or_default())
    }

    /// Returns one ledger entry.
    ///
    /// # Errors
    /// The store does not respond.
    async fn entry(&self, timeline: TimelineKey, position: u64) -> Result<Option<StoredEntry>, StoreError> {
        let query = FactsQuery { entries: vec![(timeline, position)], ..FactsQuery::default() };
        Ok(self.facts(query, QueryOrigin::Reader).await?.entries.pop().flatten())
    }

    /// Returns one anchor.
    ///
    /// # Errors
    /// The store does not respond.
    async fn anchor(&self, timeline: TimelineKey, id: &AnchorId) -> Result<Option<Anchor>, StoreError> {
        let query = FactsQuery { anchors: vec![(timeline, id.clone())], ..FactsQuery::default() };
        Ok(self.facts(query, QueryOrigin::Reader).await?.anchors.pop().flatten())
    }

    /// Returns one API key, valid or not.
    ///
    /// # Errors
    /// The store does not respond.
    async fn api_key(&self, id: &KeyId) -> Result<Option<ApiKey>, StoreError> {
        let query = FactsQuery { keys: vec![id.clone()], ..FactsQuery::default() };
        Ok(self.facts(query, QueryOrigin::Reader).await?.keys.pop().flatten())
    }

    /// Returns one sealed record, and the name of its timeline.
    ///
    /// # Errors
    /// The store does not respond.
    async fn data_record(&self, id: &DataId) -> Result<Option<(TimelineId, DataRecord)>, StoreError> {
        let query = FactsQuery { data: vec![id.clone()], ..FactsQuery::default() };
        Ok(self.facts(query, QueryOrigin::Reader).await?.data.pop().flatten())
    }

    /// Returns the stored checkpoint signed by two keys whose last entry is at a position.
    ///
    /// # Errors
    /// The store does not respond.
    async fn rotation_note(&self, timeline: TimelineKey, position: u64) -> Result<Option<String>, StoreError> {
        let query = FactsQuery { rotation_notes: vec![(timeline, position)], ..FactsQuery::default() };
        Ok(self.facts(query, QueryOrigin::Reader).await?.rotation_notes.pop().flatten())
    }
}

impl<S: Store + ?Sized> OneFact for S {}
