use super::*;
use std::borrow::Cow;

#[track_caller]
fn parsed(text: &str) -> Mapping {
    Mapping::parse(text).unwrap()
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    assert_eq!(Mapping::parse(text).unwrap_err().to_string(), expected, "{text}");
}

/// Fills the template of `name`. Each column holds its own name, and `none` is empty.
#[track_caller]
fn fills(template: &str, expected: Option<&str>) {
    let mapping = Mapping::parse(&format!("name={template}")).unwrap();
    let Some(Source::Columns { template, .. }) = mapping.source(Field::Name) else { panic!("no columns") };
    let text = template.fill(|name| (name != "none").then(|| Cow::Owned(name.clone())));
    assert_eq!(text.unwrap().as_deref(), expected);
}

#[test]
fn short_and_json_mappings_are_equivalent() {
    for text in [
        "time=when|unix_ms,geo.lat=Breite,name={a} ({b}),causes=parents|split:;,source=",
        " time = when |unix_ms , lat=Breite, name = {a} ({b}), causes=parents|split:;, source = ",
        r#"{"time": "when|unix_ms", "geo.lat": "Breite", "name": "{a} ({b})",
            "causes": "parents|split:;", "source": null}"#,
    ] {
        assert_eq!(parsed(text), parsed("time=when|unix_ms,lat=Breite,name={a} ({b}),causes=parents|split:;,source="));
    }
    assert!(parsed("").is_automatic());
    assert!(parsed(" {} ").is_automatic());
    assert!(!parsed("name=").is_automatic());
    assert_eq!(parsed("name=").source(Field::Name), Some(&Source::Nothing));
    assert_eq!(parsed("name=x").source(Field::Time), None);
}

#[test]
fn suffixes_determine_how_a_text_is_read() {
    let check = |text: &str, field, expected| {
        let mapping = parsed(text);
        let Some(Source::Columns { reading, .. }) = mapping.source(field) else { panic!("{text}") };
        assert_eq!(*reading, expected, "{text}");
    };
    check("time=a", Field::Time, Reading::Default);
    check("time=a|unix", Field::Time, Reading::Unix(UnixUnit::Seconds));
    check("time={a|b}|unix_ms", Field::Time, Reading::Unix(UnixUnit::Millis));
    check("end_time=a|unix_us", Field::EndTime, Reading::Unix(UnixUnit::Micros));
    check("time={a} + {b}m|sum", Field::Time, Reading::Sum);
    check("asserts={a}/b/{c}|split:/", Field::Asserts, Reading::SplitAt("/".to_owned()));
    check("causes=a|split", Field::Causes, Reading::SplitAtBlanks);
    check("actors=a|split:;", Field::Actors, Reading::SplitAt(";".to_owned()));
    check("actors=a|split:|", Field::Actors, Reading::SplitAt("|".to_owned()));
    check(r#"{"actors": "a|split:, "}"#, Field::Actors, Reading::SplitAt(",".to_owned()));
    check(r#"{"actors": "a|split: and "}"#, Field::Actors, Reading::SplitAt(" and".to_owned()));
}

#[test]
fn templates_are_filled_from_columns() {
    fills("a", Some("a"));
    fills(" a b ", Some("a b"));
    fills("{a}", Some("a"));
    fills("{ a }", Some("a"));
    fills("{a} ({b})", Some("a (b)"));
    fills("{a}{b}", Some("ab"));
    fills("{{{a}}} {{", Some("{a} {"));
    fills("{a|b}", Some("a|b"));
    fills("{a} {none}", Some("a"));
    fills("none", None);
    fills("{none}", None);
    fills("x{none}y{none}", None);
}

#[test]
fn template_text_is_limited() {
    let template = |columns: usize| Template::parse(Field::Name, &"{a}".repeat(columns));
    assert!(template(TEMPLATE_COLUMNS_MAX).is_ok());
    assert_eq!(template(TEMPLATE_COLUMNS_MAX + 1), Err(MappingError::ColumnsTooMany { field: "name" }));
    let bytes = crate::limits::TEMPLATE_TEXT_BYTES_MAX;
    let fill = |bytes: usize| template(2).unwrap().fill(|_| Some(Cow::Owned("x".repeat(bytes / 2))));
    assert_eq!(fill(bytes).unwrap().unwrap().len(), bytes);
    assert!(fill(bytes + 2).is_err());
}

#[test]
fn invalid_mapping_is_rejected() {
    refused("tiem=a", "`tiem` is not a field that can be mapped; did you mean `time`?");
    refused(
        "xyz=a",
        "`xyz` is not a field that can be mapped; the fields are `event_id`, `time`, `end_time`, \
         `precision`, `description`, `name`, `location`, `lat`, `lon`, `radius_m`, `geo`, `causes`, \
         `actors`, `source`, `kind`, `asserts`, `sequence`, `attributes`",
    );
    refused(
        "time=a,name",
        "`name` is not `field=column`; values with commas need the JSON form, such as `{\"name\": \"a, b\"}`",
    );
    refused("lat=a,geo.lat=b", "`lat` is mapped twice; map it once");
    refused(r#"{"lat": "a", "geo.lat": "b"}"#, "`lat` is mapped twice; map it once");
    refused(
        "time=a|hours",
        "`|hours` does not apply to `time`; times take `|unix`, `|unix_ms`, `|unix_us`, `|unix_ns`, `|excel`, `|sum`, or a \
         pattern such as `|DD/MM/YYYY HH:mm` or `|%d/%m/%Y %H:%M`",
    );
    refused("causes=a|split:", "`|split:` does not apply to `causes`; lists take `|split` and `|split:<separator>`");
    refused("name=a|split", "`|split` does not apply to `name`; only times, lists and `geo` take a suffix");
    let single = "the template of `name` has a single brace; write `{column}` for a column, and \
                  `{{` or `}}` for a brace";
    refused("name={a", single);
    refused("name=a}", single);
    refused("name={a} }", single);
    let missing = "the value of `name` has no column; write `{column}` or `column`";
    refused("name={}", missing);
    refused("name={{a}}", missing);
    refused("time=|unix", "the value of `time` has no column; write `{column}` or `column`");
    refused(r#"{"time": 1}"#, "the value of `time` is the name of a column, or a template: a text in quotation marks");
    refused(r#"{"time": {}}"#, "the value of `time` is the name of a column, or a template: a text in quotation marks");
    for no_object in ["{", "{time=a}"] {
        let error = Mapping::parse(no_object).unwrap_err();
        assert!(matches!(error, MappingError::NotAnObject { .. }), "{no_object}: {error}");
    }
}

#[test]
fn times_places_and_tables_are_mapped_in_parts() {
    for text in [
        "time.year=y,time.month=m,time.zone=Europe/Paris,time.year_numbering=astronomical,geo.lat=a,geo.lon=b,\
         delimiter=;,skip_lines=2,missing=NA|-,missing.y=0,comment=#,columns=y|m|a|b",
        r##"{"time": {"year": "y", "month": "m", "zone": "Europe/Paris", "year_numbering": "astronomical"},
             "geo": {"lat": "a", "lon": "b"}, "delimiter": "semicolon", "skip_lines": 2, "comment": "#",
             "missing": {"*": ["NA", "-"], "y": 0}, "columns": ["y", "m", "a", "b"]}"##,
    ] {
        let mapping = parsed(text);
        let time = mapping.time(Field::Time).unwrap();
        assert_eq!(time.parts.iter().map(|source| source.part).collect::<Vec<_>>(), [TimePart::Year, TimePart::Month]);
        assert_eq!(time.rules.zone.as_ref().unwrap().name(), "Europe/Paris");
        assert_eq!(time.rules.numbering, YearNumbering::Astronomical);
        let table = mapping.table();
        assert_eq!((table.delimiter, table.skip_lines), (Some(Delimiter::Byte(b';')), 2));
        let missing = ["NA", "-", "0", "0.0", "00", "1"].map(|text| mapping.missing().includes("y", text));
        assert_eq!(missing, [true, true, true, true, true, false]);
        assert!(!mapping.missing().includes("m", "0"));
    }
    refused(
        "time.yeer=y",
        "`time.yeer` cannot be `y`: a time has `year`, `month`, `day`, `hour`, `minute`, `second`, \
                            `date`, `time_of_day`, `column`, `zone` and `year_numbering`",
    );
    refused("time.month=m", "`time.year`: a time in parts has a `year` or a `date`");
    refused("time.date=d,time.month=m", "`time.month`: `date` already sets it");
    refused("time=t,time.year=y", "`time` is mapped as a whole and in parts; map it one way");
    refused(
        "time.zone=Mars",
        "`time.zone` cannot be `Mars`: a zone must be `UTC` or an IANA name, such as `Europe/Paris`",
    );
    refused("time.year=y|YYYY", {
        "`time.year` cannot be `y|YYYY`: a year takes `|YY`, if it has two digits, and no other pattern"
    });
    refused("time.month=m|MM", {
        "`time.month` cannot be `m|MM`: only `date`, `time_of_day` and `year` take a pattern after `|`"
    });
    refused("encoding=utf-16", {
        "`encoding` cannot be `utf-16`: it must be `utf-8` or `windows-1252`; save files in another encoding as UTF-8"
    });
    refused("geo.missing=0", {
        "`geo.missing` cannot be `0`: it must be a latitude and a longitude that mean an unknown place, such as `0,0`, \
         or a list of them"
    });
    refused("delimiter=xy", {
        "`delimiter` cannot be `xy`: columns must be separated by one ASCII character, or `comma`, `tab`, `semicolon`, \
         `pipe`, `space` or `blanks` (any number of them)"
    });
    refused("skip_lines=-1", "`skip_lines` cannot be `-1`: it must be a number of rows");
    refused(r#"{"columns": {"a": "8-1"}}"#, {
        "`columns` cannot be `{\"a\":\"8-1\"}`: columns must be a list of names, or an object of names and positions, \
         such as \
         `{\"date\": \"1-8\"}`"
    });
    refused("delimeter=;", "`delimeter` is not a field that can be mapped; did you mean `delimiter`?");
}

#[test]
fn mapping_length_is_limited() {
    let text = |bytes: usize| format!("name={}", "x".repeat(bytes - "name=".len()));
    assert!(Mapping::parse(&text(MAPPING_BYTES_MAX)).is_ok());
    assert_eq!(Mapping::parse(&text(MAPPING_BYTES_MAX + 1)), Err(MappingError::TooLong));
}

proptest::proptest! {
    #[test]
    fn parsing_arbitrary_mappings_does_not_panic(text in "(\\PC|[{}|=,\":a ]){0,40}") {
        let _ = Mapping::parse(&text);
        let _ = Mapping::parse(&format!("name={text}"));
    }
}
