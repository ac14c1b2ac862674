use std::collections::HashMap;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::{EventId, TimelineId, UserId};
use timenav_core::ledger::LeafRecord;
use timenav_core::limits::RETURN_EVENTS_MAX;

use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::changes::{ImportUndone, LedgerPosition};
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::import_id::ImportId;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::undoing::{ImportedEvent, UndoImport};
use crate::writer::submission::Answer;

const BLOCK_LEAVES: usize = 4_096;

#[derive(Clone, Debug)]
pub struct UndoneImport {
    pub timeline_id: TimelineId,
    pub undone: u64,
    /// How many stay because they have changed since.
    pub skipped_changed: u64,
    /// The rest of the import, if it exceeds the limit of one request.
    pub rest: Option<ImportId>,
    pub ledger: LedgerPosition,
    pub replayed: bool,
}

struct Chosen {
    events: Vec<ImportedEvent>,
    rest: Option<ImportId>,
}

impl Engine {
    /// Cancels the events of an import, the last ones first, up to the limit of one request. Events that were changed
    /// since stay. The ids become free, so that the file can be imported again with other settings.
    ///
    /// # Errors
    /// There is no such import, the caller may not intervene there, or the ledger cannot be written.
    #[boxed]
    pub async fn undo_import(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        import: ImportId,
        idempotency: Option<Idempotency>,
    ) -> Result<UndoneImport, Refusal> {
        let timeline = caller.timeline(timeline);
        self.catch_up_with(&timeline).await?;
        let state = self.admit_as_known(caller, &timeline, Demand::Intervene, Action::ManipulateEvent.word()).await?;
        let (engine, asker) = (self.clone(), caller.user_id.clone());
        let choosing = async move { engine.choose_imported(&state, import, &asker).await };
        let Chosen { events, rest } = self.long_work().in_turn(caller, choosing).await?;
        let answer = self.submit(caller, timeline, UndoImport { import, events }, idempotency).await?;
        let Answer { timeline_id, change: ImportUndone { undone, skipped_changed }, ledger, replayed } = answer;
        Ok(UndoneImport { timeline_id, undone, skipped_changed, rest, ledger, replayed })
    }

    async fn choose_imported(
        &self,
        state: &TimelineState,
        import: ImportId,
        asker: &UserId,
    ) -> Result<Chosen, Refusal> {
        let none = || Refusal::NotFound { what: "import", id: import.to_string() };
        if import.end > state.head.frontier.size() {
            return Err(none());
        }
        let key = state.head.key;
        let user = self.importer(key, import, asker).await?.ok_or_else(none)?;
        let (mut events, mut end) = (Vec::new(), import.end);
        while end > import.first && events.len() < RETURN_EVENTS_MAX {
            let first = end.saturating_sub(BLOCK_LEAVES as u64).max(import.first);
            let recorded = self.recorded_in(key, first, end).await?;
            let own = recorded.into_iter().rev().filter(|(_, by, _)| *by == user);
            for (position, _, event_id) in own.take(RETURN_EVENTS_MAX - events.len()) {
                events.push(ImportedEvent { event_id, position, intervention_id: self.new_intervention_id()? });
            }
            end = first;
        }
        let cut = events.last().map_or(import.first, |last| last.position);
        let rest = ImportId::new(import.first, cut, import.count - events.len() as u64);
        Ok(Chosen { events, rest })
    }

    /// Returns the user who recorded the number of events of the import in its range: the caller, or else the only such
    /// user.
    async fn importer(&self, key: TimelineKey, import: ImportId, asker: &UserId) -> Result<Option<String>, Refusal> {
        let mut counts: HashMap<String, u64> = HashMap::new();
        let mut at = import.first;
        while at < import.end {
            let end = import.end.min(at + BLOCK_LEAVES as u64);
            for (_, by, _) in self.recorded_in(key, at, end).await? {
                *counts.entry(by).or_default() += 1;
            }
            at = end;
        }
        counts.retain(|_, count| *count == import.count);
        if counts.contains_key(asker.as_str()) {
            return Ok(Some(asker.to_string()));
        }
        let mut users = counts.into_keys();
        Ok(users.next().filter(|_| users.next().is_none()))
    }

    async fn recorded_in(
        &self,
        key: TimelineKey,
        first: u64,
        end: u64,
    ) -> Result<Vec<(u64, String, EventId)>, Refusal> {
        let mut recorded = Vec::new();
        let mut at = first;
        while at < end {
            let leaves = self.store().leaves(key, at, usize::try_from(end - at).unwrap_or(BLOCK_LEAVES)).await?;
            if leaves.is_empty() {
                return Err(Refusal::Damaged(format!("entry {at} is missing")));
            }
            for leaf in leaves {
                let record = LeafRecord::decode(&leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
                if Action::of(&record) == Some(Action::RecordEvent) {
                    let event_id =
                        EventId::new(&record.subject).map_err(|error| Refusal::Damaged(error.to_string()))?;
                    recorded.push((at, record.actor.into_owned(), event_id));
                }
                at += 1;
            }
        }
        Ok(recorded)
    }
}
