//! Claims while results of other firings are being reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

use super::run;
use super::stub_server::{answer, read};
use crate::{Client, ListenOptions};

const SOON: Duration = Duration::from_secs(10);

/// A service that delivers a firing once, and responds to its acknowledgment only after the next claim.
struct Service {
    claims: AtomicUsize,
    claimed: watch::Sender<bool>,
    reporting: watch::Sender<bool>,
    /// Number of requests that timed out waiting for the other.
    alone: AtomicUsize,
}

impl Service {
    async fn serve(&self, mut connection: TcpStream) {
        let request = read(&mut connection).await;
        let is_claim = request.starts_with("POST /v1/queues/default/claim ");
        let mut firings = Vec::new();
        if is_claim && self.claims.fetch_add(1, Ordering::SeqCst) == 0 {
            firings.push(json!({
                "firing_id": "firing_1", "timer_id": "daily", "timeline_id": "t", "due": "2027-01-31T09:00:00Z", "round": 0,
                "generation": 1, "step": 1, "attempt": 1, "lease_id": "lease_1", "payload": null,
                "leased_until": "2027-01-31T09:00:00Z",
            }));
        } else {
            assert!(is_claim || request.starts_with("POST /v1/firings/ack "), "{request}");
            let (now, other) =
                if is_claim { (&self.claimed, &self.reporting) } else { (&self.reporting, &self.claimed) };
            now.send_replace(true);
            if timeout(SOON, other.subscribe().wait_for(|is_there| *is_there)).await.is_err() {
                self.alone.fetch_add(1, Ordering::SeqCst);
            }
        }
        // A listener that is closed cancels its claim.
        let _ = connection.write_all(answer(200, &[], &json!({ "firings": firings })).as_bytes()).await;
        let _ = connection.shutdown().await;
    }
}

/// Delivers a firing with each claim, and delays responses to acknowledgments until reporting is allowed.
async fn hand_out(mut connection: TcpStream, handed: Arc<watch::Sender<usize>>, may_tell: Arc<watch::Sender<bool>>) {
    let request = read(&mut connection).await;
    let mut firings = Vec::new();
    if request.starts_with("POST /v1/queues/default/claim ") {
        handed.send_modify(|handed| *handed += 1);
        let number = *handed.borrow();
        firings.push(json!({
            "firing_id": format!("firing_{number}"), "timer_id": "daily", "timeline_id": "t", "due": "2027-01-31T09:00:00Z",
            "round": 0, "generation": 1, "attempt": 1, "lease_id": format!("lease_{number}"), "payload": null,
            "leased_until": "2027-01-31T09:00:00Z",
        }));
    } else {
        let _ = may_tell.subscribe().wait_for(|may| *may).await;
    }
    let _ = connection.write_all(answer(200, &[], &json!({ "firings": firings })).as_bytes()).await;
    let _ = connection.shutdown().await;
}

#[test]
fn listener_claims_no_more_while_outcomes_are_unreported() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (handed, may_tell) = (Arc::new(watch::Sender::new(0)), Arc::new(watch::Sender::new(false)));
        let (counted, reporting) = (Arc::clone(&handed), Arc::clone(&may_tell));
        tokio::spawn(async move {
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                tokio::spawn(hand_out(connection, Arc::clone(&counted), Arc::clone(&reporting)));
            }
        });
        let client = Client::builder().url(url).key(super::KEY).timeline("t").build().unwrap();
        let listener = client.on("default", |_| std::future::ready(Ok(()))).await.unwrap();
        let reaches = async |count: usize, within: Duration| {
            timeout(within, handed.subscribe().wait_for(|handed| *handed >= count)).await.is_ok()
        };
        assert!(reaches(2, SOON).await);
        assert!(!reaches(4, Duration::from_millis(500)).await, "one handler, and no outcome is reported");
        may_tell.send_replace(true);
        assert!(reaches(4, SOON).await);
        listener.close().await.unwrap();
    });
}

async fn listen(concurrency: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = Arc::new(Service {
        claims: AtomicUsize::new(0),
        claimed: watch::Sender::new(false),
        reporting: watch::Sender::new(false),
        alone: AtomicUsize::new(0),
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
    let options = ListenOptions { concurrency, ..ListenOptions::default() };
    let listener = client.on_with("default", |_| std::future::ready(Ok(())), options).await.unwrap();
    let both = [&service.claimed, &service.reporting];
    for one in both {
        timeout(SOON, one.subscribe().wait_for(|is_there| *is_there)).await.unwrap().unwrap();
    }
    listener.close().await.unwrap();
    assert_eq!(service.alone.load(Ordering::SeqCst), 0, "neither waits for the other");
}

#[test]
fn listener_claims_next_firings_while_reporting_outcomes() {
    run(async {
        for concurrency in [1, 2] {
            listen(concurrency).await;
        }
    });
}
