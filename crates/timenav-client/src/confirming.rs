//! Tells the service which change of a clock was applied, beside whoever listens to it.

use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::client::Client;
use crate::error::Error;
use crate::request::Request;

/// How long to wait before a confirmation is sent again, unless there is something newer to confirm.
const RETRY: Duration = Duration::from_secs(1);

/// A change that was applied.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    /// The follower whose stream told it.
    pub(crate) follower_id: String,
    pub(crate) generation: u64,
}

impl Client {
    /// Confirms that a follower has applied a change of the clock, and all before it. [`Client::follow_clock`] does that by
    /// itself; this is for programs that read `GET /v1/clock/stream?follow=NAME` on their own.
    ///
    /// # Errors
    /// The service does not answer, or there is no such follower any more.
    pub async fn confirm_clock(&self, follower_id: &str, generation: u64) -> Result<(), Error> {
        let mut body = json!({ "follower_id": follower_id, "generation": generation });
        if let Some(timeline_id) = self.timeline_id() {
            body["timeline_id"] = timeline_id.into();
        }
        self.send(Request::post(&["v1", "followers", "confirm"]).json(&body)?).await.map(|_| ())
    }
}

/// Confirms the newest change whenever there is one, until nobody tells of any.
pub(crate) async fn confirm_all(client: &Client, mut newest: watch::Receiver<Option<Applied>>) {
    while newest.changed().await.is_ok() {
        loop {
            let Some(applied) = newest.borrow_and_update().clone() else { break };
            match client.confirm_clock(&applied.follower_id, applied.generation).await {
                Ok(()) => break,
                // Where its stream has ended, the next one tells what is to be confirmed.
                Err(Error::Problem(problem)) if problem.is_final() => break,
                Err(_) => {
                    if matches!(timeout(RETRY, newest.changed()).await, Ok(Err(_))) {
                        return;
                    }
                }
            }
        }
    }
}
