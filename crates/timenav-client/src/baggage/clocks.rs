//! The clocks of requests, opened on the first request for a timeline and kept for later ones.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::header::{BaggageError, timeline_in};
use super::served::RequestClock;
use crate::client::Client;
use crate::error::{ClockUnavailable, Error};
use crate::virtual_clock::follower::Bounds;

/// Default limit of open clocks. Each is a stream, of which the service allows 100 per user by default.
pub const CLOCKS_MAX: usize = 64;

type Allowed = dyn Fn(&str) -> bool + Send + Sync;
type Cell = Arc<OnceCell<RequestClock>>;

/// Why a request cannot be served. It is never served by the host's time instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotServed {
    /// The baggage does not name a valid timeline. Respond with 400.
    #[error(transparent)]
    Baggage(#[from] BaggageError),
    /// Requests of too many timelines are being served. Respond with 503, because this is temporary.
    #[error("requests for {0} timelines are being served; try again")]
    TooMany(usize),
    /// The clock cannot be read. Respond with 503.
    #[error("the clock of this request cannot be read: {0}")]
    Unavailable(#[from] Error),
}

/// The clocks of requests. Clones share them.
#[derive(Clone)]
pub struct RequestClocks {
    client: Client,
    allowed: Option<Arc<Allowed>>,
    clocks_max: usize,
    shelf: Arc<Mutex<Shelf>>,
}

/// Open clocks and those being opened, with the time of the last use, as a counter. `None` is the client's own
/// timeline.
#[derive(Default)]
struct Shelf {
    cells: HashMap<Option<String>, (Cell, u64)>,
    uses: u64,
}

impl RequestClocks {
    /// Returns an empty set of clocks that a client opens.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client, allowed: None, clocks_max: CLOCKS_MAX, shelf: Arc::default() }
    }

    /// Restricts the timelines that requests may name, among those visible to the key.
    #[must_use]
    pub fn allowed(self, allowed: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { allowed: Some(Arc::new(allowed)), ..self }
    }

    /// Sets the limit of open clocks, which is at least one.
    #[must_use]
    pub fn clocks_max(self, clocks_max: usize) -> Self {
        Self { clocks_max: clocks_max.max(1), ..self }
    }

    /// Returns the clock that a `baggage` header names, or that of the client's own timeline.
    ///
    /// # Errors
    /// The header is invalid, too many clocks are in use, or the clock cannot be read.
    pub async fn of(&self, header: Option<&str>) -> Result<RequestClock, NotServed> {
        let timeline = timeline_in(header)?;
        if let (Some(timeline), Some(allowed)) = (&timeline, &self.allowed)
            && !allowed(timeline)
        {
            return Err(BaggageError(format!("requests may not use the timeline `{timeline}`")).into());
        }
        let cell = self.shelf.lock().find(timeline.as_ref(), self.clocks_max)?;
        // Concurrent requests wait for the same attempt, and try again if it fails.
        let opened = cell.get_or_try_init(|| self.open(timeline.as_deref())).await.cloned();
        let clock = opened.inspect_err(|_| self.shelf.lock().failed(timeline.as_ref(), &cell))?;
        clock.reading().map_err(Error::Clock)?;
        Ok(clock)
    }

    async fn open(&self, timeline: Option<&str>) -> Result<RequestClock, NotServed> {
        let client = timeline.map_or_else(|| self.client.clone(), |timeline| self.client.on_timeline(timeline));
        let clock = client.virtual_clock_within(Bounds::default()).await.map_err(|error| mistaken(timeline, error))?;
        let timeline_id = clock.state().map_err(Error::Clock)?.timeline_id.into();
        Ok(RequestClock { timeline_id, clock: Arc::new(clock) })
    }
}

impl std::fmt::Debug for RequestClocks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RequestClocks").field("client", &self.client).finish_non_exhaustive()
    }
}

impl Shelf {
    fn find(&mut self, timeline: Option<&String>, clocks_max: usize) -> Result<Cell, NotServed> {
        self.uses += 1;
        // A clock that has ended is opened again, which fails with the reason.
        self.cells.retain(|of, (cell, _)| of.as_ref() != timeline || !cell.get().is_some_and(is_over));
        if let Some((cell, used)) = self.cells.get_mut(&timeline.cloned()) {
            *used = self.uses;
            return Ok(Arc::clone(cell));
        }
        if self.cells.len() >= clocks_max {
            let unused = self.cells.iter().filter(|(_, (cell, _))| is_unused(cell));
            let oldest = unused.min_by_key(|(_, (_, used))| *used).map(|(of, _)| of.clone());
            // Dropping the clock ends its stream.
            self.cells.remove(&oldest.ok_or(NotServed::TooMany(clocks_max))?);
        }
        let cell = Cell::default();
        self.cells.insert(timeline.cloned(), (Arc::clone(&cell), self.uses));
        Ok(cell)
    }

    /// Frees the slot of a clock that could not be opened, unless another request is about to try.
    fn failed(&mut self, timeline: Option<&String>, failed: &Cell) {
        let timeline = timeline.cloned();
        let is_it = self.cells.get(&timeline).is_some_and(|(cell, _)| Arc::ptr_eq(cell, failed));
        // One reference is the shelf's, one the caller's.
        if is_it && failed.get().is_none() && Arc::strong_count(failed) <= 2 {
            self.cells.remove(&timeline);
        }
    }
}

/// Returns whether a clock is neither being opened nor used by a request.
fn is_unused(cell: &Cell) -> bool {
    Arc::strong_count(cell) == 1 && cell.get().is_none_or(|entry| Arc::strong_count(&entry.clock) == 1)
}

/// Returns whether a clock has ended permanently, because its timeline or its key did.
fn is_over(entry: &RequestClock) -> bool {
    matches!(entry.reading(), Err(ClockUnavailable::Rejected(_) | ClockUnavailable::Closed))
}

/// Returns the error for a request that names a timeline it cannot use, which is the request's fault.
fn mistaken(timeline: Option<&str>, error: Error) -> NotServed {
    match (timeline, error.problem()) {
        (Some(timeline), Some(problem)) if matches!(problem.http_status, 400 | 403 | 404 | 410) => {
            BaggageError(format!("the baggage names the timeline `{timeline}`: {}", problem.status)).into()
        }
        _ => error.into(),
    }
}
