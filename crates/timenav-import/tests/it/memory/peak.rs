//! How much memory a process has at most that reads a large file of each format.
//!
//! Tests of one program share their memory, so each file is read by a process of its own: this program again, with the
//! one test that is left out otherwise.

use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::process::Command;

use timenav_import::limits::{CALENDAR_BYTES_MAX, TRACE_DOCUMENT_BYTES_MAX};
use timenav_import::{Format, Mapping, read};

/// How long a file of records is, in bytes: longer than what may be in memory of it.
const RECORDS_BYTES: u64 = 20 * 1024 * 1024;
/// How long a file of calendars or traces is, in bytes.
const WHOLES_BYTES: u64 = 48 * 1024 * 1024;
/// How long the file is of which nothing is kept, in bytes.
const LONG_LINE_BYTES: u64 = 200 * 1024 * 1024;
/// Most memory that the reading of records takes, in bytes. The longest part is a feature of GeoJSON.
const PEAK_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Most memory that the reading of calendars or traces takes, in bytes: of a trace all spans are held, of a calendar what
/// waits for its time zone.
const PEAK_OF_WHOLES_BYTES_MAX: u64 = 40 * 1024 * 1024;
/// What counts for a small event of a calendar that waits for its time zone, in bytes.
const WAITING_EVENT_BYTES: usize = 180;
/// Says which file is to be read.
const FILE: &str = "TIMENAV_TEST_FILE";
const FILES: [&str; 10] = [
    "long line",
    "long records",
    "rows",
    "long rows",
    "members",
    "pairs",
    "features",
    "member without end",
    "calendars",
    "traces",
];

/// A file: a start, and what comes again and again.
struct Case {
    format: Format,
    start: &'static str,
    again: String,
    bytes: u64,
    peak_bytes_max: u64,
}

fn case(name: &str) -> Case {
    let time = "2024-07-20T20:17:40Z";
    let long = || "x".repeat(900_000);
    let whole = |part: &str, bytes_max: usize| part.repeat(bytes_max / (part.len() + 320));
    let (format, start, again) = match name {
        "long line" => (Format::Ndjson, "{\"a\":\"", long()),
        "long records" => (Format::Ndjson, "", format!("{{\"time\":\"{time}\",\"description\":\"{}\"}}\n", long())),
        "rows" => (Format::Csv, "time,a\n", format!("{time},{}\n", "x".repeat(1_000)).repeat(1_000)),
        "long rows" => (Format::Csv, "time,a\n", format!("{time},\"{}\"\n", long())),
        "members" => (Format::Json, "[", format!("{{\"time\":\"{time}\",\"a\":\"{}\"}},", long())),
        "pairs" => (Format::Logfmt, "", format!("time={time} a={}\n", long())),
        "features" => {
            let line = "[1.5,2.5],".repeat(300_000);
            let geometry = format!("{{\"type\":\"LineString\",\"coordinates\":[{line}[1,2]]}}");
            let feature = format!("{{\"type\":\"Feature\",\"properties\":{{\"time\":1}},\"geometry\":{geometry}}},");
            (Format::GeoJson, "{\"features\":[", feature)
        }
        "member without end" => (Format::GeoJson, "{\"a\":\"", long()),
        "calendars" => {
            // Events that wait for their time zone to the end, as small as they can be.
            let event = "BEGIN:VEVENT\nDTSTART;TZID=Later:20240720T201740\nEND:VEVENT\n";
            let events = event.repeat(CALENDAR_BYTES_MAX / WAITING_EVENT_BYTES);
            (Format::ICalendar, "", format!("BEGIN:VCALENDAR\n{events}END:VCALENDAR\n"))
        }
        "traces" => {
            let tag = "x".repeat(700);
            let span = format!("{{\"traceId\":\"a\",\"id\":\"1\",\"timestamp\":1,\"tags\":{{\"a\":\"{tag}\"}}}}");
            let spans = whole(&format!("{span},"), TRACE_DOCUMENT_BYTES_MAX);
            (Format::Zipkin, "", format!("[{spans}{span}]\n"))
        }
        other => panic!("there is no file `{other}`"),
    };
    let is_whole = matches!(format, Format::ICalendar | Format::Zipkin);
    let (bytes, peak_bytes_max) =
        if is_whole { (WHOLES_BYTES, PEAK_OF_WHOLES_BYTES_MAX) } else { (RECORDS_BYTES, PEAK_BYTES_MAX) };
    let bytes = if name == "long line" { LONG_LINE_BYTES } else { bytes };
    Case { format, start, again, bytes, peak_bytes_max }
}

/// Hands out a file, a piece at a time.
struct Pieces<'c> {
    case: &'c Case,
    place: u64,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let start = self.case.start.len() as u64;
        let from = if self.place < start {
            &self.case.start.as_bytes()[usize::try_from(self.place).unwrap()..]
        } else {
            let place = usize::try_from(self.place - start).unwrap() % self.case.again.len();
            // No part is cut off in the middle of the file, so that what is whole ends it.
            if self.place >= self.case.bytes && place == 0 {
                return Ok(0);
            }
            &self.case.again.as_bytes()[place..]
        };
        let bytes = from.len().min(out.len());
        out[..bytes].copy_from_slice(&from[..bytes]);
        self.place += bytes as u64;
        Ok(bytes)
    }
}

/// Returns how much memory this process has (`VmRSS`) or had at most (`VmHWM`), in bytes.
fn memory_bytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
#[expect(clippy::disallowed_methods, reason = "the test below says by a variable which file is to be read")]
fn single_file_stays_within_its_peak() {
    let name = std::env::var(FILE).unwrap();
    let case = case(&name);
    // What the file itself takes is no part of it: the most is counted anew from here (proc_pid_clear_refs(5)).
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory_bytes("VmRSS");
    let mut items = 0_u64;
    let outcome = read(case.format, &Mapping::default(), Pieces { case: &case, place: 0 }, &mut |_| {
        items += 1;
        ControlFlow::Continue(())
    });
    if name == "calendars" {
        outcome.unwrap();
    }
    let peak = memory_bytes("VmHWM").saturating_sub(before);
    println!("{name}: {items} records, {} KiB", peak / 1_024);
    assert!(peak <= case.peak_bytes_max, "{name}: {peak} bytes, and {} are allowed", case.peak_bytes_max);
}

#[test]
fn peak_memory_is_bounded_for_every_file() {
    if !cfg!(target_os = "linux") {
        println!("skipped: how much memory a process had is told by Linux");
        return;
    }
    let program = std::env::current_exe().unwrap();
    for name in FILES {
        let mut child = Command::new(&program);
        child
            .args(["--exact", "memory::peak::single_file_stays_within_its_peak", "--ignored", "--nocapture"])
            .env(FILE, name);
        let output = child.output().unwrap();
        let output_text = String::from_utf8_lossy(&output.stdout);
        let line = output_text.lines().find(|line| line.contains(name)).unwrap_or_default();
        assert!(
            output.status.success() && !line.is_empty(),
            "{output_text} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        println!("{line}");
    }
}
