//! Firings that are claimed while the service is told what became of others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::run;
use super::stand_in::{answer, read};
use crate::Client;

const SOON: Duration = Duration::from_secs(10);

/// Hands a firing out once, and takes its acknowledgement once the next claim has come.
struct Service {
    claims: AtomicUsize,
    claimed: watch::Sender<bool>,
    /// Acknowledgements that came before the next claim, and those that came with it.
    told: [AtomicUsize; 2],
}

impl Service {
    async fn serve(&self, mut connection: TcpStream) {
        let request = read(&mut connection).await;
        let is_claim = request.starts_with("POST /v1/queues/default/claim ");
        let body = if is_claim && self.claims.fetch_add(1, Ordering::SeqCst) == 0 {
            let firing = json!({
                "firing_id": "firing_1", "timer_id": "daily", "timeline_id": "t", "due": "2027-01-31T09:00:00Z", "round": 0,
                "generation": 1, "step": 1, "attempt": 1, "lease_id": "lease_1", "payload": null,
                "leased_until": "2027-01-31T09:00:00Z",
            });
            json!({ "firings": [firing] })
        } else if is_claim {
            self.claimed.send_replace(true);
            tokio::time::sleep(Duration::from_millis(50)).await;
            json!({ "firings": [] })
        } else {
            assert!(request.starts_with("POST /v1/firings/ack "), "{request}");
            let mut claimed = self.claimed.subscribe();
            let is_claimed = timeout(SOON, claimed.wait_for(|claimed| *claimed)).await.is_ok();
            self.told[usize::from(is_claimed)].fetch_add(1, Ordering::SeqCst);
            json!({ "firings": [] })
        };
        // Whoever closes breaks a claim off.
        let _ = connection.write_all(answer(200, &[], &body).as_bytes()).await;
        let _ = connection.shutdown().await;
    }
}

#[test]
fn what_comes_next_is_claimed_while_the_service_is_told_what_was_done() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let service = Arc::new(Service {
            claims: AtomicUsize::new(0),
            claimed: watch::Sender::new(false),
            told: [AtomicUsize::new(0), AtomicUsize::new(0)],
        });
        let serving = Arc::clone(&service);
        tokio::spawn(async move {
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                let serving = Arc::clone(&serving);
                tokio::spawn(async move { serving.serve(connection).await });
            }
        });
        let client = Client::builder().url(url).key(super::KEY).timeline("t").build().unwrap();
        let done = Arc::new(Notify::new());
        let handled = Arc::clone(&done);
        let handler = move |_| {
            handled.notify_one();
            std::future::ready(Ok(()))
        };
        let listener = client.on("default", handler).await.unwrap();
        timeout(SOON, done.notified()).await.unwrap();
        timeout(SOON, service.claimed.subscribe().wait_for(|claimed| *claimed)).await.unwrap().unwrap();
        // One that closes waits until the service is told.
        listener.close().await.unwrap();
        let told = service.told.each_ref().map(|told| told.load(Ordering::SeqCst));
        assert_eq!(told, [0, 1], "before the next claim, and with it");
    });
}
