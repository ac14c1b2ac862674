//! Catching up with other services before a read from memory.

use std::sync::Arc;

use timenav_core::access::Demand;

use super::{Aim, Command};
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

    /// It belongs to a read.
    fn action(&self) -> Action {
        Action::Reads
    }

    fn demands(&self) -> &'static [Demand] {
        &[]
    }

    fn aim(&self) -> Aim {
        Aim::Ledger
    }

    fn catches_up(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn decide(&self, _draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        // Catching up precedes the decision, so there is nothing left to do.
        Err(Refusal::ChangedMeanwhile)
    }
}
