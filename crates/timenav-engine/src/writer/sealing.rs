//! Publishes commits: signs their checkpoints and keeps them outside, then updates readers and sends the responses.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc as threads;

use timenav_core::ids::TimelineId;
use timenav_core::time::Span;

use crate::ledger::head::TimelineState;
use crate::ledger::notes::newest_note;
use crate::ports::outside::{ExternalCheckpoint, system_last};
use crate::requests::background::Background;
use crate::requests::refusal::Refusal;
use crate::writer::commit_times::CommitPart;
use crate::writer::shared::{Committed, Shared};
use crate::writer::submission::{QueuedCommand, Recorded};

/// A committed group, to be published once its checkpoints are kept outside.
pub(crate) struct Sealed {
    pub(crate) answers: Vec<(Box<dyn QueuedCommand>, Result<Recorded, Refusal>)>,
    pub(crate) committed: Committed,
}

/// Seals groups in order, until the channel is closed.
pub(crate) fn seal_all(groups: &threads::Receiver<Sealed>, shared: &Shared) {
    while let Ok(first) = groups.recv() {
        // One durable append serves every waiting group.
        let sealing: Vec<Sealed> = std::iter::once(first).chain(groups.try_iter()).collect();
        let count = sealing.len();
        seal_together(sealing, shared);
        shared.sealing.fetch_sub(count, Ordering::AcqRel);
    }
}

/// Keeps the checkpoints of groups outside, or leaves that to the keeper, and publishes the groups.
pub(crate) fn seal_together(sealing: Vec<Sealed>, shared: &Shared) {
    let checkpointed = match shared.failure() {
        None => keep_or_defer(sealing.iter().flat_map(|sealed| &sealed.committed.states), shared),
        Some(refusal) => Err(refusal),
    };
    for sealed in sealing {
        seal(sealed, &checkpointed, shared);
    }
}

/// Keeps checkpoints after the responses, until the keeper is closed.
pub(crate) fn keep_later(shared: &Shared) {
    shared.keeper.run(shared.options.checkpoint_lag, &*shared.ports.clock, |states| {
        // A failure stops the service, and is reported there.
        let _ = keep_timed(states.iter().map(|state| &**state), shared);
    });
}

/// Keeps the checkpoints of committed states before they are acknowledged, or soon after if there is a lag.
pub(crate) fn keep_or_defer<'s>(
    states: impl Iterator<Item = &'s Arc<TimelineState>>,
    shared: &Shared,
) -> Result<(), Refusal> {
    if shared.options.checkpoint_lag == Span::ZERO {
        return keep_timed(states.map(|state| &**state), shared);
    }
    let states: Vec<Arc<TimelineState>> = states.cloned().collect();
    if !states.is_empty() {
        shared.keeper.add(&states, shared.options.checkpoint_lag, &*shared.ports.clock);
    }
    Ok(())
}

/// If it fails, the service stops.
pub(crate) fn keep_timed<'s>(states: impl Iterator<Item = &'s TimelineState>, shared: &Shared) -> Result<(), Refusal> {
    let mut states = states.peekable();
    if states.peek().is_none() {
        return Ok(());
    }
    let (began, measured) = (shared.ports.clock.now(), shared.ports.clock.measured());
    let waiting = shared.commit_times.begin_seal(measured);
    let checkpointed = keep_newest(states, shared).map_err(Refusal::Unavailable);
    shared.commit_times.note_part(CommitPart::Checkpoint, measured, shared.ports.clock.measured());
    drop(waiting);
    shared.note_background((Background::KeepCheckpoints, None), began, checkpointed.is_err());
    if let Err(refusal) = &checkpointed {
        tracing::error!(%refusal, "checkpoints could not be kept outside; nothing is written until a restart");
        shared.stop(refusal.clone());
    }
    checkpointed
}

/// Signs the newest checkpoint of each timeline that has grown, and keeps it outside.
fn keep_newest<'s>(states: impl Iterator<Item = &'s TimelineState>, shared: &Shared) -> Result<(), String> {
    let newest: HashMap<&TimelineId, &TimelineState> = states.map(|state| (&state.head.id, state)).collect();
    let sealed = |(id, state): (&TimelineId, &TimelineState)| {
        let note = newest_note(state, &shared.ports, &shared.options);
        let note = note.map_err(|refusal| refusal.to_string())?;
        Ok(ExternalCheckpoint::seal(id.clone(), note, &*shared.ports.signer))
    };
    let mut checkpoints = newest.into_iter().map(sealed).collect::<Result<Vec<_>, String>>()?;
    if checkpoints.is_empty() {
        return Ok(());
    }
    system_last(&mut checkpoints);
    shared.ports.outside.keep(&checkpoints).map_err(|error| error.to_string())
}

fn seal(sealed: Sealed, checkpointed: &Result<(), Refusal>, shared: &Shared) {
    if let Err(refusal) = checkpointed {
        for (command, _) in sealed.answers {
            command.respond(Err(refusal.clone()));
        }
        return;
    }
    let sizes = sealed.committed.states.iter().map(|state| (state.head.id.clone(), state.head.frontier.size()));
    let sizes: Vec<(TimelineId, u64)> = sizes.collect();
    shared.publish(sealed.committed);
    // Background outcomes first: they may release firings that a notified caller wants to claim.
    let (awaited, others): (Vec<_>, Vec<_>) = sealed.answers.into_iter().partition(|(command, _)| command.is_awaited());
    for (command, response) in others {
        command.respond(response);
    }
    shared.live.grow(&sizes);
    for (command, response) in awaited {
        command.respond(response);
    }
}
