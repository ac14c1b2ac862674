//! Papers that every reader looks for, and the numbers of decisions.

use super::Problem;
use super::tree::{Tree, split};

/// Files that are there.
const PAPERS: [&str; 7] =
    ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE-APACHE", "LICENSE-MIT"];
/// Where decisions are written down.
const DECISIONS: &str = "docs/adr/";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let missing = PAPERS.iter().filter(|paper| !tree.has(paper));
    let missing = missing.map(|paper| Problem::new(paper, 1, "the file is missing; write it"));
    missing.chain(decisions(tree)).collect()
}

/// Decisions are numbered from 0001, without gaps, each number once.
fn decisions(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut next = 1;
    for path in tree.paths().filter(|path| split(path).0 == DECISIONS) {
        let (_, name) = split(path);
        if name == "README.md" {
            continue;
        }
        let number = name.split_once('-').map(|(number, _)| number).filter(|number| number.len() == 4);
        match number.and_then(|number| number.parse::<u32>().ok()) {
            Some(number) if number == next => next += 1,
            Some(number) => {
                problems.push(Problem::new(
                    path,
                    1,
                    format!("decision {number:04} follows {:04}; its number is {next:04}", next - 1),
                ));
                next = number + 1;
            }
            None => problems.push(Problem::new(path, 1, "the name has no number; name it `NNNN-what-was-decided.md`")),
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::{Tree, assert_found};
    use super::{PAPERS, check, decisions};

    #[test]
    fn a_missing_paper_is_found() {
        let mut papers = PAPERS.map(|paper| (paper, "words\n"));
        assert_found(check, &papers, &[]);
        papers[2].0 = "CHANGES.md";
        assert_found(check, &papers, &["CHANGELOG.md:1"]);
    }

    #[test]
    fn decisions_are_numbered_without_gaps() {
        let found = |names: &[&str]| {
            let paths: Vec<String> = names.iter().map(|name| format!("docs/adr/{name}")).collect();
            let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
            decisions(&Tree::of(&files)).into_iter().map(|problem| problem.path).collect::<Vec<_>>()
        };
        assert!(found(&["0001-a.md", "0002-b.md", "README.md"]).is_empty());
        assert_eq!(found(&["0001-a.md", "0003-b.md", "0004-c.md"]), ["docs/adr/0003-b.md"]);
        assert_eq!(found(&["0001-a.md", "0001-b.md", "0002-c.md"]), ["docs/adr/0001-b.md"]);
        assert_eq!(found(&["1-a.md", "notes.md"]), ["docs/adr/1-a.md", "docs/adr/notes.md"]);
    }
}
