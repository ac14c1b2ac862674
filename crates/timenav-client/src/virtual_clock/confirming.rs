//! Confirms clock changes to the service, in a task separate from the stream.

use std::time::Duration;

use serde::de::IgnoredAny;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::client::Client;
use crate::error::Error;
use crate::transport::call::Call;

/// Delay before a confirmation is sent again, unless there is a newer one.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub(crate) struct Applied {
    /// The follower whose stream reported it.
    pub(crate) follower_id: String,
    pub(crate) generation: u64,
}

/// Confirms the newest change whenever there is one, until the sender is dropped.
pub(crate) async fn confirm_all(client: &Client, mut newest: watch::Receiver<Option<Applied>>) {
    while newest.changed().await.is_ok() {
        loop {
            let Some(applied) = newest.borrow_and_update().clone() else { break };
            let confirm: Call<'_, IgnoredAny> = client.post(&["v1", "followers", "confirm"]).on_default_timeline();
            let confirm = confirm.set("follower_id", applied.follower_id).set("generation", applied.generation);
            match confirm.await {
                Ok(_) => break,
                // The stream has ended; the next one reports what to confirm.
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
