use std::sync::Arc;

use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, TimelineEnded};
use timenav_core::time::Instant;

use crate::access::directory::DirectoryChange;
use crate::ledger::action::Action;
use crate::ledger::changes::TimelineOver;
use crate::ledger::head::{EndedTimeline, TimelineState};
use crate::ledger::notes::newest_note;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::{Aim, Command, CommandSpec};
use crate::writer::draft::{Done, Draft};

pub(crate) struct EndTimeline;

impl Command for EndTimeline {
    type Output = TimelineOver;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec { demands: &[Demand::Erase], ..CommandSpec::of(Action::EndTimeline, Aim::TimelineToEnd) }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimelineOver>, Refusal> {
        let id = draft.timeline();
        if *id == TimelineId::main() {
            let detail = "requests that name no timeline use `main`, so it cannot be ended";
            return Err(Refusal::invalid("timeline_id", detail));
        }
        draft.check_exists(id)?;
        let state = draft.look(id);
        let state = state.ok_or_else(|| Refusal::NotFound { what: "timeline", id: id.to_string() })?;
        let (root, checkpoint) = last_checkpoint(draft, state)?;
        let head = &state.head;
        let (key, size, fork, overrides) = (head.key, head.frontier.size(), head.fork, head.overrides_count > 0);
        let system = draft.system()?;
        let ended_at = draft.host(system);
        let due_at = ended_at.checked_add(draft.options().ended_grace()).unwrap_or(Instant::MAX);
        let payload_record = TimelineEnded {
            checkpoint: (&*checkpoint).into(),
            ended_by: draft.actor().name().into(),
            root,
            size,
            timeline_id: id.clone(),
        };
        let payload =
            String::from_utf8(payload_record.encode()).map_err(|error| Refusal::Damaged(error.to_string()))?;
        draft.change_directory(DirectoryChange::EndTimeline(EndedTimeline {
            key,
            id: id.clone(),
            size,
            root,
            ended_at,
            fork,
            overrides,
            due_at,
            is_pruned: false,
        }));
        let position = draft.append(system, Action::EndTimeline, id.as_str(), payload, ended_at);
        let checkpoint = checkpoint.to_string();
        Ok(draft.done(system, position, TimelineOver { size, root, checkpoint, due_at }))
    }
}

/// Returns the checkpoint over all entries of a timeline, and its root. All entries must be committed: if a group has
/// written to the timeline, its end is decided in the next group.
fn last_checkpoint(draft: &Draft<'_>, state: &TimelineState) -> Result<(Hash, Arc<str>), Refusal> {
    if state.head.frontier.root() != state.root {
        return Err(Refusal::Damaged(format!("the newest entries of `{}` are not committed yet", state.head.id)));
    }
    Ok((state.root, newest_note(state, draft.ports(), draft.options())?))
}
