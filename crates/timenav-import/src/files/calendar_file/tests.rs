use crate::limits::{CALENDAR_BYTES_MAX, CALENDAR_DEPTH_MAX, RECORD_BYTES_MAX};
use crate::tests::{check, check_detail, item_text, items};
use crate::{Format, ImportError};

fn calendar(events: &[&str]) -> String {
    let event = |lines: &&str| format!("BEGIN:VEVENT\n{lines}\nEND:VEVENT\n");
    let events: Vec<String> = events.iter().map(event).collect();
    format!("BEGIN:VCALENDAR\nVERSION:2.0\n{}END:VCALENDAR\n", events.concat())
}

/// Checks a single event, which begins in line 3.
#[track_caller]
fn check_event(lines: &str, expected: &str) {
    check(Format::ICalendar, "", &calendar(&[lines]), &[&format!("3 {expected}")]);
}

#[test]
fn calendar_event_properties_are_imported() {
    let least = r#"a@b {"kind":"scheduled","time":"2024-07-20T20:17:40Z"}"#;
    check_event("UID:a@b\nDTSTART:20240720T201740Z", least);
    let placed = r#"a {"geo":{"lat":41.9,"lon":12.5},"kind":"scheduled","time":"2024-07-20T20:17:40Z"}"#;
    check_event("UID:a\nDTSTART:20240720T201740Z\nGEO:41.9\\;12.5", placed);
    let lines = concat!(
        "UID:1\nDTSTAMP:20240101T000000Z\nDTSTART:20240720T100000Z\nDTEND:20240720T110000Z\nSUMMARY:Lunch\\, late\n",
        "DESCRIPTION:Line 1\\nLine\n  2\nLOCATION:Rome\nGEO:41.9;12.5\nSTATUS:CONFIRMED\nCATEGORIES:A\\,B,C\n",
        "ORGANIZER;CN=Ann:mailto:ann@example.com\nATTENDEE:MAILTO:bob@example.com\nATTENDEE;CN=\"Cy\":invalid:nomail\n",
        "RELATED-TO;RELTYPE=DEPENDS-ON:0\nRELATED-TO:x y\nRELATED-TO;RELTYPE=SIBLING:s\nX-TIMENAV-KIND:predicted\n",
        "RRULE:FREQ=DAILY;COUNT=3\nSEQUENCE:2\nBEGIN:VALARM\nDESCRIPTION:no\nEND:VALARM",
    );
    check_event(lines, {
        concat!(
            r#"1 {"actors":["Ann","bob@example.com","Cy"],"attributes":{"attendee":"MAILTO:bob@example.com","#,
            r#""categories":["A,B","C"],"dtstamp":"20240101T000000Z","#,
            r#""organizer":{"parameters":{"cn":"Ann"},"value":"mailto:ann@example.com"},"#,
            r#""related-to":{"parameters":{"reltype":"SIBLING"},"value":"s"},"rrule":"FREQ=DAILY;COUNT=3","#,
            r#""sequence":"2","status":"CONFIRMED"},"causes":[{"event_id":"0","kind":"requires"},"#,
            r#"{"event_id":"sha256-887fcea6a80333c6c02ae7e79735f0ed","kind":"contributes"}],"#,
            r#""description":"Line 1\nLine 2","end_time":"2024-07-20T11:00:00Z","geo":{"lat":41.9,"lon":12.5},"#,
            r#""kind":"predicted","location":"Rome","name":"Lunch, late","time":"2024-07-20T10:00:00Z"}"#,
        )
    });
}

#[test]
fn recurring_event_is_noted() {
    let noted = |lines: &str| {
        let (items, outcome) = items(Format::ICalendar, "", calendar(&[lines]).as_bytes());
        outcome.unwrap();
        items[0].notes.first().map(|note| note.code)
    };
    let once = "UID:1\nDTSTART:20240720T100000Z";
    assert_eq!(noted(once), None);
    for repeats in ["RRULE:FREQ=DAILY", "rrule:FREQ=DAILY;COUNT=1", "RDATE;VALUE=DATE:20240721", "RRULE:nonsense"] {
        assert_eq!(noted(&format!("{once}\n{repeats}")), Some("recurrence_kept"), "{repeats}");
    }
    for other in ["EXDATE:20240721T100000Z", "RECURRENCE-ID:20240720T090000Z", "SUMMARY:RRULE"] {
        assert_eq!(noted(&format!("{once}\n{other}")), None, "{other}");
    }
    assert_eq!(noted("UID:1\nRRULE:FREQ=DAILY"), None);
}

#[test]
fn calendar_times_are_read_with_zone_and_precision() {
    check_event("DTSTART;VALUE=DATE:20240720\nDTEND;VALUE=DATE:20240722", {
        r#"- {"end_time":"2024-07-22T00:00:00Z","kind":"scheduled","precision":"day","time":"2024-07-20T00:00:00Z"}"#
    });
    check_event("DTSTART:20240720T100000", {
        r#"- {"attributes":{"time_is_floating":true},"kind":"scheduled","time":"2024-07-20T10:00:00Z"}"#
    });
    check_event("DTSTART;TZID=Europe/Vienna:20240720T100000\nDURATION:PT1H30M", {
        concat!(
            r#"- {"attributes":{"time_zone":"Europe/Vienna"},"end_time":"2024-07-20T09:30:00Z","kind":"scheduled","#,
            r#""time":"2024-07-20T08:00:00Z"}"#,
        )
    });
    // A day has 23 hours when clocks go forward, but PT24H is always 24 hours.
    for (duration, end) in [("P1D", "2024-03-31T10:00:00Z"), ("PT24H", "2024-03-31T11:00:00Z")] {
        let expected = format!(
            r#"- {{"attributes":{{"time_zone":"Europe/Vienna"}},"end_time":"{end}","kind":"scheduled","time":"2024-03-30T11:00:00Z"}}"#
        );
        check_event(&format!("DTSTART;TZID=Europe/Vienna:20240330T120000\nDURATION:{duration}"), &expected);
    }
}

#[test]
fn zone_may_be_defined_after_the_event() {
    let zone = "BEGIN:VTIMEZONE\r\nTZID:Moon\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0200\r\n\
        TZOFFSETTO:+0200\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n";
    let event = "BEGIN:VEVENT\r\nUID:a\r\nDTSTART;TZID=Moon:20240720T100000\r\nEND:VEVENT\r\n";
    let expected = r#"a {"attributes":{"time_zone":"Moon"},"kind":"scheduled","time":"2024-07-20T08:00:00Z"}"#;
    let file = format!("BEGIN:VCALENDAR\r\n{event}{zone}END:VCALENDAR\r\n");
    check(Format::ICalendar, "", &file, &[&format!("2 {expected}")]);
    let file = format!("BEGIN:VCALENDAR\r\n{zone}{event}END:VCALENDAR\r\n");
    check(Format::ICalendar, "", &file, &[&format!("10 {expected}")]);
    // A zone is not shared with another calendar.
    let other = format!("BEGIN:VCALENDAR\r\n{event}END:VCALENDAR\r\n");
    check(
        Format::ICalendar,
        "",
        &format!("{file}{other}"),
        &[&format!("10 {expected}"), "16 invalid_parameter dtstart"],
    );
    // Nor with an event outside a calendar.
    check(
        Format::ICalendar,
        "",
        &event.replace("Moon", "Europe/Rome"),
        &[r#"1 a {"attributes":{"time_zone":"Europe/Rome"},"kind":"scheduled","time":"2024-07-20T08:00:00Z"}"#],
    );
}

#[test]
fn changed_occurrences_are_separate_events() {
    let uid = "UID:meeting\nDTSTART:20240720T100000Z";
    let changed = format!("{uid}\nRECURRENCE-ID:20240727T100000Z");
    let (items, outcome) =
        items(Format::ICalendar, "", calendar(&[uid, &changed, "UID:a b\nDTSTART:20240720"]).as_bytes());
    outcome.unwrap();
    let ids: Vec<&str> =
        items.iter().map(|item| item.event.as_ref().unwrap().event_id.as_ref().unwrap().as_str()).collect();
    assert_eq!(ids[..2], ["meeting", "meeting:2024-07-27T10:00:00Z"]);
    assert!(ids[2].starts_with("sha256-"));
    let attributes = |index: usize| items[index].event.as_ref().unwrap().attributes.clone();
    assert_eq!(attributes(1).unwrap(), r#"{"recurrence-id":"2024-07-27T10:00:00Z","uid":"meeting"}"#);
    assert_eq!(attributes(2).unwrap(), r#"{"uid":"a b"}"#);
}

#[test]
fn invalid_event_is_rejected_alone() {
    let right = "UID:right\nDTSTART:20240720";
    for (wrong, expected) in [
        ("UID:a", "missing_parameter dtstart"),
        ("DTSTART:tomorrow", "invalid_parameter dtstart"),
        ("DTSTART;TZID=Middle Earth:20240720T100000", "invalid_parameter dtstart"),
        ("UID:a\nDTSTART:20240720\nRECURRENCE-ID:x", "invalid_parameter recurrence-id"),
        ("DTSTART;;VALUE=DATE:20240720", "missing_parameter dtstart"),
        ("DTSTART:20240720\nBEGIN:VALARM", "malformed_calendar"),
    ] {
        let (items, outcome) = items(Format::ICalendar, "", calendar(&[wrong, right]).as_bytes());
        outcome.unwrap();
        let found = item_text(&items[0]);
        assert_eq!(found.trim_end_matches(" -"), format!("3 {expected}"), "{wrong}");
        assert!(items[1].event.is_ok(), "{wrong}");
    }
    check_detail(Format::ICalendar, "", &calendar(&["DTSTART;;VALUE=DATE:20240720"]), {
        "the event does not say when it starts; line 4 is skipped: a parameter must be a name, `=` and a value"
    });
}

#[test]
fn invalid_line_is_skipped_alone() {
    let event = r#"e {"kind":"scheduled","precision":"day","time":"2024-07-20T00:00:00Z"}"#;
    let long = format!("X-LONG:{}", "x".repeat(RECORD_BYTES_MAX));
    for (bad, expected) in [
        ("no colon", "a line must be a name, a colon and a value"),
        ("DTSTART:20240721", "`DTSTART` is given twice"),
        ("DTEND:x", "write a time like `20240720T201740Z`, a date like `20240720`"),
        ("DTEND:20240719", "the event would end before it begins"),
        ("DURATION:1h", "write a duration like `P1DT2H30M`"),
        ("DURATION:P9999999D", "the event ends outside the years -9999 to 9999"),
        ("DURATION:-P1D", "the event would end before it begins"),
        ("GEO:1,2", "write a place as degrees north, `;`, degrees east"),
        ("GEO:91;2", "a latitude must be from -90 to 90 degrees, not 91"),
        ("GEO:nan;2", "write a place as degrees north, `;`, degrees east"),
        ("END:VALARM", "`END:VALARM` has no matching `BEGIN`"),
        ("BEGIN: ", "`BEGIN` must name a component"),
        (long.as_str(), "a line can have at most 1048576 bytes"),
    ] {
        let file = calendar(&[&format!("UID:e\nDTSTART:20240720\n{bad}")]);
        let (items, outcome) = items(Format::ICalendar, "", file.as_bytes());
        outcome.unwrap();
        assert_eq!(items.iter().map(item_text).collect::<Vec<_>>(), [format!("3 {event}")], "{bad:.40}");
        let notes: Vec<(&str, &str)> = items[0].notes.iter().map(|note| (note.code, &*note.detail)).collect();
        assert_eq!(notes, [("line_left_out", format!("line 6 is skipped: {expected}").as_str())], "{bad:.40}");
    }
    let file = calendar(&["UID:e\nDTSTART:20240720\nDTEND:20240720\nDURATION:P1D"]);
    let (read, _) = items(Format::ICalendar, "", file.as_bytes());
    assert_eq!(&*read[0].notes[0].detail, "line 7 is skipped: an event can have an end or a duration, not both");
    assert!(read[0].event.as_ref().unwrap().end_time.is_some());
    let (items, outcome) =
        items(Format::ICalendar, "", b"BEGIN:VEVENT\nUID:e\nDTSTART:20240720\nSUMMARY:\xFF\nEND:VEVENT\n");
    outcome.unwrap();
    assert_eq!(item_text(&items[0]), format!("1 {event}"));
    assert_eq!(items[0].notes.len(), 1);
}

#[test]
fn actors_and_causes_per_event_are_limited() {
    let of = |line: fn(usize) -> String, count: usize| {
        let lines: Vec<String> = (0..count).map(line).collect();
        let (items, _) =
            items(Format::ICalendar, "", calendar(&[&format!("DTSTART:20240720\n{}", lines.join("\n"))]).as_bytes());
        items[0].event.clone().map_err(|error| error.field.unwrap())
    };
    let related = |number: usize| format!("RELATED-TO:{number}");
    let attending = |number: usize| format!("ATTENDEE;CN={number}:invalid:nomail");
    assert!(of(related, 256).is_ok() && of(attending, 256).is_ok());
    assert_eq!(of(related, 257).unwrap_err(), "causes");
    assert_eq!(of(attending, 5_000).unwrap_err(), "actors");
}

#[test]
fn wrong_nesting_is_reported() {
    // The end of the calendar also ends an open event.
    let open = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20240720\nEND:VCALENDAR\n";
    check(Format::ICalendar, "", open, &["2 malformed_calendar -"]);
    check_detail(Format::ICalendar, "", open, "`BEGIN:VEVENT` in line 2 has no matching `END`");
    let stray = "BEGIN:VCALENDAR\nEND:VEVENT\nBEGIN:VEVENT\nUID:a\nDTSTART:20240720T000000Z\nEND:VEVENT\nX\nEND:VCALENDAR\nEND:X\nA:b\n";
    check(
        Format::ICalendar,
        "",
        stray,
        &[
            "2 malformed_calendar -",
            r#"3 a {"kind":"scheduled","time":"2024-07-20T00:00:00Z"}"#,
            "7 malformed_calendar -",
            "9 malformed_calendar -",
            "10 malformed_calendar -",
        ],
    );
    let ends = |file: &str| {
        let (items, outcome) = items(Format::ICalendar, "", file.as_bytes());
        let error = outcome.unwrap_err();
        (error.line(), items.len(), error.to_string())
    };
    // Complete events of a truncated calendar are imported.
    assert_eq!(ends("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20240720\nEND:VEVENT\nBEGIN:VEVENT\n"), {
        (1, 1, "this is not icalendar: `BEGIN:VCALENDAR` has no matching `END`".to_owned())
    });
    let no_calendar = "this is not icalendar: a calendar must start with `BEGIN:VCALENDAR`";
    assert_eq!(ends("\n<html>\n"), (2, 0, no_calendar.to_owned()));
    assert_eq!(ends("BEGIN: \n"), (1, 0, no_calendar.to_owned()));
    assert_eq!(ends("BEGIN:A B\n").0, 1);
    assert_eq!(ends("END:VCALENDAR\n").0, 1);
    let deep = |depth: usize| format!("{}{}", "BEGIN:X\n".repeat(depth), "END:X\n".repeat(depth));
    check(Format::ICalendar, "", &deep(CALENDAR_DEPTH_MAX), &[]);
    assert_eq!(ends(&deep(CALENDAR_DEPTH_MAX + 1)).0, CALENDAR_DEPTH_MAX as u64 + 1);
    check(Format::ICalendar, "", "", &[]);
    check(Format::ICalendar, "", "\r\n \r\n", &[]);
}

#[test]
fn lines_events_and_calendars_have_size_limits() {
    let line = |bytes: usize| format!("BEGIN:X\nA:{}\nEND:X\n", "x".repeat(bytes - 2));
    check(Format::ICalendar, "", &line(RECORD_BYTES_MAX), &[]);
    let folded = line(RECORD_BYTES_MAX + 1).replace("xxxxEND", "\n xxxxEND");
    for file in [line(RECORD_BYTES_MAX + 1), line(3 * RECORD_BYTES_MAX), folded] {
        check(Format::ICalendar, "", &file, &["2 record_too_large -"]);
    }
    let event = calendar(&[&"A:b\n".repeat(RECORD_BYTES_MAX / 4 + 1)]);
    check(Format::ICalendar, "", &event, &["3 record_too_large -"]);
    // Events that wait for their time zone are buffered.
    let later = "BEGIN:VEVENT\nUID:later\nDTSTART;TZID=Later:20240720T100000\nEND:VEVENT\n";
    let is_too_large = |lines: &str| {
        let file = format!("BEGIN:VCALENDAR\n{later}{lines}END:VCALENDAR\n");
        let (_, outcome) = items(Format::ICalendar, "", file.as_bytes());
        matches!(
            outcome,
            Err(ImportError::PartTooLarge { what: "a calendar that names time zones before it defines them", .. })
        )
    };
    let long = format!("BEGIN:VEVENT\nDTSTART:20240720\nSUMMARY:{}\nEND:VEVENT\n", "x".repeat(1_000_000));
    assert!(is_too_large(&long.repeat(CALENDAR_BYTES_MAX / 1_000_000 + 1)));
    assert!(!is_too_large(&long.repeat(CALENDAR_BYTES_MAX / 1_000_000 - 1)));
    // Error lists are bounded too.
    assert!(is_too_large(&"x\n".repeat(CALENDAR_BYTES_MAX / 200)));
    // Other components are not buffered.
    let other = format!("BEGIN:VJOURNAL\nA:{}\nEND:VJOURNAL\n", "x".repeat(1_000_000));
    assert!(!is_too_large(&other.repeat(CALENDAR_BYTES_MAX / 1_000_000 + 1)));
}

#[test]
fn long_calendar_is_read_event_by_event() {
    let zone = "BEGIN:VTIMEZONE\nTZID:Moon\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0200\n\
        END:STANDARD\nEND:VTIMEZONE\n";
    let event = |start: &str, uid: usize| format!("BEGIN:VEVENT\nUID:{uid}\n{start}\nSUMMARY:e{uid}\nEND:VEVENT\n");
    let count = CALENDAR_BYTES_MAX / 100;
    for (zone, start) in [("", "DTSTART:20240720"), (zone, "DTSTART;TZID=Moon:20240720T100000")] {
        let events: String = (0..count).map(|uid| event(start, uid)).collect();
        let file = format!("BEGIN:VCALENDAR\n{zone}{events}END:VCALENDAR\n");
        let mut ids = Vec::new();
        crate::read(Format::ICalendar, &crate::Mapping::default(), file.as_bytes(), &mut |item| {
            ids.push(item.event.unwrap().event_id.unwrap().to_string());
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
        assert!(ids.into_iter().eq((0..count).map(|uid| uid.to_string())));
    }
    // Events keep the order of the file even if a zone is defined later.
    let mixed =
        [event("DTSTART:20240720", 1), event("DTSTART;TZID=Moon:20240720T100000", 2), event("DTSTART:20240721", 3)];
    let file = format!("BEGIN:VCALENDAR\n{}{zone}{}END:VCALENDAR\n", mixed.concat(), event("DTSTART:20240720", 4));
    let (read, outcome) = items(Format::ICalendar, "", file.as_bytes());
    outcome.unwrap();
    let ids: Vec<String> =
        read.iter().map(|item| item.event.as_ref().unwrap().event_id.as_ref().unwrap().to_string()).collect();
    assert_eq!(ids, ["1", "2", "3", "4"]);
}

#[test]
fn waiting_event_is_read_again_only_for_its_own_zone() {
    // Searching a million bytes for each zone would take minutes.
    let long = "ATTENDEE:mailto:a@example.org\n".repeat(30_000);
    let event = format!("BEGIN:VEVENT\nUID:w\nDTSTART;TZID=Later:20240720T100000\n{long}END:VEVENT\n");
    let others = "BEGIN:VTIMEZONE\nEND:VTIMEZONE\n".repeat(100_000);
    let zone = "BEGIN:VTIMEZONE\nTZID:Later\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0200\n\
        TZOFFSETTO:+0200\nEND:STANDARD\nEND:VTIMEZONE\n";
    let file = format!("BEGIN:VCALENDAR\n{event}{others}{zone}END:VCALENDAR\n");
    let (items, outcome) = items(Format::ICalendar, "", file.as_bytes());
    outcome.unwrap();
    let reason = items[0].event.as_ref().unwrap_err();
    assert_eq!((items.len(), reason.field.as_deref()), (1, Some("attributes")), "the event has too many lines");
}

#[test]
fn time_outside_the_listed_changes_is_noted_once() {
    let zone = |name: &str| {
        format!(
            "BEGIN:VTIMEZONE\nTZID:{name}\nBEGIN:DAYLIGHT\nDTSTART:20250330T020000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\n\
            END:DAYLIGHT\nEND:VTIMEZONE\n"
        )
    };
    let read = |name: &str| {
        let event = format!("UID:w\nDTSTART;TZID={name}:20251201T100000\nDTEND;TZID={name}:20251201T110000");
        let file = format!("BEGIN:VCALENDAR\n{}BEGIN:VEVENT\n{event}\nEND:VEVENT\nEND:VCALENDAR\n", zone(name));
        let (items, outcome) = items(Format::ICalendar, "", file.as_bytes());
        outcome.unwrap();
        let notes: Vec<String> = items[0].notes.iter().map(|note| format!("{} {}", note.code, note.detail)).collect();
        (items[0].event.as_ref().unwrap().time.to_string(), notes)
    };
    assert_eq!(read("Europe/Paris"), ("2025-12-01T09:00:00Z".to_owned(), vec![]));
    let note = "offset_assumed the VTIMEZONE `Our Zone` does not say which offset 2025-12-01T10:00:00 has; +02:00, the \
        nearest that it lists, is assumed";
    assert_eq!(read("Our Zone"), ("2025-12-01T08:00:00Z".to_owned(), vec![note.to_owned()]));
}

#[test]
fn zone_name_with_a_colon_needs_no_quotes() {
    let zone = "BEGIN:VTIMEZONE\nTZID:GMT+05:30\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0530\n\
        TZOFFSETTO:+0530\nEND:STANDARD\nEND:VTIMEZONE\n";
    let event = "BEGIN:VEVENT\nUID:a\nDTSTART;TZID=GMT+05:30:20120904T020000\nEND:VEVENT\n";
    check(
        Format::ICalendar,
        "",
        &format!("BEGIN:VCALENDAR\n{zone}{event}END:VCALENDAR\n"),
        &[r#"10 a {"attributes":{"time_zone":"GMT+05:30"},"kind":"scheduled","time":"2012-09-03T20:30:00Z"}"#],
    );
}

#[test]
fn long_summary_is_the_description() {
    let long = "x".repeat(257);
    let day = r#""kind":"scheduled","precision":"day","time":"2024-07-20T00:00:00Z""#;
    let expected = format!(r#"a {{"description":"{long}",{day}}}"#);
    check_event(&format!("UID:a\nDTSTART:20240720\nSUMMARY:{long}"), &expected);
    let expected = format!(r#"a {{"attributes":{{"summary":"{long}"}},"description":"d",{day}}}"#);
    check_event(&format!("UID:a\nDTSTART:20240720\nSUMMARY:{long}\nDESCRIPTION:d"), &expected);
}
