//! `timenav sntp`: clocks for SNTP clients.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::command;
use crate::programs::between;
use crate::support::dice::Dice;
use crate::support::http::Request;
use crate::support::instant::micros;
use crate::support::service::{Service, fails, run};
use crate::support::waiting::until;

/// From 1900 to 1970, in seconds.
const TO_1970: i64 = 2_208_988_800;

/// A running `timenav sntp` with a client socket.
struct Sntp {
    child: Child,
    addresses: Vec<String>,
    asking: UdpSocket,
    dice: RefCell<Dice>,
}

impl Sntp {
    fn start(service: &Service, arguments: &[&str]) -> Self {
        let count = arguments.iter().filter(|port| port.starts_with("127.")).count();
        Self::of(&mut command(service, &[&["sntp"], arguments].concat()), count)
    }

    /// Starts a server with `count` ports.
    fn of(command: &mut Command, count: usize) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let message = stdout.lines().take(count).map(|line| {
            let line = line.unwrap();
            let message = line.strip_prefix("serving SNTP on ").expect("it says where it listens");
            message.split_once(": timeline ").expect("it says which timeline").0.to_owned()
        });
        let addresses = message.collect();
        let asking = UdpSocket::bind("127.0.0.1:0").unwrap();
        asking.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { child, addresses, asking, dice: RefCell::new(Dice::new(1_900)) }
    }

    fn send(&self, packet: &[u8]) {
        self.asking.send_to(packet, &self.addresses[0]).unwrap();
    }

    /// Sends a request with an arbitrary client timestamp and returns the response.
    fn ask(&self) -> [u8; 48] {
        let own = self.dice.borrow_mut().next().to_be_bytes();
        let mut packet = [0; 48];
        packet[0] = 0o43;
        packet[40..].copy_from_slice(&own);
        self.send(&packet);
        let mut answer = [0; 512];
        let length = self.asking.recv(&mut answer).unwrap();
        assert_eq!((length, &answer[24..32]), (48, &own[..]), "as long as the question, and to it");
        answer[..48].try_into().unwrap()
    }

    /// Sends requests until the response satisfies the condition.
    #[track_caller]
    fn ask_until(&self, what: &str, is_right: impl Fn(&[u8; 48]) -> bool) -> [u8; 48] {
        until(what, || Some(self.ask()).filter(&is_right))
    }
}

impl Drop for Sntp {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn travel(service: &Service, to: &str) {
    service.post("/v1/travel", &json!({ "destination_time": to }));
}

/// Returns the seconds since 1970 in a response, for a given era.
fn seconds_of(answer: &[u8; 48], era: i64) -> i64 {
    i64::from(u32::from_be_bytes(answer[40..44].try_into().unwrap())) + (era << 32) - TO_1970
}

#[test]
fn sntp_server_follows_each_clock_change() {
    let service = Service::start();
    travel(&service, "2031-05-06T07:08:09Z");
    let sntp = Sntp::start(&service, &["127.0.0.1:0=main"]);
    let first = sntp.ask();
    assert_eq!((first[0], first[1], &first[12..16]), (0o44, 1, &b"XTNV"[..]));
    assert!((1_935_817_689..1_935_817_989).contains(&seconds_of(&first, 0)), "{}", seconds_of(&first, 0));
    // The first second of the next era, and a time before the first one.
    travel(&service, "2036-02-07T06:28:16Z");
    let next =
        sntp.ask_until("the next era", |answer| seconds_of(answer, 1) >= 2_085_978_496 && seconds_of(answer, 0) < 0);
    assert!(seconds_of(&next, 1) < 2_085_978_796);
    // A paused clock must not be used to set others; a resumed one may.
    service.post("/v1/pause-time", &json!({}));
    sntp.ask_until("a clock that stands", |answer| answer[0] >> 6 == 3 && answer[1] == 1);
    service.post("/v1/resume-time", &json!({}));
    sntp.ask_until("a clock that runs", |answer| answer[0] >> 6 == 0);
    // Outside the range that clients can resolve.
    travel(&service, "-000043-03-15T12:00:00Z");
    let refused = sntp.ask_until("a refusal", |answer| answer[1] == 0);
    assert_eq!((refused[0] >> 6, &refused[12..16], &refused[32..]), (3, &b"XERA"[..], &[0; 16][..]));
    service.audit();
}

#[test]
fn sntp_requests_add_no_entries_and_invalid_ones_are_ignored() {
    let service = Service::start();
    let sntp = Sntp::start(&service, &["127.0.0.1:0"]);
    // Once a change is visible, the stream is open and its entry has been written.
    service.post("/v1/pause-time", &json!({}));
    sntp.ask_until("a clock that stands", |answer| answer[0] >> 6 == 3);
    let size = || service.checkpoint("main").size;
    let (before, for_looking) = (size(), size());
    let request = [&[0o46][..], &[0; 47]].concat();
    for packet in [&[][..], &[0o43], &[0o43; 47], &request, &[0xff; 400], &[0; 48]] {
        sntp.send(packet);
    }
    // The first response is for the last request: earlier ones got none.
    sntp.ask();
    for _ in 0..200 {
        sntp.ask();
    }
    assert_eq!(size() - for_looking, for_looking - before, "packets are no entries");
    service.audit();
}

#[test]
fn sntp_server_serves_one_port_per_existing_timeline() {
    let service = Service::start();
    service.post("/v1/travel", &json!({ "destination_time": "1999-12-31T00:00:00Z", "timeline_id": "old" }));
    let sntp = Sntp::start(&service, &["127.0.0.1:0=old", "127.0.0.1:0=main"]);
    assert_eq!(seconds_of(&sntp.ask(), 0) / 86_400, 10_956, "1999-12-31");
    assert_eq!(sntp.addresses.len(), 2);
    for (arguments, expected, message) in [
        (&["sntp", "127.0.0.1:0=nowhere"][..], 5, "nowhere"),
        (&["sntp", "0.0.0.0:0"], 1, "--allow-remote"),
        (&["sntp", "--jitter", "1s", "127.0.0.1:0=main"], 2, "250 ms"),
    ] {
        fails(&mut command(&service, arguments), expected, message);
    }
    service.audit();
}

/// Without the service the clock is unconfirmed, and if the service denies access no time is sent.
#[test]
fn sntp_time_is_unsynchronized_without_service_or_permission() {
    let mut service = Service::start();
    travel(&service, "2031-05-06T07:08:09Z");
    service.post("/v1/users", &json!({ "user_id": "ada" }));
    let permissions = json!({ "admin": ["admin"], "read": ["ada"] });
    service.post("/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": permissions }));
    let made = service.post("/v1/api-keys", &json!({ "user_id": "ada" }));
    let address = service.address().to_string();
    service.arguments(&["--listen", &address]);
    let with_key = |arguments: &[&str]| {
        let mut command = command(&service, &[&["sntp"], arguments].concat());
        command.env("TIMENAV_API_KEY", made["api_key"].as_str().unwrap());
        Sntp::of(&mut command, 1)
    };
    let (sntp, refused) = (Sntp::start(&service, &["127.0.0.1:0=main"]), with_key(&["127.0.0.1:0=main"]));
    assert_eq!([sntp.ask(), refused.ask()].map(|answer| (answer[0] >> 6, answer[1])), [(0, 1); 2]);
    let path = format!("/v1/api-keys/{}", made["key_id"].as_str().unwrap());
    service.send(Request::new("DELETE", &path)).expect(200);
    let denied = refused.ask_until("a refusal", |answer| answer[1] == 0);
    assert_eq!((denied[0] >> 6, &denied[12..16], &denied[32..]), (3, &b"DENY"[..], &[0; 16][..]));
    service.kill();
    let stale = sntp.ask_until("a service that is gone", |answer| answer[1] == 16);
    assert!(stale[0] >> 6 == 3 && seconds_of(&stale, 0) >= 1_935_817_689, "{stale:?}");
    service.start_again();
    sntp.ask_until("a service that is back", |answer| (answer[0] >> 6, answer[1]) == (0, 1));
    service.audit();
}

/// The clock may be changed as soon as the server announces itself, and the change waits for it. Here the stream is
/// opened late.
#[test]
fn sntp_port_opens_after_follower_is_registered() {
    let service = Service::start();
    let late = |request: &mut [u8]| {
        if request.starts_with(b"GET /v1/clock/stream") {
            // As on a busy machine; there is nothing to wait for.
            let (_never, messages) = std::sync::mpsc::channel::<()>();
            let _ = messages.recv_timeout(Duration::from_millis(300));
        }
    };
    let elsewhere = between(&service, late, |_| {});
    let mut serving = command(&service, &["sntp", "--follow", "devices", "127.0.0.1:0=main"]);
    let _sntp = Sntp::of(serving.env("TIMENAV_URL", &elsewhere), 1);
    assert_eq!(service.get("/v1/followers", &[])["followers"][0]["name"], "devices");
    service.audit();
}

/// Returns the seconds since 1970 in a response, with the fraction.
fn exact_seconds_of(answer: &[u8; 48]) -> f64 {
    let fraction = u32::from_be_bytes(answer[44..].try_into().unwrap());
    #[expect(clippy::cast_precision_loss, reason = "seconds within an era")]
    let seconds = seconds_of(answer, 0) as f64;
    seconds + f64::from(fraction) / 2_f64.powi(32)
}

#[test]
fn sntp_server_applies_offset_and_drift_faults() {
    let service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    travel(&service, "2031-05-06T07:08:09Z");
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    let right = Sntp::start(&service, &["127.0.0.1:0=main"]);
    let wrong = Sntp::start(&service, &["--offset", "-2s", "--drift", "100000ppm", "127.0.0.1:0=main"]);
    let start = 1_935_817_689.0;
    assert_eq!((exact_seconds_of(&right.ask()), exact_seconds_of(&wrong.ask())), (start, start - 2.0));
    // A tenth of the elapsed time is added, and nothing while the clock is paused.
    service.post("/v1/resume-time", &json!({}));
    right.ask_until("an hour", |answer| answer[0] >> 6 == 0 && exact_seconds_of(answer) > start + 3_600.0);
    service.post("/v1/pause-time", &json!({}));
    let is_unsynchronized = |answer: &[u8; 48]| answer[0] >> 6 == 3;
    let reading = exact_seconds_of(&right.ask_until("a clock that stands", is_unsynchronized));
    let error = exact_seconds_of(&wrong.ask_until("a wrong clock that stands", is_unsynchronized)) - reading;
    assert!((error - ((reading - start) / 10.0 - 2.0)).abs() < 0.001, "{error} after {}", reading - start);
    travel(&service, "1999-12-31T00:00:00Z");
    right.ask_until("the jump", |answer| seconds_of(answer, 0) == 946_598_400);
    let jumped = wrong.ask_until("the jump", |answer| seconds_of(answer, 0) < 1_000_000_000);
    assert!((exact_seconds_of(&jumped) - 946_598_400.0 - error).abs() < 0.001, "a jump leaves the error as it is");
    service.audit();
}

/// The path of the client: installed, or unpacked by `cargo xtask test`.
const CHRONY_PATH: &str = concat!(
    "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin:",
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/tools/chrony/usr/sbin"
);

/// Queries the time with chrony, if installed. Returns the offset of the host's clock in seconds.
fn by_chrony(sntp: &Sntp) -> Option<f64> {
    let port = sntp.addresses[0].rsplit_once(':').unwrap().1;
    let server = format!("server 127.0.0.1 port {port} iburst maxsamples 1");
    // If it is not installed, it has no user of its own.
    let script = "exec chronyd -Q -U -u \"$(id -un)\" -t 20 \"$0\"";
    let output = Command::new("sh").args(["-c", script, &server]).env("PATH", CHRONY_PATH).output().unwrap();
    if output.status.code() == Some(127) {
        eprintln!("skipped: chronyd is not installed");
        return None;
    }
    let message = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let wrong = message.split_once("System clock wrong by ").map(|(_, by)| by.split(' ').next().unwrap());
    Some(wrong.unwrap_or_else(|| panic!("{message}")).parse().unwrap())
}

/// Queries the time with a Python client, `ntpdig` or `sntp`, if installed. It only supports port 123, so a patched
/// copy is used. Returns its output.
fn by_script(sntp: &Sntp, name: &str) -> Option<Value> {
    let script = std::fs::read_to_string(format!("/usr/bin/{name}")).ok().filter(|text| text.contains("port=123"));
    let Some(script) = script else {
        eprintln!("skipped: {name} is not installed, or not the one of NTPsec");
        return None;
    };
    let port = sntp.addresses[0].rsplit_once(':').unwrap().1;
    // The Python interpreter that has its libraries.
    let interpreter = script.lines().next().and_then(|line| line.strip_prefix("#!")?.split_whitespace().next());
    let mut client = Command::new(interpreter.unwrap_or("python3"));
    client.args(["-c", &script.replace("port=123", &format!("port={port}")), "--json", "127.0.0.1"]);
    let (_, stdout, stderr) = run(&mut client, "");
    Some(serde_json::from_str(stdout.trim()).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}")))
}

/// Returns a service at a time, and how far that is ahead of the host's clock, in seconds.
fn traveled() -> (Service, f64) {
    let service = Service::start();
    travel(&service, "2031-05-06T07:08:09Z");
    let host = micros(service.get("/v1/clock", &[])["origin_host"].as_str().unwrap());
    #[expect(clippy::cast_precision_loss, reason = "microseconds of some years")]
    let ahead = (1_935_817_689_000_000 - host) as f64 / 1e6;
    (service, ahead)
}

#[test]
fn ntpdig_and_sntp_clients_read_the_virtual_time() {
    let (service, right) = traveled();
    let sntp = Sntp::start(&service, &["127.0.0.1:0=main"]);
    for name in ["ntpdig", "sntp"] {
        let Some(seconds) = by_script(&sntp, name) else { continue };
        let offset = seconds["offset"].as_f64().unwrap();
        assert!((offset - right).abs() < 1.0, "{seconds} instead of {right}");
        assert_eq!((&seconds["stratum"], &seconds["leap"]), (&json!(1), &json!("no-leap")), "{seconds}");
    }
    service.audit();
}

#[test]
fn chrony_reads_the_virtual_time() {
    let (service, right) = traveled();
    for (options, ahead) in [(&["127.0.0.1:0=main"][..], 0.0), (&["127.0.0.1:0=main", "--offset=1h"], 3_600.0)] {
        let sntp = Sntp::start(&service, options);
        // Not installed on every machine.
        let Some(wrong) = by_chrony(&sntp) else { break };
        assert!((wrong - right - ahead).abs() < 1.0, "{wrong} instead of {right} and {ahead}");
    }
    service.audit();
}
