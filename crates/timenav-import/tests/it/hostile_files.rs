//! Files that are broken, cut off, or nothing but noise.

use std::io::{self, Read};

use proptest::prelude::*;
use timenav_import::{Format, ImportError, Mapping};

use crate::items;

const NDJSON: &str = concat!(
    "\u{FEFF}{\"event_id\":\"a\",\"time\":\"2024-07-20T20:17:40.125Z\",\"geo\":{\"lat\":12.5,\"lon\":-1e-3}}\r\n",
    "\n",
    "{\"time\":\"-000043-03-15T11:00:00Z\",\"causes\":[\"a\",{\"event_id\":\"b\",\"kind\":\"contributes\"}]}\n",
    "{\"time\":\"2024-07-20T22:17:40+02:00\",\"attributes\":{\"n\":[1,2],\"é\":\"\\u00fc\"},\"actors\":[\"x\"]}",
);
const CSV: &str = concat!(
    "\u{FEFF}id,time,lat,lon,note,parents\r\n",
    "a,2024-07-20T20:17:40.125Z,12.5,-0.001,\"x, \"\"y\"\"\r\nz\",\r\n",
    "\r\n",
    "b,-000043-03-15T11:00:00Z,,,é,a\r\n",
    "c,2024-07-20T22:17:40+02:00,1,2,,a b\r\n",
);
const GEOJSON: &str = concat!(
    "\u{FEFF}{\"type\":\"FeatureCollection\",\"bbox\":[1,2,3,4],\"features\":[\n",
    "{\"type\":\"Feature\",\"id\":\"a\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[-0.001,12.5,7]},\"properties\":{\"time\":1721506660125,\"é\":\"\\u00fc\"}},\n",
    "{\"type\":\"Feature\",\"id\":12,\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[10,0],[10,10],[0,0]]]},\"properties\":{\"time\":\"2024-07-20T22:17:40+02:00\"}}\n",
    "],\"x\":{\"y\":[]}}\n",
);
const CLOUD_EVENTS: &str = concat!(
    "\u{FEFF}[{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"urn:a\",\"type\":\"t\",\"time\":\"2024-07-20T20:17:40Z\",\"data\":[1,\"\\u00fc\"]},\n",
    "{\"specversion\":\"1.0\",\"id\":\"2\",\"source\":\"urn:a\",\"type\":\"t\",\"time\":\"2024-07-20T20:17:40Z\",\"causationid\":\"1\"}]\n",
);
const ZIPKIN: &str = concat!(
    "[{\"traceId\":\"a\",\"id\":\"1\",\"timestamp\":1470150004074202,\"duration\":5,\"kind\":\"CLIENT\",\"localEndpoint\":{\"serviceName\":\"s\"}},\n",
    "{\"traceId\":\"a\",\"id\":\"1\",\"timestamp\":1470150004008761,\"shared\":true,\"tags\":{\"é\":\"\\u00fc\"}}]\n",
    "[{\"traceId\":\"a\",\"id\":\"2\",\"parentId\":\"1\",\"timestamp\":1}]\n",
);
const JAEGER: &str = concat!(
    "{\"data\":[{\"processes\":{\"p\":{\"serviceName\":\"s\",\"tags\":[{\"key\":\"k\",\"value\":1}]}},\"spans\":[",
    "{\"traceID\":\"a\",\"spanID\":\"1\",\"startTime\":1,\"duration\":2,\"processID\":\"p\"},\n",
    "{\"traceID\":\"a\",\"spanID\":\"2\",\"startTime\":1,\"references\":[{\"refType\":\"CHILD_OF\",\"traceID\":\"a\",\"spanID\":\"1\"}]}]}]}\n",
);
const OTLP: &str = concat!(
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"s\"}}]},\"scopeSpans\":[{\"spans\":[\n",
    "{\"traceId\":\"a\",\"spanId\":\"1\",\"startTimeUnixNano\":\"1485467191639875001\",\"kind\":2,\"links\":[{\"traceId\":\"b\",\"spanId\":\"1\"}]}]}]}]}\n",
    "{\"resourceSpans\":[]}",
);
const CALENDAR: &str = concat!(
    "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART;TZID=X:20240720T201740\r\nSUMMARY:\u{fc}\\, b\r\n  c\r\nEND:VEVENT\r\n",
    "BEGIN:VTIMEZONE\r\nTZID:X\r\nBEGIN:STANDARD\r\nDTSTART:19701025T030000\r\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\n",
    "TZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n",
    "BEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20240720\r\nATTENDEE;CN=\"d\":mailto:e@f\r\nDURATION:P1D\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
);
const GIT: &str = concat!(
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n\n1721506660\n1721506600\nAnn\na@b\nBob\nb@c\nBegin\0",
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n1\n1\n\n\n\n\n\u{fc}\0",
);
const FILES: [(Format, &str, &str); 9] = [
    (Format::Ndjson, "", NDJSON),
    (Format::Csv, "causes=parents|split", CSV),
    (Format::GeoJson, "", GEOJSON),
    (Format::CloudEvents, "", CLOUD_EVENTS),
    (Format::Zipkin, "", ZIPKIN),
    (Format::Jaeger, "", JAEGER),
    (Format::Otlp, "", OTLP),
    (Format::ICalendar, "", CALENDAR),
    (Format::Git, "", GIT),
];

#[test]
fn file_truncated_anywhere_yields_no_wrong_event() {
    for (format, map, file) in FILES {
        let (whole, outcome) = items(format, map, file.as_bytes());
        outcome.unwrap();
        assert!(whole.iter().all(|item| item.event.is_ok()), "{format:?}");
        for end in 0..file.len() {
            let cut = &file.as_bytes()[..end];
            let (items, _) = items(format, map, cut);
            let events = items.iter().filter(|item| item.event.is_ok());
            for (item, right) in events.zip(&whole) {
                // Nothing tells a last row of CSV without a line end from one cut off in its last
                // field: RFC 4180 §2.2 lets a file end so.
                // Nor a last commit without its zero byte.
                let may_be_cut = match format {
                    Format::Csv => !cut.ends_with(b"\n") && !cut.ends_with(b"\r"),
                    Format::Git => !cut.ends_with(b"\0"),
                    _ => false,
                };
                let is_cut_row = may_be_cut && Some(item) == items.last();
                assert!(item == right || is_cut_row, "{format:?} cut at {end}: {item:?}");
            }
        }
    }
}

#[test]
fn truncated_file_is_reported() {
    let end_of_array = GEOJSON.rfind(']').unwrap();
    for end in 4..end_of_array {
        let (_, outcome) = items(Format::GeoJson, "", &GEOJSON.as_bytes()[..end]);
        assert!(matches!(outcome, Err(ImportError::MalformedJson { .. })), "cut at {end}");
    }
    let last_line = NDJSON.rfind('\n').unwrap() + 1;
    for end in last_line + 1..NDJSON.len() {
        let (items, outcome) = items(Format::Ndjson, "", &NDJSON.as_bytes()[..end]);
        outcome.unwrap();
        let last = items.last().unwrap();
        assert_eq!(last.event.as_ref().unwrap_err().code, "malformed_json", "cut at {end}");
        assert_eq!(last.line, 4);
    }
}

/// Hands out a byte at a time, with interruptions, and ends with an error if told so.
struct Slow<'f> {
    file: &'f [u8],
    is_interrupted: bool,
    is_broken: bool,
}

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.is_interrupted = !self.is_interrupted;
        if self.is_interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match self.file.split_first() {
            Some((byte, rest)) => {
                self.file = rest;
                out[0] = *byte;
                Ok(1)
            }
            None if self.is_broken => Err(io::ErrorKind::ConnectionReset.into()),
            None => Ok(0),
        }
    }
}

#[test]
fn slow_input_yields_the_same_events() {
    for (format, map, file) in FILES {
        let slow = Slow { file: file.as_bytes(), is_interrupted: false, is_broken: false };
        let (slowly, outcome) = items(format, map, slow);
        outcome.unwrap();
        assert_eq!(slowly, items(format, map, file.as_bytes()).0, "{format:?}");
    }
}

#[test]
fn failing_input_is_reported() {
    for (format, map, file) in FILES {
        for end in [0, 1, file.len() / 2, file.len()] {
            let broken = Slow { file: &file.as_bytes()[..end], is_interrupted: false, is_broken: true };
            let (_, outcome) = items(format, map, broken);
            let error = outcome.unwrap_err();
            assert!(matches!(error, ImportError::Io { .. }), "{format:?} {end}: {error}");
            assert_eq!(error.code(), "input_failed");
        }
    }
}

const FRAGMENTS: &str = "{|}|[|]|\"|,|:|\\|\n|\r\n|\r| |null|true|-1e3|0|time|\"time\":|\"2024-07-20T20:17:40Z\"|\
    2024-07-20T20:17:40Z|\"features\":[|\"type\":|\"Feature\"|\"FeatureCollection\"|\"properties\":{|\
    \"geometry\":|\"coordinates\":|\"Point\"|\"Polygon\"|[1,2]|lat,lon|\"geo\":{\"lat\":1,\"lon\":2}|\
    \"causes\":[\"a\"]|\"attributes\":{}|time,lat,lon,id\n|BEGIN:VCALENDAR\n|BEGIN:VEVENT\n|END:VEVENT\n|\
    BEGIN:VTIMEZONE\n|END:VTIMEZONE\n|DTSTART;TZID=X:20240720T201740\n|RRULE:FREQ=YEARLY\n|;TZID=|\
    \"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\",|\
    \"traceId\":\"a\",\"id\":\"1\",\"timestamp\":1|\"resourceSpans\":[|\"scopeSpans\":[|\"spans\":[|\
    \"data\":[|\"processes\":|\u{FEFF}|\\ud800|é|\u{0}";

/// Returns bytes that are made of what the formats are made of.
fn fragments() -> impl Strategy<Value = Vec<u8>> {
    let fragment = prop_oneof![
        prop::sample::select(FRAGMENTS.split('|').collect::<Vec<_>>()).prop_map(|text| text.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(fragment, 0..40).prop_map(|fragments| fragments.concat())
}

/// Returns a valid file with some of its bytes changed.
fn damaged() -> impl Strategy<Value = (usize, Vec<u8>)> {
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5);
    (0..FILES.len(), damage).prop_map(|(which, damage)| {
        let mut bytes = FILES[which].2.as_bytes().to_vec();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        (which, bytes)
    })
}

fn check_any(format: Format, map: &str, file: &[u8]) {
    let (items, outcome) = items(format, map, file);
    for item in &items {
        match &item.event {
            Ok(draft) => {
                assert!(draft.event_id.is_some());
                draft.check().unwrap();
            }
            Err(error) => assert!(!error.detail.is_empty()),
        }
    }
    assert!(items.is_sorted_by_key(|item| item.line));
    assert!(items.iter().all(|item| item.line > 0));
    if let Err(error) = outcome {
        assert!(!error.to_string().is_empty());
    }
}

proptest! {
    #[test]
    fn reading_fragments_and_arbitrary_bytes_does_not_panic(file in fragments()) {
        for format in Format::ALL {
            check_any(format, "", &file);
        }
        let under_header = [b"time,lat,lon,a\n".as_slice(), &file].concat();
        check_any(Format::Csv, "name={a} {time},end_time=a|unix", &under_header);
        let in_collection = [b"{\"type\":\"FeatureCollection\",\"features\":[".as_slice(), &file, b"]}"].concat();
        check_any(Format::GeoJson, "name={a}", &in_collection);
    }

    #[test]
    fn reading_damaged_files_does_not_panic((which, file) in damaged()) {
        let (format, map, _) = FILES[which];
        check_any(format, map, &file);
    }

    #[test]
    fn reading_with_arbitrary_mappings_does_not_panic(
        map in "(time|lat|name|causes)=[a-z{}|:;]{0,12}(,event_id=[a-z{}|]{0,6})?",
    ) {
        if Mapping::parse(&map).is_ok() {
            let _ = items(Format::Csv, &map, CSV.as_bytes());
            let _ = items(Format::GeoJson, &map, GEOJSON.as_bytes());
        }
    }
}
