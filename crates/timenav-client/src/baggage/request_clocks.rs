//! The clocks of requests, opened on the first request for a timeline and kept for later ones.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::header::{BaggageError, timeline_in};
use super::request_clock::RequestClock;
use crate::client::Client;
use crate::error::{ClockUnavailable, Error};
use crate::virtual_clock::follower::StalenessBounds;

/// Default limit of open clocks. Each clock is a stream, and the service allows 100 streams per user by default.
pub const CLOCKS_MAX: usize = 64;

type Allowed = dyn Fn(&str) -> bool + Send + Sync;
type Cell = Arc<OnceCell<RequestClock>>;

/// Why a request has no usable clock. Do not serve it with the host's time instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoClockForRequest {
    /// The baggage does not name a valid timeline. Respond with 400.
    #[error(transparent)]
    Baggage(#[from] BaggageError),
    /// All clocks are in use by requests. Respond with 503, because this is temporary.
    #[error("all {0} clocks are in use by other requests; try again")]
    TooMany(usize),
    /// The clock cannot be read. Respond with 503.
    #[error("the clock of this request cannot be read: {0}")]
    Unavailable(#[from] Error),
}

/// The clocks of requests. Clones share the clocks.
#[derive(Clone)]
pub struct RequestClocks {
    client: Client,
    allowed: Option<Arc<Allowed>>,
    clocks_max: usize,
    cache: Arc<Mutex<ClockCache>>,
}

/// Clocks that are open or being opened, each with the value of `uses` at its last use. `None` is the client's own
/// timeline.
#[derive(Default)]
struct ClockCache {
    cells: HashMap<Option<String>, (Cell, u64)>,
    uses: u64,
}

impl RequestClocks {
    /// Creates an empty set of clocks. The client opens them on demand.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client, allowed: None, clocks_max: CLOCKS_MAX, cache: Arc::default() }
    }

    /// Restricts the timelines that requests may name. Defaults to all timelines visible to the key.
    #[must_use]
    pub fn allowed(self, allowed: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { allowed: Some(Arc::new(allowed)), ..self }
    }

    /// Sets the limit of open clocks, at least one. Defaults to [`CLOCKS_MAX`].
    #[must_use]
    pub fn clocks_max(self, clocks_max: usize) -> Self {
        Self { clocks_max: clocks_max.max(1), ..self }
    }

    /// Returns the clock of the timeline that a `baggage` header names, or else of the client's own timeline.
    ///
    /// # Errors
    /// The header is invalid, all clocks are in use, or the clock cannot be read.
    pub async fn for_header(&self, header: Option<&str>) -> Result<RequestClock, NoClockForRequest> {
        let timeline = timeline_in(header)?;
        if let (Some(timeline), Some(allowed)) = (&timeline, &self.allowed)
            && !allowed(timeline)
        {
            return Err(BaggageError(format!("requests may not use the timeline `{timeline}`")).into());
        }
        let cell = self.cache.lock().find(timeline.as_ref(), self.clocks_max)?;
        // Concurrent requests share one attempt, and try again if it fails.
        let opened = cell.get_or_try_init(|| self.open(timeline.as_deref())).await.cloned();
        let clock = opened.inspect_err(|_| self.cache.lock().failed(timeline.as_ref(), &cell))?;
        clock.reading().map_err(Error::Clock)?;
        Ok(clock)
    }

    async fn open(&self, timeline: Option<&str>) -> Result<RequestClock, NoClockForRequest> {
        let client = timeline.map_or_else(|| self.client.clone(), |timeline| self.client.with_timeline(timeline));
        let clock = client
            .virtual_clock_with(StalenessBounds::default())
            .await
            .map_err(|error| clock_error(timeline, error))?;
        let timeline_id = clock.state().map_err(Error::Clock)?.timeline_id.into();
        Ok(RequestClock { timeline_id, clock: Arc::new(clock) })
    }
}

impl std::fmt::Debug for RequestClocks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RequestClocks").field("client", &self.client).finish_non_exhaustive()
    }
}

impl ClockCache {
    fn find(&mut self, timeline: Option<&String>, clocks_max: usize) -> Result<Cell, NoClockForRequest> {
        self.uses += 1;
        // Remove a clock that has ended. Opening it again returns the reason.
        self.cells.retain(|of, (cell, _)| of.as_ref() != timeline || !cell.get().is_some_and(has_ended));
        if let Some((cell, used)) = self.cells.get_mut(&timeline.cloned()) {
            *used = self.uses;
            return Ok(Arc::clone(cell));
        }
        if self.cells.len() >= clocks_max {
            let unused = self.cells.iter().filter(|(_, (cell, _))| is_unused(cell));
            let oldest = unused.min_by_key(|(_, (_, used))| *used).map(|(of, _)| of.clone());
            // Dropping the clock ends its stream.
            self.cells.remove(&oldest.ok_or(NoClockForRequest::TooMany(clocks_max))?);
        }
        let cell = Cell::default();
        self.cells.insert(timeline.cloned(), (Arc::clone(&cell), self.uses));
        Ok(cell)
    }

    /// Frees the slot of a clock that could not be opened, unless another request is trying to open it.
    fn failed(&mut self, timeline: Option<&String>, failed: &Cell) {
        let timeline = timeline.cloned();
        let is_current = self.cells.get(&timeline).is_some_and(|(cell, _)| Arc::ptr_eq(cell, failed));
        // The cache and the caller each hold one reference.
        if is_current && failed.get().is_none() && Arc::strong_count(failed) <= 2 {
            self.cells.remove(&timeline);
        }
    }
}

/// Returns whether a clock is neither being opened nor used by a request.
fn is_unused(cell: &Cell) -> bool {
    Arc::strong_count(cell) == 1 && cell.get().is_none_or(|entry| Arc::strong_count(&entry.clock) == 1)
}

/// Returns whether a clock has ended permanently, because its timeline or its API key ended.
fn has_ended(entry: &RequestClock) -> bool {
    matches!(entry.reading(), Err(ClockUnavailable::Rejected(_) | ClockUnavailable::Closed))
}

/// Returns a [`BaggageError`] if the request names a timeline that does not exist or that the key may not access.
fn clock_error(timeline: Option<&str>, error: Error) -> NoClockForRequest {
    match (timeline, error.problem()) {
        (Some(timeline), Some(problem)) if matches!(problem.http_status, 400 | 403 | 404 | 410) => {
            BaggageError(format!("the baggage names the timeline `{timeline}`: {}", problem.status)).into()
        }
        _ => error.into(),
    }
}
