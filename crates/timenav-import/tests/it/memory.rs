//! However large a file is, little of it is in memory at a time.

mod peak;

use std::io::{self, Read};
use std::ops::ControlFlow;

use timenav_import::limits::{FEATURE_BYTES_MAX, RECORD_BYTES_MAX, TRACE_DOCUMENT_BYTES_MAX};
use timenav_import::{Format, ImportError, Mapping, read};

const FILE_BYTES: u64 = 200 * 1_000_000;

/// A start, then the same text again and again, and how much of it was asked for.
struct Endless<'t> {
    start: &'t [u8],
    again: &'t [u8],
    place: usize,
    bytes_read: u64,
}

impl<'t> Endless<'t> {
    fn new(start: &'t str, again: &'t str) -> Self {
        assert!(again.len() >= 1_024 * 1_024, "short texts take long to copy");
        Self { start: start.as_bytes(), again: again.as_bytes(), place: 0, bytes_read: 0 }
    }
}

impl Read for Endless<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (from, is_start) = if self.place < self.start.len() {
            (&self.start[self.place..], true)
        } else {
            (&self.again[(self.place - self.start.len()) % self.again.len()..], false)
        };
        let left = usize::try_from(FILE_BYTES.saturating_sub(self.bytes_read)).unwrap();
        let bytes = out.len().min(from.len()).min(if is_start { from.len() } else { left });
        out[..bytes].copy_from_slice(&from[..bytes]);
        self.place += bytes;
        self.bytes_read += bytes as u64;
        Ok(bytes)
    }
}

/// Reads, and returns how many items came, how it ended, and how much was asked for.
fn read_endless(format: Format, start: &str, again: &str) -> (u64, Result<(), ImportError>, u64) {
    let mut file = Endless::new(start, again);
    let mut items = 0;
    let outcome = read(format, &Mapping::default(), &mut file, &mut |_| {
        items += 1;
        ControlFlow::Continue(())
    });
    (items, outcome, file.bytes_read)
}

#[test]
fn endless_ndjson_line_is_skipped() {
    let (items, outcome, bytes) = read_endless(Format::Ndjson, "{}\n{\"a\":\"", &"x".repeat(1 << 20));
    outcome.unwrap();
    assert_eq!(items, 2);
    assert_eq!(bytes, FILE_BYTES);
}

#[test]
fn blank_ndjson_lines_are_skipped() {
    let line = format!("{}\n", " ".repeat(RECORD_BYTES_MAX));
    let (items, outcome, bytes) = read_endless(Format::Ndjson, "", &line);
    outcome.unwrap();
    assert_eq!((items, bytes), (0, FILE_BYTES));
}

#[test]
fn endless_record_ends_the_import() {
    let row = "time,a\n2024-07-20T20:17:40Z,1\n2024-07-20T20:17:40Z,\"";
    for (format, bytes_max, start, again, items_expected) in [
        (Format::Csv, RECORD_BYTES_MAX, row, "x", 1),
        (Format::Csv, RECORD_BYTES_MAX, row, "\r\n", 1),
        (Format::Csv, RECORD_BYTES_MAX, row, "\"\"", 1),
        (Format::Csv, RECORD_BYTES_MAX, "", "time", 0),
        (Format::Csv, RECORD_BYTES_MAX, "", "time,", 0),
        (Format::GeoJson, FEATURE_BYTES_MAX, "{\"features\":[{\"a\":\"", "x", 0),
        (
            Format::GeoJson,
            FEATURE_BYTES_MAX,
            "{\"features\":[{\"type\":\"Feature\",\"geometry\":{\"coordinates\":[",
            "[1,2],",
            0,
        ),
        (Format::GeoJson, FEATURE_BYTES_MAX, "{\"", "x", 0),
        (Format::GeoJson, FEATURE_BYTES_MAX, "{\"a\":", "[", 0),
        (Format::GeoJson, FEATURE_BYTES_MAX, "{\"type\":\"FeatureCollection\",\"features\":[]}", " ", 0),
        (Format::CloudEvents, RECORD_BYTES_MAX, "[{\"a\":\"", "x", 0),
        (Format::CloudEvents, RECORD_BYTES_MAX, "{\"a\":\"", "x", 0),
        (Format::CloudEvents, RECORD_BYTES_MAX, "", " ", 0),
        (Format::CloudEvents, RECORD_BYTES_MAX, "[", " ", 0),
        (Format::CloudEvents, RECORD_BYTES_MAX, "", "[", 0),
        (Format::Zipkin, TRACE_DOCUMENT_BYTES_MAX, "[", "{},", 0),
        (Format::Otlp, TRACE_DOCUMENT_BYTES_MAX, "", " ", 0),
    ] {
        let again = again.repeat((1 << 20) / again.len() + 1);
        let (items, outcome, bytes) = read_endless(format, start, &again);
        let is_expected = match outcome.unwrap_err() {
            ImportError::RowTooLarge { line } => format == Format::Csv && line == 2 * items + 1,
            ImportError::FeatureTooLarge { features: 0, .. } => format == Format::GeoJson,
            ImportError::PartTooLarge { .. } => !matches!(format, Format::Csv | Format::GeoJson),
            _ => false,
        };
        assert!(is_expected && items == items_expected, "{format:?} {start}");
        assert!(bytes < (bytes_max + (256 << 10)) as u64, "{format:?} {start}: {bytes}");
    }
}

/// Reads a file of many records up to the thousandth, and returns how far the reading was ahead.
fn bytes_ahead(format: Format, start: &str, record: &str) -> u64 {
    let again = record.repeat((1 << 20) / record.len() + 1);
    let mut file = Endless::new(start, &again);
    let mut items = 0_u64;
    read(format, &Mapping::default(), &mut file, &mut |item| {
        item.event.unwrap();
        items += 1;
        if items == 1_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    file.bytes_read - 1_000 * record.len() as u64
}

#[test]
fn records_are_delivered_while_reading() {
    let time = "2024-07-20T20:17:40Z";
    let feature = format!("{{\"type\":\"Feature\",\"properties\":{{\"time\":\"{time}\"}}}},\n");
    let cloud_event =
        format!("{{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\",\"time\":\"{time}\"}}");
    for (format, start, record) in [
        (Format::Ndjson, "", format!("{{\"time\":\"{time}\"}}\n")),
        (Format::Csv, "time,a,b\n", format!("{time},\"x\n\",y\r\n")),
        (Format::GeoJson, "{\"features\":[", feature),
        (Format::CloudEvents, "[", format!("{cloud_event},\n")),
        (Format::CloudEvents, "", format!("{cloud_event}\n")),
        (Format::Zipkin, "", "[{\"traceId\":\"a\",\"id\":\"1\",\"timestamp\":1}]\n".to_owned()),
    ] {
        let ahead = bytes_ahead(format, start, &record);
        assert!(ahead <= 128 << 10, "{format:?}: {ahead} bytes");
    }
}
