//! Compares `docs/import-export.md` with the code.

use timenav_core::event::EventDraft;
use timenav_core::time::Instant;

use crate::content_id::canonical;
use crate::mapping::field::Field;
use crate::mapping::{Table, TimePart};
use crate::{EventRecord, Export, ExportFormat, Format, limits};

const TEXT: &str = include_str!("../../../docs/import-export.md");
/// Further worked examples, in the same form.
const EXAMPLES: &str = include_str!("../../../test-data/import-examples.txt");

#[track_caller]
fn check(line: &str) {
    assert!(TEXT.lines().any(|found| found.starts_with(line)), "docs/import-export.md lacks the line\n{line}");
}

fn words(words: &[&str]) -> String {
    if words.is_empty() { String::new() } else { format!("`{}` ", words.join("`, `")) }
}

#[test]
fn every_field_and_its_names_are_documented() {
    for field in Field::ALL {
        let [columns, properties, members] = [field.columns(), field.properties(), field.members()].map(words);
        check(&format!("| `{}` | {columns}| {properties}| {members}|", field.as_str()));
    }
}

/// Returns the fenced parts of the worked examples: the file, its mapping, and its events.
fn worked_examples() -> Vec<[(&'static str, &'static str); 3]> {
    let (_, examples) = TEXT.split_once("### Worked examples").unwrap();
    let (examples, _) = examples.split_once("\n## ").unwrap();
    let blocks = [examples, EXAMPLES].into_iter().flat_map(|text| text.split("```").skip(1).step_by(2));
    let mut blocks = blocks.map(|block| block.split_once('\n').unwrap());
    std::iter::from_fn(|| Some([blocks.next()?, blocks.next()?, blocks.next()?])).collect()
}

#[test]
fn documented_examples_produce_their_events() {
    let examples = worked_examples();
    assert_eq!(examples.len(), 8);
    for [(extension, file), (_, map), (_, events)] in examples {
        let format = if extension == "txt" { Format::Csv } else { Format::from_extension(extension).unwrap() };
        let (items, outcome) = crate::tests::items(format, map, file.as_bytes());
        outcome.unwrap();
        let content = |draft: &EventDraft| String::from_utf8(canonical(draft)).unwrap();
        let read: Vec<String> = items.iter().map(|item| content(item.event.as_ref().unwrap())).collect();
        let texts: Vec<String> = events
            .lines()
            .map(|line| content(&EventRecord::from_json(line.as_bytes()).unwrap().into_draft().unwrap()))
            .collect();
        assert_eq!(read, texts);
        for (item, line) in items.iter().zip(events.lines()) {
            let texts = EventRecord::from_json(line.as_bytes()).unwrap().into_draft().unwrap();
            let event_id = &item.event.as_ref().unwrap().event_id;
            assert!(texts.event_id.is_none() || texts.event_id == *event_id);
            assert!(item.notes.is_empty());
        }
    }
}

#[test]
fn every_mapping_word_is_documented() {
    for part in TimePart::ALL {
        assert!(TEXT.contains(&format!("`time.{}`", part.as_str())), "{part:?}");
    }
    for word in Table::WORDS {
        check(&format!("| `{word}` |"));
    }
}

#[test]
fn every_import_format_is_documented() {
    for format in Format::ALL {
        check(&format!("| `{}` |", format.as_str()));
    }
}

#[test]
fn every_export_format_is_documented() {
    let has = |start: &str| TEXT.lines().any(|line| line.starts_with(start));
    for format in ExportFormat::ALL {
        let content_type = format.content_type().split(';').next().unwrap_or_default();
        let line = format!("| `{}` | `{content_type}` | `.{}` |", format.as_str(), format.extension());
        assert!(has(&line), "docs/import-export.md lacks the line\n{line}");
    }
    let mut header = String::new();
    Export::new(ExportFormat::Csv, Instant::EPOCH).begin(&mut header);
    assert!(has(header.trim_end()), "docs/import-export.md lacks the columns\n{header}");
}

#[test]
fn every_import_limit_is_documented() {
    for (name, value) in [
        ("RECORD_BYTES_MAX", limits::RECORD_BYTES_MAX),
        ("FEATURE_BYTES_MAX", limits::FEATURE_BYTES_MAX),
        ("TRACE_DOCUMENT_BYTES_MAX", limits::TRACE_DOCUMENT_BYTES_MAX),
        ("TRACE_SPANS_MAX", limits::TRACE_SPANS_MAX),
        ("TRACE_ORIGIN_BYTES_MAX", limits::TRACE_ORIGIN_BYTES_MAX),
        ("CALENDAR_BYTES_MAX", limits::CALENDAR_BYTES_MAX),
        ("CALENDAR_DEPTH_MAX", limits::CALENDAR_DEPTH_MAX),
        ("CALENDAR_ONSETS_MAX", limits::CALENDAR_ONSETS_MAX),
        ("GEOMETRY_DEPTH_MAX", limits::GEOMETRY_DEPTH_MAX),
        ("ATTRIBUTES_DEPTH_MAX", limits::ATTRIBUTES_DEPTH_MAX),
        ("CSV_COLUMNS_MAX", limits::CSV_COLUMNS_MAX),
        ("PATTERN_COMPILED_BYTES_MAX", limits::PATTERN_COMPILED_BYTES_MAX),
        ("PATTERN_LINE_BYTES_MAX", limits::PATTERN_LINE_BYTES_MAX),
        ("MAPPING_BYTES_MAX", limits::MAPPING_BYTES_MAX),
        ("TEMPLATE_COLUMNS_MAX", limits::TEMPLATE_COLUMNS_MAX),
        ("TEMPLATE_TEXT_BYTES_MAX", limits::TEMPLATE_TEXT_BYTES_MAX),
        ("GUESS_BYTES_MAX", limits::GUESS_BYTES_MAX),
        ("GUESS_ROWS_MAX", limits::GUESS_ROWS_MAX),
        ("DETAIL_BYTES_MAX", limits::DETAIL_BYTES_MAX),
        ("SUGGESTION_BYTES_MAX", limits::SUGGESTION_BYTES_MAX),
    ] {
        check(&format!("| `{name}` | {value} |"));
    }
    check(&format!("| `UNPACKED_RATIO_MAX` | {} |", limits::UNPACKED_RATIO_MAX));
    check(&format!("| `UNPACKED_BYTES_FREE` | {} |", limits::UNPACKED_BYTES_FREE));
}
