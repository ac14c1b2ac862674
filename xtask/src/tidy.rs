//! `cargo xtask tidy`: what no other tool checks.
//!
//! Each check takes a [`Tree`] and says what is wrong in it, so that each is tested on trees that
//! are made up. The files of a real tree are those that Git knows, and those it would take if
//! they were added.

mod tree;
mod leftovers;
mod catch_all;
mod modules;
mod named_tests;
mod layers;
mod circles;
mod packages;
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

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Problem {
    path: String,
    /// From 1. Problems of a whole file stand on its first line.
    line: usize,
    /// What is wrong, and what would be right.
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

/// Checks the workspace and prints what is wrong, sorted by place.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let tree = Tree::read(root)?;
    let mut problems = check(&tree);
    problems.extend(places::check(&tree, &places::Machine::of(root)));
    problems.extend(packages::check(root)?);
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

/// Runs every check that needs nothing but the tree.
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
    ];
    checks.iter().flat_map(|check| check(tree)).collect()
}

/// Compares what a check finds in a made-up tree with what it should, as `path:line`.
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
    fn a_problem_is_one_line_that_editors_understand() {
        let problem = Problem::new("src/a.rs", 7, "this is wrong; that is right");
        assert_eq!(problem.to_string(), "src/a.rs:7: this is wrong; that is right");
    }
}
