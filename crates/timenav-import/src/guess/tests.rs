use super::*;

/// Looks at a file, and returns the mapping without its line ends, and what it is not sure of.
#[track_caller]
fn guess(file: &str, format: Format) -> (String, usize, Vec<String>) {
    let guess = Guess::of(file.as_bytes(), None).unwrap();
    assert_eq!(guess.format, format);
    let mapping = guess.mapping.unwrap_or_default();
    let flat: Vec<&str> = mapping.lines().map(str::trim).collect();
    // What is proposed can be used at once.
    Mapping::parse(&mapping).unwrap();
    (flat.join(" "), guess.counts.1, guess.unsure)
}

#[test]
fn earthquakes_of_noaa() {
    let file = "\"Search Parameters\"\t\"Year\"\t\"Mo\"\t\"Dy\"\t\"Hr\"\t\"Mn\"\t\"Sec\"\t\"Tsu\"\t\"Location Name\"\t\"Latitude\"\t\"Longitude\"\n\
        \"[]\"\t\t\t\t\t\t\t\t\t\t\n\
        \"\"\t-2150\t\t\t\t\t\t\t\"JORDAN:  BAB-A-DARAA\"\t31.1\t35.5\n\
        \"\"\t1906\t4\t18\t13\t12\t21.0\t58\t\"CALIFORNIA:  SAN FRANCISCO\"\t37.67\t-122.48\n";
    let (mapping, refused, unsure) = guess(file, Format::Csv);
    assert_eq!(
        mapping,
        r#"{ "delimiter": "\t", "comment": "[", "time": {"day":"Dy","hour":"Hr","minute":"Mn","month":"Mo","second":"Sec","year":"Year"}, "geo": {"lat":"Latitude","lon":"Longitude"}, "name": "Location Name" }"#
    );
    assert_eq!(refused, 0);
    assert_eq!(unsure, ["`Year` has years such as -2150, which is read as 2150 BCE (`historical`)"]);
}

#[test]
fn nuclear_tests() {
    let file = "WEAPON SOURCE COUNTRY,WEAPON DEPLOYMENT LOCATION,Location.Cordinates.Latitude,Location.Cordinates.Longitude,Data.Name,Date.Day,Date.Month,Date.Year\n\
        USA,Alamogordo,32.54,-105.57,Trinity,16,7,1945\n\
        USSR,Semi Kazakh,0.0,0.0,Nan,29,8,1949\n";
    let (mapping, refused, unsure) = guess(file, Format::Csv);
    assert_eq!(
        mapping,
        r#"{ "time": {"day":"Date.Day","month":"Date.Month","year":"Date.Year"}, "geo": {"lat":"Location.Cordinates.Latitude","lon":"Location.Cordinates.Longitude"}, "name": "Data.Name", "location": "WEAPON DEPLOYMENT LOCATION", "actors": "WEAPON SOURCE COUNTRY", "missing": {"Data.Name":["Nan"],"Location.Cordinates.Latitude":["0"],"Location.Cordinates.Longitude":["0"]} }"#
    );
    assert_eq!((refused, unsure.len()), (0, 1), "{unsure:?}");
    let file = "date,time,lat,lon,name\n19450716,112945.0,33.675N,106.475W,TRINITY\n19610910,0,0,0,\n";
    let (mapping, refused, unsure) = guess(file, Format::Csv);
    assert_eq!(
        mapping,
        r#"{ "time": {"date":"date|YYYYMMDD","time_of_day":"time|hhmmss"}, "geo": {"lat":"lat","lon":"lon"}, "name": "name", "missing": {"lat":["0"],"lon":["0"],"time":["0"]} }"#
    );
    assert_eq!((refused, unsure.len()), (0, 2), "{unsure:?}");
}

#[test]
fn tables_with_a_time_in_one_column() {
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
        "A title\n\nwhen,n\n20/07/2024 22:17,1\n21/07/2024 22:17,2\n",
        r#"{ "delimiter": ",", "skip_lines": 1, "time": {"column":"when|DD/MM/YYYY HH:mm","zone":"UTC"} }"#,
        1,
    );
    check("date,n\n01/02/2024,1\n03/04/2024,2\n", r#"{ "time": "date|DD/MM/YYYY" }"#, 1);
    check("date,n\n01/25/2024,1\n03/04/2024,2\n", r#"{ "time": "date|MM/DD/YYYY" }"#, 0);
    check(
        "# of 2024\ndate,event\n2024-07-20,x\n2024-07-21,NA\n",
        r##"{ "comment": "#", "time": "date", "name": "event", "missing": {"event":["NA"]} }"##,
        0,
    );
}

#[test]
fn numbers_that_stand_for_nothing_are_named() {
    let check = |values: &[&str], expected: &str| {
        let rows: String =
            values.iter().enumerate().map(|(day, value)| format!("2024-07-{:02},{value}\n", day + 1)).collect();
        let (mapping, refused, unsure) = guess(&format!("date,wind\n{rows}"), Format::Csv);
        let missing = mapping.split_once(r#""missing": "#).map_or("", |(_, missing)| missing.trim_end_matches(" }"));
        assert_eq!((missing, refused), (expected, 0), "{values:?}");
        assert_eq!(unsure.len(), expected.matches("-9").count(), "{unsure:?}");
    };
    check(&["10", "-99", "25.5", "-99.0", ""], r#"{"wind":["-99"]}"#);
    check(&["10", "-999.0", "-99"], r#"{"wind":["-99","-999.0"]}"#);
    check(&["-3.5", "-999", "12"], r#"{"wind":["-999"]}"#);
    // A value, as likely as not.
    check(&["-3.5", "-99", "12"], "");
    check(&["120", "-999", "-300"], "");
    check(&["-99", "-99"], "");
    check(&["calm", "-99", "12"], "");
    // Behind the rows by which columns are told apart.
    let rows = "2024-07-20,10\n".repeat(GUESS_ROWS_MAX) + "2024-07-20,-99\n";
    let (mapping, ..) = guess(&format!("date,wind\n{rows}"), Format::Csv);
    assert!(mapping.contains(r#""missing": {"wind":["-99"]}"#), "{mapping}");
    // A year is a year.
    let (mapping, ..) = guess("year,what\n-99,a\n115,b\n", Format::Csv);
    assert!(!mapping.contains("missing"), "{mapping}");
}

#[test]
fn the_first_row_names_the_columns_where_others_are_shorter() {
    // As Debian writes when its releases came, and when they end.
    let file = "version,series,created,release,eol\n1.1,buzz,1993-08-16,1996-06-17\n1.2,rex,1996-06-17,1996-12-12\n\
        13,trixie,2023-06-10,2025-08-09,2028-08-09\n";
    let (mapping, refused, unsure) = guess(file, Format::Csv);
    assert!(!mapping.contains("skip_lines"), "{mapping}");
    assert!(mapping.contains(r#""time": "created""#), "{mapping}");
    assert!(mapping.contains(r#""short_rows": "fill""#), "{mapping}");
    assert_eq!(refused, 0, "{unsure:?}");
}

#[test]
fn logs_and_documents() {
    let check = |file: &str, format: Format, expected: &str, unsure: usize| {
        let (mapping, refused, found) = guess(file, format);
        assert_eq!((mapping.as_str(), refused, found.len()), (expected, 0, unsure), "{found:?}");
    };
    let pino = "{\"level\":30,\"time\":1721506660123,\"msg\":\"a\",\"req\":{\"id\":\"r1\"}}\n{\"level\":30,\"time\":1721506660124,\"msg\":\"b\",\"req\":{\"id\":\"r2\"}}\n";
    check(pino, Format::Ndjson, r#"{ "time": "time|unix_ms", "event_id": "req.id", "description": "msg" }"#, 1);
    let search =
        r#"{"took": 3, "hits": {"hits": [{"_id": "1", "@timestamp": "2024-07-20T20:17:40Z", "message": "a"}]}}"#;
    let with_lines = search.replace(", ", ",\n ");
    check(
        &with_lines,
        Format::Json,
        r#"{ "records": "hits.hits", "time": "@timestamp", "event_id": "_id", "description": "message" }"#,
        0,
    );
    check(
        "ts=2024-07-20T20:17:40Z level=info msg=\"a b\"\n",
        Format::Logfmt,
        r#"{ "time": "ts", "description": "msg" }"#,
        0,
    );
    // What needs none.
    check("{\"time\":\"2024-07-20T20:17:40Z\"}\n", Format::Ndjson, "", 0);
    check("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20240720\nEND:VEVENT\nEND:VCALENDAR\n", Format::ICalendar, "", 0);
    let feature = r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"time":1}}]}"#;
    check(feature, Format::GeoJson, "", 0);
}

#[test]
fn what_it_would_make_is_shown() {
    let file = "when,a\n2024-07-20T20:17:40Z,1\nsoon,2\n2024-07-20T20:17:41Z,3\n".to_owned()
        + &"2024-07-20T20:17:42Z,4\n".repeat(20);
    let guess = Guess::of(file.as_bytes(), Some(Format::Csv)).unwrap();
    assert_eq!(guess.events.len(), 3);
    assert_eq!(guess.events[0], r#"{"attributes":{"a":"1"},"time":"2024-07-20T20:17:40Z"}"#);
    assert_eq!(guess.counts, (22, 1));
    assert!(
        guess.unsure[0].starts_with("1 of 23 records would be refused; line 3: column `when`:"),
        "{:?}",
        guess.unsure
    );
}

#[test]
fn what_cannot_be_guessed_is_told() {
    let error = |file: &[u8]| Guess::of(file, None).unwrap_err();
    assert_eq!(error(b" \n"), "the file is empty");
    assert_eq!(error(b"a,\xFF\n"), "the file is not UTF-8; save it in that encoding");
    assert_eq!(error(b"a,b\n1,2\n"), "nothing here is known to be a time; there are `a`, `b`");
}

proptest::proptest! {
    #[test]
    fn no_file_panics(text in "(\\PC|[{}\\[\\]:=,;\"\n\t0-9a-e./-]|time|lat|lon|date|year){0,200}") {
        if let Ok(Guess { mapping: Some(mapping), .. }) = Guess::of(text.as_bytes(), None) {
            Mapping::parse(&mapping).unwrap();
        }
    }
}
