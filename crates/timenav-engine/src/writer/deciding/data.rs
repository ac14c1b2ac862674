use std::collections::BTreeSet;

use timenav_core::data::{KeyKind, SealedData};
use timenav_core::ids::{DataId, EventId};

use super::erasing::forget;
use super::{Aim, Command, CommandSpec, Needs};
use crate::ledger::action::Action;
use crate::ledger::changes::{ContentErased, DataStored, Logged};
use crate::ledger::payload::{DataDecrypted, DataEncrypted, DataErased, StatePayload};
use crate::ports::rows::{DataRecord, ErasedContent, Erasure};
use crate::requests::json::json;
use crate::requests::refusal::{Refusal, no_record};
use crate::writer::draft::{Done, Draft, Ledger};

pub(crate) struct EncryptData {
    pub(crate) data_id: DataId,
    pub(crate) kind: KeyKind,
    pub(crate) sealed: SealedData,
}

/// Log the opening of a sealed record. Decryption is slow, so the caller may have lost their role in the meantime.
pub(crate) struct LogDecryption {
    pub(crate) data_id: DataId,
}

pub(crate) struct EraseData {
    pub(crate) data_id: DataId,
}

pub(crate) struct EraseEvent {
    pub(crate) event_id: EventId,
}

impl Command for EncryptData {
    type Output = DataStored;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::EncryptData, Aim::TimelineOrNew)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<DataStored>, Refusal> {
        let Self { data_id, kind, sealed } = self;
        let ledger = draft.aimed()?;
        let (host, max) = (draft.host(ledger), draft.options().data_records_per_timeline_max);
        if draft.state(ledger).head.data_count >= max as u64 {
            return Err(Refusal::LimitReached { what: "sealed records on this timeline, erased ones among them", max });
        }
        let payload = StatePayload::Sealed(DataEncrypted {
            data_id: data_id.to_string(),
            format: sealed.format,
            kdf: kind.as_str().to_owned(),
            sha256: sealed.hash().to_hex(),
            bytes: sealed.bytes_count(),
        });
        let entry = (Action::EncryptData, data_id.as_str());
        let position = draft.record(ledger, entry, &payload, host)?;
        let record = DataRecord { data_id: data_id.clone(), position, erased: None, sealed: sealed.clone() };
        draft.step_mut(ledger).data.push(record);
        Ok(draft.done(ledger, position, DataStored { data_id: data_id.clone() }))
    }
}

impl Command for LogDecryption {
    type Output = Logged;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::DecryptData, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        let ledger = draft.aimed()?;
        let host = draft.host(ledger);
        let payload = json(&DataDecrypted { data_id: self.data_id.to_string() });
        let position = draft.append(ledger, Action::DecryptData, self.data_id.as_str(), payload, host);
        Ok(draft.done(ledger, position, Logged {}))
    }
}

impl Command for EraseData {
    type Output = ContentErased;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::EraseData, Aim::Timeline)
    }

    fn needs(&self) -> Needs<'_> {
        Needs { data: Some(&self.data_id), ..Needs::default() }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<ContentErased>, Refusal> {
        let ledger = draft.aimed()?;
        let data_id = &self.data_id;
        let known = draft.known_data(data_id).filter(|(on, _)| on == draft.timeline());
        let (_, position) = *known.ok_or_else(|| no_record(data_id))?;
        draft.erase_data(data_id.clone());
        let payload = json(&DataErased {
            position,
            also: Vec::new(),
            data_id: Some(data_id.to_string()),
            event_id: None,
            cancelled: false,
        });
        let content = ErasedContent::Data(data_id.clone());
        let by = erase(draft, ledger, (data_id.as_str(), payload), (&[position], &content));
        Ok(draft.done(ledger, by, ContentErased { position }))
    }
}

impl Command for EraseEvent {
    type Output = ContentErased;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::EraseData, Aim::Timeline)
    }

    fn needs(&self) -> Needs<'_> {
        Needs { events: vec![&self.event_id], outcomes: true, ..Needs::default() }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<ContentErased>, Refusal> {
        let ledger = draft.aimed()?;
        let event_id = &self.event_id;
        let missing = || Refusal::NotFound { what: "event", id: event_id.to_string() };
        let known = draft.known_event(ledger, event_id).ok_or_else(missing)?;
        let own = draft.own_layer(ledger);
        if known.versions.iter().any(|version| version.layer < own) {
            let detail = "the event was recorded on a timeline this one was forked from; erase it there";
            return Err(Refusal::invalid("event_id", detail));
        }
        let position = known.versions.last().map(|version| version.position).ok_or_else(missing)?;
        let versions = known.versions.iter().map(|version| version.position);
        let interventions = known.interventions.iter().map(|(_, position)| *position);
        let also: BTreeSet<u64> = versions.chain(interventions).filter(|also| *also != position).collect();
        let also: Vec<u64> = also.into_iter().collect();
        let cancelled = known.current().is_none();
        let forks = draft.forks_of(draft.state(ledger).head.key);
        // The format of this entry predates the erasure of outcomes, so it does not list them.
        forget(draft, ledger, (&forks, std::slice::from_ref(event_id)));
        let state = draft.state_mut(ledger);
        state.head.events_count = state.head.events_count.saturating_sub(u64::from(!cancelled));
        state.events_changed_at = state.head.frontier.size() + 1;
        let positions: Vec<u64> = std::iter::once(position).chain(also.iter().copied()).collect();
        let payload =
            json(&DataErased { position, also, data_id: None, event_id: Some(event_id.to_string()), cancelled });
        let content = ErasedContent::Event(event_id.clone());
        let by = erase(draft, ledger, (event_id.as_str(), payload), (&positions, &content));
        Ok(draft.done(ledger, by, ContentErased { position }))
    }
}

fn erase(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    (subject, payload): (&str, String),
    (positions, content): (&[u64], &ErasedContent),
) -> u64 {
    let host = draft.host(ledger);
    let by = draft.append(ledger, Action::EraseData, subject, payload, host);
    let erasures = positions.iter().map(|position| Erasure { position: *position, by, content: content.clone() });
    draft.step_mut(ledger).erasures.extend(erasures);
    by
}
