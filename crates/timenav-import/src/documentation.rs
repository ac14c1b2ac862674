//! That `docs/importing.md` tells what is so.

use crate::field::Field;
use crate::{Format, limits};

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
fn every_limit_is_told() {
    for (name, value) in [
        ("RECORD_BYTES_MAX", limits::RECORD_BYTES_MAX),
        ("FEATURE_BYTES_MAX", limits::FEATURE_BYTES_MAX),
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
}
