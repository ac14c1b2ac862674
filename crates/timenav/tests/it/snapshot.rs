//! Snapshot tests of complete responses, stored in `snapshots`.

use serde_json::Value;

use crate::support::http::Answer;

/// Fields whose values differ in every run.
const REDACTED: [&str; 11] = [
    "request_id",
    "api_key",
    "root",
    "checkpoint",
    "leaf_hash",
    "from_root",
    "cursor",
    "next_cursor",
    "verifier_key",
    "boot_id",
    "origin_boot",
];

/// Compares the status, media type and redacted body of a response.
#[track_caller]
pub(crate) fn check(name: &str, answer: &Answer) {
    let mut body = answer.json();
    redact("", &mut body);
    let kind = answer.header("content-type").unwrap_or("none");
    check_text(name, &format!("{} {kind}\n{body:#}", answer.status));
}

/// Compares a deterministic text.
#[track_caller]
pub(crate) fn check_text(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn redact(name: &str, value: &mut Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, field)| redact(name, field)),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(name, item)),
        Value::String(text) if REDACTED.contains(&name) => *text = format!("[{name}]"),
        Value::String(text) => *text = words(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Redacts ids, hashes and host times in a text.
pub(crate) fn words(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-:.".contains(c);
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\0']) {
        if is_part(c) {
            word.push(c);
            continue;
        }
        out.push_str(&redacted_word(&word));
        word.clear();
        if c != '\0' {
            out.push(c);
        }
    }
    out
}

fn redacted_word(word: &str) -> String {
    let bare = word.trim_end_matches(['.', ':']);
    let rest = &word[bare.len()..];
    let made = |prefix: &str| bare.strip_prefix(prefix).is_some_and(|id| id.len() == 26);
    for prefix in ["anchor_", "data_", "event_", "intervention_", "key_", "req_", "session_"] {
        if made(prefix) {
            return format!("[{prefix}…]{rest}");
        }
    }
    if bare.starts_with("tnk_") && bare.len() == 40 {
        return format!("[api key]{rest}");
    }
    if bare.len() == 64 && bare.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return format!("[hash]{rest}");
    }
    // Virtual times in tests never use the current year.
    let year = bare.get(..4).and_then(|year| year.parse::<u16>().ok());
    if bare.ends_with('Z') && bare.contains('T') && year.is_some_and(|year| (2026..2060).contains(&year)) {
        return format!("[host time]{rest}");
    }
    word.to_owned()
}

#[test]
fn variable_values_are_masked_in_snapshots() {
    let check = |text: &str, expected: &str| assert_eq!(words(text), expected);
    check("Time is paused at 2026-11-20T06:29:14.128157Z.", "Time is paused at [host time].");
    check("It is 2005-08-29T11:10:00Z, so.", "It is 2005-08-29T11:10:00Z, so.");
    check("anchor_01m7vta4amezq86fvehdddy59z is set", "[anchor_…] is set");
    check("event_id", "event_id");
}

/// Fails for an unused snapshot: it would never be compared.
#[test]
fn snapshot_files_are_all_used() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let mut sources = String::new();
    read_sources(&root, &mut sources);
    for entry in std::fs::read_dir(root.join("snapshots")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = file.strip_suffix(".snap") else { continue };
        assert!(sources.contains(&format!("\"{name}\"")), "no test names the snapshot {name}");
    }
}

fn read_sources(folder: &std::path::Path, sources: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_sources(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}
