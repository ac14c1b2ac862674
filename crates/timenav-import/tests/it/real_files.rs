//! Files of the world, read where they are. Nothing of them is in this project.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use timenav_core::event::EventDraft;
use timenav_core::place::BBox;
use timenav_core::time::{Instant, Virtual, parse_timestamp};
use timenav_import::{Format, Guess, content_id};

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
fn hurricanes_can_have_mapped_ids() {
    let Some(file) = file("hurricanes/hurdat2_atlantic_1851_2025.csv") else { return };
    let map = "event_id={storm_id}:{time}:{record_id},actors=storm_id,description={name} ({status})";
    let drafts = drafts(Format::Csv, map, &file);
    assert_distinct_ids(&drafts);
    assert_eq!(drafts[0].event_id.as_ref().unwrap().as_str(), "AL011851:1851-06-25T00:00:00Z:");
    assert_eq!(drafts[0].description, "UNNAMED (HU)");
    assert_eq!(drafts[0].actors, ["AL011851"]);
}

#[test]
fn missing_wind_speeds_are_not_imported() {
    let Some(file) = file("hurricanes/hurdat2_atlantic_1851_2025.csv") else { return };
    let winds = |map: &str, wind: &str| {
        let has = |draft: &&EventDraft| draft.attributes.as_ref().unwrap().contains(&format!("\"max_wind_kt\":{wind}"));
        drafts(Format::Csv, map, &file).iter().filter(has).count()
    };
    assert_eq!((winds("", "\"-99\""), winds("", "\"")), (57, 55_605));
    let map = "missing.max_wind_kt=-99";
    assert_eq!((winds(map, "\"-99\""), winds(map, "\"")), (0, 55_605 - 57));
    let guess = Guess::of(&file, None).unwrap();
    assert!(guess.mapping.unwrap().contains(r#""missing": {"max_wind_kt":["-99"]}"#));
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

/// Reads a trace, and returns its drafts by id, and what was refused.
fn spans(format: Format, name: &str) -> Option<(HashMap<String, EventDraft>, Vec<String>)> {
    let file = file(&format!("traces/{name}"))?;
    let (items, outcome) = items(format, "", file.as_slice());
    outcome.unwrap();
    let mut spans = HashMap::new();
    let mut refused = Vec::new();
    for item in items {
        match item.event {
            Ok(draft) => {
                let id = draft.event_id.as_ref().unwrap().to_string();
                assert!(spans.insert(id.clone(), draft).is_none(), "{name}: {id} comes twice");
            }
            Err(error) => refused.push(format!("{} {}", error.code, error.field.unwrap_or_default())),
        }
    }
    Some((spans, refused))
}

#[test]
fn skewed_trace_clocks_are_kept() {
    let Some((spans, refused)) = spans(Format::Zipkin, "zipkin_skew.json") else { return };
    assert_eq!((spans.len(), refused.len()), (4, 0));
    let span = |id: &str| &spans[&format!("1e223ff1f80f1c69:{id}")];
    let (client, server) = (span("74280ae0c10d8062"), span("74280ae0c10d8062:server"));
    assert_eq!(client.time.micros(), 1_470_150_004_074_202);
    assert_eq!(client.end_time.unwrap().micros() - client.time.micros(), 94_539);
    assert_eq!(server.time.micros(), 1_470_150_004_008_761);
    assert_eq!(server.end_time.unwrap().micros() - server.time.micros(), 93_577);
    assert_eq!(client.time.micros() - server.time.micros(), 65_441);
    assert_eq!(server.causes[0].event_id.as_str(), "1e223ff1f80f1c69:74280ae0c10d8062");
    assert_eq!(client.causes[0].event_id.as_str(), "1e223ff1f80f1c69:bf396325699c84bf");
    // What the server did hangs on what the server saw, whose clock it shares.
    let child = span("43210ae0c10d1234");
    assert_eq!(child.causes[0].event_id.as_str(), "1e223ff1f80f1c69:74280ae0c10d8062:server");
    assert!(child.time > server.time);
    assert_eq!((&client.actors[0], &server.actors[0]), (&"servicea".to_owned(), &"serviceb".to_owned()));
}

#[test]
fn real_traces_have_the_expected_spans_and_missing_parents() {
    for (format, name, count, causes_missing, refused_count) in [
        (Format::Zipkin, "zipkin_ascend.json", 8, 0, 0),
        (Format::Zipkin, "zipkin_envoy.json", 1, 1, 0),
        (Format::Zipkin, "zipkin_messaging.json", 4, 0, 0),
        (Format::Zipkin, "zipkin_messaging-kafka.json", 28, 0, 0),
        // The parents that README.md beside the data counts.
        (Format::Zipkin, "zipkin_messaging2.json", 11, 6, 0),
        (Format::Zipkin, "zipkin_simple-db-p6.json", 5, 0, 0),
        (Format::Zipkin, "zipkin_smartthings-mobile-web-install.json", 957, 0, 84),
        (Format::Zipkin, "zipkin_smartthings-oauth-authorization.json", 175, 0, 0),
        (Format::Zipkin, "zipkin_yelp.json", 16, 1, 0),
        (Format::Otlp, "jaeger_example_trace.json", 5, 0, 0),
        (Format::Otlp, "jaeger_otlp_traces_01.json", 4, 8, 0),
    ] {
        let Some((spans, refused)) = spans(format, name) else { return };
        let causes = spans.values().flat_map(|draft| &draft.causes);
        let missing = causes.filter(|cause| !spans.contains_key(cause.event_id.as_str())).count();
        assert!(refused.iter().all(|error| error == "missing_parameter timestamp"), "{name}: {refused:?}");
        assert_eq!((spans.len(), missing, refused.len()), (count, causes_missing, refused_count), "{name}");
    }
}

#[test]
fn flights_are_imported_with_a_mapping() {
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

/// The calendars after how many events and refusals each gives, with `!` if it ends early.
const CALENDARS: &str = "1/0 alarm_etar_future alarm_etar_notification_clicked alarm_google_future \
    alarm_thunderbird_2_notification_5_min_postponed alarm_thunderbird_2_notification_5_min_postponed_and_popped_up \
    alarm_thunderbird_closed alarm_thunderbird_snoozed_until_1457 america_new_york_forward_reference \
    issue_1050_forward_timezone_reference issue_1050_simple_calendar issue_1081_event_with_rrule \
    issue_1081_invalid_rrule_freq issue_1081_tzid_param issue_1231_recurrence issue_127_categories_with_commas \
    issue_1426_value_parameters issue_156_RDATE_with_PERIOD_TZID_khal_2 issue_1633_rdate_with_dates \
    issue_165_missing_event issue_168_input issue_178_custom_component_contains_other issue_218_bad_tzid \
    issue_466_convert_tzid_with_slash issue_836_do_not_quote_tzid period_with_timezone property_params \
    rfc_7265_appendix_example_1_ical timezone_same_start timezoned 0/0 bom_calendar empty_RDATE \
    fuzz_testcase_vtimezone_lone_cr issue_27_multiple_periods_in_freebusy_multiple_freebusies rfc_7265_example_1 \
    rfc_7953_3 time 0/1 broken_ical issue_1081_invalid_start_valid_end issue_322_expected_calendar \
    issue_722_missing_VTIMEZONE_custom rfc_6868 rfc_9253_related_to 0/2 issue_1050_uid_in_description \
    issue_526_calendar_with_different_events issue_526_calendar_with_events issue_798_related_to rfc_7986_image \
    2/0 issue_1050_calendar_with_events_and_todos parsing_error rfc_9253_examples 1/1 issue_104_broken_calendar \
    issue_350 3/0 issue_313_globally_unique_tzid multiple_timezones 2/1 created_calendar_with_unicode_fields \
    0/0! fuzz_testcase_0_char_in_component_name 0/4 issue_1561_image_value 4/0 \
    issue_722_timezone_transition_ambiguity";

#[test]
fn real_and_hostile_calendars_have_the_expected_events() {
    let (mut expected, mut unlike) = ("", Vec::new());
    for name in CALENDARS.split(' ') {
        if name.contains('/') {
            expected = name;
            continue;
        }
        let Some(file) = file(&format!("icalendar/{name}.ics")) else { return };
        let (items, outcome) = items(Format::ICalendar, "", file.as_slice());
        let events = items.iter().filter(|item| item.event.is_ok()).count();
        let found = format!("{events}/{}{}", items.len() - events, if outcome.is_err() { "!" } else { "" });
        if found != expected {
            unlike.push(format!("{name} {found}: {items:?} {outcome:?}"));
        }
    }
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
}

#[test]
fn calendar_zones_determine_event_times() {
    let starts = |name: &str| -> Option<Vec<String>> {
        let file = file(&format!("icalendar/{name}.ics"))?;
        let (items, _) = items(Format::ICalendar, "", file.as_slice());
        Some(items.iter().map(|item| item.event.as_ref().unwrap().time.to_string()).collect())
    };
    let Some(vienna) = starts("timezoned") else { return };
    assert_eq!(vienna, ["2012-02-13T09:00:00Z"]);
    let ambiguous = ["2024-03-02T20:00:00Z", "2024-08-02T22:00:00Z", "2024-05-04T22:00:01Z", "2024-05-04T19:00:01Z"];
    assert_eq!(starts("issue_722_timezone_transition_ambiguity").unwrap(), ambiguous);
    assert_eq!(starts("timezone_same_start").unwrap(), ["2017-02-24T20:00:00Z"]);
    assert_eq!(starts("issue_218_bad_tzid").unwrap(), ["2017-02-28T12:00:00Z"]);
    assert_eq!(starts("period_with_timezone").unwrap(), ["2023-09-20T19:00:00Z"]);
    let unique = ["2020-04-26T12:00:00Z", "2020-04-26T18:00:00Z", "2020-04-26T17:00:00Z"];
    assert_eq!(starts("issue_313_globally_unique_tzid").unwrap(), unique);
    assert_eq!(starts("issue_466_convert_tzid_with_slash").unwrap(), ["2022-10-21T18:00:00Z"]);
}
