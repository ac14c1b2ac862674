//! The Rust client with a real service: handlers, settled advances, and a local clock.

mod baggage;
mod packed;
mod readme;
mod typed;
mod watching;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use timenav_client::{Advance, AdvanceState, Client, ClockUnavailable, Error, Instant, ListenOptions, Request, Timer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::support::service::Service;

const START: &str = "2027-01-01T00:00:00Z";
/// Timeout: generous, for busy machines.
const PATIENCE: Duration = Duration::from_mins(2);

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

/// Forwards connections to the current address of the service, so that clients keep one address across a crash.
struct Front {
    url: String,
    service: Arc<Mutex<SocketAddr>>,
}

impl Front {
    async fn before(service: &Service) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let address = Arc::new(Mutex::new(service.address()));
        let current = Arc::clone(&address);
        tokio::spawn(async move {
            while let Ok((mut caller, _)) = listener.accept().await {
                let address = *current.lock().unwrap();
                tokio::spawn(async move {
                    // A stopped service refuses connections, and so does this.
                    let Ok(mut service) = TcpStream::connect(address).await else { return };
                    let _ = tokio::io::copy_bidirectional(&mut caller, &mut service).await;
                });
            }
        });
        Self { url, service: address }
    }
}

/// Returns a client for a new timeline with a paused clock.
async fn paused_client(service: &Service, timeline: &str) -> Client {
    paused_client_at(&service.url(), &service.admin, timeline).await
}

async fn paused_client_at(url: &str, key: &str, timeline: &str) -> Client {
    let client = Client::builder().base_url(url).api_key(key).timeline_id(timeline).build().unwrap();
    let body = json!({ "timeline_id": timeline });
    client.send(Request::post(&["timelines"]).json(&body).unwrap()).await.unwrap();
    client.pause_time().await.unwrap();
    client.travel(at(START)).await.unwrap();
    client
}

#[test]
fn handler_processes_a_month_of_firings() {
    let service = Service::start();
    runtime().block_on(async {
        let client = paused_client(&service, "month").await;
        let clock = client.virtual_clock().await.unwrap();
        let timer = Timer::cron("0 9 * * MON-FRI", "UTC").id("work").payload(json!({ "invoice": 42 }));
        let set = client.set_timer(&timer).await.unwrap().timer;
        assert_eq!((set.timer_id.as_str(), set.next), ("work", Some(at("2027-01-01T09:00:00Z"))));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let handler = move |firing: timenav_client::Firing| {
            let noted = Arc::clone(&noted);
            async move {
                // The clock is at the time of the firing, for all readers.
                assert_eq!(firing.client.clock().await?.current_time, firing.clock.now());
                let beyond = firing.clock.until(Instant::MAX);
                assert!(matches!(beyond, Err(ClockUnavailable::WaitPastFiring { .. })), "{beyond:?}");
                let inside = firing.client.rewind("1h").await.unwrap_err();
                let code = inside.problem().map(|problem| problem.code.clone());
                noted.lock().unwrap().push((firing.due.to_string(), firing.payload["invoice"].clone(), code));
                Ok(())
            }
        };
        let listener = client.on("default", handler).await.unwrap();
        let receipt = client.advance("P1M").await.unwrap();
        assert!(listener.is_running());
        listener.close().await.unwrap();
        assert_eq!((receipt.state, receipt.reached), (AdvanceState::Settled, at("2027-02-01T00:00:00Z")));
        assert_eq!((receipt.fired, receipt.acknowledged, receipt.failed, receipt.unacknowledged), (21, 21, 0, 0));
        let seen = seen.lock().unwrap().clone();
        let first = ("2027-01-01T09:00:00Z".to_owned(), json!(42), Some("reentrant_clock_change".to_owned()));
        assert_eq!((seen.len(), &seen[0]), (21, &first));
        // A subscribed clock is read without a request.
        let generation = client.clock().await.unwrap().generation;
        let reading = clock.until_generation(generation).await.unwrap();
        assert_eq!((reading.now, clock.now().unwrap()), (receipt.reached, receipt.reached));
        let mut changes = clock.changes();
        let moved = client.advance(Advance::to(at("2027-02-01T08:00:00Z")).if_generation(generation)).await.unwrap();
        assert_eq!((moved.fired, moved.advance_id), (0, None));
        assert_eq!(changes.recv().await.unwrap().jump_micros, 8 * 3_600_000_000);
        assert!(clock.until(at("2027-02-01T08:00:00Z")).await.is_ok());
        // From one firing time to the next: 9 o'clock on working days.
        let moved = client.advance(Advance::to_next(None)).await.unwrap();
        assert_eq!((moved.fired, moved.reached), (1, at("2027-02-01T09:00:00Z")));
        let until = at("2027-02-01T10:00:00Z");
        let moved = client.advance(Advance::to_next(Some(until))).await.unwrap();
        assert_eq!((moved.fired, moved.reached), (0, until));
        clock.close();
        assert_eq!(clock.now(), Err(ClockUnavailable::Closed));
    });
    service.audit();
}

#[test]
fn failed_handlers_are_retried_and_stopped_advances_reported() {
    let service = Service::start();
    runtime().block_on(async {
        let client = paused_client(&service, "failing").await;
        client.set_timer(&Timer::at(at("2027-01-02T00:00:00Z")).id("fails")).await.unwrap();
        client.set_timer(&Timer::at(at("2027-01-03T00:00:00Z")).id("panics").queue("other")).await.unwrap();
        let options = ListenOptions { concurrency: 2, ack_timeout: Duration::from_secs(2) };
        let attempts = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&attempts);
        let failing = move |firing: timenav_client::Firing| {
            counted.fetch_max(firing.attempt, Ordering::Relaxed);
            async move { Err(format!("the card was declined, {}", "é".repeat(1_000)).into()) }
        };
        let failing = client.on_with("default", failing, options).await.unwrap();
        let panicking = |firing: timenav_client::Firing| async move {
            assert!(firing.attempt > 1, "not yet");
            // Longer than the lease: the client extends it, and no other worker gets the firing.
            let _ = tokio::time::timeout(Duration::from_secs(3), Notify::new().notified()).await;
            Ok(())
        };
        let panicking = client.on_with("other", panicking, options).await.unwrap();
        let failed = client.advance("3d").await.unwrap_err();
        let expected = "1 of 2 firings failed: fails at 2027-01-02T00:00:00Z: the card was declined";
        assert!(failed.to_string().starts_with(expected), "{failed}");
        let Error::FiringsFailed(receipt) = failed else { panic!("{failed}") };
        assert_eq!((receipt.fired, receipt.acknowledged, receipt.failed), (2, 1, 1));
        assert_eq!(attempts.load(Ordering::Relaxed), 3);
        let reason = receipt.firings[0].reason.clone().unwrap();
        assert!(reason.starts_with("the card was declined") && reason.len() <= 1_024, "{reason}");
        client.set_timer(&Timer::at(at("2027-01-04T06:00:00Z")).id("fails-again")).await.unwrap();
        let allowed = client.advance(Advance::by("12h").allow_failed_firings()).await.unwrap();
        assert_eq!((allowed.fired, allowed.failed), (1, 1));
        failing.close().await.unwrap();
        panicking.close().await.unwrap();

        client.set_timer(&Timer::at(at("2027-01-05T00:00:00Z"))).await.unwrap();
        let (began, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (expected, request) = (Arc::clone(&began), Arc::clone(&go));
        let slow = move |_| {
            let (expected, request) = (Arc::clone(&expected), Arc::clone(&request));
            async move {
                expected.notify_one();
                request.notified().await;
                Ok(())
            }
        };
        let slow = client.on("default", slow).await.unwrap();
        let late = client.advance(Advance::by("2d").timeout(Duration::from_millis(200))).await.unwrap_err();
        assert!(matches!(&late, Error::TimedOut(text) if text.contains("advance_")), "{late}");
        tokio::time::timeout(PATIENCE, began.notified()).await.unwrap();
        client.pause_time().await.unwrap();
        let closing = tokio::spawn(slow.close());
        go.notify_one();
        closing.await.unwrap().unwrap();
        client.set_timer(&Timer::at(at("2027-01-06T00:00:00Z"))).await.unwrap();
        let pausing = client.on("default", |firing| async move { Ok(firing.client.pause_time().await.map(drop)?) });
        let pausing = pausing.await.unwrap();
        let stopped = client.advance("30d").await.unwrap_err();
        let Error::NotSettled(receipt) = stopped else { panic!("{stopped}") };
        assert_eq!((receipt.state, receipt.reached), (AdvanceState::Stopped, at("2027-01-06T00:00:00Z")));
        pausing.close().await.unwrap();
    });
    service.audit();
}

#[test]
fn listener_and_clock_reconnect_after_a_crash() {
    let mut service = Service::start();
    let runtime = runtime();
    let fired = Arc::new(Notify::new());
    let counter = Arc::clone(&fired);
    let (front, client, clock, listener) = runtime.block_on(async {
        let front = Front::before(&service).await;
        let client = paused_client_at(&front.url, &service.admin, "crash").await;
        let clock = client.virtual_clock().await.unwrap();
        let handler = move |_| {
            counter.notify_one();
            std::future::ready(Ok(()))
        };
        let listener = client.on("default", handler).await.unwrap();
        let unknown = client.with_timeline("none").on("default", |_| std::future::ready(Ok(()))).await.unwrap_err();
        assert_eq!(unknown.problem().unwrap().http_status, 404);
        assert!(client.with_timeline("none").virtual_clock().await.is_err());
        (front, client, clock, listener)
    });
    service.kill();
    service.start_again();
    runtime.block_on(async {
        *front.service.lock().unwrap() = service.address();
        client.set_timer(&Timer::at(at(START))).await.unwrap();
        tokio::time::timeout(PATIENCE, fired.notified()).await.unwrap();
        let moved = client.travel(at("2028-02-29T09:00:00Z")).await.unwrap();
        let waiting = tokio::time::timeout(PATIENCE, async {
            loop {
                match clock.until_generation(moved.generation).await {
                    Ok(reading) => break reading.now,
                    // The clock was unconfirmed for a while on a busy machine.
                    Err(error) if error.is_stale() => {
                        let _ = tokio::time::timeout(Duration::from_millis(20), Notify::new().notified()).await;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        });
        assert_eq!(waiting.await.unwrap(), at("2028-02-29T09:00:00Z"));
        listener.close().await.unwrap();
    });
    drop(clock);
    service.audit();
}
