use super::guess;
use crate::Format;
use crate::guess::roles::{DESCRIPTIONS, NAMES};

#[test]
fn text_columns_are_guessed_by_common_names() {
    let check = |columns: &str, expected: &str| {
        let texts = vec!["a text"; columns.split(',').count()].join(",");
        let (mapping, ..) = guess(&format!("time,{columns}\n2024-07-20T20:17:40Z,{texts}\n"), Format::Csv);
        assert_eq!(mapping, format!("{{ \"time\": \"time\", {expected} }}"), "{columns}");
    };
    for name in NAMES {
        check(name, &format!("\"name\": \"{name}\""));
    }
    for description in DESCRIPTIONS.iter().filter(|word| !NAMES.contains(word)) {
        check(description, &format!("\"description\": \"{description}\""));
    }
    check("what,title", r#""name": "title", "description": "what""#);
    check("summary,title,note", r#""name": "title", "description": "note""#);
    check("subject,summary", r#""name": "summary", "description": "subject""#);
    check("details,what,label", r#""name": "label", "description": "details""#);
    check("Content-Type,what", r#""description": "what""#);
}

#[test]
fn zone_is_proposed_if_only_some_times_need_it() {
    let (mapping, refused, unsure) =
        guess("when,what\n2024-01-02 10:00,a\n2024-01-03,b\n2024-01-04T10:00:00Z,c\n", Format::Csv);
    assert_eq!(mapping, r#"{ "time": {"column":"when","zone":"UTC"}, "description": "what" }"#);
    assert_eq!((refused, unsure.len()), (0, 1), "{unsure:?}");
}
