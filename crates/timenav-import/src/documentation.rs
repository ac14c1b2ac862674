//! That `docs/importing.md` tells what is so.

use timenav_core::time::Instant;

use crate::field::Field;
use crate::{Export, ExportFormat, Format, limits};

const TEXT: &str = include_str!("../../../docs/importing.md");

#[track_caller]
fn check(line: &str) {
    assert!(TEXT.lines().any(|found| found.starts_with(line)), "docs/importing.md lacks the line\n{line}");
}

fn words(words: &[&str]) -> String {
    if words.is_empty() { String::new() } else { format!("`{}` ", words.join("`, `")) }
}

#[test]
fn every_field_and_its_names_are_told() {
    for field in Field::ALL {
        let (columns, properties) = (words(field.columns()), words(field.properties()));
        check(&format!("| `{}` | {columns}| {properties}|", field.as_str()));
    }
}

#[test]
fn every_format_is_told() {
    for format in Format::ALL {
        check(&format!("| `{}` |", format.as_str()));
    }
}

#[test]
fn every_format_that_is_written_is_told() {
    let told = include_str!("../../../docs/exporting.md");
    let has = |start: &str| told.lines().any(|line| line.starts_with(start));
    for format in ExportFormat::ALL {
        let content_type = format.content_type().split(';').next().unwrap_or_default();
        let line = format!("| `{}` | `{content_type}` | `.{}` |", format.as_str(), format.extension());
        assert!(has(&line), "docs/exporting.md lacks the line\n{line}");
    }
    let mut header = String::new();
    Export::new(ExportFormat::Csv, Instant::EPOCH).begin(&mut header);
    assert!(has(header.trim_end()), "docs/exporting.md lacks the columns\n{header}");
}

#[test]
fn every_limit_is_told() {
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
        ("MAPPING_BYTES_MAX", limits::MAPPING_BYTES_MAX),
        ("TEMPLATE_COLUMNS_MAX", limits::TEMPLATE_COLUMNS_MAX),
        ("TEMPLATE_TEXT_BYTES_MAX", limits::TEMPLATE_TEXT_BYTES_MAX),
        ("DETAIL_BYTES_MAX", limits::DETAIL_BYTES_MAX),
        ("SUGGESTION_BYTES_MAX", limits::SUGGESTION_BYTES_MAX),
    ] {
        check(&format!("| `{name}` | {value} |"));
    }
    check(&format!("| `UNPACKED_RATIO_MAX` | {} |", limits::UNPACKED_RATIO_MAX));
    check(&format!("| `UNPACKED_BYTES_FREE` | {} |", limits::UNPACKED_BYTES_FREE));
}
