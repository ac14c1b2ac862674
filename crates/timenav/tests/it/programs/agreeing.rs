//! Programs on one clock agree: to the nanosecond on the service's kernel, elsewhere within the reported uncertainty.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use super::{PATH, Teller, compiled, is_installed, service};
use crate::cli::command;
use crate::support::service::{Service, run};
use crate::support::waiting::until;

const AGREE: &str = include_str!("../../programs/agree.c");
/// Readings per program and rate.
const READINGS: usize = 2_000;
/// The text before the boot id in a response.
const BOOT_ID: &[u8] = b"\"boot_id\":\"";
const BOOT_ID_BYTES: usize = 32;
/// The value in a page whose uncertainty is unknown.
const UNKNOWN: u64 = u64::MAX;
/// Offset of the boot clock of a time namespace.
const SHIFT_SECONDS: i128 = 1_000_000;

/// A reading of a program.
#[derive(Clone, Copy, Debug)]
struct Seen {
    before: i128,
    reading: i128,
    after: i128,
    generation: i128,
    /// In millionths.
    rate: i128,
    origin_virtual: i128,
    origin_boot: i128,
    uncertainty: u64,
}

fn ask(teller: &mut Teller) -> Seen {
    teller.questions.write_all(b"?\n").unwrap();
    let line = teller.line();
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[before, reading, after, generation, rate, origin_virtual, origin_boot, uncertainty] = words.as_slice() else {
        panic!("{line}")
    };
    let number = |word: &str| word.parse::<i128>().unwrap();
    Seen {
        before: number(before),
        reading: number(reading),
        after: number(after),
        generation: number(generation),
        rate: number(rate),
        origin_virtual: number(origin_virtual),
        origin_boot: number(origin_boot),
        uncertainty: uncertainty.parse().unwrap(),
    }
}

/// Repeats the request until the program sees a generation.
fn ask_at(teller: &mut Teller, generation: &Value) -> Seen {
    let generation = i128::from(generation.as_u64().unwrap());
    until("a change of the clock", || Some(ask(teller)).filter(|seen| seen.generation == generation))
}

fn following(command: &mut Command) -> Teller {
    Teller::of(command.env("PATH", PATH).stderr(Stdio::inherit()))
}

/// Checks two readings on one boot clock at an integer rate.
#[track_caller]
fn check_order(earlier: &Seen, later: &Seen) {
    let rate = later.rate / 1_000_000;
    let passed = later.reading - earlier.reading;
    assert!(passed >= rate * (later.before - earlier.after), "{earlier:?} {later:?}");
    assert!(passed <= rate * (later.after - earlier.before), "{earlier:?} {later:?}");
}

#[test]
fn runs_on_the_service_kernel_agree_to_the_nanosecond() {
    let Some(service) = service() else { return };
    let Some((_folder, program)) = compiled(AGREE, &[]) else { return service.audit() };
    // One starts while the clock is paused, the other while it runs.
    let mut tellers = vec![following(&mut command(&service, &["exec", "--", &program]))];
    let resumed = service.post("/v1/resume-time", &json!({}));
    ask_at(&mut tellers[0], &resumed["generation"]);
    tellers.push(following(&mut command(&service, &["exec", "--", &program])));
    for rate in [1, 60] {
        let changed = service.post("/v1/set-rate", &json!({ "rate": rate }));
        let first: Vec<Seen> = tellers.iter_mut().map(|teller| ask_at(teller, &changed["generation"])).collect();
        for seen in &first {
            assert_eq!((seen.origin_boot, seen.origin_virtual), (first[0].origin_boot, first[0].origin_virtual));
            assert_eq!(seen.uncertainty, 0, "{seen:?}");
        }
        let mut last = first[1];
        for _ in 0..READINGS {
            for teller in &mut tellers {
                let seen = ask(teller);
                check_order(&last, &seen);
                last = seen;
            }
        }
    }
    for teller in tellers {
        teller.end();
    }
    service.audit();
}

/// A proxy between clients and a service that can modify requests and responses. Returns its address.
pub(crate) fn between(
    service: &Service,
    change_request: impl Fn(&mut [u8]) + Clone + Send + 'static,
    change_response: impl Fn(&mut [u8]) + Clone + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, to) = (listener.local_addr().unwrap(), service.address());
    // The thread ends with the test.
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, service) = (client.unwrap(), TcpStream::connect(to).unwrap());
            let (from, into) = (client.try_clone().unwrap(), service.try_clone().unwrap());
            let (change_request, change_response) = (change_request.clone(), change_response.clone());
            thread::spawn(move || pass(from, into, change_request));
            thread::spawn(move || pass(service, client, change_response));
        }
    });
    format!("http://{address}")
}

fn pass(mut from: TcpStream, mut to: TcpStream, change: impl Fn(&mut [u8])) {
    let mut buffer = [0; 16_384];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        change(&mut buffer[..length]);
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// Replaces the boot id in every response of a buffer.
fn rename(output: &mut [u8]) {
    let names = |at: &usize| output[*at..].starts_with(BOOT_ID);
    let found: Vec<usize> = (0..output.len()).filter(names).map(|at| at + BOOT_ID.len()).collect();
    for at in found {
        if let Some(name) = output.get_mut(at..at + BOOT_ID_BYTES) {
            name.fill(b'f');
        }
    }
}

#[test]
fn run_on_another_kernel_reports_its_clock_uncertainty() {
    let Some(service) = service() else { return };
    let Some((_folder, program)) = compiled(AGREE, &[]) else { return service.audit() };
    let elsewhere = between(&service, |_| {}, rename);
    let start = || following(command(&service, &["exec", "--", &program]).env("TIMENAV_URL", &elsewhere));
    let mut waiting = start();
    assert_eq!(ask(&mut waiting).uncertainty, UNKNOWN, "nothing tells what time it is while the clock stands");
    let resumed = service.post("/v1/resume-time", &json!({}));
    let mut here = following(&mut command(&service, &["exec", "--", &program]));
    let exact = ask_at(&mut here, &resumed["generation"]);
    assert_eq!(exact.uncertainty, 0);
    // It measures once the clock runs.
    let resumed_there = until("a clock that was measured", || {
        Some(ask(&mut waiting)).filter(|seen| seen.generation == exact.generation && seen.uncertainty < UNKNOWN)
    });
    let mut there = start();
    let begun = ask_at(&mut there, &resumed["generation"]);
    for seen in [resumed_there, begun] {
        let late = seen.origin_boot - exact.origin_boot;
        assert!(seen.uncertainty > 0 && seen.uncertainty < UNKNOWN, "{seen:?}");
        assert!((0..=i128::from(seen.uncertainty)).contains(&late), "{late} {seen:?}");
    }
    // `--inspect` shows the values of the page.
    let pid = super::children(super::children(there.child.id())[0])[0].to_string();
    let (code, stdout, stderr) = run(&mut command(&service, &["exec", "--inspect", "--json", &pid]), "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let stdout: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(stdout["uncertainty_nanos"], ask(&mut there).uncertainty, "{stdout}");
    let (_, text, _) = run(&mut command(&service, &["exec", "--inspect", &pid]), "");
    assert!(text.contains("late by       at most 0."), "{text}");
    for teller in [waiting, here, there] {
        teller.end();
    }
    service.audit();
}

#[test]
fn run_in_time_namespace_uses_the_kernel_boot_clock() {
    let Some(service) = service() else { return };
    if !rustix::process::geteuid().is_root() || !is_installed("unshare") {
        return service.audit();
    }
    let Some((_folder, program)) = compiled(AGREE, &[]) else { return service.audit() };
    let resumed = service.post("/v1/resume-time", &json!({}));
    let mut here = following(&mut command(&service, &["exec", "--", &program]));
    let exact = ask_at(&mut here, &resumed["generation"]);
    let inner = command(&service, &["exec", "--", &program]);
    let mut outer = Command::new("unshare");
    outer.args(["--time", "--fork", "--boottime", &SHIFT_SECONDS.to_string(), "--"]);
    outer.arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        outer.env(name, value.unwrap_or_default());
    }
    let mut shifted = following(&mut outer);
    let seen = ask_at(&mut shifted, &resumed["generation"]);
    assert_eq!(seen.uncertainty, 0);
    assert_eq!(seen.origin_boot - exact.origin_boot, SHIFT_SECONDS * 1_000_000_000);
    here.end();
    shifted.end();
    service.audit();
}
