//! Hints between the services of one database that something was written.
//!
//! Hints are sent after the commit, on a separate connection, and several are merged into one: within a transaction,
//! each `NOTIFY` would lock the whole server until the commit. Hints may get lost, so nothing relies on them.
//!
//! A hint has the numbers of the timelines that have changed. An empty hint, as earlier versions send it, means that
//! any timeline may have changed. So does a malformed one.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use timenav_engine::{Hint, TimelineKey};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Client};

use crate::postgres::connection::Connections;

const LISTEN: &str = "LISTEN timenav";
/// Payload of a hint about no ledger.
const NO_LEDGER: &str = "-";
/// Minimum interval between hints. Hints in between are merged.
const APART: Duration = Duration::from_millis(5);
/// Timeout for responses of the server. A frozen server keeps the connection open.
const SAY_WAIT: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_secs(1);

/// A merged hint that has not been delivered yet.
#[derive(Default)]
struct Waiting {
    hint: Mutex<Option<Hint>>,
    come: Notify,
}

impl Waiting {
    fn add(&self, hint: Hint) {
        let mut waiting = self.hint.lock();
        *waiting = Some(match waiting.take() {
            Some(before) => before.and(hint),
            None => hint,
        });
        drop(waiting);
        self.come.notify_one();
    }

    async fn next(&self) -> Hint {
        loop {
            let waiting = self.hint.lock().take();
            if let Some(hint) = waiting {
                return hint;
            }
            self.come.notified().await;
        }
    }
}

/// Sends hints to other services and receives theirs. Stops on drop.
pub(in crate::postgres) struct Hints {
    written: Arc<Waiting>,
    listening: Arc<Waiting>,
    task: Option<JoinHandle<()>>,
}

impl Hints {
    pub(in crate::postgres) fn none() -> Self {
        Self { written: Arc::default(), listening: Arc::default(), task: None }
    }

    pub(in crate::postgres) fn start(connections: &Arc<Connections>) -> Self {
        let (written, received) = (Arc::<Waiting>::default(), Arc::<Waiting>::default());
        let carrying = carry(Arc::downgrade(connections), Arc::clone(&written), Arc::clone(&received));
        Self { written, listening: received, task: Some(tokio::spawn(carrying)) }
    }

    /// Queues a hint for the other services.
    pub(in crate::postgres) fn send(&self, hint: Hint) {
        if self.task.is_some() {
            self.written.add(hint);
        }
    }

    pub(in crate::postgres) async fn wait(&self) -> Hint {
        self.listening.next().await
    }
}

impl Drop for Hints {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn carry(connections: Weak<Connections>, written: Arc<Waiting>, received: Arc<Waiting>) {
    while let Some(connections) = connections.upgrade() {
        let (receive, own) = (Arc::clone(&received), Arc::<AtomicI32>::default());
        let is_own = Arc::clone(&own);
        let listening = connections.listen(move |message| match message {
            AsyncMessage::Notification(hint) if hint.process_id() != is_own.load(Ordering::Acquire) => {
                receive.add(read(hint.payload()));
            }
            _ => {}
        });
        let made = listening.await;
        drop(connections);
        if let Ok((client, driven)) = made {
            let begun = timeout(SAY_WAIT, begin(&client, &own)).await;
            if matches!(begun, Ok(Ok(()))) {
                // Covers writes made while this service was not listening.
                received.add(Hint::All);
                send(&client, &written).await;
            }
            driven.abort();
        }
        pause(RETRY).await;
    }
}

/// Starts listening, and records its own session to recognize its own hints.
async fn begin(client: &Client, own: &AtomicI32) -> Result<(), tokio_postgres::Error> {
    let row = client.query_one("SELECT pg_backend_pid()", &[]).await?;
    own.store(row.try_get(0)?, Ordering::Release);
    client.batch_execute(LISTEN).await
}

async fn send(client: &Client, written: &Waiting) {
    loop {
        let hint = written.next().await;
        let sent = timeout(SAY_WAIT, client.batch_execute(&format!("NOTIFY timenav, '{}'", text(&hint)))).await;
        if !matches!(sent, Ok(Ok(()))) {
            written.add(hint);
            return;
        }
        pause(APART).await;
    }
}

/// Encodes a hint as numbers separated by spaces. The server accepts payloads of less than 8000 bytes.
fn text(hint: &Hint) -> String {
    let mut text = String::new();
    match hint {
        Hint::All => {}
        Hint::Some(named) if named.is_empty() => text.push_str(NO_LEDGER),
        Hint::Some(named) => {
            for TimelineKey(number) in named {
                // Writing to a string cannot fail.
                let _ = write!(text, "{}{number}", if text.is_empty() { "" } else { " " });
            }
        }
    }
    text
}

/// Decodes a hint. Any client with access to the database may have sent it.
fn read(text: &str) -> Hint {
    if text == NO_LEDGER {
        return Hint::of([]);
    }
    let numbers = text.split(' ').map(|number| number.parse().map(TimelineKey));
    numbers.collect::<Result<Vec<_>, _>>().map_or(Hint::All, Hint::of)
}

#[expect(
    clippy::disallowed_methods,
    reason = "several hints become one, and a server that is away is not asked all the time"
)]
async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
}

#[cfg(test)]
mod tests {
    use timenav_engine::HINTED_TIMELINES_MAX;

    use super::*;

    #[test]
    fn hints_round_trip_and_malformed_ones_mean_all_timelines() {
        let most = i64::try_from(HINTED_TIMELINES_MAX).unwrap();
        let longest = Hint::of((0..most).map(|number| TimelineKey(i64::MIN + number)));
        for hint in
            [Hint::All, Hint::of([]), Hint::of([TimelineKey(7)]), Hint::of([-3, 0, 12].map(TimelineKey)), longest]
        {
            let sent = text(&hint);
            assert!(sent.len() < 8_000, "{}", sent.len());
            assert_eq!(read(&sent), hint, "{sent}");
        }
        for other in ["", "main", "1,2", "1  2", "9223372036854775808", "1 2 x"] {
            assert_eq!(read(other), Hint::All, "{other}");
        }
        let many: Vec<String> = (0..=most).map(|number| number.to_string()).collect();
        assert_eq!(read(&many.join(" ")), Hint::All);
    }
}
