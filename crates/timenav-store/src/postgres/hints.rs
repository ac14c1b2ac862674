//! Hints that something was written, between the services of one database.
//!
//! They are sent after the commit, on a connection of their own, and several at once as one: within a transaction each
//! would take a lock of the whole server until it is committed. They may get lost, so nobody relies on them.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client};

use super::connection::Connections;

const LISTEN: &str = "LISTEN timenav";
const NOTIFY: &str = "NOTIFY timenav";
/// How long the next hint waits after one, for those that come meanwhile to be one with it.
const APART: Duration = Duration::from_millis(5);
/// How long it is waited after a connection was lost.
const RETRY: Duration = Duration::from_secs(1);

/// Tells other services that something was written, and hears when they did. Ends when it is dropped.
pub(super) struct Hints {
    written: Arc<Notify>,
    heard: Arc<Notify>,
    task: Option<JoinHandle<()>>,
}

impl Hints {
    /// Tells and hears nothing.
    pub(super) fn none() -> Self {
        Self { written: Arc::default(), heard: Arc::default(), task: None }
    }

    pub(super) fn start(connections: &Arc<Connections>) -> Self {
        let (written, heard) = (Arc::<Notify>::default(), Arc::<Notify>::default());
        let carrying = carry(Arc::downgrade(connections), Arc::clone(&written), Arc::clone(&heard));
        Self { written, heard, task: Some(tokio::spawn(carrying)) }
    }

    /// Has the others told that something was written.
    pub(super) fn tell(&self) {
        self.written.notify_one();
    }

    /// Waits for a hint.
    pub(super) async fn wait(&self) {
        self.heard.notified().await;
    }
}

impl Drop for Hints {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn carry(connections: Weak<Connections>, written: Arc<Notify>, heard: Arc<Notify>) {
    while let Some(connections) = connections.upgrade() {
        let (hear, own) = (Arc::clone(&heard), Arc::<AtomicI32>::default());
        let is_own = Arc::clone(&own);
        let listening = connections.listen(move |told| match told {
            AsyncMessage::Notification(hint) if hint.process_id() != is_own.load(Ordering::Acquire) => {
                hear.notify_one();
            }
            _ => {}
        });
        let made = listening.await;
        drop(connections);
        if let Ok((client, driven)) = made {
            if begin(&client, &own).await.is_ok() {
                // What was written while nobody listened.
                heard.notify_one();
                send(&client, &written).await;
            }
            driven.abort();
        }
        pause(RETRY).await;
    }
}

/// Begins to listen, and takes down which hints are its own.
async fn begin(client: &Client, own: &AtomicI32) -> Result<(), tokio_postgres::Error> {
    let row = client.query_one("SELECT pg_backend_pid()", &[]).await?;
    own.store(row.try_get(0)?, Ordering::Release);
    client.batch_execute(LISTEN).await
}

/// Sends hints until the connection is lost.
async fn send(client: &Client, written: &Notify) {
    loop {
        written.notified().await;
        if client.batch_execute(NOTIFY).await.is_err() {
            return;
        }
        pause(APART).await;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "several hints become one, and a server that is away is not asked all the time"
)]
async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
}
