//! Rejects catch-all arms in matches on ledger actions, because the compiler would not point out a new action there.

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Arm, ExprMatch, Pat};

use super::Problem;
use super::tree::{Tree, is_test};

/// Code that writes and reads entries.
const FOLDER: &str = "crates/timenav-engine/src/";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let sources = tree.sources(&[".rs"]).filter(|(path, _)| path.starts_with(FOLDER) && !is_test(path));
    sources.flat_map(|(path, text)| in_file(path, text)).collect()
}

fn in_file(path: &str, text: &str) -> Vec<Problem> {
    let mut matches = Matches::default();
    // Files that are not Rust are reported by `circles`.
    if let Ok(file) = syn::parse_file(text) {
        matches.visit_file(&file);
    }
    let message = "a match on an `Action` has a catch-all arm; list the actions, or call a method in `action.rs`";
    matches.catch_all_lines.into_iter().map(|line| Problem::new(path, line, message)).collect()
}

#[derive(Default)]
struct Matches {
    /// The lines of catch-all arms in matches on actions.
    catch_all_lines: Vec<usize>,
}

impl<'ast> Visit<'ast> for Matches {
    fn visit_expr_match(&mut self, found: &'ast ExprMatch) {
        let unguarded = |arm: &'ast Arm| match &arm.pat {
            Pat::Guard(guarded) => &guarded.pat,
            pattern => pattern,
        };
        if found.arms.iter().map(unguarded).any(names_action) {
            let catch_all = found.arms.iter().filter(|arm| discards(&arm.pat) == Some(true));
            self.catch_all_lines.extend(catch_all.map(|arm| arm.pat.span().start().line));
        }
        visit::visit_expr_match(self, found);
    }
}

/// Returns whether a pattern has a path with `Action` before its last segment.
fn names_action(pattern: &Pat) -> bool {
    #[derive(Default)]
    struct Paths(bool);
    impl<'ast> Visit<'ast> for Paths {
        fn visit_path(&mut self, path: &'ast syn::Path) {
            self.0 |= path.segments.iter().rev().skip(1).any(|segment| segment.ident == "Action");
        }
    }
    let mut paths = Paths::default();
    paths.visit_pat(pattern);
    paths.0
}

/// Returns whether a pattern discards a value, or `None` if it does not match everything. A named value is usually
/// passed on.
fn discards(pattern: &Pat) -> Option<bool> {
    let any =
        |mut parts: syn::punctuated::Iter<'_, Pat>| parts.try_fold(false, |any, part| Some(discards(part)? | any));
    match pattern {
        Pat::Wild(_) => Some(true),
        Pat::Ident(name) if name.ident == "None" => Some(false),
        Pat::Ident(name) => name.ident.to_string().starts_with('_').then_some(true),
        Pat::Tuple(tuple) => any(tuple.elems.iter()),
        Pat::TupleStruct(wrapped) if wrapped.path.is_ident("Some") => any(wrapped.elems.iter()),
        Pat::Or(or) => any(or.cases.iter()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::check;

    const PATH: &str = "crates/timenav-engine/src/a.rs";

    fn assert_lines(code: &str, expected: &[usize]) {
        let expected: Vec<String> = expected.iter().map(|line| format!("{PATH}:{line}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        assert_found(check, &[(PATH, &format!("fn a() {{\n{code}\n}}\n"))], &expected);
    }

    #[test]
    fn catch_all_arm_for_actions_is_found() {
        for arm in ["_", "_other", "Some(_)", "None | Some(_)", "(_, _)"] {
            let code = format!(
                "match action {{\n    Some(Action::A | Action::B) => {{\n        b()\n    }}\n    {arm} => {{}}\n}}"
            );
            assert_lines(&code, &[6]);
        }
    }

    #[test]
    fn exhaustive_and_unrelated_matches_are_accepted() {
        assert_lines("match action {\n    Action::A => 1,\n    Action::B | Action::C => 2,\n}\n", &[]);
        assert_lines("match action {\n    Some(Action::A) => 1,\n    None => 2,\n}\n", &[]);
        // An action inside the body of an arm does not count.
        assert_lines("match state {\n    State::A => {\n        b(Action::A)\n    }\n    _ => c(Action::B),\n}\n", &[]);
        assert_lines("match state {\n    State::A => Action::A,\n    _ => Action::B,\n}\n", &[]);
        assert_lines("match a {\n    Action::A => 1,\n}\nmatch b {\n    1 => 2,\n    _ => 3,\n}\n", &[]);
        assert_lines("match action {\n    Some(Action::A) => 1,\n    action => b(action),\n}\n", &[]);
        // An arm with a guard does not match everything.
        assert_lines("match action {\n    Action::A => 1,\n    other if b(other) => 2,\n    Action::B => 3,\n}\n", &[]);
        assert_found(
            check,
            &[(
                "crates/timenav-http/src/a.rs",
                "fn a() {\n    match a {\n        Action::A => 1,\n        _ => 2,\n    }\n}\n",
            )],
            &[],
        );
    }
}
