//! Claims while the outcomes of other firings are being reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

use super::run;
use super::stub_server::{read, response};
use crate::{Client, ListenOptions};

const TIMEOUT: Duration = Duration::from_secs(10);

/// A service that delivers one firing, and responds to its acknowledgment only after the next claim has arrived.
struct Service {
    claims: AtomicUsize,
    claimed: watch::Sender<bool>,
    reporting: watch::Sender<bool>,
    /// The number of requests that timed out waiting for the other one.
    timed_out: AtomicUsize,
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
            let (arrived, awaited) =
                if is_claim { (&self.claimed, &self.reporting) } else { (&self.reporting, &self.claimed) };
            arrived.send_replace(true);
            if timeout(TIMEOUT, awaited.subscribe().wait_for(|has_arrived| *has_arrived)).await.is_err() {
                self.timed_out.fetch_add(1, Ordering::SeqCst);
            }
        }
        // A listener that is closed cancels its claim.
        let _ = connection.write_all(response(200, &[], &json!({ "firings": firings })).as_bytes()).await;
        let _ = connection.shutdown().await;
    }
}

/// Delivers a firing with each claim, and delays responses to acknowledgments until they are allowed.
async fn deliver(
    mut connection: TcpStream,
    delivered: Arc<watch::Sender<usize>>,
    can_settle: Arc<watch::Sender<bool>>,
) {
    let request = read(&mut connection).await;
    let mut firings = Vec::new();
    if request.starts_with("POST /v1/queues/default/claim ") {
        delivered.send_modify(|delivered| *delivered += 1);
        let number = *delivered.borrow();
        firings.push(json!({
            "firing_id": format!("firing_{number}"), "timer_id": "daily", "timeline_id": "t", "due": "2027-01-31T09:00:00Z",
            "round": 0, "generation": 1, "attempt": 1, "lease_id": format!("lease_{number}"), "payload": null,
            "leased_until": "2027-01-31T09:00:00Z",
        }));
    } else {
        let _ = can_settle.subscribe().wait_for(|can_settle| *can_settle).await;
    }
    let _ = connection.write_all(response(200, &[], &json!({ "firings": firings })).as_bytes()).await;
    let _ = connection.shutdown().await;
}

#[test]
fn listener_stops_claiming_while_too_many_outcomes_are_unreported() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (delivered, can_settle) = (Arc::new(watch::Sender::new(0)), Arc::new(watch::Sender::new(false)));
        let (counted, settling) = (Arc::clone(&delivered), Arc::clone(&can_settle));
        tokio::spawn(async move {
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                tokio::spawn(deliver(connection, Arc::clone(&counted), Arc::clone(&settling)));
            }
        });
        let client = Client::builder().base_url(url).api_key(super::KEY).timeline_id("t").build().unwrap();
        let listener = client.on("default", |_| std::future::ready(Ok(()))).await.unwrap();
        let reaches = async |count: usize, within: Duration| {
            timeout(within, delivered.subscribe().wait_for(|delivered| *delivered >= count)).await.is_ok()
        };
        assert!(reaches(2, TIMEOUT).await);
        assert!(!reaches(4, Duration::from_millis(500)).await, "claiming stops while two outcomes are unreported");
        can_settle.send_replace(true);
        assert!(reaches(4, TIMEOUT).await);
        listener.close().await.unwrap();
    });
}

async fn check_overlap(concurrency: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = Arc::new(Service {
        claims: AtomicUsize::new(0),
        claimed: watch::Sender::new(false),
        reporting: watch::Sender::new(false),
        timed_out: AtomicUsize::new(0),
    });
    let serving = Arc::clone(&service);
    tokio::spawn(async move {
        loop {
            let (connection, _) = listener.accept().await.unwrap();
            let serving = Arc::clone(&serving);
            tokio::spawn(async move { serving.serve(connection).await });
        }
    });
    let client = Client::builder().base_url(url).api_key(super::KEY).timeline_id("t").build().unwrap();
    let options = ListenOptions { concurrency, ..ListenOptions::default() };
    let listener = client.on_with("default", |_| std::future::ready(Ok(())), options).await.unwrap();
    for request in [&service.claimed, &service.reporting] {
        timeout(TIMEOUT, request.subscribe().wait_for(|has_arrived| *has_arrived)).await.unwrap().unwrap();
    }
    listener.close().await.unwrap();
    assert_eq!(service.timed_out.load(Ordering::SeqCst), 0, "a claim and an acknowledgment did not overlap");
}

#[test]
fn listener_claims_the_next_firing_while_reporting_an_outcome() {
    run(async {
        for concurrency in [1, 2] {
            check_overlap(concurrency).await;
        }
    });
}
