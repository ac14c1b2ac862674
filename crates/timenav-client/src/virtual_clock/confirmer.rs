//! Confirms clock changes to the service in the background, so that reading the stream never waits for it.

use std::time::Duration;

use serde::de::IgnoredAny;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::client::Client;
use crate::error::Error;
use crate::transport::call::Call;

/// The delay before a confirmation is retried, unless a newer change arrives first.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub(crate) struct Applied {
    /// The follower whose stream reported the change.
    pub(crate) follower_id: String,
    pub(crate) generation: u64,
}

/// Confirms each newest change, until the sender is dropped.
pub(crate) async fn confirm_all(client: &Client, mut newest: watch::Receiver<Option<Applied>>) {
    while newest.changed().await.is_ok() {
        loop {
            let Some(applied) = newest.borrow_and_update().clone() else { break };
            let confirm: Call<'_, IgnoredAny> = client.post(&["v1", "followers", "confirm"]).on_default_timeline();
            let confirm = confirm.set("follower_id", applied.follower_id).set("generation", applied.generation);
            match confirm.await {
                Ok(_) => break,
                // A permanent rejection means that the stream has ended. The next stream reports which change to
                // confirm.
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
