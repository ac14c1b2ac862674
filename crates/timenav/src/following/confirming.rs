//! Confirms what was applied, beside whoever follows: the next change never waits for a confirmation.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{Known, Shown};
use crate::client::{Asked, Caller, TimelineOptions};
use crate::exit::Failure;

/// How long to wait before a confirmation is sent again, unless there is something newer to confirm.
const RETRY: Duration = Duration::from_secs(1);
/// Longer than the answer to a confirmation is.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// A change that is to be confirmed.
#[derive(Clone, Debug)]
pub(super) struct Applied {
    /// The follower whose stream told it.
    pub(super) follower_id: String,
    pub(super) generation: u64,
    /// The step of the advance that goes on.
    pub(super) step: Option<u64>,
    /// The timeline, where a request has to name it.
    pub(super) timeline: Option<String>,
}

impl Applied {
    /// Returns what a message has applied that is known by now; `None` if its stream has no name.
    pub(super) fn of(message: &Value, known: &Known, timeline: &TimelineOptions) -> Option<Self> {
        Some(Self {
            follower_id: message["follower_id"].as_str()?.to_owned(),
            generation: known.clock.generation,
            step: message["advance"]["step"].as_u64(),
            timeline: timeline.timeline.clone(),
        })
    }
}

/// Starts a thread that confirms what is sent to it, the newest only.
///
/// # Errors
/// The system gives no thread.
pub(super) fn begin(caller: Caller, shown: Arc<impl Shown>) -> std::io::Result<Sender<Applied>> {
    let (sender, applied) = mpsc::channel();
    // Connections are shared with whoever reads the stream. One that is looked after only while something is asked here is
    // not known to be gone, and what is asked by it is never answered.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let confirming = move || run(&runtime, &caller, &*shown, &applied);
    std::thread::Builder::new().name("confirming".to_owned()).spawn(confirming)?;
    Ok(sender)
}

fn run(runtime: &Runtime, caller: &Caller, shown: &impl Shown, applied: &Receiver<Applied>) {
    let mut failed: Option<Applied> = None;
    loop {
        let next = match failed.take() {
            None => applied.recv().ok(),
            Some(again) => match applied.recv_timeout(RETRY) {
                Ok(newer) => Some(newer),
                Err(RecvTimeoutError::Timeout) => Some(again),
                Err(RecvTimeoutError::Disconnected) => None,
            },
        };
        let Some(next) = next else { return };
        let newest = applied.try_iter().last().unwrap_or(next);
        // Where its stream has ended, there is nobody to confirm for; the next one tells what is to be confirmed.
        let is_done = shown.settle() && confirm(runtime, caller, &newest);
        if !is_done {
            failed = Some(newest);
        }
    }
}

/// Returns whether there is nothing more to be done about it.
fn confirm(runtime: &Runtime, caller: &Caller, applied: &Applied) -> bool {
    let mut body = json!({ "follower_id": applied.follower_id, "generation": applied.generation });
    if let Some(step) = applied.step {
        body["step"] = step.into();
    }
    if let Some(timeline) = &applied.timeline {
        body["timeline_id"] = timeline.as_str().into();
    }
    let asked = Asked::post(&["v1", "followers", "confirm"], &body).once();
    match runtime.block_on(caller.send(&asked, ANSWER_BYTES_MAX)) {
        Ok(_) => true,
        Err(Failure::Problem(problem)) => !problem.may_pass(),
        Err(_) => false,
    }
}
