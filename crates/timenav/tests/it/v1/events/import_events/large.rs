//! Files larger than the memory that the service may use.

use std::io::Write as _;

use super::{NDJSON, counts};
use crate::support::http::{Connection, Request, target};
use crate::support::service::{Service, memory_kib};

const ROWS: usize = 200_000;
/// Maximum memory growth during an import of 40 MB, in KiB.
const GROWTH_KIB_MAX: u64 = 100 * 1_024;

/// Sends generated rows in chunks, so that the test holds no file in memory either.
fn upload(service: &Service, path: &str, content_type: &str, rows: impl Iterator<Item = String>) -> Connection {
    let mut connection = service.connect();
    let request = service.signed(Request::post(path).header("Content-Type", content_type));
    connection.send_request(&request.header("Transfer-Encoding", "chunked"));
    let mut sent_bytes = 0;
    let mut chunk = Vec::new();
    let send = |connection: &mut Connection, chunk: &mut Vec<u8>| {
        connection.send(format!("{:x}\r\n", chunk.len()).as_bytes()).unwrap();
        chunk.extend_from_slice(b"\r\n");
        connection.send(chunk).unwrap();
        chunk.clear();
    };
    for row in rows {
        writeln!(chunk, "{row}").unwrap();
        if chunk.len() > 1 << 18 {
            sent_bytes += chunk.len();
            send(&mut connection, &mut chunk);
        }
    }
    sent_bytes += chunk.len();
    send(&mut connection, &mut chunk);
    connection.send(b"0\r\n\r\n").unwrap();
    assert!(sent_bytes > 30_000_000, "{sent_bytes} bytes are no test of memory");
    connection
}

#[test]
fn import_memory_is_independent_of_file_size() {
    let service = Service::start();
    let row = |number: usize| {
        let (day, second) = (1 + number % 28, number % 60);
        let note = "a remark that makes the file large enough to be a test; ".repeat(3);
        format!("id-{number},2000-01-{day:02}T00:00:{second:02}Z,{number},{note}")
    };
    let header = std::iter::once("event_id,time,name,remark".to_owned());
    let before = memory_kib(service.pid(), "VmHWM");
    let path = target("/v1/import-events", &[("timeline_id", "large")]);
    let mut connection = upload(&service, &path, "text/csv", header.chain((0..ROWS).map(row)));
    assert_eq!(counts(connection.answer(false).unwrap()), [ROWS as u64, 0, 0]);
    let grown = memory_kib(service.pid(), "VmHWM").saturating_sub(before);
    println!("the service grew by {grown} KiB");
    assert!(grown < GROWTH_KIB_MAX, "{grown} KiB");
    let hit = service.find_all("large", "*", "2000-01-28T00:00:27Z/2000-01-28T00:00:27Z", "1000");
    assert_eq!(hit.len(), (0..ROWS).filter(|number| number % 28 == 27 && number % 60 == 27).count());
    service.audit();
}

#[test]
fn overlong_line_is_one_rejected_record() {
    let service = Service::start();
    let mut file = b"{\"time\": \"2000-01-01T00:00:00Z\", \"name\": \"".to_vec();
    file.resize(30_000_000, b'x');
    file.extend_from_slice(b"\"}\n{\"time\": \"2000-01-01T00:00:00Z\", \"name\": \"next\"}\n");
    let before = memory_kib(service.pid(), "VmHWM");
    let mut connection = service.connect();
    let request = service.signed(Request::post("/v1/import-events").header("Content-Type", NDJSON));
    connection.send_chunked(&request, file.chunks(1 << 18)).unwrap();
    let answer = connection.answer(false).unwrap().expect(200);
    assert_eq!((&answer["imported"], &answer["rejected"]), (&1.into(), &1.into()), "{answer}");
    assert_eq!(answer["rejections"][0]["code"], "record_too_large");
    assert_eq!(answer["rejections"][0]["line"], 1);
    let grown = memory_kib(service.pid(), "VmHWM").saturating_sub(before);
    assert!(grown < GROWTH_KIB_MAX, "{grown} KiB");
    service.audit();
}
