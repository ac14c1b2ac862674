use std::ops::ControlFlow;

use proptest::prelude::*;
use timenav_core::event::{Assertion, Cause, CauseKind, EventDraft, EventKind, Precision};
use timenav_core::ids::EventId;
use timenav_core::limits::EVENT_SEQUENCE_MAX;
use timenav_core::place::{Geo, Point};

use super::*;
use crate::{Format, Mapping, read};

const STAMP: Instant<Wall> = Instant::from_micros(1_721_506_660_000_000).unwrap();

fn stored(draft: &EventDraft) -> String {
    let mut event = serde_json::Map::new();
    let mut put = |name: &str, value: serde_json::Value| {
        if !value.is_null() {
            event.insert(name.to_owned(), value);
        }
    };
    let causes: Vec<_> = draft
        .causes
        .iter()
        .map(|cause| serde_json::json!({"event_id": cause.event_id.as_str(), "kind": cause.kind.as_str()}))
        .collect();
    let asserts: Vec<_> = draft
        .asserts
        .iter()
        .map(|one| {
            let value: serde_json::Value = serde_json::from_str(&one.value).unwrap();
            serde_json::json!({"subject": one.subject, "predicate": one.predicate, "value": value})
        })
        .collect();
    put("event_id", draft.event_id.as_ref().unwrap().as_str().into());
    put("time", draft.time.to_string().into());
    put("end_time", draft.end_time.map(|at| at.to_string()).into());
    put("precision", draft.precision.map(Precision::as_str).into());
    put("description", draft.description.clone().into());
    put("name", draft.name.clone().into());
    put("location", draft.location.clone().into());
    if let Some(geo) = draft.geo {
        let mut place = serde_json::json!({"lat": geo.point.lat(), "lon": geo.point.lon()});
        if let Some(radius_m) = geo.radius_m {
            place["radius_m"] = radius_m.into();
        }
        put("geo", place);
    }
    if !causes.is_empty() {
        put("causes", causes.into());
    }
    if !draft.actors.is_empty() {
        put("actors", draft.actors.clone().into());
    }
    put("kind", draft.kind.map(EventKind::as_str).into());
    if !asserts.is_empty() {
        put("asserts", asserts.into());
    }
    if let Some(attributes) = &draft.attributes {
        put("attributes", serde_json::from_str(attributes).unwrap());
    }
    put("source", draft.source.clone().into());
    put("sequence", draft.sequence.into());
    put("position", 7.into());
    serde_json::Value::Object(event).to_string()
}

fn written(format: ExportFormat, drafts: &[EventDraft]) -> String {
    written_with(format, &AttributeColumns::default(), drafts)
}

fn written_with(format: ExportFormat, columns: &AttributeColumns, drafts: &[EventDraft]) -> String {
    let mut export = Export::new(format, STAMP).with_columns(columns.clone());
    let mut text = String::new();
    export.begin(&mut text);
    for draft in drafts {
        export.event(&stored(draft), &mut text).unwrap();
    }
    export.end(&mut text);
    assert_eq!(export.written() + export.left_out(), drafts.len() as u64);
    text
}

fn read_back(format: Format, text: &str) -> Vec<EventDraft> {
    let mut drafts = Vec::new();
    read(format, &Mapping::default(), text.as_bytes(), &mut |item| {
        drafts.push(item.event.unwrap_or_else(|error| panic!("{error:?} in {text}")));
        ControlFlow::Continue(())
    })
    .unwrap();
    drafts
}

fn full() -> EventDraft {
    EventDraft {
        event_id: Some(EventId::new("launch").unwrap()),
        end_time: Instant::from_micros(3_600_500_000),
        precision: Some(Precision::Second),
        name: Some("=1+1".to_owned()),
        location: Some("Cape Kennedy, Florida".to_owned()),
        geo: Some(Geo { point: Point::new(28.57, -80.65).unwrap(), radius_m: Some(500.0) }),
        causes: vec![
            Cause { event_id: EventId::new("a").unwrap(), kind: CauseKind::Requires },
            Cause { event_id: EventId::new("b").unwrap(), kind: CauseKind::Contributes },
        ],
        actors: vec!["Armstrong".to_owned(), "Aldrin; \"Buzz\"".to_owned()],
        kind: Some(EventKind::Observed),
        asserts: vec![Assertion { subject: "s".to_owned(), predicate: "p".to_owned(), value: "1".to_owned() }],
        attributes: Some(r#"{"a":[1,"x"],"b":-2}"#.to_owned()),
        source: Some("NASA".to_owned()),
        sequence: Some(3),
        ..EventDraft::at(Instant::EPOCH, "A rocket\nstarts, \"slowly\".")
    }
}

fn least() -> EventDraft {
    EventDraft { event_id: Some(EventId::new("x").unwrap()), ..EventDraft::at(Instant::EPOCH, "") }
}

#[test]
fn exported_formats_match_the_expected_text() {
    let drafts = [full(), least()];
    assert_eq!(
        written(ExportFormat::Ndjson, &drafts),
        concat!(
            r#"{"event_id":"launch","time":"1970-01-01T00:00:00Z","end_time":"1970-01-01T01:00:00.5Z","precision":"second","#,
            r#""description":"A rocket\nstarts, \"slowly\".","name":"=1+1","location":"Cape Kennedy, Florida","#,
            r#""geo":{"lat":28.57,"lon":-80.65,"radius_m":500.0},"causes":[{"event_id":"a","kind":"requires"},"#,
            r#"{"event_id":"b","kind":"contributes"}],"actors":["Armstrong","Aldrin; \"Buzz\""],"kind":"observed","#,
            r#""asserts":[{"predicate":"p","subject":"s","value":1}],"attributes":{"a":[1,"x"],"b":-2},"source":"NASA","#,
            r#""sequence":3}"#,
            "\n",
            r#"{"event_id":"x","time":"1970-01-01T00:00:00Z","description":""}"#,
            "\n",
        )
    );
    assert_eq!(
        written(ExportFormat::Csv, &drafts),
        concat!(
            "event_id,time,end_time,precision,name,description,location,lat,lon,radius_m,causes,actors,kind,asserts,attributes,source,sequence\r\n",
            "launch,1970-01-01T00:00:00Z,1970-01-01T01:00:00.5Z,second,'=1+1,\"A rocket\nstarts, \"\"slowly\"\".\",",
            "\"Cape Kennedy, Florida\",28.57,-80.65,500.0,",
            r#""[{""event_id"":""a"",""kind"":""requires""},{""event_id"":""b"",""kind"":""contributes""}]","#,
            r#""[""Armstrong"",""Aldrin; \""Buzz\""""]",observed,"[{""predicate"":""p"",""subject"":""s"",""value"":1}]","{""a"":[1,""x""],""b"":-2}",NASA,3"#,
            "\r\n",
            "x,1970-01-01T00:00:00Z,,,,,,,,,,,,,,,\r\n",
        )
    );
    assert_eq!(
        written(ExportFormat::GeoJson, &drafts),
        concat!(
            r#"{"type":"FeatureCollection","features":["#,
            "\n",
            r#"{"type":"Feature","id":"launch","geometry":{"type":"Point","coordinates":[-80.65,28.57]},"properties":{"#,
            r#""time":"1970-01-01T00:00:00Z","end_time":"1970-01-01T01:00:00.5Z","precision":"second","#,
            r#""description":"A rocket\nstarts, \"slowly\".","name":"=1+1","location":"Cape Kennedy, Florida","#,
            r#""causes":[{"event_id":"a","kind":"requires"},{"event_id":"b","kind":"contributes"}],"#,
            r#""actors":["Armstrong","Aldrin; \"Buzz\""],"kind":"observed","asserts":[{"predicate":"p","subject":"s","value":1}],"#,
            r#""attributes":{"a":[1,"x"],"b":-2},"source":"NASA","sequence":3,"radius_m":500.0}},"#,
            "\n",
            r#"{"type":"Feature","id":"x","geometry":null,"properties":{"time":"1970-01-01T00:00:00Z"}}"#,
            "\n]}\n",
        )
    );
    assert_eq!(
        written(ExportFormat::ICalendar, &drafts),
        concat!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//timenav//timenav//EN\r\nCALSCALE:GREGORIAN\r\n",
            "BEGIN:VEVENT\r\nUID:launch\r\nDTSTAMP:20240720T201740Z\r\nDTSTART:19700101T000000Z\r\nDTEND:19700101T010000Z\r\n",
            "SUMMARY:=1+1\r\nDESCRIPTION:A rocket\\nstarts\\, \"slowly\".\r\nLOCATION:Cape Kennedy\\, Florida\r\n",
            "GEO:28.57;-80.65\r\nRELATED-TO;RELTYPE=DEPENDS-ON:a\r\nRELATED-TO;RELTYPE=X-CONTRIBUTES:b\r\n",
            "ATTENDEE;CN=\"Armstrong\":invalid:nomail\r\nATTENDEE;CN=\"Aldrin; ^'Buzz^'\":invalid:nomail\r\n",
            "X-TIMENAV-KIND:observed\r\nEND:VEVENT\r\n",
            "BEGIN:VEVENT\r\nUID:x\r\nDTSTAMP:20240720T201740Z\r\nDTSTART:19700101T000000Z\r\nX-TIMENAV-KIND:observed\r\nEND:VEVENT\r\n",
            "END:VCALENDAR\r\n",
        )
    );
}

#[test]
fn empty_export_is_a_valid_file() {
    assert_eq!(written(ExportFormat::Ndjson, &[]), "");
    assert!(read_back(Format::Csv, &written(ExportFormat::Csv, &[])).is_empty());
    assert_eq!(written(ExportFormat::GeoJson, &[]), "{\"type\":\"FeatureCollection\",\"features\":[\n]}\n");
    assert!(read_back(Format::GeoJson, &written(ExportFormat::GeoJson, &[])).is_empty());
}

#[test]
fn long_calendar_lines_are_folded_between_characters() {
    let draft = EventDraft { name: Some("é".repeat(120)), ..least() };
    let text = written(ExportFormat::ICalendar, &[draft]);
    assert!(text.split_terminator("\r\n").all(|line| line.len() <= 75), "{text}");
    assert!(text.replace("\r\n ", "").contains(&format!("SUMMARY:{}\r\n", "é".repeat(120))));
}

#[test]
fn events_without_a_calendar_form_are_omitted_and_counted() {
    let ancient = EventDraft { time: Instant::from_micros(-99_999_999_999_999_999).unwrap(), ..least() };
    let backwards = EventDraft { end_time: Instant::from_micros(-1), ..least() };
    let text = written(ExportFormat::ICalendar, &[ancient, backwards]);
    assert!(text.contains("X-TIMENAV-LEFT-OUT:1\r\n") && !text.contains("DTEND"), "{text}");
    let day = EventDraft { precision: Some(Precision::Day), end_time: Instant::from_micros(86_400_000_000), ..least() };
    let text = written(ExportFormat::ICalendar, &[day]);
    assert!(text.contains("DTSTART;VALUE=DATE:19700101\r\nDTEND;VALUE=DATE:19700102\r\n"), "{text}");
}

#[test]
fn calendar_event_keeps_its_status() {
    let statuses = |attributes: Option<&str>, kind: EventKind| {
        let draft = EventDraft { attributes: attributes.map(str::to_owned), kind: Some(kind), ..least() };
        let text = written(ExportFormat::ICalendar, &[draft]);
        text.lines().filter_map(|line| line.strip_prefix("STATUS:").map(str::to_owned)).collect::<Vec<_>>()
    };
    let scheduled = |attributes| statuses(attributes, EventKind::Scheduled);
    assert_eq!(scheduled(None), ["CONFIRMED"]);
    assert_eq!(scheduled(Some(r#"{"status":"CANCELLED"}"#)), ["CANCELLED"]);
    assert_eq!(scheduled(Some(r#"{"status":"tentative"}"#)), ["TENTATIVE"]);
    assert_eq!(scheduled(Some(r#"{"status":"200"}"#)), ["CONFIRMED"]);
    assert_eq!(scheduled(Some(r#"{"status":["CANCELLED"]}"#)), ["CONFIRMED"]);
    assert_eq!(statuses(Some(r#"{"status":"CANCELLED"}"#), EventKind::Predicted), ["CANCELLED"]);
    assert_eq!(statuses(Some(r#"{"status":"ok"}"#), EventKind::Observed), Vec::<String>::new());
}

#[test]
fn invalid_event_is_not_exported() {
    for format in ExportFormat::ALL {
        for json in ["", "[]", "{}", "{\"event_id\":\"a\"}", "{\"event_id\":1,\"time\":2,\"geo\":[]}"] {
            let mut export = Export::new(format, STAMP);
            let mut text = "before".to_owned();
            // NDJSON copies members without inspecting them.
            if format != ExportFormat::Ndjson || json.len() < 20 {
                assert!(export.event(json, &mut text).is_err(), "{format:?} {json}");
                assert_eq!((text.as_str(), export.written()), ("before", 0), "{format:?} {json}");
            }
        }
    }
}

#[test]
fn export_formats_are_parsed_by_name() {
    for format in ExportFormat::ALL {
        assert_eq!(format.as_str().parse(), Ok(format));
        assert_eq!(ExportFormat::from_extension(format.extension()), Some(format));
    }
    let error = "icalender".parse::<ExportFormat>().unwrap_err().to_string();
    assert_eq!(error, "`icalender` is not a format that can be exported; did you mean `icalendar`?");
}

/// Texts with every character that a format treats specially.
fn text(bytes_max: usize) -> impl Strategy<Value = Option<String>> {
    let text = prop_oneof!["[a-z ,;\"'=+@\\[\\]{}\t\r\n-]{1,12}", "\\PC{1,8}", "[ \t]{1,3}"];
    prop::option::of(text).prop_map(move |text| text.filter(|text| text.len() <= bytes_max))
}

fn id() -> impl Strategy<Value = EventId> {
    "[a-z0-9][a-z0-9._:@-]{0,6}".prop_map(|text| EventId::new(&text).unwrap())
}

fn causes() -> impl Strategy<Value = Vec<Cause>> {
    let cause = (id(), any::<bool>()).prop_map(|(event_id, requires)| Cause {
        event_id,
        kind: if requires { CauseKind::Requires } else { CauseKind::Contributes },
    });
    prop::collection::vec(cause, 0..4).prop_map(|mut causes| {
        causes.sort_by(|a, b| a.event_id.as_str().cmp(b.event_id.as_str()));
        causes.dedup_by(|a, b| a.event_id == b.event_id);
        causes
    })
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        any::<bool>().prop_map(serde_json::Value::from),
        (-1000.0..1000.0).prop_map(|number: f64| serde_json::Value::from(number)),
        text(64).prop_map(serde_json::Value::from),
    ]
}

fn asserts() -> impl Strategy<Value = Vec<Assertion>> {
    let assertion = (0..9_u8, text(128), value()).prop_map(|(subject, predicate, value)| Assertion {
        subject: subject.to_string(),
        predicate: predicate.unwrap_or_else(|| "p".to_owned()),
        value: if value.is_null() { "0".to_owned() } else { serde_json_canonicalizer::to_string(&value).unwrap() },
    });
    prop::collection::vec(assertion, 0..3).prop_map(|mut asserts| {
        asserts.sort_by(|a, b| a.subject.cmp(&b.subject));
        asserts.dedup_by(|a, b| a.subject == b.subject);
        asserts
    })
}

fn attributes() -> impl Strategy<Value = Option<String>> {
    let object = prop::collection::btree_map("\\PC{0,5}", value(), 0..4).prop_map(|members| {
        let object: serde_json::Map<_, _> = members.into_iter().collect();
        serde_json_canonicalizer::to_string(&object).unwrap()
    });
    prop::option::of(object)
}

prop_compose! {
    fn draft()(
        event_id in id(),
        micros in -377_705_116_800_000_000_i64..=253_402_300_799_999_999,
        end_micros in prop::option::of(-377_705_116_800_000_000_i64..=253_402_300_799_999_999),
        precision in prop::option::of(prop::sample::select(Precision::ALL.to_vec())),
        kind in prop::option::of(prop::sample::select(EventKind::ALL.to_vec())),
        texts in (text(256), text(256), text(512), text(512)),
        place in prop::option::of((-90.0..=90.0, -180.0..=180.0, prop::option::of(0.0..1e7))),
        causes in causes(),
        actors in prop::collection::vec(text(128).prop_map(|text| text.unwrap_or_else(|| "a".to_owned())), 0..3),
        attributes in attributes(),
        asserts in asserts(),
        sequence in prop::option::of(0..=EVENT_SEQUENCE_MAX),
    ) -> EventDraft {
        let (description, name, location, source) = texts;
        EventDraft {
            event_id: Some(event_id),
            end_time: end_micros.and_then(Instant::from_micros),
            precision,
            name,
            location,
            geo: place.map(|(lat, lon, radius_m)| Geo { point: Point::new(lat, lon).unwrap(), radius_m }),
            causes,
            actors,
            kind,
            asserts,
            attributes,
            source,
            sequence,
            ..EventDraft::at(Instant::from_micros(micros).unwrap(), description.unwrap_or_default())
        }
    }
}

#[test]
fn requested_attributes_are_exported_as_columns() {
    let attributes =
        r#"{"amount":-2.5,"at":{"site":"Kourou"},"list":[1,"x"],"null":null,"paid":true,"status":"=due, \"soon\""}"#;
    let some = EventDraft { attributes: Some(attributes.to_owned()), ..least() };
    let list = "attribute.status,attribute.amount,attribute.paid,attribute.list,attribute.null,attribute.none,attribute.at.site,attribute.+";
    let columns = AttributeColumns::parse(list).unwrap();
    let text = written_with(ExportFormat::Csv, &columns, &[some.clone(), least()]);
    let lines: Vec<&str> = text.split_terminator("\r\n").collect();
    assert!(
        lines[0].ends_with(",attributes,source,sequence,status,amount,paid,list,null,none,at.site,'+"),
        "{}",
        lines[0]
    );
    assert!(lines[1].ends_with(r#",,,"'=due, ""soon""",-2.5,true,"[1,""x""]",,,Kourou,"#), "{}", lines[1]);
    assert!(lines[2].ends_with(",,,,,,,,,,,"), "{}", lines[2]);
    assert_eq!(read_back(Format::Csv, &text), [some, least()]);
}

#[test]
fn attribute_columns_are_unique_and_limited() {
    let error_of = |list: &str| AttributeColumns::parse(list).err().map(|wrong| wrong.to_string());
    assert_eq!(error_of("attribute.a,attribute.Name,attribute.b c"), None);
    for list in ["", "a", "attribute.", "attribute.a,", "attribute.a, attribute.b"] {
        assert!(error_of(list).unwrap().contains("names no attribute"), "{list}");
    }
    let long = |bytes: usize| error_of(&format!("attribute.{}", ".".repeat(bytes)));
    assert_eq!((long(256), long(257).is_some()), (None, true));
    for list in ["attribute.name", "attribute.a,attribute.a"] {
        assert!(error_of(list).unwrap().contains("the name of an existing column"), "{list}");
    }
    let many = |count: usize| (0..count).map(|number| format!("attribute.a{number}")).collect::<Vec<_>>().join(",");
    assert_eq!(error_of(&many(1_007)), None);
    assert_eq!(error_of(&many(1_008)).unwrap(), "a table can have at most 1024 columns");
}

proptest! {
    #[test]
    fn tables_with_attribute_columns_are_read_back(
        drafts in prop::collection::vec(draft(), 1..3),
        name in "[^,]{1,5}",
    ) {
        let members = |all: &str| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(all).unwrap();
        let given = drafts.iter().filter_map(|draft| draft.attributes.as_deref()).flat_map(members);
        let mut names: Vec<String> = given.map(|(name, _)| name).chain([name]).collect();
        names.retain(|name| !name.contains(',') && !name.is_empty());
        names.sort_unstable();
        names.dedup();
        let list: Vec<String> = names.iter().map(|name| format!("attribute.{name}")).collect();
        let columns = AttributeColumns::parse(&list.join(",")).unwrap();
        let text = written_with(ExportFormat::Csv, &columns, &drafts);
        prop_assert_eq!(read_back(Format::Csv, &text), drafts, "{}", text);
    }

    #[test]
    fn exported_events_are_read_back(drafts in prop::collection::vec(draft(), 0..3)) {
        for (export, import) in [
            (ExportFormat::Ndjson, Format::Ndjson),
            (ExportFormat::Csv, Format::Csv),
            (ExportFormat::GeoJson, Format::GeoJson),
        ] {
            let text = written(export, &drafts);
            prop_assert_eq!(read_back(import, &text), drafts.clone(), "{}", text);
        }
    }

    #[test]
    fn exported_calendar_lines_are_short(draft in draft()) {
        let text = written(ExportFormat::ICalendar, &[draft]);
        prop_assert!(text.split_terminator("\r\n").all(|line| line.len() <= 75 && !line.contains(['\r', '\n'])));
    }

    #[test]
    fn exported_cells_are_never_formulas(draft in draft()) {
        let text = written(ExportFormat::Csv, &[draft]);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        for row in reader.records() {
            for cell in &row.unwrap() {
                let is_number = cell.parse::<f64>().is_ok();
                prop_assert!(is_number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{}", cell);
            }
        }
    }
}
