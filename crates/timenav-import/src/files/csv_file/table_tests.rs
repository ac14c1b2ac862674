use crate::Format;
use crate::tests::{check, check_detail, item_text, items};

/// NOAA NCEI's earthquakes: tab-separated, time parts, years before the common era, and a row of search parameters.
const EARTHQUAKES: &str = "\"Search Parameters\"\t\"Year\"\t\"Mo\"\t\"Dy\"\t\"Hr\"\t\"Mn\"\t\"Sec\"\t\"Tsu\"\t\"Vol\"\t\"Location Name\"\t\"Latitude\"\t\"Longitude\"\t\"Focal Depth (km)\"\t\"Mag\"\n\
\"[]\"\t\t\t\t\t\t\t\t\t\t\t\t\t\n\
\"\"\t-2150\t\t\t\t\t\t\t\t\"JORDAN:  BAB-A-DARAA,AL-KARAK\"\t31.1\t35.5\t\t7.3\n\
\"\"\t-1\t\t\t\t\t\t\t\t\"ITALY\"\t\t\t\t\n\
\"\"\t1\t12\t\t\t\t\t\t\t\"SYRIA\"\t\t\t\t0\n\
\"\"\t1906\t4\t18\t13\t12\t21.0\t58\t\t\"CALIFORNIA:  SAN FRANCISCO\"\t37.67\t-122.48\t20\t7.9\n\
\"\"\t1960\t5\t22\t19\t11\t\t1\t\t\"CHILE:  PUERTO MONTT, VALDIVIA\"\t-38.143\t-73.407\t33\t9.5\n\
\"\"\t1783\t\t5\t\t\t\t\t\t\"ITALY:  CALABRIA\"\t38\t16\t\t\n\
\"\"\t0\t\t\t\t\t\t\t\t\"NOWHERE\"\t\t\t\t\n\
\"\"\t1908\t2\t30\t\t\t\t\t\t\"NOWHERE\"\t\t\t\t\n";

const EARTHQUAKES_MAPPING: &str = r#"{
    "comment": "[",
    "time": {"year": "Year", "month": "Mo", "day": "Dy", "hour": "Hr", "minute": "Mn", "second": "Sec"},
    "name": "Location Name",
    "geo": {"lat": "Latitude", "lon": "Longitude"},
    "source": "'NOAA NCEI'",
    "missing": {"Mag": ["0"]}
}"#;

#[test]
fn ancient_earthquakes_are_read_with_a_mapping() {
    let (items, outcome) = items(Format::Csv, EARTHQUAKES_MAPPING, EARTHQUAKES.as_bytes());
    outcome.unwrap();
    let geo = |lat: &str, lon: &str| format!(r#""geo":{{"lat":{lat},"lon":{lon}}},"#);
    let expected = [
        format!(
            r#"3 - {{"attributes":{{"Mag":"7.3"}},{}"name":"JORDAN:  BAB-A-DARAA,AL-KARAK","precision":"year","source":"NOAA NCEI","time":"-002149-01-01T00:00:00Z"}}"#,
            geo("31.1", "35.5")
        ),
        r#"4 - {"name":"ITALY","precision":"year","source":"NOAA NCEI","time":"0000-01-01T00:00:00Z"}"#.to_owned(),
        r#"5 - {"name":"SYRIA","precision":"month","source":"NOAA NCEI","time":"0001-12-01T00:00:00Z"}"#.to_owned(),
        format!(
            r#"6 - {{"attributes":{{"Focal Depth (km)":"20","Mag":"7.9","Tsu":"58"}},{}"name":"CALIFORNIA:  SAN FRANCISCO","precision":"second","source":"NOAA NCEI","time":"1906-04-18T13:12:21Z"}}"#,
            geo("37.67", "-122.48")
        ),
        format!(
            r#"7 - {{"attributes":{{"Focal Depth (km)":"33","Mag":"9.5","Tsu":"1"}},{}"name":"CHILE:  PUERTO MONTT, VALDIVIA","precision":"minute","source":"NOAA NCEI","time":"1960-05-22T19:11:00Z"}}"#,
            geo("-38.143", "-73.407")
        ),
        format!(
            r#"8 - {{{}"name":"ITALY:  CALABRIA","precision":"year","source":"NOAA NCEI","time":"1783-01-01T00:00:00Z"}}"#,
            geo("38", "16")
        ),
        "9 invalid_parameter time".to_owned(),
        "10 invalid_parameter time".to_owned(),
    ];
    assert_eq!(items.iter().map(item_text).collect::<Vec<_>>(), expected);
    let noted: Vec<(u64, &str)> =
        items.iter().flat_map(|item| item.notes.iter().map(|note| (item.line, note.code))).collect();
    assert_eq!(noted, [(6, "zone_assumed"), (8, "time_in_part")]);
    let details: Vec<String> = items.into_iter().filter_map(|item| Some(item.event.err()?.detail)).collect();
    assert!(details[0].starts_with("year 0 does not exist"), "{details:?}");
    assert_eq!(details[1], "month 2 of the year 1908 has 29 days, not 30");
}

#[test]
fn nuclear_tests_are_read_with_separate_date_columns() {
    let file = "WEAPON SOURCE COUNTRY,WEAPON DEPLOYMENT LOCATION,Data.Source,Location.Cordinates.Latitude,\
                Location.Cordinates.Longitude,Data.Magnitude.Body,Data.Yeild.Lower,Data.Name,Data.Type,Date.Day,\
                Date.Month,Date.Year\n\
                USA,Alamogordo,DOE,32.54,-105.57,0.0,21.0,Trinity,Tower,16,7,1945\n\
                USSR,Semi Kazakh,DOE,0.0,0.0,0.0,22.0,Rds-1,Surface,29,8,1949\n\
                CHINA,Lop Nor,HFS,41.69,88.35,5.6,3.0,Nan,Ug,8,6,1996.0\n";
    let mapping = r#"{
        "time": {"year": "Date.Year", "month": "Date.Month", "day": "Date.Day"},
        "name": "Data.Name",
        "location": "WEAPON DEPLOYMENT LOCATION",
        "geo": {"lat": "Location.Cordinates.Latitude", "lon": "Location.Cordinates.Longitude"},
        "actors": "WEAPON SOURCE COUNTRY",
        "missing": {"Location.Cordinates.Latitude": 0, "Location.Cordinates.Longitude": 0, "Data.Name": "Nan",
                    "Data.Magnitude.Body": [0]}
    }"#;
    check(
        Format::Csv,
        mapping,
        file,
        &[
            concat!(
                r#"2 - {"actors":["USA"],"attributes":{"Data.Source":"DOE","Data.Type":"Tower","Data.Yeild.Lower":"21.0"},"#,
                r#""geo":{"lat":32.54,"lon":-105.57},"location":"Alamogordo","name":"Trinity","precision":"day","#,
                r#""time":"1945-07-16T00:00:00Z"}"#
            ),
            concat!(
                r#"3 - {"actors":["USSR"],"attributes":{"Data.Source":"DOE","Data.Type":"Surface","Data.Yeild.Lower":"22.0"},"#,
                r#""location":"Semi Kazakh","name":"Rds-1","precision":"day","time":"1949-08-29T00:00:00Z"}"#
            ),
            concat!(
                r#"4 - {"actors":["CHINA"],"attributes":{"Data.Magnitude.Body":"5.6","Data.Source":"HFS","Data.Type":"Ug","#,
                r#""Data.Yeild.Lower":"3.0"},"geo":{"lat":41.69,"lon":88.35},"location":"Lop Nor","precision":"day","#,
                r#""time":"1996-06-08T00:00:00Z"}"#
            ),
        ],
    );
}

/// The event from both notations of the same test.
const TRINITY: &str = concat!(
    r#"{"attributes":{"yield":"21"},"geo":{"lat":33.675,"lon":-106.475},"name":"TRINITY","precision":"second","#,
    r#""time":"1945-07-16T11:29:45Z"}"#
);
const ABLE: &str =
    r#"{"geo":{"lat":11.59,"lon":165.5},"name":"ABLE","precision":"exact","time":"1946-06-30T22:00:34.2Z"}"#;
const UNNAMED: &str = r#"{"precision":"day","time":"1961-09-10T00:00:00Z"}"#;

#[test]
fn nuclear_tests_are_read_from_fixed_width_columns() {
    let file = "NUCLEAR TESTS\n\
                date     time     lat      lon      yield name\n\
                19450716 112945.0 33.675N  106.475W 21    TRINITY\n\
                19460630 220034.2 11.59N   165.500E 0     ABLE\n\
                19610910 0        0        0        0\n\
                19610931 0        0        0        0\n";
    let columns = r#""columns": {"date": "1-8", "time": "10-17", "lat": "19-26", "lon": "28-35", "yield": "37-42",
                                 "name": "43-"}, "skip_lines": 2"#;
    let blanks = r#""delimiter": "blanks", "skip_lines": 1"#;
    let rest = r#""time": {"date": "date|YYYYMMDD", "time_of_day": "time|hhmmss"}, "name": "name",
                  "geo": {"lat": "lat", "lon": "lon"}, "missing": ["0"]"#;
    let expected = |line: u64, event: &str| format!("{line} - {}", event.replace(r#""precision":"exact","#, ""));
    let fixed = format!("{{{columns}, {rest}}}");
    let events = [expected(3, TRINITY), expected(4, ABLE), expected(5, UNNAMED), "6 invalid_parameter time".into()];
    check(Format::Csv, &fixed, file, &events.each_ref().map(String::as_str));
    let short = ["6 malformed_csv -", "5 malformed_csv -"];
    let with_blanks = format!("{{{blanks}, {rest}}}");
    check(Format::Csv, &with_blanks, file, &[events[0].as_str(), &events[1], short[1], short[0]]);
}

#[test]
fn place_may_be_in_one_column() {
    let file = "date,where\n16 Jul 1945,33.675N 106.475W\n1945-08-06,\"34.39, 132.45\"\n1945,here\n07/16/1945,\n";
    let expected = [
        r#"2 - {"geo":{"lat":33.675,"lon":-106.475},"precision":"day","time":"1945-07-16T00:00:00Z"}"#,
        r#"3 - {"geo":{"lat":34.39,"lon":132.45},"precision":"day","time":"1945-08-06T00:00:00Z"}"#,
        "4 invalid_parameter geo",
        "5 invalid_parameter time",
    ];
    check(Format::Csv, "time.date=date,geo=where", file, &expected);
    check_detail(
        Format::Csv,
        "time.date=date,geo=where",
        "date,where\n07/16/1945,\n",
        "`date`: `07/16/1945` is an ambiguous date; state the order of its parts, as in \
         `date=column|DD/MM/YYYY`",
    );
}

#[test]
fn times_are_read_in_the_given_zone() {
    let event = |line: u64, time: &str| format!(r#"{line} - {{"time":"{time}"}}"#);
    check(
        Format::Csv,
        "time.column=when,time.zone=Europe/Paris",
        "when\n2024-07-20T22:17:40\n2024-07-20 22:17:40\n2024-07-20T22:17:40Z\n",
        &[&event(2, "2024-07-20T20:17:40Z"), &event(3, "2024-07-20T20:17:40Z"), &event(4, "2024-07-20T22:17:40Z")],
    );
    check(
        Format::Csv,
        r#"{"time": {"column": "when|DD.MM.YYYY HH:mm", "zone": "Europe/Berlin"}}"#,
        "when\n20.07.2024 22:17\n20.01.2024 22:17\n",
        &[
            r#"2 - {"precision":"minute","time":"2024-07-20T20:17:00Z"}"#,
            r#"3 - {"precision":"minute","time":"2024-01-20T21:17:00Z"}"#,
        ],
    );
}

#[test]
fn years_are_numbered_as_the_mapping_specifies() {
    let file = "y\n-43\n0\n44 BC\nAD 79\n10000\n-10000\n";
    let year = |line: u64, time: &str| format!(r#"{line} - {{"precision":"year","time":"{time}-01-01T00:00:00Z"}}"#);
    check(
        Format::Csv,
        "time.year=y,time.year_numbering=astronomical",
        file,
        &[
            &year(2, "-000043"),
            &year(3, "0000"),
            &year(4, "-000043"),
            &year(5, "0079"),
            "6 time_out_of_range time",
            "7 time_out_of_range time",
        ],
    );
    check(
        Format::Csv,
        "time.year=y,missing.y=0",
        file,
        &[
            &year(2, "-000042"),
            "3 missing_parameter time",
            &year(4, "-000043"),
            &year(5, "0079"),
            "6 time_out_of_range time",
            &year(7, "-009999"),
        ],
    );
}

#[test]
fn delimiter_is_detected_or_configured() {
    let t = "2024-07-20T20:17:40Z";
    let expected = format!(r#"{{"attributes":{{"a":"1,5","b":"x"}},"time":"{t}"}}"#);
    for (map, file, line) in [
        ("", format!("time\ta\tb\n{t}\t1,5\tx\n"), 2),
        ("", format!("time;a;b\n{t};1,5;x\n"), 2),
        ("", format!("time|a|b\n{t}|1,5|x\n"), 2),
        ("", format!("time,a,b\n{t},\"1,5\",x\n"), 2),
        ("", format!("time;\"a\";b\n{t};1,5;x;;\n"), 2),
        ("delimiter=^", format!("time^a^b\n{t}^1,5^x\n"), 2),
        ("delimiter=tab,skip_lines=2", format!("A table\r\n;;;;\r\ntime\ta\tb\r\n{t}\t1,5\tx\r\n"), 4),
        ("comment=#,skip_rows=1", format!("# of 2024; x\ntime;a;b\n-;m;-\n# note\n{t};1,5;x\n"), 5),
        ("columns=time|a|b,delimiter=semicolon", format!("{t};1,5;x\n"), 1),
        ("quote=none", format!("time\ta\tb\n{t}\t1,5\tx\n"), 2),
    ] {
        let (read, outcome) = items(Format::Csv, map, file.as_bytes());
        outcome.unwrap();
        assert_eq!(read.iter().map(item_text).collect::<Vec<_>>(), [format!("{line} - {expected}")], "{map} {file}");
    }
    let escaped = |text: &str| format!(r#"2 - {{"attributes":{{"a":{text}}},"time":"{t}"}}"#);
    let file = format!("time,a\n{t},\"one \\\"two\\\", \"\"three\"\"\"\n");
    check(Format::Csv, r#"{"escape": "\\"}"#, &file, &[&escaped(r#""one \"two\", \"three\"""#)]);
    let (read, _) = items(Format::Csv, "quote=none", format!("time\ta\n{t}\t\"x\n{t}\ty\n").as_bytes());
    assert_eq!(read.len(), 2);
}

/// Columns may be named in any order, and the first need not begin a line.
#[test]
fn comment_is_recognized_at_line_start_for_any_column_order() {
    let file = "# of 1 Jan 1972 and later\n10  # 1 Jan 1972\n  # 1 Jul 1972 is next\n#\n11  # 1 Jul 1972\n";
    let events = ["1972-01-01", "1972-07-01"];
    let offsets = ["10", "11"];
    for (map, date) in [
        (r##"{"comment": "#", "columns": {"offset": "1-2", "day": "7-"}, "time": {"date": "day"}}"##, true),
        (r##"{"comment": "#", "columns": {"day": "7-"}, "time": {"date": "day"}}"##, false),
    ] {
        let expected: Vec<String> = [2, 5]
            .iter()
            .zip(events.iter().zip(offsets))
            .map(|(line, (day, offset))| {
                let attributes = if date { format!(r#""attributes":{{"offset":"{offset}"}},"#) } else { String::new() };
                format!(r#"{line} - {{{attributes}"precision":"day","time":"{day}T00:00:00Z"}}"#)
            })
            .collect();
        check(Format::Csv, map, file, &expected.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn missing_value_texts_are_not_imported() {
    let t = "2024-07-20T20:17:40Z";
    check(
        Format::Csv,
        "missing=NA|-|0,name={a} {b}",
        &format!("time,a,b,lat\n{t},NA,-,0.00\n{t},x,NA,NA\n"),
        &[&format!(r#"2 - {{"time":"{t}"}}"#), &format!(r#"3 - {{"attributes":{{"a":"x"}},"name":"x","time":"{t}"}}"#)],
    );
    check_detail(
        Format::Csv,
        "missing.aa=0",
        &format!("time,a\n{t},0\n"),
        "the mapping fills `missing` from the column `aa`, which the file does not have; did you mean `a`?",
    );
}

#[test]
fn spreadsheet_dates_and_decimal_commas_are_read() {
    let map = r#"{"time": {"column": "when|excel", "zone": "Europe/Berlin"}, "missing": ["-"]}"#;
    check(
        Format::Csv,
        map,
        "when;lat;lon\n45350,5;48,8566;-2,3522\n45351;-;-\n60;-;-\n",
        &[
            r#"2 - {"geo":{"lat":48.8566,"lon":-2.3522},"time":"2024-02-28T11:00:00Z"}"#,
            r#"3 - {"precision":"day","time":"2024-02-28T23:00:00Z"}"#,
            "4 invalid_parameter time",
        ],
    );
    check_detail(
        Format::Csv,
        map,
        "when\nx\n",
        "column `when`: `x` is not a number of days as spreadsheets count them, from 1 (1900-01-01) to 2958465",
    );
}

#[test]
fn binary_files_are_recognized_by_type() {
    let check = |file: &[u8], expected: &str| {
        let (items, outcome) = items(Format::Csv, "", file);
        let error = outcome.unwrap_err().to_string();
        assert!(
            items.is_empty() && error.starts_with("the file is not UTF-8 text: ") && error.contains(expected),
            "{error}"
        );
    };
    check(b"\x1F\x8B\x08\x00", "gzip");
    check(b"\x28\xB5\x2F\xFD\x00", "it is packed with zstd; unpack it with `zstd -d`");
    check(b"PK\x03\x04\x14", "ZIP archive");
    check(b"\xFD7zXZ\x00", "xz");
    check(b"BZh9", "bzip2");
    check(b"\xFF\xFEt\x00", "UTF-16");
    check(b"\xFE\xFF\x00t", "UTF-16");
}

#[test]
fn pattern_splits_lines_into_columns() {
    let file = "# a log\n\
        2024-02-29 23:59:59,123 WARN  [main] c.e.Billing: card declined\n\
        \tat c.e.Billing.charge(Billing.java:12)\n\
        2024-03-01 00:00:00,000 INFO  [main] c.e.Billing: done\n";
    let map = r##"{
        "comment": "#",
        "pattern": "^(?<at>\\S+ \\S+) +(?<level>[A-Z]+) +\\[(?<thread>[^\\]]*)\\] (?<logger>\\S+): (?<text>.*)$",
        "time": "at|YYYY-MM-DD HH:mm:ss,SSS",
        "description": "text"
    }"##;
    let (items, outcome) = items(Format::Csv, map, file.as_bytes());
    outcome.unwrap();
    assert_eq!(items.len(), 3);
    let first = item_text(&items[0]);
    assert!(first.starts_with("2 - {"), "{first}");
    assert!(first.contains(r#""description":"card declined""#) && first.contains(r#""level":"WARN""#), "{first}");
    let refused = items[1].event.as_ref().unwrap_err();
    assert_eq!((items[1].line, refused.detail.as_str()), (3, "the line does not match `pattern`"));
    assert!(items[2].event.is_ok());
}

#[test]
fn columns_and_pattern_together_are_rejected() {
    let map = r#"{"columns": ["a"], "pattern": "(?<a>.*)", "time": "a"}"#;
    let error = crate::Mapping::parse(map).unwrap_err().to_string();
    assert!(error.contains("by `columns` or by `pattern`, not by both"), "{error}");
}

#[test]
fn missing_value_applies_to_the_coordinate_pair() {
    let file = "time,lat,lon\n2024-07-20,0.0,0\n2024-07-20,0,35.5\n2024-07-20,51.5,-0\n2024-07-20,-1,-1\n";
    let event = |line: u64, geo: &str| format!(r#"{line} - {{{geo}"precision":"day","time":"2024-07-20T00:00:00Z"}}"#);
    let (equator, meridian) = (event(3, r#""geo":{"lat":0,"lon":35.5},"#), event(4, r#""geo":{"lat":51.5,"lon":0},"#));
    let other = event(5, r#""geo":{"lat":-1,"lon":-1},"#);
    for mapping in ["geo.missing=0 0", r#"{"geo": {"lat": "lat", "lon": "lon", "missing": "0,0"}}"#] {
        check(Format::Csv, mapping, file, &[&event(2, ""), &equator, &meridian, &other]);
    }
    let both = r#"{"geo": {"missing": ["0,0", "-1,-1"]}}"#;
    check(Format::Csv, both, file, &[&event(2, ""), &equator, &meridian, &event(5, "")]);
    let pair = "time,where\n2024-07-20,\"(0.0, 0.0)\"\n2024-07-20,\"(0, 35.5)\"\n";
    check(Format::Csv, r#"{"geo": {"column": "where", "missing": "0,0"}}"#, pair, &[&event(2, ""), &equator]);
}

#[test]
fn two_digit_year_is_read_if_the_mapping_allows_it() {
    let event = |line: u64, year: u16| format!(r#"{line} - {{"precision":"month","time":"{year}-03-01T00:00:00Z"}}"#);
    let file = "Month,Year\n3,14\n3,69\n3,68.0\n3,2014\n";
    let mapping = r#"{"time": {"year": "Year|YY", "month": "Month"}}"#;
    check(Format::Csv, mapping, file, &[&event(2, 2014), &event(3, 1969), &event(4, 2068), "5 invalid_parameter time"]);
}

#[test]
fn windows_1252_text_is_read_if_the_mapping_specifies_it() {
    let file = b"time;name\n2024-07-20;Cayut\xED \x80\n";
    let (items, outcome) = items(Format::Csv, "encoding=windows-1252", file);
    outcome.unwrap();
    assert_eq!(items[0].event.as_ref().unwrap().name.as_deref(), Some("Cayutí €"));
}

#[test]
fn first_line_may_name_the_delimiter() {
    let event = r#"- {"attributes":{"a|b":"x,y"},"precision":"day","time":"2024-07-20T00:00:00Z"}"#;
    for start in ["sep=;\n", "\"SEP=;\"\r\n"] {
        check(Format::Csv, "", &format!("{start}time;a|b\n2024-07-20;x,y\n"), &[&format!("3 {event}")]);
    }
}

#[test]
fn long_text_does_not_reject_the_record() {
    let (name, location, actor) = ("n".repeat(257), "l".repeat(513), "a".repeat(129));
    let time = r#""precision":"day","time":"2024-07-20T00:00:00Z""#;
    let file = format!("time,name\n2024-07-20,{name}\n");
    check(Format::Csv, "", &file, &[&format!(r#"2 - {{"description":"{name}",{time}}}"#)]);
    let file = format!("time,name,description,location,actors,b\n2024-07-20,{name},d,{location},x;{actor},c\n");
    let event = format!(
        r#"2 - {{"actors":["x"],"attributes":{{"actors":"{actor}","b":"c","location":"{location}","name":"{name}"}},"description":"d",{time}}}"#
    );
    check(Format::Csv, "", &file, &[&event]);
    let (items, _) = items(Format::Csv, "", file.as_bytes());
    let notes: Vec<(&str, &str)> = items[0].notes.iter().map(|note| (note.code, &*note.detail)).collect();
    assert_eq!(notes.len(), 3);
    assert_eq!(
        notes[0],
        (
            "long_text_kept",
            "`name` can have at most 256 bytes, but its text has 257; it is stored as the attribute `name`"
        )
    );
    let record = format!(r#"{{"time":"2024-07-20T00:00:00Z","name":"{name}","a":1}}"#);
    let event = format!(r#"1 - {{"attributes":{{"a":1}},"description":"{name}","time":"2024-07-20T00:00:00Z"}}"#);
    check(Format::Json, "", &record, &[&event]);
}

#[test]
fn times_without_a_zone_are_noted_once() {
    let check = |map: &str, file: &str, expected: &[(u64, &str)]| {
        let (items, outcome) = items(Format::Csv, map, file.as_bytes());
        outcome.unwrap();
        let noted: Vec<(u64, &str)> =
            items.iter().flat_map(|item| item.notes.iter().map(|note| (item.line, &*note.detail))).collect();
        assert_eq!(noted, expected, "{map}");
    };
    let local = "d,t\n28/02/2024,09:00\n28/02/2024 09:00,10:00\n29/02/2024 09:00,11:00\n";
    let note = "`time` has no zone, so UTC is assumed; set another in `time.zone`";
    check("time=d|DD/MM/YYYY HH:mm", local, &[(3, note)]);
    check("time=d|DD/MM/YYYY HH:mm,time.zone=UTC", local, &[]);
    check("time.date=d|DD/MM/YYYY,time.time_of_day=t", "d,t\n28/02/2024,\n28/02/2024,09:00\n", &[(3, note)]);
    check("time=d|YYYY-MM-DD HH:mm Z", "d\n2024-02-28 09:00 +02:00\n", &[]);
    check("time=d|DD/MM/YYYY", "d\n28/02/2024\n", &[]);
    check("time=d|excel", "d\n45351\n45350.5\n", &[(3, note)]);
    check("time=d|unix", "d\n1721506660\n", &[]);
    let end = "`end_time` has no zone, so UTC is assumed; set another in `end_time.zone`";
    check("time=a,end_time=d|DD/MM/YYYY HH:mm", "a,d\n2024-02-28T09:00:00Z,28/02/2024 10:00\n", &[(2, end)]);
}
