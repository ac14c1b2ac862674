//! What other services have written, for those that are about to look into memory.

use std::sync::Arc;

use timenav_core::access::Demand;

use super::{Aim, Asking, Deciding};
use crate::action::Action;
use crate::changes::Logged;
use crate::draft::{Done, Draft};
use crate::head::TimelineKey;
use crate::refusal::Refusal;

/// Have readers see what was committed before this was asked, and change nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CatchUp {
    /// On the timeline that is aimed at, and of the directory.
    Aimed,
    /// On these timelines, and on all that are new.
    Some(Arc<[TimelineKey]>),
    /// On every timeline.
    All,
}

impl Asking for CatchUp {
    /// It comes with what is read.
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
}

impl Deciding for CatchUp {
    type Change = Logged;

    fn decide(&self, _draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        // There is nothing to be told: it was done before anything was decided.
        Err(Refusal::ChangedMeanwhile)
    }
}
