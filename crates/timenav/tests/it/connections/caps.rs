//! The limits of connections in total and per address.

use std::net::Ipv4Addr;

use crate::support::frames;
use crate::support::http::{Connection, Request};
use crate::support::service::Service;
use crate::support::service::{Process, descriptors, fails, timenav};

/// Another local address.
fn elsewhere(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 2, number)
}

fn health() -> Request {
    Request::get("/healthz").anonymous()
}

#[test]
fn connections_per_address_are_limited_independently() {
    let service = Service::with(&["--connections-per-address-max", "3"]);
    let limits = service.get("/v1/limits", &[])["limits"].clone();
    assert_eq!(limits["connections_per_address_max"], 3);
    let from = |number| Connection::open_from(elsewhere(number), service.address()).unwrap();
    let ask = |connection: &mut Connection| connection.exchange(&health()).map(|answer| answer.status);
    let mut mine: Vec<Connection> = (0..3).map(|_| from(1)).collect();
    for connection in &mut mine {
        assert_eq!(ask(connection).unwrap(), 200);
    }
    assert!(from(1).is_closed(), "closed at once");
    assert_eq!(ask(&mut from(2)).unwrap(), 200);
    assert_eq!(ask(&mut mine[0]).unwrap(), 200, "those that are there are not touched");
    assert_eq!(service.metric("timenav_connections_closed_total{reason=\"per_ip_limit\"}"), 1);
    mine.pop();
    // The service may not have noticed yet.
    service.wait_for_a_place(elsewhere(1));
    service.audit();
}

fn watch(service: &Service) -> Connection {
    let mut connection = service.connect();
    connection.send_request(&service.signed(Request::get("/v1/clock/stream")));
    assert_eq!(connection.head().unwrap().0, 200);
    connection
}

#[test]
fn new_connection_closes_an_idle_one_unless_all_are_busy() {
    let mut service = Service::with(&["--connections-max", "4", "--connections-per-address-max", "4"]);
    let mut watching: Vec<Connection> = (0..3).map(|_| watch(&service)).collect();
    let from = |number| Connection::open_from(elsewhere(number), service.address()).unwrap();
    let mut idle = from(1);
    idle.exchange(&health()).unwrap();
    let mut next = from(2);
    assert!(idle.is_closed(), "it makes room");
    assert_eq!(next.exchange(&health()).unwrap().status, 200);
    drop(next);
    service.wait_for_a_place(elsewhere(2));
    watching.push(watch(&service));
    assert!(from(1).is_closed());
    // Existing connections continue.
    service.process().terminate();
    for connection in &mut watching {
        while !connection.is_closed() {
            connection.read_to_end().unwrap();
        }
    }
    assert_eq!(service.process().wait().code(), Some(0));
    service.kill();
    service.start_again();
    service.audit();
}

#[test]
fn silent_connections_do_not_exhaust_file_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let mut process = Process::start_with_descriptors(64, &data, &log, &["--connections-per-address-max", "1000"]);
    let pid = process.pid();
    // More than there are descriptors, each with the bytes that keep it open longest.
    let silent: Vec<Connection> = (0..300)
        .map(|_| {
            let mut connection = Connection::open(process.address).unwrap();
            // It may be closed already.
            let _ = connection.send(frames::PREFACE);
            connection
        })
        .collect();
    for _ in 0..20 {
        let mut connection = Connection::open(process.address).unwrap();
        assert_eq!(connection.exchange(&health()).unwrap().status, 200);
        assert_eq!(connection.exchange(&Request::get("/readyz")).unwrap().status, 200);
    }
    assert!(descriptors(pid) < 64, "{}", descriptors(pid));
    drop(silent);
    process.terminate();
    assert!(process.wait().success());
    let log = std::fs::read_to_string(log).unwrap();
    assert!(!log.contains("ERROR"), "{log}");
}

#[test]
fn connection_limit_above_descriptor_limit_is_rejected_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg("ulimit -n 256 && exec \"$0\" \"$@\"").arg(timenav().get_program());
    command.args(["serve", "--listen", "127.0.0.1:0", "--connections-max", "129", "--data"]);
    command.arg(folder.path().join("data"));
    let stderr = fails(&mut command, 1, "needs 257 file descriptors, but this process can have only 256");
    assert!(stderr.contains("or set at most 128 connections"), "{stderr}");
}
