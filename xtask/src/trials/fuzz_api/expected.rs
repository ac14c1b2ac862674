//! Checks the list of expected rejections against the sources: an outdated text would give false findings.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::process;

const EXPECTED: &str = "fuzz/api/expected.json";
/// Shorter pieces of an error text could match anything.
const PIECE_CHARS_MIN: usize = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    refusals: Vec<Refusal>,
    /// Error texts about limits in bytes, with the limit as a capture group.
    too_long: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    why: String,
    methods: Vec<String>,
    paths: Vec<String>,
    /// The field as a regular expression; `None` for the whole request.
    field: Option<String>,
    /// The error detail as a regular expression.
    detail: String,
}

fn expected(root: &Path) -> Expected {
    serde_json::from_str(&fs::read_to_string(root.join(EXPECTED)).unwrap()).unwrap()
}

/// Returns the literal pieces of a regular expression. Returns `None` if it has alternatives.
fn pieces(pattern: &str) -> Option<Vec<String>> {
    let mut pieces = vec![String::new()];
    let mut rest = pattern.chars();
    while let Some(next) = rest.next() {
        match next {
            '|' => return None,
            '\\' => match rest.next() {
                Some(class) if class.is_alphanumeric() => pieces.push(String::new()),
                Some(plain) => pieces.last_mut()?.push(plain),
                None => return None,
            },
            '[' => {
                rest.find(|end| *end == ']')?;
                pieces.push(String::new());
            }
            // The previous character is optional.
            '?' | '*' => {
                pieces.last_mut()?.pop();
                pieces.push(String::new());
            }
            '.' | '+' | '(' | ')' | '^' | '$' => pieces.push(String::new()),
            plain => pieces.last_mut()?.push(plain),
        }
    }
    pieces.retain(|piece| piece.chars().count() >= PIECE_CHARS_MIN);
    Some(pieces)
}

/// Returns what is wrong with an error text, if anything.
fn fault(detail: &str, sources: &str) -> Option<String> {
    let Some(pieces) = pieces(detail) else {
        return Some("it is more than one wording; write an entry for each".into());
    };
    if pieces.is_empty() {
        return Some(format!("it has no {PIECE_CHARS_MIN} literal characters in a row to search for"));
    }
    let unsaid = pieces.iter().find(|piece| !sources.contains(*piece))?;
    Some(format!("no text in crates/*/src contains `{unsaid}`; copy the service's wording, or remove the entry"))
}

/// Joins string literals that continue on the next line, and unescapes quotation marks.
fn joined(source: &str) -> String {
    let mut parts = source.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    let joined = parts.fold(first, |joined, part| joined + part.trim_start());
    joined.replace("\\\"", "\"")
}

/// Reads all crate sources except for tests, which also contain texts of the past.
fn sources(root: &Path) -> String {
    let mut found = String::new();
    for crate_folder in fs::read_dir(root.join("crates")).unwrap() {
        add_sources(&crate_folder.unwrap().path().join("src"), &mut found);
    }
    found
}

fn add_sources(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test(&path) {
            let source = fs::read_to_string(&path).unwrap();
            let (source, _) = source.split_once("\n#[cfg(test)]\nmod tests {").unwrap_or((&source, ""));
            found.push_str(&joined(source));
        }
    }
}

fn is_test(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "tests" || stem.to_string_lossy().ends_with("_tests"))
}

#[test]
fn every_expected_rejection_exists_in_the_service() {
    let root = process::repository_root().unwrap();
    let Expected { refusals, too_long } = expected(&root);
    let sources = sources(&root);
    let document = fs::read_to_string(root.join("docs/api/openapi.json")).unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    for Refusal { why, methods, paths, field, detail } in &refusals {
        let place = format!("{EXPECTED}: `{detail}` of {}", field.as_deref().unwrap_or("the whole request"));
        assert!(!why.is_empty(), "{place}: give a reason");
        assert!(!methods.is_empty() && !paths.is_empty(), "{place}: name its operations");
        for (method, path) in methods.iter().flat_map(|method| paths.iter().map(move |path| (method, path))) {
            // The document for older tools has each QUERY operation as a GET.
            let method = if method == "QUERY" { "get".to_owned() } else { method.to_lowercase() };
            let operation = &document["paths"][path][&method];
            assert!(operation.is_object(), "{place}: there is no operation `{method} {path}`");
        }
        if let Some(fault) = fault(detail, &sources) {
            panic!("{place}: {fault}");
        }
    }
    for detail in &too_long {
        assert!(detail.contains(r"(\d+)"), "{EXPECTED}: `{detail}`: the limit must be a group");
        if let Some(fault) = fault(detail, &sources) {
            panic!("{EXPECTED}: `{detail}`: {fault}");
        }
    }
}

#[test]
fn unused_wording_is_found() {
    let sources =
        joined("let a = \"an API key is \\\n    not a session; `true` ends all\";\nlet b = \"such as \\\"30s\\\"\";");
    for (detail, expected) in [
        ("an API key is not a session", None),
        (r"an API .* ends all", Some("no 10 literal characters")),
        ("an API key is no session", Some("`an API key is no session`")),
        (r"an API key is not a session; `\w+` ends (none|all)", Some("more than one wording")),
        (r"an API key is not a sessions?", None),
        (r"key is not a [a-z]+", None),
        (r".*; before that", Some("`; before that`")),
    ] {
        let found = fault(detail, &sources);
        assert_eq!(found.is_some(), expected.is_some(), "{detail}: {found:?}");
        assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()), "{detail}");
    }
    assert!(sources.contains(r#"such as "30s""#));
}
