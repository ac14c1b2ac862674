//! The thread that builds the index of words.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use timenav_engine::{StoreError, TimelineKey};

use super::filling::{Filler, Sizes};
use crate::sqlite::Shared;
use crate::sqlite::values::{failed, sql};

/// Pause after a start, which has other work to do.
const START_PAUSE: Duration = Duration::from_secs(1);
/// How often to look for timelines that grew.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Pause between two steps.
const PAUSE: Duration = Duration::from_millis(1);
/// Pause between two steps while the service writes.
const PAUSE_OF_WRITES: Duration = Duration::from_millis(20);

/// Existing timelines with enough entries for a block, which may be from before a start. The count of events does not
/// include earlier versions and canceled events, which are indexed too.
const SELECT_TIMELINES: &str = "SELECT timeline FROM timelines WHERE size >= ?1";

/// The thread. It stops when this is dropped.
pub(in crate::sqlite) struct Filling {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Filling {
    pub(in crate::sqlite) fn start(shared: Arc<Shared>) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::Builder::new().name("text-index".to_owned());
        let thread = thread.spawn(move || run(&shared, &stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of that thread was already logged by its hook.
            let _ = thread.join();
        }
    }
}

fn run(shared: &Shared, stopped: &mpsc::Receiver<()>) {
    let mut pace = Pace { shared, stopped, commits_count: 0 };
    let mut is_reported = false;
    if !pace.is_continued(START_PAUSE) {
        return;
    }
    let mut waiting = existing(shared).unwrap_or_default();
    while pace.is_continued(LOOK_EVERY) {
        waiting.append(&mut shared.to_index.lock());
        while let Some(timeline) = waiting.pop_first() {
            match fill(shared, timeline, &mut pace) {
                Ok(true) => is_reported = false,
                Ok(false) => return,
                // Searches read the events instead. The next event of the timeline is another attempt.
                Err(error) if !is_reported => {
                    is_reported = true;
                    tracing::warn!(%error, "the index of words could not be updated; searches by text may be slow");
                }
                Err(_) => {}
            }
        }
    }
}

/// Returns the timelines that may need blocks after a start.
pub(super) fn existing(shared: &Shared) -> Result<BTreeSet<TimelineKey>, StoreError> {
    let reader = shared.reader()?;
    let timelines = {
        let mut select = reader.prepare(SELECT_TIMELINES).map_err(failed)?;
        let smallest_block = sql(Sizes::REGULAR.levels[0]);
        let rows = select.query_map([smallest_block], |row| row.get(0).map(TimelineKey)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    };
    shared.put_back(reader);
    timelines
}

/// Indexes a timeline. Returns `false` if the thread is to stop.
fn fill(shared: &Shared, timeline: TimelineKey, pace: &mut Pace<'_>) -> Result<bool, StoreError> {
    let mut filler = Filler::new(shared, Sizes::REGULAR);
    while filler.step(timeline)? {
        if !pace.is_continued_after_step() {
            return Ok(false);
        }
    }
    Ok(true)
}

struct Pace<'a> {
    shared: &'a Shared,
    stopped: &'a mpsc::Receiver<()>,
    commits_count: u64,
}

impl Pace<'_> {
    fn is_continued(&self, pause: Duration) -> bool {
        matches!(self.stopped.recv_timeout(pause), Err(RecvTimeoutError::Timeout))
    }

    /// Pauses longer if there were commits since the last step.
    fn is_continued_after_step(&mut self) -> bool {
        let commits_count = self.shared.commits_count.load(Ordering::Relaxed);
        let is_quiet = std::mem::replace(&mut self.commits_count, commits_count) == commits_count;
        self.is_continued(if is_quiet { PAUSE } else { PAUSE_OF_WRITES })
    }
}
