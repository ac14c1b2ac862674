//! Catching up with other services before a read from memory.

use std::sync::Arc;

use super::{Aim, Command, CommandSpec};
use crate::ledger::action::Action;
use crate::ledger::changes::Logged;
use crate::ledger::head::TimelineKey;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft};

/// Make everything committed before this request visible to readers, without a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CatchUp {
    /// On the request's timeline, and in the directory.
    Aimed,
    /// On these timelines, and on all new ones.
    Some(Arc<[TimelineKey]>),
    All,
}

impl Command for CatchUp {
    type Output = Logged;

    fn spec(&self) -> CommandSpec<'_> {
        // It belongs to a read.
        CommandSpec { demands: &[], catches_up: Some(self), ..CommandSpec::of(Action::Reads, Aim::Ledger) }
    }

    fn decide(&self, _draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        // Catching up precedes the decision, so there is nothing left to do.
        Err(Refusal::ChangedMeanwhile)
    }
}
