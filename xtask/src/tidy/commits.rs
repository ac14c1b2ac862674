//! Checks the subjects of the latest commits: `component: imperative`, in up to 72 characters.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use regex::Regex;

use super::Problem;
use super::prose::odd_constructions;
use crate::process;

/// Number of commits to check. Older ones cannot change.
const COMMITS_CHECKED: usize = 30;
const SUBJECT_LETTERS_MAX: usize = 72;

static SUBJECT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[a-z0-9][a-z0-9/._-]*: [^\s.].*[^\s.]$").expect("the pattern is tested"));

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let arguments = ["log", "--no-merges", "--format=%h %s"];
    let count = format!("-{COMMITS_CHECKED}");
    let log = process::output(Command::new("git").args(arguments).arg(count).current_dir(root))?;
    Ok(problems(&String::from_utf8_lossy(&log)))
}

fn problems(log: &str) -> Vec<Problem> {
    log.lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(commit, subject)| problem(commit, subject))
        .collect()
}

fn problem(commit: &str, subject: &str) -> Option<Problem> {
    let message = if !SUBJECT.is_match(subject) {
        "a subject is `component: imperative`, without a period".to_owned()
    } else if subject.chars().count() > SUBJECT_LETTERS_MAX {
        format!("a subject has at most {SUBJECT_LETTERS_MAX} characters")
    } else {
        let found = odd_constructions(subject).next()?;
        format!("\"{found}\" reads as translated; rewrite the subject")
    };
    Some(Problem::new(&format!("commit {commit}"), 1, format!("{message}: {subject}")))
}

#[cfg(test)]
mod tests {
    use super::problems;

    fn is_accepted(subject: &str) -> bool {
        problems(&format!("0123abc {subject}\n")).is_empty()
    }

    #[test]
    fn subjects_with_component_and_imperative_are_accepted() {
        for subject in ["store/postgres: use an index for leaf lookups", "x: y z"] {
            assert!(is_accepted(subject), "{subject}");
        }
    }

    #[test]
    fn other_subjects_are_rejected() {
        let long = format!("store: {}", "a".repeat(66));
        for subject in [
            "Fix it",
            "Store: fix it",
            "mcp, tests: fix it",
            "store:fix it",
            "store: fix it.",
            "store: tell what is told",
            &long,
        ] {
            assert!(!is_accepted(subject), "{subject}");
        }
    }
}
