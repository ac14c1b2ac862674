//! Confirms applied changes in the background, so that the next change never waits for a confirmation.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{ClockObserver, Known};
use crate::client::{ApiRequest, Caller, TimelineOptions};
use crate::exit::Failure;

/// Wait before a confirmation is retried, unless a newer change is applied.
const RETRY: Duration = Duration::from_secs(1);
const ANSWER_BYTES_MAX: usize = 64 * 1024;

#[derive(Clone, Debug)]
pub(super) struct Applied {
    /// The follower whose stream delivered it.
    pub(super) follower_id: String,
    pub(super) generation: u64,
    /// The step of a running advance.
    pub(super) step: Option<u64>,
    /// The timeline, if requests must name it.
    pub(super) timeline: Option<String>,
}

impl Applied {
    /// Returns the change of a message that has been applied; `None` if the stream has no name.
    pub(super) fn of(message: &Value, known: &Known, timeline: &TimelineOptions) -> Option<Self> {
        Some(Self {
            follower_id: message["follower_id"].as_str()?.to_owned(),
            generation: known.clock.generation,
            step: message["advance"]["step"].as_u64(),
            timeline: timeline.timeline.clone(),
        })
    }
}

/// Starts a thread that confirms the newest change sent to it.
pub(super) fn begin(caller: Caller, observer: Arc<impl ClockObserver>) -> std::io::Result<Sender<Applied>> {
    let (sender, applied) = mpsc::channel();
    // Connections are shared with the stream. On a single-threaded runtime, a connection is only polled during a
    // request, so its loss would go unnoticed and the next request would hang.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let confirming = move || run(&runtime, &caller, &*observer, &applied);
    std::thread::Builder::new().name("confirming".to_owned()).spawn(confirming)?;
    Ok(sender)
}

fn run(runtime: &Runtime, caller: &Caller, observer: &impl ClockObserver, applied: &Receiver<Applied>) {
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
        // If its stream has ended, there is nothing to confirm; the next stream delivers the current change.
        let is_done = observer.settle() && confirm(runtime, caller, &newest);
        if !is_done {
            failed = Some(newest);
        }
    }
}

fn confirm(runtime: &Runtime, caller: &Caller, applied: &Applied) -> bool {
    let mut body = json!({ "follower_id": applied.follower_id, "generation": applied.generation });
    if let Some(step) = applied.step {
        body["step"] = step.into();
    }
    if let Some(timeline) = &applied.timeline {
        body["timeline_id"] = timeline.as_str().into();
    }
    let request = ApiRequest::post(&["v1", "followers", "confirm"], &body).once();
    match runtime.block_on(caller.send(&request, ANSWER_BYTES_MAX)) {
        Ok(_) => true,
        Err(Failure::Problem(problem)) => !problem.may_pass(),
        Err(_) => false,
    }
}
