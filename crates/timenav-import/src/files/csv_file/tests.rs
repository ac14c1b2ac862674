use super::*;
use crate::Format;
use crate::limits::{CSV_COLUMNS_MAX, RECORD_BYTES_MAX};
use crate::tests::items;

const T: &str = "2024-07-20T20:17:40Z";

#[track_caller]
fn check(map: &str, file: &str, expected: &[&str]) {
    let file = file.replace("$T", T);
    let expected: Vec<String> = expected.iter().map(|line| line.replace("$T", T)).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    crate::tests::check(Format::Csv, map, &file, &expected);
}

#[track_caller]
fn check_detail(map: &str, file: &str, expected: &str) {
    crate::tests::check_detail(Format::Csv, map, &file.replace("$T", T), expected);
}

#[test]
fn columns_are_recognized_by_name() {
    check(
        "",
        "id,Timestamp,end_time,precision,description,name,place,latitude,lng,radius_m,causes,actors,source\n\
         e,$T,2024-07-20T21:00:00Z,day,d,n,p,1.50,-2,3,a b;c,x y; z,s\n",
        &[concat!(
            r#"1 e {"actors":["x y","z"],"causes":[{"event_id":"a","kind":"requires"},"#,
            r#"{"event_id":"b","kind":"requires"},{"event_id":"c","kind":"requires"}],"#,
            r#""description":"d","end_time":"2024-07-20T21:00:00Z","#,
            r#""geo":{"lat":1.5,"lon":-2,"radius_m":3},"location":"p","name":"n","#,
            r#""precision":"day","source":"s","time":"$T"}"#,
        )
        .replacen('1', "2", 1)
        .as_str()],
    );
    check(
        "",
        "timestamp,time,id,event_id\nx,$T,i,e\n",
        &[r#"2 e {"attributes":{"id":"i","timestamp":"x"},"time":"$T"}"#],
    );
}

#[test]
fn other_columns_become_attributes_verbatim() {
    let file = "time,b,a,é,\u{1F600},\u{FB33}\n$T, 007 ,\"x \"\"y\"\"\n\",1,2,3\n$T,,,,,\n$T,  ,,,,\n";
    let names_sorted = "2 - {\"attributes\":{\"a\":\"x \\\"y\\\"\\n\",\"b\":\" 007 \",\"é\":\"1\",\
                        \"\u{1F600}\":\"2\",\"\u{FB33}\":\"3\"},\"time\":\"$T\"}";
    check("", file, &[names_sorted, r#"4 - {"time":"$T"}"#, r#"5 - {"time":"$T"}"#]);
    check(
        "",
        "time,a,a,,a_2\n$T,1,2,3,4\n",
        &[r#"2 - {"attributes":{"a":"1","a_2":"2","a_2_2":"4","column_4":"3"},"time":"$T"}"#],
    );
}

#[test]
fn mapping_assigns_columns_to_fields() {
    check(
        "time=when|unix,event_id={a}:{b},name=,description={a} ({b})",
        "when,a,b,name\n1.5,x,y,z\n",
        &[r#"2 x:y {"attributes":{"a":"x","b":"y","name":"z"},"description":"x (y)","time":"1970-01-01T00:00:01.5Z"}"#],
    );
    check(
        "time={day}T{hour}:00Z",
        "day,hour\n2024-07-20,20\n2024-07-20,\n,\n",
        &[
            r#"2 - {"attributes":{"day":"2024-07-20","hour":"20"},"time":"2024-07-20T20:00:00Z"}"#,
            "3 invalid_parameter time",
            "4 missing_parameter time",
        ],
    );
    check(
        "causes=parents|split,actors=who|split:+",
        "time,parents,who\n$T,a  b,x+y z+\n",
        &[concat!(
            r#"2 - {"actors":["x","y z"],"causes":[{"event_id":"a","kind":"requires"},"#,
            r#"{"event_id":"b","kind":"requires"}],"time":"$T"}"#,
        )],
    );
    check("name=who,actors=who", "time,who\n$T,x\n", &[r#"2 - {"actors":["x"],"name":"x","time":"$T"}"#]);
    check(
        "geo.lat=y,geo.lon=x",
        "time,x,y,lat\n$T,1,2,3\n",
        &[r#"2 - {"attributes":{"lat":"3"},"geo":{"lat":2,"lon":1},"time":"$T"}"#],
    );
}

#[test]
fn durations_are_added_to_times() {
    check(
        "time={hour} + {minute}m + {late}m|sum,end_time={hour} + {minute}m + {late}m + {lasts}|sum",
        "hour,minute,late,lasts\n\
         2024-07-20T20:00:00Z,15,-20,1.5h\n\
         2024-07-20T20:00:00Z,0,0.5,P1M\n\
         2024-07-20T20:00:00Z,15,,1h\n\
         2024-07-20T20:00:00Z,15,NA,1h\n\
         soon,15,0,1h\n\
         +009999-12-31T23:59:59Z,15,0,1h\n",
        &[
            concat!(
                r#"2 - {"attributes":{"hour":"2024-07-20T20:00:00Z","lasts":"1.5h","late":"-20","minute":"15"},"#,
                r#""end_time":"2024-07-20T21:25:00Z","time":"2024-07-20T19:55:00Z"}"#
            ),
            concat!(
                r#"3 - {"attributes":{"hour":"2024-07-20T20:00:00Z","lasts":"P1M","late":"0.5","minute":"0"},"#,
                r#""end_time":"2024-08-20T20:00:30Z","time":"2024-07-20T20:00:30Z"}"#
            ),
            "4 invalid_parameter time",
            "5 invalid_parameter time",
            "6 invalid_parameter time",
            "7 time_out_of_range time",
        ],
    );
}

#[test]
fn columns_form_an_assertion() {
    let open = r#""asserts":[{"predicate":"is","subject":"door","value":"open"}]"#;
    let asserted =
        |line: u64, attributes: &str| format!(r#"{line} - {{{open},"attributes":{attributes},"time":"$T"}}"#);
    check(
        "asserts={a}/is/{b}|split:/",
        "time,a,b\n$T,door,open\n$T,door,\n$T,,open\n$T,,\n$T,a/b,open\n",
        &[
            &asserted(2, r#"{"a":"door","b":"open"}"#),
            r#"3 - {"attributes":{"a":"door"},"time":"$T"}"#,
            r#"4 - {"attributes":{"b":"open"},"time":"$T"}"#,
            r#"5 - {"time":"$T"}"#,
            "6 invalid_parameter asserts",
        ],
    );
    check(
        "asserts=said|split",
        "time,said,asserts\n$T,door is open,x\n$T,door is,\n",
        &[&asserted(2, r#"{"asserts":"x"}"#), "3 invalid_parameter asserts"],
    );
}

#[test]
fn invalid_cell_rejects_only_its_row() {
    check(
        "",
        "time,lat,lon,radius_m,id,precision,causes\n\
         soon,1,2,,,,\n\
         ,1,2,,,,\n\
         $T,x,2,,,,\n\
         $T,1,,,,,\n\
         $T,,2,,,,\n\
         $T,,,5,,,\n\
         $T,91,0,,,,\n\
         $T,nan,0,,,,\n\
         $T,0,inf,,,,\n\
         $T,1,2,-1,,,\n\
         $T,,,,a b,,\n\
         $T,,,,,week,\n\
         $T,,,,,,a b/\n\
         $T,,,,,,a a\n\
         $T,,,,,,\n",
        &[
            "2 invalid_parameter time",
            "3 missing_parameter time",
            "4 invalid_parameter geo/lat",
            "5 missing_parameter geo/lon",
            "6 missing_parameter geo/lat",
            "7 missing_parameter geo/lat",
            "8 invalid_parameter geo/lat",
            "9 invalid_parameter geo/lat",
            "10 invalid_parameter geo/lon",
            "11 invalid_parameter geo/radius_m",
            "12 invalid_parameter event_id",
            "13 invalid_parameter precision",
            "14 invalid_parameter causes/1",
            "15 invalid_parameter causes/1",
            r#"16 - {"time":"$T"}"#,
        ],
    );
}

#[test]
fn rows_that_do_not_match_the_header_are_rejected() {
    check(
        "",
        "time,a\n$T\n$T,1,2\n$T,1\n",
        &["2 malformed_csv -", "3 malformed_csv -", r#"4 - {"attributes":{"a":"1"},"time":"$T"}"#],
    );
    check_detail("", "time,a\n$T,1,2\n", "the row has 3 fields, but the first row has 2");
    check_detail(
        "",
        "time,a\n$T\n",
        "the row has 1 fields, but the first row has 2; if rows of this file omit empty cells at their end, set \
         `short_rows=fill` in the mapping",
    );
    check(
        "short_rows=fill",
        "time,a,b\n$T\n$T,1\n$T,1,2,3\n",
        &[r#"2 - {"time":"$T"}"#, r#"3 - {"attributes":{"a":"1"},"time":"$T"}"#, "4 malformed_csv -"],
    );
    let (items, outcome) = items(Format::Csv, "", b"time,a\n2024-07-20T20:17:40Z,\xFF\n2024-07-20T20:17:40Z,1\n");
    outcome.unwrap();
    let refused = items[0].event.as_ref().unwrap_err();
    assert_eq!(refused.detail, "field 2 is not UTF-8; save the file in that encoding");
    assert!(items[1].event.is_ok());
}

#[test]
fn line_numbers_match_the_file() {
    for end in ["\n", "\r\n", "\r"] {
        let file =
            format!("{end}{end}\u{FEFF}time,a{end}{end}$T,1{end}$T,\"x{end}{end}y\"{end}{end}$T,2{end}{end}soon,3");
        let (items, outcome) = items(Format::Csv, "time={\u{FEFF}time}", file.replace("$T", T).as_bytes());
        outcome.unwrap();
        let lines: Vec<_> = items.iter().map(|item| (item.line, item.event.is_ok())).collect();
        assert_eq!(lines, [(5, true), (6, true), (10, true), (12, false)], "{end:?}");
    }
}

#[test]
fn byte_order_mark_and_windows_line_ends_are_accepted() {
    check("", "\u{FEFF}time,a\r\n$T,1\r\n", &[r#"2 - {"attributes":{"a":"1"},"time":"$T"}"#]);
    check("", "\"time\" , a \n$T,1", &[r#"2 - {"attributes":{"a":"1"},"time":"$T"}"#]);
}

#[test]
fn file_without_a_header_or_time_is_rejected() {
    check_detail("", "", "the file is empty; its first row names the columns");
    check_detail("", "\n\n", "the file is empty; its first row names the columns");
    let unmapped = |hint: &str| {
        format!(
            "it is not clear which column is the time of the events; name it in the mapping, as in `time=<column>` \
             for timestamps or `time=<column>|unix` for seconds since 1970 (`timenav import --guess` proposes a mapping); {hint}"
        )
    };
    check_detail("", "when,a\n$T,1\n", &unmapped("the columns are `when`, `a`"));
    check_detail("time=", "time\n$T\n", &unmapped("the columns are `time`"));
    check_detail("", "time^a\n$T^1\n", &unmapped("the columns are `time^a`"));
    let single = unmapped("the first row has a single column; set `delimiter` to what separates columns");
    check_detail("delimiter=comma", "time;a\n$T;1\n", &single);
    check_detail(
        "time=wen",
        "when,a\n$T,1\n",
        "the mapping fills `time` from the column `wen`, which the file does not have; did you mean `when`?",
    );
    check_detail(
        "name={a} {zzz}",
        "time,a\n$T,1\n",
        "the mapping fills `name` from the column `zzz`, which the file does not have; the columns are \
         `time`, `a`",
    );
    let (_, outcome) = items(Format::Csv, "", b"time,\xFF\n");
    assert!(matches!(outcome, Err(ImportError::HeaderUnreadable { line: 1, .. })));
}

#[test]
fn error_details_name_the_column() {
    check_detail(
        "time=when",
        "when\n1614136748\n",
        "column `when`: a number needs a unit to be a time; map `time` with `|unix`, `|unix_ms` or `|unix_us`, \
         or with a pattern such as `|YYYYMMDD`, or as `time.year`",
    );
    check_detail(
        "time=when|unix",
        "when\nx\n",
        "column `when`: `x` is not a number of seconds since 1970 in the years -9999 to 9999",
    );
    check_detail("", "time,lat,lon\n$T,1E,2\n", {
        "column `lat`: `1E` is not a number of degrees, such as `-33.675` or `33.675S`"
    });
    check_detail(
        "",
        "time,id\n$T,a b\n",
        "column `id`: an id can contain only letters, digits, `.`, `_`, `-`, `:` and `@`, not ` `",
    );
    check_detail("", "time,id\n,a\n", "the record does not say when it happened");
}

#[test]
fn unclosed_quotation_mark_is_reported() {
    check("", "time,a\n$T,1\n$T,\"2\n$T,3\n", &[r#"2 - {"attributes":{"a":"1"},"time":"$T"}"#, "3 malformed_csv -"]);
    check("", "time,a\n$T,\"2", &["2 malformed_csv -"]);
    check("", "time,a\n$T,\"2\"", &[r#"2 - {"attributes":{"a":"2"},"time":"$T"}"#]);
}

#[test]
fn csv_row_size_is_limited() {
    let row = |bytes: usize| format!("{T},{}", "x".repeat(bytes - T.len() - 1));
    let file = format!("time,a\n{T},1\n{}\n{}\n{T},2\n", row(RECORD_BYTES_MAX), row(RECORD_BYTES_MAX + 1));
    let (items, outcome) = items(Format::Csv, "", file.as_bytes());
    // The row is readable but exceeds the attribute limit.
    let lines: Vec<_> = items.iter().map(crate::tests::item_text).collect();
    assert_eq!(lines[1..], ["3 invalid_parameter attributes"]);
    let error = outcome.unwrap_err();
    assert!(matches!(error, ImportError::RowTooLarge { line: 4 }), "{error}");
}

#[test]
fn csv_columns_are_limited() {
    let file = |columns: usize| format!("time{}\n{T}{}\n", ",a".repeat(columns - 1), ",1".repeat(columns - 1));
    let (read, outcome) = items(Format::Csv, "", file(CSV_COLUMNS_MAX).as_bytes());
    outcome.unwrap();
    assert!(read[0].event.is_ok());
    let (read, outcome) = items(Format::Csv, "", file(CSV_COLUMNS_MAX + 1).as_bytes());
    assert!(matches!(outcome, Err(ImportError::TooManyColumns { columns: 1_025 })));
    assert!(read.is_empty());
}

#[test]
fn attributes_are_canonical_json() {
    let file = format!("time,b,a\"\\,\u{1}\n{T},\u{7f}\u{2028}\\\u{8},/\"\t\n,\u{1F}\n");
    let (items, _) = items(Format::Csv, "", file.as_bytes());
    for item in items.into_iter().filter_map(|item| item.event.ok()) {
        let attributes = item.attributes.unwrap();
        let value: serde_json::Value = serde_json::from_str(&attributes).unwrap();
        assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), attributes);
    }
}

#[test]
fn common_column_names_are_fields_if_their_values_fit() {
    let t = "2024-07-20T20:17:40Z";
    let file = format!(
        "time,kind,sequence,attributes,note\n{t},scheduled,7,\"{{\"\"b\"\": 1.0, \"\"note\"\": 2}}\",x\n{t},earthquake,last,none,x\n{t},,-1,[],\n"
    );
    crate::tests::check(
        Format::Csv,
        "",
        &file,
        &[
            &format!(r#"2 - {{"attributes":{{"b":1,"note":2}},"kind":"scheduled","sequence":7,"time":"{t}"}}"#),
            &format!(
                r#"3 - {{"attributes":{{"attributes":"none","kind":"earthquake","note":"x","sequence":"last"}},"time":"{t}"}}"#
            ),
            &format!(r#"4 - {{"attributes":{{"attributes":"[]","sequence":"-1"}},"time":"{t}"}}"#),
        ],
    );
    crate::tests::check(
        Format::Csv,
        "kind=kind,sequence=sequence",
        &file,
        &[
            &format!(r#"2 - {{"attributes":{{"b":1,"note":2}},"kind":"scheduled","sequence":7,"time":"{t}"}}"#),
            "3 invalid_parameter kind",
            "4 invalid_parameter sequence",
        ],
    );
    crate::tests::check(
        Format::Csv,
        "attributes=note",
        &file,
        &[
            "2 invalid_parameter attributes",
            "3 invalid_parameter attributes",
            &format!(r#"4 - {{"attributes":{{"attributes":"[]","sequence":"-1"}},"time":"{t}"}}"#),
        ],
    );
}

#[test]
fn lists_may_be_json_and_apostrophe_guards_are_removed() {
    let t = "2024-07-20T20:17:40Z";
    let file = format!(
        "time,causes,actors,name,a\n{t},\"[\"\"x\"\", {{\"\"event_id\"\": \"\"y\"\", \"\"kind\"\": \"\"contributes\"\"}}]\",\"[\"\"p; q\"\"]\",'=1,'-2\n\
         {t},x;y,[p;q],' z ,'tis\n{t},[x],,,\n"
    );
    crate::tests::check(
        Format::Csv,
        "",
        &file,
        &[
            &format!(
                r#"2 - {{"actors":["p; q"],"attributes":{{"a":"-2"}},"causes":[{{"event_id":"x","kind":"requires"}},{{"event_id":"y","kind":"contributes"}}],"name":"=1","time":"{t}"}}"#
            ),
            &format!(
                r#"3 - {{"actors":["[p","q]"],"attributes":{{"a":"'tis"}},"causes":[{{"event_id":"x","kind":"requires"}},{{"event_id":"y","kind":"requires"}}],"name":" z ","time":"{t}"}}"#
            ),
            "4 invalid_parameter causes",
        ],
    );
}

#[test]
fn long_integers_in_json_attributes_are_rejected() {
    let file = "time,attributes\n$T,\"{\"\"n\"\": 100000000000000000001}\"\n";
    check("", file, &["2 invalid_parameter attributes/n"]);
}
