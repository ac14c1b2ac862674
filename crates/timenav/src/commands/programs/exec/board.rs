//! Keeps the clock page of a run current.

use std::sync::Arc;
use std::time::Duration;

use timenav_exec::page::Slot;
use timenav_exec::{Board, Chosen};

use crate::background::following::{Begun, ClockObserver, Known, Words};
use crate::client::Client;
use crate::exit::Failure;

/// How long the supervisor may take to adjust sleeps and timers after a change.
const SETTLE_MAX: Duration = Duration::from_secs(5);
pub(super) const WORDS: Words = Words {
    lost: "timenav exec: the service cannot be reached; programs keep the last clock",
    denied: "timenav exec: the service denies access to the clock; programs keep the last clock",
    back: "timenav exec: the service can be reached again; programs are on its clock",
};

pub(super) fn create(
    client: &Client,
    begun: &Begun,
    displayed: &Known,
    chosen: &mut Chosen,
) -> Result<Arc<Board>, Failure> {
    let slot = slot(displayed);
    let board = chosen.board(&begun.timeline, client.target().url.as_str(), slot).map_err(anyhow::Error::new)?;
    Ok(Arc::new(board))
}

fn slot(known: &Known) -> Slot {
    Slot::of_clock(&known.clock, known.offset, known.uncertainty)
}

pub(super) struct Page(pub(super) Arc<Board>);

impl ClockObserver for Page {
    fn change(&self, known: &Known) {
        self.0.change(slot(known));
    }

    fn reachable(&self) {
        self.0.confirm();
    }

    fn lost(&self) {
        self.0.lost();
    }

    fn settle(&self) -> bool {
        self.0.settle(SETTLE_MAX)
    }
}
