//! Checks for the standard documents of a repository, and the numbering of decisions.

use super::Problem;
use super::tree::{Tree, split};

const PAPERS: [&str; 7] =
    ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE-APACHE", "LICENSE-MIT"];
const DECISIONS: &str = "docs/adr/";
const INDEX: &str = "docs/adr/README.md";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let missing = PAPERS.iter().filter(|paper| !tree.has(paper));
    let missing = missing.map(|paper| Problem::new(paper, 1, "the file is missing; write it"));
    missing.chain(decisions(tree)).collect()
}

/// Each decision needs a unique number and a row in the index.
fn decisions(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    let index = tree.text(INDEX).unwrap_or_default();
    let mut last = None;
    for path in tree.paths().filter(|path| split(path).0 == DECISIONS && *path != INDEX) {
        let (_, name) = split(path);
        let number = name.split_once('-').map(|(number, _)| number).filter(|number| number.len() == 4);
        let number = number.and_then(|number| number.parse::<u32>().ok());
        if number.is_none() {
            problems.push(Problem::new(path, 1, "the name has no number; name it `NNNN-what-was-decided.md`"));
        } else if number == last {
            problems.push(Problem::new(path, 1, "another decision has this number; take the next free one"));
        } else if !index.contains(name) {
            problems.push(Problem::new(path, 1, format!("{INDEX} does not list it")));
        }
        last = number;
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::{Tree, assert_found};
    use super::{INDEX, PAPERS, check, decisions};

    #[test]
    fn missing_required_document_is_found() {
        let mut papers = PAPERS.map(|paper| (paper, "words\n"));
        assert_found(check, &papers, &[]);
        papers[2].0 = "CHANGES.md";
        assert_found(check, &papers, &["CHANGELOG.md:1"]);
    }

    #[test]
    fn decision_without_an_index_row_or_unique_number_is_found() {
        let found = |names: &[&str], index: &str| {
            let paths: Vec<String> = names.iter().map(|name| format!("docs/adr/{name}")).collect();
            let mut files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
            files.push((INDEX, index));
            decisions(&Tree::of(&files)).into_iter().map(|problem| problem.path).collect::<Vec<_>>()
        };
        assert!(found(&["0001-a.md", "0003-b.md"], "[a](0001-a.md) [b](0003-b.md)").is_empty());
        assert_eq!(found(&["0001-a.md", "0003-b.md"], "[a](0001-a.md)"), ["docs/adr/0003-b.md"]);
        assert_eq!(found(&["0001-a.md", "0001-b.md"], "[a](0001-a.md) [b](0001-b.md)"), ["docs/adr/0001-b.md"]);
        assert_eq!(found(&["1-a.md", "notes.md"], ""), ["docs/adr/1-a.md", "docs/adr/notes.md"]);
    }
}
