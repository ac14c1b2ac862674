//! `timenav timer`, and clocks that pass timers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, ChildStderr, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use data_encoding::BASE64;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{answered, check_output, done, line_command, rejected};
use crate::support::service::Service;

/// A request received by a program.
struct Sent {
    head: String,
    body: String,
}

impl Sent {
    fn header(&self, name: &str) -> &str {
        let value = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = value.filter(|(header, _)| header.eq_ignore_ascii_case(name));
        found.next().unwrap_or_else(|| panic!("no {name} in {}", self.head)).1
    }
}

/// A program that receives requests. It responds with the next status and passes on the request.
fn program(statuses: Receiver<u16>) -> (String, Receiver<Sent>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hooks", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let mut reader = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
            let length = head.to_lowercase().split("content-length: ").nth(1).unwrap().lines().next().unwrap().parse();
            let mut body = vec![0; length.unwrap()];
            reader.read_exact(&mut body).unwrap();
            if sender.send(Sent { head, body: String::from_utf8(body).unwrap() }).is_err() {
                return;
            }
            // Without a status, the program hangs.
            let Ok(status) = statuses.recv() else { return };
            let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    (url, receiver)
}

struct Listener {
    child: Child,
    lines: BufReader<ChildStdout>,
    notes: BufReader<ChildStderr>,
}

impl Listener {
    fn start(service: &Service, options: &str) -> Self {
        let mut command = line_command(service, &format!("timer listen --queue billing {options}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let notes = BufReader::new(child.stderr.take().unwrap());
        Self { child, lines, notes }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    fn note(&mut self) -> String {
        let mut line = String::new();
        self.notes.read_line(&mut line).unwrap();
        line
    }

    fn interrupt(mut self) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

fn at_new_year() -> Service {
    let service = Service::start();
    done(&service, "clock pause");
    done(&service, "clock travel 2027-01-01T00:00:00Z");
    service
}

fn add(service: &Service, id: &str, at: &str) {
    done(service, &format!("timer add --id {id} --at {at} --queue billing --payload '{{\"invoice\":42}}'"));
}

#[test]
fn timer_commands_set_list_show_and_cancel() {
    let service = at_new_year();
    check_output(&service, "cli-timer-list-none", "timer list");
    let set = "timer add --id renew-42 --at 2027-01-31T09:00:00Z --queue billing";
    check_output(&service, "cli-timer-add", &format!("{set} --payload '{{\"invoice\":42}}' --order-key customer-7"));
    add(&service, "later", "2027-03-01T00:00:00Z");
    check_output(&service, "cli-timer-list", "timer list");
    let page = answered(&service, "timer list --limit 1");
    assert_eq!(page["timers"][0]["timer_id"], "renew-42");
    check_output(&service, "cli-timer-cancel", "timer cancel later");
    assert_eq!(answered(&service, "timer list --state cancelled")["timers"][0]["timer_id"], "later");
    // The queue has no listener: the firing is skipped and stays pending.
    done(&service, "clock forward P1M");
    check_output(&service, "cli-timer-show", "timer show renew-42");
    rejected(&service, "timer show none", 5);
    for wrong in ["timer add", "timer add --at 2027-01-01T00:00:00Z --cron @daily"] {
        rejected(&service, wrong, 2);
    }
    service.audit();
}

#[test]
fn timer_preview_lists_firing_times_of_a_rule() {
    let service = at_new_year();
    let rule = "timer preview --every FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD --limit 3";
    check_output(&service, "cli-timer-preview", &format!("{rule} --starts 2027-01-31T09:00[Europe/Paris]"));
    let output = answered(&service, "timer preview --cron '0 9 * * MON' --after 2027-02-01T09:00:00Z");
    assert_eq!(
        (&output["moments"][0], output["moments"].as_array().unwrap().len()),
        (&json!("2027-02-08T09:00:00Z"), 10)
    );
    service.audit();
}

#[test]
fn changed_timer_and_its_firings_are_listed() {
    let service = at_new_year();
    add(&service, "renew-42", "2027-01-31T09:00:00Z");
    add(&service, "later", "2027-02-10T09:00:00Z");
    done(&service, "timer change renew-42 --at 2027-01-30T09:00:00Z --queue mail");
    let changed = answered(&service, "timer show renew-42");
    let timer = &changed["timer"];
    assert_eq!((&timer["next"], &timer["deliver"]["queue"]), (&json!("2027-01-30T09:00:00Z"), &json!("mail")));
    assert_eq!(timer["payload"], json!({ "invoice": 42 }), "what is not given stays");
    done(&service, "clock forward P2M");
    let firings = |options: &str| {
        let answer = answered(&service, &format!("timer firings {options}"));
        let firings = answer["firings"].as_array().expect("firings");
        firings.iter().map(|firing| firing["timer_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(firings(""), ["renew-42", "later"]);
    assert_eq!(firings("later"), ["later"]);
    assert_eq!(firings("--queue mail --state pending"), ["renew-42"]);
    assert_eq!(firings("--limit 1"), ["renew-42"]);
    let output = done(&service, "timer firings --limit 1 --all");
    assert_eq!(output.lines().count(), 3, "{output}");
    // A timer that has fired for the last time cannot be changed.
    rejected(&service, "timer change later --payload 1", 1);
    // A dry run of a rewind shows the timers that would re-arm.
    let would = done(&service, "clock rewind P1M --refire --dry-run");
    assert!(would.contains("REARMED FOR") && would.contains("SUPERSEDED"), "{would}");
    let anchor = answered(&service, "anchor set --description here")["anchor_id"].clone();
    add(&service, "new", "2027-05-10T09:00:00Z");
    let would = done(&service, &format!("anchor return {} --dry-run", anchor.as_str().unwrap()));
    assert!(would.contains("DISARMED\nnew"), "{would}");
    assert_eq!(answered(&service, "timer show new")["timer"]["state"], "armed");
    service.audit();
}

#[test]
fn recurring_timers_fire_repeatedly_and_are_previewed() {
    let service = at_new_year();
    let zone = "--zone Europe/Paris --queue billing";
    let every = "timer add --id renew --every FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD";
    let text = done(&service, &format!("{every} --starts 2027-01-31T09:00:00[Europe/Paris] {zone}"));
    assert!(
        text.contains("next          2027-01-31T08:00:00Z\n") && text.contains("zone          Europe/Paris\n"),
        "{text}"
    );
    let set = answered(&service, &format!("timer add --id weekly --cron '0 9 * * MON' {zone}"));
    assert_eq!(set["timer"]["next"], "2027-01-04T08:00:00Z");
    let text = done(&service, "clock forward 60d --dry-run");
    assert!(text.contains("2027-01-31T08:00:00Z  renew   billing\n2027-02-01T08:00:00Z  weekly  billing\n"), "{text}");
    assert!(
        text.ends_with("2027-02-28T08:00:00Z  renew   billing\n2027-03-01T08:00:00Z  weekly  billing\n11 firings.\n"),
        "{text}"
    );
    assert_eq!(answered(&service, "clock now")["current_time"], "2027-01-01T00:00:00Z");
    let receipt = answered(&service, "clock forward 60d");
    assert_eq!((&receipt["receipt"]["fired"], &receipt["receipt"]["unacknowledged"]), (&json!(11), &json!(11)));
    for (flag, wrong, hint) in
        [("--every", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "never fires"), ("--cron", "0 0 * * * *", "five fields")]
    {
        let stderr = rejected(&service, &format!("timer add {flag} '{wrong}'"), 1);
        assert!(stderr.contains(hint), "{stderr}");
    }
    service.audit();
}

#[test]
fn timer_listen_forwards_signed_firings() {
    let service = at_new_year();
    let (statuses, answers) = channel();
    let (url, sent) = program(answers);
    let mut listener = Listener::start(&service, &format!("--forward {url} --print-secret"));
    assert_eq!(listener.note(), "listening to the queue billing; Ctrl-C ends it\n");
    let note = listener.note();
    let secret = note.trim().rsplit_once("whsec_").unwrap().1.to_owned();
    // A firing that is due at once proves that the listener is connected.
    statuses.send(204).unwrap();
    add(&service, "first", "2026-12-31T00:00:00Z");
    let first = sent.recv().unwrap();
    assert_eq!(first.header("timenav-time"), "2026-12-31T00:00:00Z");
    let line = listener.line();
    assert!(
        line.starts_with("2026-12-31T00:00:00Z  first  firing_") && line.ends_with("  -> 204  acknowledged\n"),
        "{line}"
    );
    // During an advance, in order, and three attempts if rejected.
    add(&service, "refused", "2027-01-20T00:00:00Z");
    add(&service, "taken", "2027-01-10T00:00:00Z");
    for status in [200, 500, 500, 500] {
        statuses.send(status).unwrap();
    }
    let text = done(&service, "clock forward 30d");
    let receipt = "state           settled\nreached         2027-01-31T00:00:00Z\nto              2027-01-31T00:00:00Z\n\
                   fired           2\nacknowledged    1\nfailed          1\nunacknowledged  0\n";
    assert!(text.starts_with("2027-01-10T00:00:00Z  taken  billing  acknowledged\n"), "{text}");
    let refused = "2027-01-20T00:00:00Z  refused  billing  failed: the program responded with 500\n";
    assert!(text.contains(refused) && text.ends_with(receipt), "{text}");
    let taken = sent.recv().unwrap();
    assert!(taken.head.starts_with("POST /hooks HTTP/1.1\r\n") && !taken.head.to_lowercase().contains("authorization"));
    assert_eq!((taken.header("timenav-timeline"), taken.header("timenav-step")), ("main", "1"));
    assert!(taken.header("timenav-generation").parse::<u64>().is_ok());
    let body: Value = serde_json::from_str(&taken.body).unwrap();
    assert_eq!((&body["type"], &body["timestamp"]), (&json!("timer.fired"), &json!("2027-01-10T00:00:00Z")));
    assert_eq!(body["data"]["payload"], json!({ "invoice": 42 }));
    assert_eq!(taken.header("webhook-id"), body["data"]["firing_id"]);
    let signed = format!("{}.{}.{}", taken.header("webhook-id"), taken.header("webhook-timestamp"), taken.body);
    let key = hmac::Key::new(HMAC_SHA256, &BASE64.decode(secret.as_bytes()).unwrap());
    let signature = taken.header("webhook-signature").strip_prefix("v1,").unwrap();
    hmac::verify(&key, signed.as_bytes(), &BASE64.decode(signature.as_bytes()).unwrap()).unwrap();
    assert_eq!(sent.iter().take(3).filter(|sent| sent.body.contains("refused")).count(), 3);
    let line = listener.line();
    assert!(line.contains("  taken  ") && line.ends_with("  -> 200  acknowledged\n"), "{line}");
    let lines: [String; 3] = std::array::from_fn(|_| listener.line());
    let again = "  -> 500  failed, will be retried: the program responded with 500\n";
    assert!(lines[0].ends_with(again) && lines[1].ends_with(again), "{lines:?}");
    assert!(lines[2].ends_with("  -> 500  failed: the program responded with 500\n"), "{lines:?}");
    // A failed firing is redelivered as a new one, and the paused clock is advanced.
    let failed = answered(&service, "timer show refused")["firings"][0]["firing_id"].clone();
    let held = done(&service, "timer hold 'somebody looks' --for 2m");
    let hold_id = held.split_whitespace().find(|word| word.starts_with("hold_")).expect("a hold").to_owned();
    let listed = done(&service, "timer holds");
    assert!(listed.contains(&hold_id) && listed.contains("somebody looks"), "{listed}");
    assert!(done(&service, &format!("timer release {hold_id}")).contains("has ended"));
    let again = done(&service, &format!("timer redeliver {}", failed.as_str().unwrap()));
    let again = again.strip_prefix("firing  ").and_then(|rest| rest.strip_suffix("\nstate   pending\n")).unwrap();
    statuses.send(200).unwrap();
    assert_eq!(sent.recv().unwrap().header("webhook-id"), again);
    assert!(listener.line().ends_with(&format!("  {again}  -> 200  acknowledged\n")));
    add(&service, "while-thinking", "2027-01-31T00:10:00Z");
    statuses.send(200).unwrap();
    let text = done(&service, "clock elapse 20m");
    assert!(text.contains("current time  2027-01-31T00:20:00Z\n") && text.contains("acknowledged    1\n"), "{text}");
    assert!(done(&service, "clock elapse 1d --dry-run").ends_with("Nothing would fire.\n"));
    assert!(listener.line().contains("  while-thinking  "));
    let (code, _) = listener.interrupt();
    assert_eq!(code, Some(0));
    service.audit();
}

#[test]
fn clock_next_stops_at_the_next_timer() {
    let service = at_new_year();
    let mut listener = Listener::start(&service, "");
    add(&service, "first", "2026-12-31T00:00:00Z");
    assert!(listener.line().contains("  first  "), "it listens");
    add(&service, "next", "2027-01-31T09:00:00Z");
    let would = done(&service, "clock next --dry-run");
    assert!(would.ends_with("1 firing.\n") && would.contains("2027-01-31T09:00:00Z  next"), "{would}");
    let text = done(&service, "clock next");
    assert!(text.starts_with("2027-01-31T09:00:00Z  next  billing  acknowledged\nadvance "), "{text}");
    let text = done(&service, "clock next --until 2027-02-01T00:00:00Z");
    assert!(text.contains("current time  2027-02-01T00:00:00Z\n"), "{text}");
    let (code, _) = listener.interrupt();
    assert_eq!(code, Some(0));
    service.audit();
}

#[test]
fn interrupted_listener_returns_leased_firings() {
    let service = at_new_year();
    let (_statuses, answers): (Sender<u16>, _) = channel();
    let (url, sent) = program(answers);
    let mut listener = Listener::start(&service, &format!("--forward {url} --json"));
    let notes = listener.note() + &listener.note();
    assert!(notes.ends_with("signed with the secret that --print-secret prints\n"), "{notes}");
    add(&service, "held", "2026-12-31T00:00:00Z");
    sent.recv().unwrap();
    let (code, output) = listener.interrupt();
    assert_eq!(code, Some(0));
    let output: Value = serde_json::from_str(&output).unwrap();
    assert_eq!((&output["state"], &output["reason"]), (&json!("pending"), &json!("the listener was stopped")));
    // Another listener gets it at once, and without a program it is acknowledged as soon as it is printed.
    let mut next = Listener::start(&service, "--json");
    let taken: Value = serde_json::from_str(&next.line()).unwrap();
    assert_eq!((&taken["firing"]["timer_id"], &taken["state"]), (&json!("held"), &json!("acknowledged")));
    assert_eq!(taken["firing"]["attempt"], 2);
    assert_eq!(next.interrupt(), (Some(0), String::new()));
    service.audit();
}

#[test]
fn clock_forward_lists_every_firing_of_long_advance() {
    let service = at_new_year();
    let every = json!({ "rule": "FREQ=HOURLY", "starts": "2027-01-01T01:00:00Z" });
    let deliver = json!({ "to": "timeline", "event": { "name": "An hour" } });
    service.post("/v1/timers", &json!({ "timer_id": "hour", "every": every, "deliver": deliver }));
    let text = done(&service, "clock forward 150h");
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("  hour  ")).collect();
    assert_eq!(rows.len(), 150, "{text}");
    assert!(rows[149].starts_with("2027-01-07T06:00:00Z  hour  ") && rows[149].ends_with("acknowledged"), "{text}");
    assert!(text.contains("fired           150\nacknowledged    150\n"), "{text}");
    service.audit();
}

#[test]
fn clock_moves_settle_due_timers_unless_no_settle_is_given() {
    let service = at_new_year();
    add(&service, "one", "2027-01-10T00:00:00Z");
    add(&service, "two", "2027-02-10T00:00:00Z");
    // JSON output is the unchanged response, once nothing holds the clock.
    let forward = answered(&service, "clock forward 15d --wait 60s");
    assert_eq!((&forward["receipt"]["state"], &forward["receipt"]["unacknowledged"]), (&json!("settled"), &json!(1)));
    let jump = answered(&service, "clock travel 2027-03-01T00:00:00Z --no-wait");
    assert_eq!((&jump["current_time"], &jump["receipt"]), (&json!("2027-03-01T00:00:00Z"), &Value::Null));
    // A firing skipped by the jump waits for a listener, with its original time.
    let mut listener = Listener::start(&service, "");
    assert!(listener.line().starts_with("2027-01-10T00:00:00Z  one  "));
    assert!(listener.line().starts_with("2027-02-10T00:00:00Z  two  "));
    listener.interrupt();
    // Nothing is due: the clock is printed.
    let text = done(&service, "clock forward 1d");
    assert!(text.contains("current time  2027-03-02T00:00:00Z\n"), "{text}");
    let stderr = rejected(&service, "clock forward 1d --wait 1h", 2);
    assert!(stderr.contains("the maximum wait is 600s"), "{stderr}");
    service.audit();
}
