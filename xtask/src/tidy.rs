//! `cargo xtask tidy`: checks that no other tool makes.
//!
//! Each check takes a [`Tree`] and returns the problems in it, so it can be tested with made-up trees. A real tree
//! consists of all files that Git tracks or would add.

mod tree;
mod leftovers;
mod catch_all;
mod modules;
mod named_tests;
mod layers;
mod circles;
mod packages;
mod prose;
mod commits;
mod papers;
mod links;
mod places;
mod whitespace;
mod width;
mod words;

use std::fmt;
use std::path::Path;

use anyhow::bail;

use tree::Tree;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Problem {
    path: String,
    /// From 1. Problems of a whole file are reported on its first line.
    line: usize,
    /// What is wrong, and how to fix it.
    message: String,
}

impl Problem {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Checks the workspace and prints all problems, sorted by place.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let tree = Tree::read(root)?;
    let mut problems = check(&tree);
    problems.extend(places::check(&tree, &places::Machine::of(root)));
    problems.extend(packages::check(root)?);
    problems.extend(commits::check(root)?);
    problems.sort();
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => bail!("1 problem"),
        count => bail!("{count} problems"),
    }
}

/// Runs every check that needs only the tree.
fn check(tree: &Tree) -> Vec<Problem> {
    let checks = [
        leftovers::check,
        catch_all::check,
        modules::check,
        layers::check,
        circles::check,
        papers::check,
        links::check,
        named_tests::check,
        whitespace::check,
        width::check,
        words::check,
        prose::check,
    ];
    checks.iter().flat_map(|check| check(tree)).collect()
}

/// Compares the problems that a check finds in a made-up tree with the expected ones, as `path:line`.
#[cfg(test)]
fn assert_found(check: fn(&Tree) -> Vec<Problem>, files: &[(&str, &str)], expected: &[&str]) {
    let found: Vec<String> =
        check(&Tree::of(files)).iter().map(|problem| format!("{}:{}", problem.path, problem.line)).collect();
    assert_eq!(found, expected, "{files:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_is_one_line_with_path_and_number() {
        let problem = Problem::new("src/a.rs", 7, "this is wrong; that is right");
        assert_eq!(problem.to_string(), "src/a.rs:7: this is wrong; that is right");
    }
}
