//! Undoing an import: its events are canceled, and their ids become free.

use timenav_core::ids::{EventId, InterventionId};
use timenav_core::intervention::Effect;

use super::history::{Before, Intervene, TakenBack, append_intervention};
use super::{Aim, Command, CommandSpec, Needs};
use crate::ledger::action::Action;
use crate::ledger::changes::ImportUndone;
use crate::ledger::import_id::ImportId;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft, Ledger};

/// Cancel those events of an import that have not changed since.
pub(crate) struct UndoImport {
    pub(crate) import: ImportId,
    pub(crate) events: Vec<ImportedEvent>,
}

pub(crate) struct ImportedEvent {
    pub(crate) event_id: EventId,
    pub(crate) position: u64,
    pub(crate) intervention_id: InterventionId,
}

enum Found {
    AsImported,
    Changed,
    Missing,
}

impl Command for UndoImport {
    type Output = ImportUndone;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::ManipulateEvent, Aim::Timeline)
    }

    fn needs(&self) -> Needs<'_> {
        Needs { events: self.events.iter().map(|event| &event.event_id).collect(), ..Needs::default() }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<ImportUndone>, Refusal> {
        let ledger = draft.aimed()?;
        let host = draft.host(ledger);
        let time = draft.state(ledger).head.clock.now(host);
        let import = self.import.to_string();
        let mut change = ImportUndone { undone: 0, skipped_changed: 0 };
        let mut last = None;
        for event in &self.events {
            match find(draft, ledger, event) {
                Found::AsImported => change.undone += 1,
                Found::Changed => {
                    change.skipped_changed += 1;
                    continue;
                }
                Found::Missing => continue,
            }
            let before = Before::of(draft, ledger, &event.event_id)?;
            let one = Intervene {
                id: event.intervention_id.clone(),
                event_id: event.event_id.clone(),
                action: format!("undo the import {import}"),
                time,
                effect: Effect::Cancel,
                causes: Vec::new(),
                guard: None,
            };
            let by = Some(TakenBack::OfImport(&import));
            last = Some(append_intervention(draft, ledger, &one, (&before, Some(None)), by, host));
        }
        let position = last.unwrap_or_else(|| draft.last_position(ledger));
        Ok(draft.done(ledger, position, change))
    }
}

fn find(draft: &Draft<'_>, ledger: Ledger, event: &ImportedEvent) -> Found {
    let Some(known) = draft.known_event(ledger, &event.event_id) else { return Found::Missing };
    match known.current() {
        Some(version) if version.position == event.position && version.layer == draft.own_layer(ledger) => {
            Found::AsImported
        }
        Some(_) => Found::Changed,
        None => Found::Missing,
    }
}
