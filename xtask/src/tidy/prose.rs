//! Measures how far texts are from plain technical English: odd constructions per 1,000 words.
//!
//! Native technical prose has up to six. A sentence that counts is rewritten; replacing its odd word helps nobody.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::Problem;
use super::tree::{Tree, extension};

/// Constructions that any file may have, so that one sentence of a short file is not measured as a density.
const FREE_PER_FILE: usize = 4;

/// Constructions that native technical prose hardly uses, and words after them that make them usual.
const KINDS: [(&str, &[&str]); 15] = [
    (r"\b(?:is|are|was|were|be|been) told\b|\btells?\b", &[]),
    (r"\bstands?\b|\bstood\b|\bstanding\b", &[]),
    (r"\bgo(?:es|ing)? on\b|\bwent on\b", &[]),
    (r"\blets? go\b", &[]),
    (
        r"\b(?:whoever|whatever|who is|what is|what was|what it|what they|what fires|what comes|what became|what becomes|those who|those that|whose)\b",
        &[],
    ),
    (r"\b(?:nobody|somebody|anybody|everybody)\b", &[]),
    (r"\b(?:is|are|was|were) (?:no|none)\b", &["longer", "more", "less", "such", "other"]),
    (r"\bby (?:itself|themselves)\b", &[]),
    (r"\bso (?:many|much|long|often)\b", &["as", "that"]),
    (r"\bmend\w*|\banew\b|\bstretch(?:es)?\b|\blies\b|\bin vain\b|\bheed\w*", &[]),
    (r"\bmade\b|\bmakes?\b", &[]),
    (r"\bwhere (?:it|they|there|that|nobody|somebody|this|one|he|no|the)\b", &[]),
    (r"\blooks?\b|\blooked\b", &[]),
    (r"\bat work\b|\bunheard\b|\bhears?\b|\bheard\b", &[]),
    (r"\bbeside\b|\bbehind\b", &[]),
];

static ODD: LazyLock<Vec<(Regex, &[&str])>> = LazyLock::new(|| {
    KINDS.iter().map(|(pattern, usual_before)| (regex(&format!("(?i){pattern}")), *usual_before)).collect()
});
static CODE: LazyLock<Regex> = LazyLock::new(|| regex(r"`[^`]*`"));
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| regex(r"\{[^}]*\}"));
static COMMENT: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*//[/!]? ?(.*)"));
static LITERAL: LazyLock<Regex> = LazyLock::new(|| regex(r#""((?:[^"\\]|\\.){20,})""#));
static MARKUP: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#">([^<>{}]{15,})<|'((?:[^'\\]|\\.){20,})'|`((?:[^`\\]|\\.){20,})`|"((?:[^"\\]|\\.){20,})""#)
});
static FUNCTION: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*(?:async )?fn ([a-z0-9_]{12,})\("));

/// A kind of text, and how many odd constructions it may have per 1,000 words.
struct Surface {
    name: &'static str,
    is_for_users: bool,
    most: f64,
    has: fn(&str) -> bool,
    /// Returns the texts of a file with their line numbers.
    texts: fn(&str) -> Vec<(usize, String)>,
}

const SURFACES: [Surface; 10] = [
    Surface { name: "README", is_for_users: true, most: 5.0, has: |path| path == "README.md", texts: prose },
    Surface {
        name: "command line",
        is_for_users: true,
        most: 5.0,
        has: |path| path == "docs/command-line.md",
        texts: prose,
    },
    Surface {
        name: "recipes",
        is_for_users: true,
        most: 5.0,
        has: |path| path.starts_with("docs/recipes/") && extension(path) == "md",
        texts: prose,
    },
    Surface { name: "guides", is_for_users: true, most: 6.0, has: is_guide, texts: prose },
    Surface {
        name: "project pages",
        is_for_users: false,
        most: 6.0,
        has: |path| {
            ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].contains(&path)
                || (path.starts_with("docs/adr/") && extension(path) == "md")
        },
        texts: prose,
    },
    Surface {
        name: "OpenAPI",
        is_for_users: true,
        most: 5.0,
        has: |path| path == "docs/api/openapi.json",
        texts: descriptions,
    },
    Surface { name: "texts in Rust", is_for_users: true, most: 5.0, has: has_texts, texts: literals },
    Surface { name: "console", is_for_users: true, most: 5.0, has: is_console, texts: markup },
    Surface { name: "comments", is_for_users: false, most: 8.0, has: is_source, texts: comments },
    Surface {
        name: "test names",
        is_for_users: false,
        most: 8.0,
        has: |path| path.starts_with("crates/") && extension(path) == "rs",
        texts: test_names,
    },
];

fn is_guide(path: &str) -> bool {
    let in_docs = path.strip_prefix("docs/").is_some_and(|rest| !rest.contains('/') && extension(rest) == "md");
    in_docs && path != "docs/command-line.md"
}

fn is_source(path: &str) -> bool {
    let in_crate = path.starts_with("crates/") && path.contains("/src/");
    (in_crate || path.starts_with("xtask/src/")) && extension(path) == "rs"
}

fn has_texts(path: &str) -> bool {
    // These two have the phrases themselves.
    let lists_phrases = ["xtask/src/tidy/words.rs", "xtask/src/tidy/prose.rs"].contains(&path);
    is_source(path) && !path.contains("/tests/") && !path.ends_with("tests.rs") && !lists_phrases
}

fn is_console(path: &str) -> bool {
    let is_code = extension(path) == "svelte" || extension(path) == "ts";
    path.starts_with("console/src/") && is_code && !path.contains(".test.")
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns are tested")
}

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    SURFACES.iter().flat_map(|surface| surface.check(tree)).collect()
}

/// Returns the lines of texts that users read, with their paths and numbers.
pub(super) fn texts_for_users(tree: &Tree) -> impl Iterator<Item = (&str, usize, String)> {
    SURFACES.iter().filter(|surface| surface.is_for_users).flat_map(move |surface| {
        let files = tree.texts().filter(|(path, _)| (surface.has)(path));
        files.flat_map(|(path, text)| (surface.texts)(text).into_iter().map(move |(line, text)| (path, line, text)))
    })
}

#[derive(Default)]
struct Measure {
    words: usize,
    /// The lines with odd constructions, each as often as it has some.
    odd: Vec<(usize, String)>,
}

impl Measure {
    fn of(texts: Vec<(usize, String)>) -> Self {
        let mut measure = Self::default();
        for (line, text) in texts {
            measure.words += text.split_whitespace().count();
            measure.odd.extend(odd_constructions(&text).map(|found| (line, found)));
        }
        measure
    }

    fn exceeds(&self, most: f64) -> bool {
        self.odd.len() > FREE_PER_FILE && density(self.odd.len(), self.words) > most
    }
}

impl Surface {
    /// Returns the files with too many odd constructions, or if only the total is too high, the worst one.
    fn check(&self, tree: &Tree) -> Vec<Problem> {
        let files = tree.texts().filter(|(path, _)| (self.has)(path));
        let measures: BTreeMap<&str, Measure> =
            files.map(|(path, text)| (path, Measure::of((self.texts)(text)))).collect();
        let over = measures.iter().filter(|(_, measure)| measure.exceeds(self.most));
        let mut problems: Vec<Problem> = over.map(|(path, measure)| self.problem(path, measure)).collect();
        let (odd, words) = measures.values().fold((0, 0), |(odd, words), one| (odd + one.odd.len(), words + one.words));
        if problems.is_empty()
            && odd > FREE_PER_FILE
            && density(odd, words) > self.most
            && let Some((path, worst)) = measures.iter().max_by_key(|(_, measure)| measure.odd.len())
        {
            problems.push(self.problem(path, worst));
        }
        problems
    }

    fn problem(&self, path: &str, measure: &Measure) -> Problem {
        let places: Vec<String> =
            measure.odd.iter().take(5).map(|(line, found)| format!("{line} \"{found}\"")).collect();
        let message = format!(
            "{}: {:.0} odd constructions per 1,000 words, at most {}; rewrite the sentences at {}",
            self.name,
            density(measure.odd.len(), measure.words),
            self.most,
            places.join(", ")
        );
        Problem::new(path, measure.odd.first().map_or(1, |(line, _)| *line), message)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
fn density(odd: usize, words: usize) -> f64 {
    odd as f64 * 1_000.0 / words.max(1) as f64
}

pub(super) fn odd_constructions(text: &str) -> impl Iterator<Item = String> {
    ODD.iter().flat_map(move |(pattern, usual_before)| {
        let is_odd = move |found: &regex::Match<'_>| {
            let next =
                text[found.end()..].split(|letter: char| !letter.is_alphanumeric()).find(|word| !word.is_empty());
            !next.is_some_and(|next| usual_before.contains(&next.to_ascii_lowercase().as_str()))
        };
        pattern.find_iter(text).filter(is_odd).map(|found| found.as_str().to_owned())
    })
}

fn without_code(text: &str) -> String {
    CODE.replace_all(text, "X").into_owned()
}

/// Returns the lines of a page outside code blocks.
fn prose(page: &str) -> Vec<(usize, String)> {
    let mut in_block = false;
    let mut lines = Vec::new();
    for (line, number) in page.lines().zip(1..) {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            lines.push((number, without_code(line)));
        }
    }
    lines
}

/// Returns the summaries and descriptions of an OpenAPI document. It has no useful line numbers.
fn descriptions(document: &str) -> Vec<(usize, String)> {
    fn collect(value: &Value, texts: &mut Vec<(usize, String)>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match member {
                        Value::String(text) if name == "description" || name == "summary" => {
                            texts.push((1, without_code(text)));
                        }
                        _ => collect(member, texts),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    collect(&serde_json::from_str(document).unwrap_or_default(), &mut texts);
    texts
}

fn comments(code: &str) -> Vec<(usize, String)> {
    let comment = |(line, number): (&str, usize)| Some((number, without_code(&COMMENT.captures(line)?[1])));
    code.lines().zip(1..).filter_map(comment).collect()
}

/// Returns the string literals of a Rust file that have several words.
fn literals(code: &str) -> Vec<(usize, String)> {
    let mut texts = Vec::new();
    for (line, number) in code.lines().zip(1..).filter(|(line, _)| !line.trim_start().starts_with("//")) {
        for found in LITERAL.captures_iter(line).filter(|found| found[1].contains(' ')) {
            texts.push((number, PLACEHOLDER.replace_all(&without_code(&found[1]), "X").into_owned()));
        }
    }
    texts
}

/// Returns the texts of a Svelte or TypeScript file that have at least three words.
fn markup(code: &str) -> Vec<(usize, String)> {
    let is_comment = |line: &str| ["//", "*", "/*"].iter().any(|start| line.trim_start().starts_with(start));
    let mut in_style = false;
    let mut texts = Vec::new();
    for (line, number) in code.lines().zip(1..) {
        in_style = (in_style || line.starts_with("<style")) && !line.starts_with("</style");
        if in_style || is_comment(line) {
            continue;
        }
        for found in MARKUP.captures_iter(line) {
            let text = found.iter().skip(1).flatten().next().map_or("", |text| text.as_str());
            if text.matches(' ').count() > 1 {
                texts.push((number, text.to_owned()));
            }
        }
    }
    texts
}

/// Returns the names of the tests in a Rust file, as words.
fn test_names(code: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = code.lines().collect();
    let is_test = |index: usize| {
        let before = &lines[index.saturating_sub(2)..index];
        before.iter().any(|line| line.contains("#[")) && before.iter().any(|line| line.contains("test"))
    };
    let name = |(index, line): (usize, &&str)| {
        let name = FUNCTION.captures(line).filter(|_| is_test(index))?[1].replace('_', " ");
        Some((index + 1, name))
    };
    lines.iter().enumerate().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::{ODD, check, odd_constructions};

    const PLAIN: &str = "The service stores the entry and returns its position.\n";
    const ODD_LINE: &str = "What is told stands beside what nobody makes.\n";

    #[test]
    fn every_kind_has_an_example() {
        let text = "It tells. It stands. It goes on. Let go. Whoever asks. Nobody asks. It is no error. By itself. \
                    So many. Anew. It makes. Where it ends. It looks. It hears. Beside it.";
        for (pattern, _) in ODD.iter() {
            assert!(pattern.is_match(text), "{pattern}");
        }
        assert_eq!(odd_constructions(text).count(), ODD.len());
    }

    #[test]
    fn usual_continuations_are_not_odd() {
        let text = "The key is no longer valid. There are no such keys. It waits so long that it ends.";
        assert_eq!(odd_constructions(text).collect::<Vec<_>>(), Vec::<String>::new());
    }

    #[test]
    fn dense_page_is_reported_at_its_first_odd_line() {
        let page = format!("{PLAIN}{ODD_LINE}{ODD_LINE}");
        assert_found(check, &[("docs/a.md", &page)], &["docs/a.md:2"]);
        let code = format!("{PLAIN}```\n{ODD_LINE}{ODD_LINE}```\n");
        assert_found(check, &[("docs/a.md", &code)], &[]);
    }

    #[test]
    fn sparse_page_is_accepted() {
        let page = PLAIN.repeat(200) + ODD_LINE;
        assert_found(check, &[("docs/a.md", &page)], &[]);
    }

    #[test]
    fn many_files_below_their_limit_exceed_the_one_of_all() {
        let page = "It is told.\n".repeat(4);
        let longer = "It is told.\n".repeat(3);
        assert_found(check, &[("docs/a.md", &page), ("docs/b.md", &longer)], &["docs/a.md:1"]);
    }

    #[test]
    fn texts_of_each_surface_are_measured() {
        let comment = format!("// {ODD_LINE}").repeat(2);
        assert_found(check, &[("crates/a/src/a.rs", &comment)], &["crates/a/src/a.rs:1"]);
        let literal = format!("const A: &str = \"{}\";\n", ODD_LINE.trim()).repeat(2);
        assert_found(check, &[("crates/a/src/a.rs", &literal)], &["crates/a/src/a.rs:1"]);
        let markup = format!("<p>{}</p>\n", ODD_LINE.trim()).repeat(2);
        assert_found(check, &[("console/src/a.svelte", &markup)], &["console/src/a.svelte:1"]);
        let style = format!("<style>\n{markup}</style>\n");
        assert_found(check, &[("console/src/a.svelte", &style)], &[]);
        let test = "#[test]\nfn what_is_told_stands_beside_it() {}\n".repeat(2);
        assert_found(check, &[("crates/a/tests/a.rs", &test)], &["crates/a/tests/a.rs:2"]);
        let document = format!(r#"{{"info":{{"description":"{} {}"}}}}"#, ODD_LINE.trim(), ODD_LINE.trim());
        assert_found(check, &[("docs/api/openapi.json", &document)], &["docs/api/openapi.json:1"]);
    }
}
