//! Sealed records and erasures.

use timenav_core::data::{KeyKind, SealedData};
use timenav_core::ids::{DataId, EventId, TimelineId};

use super::decide::{done, gone};
use super::{Group, Outcome};
use crate::action::Action;
use crate::command::{Actor, Change};
use crate::json::json;
use crate::payload::{DataEncrypted, DataErased};
use crate::refusal::{Refusal, no_record};
use crate::rows::{DataRecord, ErasedContent, Erasure};

impl Group<'_> {
    pub(super) fn encrypt(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        data_id: DataId,
        kind: KeyKind,
        sealed: SealedData,
    ) -> Result<Outcome, Refusal> {
        let host = self.host(timeline);
        let max = self.options.data_records_per_timeline_max;
        let Some(state) = self.change(timeline) else { return Err(gone(timeline)) };
        if state.head.data_count >= max as u64 {
            return Err(Refusal::LimitReached { what: "sealed records on this timeline, erased ones among them", max });
        }
        state.head.data_count += 1;
        let payload = json(&DataEncrypted {
            data_id: data_id.to_string(),
            format: sealed.format,
            kdf: kind.as_str().to_owned(),
            sha256: sealed.hash().to_hex(),
            bytes: sealed.bytes_count(),
        });
        let position = self.append(timeline, actor.name(), Action::EncryptData, data_id.as_str(), payload, host);
        let Some(touched) = self.touched.get_mut(timeline) else { return Err(gone(timeline)) };
        touched.data.push(DataRecord { data_id: data_id.clone(), position, erased: None, sealed });
        Ok(done(timeline, Change::Data { data_id }, position))
    }

    pub(super) fn erase_data(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        data_id: &DataId,
    ) -> Result<Outcome, Refusal> {
        let known = self.known.data.remove(data_id).filter(|(on, _)| on == timeline);
        let (_, position) = known.ok_or_else(|| no_record(data_id))?;
        let payload = json(&DataErased {
            position,
            also: Vec::new(),
            data_id: Some(data_id.to_string()),
            event_id: None,
            cancelled: false,
        });
        let content = ErasedContent::Data(data_id.clone());
        self.erase(actor, timeline, data_id.as_str(), payload, (position, content))
    }

    /// Erases the content of an event: of every version of it.
    pub(super) fn erase_event(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        event_id: &EventId,
    ) -> Result<Outcome, Refusal> {
        let missing = || Refusal::NotFound { what: "event", id: event_id.to_string() };
        let known = self.known.events.remove(&(self.key(timeline)?, event_id.clone())).ok_or_else(missing)?;
        let own = self.layers_count(timeline) - 1;
        if known.versions.iter().any(|version| version.layer < own) {
            let detail = "the event was recorded on a timeline that this one was forked from; erase it there";
            return Err(Refusal::invalid("event_id", detail));
        }
        let mut positions: Vec<u64> = known.versions.iter().map(|version| version.position).rev().collect();
        positions.extend(known.interventions.iter().map(|(_, position)| *position));
        let also: Vec<u64> = positions.iter().skip(1).copied().filter(|position| *position != positions[0]).collect();
        let also: Vec<u64> = std::collections::BTreeSet::from_iter(also).into_iter().collect();
        let position = *positions.first().ok_or_else(missing)?;
        let cancelled = known.standing().is_none();
        let Some(state) = self.change(timeline) else { return Err(gone(timeline)) };
        state.head.events_count = state.head.events_count.saturating_sub(u64::from(!cancelled));
        state.events_changed_at = state.head.frontier.size() + 1;
        let payload = json(&DataErased {
            position,
            also: also.clone(),
            data_id: None,
            event_id: Some(event_id.to_string()),
            cancelled,
        });
        let content = ErasedContent::Event(event_id.clone());
        let outcome = self.erase(actor, timeline, event_id.as_str(), payload, (position, content.clone()))?;
        if let (Some(touched), Outcome::Done { position: by, .. }) = (self.touched.get_mut(timeline), &outcome) {
            let more = also.into_iter().map(|position| Erasure { position, by: *by, content: content.clone() });
            touched.erasures.extend(more);
        }
        Ok(outcome)
    }

    fn erase(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        subject: &str,
        payload: String,
        (position, content): (u64, ErasedContent),
    ) -> Result<Outcome, Refusal> {
        let host = self.host(timeline);
        let by = self.append(timeline, actor.name(), Action::EraseData, subject, payload, host);
        let Some(touched) = self.touched.get_mut(timeline) else { return Err(gone(timeline)) };
        touched.erasures.push(Erasure { position, by, content });
        Ok(done(timeline, Change::Erased { position }, by))
    }
}
