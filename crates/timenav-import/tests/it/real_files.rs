//! Files of the world, read where they are. Nothing of them is in this project.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use timenav_core::event::EventDraft;
use timenav_core::place::BBox;
use timenav_core::time::{Instant, Virtual, parse_timestamp};
use timenav_import::{Format, content_id};

use crate::items;

/// Where the files are, seen from the folder of the workspace.
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/");

/// Returns the bytes of a file, or says that it is absent.
fn file(name: &str) -> Option<Vec<u8>> {
    let bytes = fs::read(Path::new(DATA).join(name)).ok();
    if bytes.is_none() {
        eprintln!("skipped: {DATA}{name} is absent");
    }
    bytes
}

/// Unpacks a file with a program of the system, or says that it cannot.
fn unpacked(program: &[&str], name: &str) -> Option<Vec<u8>> {
    file(name)?;
    let path = Path::new(DATA).join(name);
    let child = Command::new(program[0]).args(&program[1..]).arg(path).stdout(Stdio::piped()).spawn();
    let mut bytes = Vec::new();
    let output = child.ok().and_then(|mut child| {
        child.stdout.take()?.read_to_end(&mut bytes).ok()?;
        child.wait().ok()?.success().then_some(bytes)
    });
    if output.is_none() {
        eprintln!("skipped: `{}` does not unpack {name}", program.join(" "));
    }
    output
}

/// Reads a file in which every record is right, twice, and returns the drafts.
#[track_caller]
fn drafts(format: Format, map: &str, file: &[u8]) -> Vec<EventDraft> {
    let read = || {
        let (items, outcome) = items(format, map, file);
        outcome.unwrap();
        let draft = |item: timenav_import::Item| item.event.unwrap_or_else(|error| panic!("{}: {error}", item.line));
        items.into_iter().map(draft).collect::<Vec<_>>()
    };
    let drafts = read();
    assert!(drafts == read(), "read twice, the drafts and their ids are the same");
    drafts
}

#[track_caller]
fn assert_distinct_ids(drafts: &[EventDraft]) {
    let ids: HashSet<&str> = drafts.iter().map(|draft| draft.event_id.as_ref().unwrap().as_str()).collect();
    assert_eq!(ids.len(), drafts.len());
}

fn instant(text: &str) -> Instant<Virtual> {
    parse_timestamp(text).unwrap()
}

/// Counts the drafts in a box between two instants, ends included.
fn count(drafts: &[EventDraft], [west, south, east, north]: [f64; 4], start: &str, end: &str) -> usize {
    let bbox = BBox::new(west, south, east, north).unwrap();
    let times = instant(start)..=instant(end);
    let is_inside =
        |draft: &&EventDraft| times.contains(&draft.time) && draft.geo.is_some_and(|geo| bbox.contains(geo.point));
    drafts.iter().filter(is_inside).count()
}

#[test]
fn hurricanes_need_no_mapping() {
    let Some(file) = file("hurricanes/hurdat2_atlantic_1851_2025.csv") else { return };
    let drafts = drafts(Format::Csv, "", &file);
    assert_eq!(drafts.len(), 55_605);
    assert_distinct_ids(&drafts);
    for draft in &drafts {
        assert_eq!(draft.event_id.as_ref(), Some(&content_id(draft)));
        assert!(draft.geo.is_some() && draft.name.is_some() && draft.attributes.is_some());
    }
    assert_eq!(drafts.iter().filter(|draft| draft.time < Instant::EPOCH).count(), 29_874);
    let florida = [-88.0, 24.0, -79.0, 31.0];
    assert_eq!(count(&drafts, florida, "2000-01-01T00:00:00Z", "2009-12-31T23:59:59Z"), 284);
    let gulf = [-98.0, 18.0, -81.0, 31.0];
    assert_eq!(count(&drafts, gulf, "2005-08-28T00:00:00Z", "2005-08-29T06:00:00Z"), 6);
    let attribute =
        |text: &str| drafts.iter().filter(|draft| draft.attributes.as_ref().unwrap().contains(text)).count();
    assert_eq!(attribute("\"storm_id\":\"AL122005\""), 34);
    assert_eq!(attribute("\"record_id\":\"L\""), 1_175);
}

#[test]
fn hurricanes_can_have_ids_of_their_own() {
    let Some(file) = file("hurricanes/hurdat2_atlantic_1851_2025.csv") else { return };
    let map = "event_id={storm_id}:{time}:{record_id},actors=storm_id,description={name} ({status})";
    let drafts = drafts(Format::Csv, map, &file);
    assert_distinct_ids(&drafts);
    assert_eq!(drafts[0].event_id.as_ref().unwrap().as_str(), "AL011851:1851-06-25T00:00:00Z:");
    assert_eq!(drafts[0].description, "UNNAMED (HU)");
    assert_eq!(drafts[0].actors, ["AL011851"]);
}

#[test]
fn earthquakes_need_no_mapping() {
    let Some(file) = file("earthquakes/usgs_week_2018-02.geojson") else { return };
    let drafts = drafts(Format::GeoJson, "", &file);
    assert_eq!(drafts.len(), 1_707);
    assert_distinct_ids(&drafts);
    let times = drafts.iter().map(|draft| draft.time.micros());
    assert_eq!(times.clone().min(), Some(1_517_363_399_650_000));
    assert_eq!(times.max(), Some(1_517_966_773_840_000));
    let california = [-125.0, 32.0, -114.0, 42.0];
    assert_eq!(count(&drafts, california, "2018-02-01T00:00:00Z", "2018-02-01T23:59:59.999Z"), 134);
    let aleutians = [170.0, 50.0, -150.0, 65.0];
    assert_eq!(count(&drafts, aleutians, "2018-01-01T00:00:00Z", "2019-01-01T00:00:00Z"), 136);
    assert!(drafts.iter().all(|draft| draft.location.is_some() && draft.name.is_some()));
}

#[test]
fn commits_have_their_parents_as_causes() {
    let map = "event_id=id,time=committer_time|unix,causes=parents|split";
    for (name, commits, edges, inverted) in [("jaeger", 27_196, 30_140, 7), ("libfaketime", 784, 975, 2)] {
        let Some(file) = unpacked(&["gzip", "-dc"], &format!("git-graphs/{name}.csv.gz")) else { return };
        let drafts = drafts(Format::Csv, map, &file);
        assert_eq!(drafts.len(), commits);
        assert_distinct_ids(&drafts);
        let times: HashMap<_, _> = drafts.iter().map(|draft| (draft.event_id.clone().unwrap(), draft.time)).collect();
        let times = &times;
        let pairs =
            drafts.iter().flat_map(|draft| draft.causes.iter().map(|cause| (draft.time, times[&cause.event_id])));
        assert_eq!(pairs.clone().count(), edges, "{name}");
        assert_eq!(pairs.filter(|(effect, cause)| cause > effect).count(), inverted, "{name}");
    }
}

#[test]
fn flights_come_with_a_mapping() {
    let Some(file) = unpacked(&["unzip", "-p"], "flights/flights.csv.zip") else { return };
    // The whole year takes long without optimization; the header and July will do.
    let lines = file.split_inclusive(|byte| *byte == b'\n');
    let july = lines.filter(|line| line.starts_with(b"year,") || line.starts_with(b"2013,7,"));
    let map = r#"{"time": "time_hour", "location": "origin", "actors": "tailnum", "name": "{carrier} {flight}"}"#;
    let drafts = drafts(Format::Csv, map, &july.collect::<Vec<_>>().concat());
    let (start, end) = (instant("2013-07-04T00:00:00Z"), instant("2013-07-05T00:00:00Z"));
    let from_jfk =
        |draft: &&EventDraft| draft.location.as_deref() == Some("JFK") && (start..=end).contains(&draft.time);
    assert_eq!(drafts.iter().filter(from_jfk).count(), 309);
    assert!(drafts.iter().any(|draft| draft.actors == ["N14228"]));
    assert!(drafts.iter().all(|draft| draft.name.is_some()));
}
