mod columns;

use super::*;

/// Guesses a file's mapping. Returns it on one line, with the count of refused records and what is unsure.
#[track_caller]
fn guess(file: &str, format: Format) -> (String, usize, Vec<String>) {
    let guess = Guess::of(file.as_bytes(), None).unwrap();
    assert_eq!(guess.format, format);
    let mapping = guess.mapping.unwrap_or_default();
    let flat: Vec<&str> = mapping.lines().map(str::trim).collect();
    Mapping::parse(&mapping).unwrap();
    (flat.join(" "), guess.counts.1, guess.unsure)
}

#[test]
fn mapping_of_a_single_time_column_is_guessed() {
    let check = |file: &str, expected: &str, unsure: usize| {
        let (mapping, refused, found) = guess(file, Format::Csv);
        assert_eq!((mapping.as_str(), refused, found.len()), (expected, 0, unsure), "{found:?}");
    };
    check(
        "id;when;title\n1;2024-07-20T20:17:40Z;a\n2;2024-07-20T20:17:40Z;b\n",
        r#"{ "delimiter": ";", "time": "when", "event_id": "id", "name": "title" }"#,
        0,
    );
    check(
        "created at,message\n1721506660,a\n1721506661,b\n",
        r#"{ "time": "created at|unix", "description": "message" }"#,
        1,
    );
    check(
        "# of 2024\ndate,event\n2024-07-20,x\n2024-07-21,NA\n",
        r##"{ "comment": "#", "time": "date", "name": "event", "missing": {"event":["NA"]} }"##,
        0,
    );
    check(
        "country,place,name,year\nUSA,Alamogordo,Trinity,1945\nUSSR,Semi Kazakh,Nan,1949\n",
        r#"{ "time": {"year":"year"}, "name": "name", "location": "{place}, {country}", "actors": "country", "missing": {"name":["Nan"]} }"#,
        0,
    );
}

#[test]
fn placeholder_numbers_are_guessed_as_missing() {
    let check = |values: &[&str], expected: &str| {
        let days = values.iter().enumerate();
        let rows: Vec<String> = days.map(|(day, value)| format!("2024-07-{:02},{value}", day + 1)).collect();
        let (mapping, refused, unsure) = guess(&format!("date,wind\n{}\n", rows.join("\n")), Format::Csv);
        let missing = mapping.split_once(r#""missing": "#).map_or("", |(_, missing)| missing.trim_end_matches(" }"));
        assert_eq!((missing, refused), (expected, 0), "{values:?}");
        assert_eq!(unsure.len(), expected.matches("-9").count(), "{unsure:?}");
    };
    check(&["10", "-99", "25.5", "-99.0", ""], r#"{"wind":["-99"]}"#);
    check(&["10", "-999.0", "-99"], r#"{"wind":["-99","-999.0"]}"#);
    check(&["-3.5", "-999", "12"], r#"{"wind":["-999"]}"#);
    // Possibly a real value.
    check(&["-3.5", "-99", "12"], "");
    check(&["120", "-999", "-300"], "");
    check(&["-99", "-99"], "");
    check(&["calm", "-99", "12"], "");
    // Beyond the rows sampled for detection.
    let rows = "2024-07-20,10\n".repeat(GUESS_ROWS_MAX) + "2024-07-20,-99\n";
    let (mapping, ..) = guess(&format!("date,wind\n{rows}"), Format::Csv);
    assert!(mapping.contains(r#""missing": {"wind":["-99"]}"#), "{mapping}");
    // A year is never a missing value.
    let (mapping, ..) = guess("year,what\n-99,a\n115,b\n", Format::Csv);
    assert!(!mapping.contains("missing"), "{mapping}");
}

#[test]
fn log_and_document_mappings_are_guessed() {
    let check = |file: &str, format: Format, expected: &str, unsure: usize| {
        let (mapping, refused, found) = guess(file, format);
        assert_eq!((mapping.as_str(), refused, found.len()), (expected, 0, unsure), "{found:?}");
    };
    let pino = "{\"level\":30,\"time\":1721506660123,\"msg\":\"a\",\"req\":{\"id\":\"r1\"}}\n{\"level\":30,\"time\":1721506660124,\"msg\":\"b\",\"req\":{\"id\":\"r2\"}}\n";
    check(pino, Format::Ndjson, r#"{ "time": "time|unix_ms", "description": "msg" }"#, 1);
    let search =
        r#"{"took": 3, "hits": {"hits": [{"_id": "1", "@timestamp": "2024-07-20T20:17:40Z", "message": "a"}]}}"#;
    let with_lines = search.replace(", ", ",\n ");
    check(
        &with_lines,
        Format::Json,
        r#"{ "records": "hits.hits", "time": "@timestamp", "event_id": "_id", "description": "message" }"#,
        0,
    );
    // A time is no actor.
    let trail = r#"{"Records":[{"eventTime":"2024-05-01T10:00:00Z","userIdentity":{"created":"2024-05-01T09:00:00Z","userName":"ada"}}]}"#;
    let mapping = r#"{ "records": "Records", "time": "eventTime", "actors": "userIdentity.userName" }"#;
    check(trail, Format::Json, mapping, 1);
    // No mapping is needed.
    let feature = r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"time":1}}]}"#;
    check(feature, Format::GeoJson, "", 0);
}

#[test]
fn guess_shows_events_and_rejected_records() {
    let file = "when,a\n2024-07-20T20:17:40Z,1\nsoon,2\n2024-07-20T20:17:41Z,3\n".to_owned()
        + &"2024-07-20T20:17:42Z,4\n".repeat(20);
    let guess = Guess::of(file.as_bytes(), Some(Format::Csv)).unwrap();
    assert_eq!(guess.events.len(), 3);
    assert_eq!(guess.events[0], r#"{"attributes":{"a":"1"},"time":"2024-07-20T20:17:40Z"}"#);
    assert_eq!(guess.counts, (22, 1));
    assert!(
        guess.unsure[0].starts_with("1 of 23 records would be rejected; line 3: time: column `when`:"),
        "{:?}",
        guess.unsure
    );
}

#[test]
fn file_without_a_recognizable_time_is_reported() {
    let error = |file: &[u8]| Guess::of(file, None).unwrap_err();
    assert_eq!(error(b" \n"), "the file is empty");
    assert_eq!(error(b"a,\xE9\n"), "no time was recognized; the names are `a`, `é`");
    assert_eq!(error(b"a,b\n\x01,\xE9\n"), "line 2 is not text; is the file compressed, or in a binary format?");
    assert_eq!(error(b"a,b\n1,2\n"), "no time was recognized; the names are `a`, `b`");
}

proptest::proptest! {
    #[test]
    fn guessing_arbitrary_text_does_not_panic(
        text in "(\\PC|[{}\\[\\]:=,;\"\n\t0-9a-e./-]|time|lat|lon|date|year){0,200}",
    ) {
        if let Ok(Guess { mapping: Some(mapping), .. }) = Guess::of(text.as_bytes(), None) {
            Mapping::parse(&mapping).unwrap();
        }
    }
}

/// Checks the proposed time of a date column, the first event's time, and how often something is unsure.
#[track_caller]
fn check_time(column: &str, texts: [&str; 2], expected: &str, first: &str, unsure: usize) {
    let file = format!("{column};n\n{};a\n{};b\n", texts[0], texts[1]);
    let (mapping, refused, found) = guess(&file, Format::Csv);
    assert_eq!((refused, found.len()), (0, unsure), "{file}{mapping} {found:?}");
    assert!(mapping.contains(&format!("\"time\": {expected}")), "{file}{mapping}");
    let events = Guess::of(file.as_bytes(), None).unwrap().events;
    assert!(events[0].contains(&format!("\"time\":\"{first}\"")), "{events:?}");
}

#[test]
fn common_date_patterns_are_guessed() {
    let zoned = |pattern: &str| format!(r#"{{"column":"when|{pattern}","zone":"UTC"}}"#);
    let check = |texts: [&str; 2], pattern: &str, first: &str, unsure| {
        check_time("when", texts, pattern, first, unsure);
    };
    let dated = |pattern: &str| format!(r#""when|{pattern}""#);
    let clocked = "2024-02-28T13:05:00Z";
    let day = "2024-02-28T00:00:00Z";
    check(["28-02-2024", "1-3-2024"], &dated("DD-MM-YYYY"), day, 0);
    check(["28.2.2024", "1.3.2024"], &dated("DD.MM.YYYY"), day, 0);
    check(["1.2.2024", "1.3.2024"], &dated("DD.MM.YYYY"), "2024-02-01T00:00:00Z", 0);
    check(["28.02.24", "01.03.24"], &dated("DD.MM.YY"), day, 1);
    check(["2/28/24", "3/1/24"], &dated("MM/DD/YY"), day, 1);
    check(["28-Feb-24", "1-Mar-24"], &dated("D-MMM-YY"), day, 1);
    check(["28 Feb 2024 13:05", "1 Mar 2024 00:00"], &zoned("D MMM YYYY HH:mm"), clocked, 1);
    check(["Feb 28, 2024 1:05 PM", "Mar 1, 2024 12:00 AM"], &zoned("MMM D, YYYY h:mm A"), clocked, 1);
    check(["2024-02-28 01:05:00 PM", "2024-03-01 12:00:00 AM"], &zoned("YYYY-MM-DD h:mm:ss A"), clocked, 1);
    check(["2/28/24 13:05", "3/1/24 0:00"], &zoned("MM/DD/YY HH:mm"), clocked, 2);
    let with_offset = dated("YYYY-MM-DD HH:mm:ss Z");
    check(["2024-02-28 14:05:00 +0100", "2024-03-01 00:00:00 +0100"], &with_offset, clocked, 0);
    check(["2024-02-28 13:05:00 UTC", "2024-03-01 00:00:00 UTC"], &with_offset, clocked, 0);
    let of_git = dated("%a %b %d %H:%M:%S %Y %z");
    check(["Wed Feb 28 14:05:00 2024 +0100", "Fri Mar 1 00:00:00 2024 +0100"], &of_git, clocked, 0);
    let of_date = dated("%a %b %d %H:%M:%S %z %Y");
    check(["Wed Feb 28 13:05:00 UTC 2024", "Fri Mar  1 00:00:00 UTC 2024"], &of_date, clocked, 0);
    check(["45350.5451388889", "45352"], &zoned("excel"), clocked, 2);
    check_time(
        "Datum",
        ["28.02.2024 13:05:00", "01.03.2024 00:00:00"],
        r#"{"column":"Datum|DD.MM.YYYY HH:mm:ss","zone":"UTC"}"#,
        clocked,
        1,
    );
    check_time("epoch", ["1709125500", "1709125501"], r#""epoch|unix""#, clocked, 1);
}

#[test]
fn unambiguous_times_are_found_under_any_column_name() {
    let clocked = r#"{"column":"Zeitpunkt|DD.MM.YYYY HH:mm:ss","zone":"UTC"}"#;
    check_time("Zeitpunkt", ["13.02.2024 14:05:33", "29.02.2024 23:59:59"], clocked, "2024-02-13T14:05:33Z", 1);
    let dated = r#"{"date":"Aufnahme|DD.MM.YYYY"}"#;
    check_time("Aufnahme", ["13.02.2024", "29.02.2024"], dated, "2024-02-13T00:00:00Z", 0);
    let named = r#""sent|D MMM YYYY HH:mm:ss Z""#;
    check_time("sent", ["29 Feb 2024 10:00:00 GMT", "1 Mar 2024 10:00:00 GMT"], named, "2024-02-29T10:00:00Z", 0);
    // Two-digit years are ambiguous.
    let file = "part,n\n13.02.24,a\n29.02.24,b\n";
    let error = Guess::of(file.as_bytes(), None).unwrap_err();
    assert_eq!(error, "no time was recognized; the names are `part`, `n`");
    // A column named as a time, or time parts, takes precedence.
    let (mapping, ..) = guess("seen,year,month\n13.02.2024 14:05,1998,7\n29.02.2024 14:05,1999,8\n", Format::Csv);
    assert!(mapping.contains(r#""time": {"month":"month","year":"year"}"#), "{mapping}");
}

#[test]
fn column_with_too_few_times_is_named() {
    let file = "ts,n\n2024-02-29T12:00:00Z,a\n2024-02-29T12:00:00Z,b\nsoon,c\n";
    let error = Guess::of(file.as_bytes(), None).unwrap_err();
    let expected = "`ts` is a time in 2 of 3 records: `time=ts` imports those and rejects the others";
    assert_eq!(error, format!("no time was recognized; the names are `ts`, `n`. {expected}"));
    let (mapping, _, unsure) = guess("year,month,day,hour\n2024,2,28,25\n2024,2,29,3\n", Format::Csv);
    assert!(mapping.contains(r#""time": {"day":"day","month":"month","year":"year"}"#), "{mapping}");
    assert_eq!(unsure, ["`hour` is not used as the hour, because some values are not valid"]);
}

#[test]
fn syslog_with_version_is_recognized() {
    let file = "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \u{FEFF}'su root' failed\n\
        <165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - [id@32473 a=\"x \\] y\"][b@32473] %% It's time\n\
        1 2003-10-11T22:14:16Z host app - - -\n";
    let (mapping, refused, unsure) = guess(file, Format::Csv);
    assert!(mapping.ends_with(
        r#""time": "time", "description": "text", "actors": "host", "missing": {"app":["-"],"data":["-"],"host":["-"],"message":["-"],"process":["-"]} }"#
    ));
    assert_eq!((refused, unsure), (0, vec![]));
    assert_eq!(
        Guess::of(file.as_bytes(), None).unwrap().events,
        [
            r#"{"actors":["mymachine.example.com"],"attributes":{"app":"su","message":"ID47","priority":"34"},"description":"'su root' failed","time":"2003-10-11T22:14:15.003Z"}"#,
            r#"{"actors":["192.0.2.1"],"attributes":{"app":"myproc","data":"[id@32473 a=\"x \\] y\"][b@32473]","priority":"165","process":"8710"},"description":"%% It's time","time":"2003-08-24T12:14:15.000003Z"}"#,
            r#"{"actors":["host"],"attributes":{"app":"app"},"time":"2003-10-11T22:14:16Z"}"#,
        ]
    );
    // A syslog priority is at most 191.
    for other in ["<192>1 2003-10-11T22:14:15Z h a - - -\n", "<34>2 2003-10-11T22:14:15Z h a - - -\n"] {
        assert!(Guess::of(other.as_bytes(), None).is_err(), "{other}");
    }
}

#[test]
fn web_server_access_logs_are_recognized() {
    let check = |file: &str, columns: &str, missing: &str, first: &str| {
        let (mapping, refused, unsure) = guess(file, Format::Csv);
        let expected = format!(
            r#"{{ "delimiter": "space", "escape": "\\", "columns": [{columns}], "time": "{{at}} {{zone}}|[%d/%b/%Y:%H:%M:%S %z]", "name": "request", "actors": "host", "missing": {missing} }}"#
        );
        assert_eq!((mapping, refused, unsure), (expected, 0, vec![]));
        assert_eq!(Guess::of(file.as_bytes(), None).unwrap().events[0], first);
    };
    check(
        "127.0.0.1 - - [29/Feb/2024:13:55:36 +0100] \"GET /a HTTP/1.0\" 200 2326\n\
            ::1 - frank [29/Feb/2024:13:55:37 -0700] \"GET / HTTP/1.1\" 404 -\n",
        r#""host","identity","user","at","zone","request","status","bytes""#,
        r#"{"bytes":["-"],"identity":["-"],"user":["-"]}"#,
        r#"{"actors":["127.0.0.1"],"attributes":{"at":"[29/Feb/2024:13:55:36","bytes":"2326","status":"200","zone":"+0100]"},"name":"GET /a HTTP/1.0","precision":"second","time":"2024-02-29T12:55:36Z"}"#,
    );
    // With a server name first, trailing fields, and escaped quotes in the request.
    check(
        "a.example:443 ::1 - ada [01/Mar/2024:00:00:00 +0000] \"GET /\\\"x\\\" HTTP/2\" 200 5 \"-\" \"curl/8\" 0.1\n",
        r#""server","host","identity","user","at","zone","request","status","bytes","referrer","agent","column 12""#,
        r#"{"identity":["-"],"referrer":["-"]}"#,
        r#"{"actors":["::1"],"attributes":{"agent":"curl/8","at":"[01/Mar/2024:00:00:00","bytes":"5","column 12":"0.1","server":"a.example:443","status":"200","user":"ada","zone":"+0000]"},"name":"GET /\"x\" HTTP/2","precision":"second","time":"2024-03-01T00:00:00Z"}"#,
    );
}

#[test]
fn date_is_combined_with_its_time_of_day_column() {
    let check = |file: &str, expected: &str, unsure: &[&str]| {
        let unsure = unsure.iter().map(|unsure| (*unsure).to_owned()).collect();
        assert_eq!(guess(file, Format::Csv), (format!("{{ \"time\": {expected} }}"), 0, unsure), "{file}");
    };
    check(
        "acq_date,acq_time\n2024-01-02,304\n2024-01-02,1504\n",
        r#"{"date":"acq_date","time_of_day":"acq_time|hhmm","zone":"UTC"}"#,
        &["`acq_time` has no zone, so UTC is assumed; set another in `zone`"],
    );
    // A duration in milliseconds is not a time of day.
    check("date,response_time\n2024-01-02,1275\n2024-01-03,990\n", r#""date""#, &[]);
}

#[test]
fn first_record_without_numbers_is_not_skipped() {
    let file = "time,n,name\nJuly 1969,,first\nJuly 1970,1,second\nJuly 1971,2,third\n";
    let found = Guess::of(file.as_bytes(), Some(Format::Csv));
    assert!(found.is_err() || !found.unwrap().mapping.unwrap().contains("skip_rows"));
}

#[test]
fn features_and_documents_of_other_shapes_are_guessed() {
    let feature = |time: &str| {
        format!(
            r#"{{"type":"Feature","geometry":{{"type":"Point","coordinates":[1,2]}},"properties":{{"latitude":"2","acq_date":"2024-01-02","acq_time":"{time}"}}}}"#
        )
    };
    let (one, other) = (feature("0304"), feature("1504"));
    let mapping = r#"{ "time": {"date":"acq_date","time_of_day":"acq_time|hhmm","zone":"UTC"} }"#.to_owned();
    let zone = "`acq_time` has no zone, so UTC is assumed; set another in `zone`".to_owned();
    for file in [
        format!(r#"{{"type":"FeatureCollection","features":[{one},{other}]}}"#),
        format!("{one}\n{other}\n"),
        format!("\u{1E}{one}\n\u{1E}{other}\n"),
    ] {
        assert_eq!(guess(&file, Format::GeoJson), (mapping.clone(), 0, vec![zone.clone()]), "{file}");
    }
    let error = Guess::of(one.replace("acq", "x").replace("2024-01-02", "soon").as_bytes(), None).unwrap_err();
    assert!(error.starts_with("no time was recognized; the names are `latitude`, `x_date`"), "{error}");
    // A one-line document is not a log line, though a log line may contain a list.
    let trail = r#"{"Records":[{"eventTime":"2024-01-02T03:04:05Z","eventID":"e-1","eventName":"Start"}]}"#;
    let found = r#"{ "records": "Records", "time": "eventTime", "event_id": "eventID", "name": "eventName" }"#;
    assert_eq!(guess(trail, Format::Json), (found.to_owned(), 0, vec![]));
    let line = r#"{"ts":"2024-01-02T03:04:05Z","errors":[{"at":"2024-01-02T03:04:05Z"}]}"#;
    assert_eq!(guess(line, Format::Ndjson), (r#"{ "time": "ts" }"#.to_owned(), 0, vec![]));
}

#[test]
fn compressed_file_is_reported() {
    let error = |file: &[u8]| Guess::of(file, None).unwrap_err();
    assert!(error(b"\x1F\x8B\x08\x00").contains("gzip"));
    assert!(error(b"PK\x03\x04\x14").contains("ZIP"));
    assert!(error(b"\xFF\xFEt\x00").contains("UTF-16"));
}

#[test]
fn log_lines_are_split_by_a_pattern() {
    let check = |file: &str, expected: &str, first: &str, unsure: usize| {
        let (mapping, refused, found) = guess(file, Format::Csv);
        assert_eq!((refused, found.len()), (0, unsure), "{found:?}");
        assert!(
            mapping.starts_with(r#"{ "pattern": "^"#) && mapping.ends_with(&format!(", {expected} }}")),
            "{mapping}"
        );
        assert_eq!(Guess::of(file.as_bytes(), None).unwrap().events[0], first);
    };
    check(
        "2024-01-02T03:04:05.123456+01:00 host app[12]: one, \"two\n2024-01-02T03:04:06+01:00 host app[12]: bye\n",
        r#""time": "time", "description": "text""#,
        r#"{"description":"host app[12]: one, \"two","time":"2024-01-02T02:04:05.123456Z"}"#,
        0,
    );
    // Text before the time stays an attribute.
    check(
        "INFO  [2024-01-02 03:04:05] one\nWARN  [2024-01-02 03:04:06] two\n",
        r#""time": {"column":"time","zone":"UTC"}, "description": "text""#,
        r#"{"attributes":{"before":"INFO"},"description":"one","time":"2024-01-02T03:04:05Z"}"#,
        1,
    );
    // 29 February exists only in leap years.
    let (mapping, refused, _) = guess("Feb 28 10:15:00 host a: one\nFeb 29 10:15:01 host a: two\n", Format::Csv);
    assert!(mapping.contains(r#""time": "1972 {time}|YYYY MMM D HH:mm:ss""#), "{mapping}");
    assert_eq!(refused, 0);
    // Continuation lines are not events.
    let trace = "2024-01-02 03:04:05,123 ERROR one\n  at a.B\n2024-01-02 03:04:06,456 ERROR two\n  at c.D\n";
    assert_eq!(Guess::of(trace.as_bytes(), None).unwrap().counts, (2, 2));
    // A one-column table is not a log.
    assert_eq!(guess("time\n2024-01-02T03:04:05Z\n2024-01-02T03:04:06Z\n", Format::Csv).1, 0);
}

#[test]
fn column_unfit_for_its_field_is_left_out() {
    let check = |file: &str, left_out: &str| {
        let (mapping, refused, unsure) = guess(file, Format::Csv);
        assert!(mapping.ends_with(&format!(", {left_out} }}")), "{mapping} {unsure:?}");
        assert_eq!(refused, 0, "{unsure:?}");
    };
    // A repeated id would refuse the second record.
    check("date,id\n2024-05-01,7\n2024-05-02,7\n", r#""event_id": """#);
    check("date,end_time\n2024-05-01,late\n2024-05-02,early\n", r#""end_time": """#);
    check("date,precision\n2024-05-01,0.1\n2024-05-02,0.2\n", r#""precision": """#);
    check("date,lat,lon\n2024-05-01,5411230,3450122\n2024-05-02,5411231,3450123\n", r#""geo": {"lat":"","lon":""}"#);
}

#[test]
fn mapped_id_is_shown_in_the_guess() {
    let guess = Guess::of(b"time,id\n2024-07-20T20:17:40Z,e-1\n", None).unwrap();
    assert_eq!(guess.events, [r#"{"event_id":"e-1","time":"2024-07-20T20:17:40Z"}"#]);
}

#[test]
fn end_before_the_start_is_not_proposed() {
    let file = "start,end\n2024-05-02T00:00:00Z,2024-05-01T00:00:00Z\n2024-05-03T00:00:00Z,2024-05-02T00:00:00Z\n";
    let (mapping, refused, unsure) = guess(file, Format::Csv);
    assert_eq!((mapping.as_str(), refused), (r#"{ "time": "start" }"#, 0));
    assert!(unsure[0].starts_with("no end is proposed after all: 2 of 2 events"), "{unsure:?}");
    // Appointments within one day.
    let file = "date,start,end\n2024-05-02,09:00,10:30\n2024-05-03,11:00,11:15\n";
    let events = Guess::of(file.as_bytes(), None).unwrap().events;
    assert!(events[0].contains(r#""end_time":"2024-05-02T10:30:00Z""#), "{events:?}");
}
