//! Webhooks of two services on one database: each firing is sent once, and requests of a killed service are sent by the
//! other.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::super::postgres::Cluster;
use super::{restart_both, two};
use crate::support::waiting::until_so;

/// Timers that fire before the fault.
const TIMERS: usize = 24;

/// A webhook receiver that accepts every request, or leaves all without a response.
struct Hooks {
    address: SocketAddr,
    /// The received firings, including repetitions.
    sent: Arc<Mutex<Vec<String>>>,
    holds: Arc<AtomicBool>,
}

impl Hooks {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sent, holds) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicBool>::default());
        let (received, is_held) = (Arc::clone(&sent), Arc::clone(&holds));
        std::thread::spawn(move || {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept() {
                let Some((firing_id, mut stream)) = read(stream) else { continue };
                let holds = is_held.load(Ordering::SeqCst);
                received.lock().unwrap_or_else(PoisonError::into_inner).push(firing_id);
                if holds {
                    held.push(stream);
                } else {
                    let _ = stream.write_all(b"HTTP/1.1 204 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                }
            }
        });
        Self { address, sent, holds }
    }

    fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reads a request. Returns its firing.
fn read(stream: TcpStream) -> Option<(String, TcpStream)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).ok()? > 0 {}
    let length = head.to_lowercase().split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    Some((body["data"]["firing_id"].as_str()?.to_owned(), reader.into_inner()))
}

#[test]
fn webhook_is_sent_once_and_taken_over_after_kill() {
    let hooks = Hooks::start();
    let cluster = Cluster::start();
    let (mut first, mut second) = two(&cluster);
    let url = format!("http://{}", hooks.address);
    let arguments = ["--store", &cluster.url, "--replicas", "--webhook-allow-host", &url];
    restart_both(&mut first, &mut second, &arguments);
    first.errors_expected =
        vec!["timers could not be processed", "the store cannot be read", "a group could not be committed"];
    first.post("/v1/pause-time", &json!({}));
    let timer = |name: &str| {
        let deliver = json!({ "to": "webhook", "url": format!("{url}/in") });
        json!({ "timer_id": name, "at": "1999-01-01T00:00:00Z", "deliver": deliver })
    };
    for number in 0..TIMERS {
        let (name, body) = (format!("t{number}"), timer(&format!("t{number}")));
        let set = if number % 2 == 0 { first.post("/v1/timers", &body) } else { second.post("/v1/timers", &body) };
        assert_eq!(set["timer"]["timer_id"], name);
    }
    // An overdue timer fires slightly after it is set, so nothing may be pending before the last one has fired.
    until_so("all of them to be sent", || hooks.sent().len() >= TIMERS);
    until_so("all of them to be done", || first.get("/v1/clock", &[])["lag"].is_null());
    let mut sent = hooks.sent();
    sent.sort_unstable();
    sent.dedup();
    assert_eq!((sent.len(), hooks.sent().len()), (TIMERS, TIMERS), "each is sent once");

    // The only running service sends one, and is killed before the response.
    first.process().signal(Signal::STOP);
    hooks.holds.store(true, Ordering::SeqCst);
    second.post("/v1/timers", &timer("under-way"));
    until_so("it to be sent", || hooks.sent().len() > TIMERS);
    let firing_id = hooks.sent()[TIMERS].clone();
    first.process().signal(Signal::CONT);
    second.process.kill();
    hooks.holds.store(false, Ordering::SeqCst);
    let firings = || first.get("/v1/timers/under-way", &[])["firings"].clone();
    until_so("the other service to send it", || firings()[0]["state"] == "acknowledged");
    assert_eq!(hooks.sent()[TIMERS..], [firing_id.clone(), firing_id.clone()], "once more, and to nobody else");
    assert_eq!((firings().as_array().map(Vec::len), &firings()[0]["firing_id"]), (Some(1), &json!(firing_id)));
    let scan = first.post("/v1/detect-tampering", &json!({ "timeline_id": "main" }));
    assert_eq!(scan["findings"], json!([]), "{scan:#}");
    first.audit();
}
